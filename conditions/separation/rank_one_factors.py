"""Is there a W = k qᵀ of rank one with every margin at least 1? Decided exactly.

The margin of row (i, t) is (δ_it·k)(z_i·q). All are positive iff for some signs s_i every s_i z_i·q
and every s_i δ_it·k is positive: two linear problems, each solved or refuted over Q (Gordan). A
tree over the signs of one sample after another is cut where the signs fixed so far are refuted;
the first sample has the sign +, for (−k)(−q)ᵀ = kqᵀ.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from flint import fmpq, fmpq_mat, fmpz, fmpz_mat

from conditions.certificates import OppositeQueries, OppositeRows, RankOneInfeasible, SignNode
from conditions.dataset import FloatArray
from conditions.exact.nonnegative import SeparationProblem, nonnegative_minimizer
from conditions.exact.rank_one import RankOneRows
from conditions.selection import Features
from conditions.separation.separator import separating
from conditions.separation.suggestion import suggest

MOST_NODES = 20_000


@dataclass(frozen=True)
class RankOnePair:
    """k, q (d × 1) with every margin of k qᵀ at least 1."""

    k: fmpq_mat
    q: fmpq_mat


@dataclass(frozen=True)
class Exhausted:
    """The tree grew beyond `MOST_NODES` before anything was decided."""

    nodes: int


def decide_rank_one(phi: Features) -> RankOnePair | RankOneInfeasible | Exhausted:
    """A pair, a tree of refutations that covers all signs, or what ran out."""
    search = _Search(phi)
    found = search.explore([])
    if found is not None:
        return found
    if len(search.nodes) >= MOST_NODES:
        return Exhausted(len(search.nodes))
    return RankOneInfeasible(tuple(search.nodes))


@dataclass
class _Search:
    phi: Features
    nodes: list[SignNode] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.differences = self.phi.differences.tolist()
        self.queries = self.phi.dataset.integers.queries.tolist()
        self.rows_of: list[list[int]] = [[] for _ in range(self.phi.dataset.n)]
        for k, (i, _) in enumerate(self.phi.rows):
            self.rows_of[i].append(k)

    def explore(self, signs: list[int]) -> RankOnePair | None:
        """A pair below the vertex where samples 0, 1, … have *signs*; else its nodes, in order."""
        if len(self.nodes) >= MOST_NODES:
            return None
        k = q = None
        if signs:
            rows = [(p, s) for i, s in enumerate(signs) for p in self.rows_of[i]]
            k = positive_vector([[s * a for a in self.differences[p]] for p, s in rows])
            if isinstance(k, dict):
                self.nodes.append(OppositeRows(tuple(
                    (*self.phi.rows[rows[j][0]], x) for j, x in k.items())))
                return None
            q = positive_vector([[s * a for a in self.queries[i]] for i, s in enumerate(signs)])
            if isinstance(q, dict):
                self.nodes.append(OppositeQueries(tuple(q.items())))
                return None
        if len(signs) == len(self.queries):
            assert k is not None and q is not None
            return self._scaled(k, q)
        self.nodes.append(len(signs))
        for sign in (1, -1) if signs else (1,):
            found = self.explore([*signs, sign])
            if found is not None:
                return found
        return None

    def _scaled(self, k: fmpq_mat, q: fmpq_mat) -> RankOnePair:
        least = min(self.phi.margins(k * q.transpose()))
        return RankOnePair(k if least >= 1 else k * fmpq((1 / least).ceil()), q)


def positive_vector(vectors: list[list[fmpz]]) -> fmpq_mat | dict[int, fmpq]:
    """A u (d × 1) with v·u ≥ 1 for all integer *vectors*, or coprime λ > 0 with Σ λ v = 0."""
    zero = next((j for j, v in enumerate(vectors) if not any(v)), None)
    if zero is not None:
        return {zero: fmpq(1)}
    rows = RankOneRows(fmpz_mat(vectors), fmpz_mat(len(vectors), 1, [1] * len(vectors)), fmpz(1))
    units = _units(vectors)
    suggestion = suggest(units, np.ones((len(vectors), 1)), np.ones(len(vectors)))
    start = suggestion.passive.tolist()
    u = separating(rows, units[start].T @ suggestion.x[:, None])
    if u is not None:
        return u
    problem = SeparationProblem(rows)
    x = nonnegative_minimizer(problem, start)
    if problem.slack(list(x.values())) > 0:
        u = rows.combination(list(x), list(x.values()))
        return u * (1 / min(rows.margins(u)))
    return dict(zip(sorted(x), _coprime([x[j] for j in sorted(x)]), strict=True))


def _units(vectors: list[list[fmpz]]) -> FloatArray:
    """*vectors* as floats of norm 1."""
    out = np.zeros((len(vectors), len(vectors[0])))
    for k, row in enumerate(vectors):
        shift = max(max(int(abs(a)).bit_length() for a in row) - 60, 0)
        out[k] = [float(int(a) >> shift) for a in row]
    return np.asarray(out / np.linalg.norm(out, axis=1)[:, None])


def _coprime(values: list[fmpq]) -> list[fmpq]:
    integers = fmpq_mat(1, len(values), values).numer_denom()[0].entries()
    common = fmpz(0)
    for a in integers:
        common = common.gcd(a)
    return [fmpq(a, common) for a in integers]
