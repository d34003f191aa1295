"""The float form of a nuclear norm problem: rows of norm near 1, targets near 1."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from flint import fmpq, fmpz

from conditions.dataset import FloatArray
from conditions.selection import Features
from conditions.separation.rows import float_rows

_NULL = 1e-12
_REACH, _RANGE, _MOST_ROWS = 400, 60, 5000

LIMITS = (f"the float solver takes at most {_MOST_ROWS:,} features, of sizes within "
          f"2^{_RANGE} of each other")
"""What a frame asks of the features, for the reason of a verdict."""


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
    """The frame of *phi*; None where a row is zero or `LIMITS` are not kept."""
    if len(phi) > _MOST_ROWS:
        return None
    rows = float_rows(phi)
    left, right = (np.linalg.norm(factor, axis=1) for factor in (rows.deltas, rows.queries))
    if not left.all() or not right.all():
        return None
    # Powers of two, so that nothing is rounded: norms of δ and q go to [1, 2).
    left, right = (np.floor(np.log2(size)).astype(np.int64) for size in (left, right))
    exponents = rows.exponents + left + right
    half = round(-float(np.median(exponents)) / 2)
    if np.abs(exponents).max() > _REACH or np.ptp(exponents) > _RANGE:
        return None
    return Frame(np.ldexp(rows.deltas, -left[:, None]), np.ldexp(rows.queries, -right[:, None]),
                 np.ldexp(1.0, -exponents - 2 * half), np.ldexp(1.0, -exponents), half)
