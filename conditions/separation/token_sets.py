"""The constraints that sets of tokens put on W, and their projection on one subspace.

For sets O_i ⊂ [T_i] with r_i = min O_i a row (i, t) stands for the matrix (x_{ir_i} − x_it) z_iᵀ:
ψ_it of a *tied* token, t ∈ O_i, t ≠ r_i, and φ_it of a *rejected* one, t ∉ O_i. On the orthogonal
complement of the ψ, Gen-SVM is Att-SVM with the projected features Pφ, of which only the Gram
matrix is needed: a Schur complement. Source: docs/theory.md, section 8.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from flint import fmpq, fmpq_mat, fmpz, fmpz_mat

from conditions.dataset import AttentionDataset
from conditions.errors import InvalidInput, counted
from conditions.exact.rank_one import TokenRows
from conditions.exact.threads import one_blas_thread
from conditions.selection import Row
from conditions.separation.suggestion import suggest

Sets = tuple[tuple[int, ...], ...]
"""One nonempty increasing tuple of tokens per sample: O_1, …, O_n."""

Weights = Mapping[Row, fmpq]


def check_sets(dataset: AttentionDataset, sets: Iterable[Iterable[object]]) -> Sets:
    """*sets* as n increasing tuples of token indices, 0-based. Raises ``InvalidInput``.

    >>> data = AttentionDataset.build([[[1], [2], [3]]], [1], [[1]], [1])
    >>> check_sets(data, [{2, 0}])
    ((0, 2),)
    """
    given = [sorted(_indices(one, f"sets[{i}]")) for i, one in enumerate(sets)]
    if len(given) != dataset.n:
        raise InvalidInput("sets", counted(len(given), "set"),
                           f"must have one set for each of the {dataset.n} samples",
                           "give one list of tokens per sample")
    for i, (tokens, T) in enumerate(zip(given, dataset.lengths, strict=True)):
        if not tokens:
            raise InvalidInput(f"sets[{i}]", tokens, "must hold at least one token",
                               "give the tokens that sample i selects")
        if not 0 <= tokens[0] <= tokens[-1] < T or len(set(tokens)) < len(tokens):
            raise InvalidInput(f"sets[{i}]", tokens, f"must be distinct tokens in 0..{T - 1}",
                               "count tokens from 0")
    return tuple(map(tuple, given))


def _indices(tokens: Iterable[object], name: str) -> list[int]:
    if isinstance(tokens, str | bytes) or not isinstance(tokens, Iterable):
        raise InvalidInput(name, tokens, "must be a list of token indices", "correct the nesting")
    found = []
    for t in tokens:
        if isinstance(t, bool) or not isinstance(t, int | np.integer):
            raise InvalidInput(name, t, "must hold integers", "count tokens from 0")
        found.append(operator.index(t))
    return found


@dataclass(frozen=True, eq=False)
class Constraints:
    """⟨ψ, W⟩ = 0 on the tied rows and ⟨φ, W⟩ ≥ 1 on the rejected rows of *samples*."""

    dataset: AttentionDataset
    sets: Sets
    samples: Sequence[int]

    @cached_property
    def rejected(self) -> tuple[Row, ...]:
        """The rows (i, t), t ∉ O_i, increasing."""
        return tuple((i, t) for i in self.samples for t in range(self.dataset.lengths[i])
                     if t not in self.sets[i])

    @cached_property
    def tied(self) -> tuple[Row, ...]:
        """The rows (i, t), t ∈ O_i but not its first token, increasing."""
        return tuple((i, t) for i in self.samples for t in self.sets[i][1:])

    def features(self, rows: Iterable[Row]) -> TokenRows:
        """φ of rejected rows, ψ of tied ones."""
        return TokenRows(self.dataset, tuple((i, self.sets[i][0], t) for i, t in rows))

    def combination(self, *weights: Weights) -> fmpq_mat:
        """The sum of all weighted features, d × d."""
        parts = {row: x for part in weights for row, x in part.items()}
        return self.features(parts).combination(range(len(parts)), list(parts.values()))


def blocks(dataset: AttentionDataset) -> list[list[int]]:
    """The samples in groups of mutually orthogonal queries, as fine as possible.

    Features of different groups are orthogonal, whatever the sets, so that every group has a
    Gen-SVM of its own and the solutions add up. One-hot queries make one group each.
    """
    queries = dataset.integers.queries
    meets = (queries * queries.transpose()).tolist()
    left, groups = set(range(dataset.n)), []
    while left:
        group, frontier = set(), {min(left)}
        while frontier:
            group |= frontier
            left -= frontier
            frontier = {j for j in left if any(meets[i][j] != 0 for i in frontier)}
        groups.append(sorted(group))
    return groups


class ProjectedProblem:
    """The dual of Gen-SVM, a `conditions.exact.nonnegative.Problem`.

    It is `SeparationProblem` with the Gram matrix of the Pφ: ``gram`` is ``scale`` times it, in
    integers. ``basis`` are independent ψ that span all; Pφ_k = φ_k − Σ_b C_bk ψ_b.
    """

    def __init__(self, constraints: Constraints) -> None:
        tied, self.rows = constraints.tied, constraints.rejected
        features = constraints.features(tied + self.rows)
        table = features.gram().tolist()
        M = len(tied)
        basis = _independent([row[:M] for row in table[:M]])
        self.basis = [tied[a] for a in basis]
        inner = fmpq_mat([row[M:] for row in table[M:]])
        self.coefficients = fmpq_mat(0, len(self.rows))
        if basis:
            cross = fmpq_mat([table[a][M:] for a in basis])
            self.coefficients = fmpq_mat([[table[a][b] for b in basis] for a in basis]).solve(cross)
            inner -= cross.transpose() * self.coefficients
        self.gram, denominator = inner.numer_denom()
        self.scale = denominator * features.scale * features.scale
        self.diagonal = [self.gram[k, k] for k in range(len(self.rows))]
        # Any positive constant is right; one of the size of the Gram entries is short.
        self.constant = max(self.diagonal) + 1

    def system(self, passive: Sequence[int]) -> tuple[fmpz_mat, fmpz_mat]:
        """See `Problem`."""
        size = len(passive)
        matrix = fmpz_mat(size, size,
                          [self.gram[a, b] + self.constant for a in passive for b in passive])
        return matrix, fmpz_mat(size, 1, [1] * size)

    def slack(self, x: Sequence[fmpq]) -> fmpq:
        """κ = 1 − c·1ᵀx."""
        return 1 - self.constant * sum(x, fmpq(0))

    def descent(self, passive: Sequence[int], x: Sequence[fmpq]) -> list[fmpq]:
        """See `Problem`."""
        slack = self.slack(x)
        if not passive:
            return [slack] * len(self.rows)
        columns = fmpq_mat([[self.gram[k, a] for a in passive] for k in range(len(self.rows))])
        return [slack - m for m in (columns * fmpq_mat(len(x), 1, list(x))).entries()]

    def lifted(self, x: Mapping[int, fmpq]) -> dict[Row, fmpq]:
        """μ with Σ x Pφ = Σ x φ + Σ μ ψ, zeros left out."""
        found = {}
        for b, row in enumerate(self.basis):
            value = -sum((a * self.coefficients[b, k] for k, a in x.items()), fmpq(0))
            if value != 0:
                found[row] = value
        return found

    def suggestion(self) -> list[int]:
        """A float guess of where to start; empty beyond the range of floats."""
        try:
            table = np.array([[float(int(a)) for a in row] for row in self.gram.tolist()])
        except OverflowError:
            return []
        with np.errstate(all="ignore"), one_blas_thread():
            targets = 1 / np.sqrt(table.diagonal())
            table = table * np.outer(targets, targets)
            if not np.isfinite(table).all() or not targets.all():
                return []
            values, vectors = np.linalg.eigh(table)
            factor = vectors * np.sqrt(np.maximum(values, 0.0))
            found = suggest(factor, np.ones((len(table), 1)), targets)
        return [int(k) for k in found.passive]


def _independent(gram: list[list[fmpz]]) -> list[int]:
    """Positions of a basis of the row space, from the Gram matrix, exactly."""
    if not gram:
        return []
    form, _, rank = fmpz_mat(gram).rref()
    table = form.tolist()[:rank]
    return [next(j for j, a in enumerate(row) if a != 0) for row in table]
