"""Intervals with outward rounding, in integers.

An end is a pair (m, e), the number m·2^e, with at most `bits` bits in m after rounding. Lower ends
are rounded down and upper ends up. The two ends have exponents of their own, so that the lower end
of a wide interval keeps its leading bits.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from .numbers import exp_enclosure, logistic_enclosure, shift_down

End = tuple[int, int]
"""m·2^e as (m, e)."""


def down(end: End, bits: int) -> End:
    """The end rounded down to *bits* bits."""
    m, e = end
    excess = m.bit_length() - bits
    return (m >> excess, e + excess) if excess > 0 else end


def sum_down(ends: Sequence[End], bits: int) -> End:
    """A lower bound of the sum, off by less than 2^-bits of the largest term.

    The terms are floored at 2^-(bits + the bits of their number) of the largest, so terms of any
    exponents may meet.
    """
    top = max((e + m.bit_length() for m, e in ends if m), default=0)
    unit = top - bits - len(ends).bit_length()
    low = min((e for m, e in ends if m), default=unit)
    unit = max(unit, low)
    return down((sum(shift_down(m, unit - e) for m, e in ends if m), unit), bits + 1)


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


def opposite(end: End) -> End:
    """The negative of an end."""
    return -end[0], end[1]


def fraction(end: End) -> Fraction:
    """The rational that an end is."""
    m, e = end
    return Fraction(m << max(e, 0), 1 << max(-e, 0))


def _below(a: End, b: End) -> bool:
    """Whether a < b."""
    m, e = a
    n, f = b
    if (m > 0) != (n > 0) or not m or not n:
        return (m > 0) - (m < 0) < (n > 0) - (n < 0)
    size, other = e + m.bit_length(), f + n.bit_length()
    if size != other:
        return (size < other) == (m > 0)
    return m << max(e - f, 0) < n << max(f - e, 0)


class Interval:
    """All numbers from `lo` to `hi`; results are rounded outward to `bits` bits."""

    __slots__ = ("bits", "hi", "lo")

    def __init__(self, lo: End, hi: End, bits: int) -> None:
        self.lo = down(lo, bits)
        self.hi = opposite(down(opposite(hi), bits))
        self.bits = bits

    @classmethod
    def of(cls, x: Fraction, bits: int) -> Interval:
        """An interval that holds the rational x, of relative width about 2^-bits."""
        p, q = x.numerator, x.denominator
        size = max(bits + q.bit_length() - p.bit_length(), 0)
        return cls(((p << size) // q, -size), (-((-p << size) // q), -size), bits)

    def __add__(self, other: Interval) -> Interval:
        return total((self, other), self.bits)

    def __neg__(self) -> Interval:
        return Interval(opposite(self.hi), opposite(self.lo), self.bits)

    def __sub__(self, other: Interval) -> Interval:
        return self + -other

    def __mul__(self, other: Interval) -> Interval:
        a, b = self, other
        if a.lo[0] < 0 <= b.lo[0]:
            a, b = b, a
        if a.lo[0] >= 0:
            lo = times(a.hi if b.lo[0] < 0 else a.lo, b.lo)
            hi = times(a.hi if b.hi[0] > 0 else a.lo, b.hi)
        else:
            # Neither is nonnegative: the extremes are among the four products of ends.
            ends = [times(x, y) for x in (a.lo, a.hi) for y in (b.lo, b.hi)]
            lo = hi = ends[0]
            for end in ends[1:]:
                lo = end if _below(end, lo) else lo
                hi = end if _below(hi, end) else hi
        return Interval(lo, hi, self.bits)

    def inverse(self) -> Interval:
        """1/x for a positive interval."""
        return Interval(inverse_down(self.hi, self.bits), inverse_up(self.lo, self.bits),
                        self.bits)

    def scaled(self, factor: int) -> Interval:
        """The interval times an integer."""
        (m, e), (n, f) = self.lo, self.hi
        if factor < 0:
            (m, e), (n, f) = (n, f), (m, e)
        return Interval((m * factor, e), (n * factor, f), self.bits)

    @property
    def positive(self) -> bool:
        """Whether every number in it is > 0."""
        return self.lo[0] > 0

    @property
    def negative(self) -> bool:
        """Whether every number in it is < 0."""
        return self.hi[0] < 0

    @property
    def largest(self) -> Interval:
        """The largest absolute value, as a point."""
        low, high = opposite(self.lo), self.hi
        end = high if _below(low, high) else low
        return Interval(end, end, self.bits)

    @property
    def smallest(self) -> Interval:
        """The smallest absolute value, as a point."""
        end = self.lo if self.positive else opposite(self.hi) if self.negative else (0, 0)
        return Interval(end, end, self.bits)


def total(terms: Sequence[Interval], bits: int) -> Interval:
    """The sum of intervals."""
    return Interval(sum_down([term.lo for term in terms], bits),
                    opposite(sum_down([opposite(term.hi) for term in terms], bits)), bits)


def exp_interval(low: Fraction, high: Fraction, bits: int) -> Interval:
    """An interval that holds e^x for low ≤ x ≤ high, its ends within 2^-bits of the best."""
    first = exp_enclosure(low, bits)
    last = first if low == high else exp_enclosure(high, bits)
    return Interval((first.lo, first.exponent), (last.hi, last.exponent), bits + 8)


def slope(loss: str | None, low: Fraction, high: Fraction, bits: int) -> tuple[End, End]:
    """Bounds of |ℓ'(f)| for low ≤ f ≤ high; |ℓ'| falls, or is 1 for correlation."""
    if loss == "correlation":
        return (1, 0), (1, 0)
    if loss == "exponential":
        least, most = exp_enclosure(-high, bits), exp_enclosure(-low, bits)
    else:
        least, most = logistic_enclosure(high, bits), logistic_enclosure(low, bits)
    return (least.lo, least.exponent), (most.hi, most.exponent)
