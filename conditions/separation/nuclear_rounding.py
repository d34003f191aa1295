"""From float solutions of the nuclear norm problem to rational pairs that are feasible exactly."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from flint import fmpq, fmpq_mat, fmpz

from conditions.dataset import FloatArray
from conditions.exact.definite import is_contraction
from conditions.selection import Features

_ROUNDS = 12


@dataclass(frozen=True)
class Factors:
    """K, Q (d × r) with every margin of KQᵀ at least 1, and ½(‖K‖² + ‖Q‖²)."""

    K: fmpq_mat
    Q: fmpq_mat
    value: fmpq

    @property
    def width(self) -> int:
        """r, a bound of the rank of KQᵀ."""
        return int(self.K.ncols())


@dataclass(frozen=True)
class Multipliers:
    """λ > 0 by row position with ‖Σ λφ‖_op ≤ 1, and Σ λ."""

    weights: dict[int, fmpq]
    value: fmpq


def rational_matrix(A: FloatArray) -> fmpq_mat:
    """The floats of *A* as they are."""
    return fmpq_mat(*A.shape, [fmpq(*float(a).as_integer_ratio()) for a in A.ravel()])


def power_of_two(exponent: int) -> fmpq:
    """2^exponent."""
    one = fmpz(1)
    return fmpq(one << exponent) if exponent >= 0 else fmpq(one, one << -exponent)


def exponent_above(value: fmpq) -> int:
    """An e with value ≤ 2^e, at most one larger than needed; value > 0."""
    return int(value.p).bit_length() - int(value.q).bit_length() + 1


def square(A: fmpq_mat) -> fmpq:
    """‖A‖_F²."""
    return sum((a * a for a in A.entries()), fmpq(0))


def on_grid(A: fmpq_mat, grid: int) -> fmpq_mat:
    """*A* rounded to multiples of 2^grid."""
    step = power_of_two(grid)
    return fmpq_mat(A.nrows(), A.ncols(), [(a / step + fmpq(1, 2)).floor()
                                           for a in A.entries()]) * step


def feasible_factors(phi: Features, K: fmpq_mat, Q: fmpq_mat, bits: int) -> Factors | None:
    """*K*, *Q* enlarged as little as makes KQᵀ feasible, and rounded to about *bits* bits.

    None if some margin of KQᵀ is not positive.
    """
    least = min(phi.margins(K * Q.transpose()))
    if least <= 0:
        return None
    growth = _root_above(1 / least, bits)
    largest = max(abs(a) for M in (K, Q) for a in M.entries()) * growth
    grid = exponent_above(largest) - bits
    allowance = power_of_two(-bits)
    for _ in range(_ROUNDS):
        shortK, shortQ = (on_grid(A * (growth * (1 + allowance)), grid) for A in (K, Q))
        if min(phi.margins(shortK * shortQ.transpose())) >= 1:
            return Factors(shortK, shortQ, (square(shortK) + square(shortQ)) / 2)
        allowance *= 4
    return None


def _root_above(value: fmpq, bits: int) -> fmpq:
    """A rational a little above √value, value > 0."""
    shift = 2 * max(0, bits + 4 - exponent_above(value))
    scaled = (value * power_of_two(shift)).ceil()
    return fmpq(scaled.isqrt() + 1, fmpz(1) << (shift // 2))


def contracting_multipliers(phi: Features, weights: dict[int, fmpq],
                            bits: int) -> Multipliers | None:
    """*weights* ≥ 0 shrunk as little as makes ‖Σ λφ‖_op ≤ 1, and rounded to about *bits* bits."""
    positive = {k: w for k, w in sorted(weights.items()) if w > 0}
    if not positive:
        return None
    grid = power_of_two(exponent_above(max(positive.values())) - bits)
    allowance = power_of_two(-bits)
    for _ in range(_ROUNDS):
        short = {k: (w * (1 - allowance) / grid).floor() for k, w in positive.items()}
        # Rounding down also drops what is too small to matter.
        kept = {k: a * grid for k, a in short.items() if a}
        if kept and is_contraction(phi.combination(list(kept), list(kept.values()))):
            return Multipliers(kept, sum(kept.values(), fmpq(0)))
        allowance *= 4
    return None


def float_factors(W: FloatArray, width: int) -> tuple[FloatArray, FloatArray]:
    """K, Q of *width* columns and equal norms with KQᵀ the best approximation of *W*."""
    U, sigma, Vt = np.linalg.svd(W, full_matrices=False)
    roots = np.sqrt(sigma[:width])
    return U[:, :width] * roots, Vt[:width].T * roots
