"""Is there a W = k qᵀ of rank one with every margin at least 1? Decided exactly.

The margin of row (i, t) is (δ_it·k)(z_i·q). All are positive iff for some signs s_i every s_i z_i·q
and every s_i δ_it·k is positive: two linear problems, each solved or refuted over Q (Gordan). A
tree over the signs of one sample after another is cut where the signs fixed so far are refuted;
the first sample has the sign +, for (−k)(−q)ᵀ = kqᵀ.
"""

from __future__ import annotations

from dataclasses import dataclass

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
    return _Search(phi).run()


class _Search:
    """The tree over the signs of samples 0, 1, …, walked in preorder."""

    def __init__(self, phi: Features) -> None:
        self.phi = phi
        self.nodes: list[SignNode] = []
        self.differences = phi.differences.tolist()
        self.queries = phi.dataset.integers.queries.tolist()
        self.rows_of: list[list[int]] = [[] for _ in range(phi.dataset.n)]
        for k, (i, _) in enumerate(phi.rows):
            self.rows_of[i].append(k)

    def run(self) -> RankOnePair | RankOneInfeasible | Exhausted:
        """See `decide_rank_one`."""
        self.nodes.append(0)
        waiting: list[tuple[int, ...]] = [(1,)]
        while waiting:
            if len(self.nodes) >= MOST_NODES:
                return Exhausted(len(self.nodes))
            signs = waiting.pop()
            found = self._vertex(signs)
            if isinstance(found, RankOnePair):
                return found
            self.nodes.append(found)
            if isinstance(found, int):
                waiting += [(*signs, -1), (*signs, 1)]
        return RankOneInfeasible(tuple(self.nodes))

    def _vertex(self, signs: tuple[int, ...]) -> RankOnePair | SignNode:
        """What refutes *signs*, or the next sample, or, if there is none, the pair."""
        rows = [(p, s) for i, s in enumerate(signs) for p in self.rows_of[i]]
        k = positive_vector([[s * a for a in self.differences[p]] for p, s in rows])
        if isinstance(k, dict):
            return OppositeRows(tuple((*self.phi.rows[rows[j][0]], x) for j, x in k.items()))
        q = positive_vector([[s * a for a in self.queries[i]] for i, s in enumerate(signs)])
        if isinstance(q, dict):
            return OppositeQueries(tuple(q.items()))
        return len(signs) if len(signs) < len(self.queries) else self._scaled(k, q)

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
