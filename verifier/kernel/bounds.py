"""Lower and upper bounds with exponents of their own, in integers.

An end is a pair (m, e), the number m·2^e. Unlike the ends of an `intervals.Interval`, which share
one exponent, the small end of a wide range keeps its leading bits: a softmax weight between 2^-200
and 1 stays above 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from .numbers import (
    common_denominator,
    exp_enclosure,
    integers,
    logistic_enclosure,
    shift_down,
)

End = tuple[int, int]
"""m·2^e as (m, e)."""


def sum_down(ends: Sequence[End], bits: int) -> End:
    """A lower bound of the sum, off by about 2^-bits of the largest term.

    The terms are floored on one grid, 2^-(bits + the bits of their number) of the largest or
    coarser if all of them are on that, so terms of any exponents may meet.
    """
    ends = [end for end in ends if end[0]]
    top = max((e + m.bit_length() for m, e in ends), default=0)
    unit = top - bits - len(ends).bit_length()
    unit = max(unit, min((e for _, e in ends), default=unit))
    m = sum(shift_down(m, unit - e) for m, e in ends)
    excess = max(m.bit_length() - bits, 0)
    return m >> excess, unit + excess


def times(a: End, b: End) -> End:
    """The product, exactly."""
    return a[0] * b[0], a[1] + b[1]


def inverse_down(end: End, bits: int) -> End:
    """A lower bound of 1/end for a positive end."""
    m, e = end
    size = bits + m.bit_length()
    return (1 << size) // m, -size - e


def inverse_up(end: End, bits: int) -> End:
    """An upper bound of 1/end for a positive end."""
    m, e = end
    size = bits + m.bit_length()
    return -((-1 << size) // m), -size - e


def slope(loss: str | None, low: Fraction, high: Fraction, bits: int) -> tuple[End, End]:
    """Bounds of |ℓ'(f)| for low ≤ f ≤ high; |ℓ'| falls, or is 1 for correlation."""
    if loss == "correlation":
        return (1, 0), (1, 0)
    if loss == "exponential":
        least, most = exp_enclosure(-high, bits), exp_enclosure(-low, bits)
    else:
        least, most = logistic_enclosure(high, bits), logistic_enclosure(low, bits)
    return (least.lo, least.exponent), (most.hi, most.exponent)


def mean_score(scores: Sequence[Fraction], base: int, weights: Sequence[tuple[End, End]],
               bits: int) -> tuple[Fraction, Fraction]:
    """Bounds of γ_a + Σ_t (γ_t - γ_a) s_t for the base token a, cut off at the extreme scores.

    The weights are given by their bounds, 0 ≤ s_t ≤ 1.
    """
    scale = common_denominator(scores)
    levels = integers(scores, scale)
    rises = [x - levels[base] for x in levels]
    sides = []
    for sign in (1, -1):
        # A lower bound of sign·Σ rise·s, then on a grid, so that no denominator is huge.
        m, e = sum_down([times((sign * rise, 0), weight[sign * rise < 0])
                         for rise, weight in zip(rises, weights, strict=True)], bits)
        grid = shift_down(m, -(e + 2 * bits))
        sides.append(scores[base] + sign * Fraction(grid, scale << 2 * bits))
    least, most = min(scores), max(scores)
    return min(max(sides[0], least), most), max(min(sides[1], most), least)
