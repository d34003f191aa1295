"""From verified floats to a certificate that exact arithmetic re-derives with plain norms."""

from __future__ import annotations

import math

import numpy as np
from flint import fmpq, fmpq_mat, fmpz

from conditions.certificates import KKTEnclosure, Rows, ScaledInverse, Vector
from conditions.exact.numbers import round_dyadic, to_float
from conditions.exact.rank_one import TokenRows
from conditions.exact.verified import VerifiedSolution
from conditions.selection import Features

WIDEST = 0.25
"""‖I − RK‖_∞ as verified floats bound it must be below this for a certificate."""


def enclosure_certificate(phi: Features, verified: VerifiedSolution,
                          support: Rows) -> KKTEnclosure | None:
    """The `kkt_enclosure` of a verified solution with support indices *support*.

    None if the verified bound on ‖I − RK‖_∞ is too weak for it.
    """
    parts = enclosure_parts(phi, verified, len(verified.positions))
    if parts is None:
        return None
    multipliers, inverse, bounds = parts
    rows = tuple(phi.rows[int(k)] for k in verified.positions)
    return KKTEnclosure(rows, multipliers, inverse, support, bounds)


def enclosure_parts(phi: TokenRows, verified: VerifiedSolution,
                    count: int) -> tuple[Vector, ScaledInverse, Vector] | None:
    """λ, R and an interval of ‖W^mm‖² = Σλ, for a checker of plain norms, or None.

    The first *count* rows have margin 1, the others margin 0. The inverse is rounded to few digits
    and λ refined against the exact Gram matrix, so that the checker's bounds hold.
    """
    if not verified.defect < WIDEST:
        return None
    positions = [int(k) for k in verified.positions]
    K = fmpq_mat(phi.gram(positions)) * fmpq(1, phi.scale * phi.scale)
    total = sum((abs(a) for a in K.entries()), fmpq(0))
    # Entries rounded to 2^e move ‖I − RK‖_∞ by at most 2^(e−1)·Σ|K| ≤ 2⁻⁹.
    exponent = -9 - math.ceil(math.log2(to_float(total)))
    entries = tuple(tuple(round(a) for a in row)
                    for row in np.ldexp(verified.inverse, -exponent).tolist())
    tolerance = _tolerance(positions, verified, count)
    multipliers = _refined(K, entries, exponent, verified, tolerance, count)
    sums = sum(multipliers[:count], fmpq(0))
    # The checker's own interval is far narrower than this one.
    bounds = tuple(round_dyadic(sums * (1 + fmpq(side, 1 << 30)), 50) for side in (-1, 1))
    return multipliers, ScaledInverse(exponent, entries), bounds


def _tolerance(positions: list[int], verified: VerifiedSolution, count: int) -> fmpq:
    """An error of λ that keeps λ > 0, and margins that floats proved above 1 + 2⁻³⁰, above 1."""
    reach = float(verified.norms.max() * verified.norms[positions].sum())
    least = float((verified.multipliers - verified.radius)[:count].min())
    return fmpq(*min(least / 8, 2.0**-36 / reach).as_integer_ratio())


def _refined(K: fmpq_mat, entries: tuple[tuple[int, ...], ...], exponent: int,
             verified: VerifiedSolution, tolerance: fmpq, count: int) -> Vector:
    """λ with ‖λ − K⁻¹b‖_∞ within *tolerance*, by steps that shrink the error fourfold or so."""
    s = len(entries)
    step = fmpq(1, fmpz(1) << -exponent) if exponent < 0 else fmpq(fmpz(1) << exponent)
    R = fmpq_mat(s, s, [a for row in entries for a in row]) * step
    goal = fmpq_mat(s, 1, [int(k < count) for k in range(s)])
    start = verified.multipliers.tolist()
    bits = 20 + max(0, math.ceil(math.log2(max(map(abs, start))) - math.log2(to_float(tolerance))))
    x = fmpq_mat(s, 1, [fmpq(*value.as_integer_ratio()) for value in start])
    while True:
        correction = R * (goal - K * x)
        if max(abs(a) for a in correction.entries()) * 2 <= tolerance:
            return tuple(x.entries())
        x = fmpq_mat(s, 1, [round_dyadic(a, bits) for a in (x + correction).entries()])
