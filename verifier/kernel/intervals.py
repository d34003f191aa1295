"""Interval arithmetic with integers: every operation encloses, lower ends down, upper ends up.

An `Interval` is [lo, hi]·2^exponent. The exponent is unbounded, so that e^-s at a clock of
s = 10^12 is a number like any other; lo and hi are rounded to about `bits` bits of the larger. A
comparison is True only if it is shown for all real numbers that the intervals enclose.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from math import isqrt

from .numbers import Enclosure, exp_enclosure, log_bounds, shift_down, shift_up

_FARTHEST = 100
"""Exponentials are enclosed up to 2^100 in size of the argument."""


class Undetermined(ArithmeticError):  # noqa: N818 - what the operation is
    """An operation at an interval with a point where it is undefined."""


class Interval:
    """A real number between lo·2^exponent and hi·2^exponent, lo ≤ hi."""

    __slots__ = ("bits", "exponent", "hi", "lo")

    def __init__(self, lo: int, hi: int, exponent: int, bits: int) -> None:
        excess = max(lo.bit_length(), hi.bit_length()) - bits
        if excess > 0:
            lo, hi, exponent = lo >> excess, -(-hi >> excess), exponent + excess
        self.lo, self.hi, self.exponent, self.bits = lo, hi, exponent, bits

    @classmethod
    def of(cls, x: Fraction | int, bits: int) -> Interval:
        """The interval of a rational, to a relative width of 2^-bits."""
        p, q = x.numerator, x.denominator
        shift = bits + 1 + q.bit_length() - p.bit_length()
        p, q = p << max(shift, 0), q << max(-shift, 0)
        return cls(p // q, -(-p // q), -shift, bits)

    @property
    def top(self) -> Interval:
        """The upper end, as a number on its own."""
        return Interval(self.hi, self.hi, self.exponent, self.bits)

    @property
    def bottom(self) -> Interval:
        """The lower end, as a number on its own."""
        return Interval(self.lo, self.lo, self.exponent, self.bits)

    def _of(self, other: Interval | Fraction | int) -> Interval:
        return other if isinstance(other, Interval) else Interval.of(other, self.bits)

    def __neg__(self) -> Interval:
        return Interval(-self.hi, -self.lo, self.exponent, self.bits)

    def __add__(self, other: Interval | Fraction | int) -> Interval:
        a, b = self, self._of(other)
        if a.exponent < b.exponent:
            a, b = b, a
        if not (a.lo or a.hi):
            return b
        # Where b is small against one unit of a, a few of its bits are enough.
        up = min(a.exponent - b.exponent, 2 * a.bits)
        down = a.exponent - b.exponent - up
        return Interval((a.lo << up) + (b.lo >> down), (a.hi << up) - (-b.hi >> down),
                        a.exponent - up, a.bits)

    __radd__ = __add__

    def __sub__(self, other: Interval | Fraction | int) -> Interval:
        return self + -self._of(other)

    def __rsub__(self, other: Fraction | int) -> Interval:
        return self._of(other) + -self

    def __mul__(self, other: Interval | Fraction | int) -> Interval:
        b = self._of(other)
        exponent = self.exponent + b.exponent
        if self.lo >= 0 and b.lo >= 0:
            return Interval(self.lo * b.lo, self.hi * b.hi, exponent, self.bits)
        ends = [x * y for x in (self.lo, self.hi) for y in (b.lo, b.hi)]
        return Interval(min(ends), max(ends), exponent, self.bits)

    __rmul__ = __mul__

    def __truediv__(self, other: Interval | Fraction | int) -> Interval:
        b = self._of(other)
        if b.lo <= 0 <= b.hi:
            raise Undetermined("a divisor may be 0")
        shift = self.bits + max(b.lo.bit_length(), b.hi.bit_length())
        return self * Interval((1 << shift) // b.hi, -(-(1 << shift) // b.lo),
                               -b.exponent - shift, self.bits)

    def __rtruediv__(self, other: Fraction | int) -> Interval:
        return self._of(other) / self

    def square(self) -> Interval:
        """Its square, never negative."""
        ends = sorted((abs(self.lo), abs(self.hi)))
        low = 0 if self.lo <= 0 <= self.hi else ends[0]
        return Interval(low * low, ends[1] * ends[1], 2 * self.exponent, self.bits)

    def sqrt(self) -> Interval:
        """The root of a number known not to be negative: an end below 0 is taken as 0."""
        if self.hi < 0:
            raise Undetermined("the root of a negative number")
        lo, hi = max(self.lo, 0), self.hi
        shift = max(2 * self.bits - hi.bit_length(), 0)
        shift += (self.exponent - shift) % 2
        return Interval(isqrt(lo << shift), isqrt((hi << shift) - 1) + 1 if hi else 0,
                        (self.exponent - shift) // 2, self.bits)

    def exp(self) -> Interval:
        """e^x. The ends are first rounded to 2^-(bits+16), which changes e^x by as little.

        It is 0 to 2^-(2^100) below -2^100, and undetermined above 2^100.
        """
        far_lo, far_hi = (end.bit_length() + self.exponent > _FARTHEST
                          for end in (self.lo, self.hi))
        if far_hi and self.hi > 0:
            raise Undetermined("an exponential may be beyond all bounds")
        if far_hi and self.hi < 0:
            return Interval(0, 1, -(1 << _FARTHEST), self.bits)
        if far_lo and self.lo < 0:
            return Interval(0, 1, 0, self.bits) * Interval(self.hi, self.hi, self.exponent,
                                                           self.bits).exp()
        unit = self.bits + 16
        lo, hi = self.ends(unit)
        low = exp_enclosure(Fraction(lo, 1 << unit), self.bits)
        high = low if lo == hi else exp_enclosure(Fraction(hi, 1 << unit), self.bits)
        return _between(low, high, self.bits)

    def log(self) -> Interval:
        """The natural logarithm, to an absolute width of 2^-bits at either end."""
        if self.lo <= 0:
            raise Undetermined("the logarithm of 0 or less")
        lo, _, unit = log_bounds(self.lo, self.exponent, self.bits)
        _, hi, _ = log_bounds(self.hi, self.exponent, self.bits)
        return Interval(lo, hi, -unit, self.bits)

    def ends(self, unit: int) -> tuple[int, int]:
        """Integers lo, hi: lo·2^-unit ≤ x ≤ hi·2^-unit."""
        return (shift_down(self.lo, -self.exponent - unit),
                shift_up(self.hi, -self.exponent - unit))

    def is_positive(self) -> bool:
        """Whether x > 0 is shown."""
        return self.lo > 0

    def below(self, other: Interval | Fraction | int) -> bool:
        """Whether x < other is shown."""
        return (self - other).hi < 0

    def at_most(self, other: Interval | Fraction | int) -> bool:
        """Whether x ≤ other is shown."""
        return (self - other).hi <= 0


def _between(low: Enclosure, high: Enclosure, bits: int) -> Interval:
    """From the lower end of *low* to the upper end of *high*, low ≤ high."""
    unit = high.exponent + high.hi.bit_length() - bits - 8
    return Interval(shift_down(low.lo, unit - low.exponent),
                    shift_up(high.hi, unit - high.exponent), unit, bits)


def total(terms: Iterable[Interval], bits: int) -> Interval:
    """The sum, 0 of no terms."""
    return sum(terms, Interval(0, 0, 0, bits))


def upper_bound(numbers: Iterable[Interval]) -> Interval:
    """The largest upper end of at least one number, as a number on its own."""
    found, *others = (x.top for x in numbers)
    for x in others:
        if found.below(x):
            found = x
    return found
