"""The float form of a nuclear norm problem: rows of norm near 1, targets near 1."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from flint import fmpq, fmpz

from conditions.dataset import FloatArray
from conditions.selection import Features

_NULL = 1e-12
_LARGEST = 2.0**200


@dataclass(frozen=True)
class Frame:
    """min ‖W‖_* s.t. δ_kᵀ W q_k ≥ r_k with ``deltas`` (N, d), ``queries`` (N, d), targets (N,).

    A feasible W of this problem times 4^``exponent`` is one of the original problem, and
    λ_k = x_k · ``weights``_k are the multipliers there.
    """

    deltas: FloatArray
    queries: FloatArray
    targets: FloatArray
    weights: FloatArray
    exponent: int

    @property
    def root(self) -> fmpq:
        """2^exponent, by which K and Q of the original problem are larger than those of this."""
        one = fmpz(1)
        return (fmpq(one << self.exponent) if self.exponent >= 0
                else fmpq(one, one << -self.exponent))

    @cached_property
    def bases(self) -> tuple[FloatArray, FloatArray]:
        """Orthonormal bases, (d, p) and (d, q), of the spans of the δ_k and of the q_k.

        Every optimum has its columns in the first and its rows in the second.
        """
        return _basis(self.deltas), _basis(self.queries)


def _basis(rows: FloatArray) -> FloatArray:
    _, sizes, directions = np.linalg.svd(rows, full_matrices=False)
    return np.asarray(directions[sizes > _NULL * sizes[0]].T)


def frame(phi: Features) -> Frame | None:
    """The frame of *phi*; None where a row is zero or far outside the range of floats."""
    deltas, queries = phi.float_differences, phi.float_queries
    entries = np.abs(np.concatenate([deltas, queries]))
    if not np.all(entries < _LARGEST):
        return None
    left, right = np.linalg.norm(deltas, axis=1), np.linalg.norm(queries, axis=1)
    if min(left.min(), right.min()) < 1 / _LARGEST:
        return None
    # Powers of two, so that nothing is rounded: norms of δ and q go to [1, 2).
    left, right = (np.floor(np.log2(x)).astype(int) for x in (left, right))
    exponents = left + right
    half = round(-float(np.median(exponents)) / 2)
    return Frame(np.ldexp(deltas, -left[:, None]), np.ldexp(queries, -right[:, None]),
                 np.ldexp(1.0, -exponents - 2 * half), np.ldexp(1.0, -exponents), half)
