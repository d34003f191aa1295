"""Stacks of rank-one matrices δ_k q_kᵀ, kept factored: Gram matrices, products, sums, all exact."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from flint import fmpq, fmpq_mat, fmpz, fmpz_mat

from conditions.dataset import AttentionDataset, FloatArray


def take(matrix: fmpz_mat, positions: Sequence[int]) -> fmpz_mat:
    """The rows of *matrix* at *positions*."""
    table = matrix.tolist()
    return fmpz_mat([table[k] for k in positions])


class RankOneRows:
    """N rows δ_k q_kᵀ with δ_k of length p, q_k of length d, given as integers.

    ``differences`` (N × p) and ``queries`` (N × d): the product of an integer δ and an integer q
    is ``scale`` times the row.
    """

    def __init__(self, differences: fmpz_mat, queries: fmpz_mat, scale: fmpz) -> None:
        self.differences, self.queries, self.scale = differences, queries, scale

    def __len__(self) -> int:
        return int(self.differences.nrows())

    def gram(self, subset: Sequence[int] | None = None) -> fmpz_mat:
        """The inner products of all rows, or of those at *subset*, times scale²."""
        deltas, queries = self.differences, self.queries
        if subset is not None:
            deltas, queries = take(deltas, subset), take(queries, subset)
        left = (deltas * deltas.transpose()).entries()
        right = (queries * queries.transpose()).entries()
        size = deltas.nrows()
        return fmpz_mat(size, size, [a * b for a, b in zip(left, right, strict=True)])

    def margins(self, W: fmpq_mat) -> list[fmpq]:
        """δ_kᵀ W q_k, exact, one per row. W is p × d."""
        numerator, denominator = W.numer_denom()
        factor = denominator * self.scale
        return [fmpq(a, factor) for a in self.integer_margins(numerator)]

    def integer_margins(self, W: fmpz_mat) -> list[fmpz]:
        """``scale`` times the margins of an integer W."""
        products = (self.differences * W).tolist()
        return [sum((a * b for a, b in zip(p, q, strict=True)), fmpz(0))
                for p, q in zip(products, self.queries.tolist(), strict=True)]

    def combination(self, positions: Sequence[int], weights: Sequence[fmpq]) -> fmpq_mat:
        """Σ w_k δ_k q_kᵀ over *positions*, exact, p × d."""
        total, denominator = self.integer_combination(positions, weights)
        return fmpq_mat(total) * fmpq(1, denominator * self.scale)

    def integer_combination(self, positions: Sequence[int],
                            weights: Sequence[fmpq]) -> tuple[fmpz_mat, fmpz]:
        """(M, c): M an integer matrix, c > 0, M = c·scale times the combination."""
        if not positions:
            return fmpz_mat(self.differences.ncols(), self.queries.ncols()), fmpz(1)
        scaled, denominator = fmpq_mat(1, len(weights), list(weights)).numer_denom()
        deltas = take(self.differences, positions).tolist()
        weighted = fmpz_mat([[w * a for a in row]
                             for w, row in zip(scaled.entries(), deltas, strict=True)])
        return weighted.transpose() * take(self.queries, positions), denominator


@dataclass(frozen=True, eq=False)
class TokenRows(RankOneRows):
    """The rows (x_it − x_iτ) z_iᵀ of a dataset for ``pairs`` of (i, t, τ), p = d."""

    dataset: AttentionDataset
    pairs: tuple[tuple[int, int, int], ...]

    def __len__(self) -> int:
        return len(self.pairs)

    @cached_property
    def owners(self) -> np.ndarray[tuple[int], np.dtype[np.intp]]:
        """The sample of each row, shape (N,)."""
        return np.array([i for i, _, _ in self.pairs], dtype=np.intp)

    @cached_property
    def scale(self) -> fmpz:
        """The factor between integer rows and rows."""
        integers = self.dataset.integers
        return integers.token_scale * integers.query_scale

    @cached_property
    def differences(self) -> fmpz_mat:
        """δ scaled to integers, N × d."""
        tables = [m.tolist() for m in self.dataset.integers.tokens]
        return fmpz_mat(len(self), self.dataset.d,
                        [a - b for i, t, s in self.pairs
                         for a, b in zip(tables[i][t], tables[i][s], strict=True)])

    @cached_property
    def queries(self) -> fmpz_mat:
        """Q scaled to integers, N × d."""
        table = self.dataset.integers.queries.tolist()
        return fmpz_mat(len(self), self.dataset.d, [a for i, _, _ in self.pairs for a in table[i]])

    @cached_property
    def float_differences(self) -> FloatArray:
        """δ in float64, shape (N, d), each entry one rounded subtraction."""
        view = self.dataset.floats
        out = np.empty((len(self), self.dataset.d))
        where = np.array(self.pairs, dtype=np.intp).reshape(-1, 3)
        tokens = view.tokens
        edges = np.flatnonzero(np.diff(where[:, 0], prepend=-1)).tolist()
        for start, stop in pairwise([*edges, len(where)]):
            of = tokens[where[start, 0]]
            np.subtract(of[where[start:stop, 1]], of[where[start:stop, 2]], out=out[start:stop])
        return out

    @cached_property
    def float_queries(self) -> FloatArray:
        """Q in float64, shape (N, d)."""
        return self.dataset.floats.queries[self.owners]
