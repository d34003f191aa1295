"""Exact numbers, and enclosures of e^x, 1/(1+e^x) and logarithms at rational numbers.

Enclosures use integers only: a number is enclosed by [lo, hi]·2^exponent, lower ends are rounded
down and upper ends up, so nothing depends on the correctness of floating point. The comments
carry the error bounds.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import isqrt, lcm

from .refusals import Code, Refusal, shown

MAX_CHARACTERS = 100_000
MAX_EXPONENT = 20_000

_RATIONAL = re.compile(r"([+-]?[0-9]+)(?:/([0-9]+))?")
_HEX = re.compile(r"(-?)0x([0-9a-f]+)(?:\.([0-9a-f]+))?p([+-]?[0-9]+)")


def parse_number(value: object, place: object) -> Fraction:
    """The rational that *value* spells; *place* (anything with ``str``) is for the refusal.

    >>> parse_number("-0x1.8p+1", "here"), parse_number("6/4", "here"), parse_number(7, "here")
    (Fraction(-3, 1), Fraction(3, 2), Fraction(7, 1))
    """
    if type(value) is int:
        return Fraction(value)
    if type(value) is not str:
        raise Refusal(Code.NOT_A_NUMBER, place, f"{shown(value)} is not a number")
    if len(value) > MAX_CHARACTERS:
        raise Refusal(Code.NUMBER_LIMIT, place, f"a number of {len(value)} characters")
    if match := _RATIONAL.fullmatch(value):
        q = int(match[2] or 1)
        if q == 0:
            raise Refusal(Code.NOT_A_NUMBER, place, "the denominator is 0")
        return Fraction(int(match[1]), q)
    if match := _HEX.fullmatch(value):
        sign, whole, fraction, power = match[1], match[2], match[3] or "", match[4]
        if abs(int(power)) > MAX_EXPONENT:
            raise Refusal(Code.NUMBER_LIMIT, place, f"an exponent beyond {MAX_EXPONENT}")
        mantissa = int(sign + whole + fraction, 16)
        exponent = int(power) - 4 * len(fraction)
        return Fraction(mantissa << max(exponent, 0), 1 << max(-exponent, 0))
    raise Refusal(Code.NOT_A_NUMBER, place, f"{shown(value)} is not a number")


def common_denominator(numbers: Iterable[Fraction]) -> int:
    """The least positive integer whose product with every number is an integer."""
    return lcm(*{number.denominator for number in numbers})


def integers(numbers: Sequence[Fraction], scale: int) -> list[int]:
    """The numbers times *scale*, a multiple of their denominators."""
    return [x.numerator * (scale // x.denominator) for x in numbers]


@dataclass(frozen=True)
class Enclosure:
    """A positive real number between lo·2^exponent and hi·2^exponent, 0 < lo ≤ hi."""

    lo: int
    hi: int
    exponent: int

    def narrower_than(self, bits: int) -> bool:
        """Whether hi - lo ≤ 2^-bits · lo."""
        return (self.hi - self.lo) << bits <= self.lo


def shift_down(x: int, by: int) -> int:
    """The floor of x·2^-by, also for negative *by*."""
    return x >> by if by >= 0 else x << -by


def shift_up(x: int, by: int) -> int:
    """The ceiling of x·2^-by, also for negative *by*."""
    return -shift_down(-x, by)


@lru_cache(maxsize=8)
def _log2(bits: int) -> tuple[int, int]:
    """Integers lo ≤ ln 2 · 2^bits ≤ hi.

    ln 2 = 2 atanh(1/3) = Σ_k 2/((2k+1) 3^(2k+1)). The powers p_k = 2^(bits+1)/3^(2k+1) are floored
    with an error below 1 + 1/9 + 1/81 + … < 2, a quotient p_k/(2k+1) with an error below 2 + 1 = 3.
    At the end p_k < 2 although its floor is 0, and the tail Σ p_k/(2k+1) is below 2·9/8 < 3.
    """
    power, total, k = (2 << bits) // 3, 0, 0
    while power:
        total += power // (2 * k + 1)
        power //= 9
        k += 1
    return total, total + 3 * k + 3


def exp_enclosure(x: Fraction, bits: int) -> Enclosure:
    """e^x with relative width at most 2^-bits."""
    work = bits + 32
    while not (found := _exp(x, work)).narrower_than(bits):
        work += 32
    return found


def _exp(x: Fraction, work: int) -> Enclosure:
    """e^x, about *work* bits of it: e^x = 2^k (e^y)^(2^s) with r = x - k ln 2 and y = r/2^s."""
    # r in units of 2^-fine. k may be any integer: a poor one costs width, not correctness.
    fine = work + abs(x.numerator // x.denominator).bit_length() + 8
    X = (x.numerator << fine) // x.denominator  # X ≤ x·2^fine < X + 1
    low, high = _log2(fine)
    k = X // high - 1  # so that r > 0
    r_lo, r_hi = sorted((k * low, k * high))
    r_lo, r_hi = X - r_hi, X + 1 - r_lo
    # In units of 2^-unit the integer Y is y rounded down, by less than `gap` at the scale of r.
    s = isqrt(work) // 2 + 4
    Y = r_lo >> (fine - work)
    gap = shift_up(r_hi, fine - work) - Y
    unit = work + s
    # Taylor. Here 0 ≤ y < 1/4 by 0 ≤ r < 4, s ≥ 4. A floored term has an error
    # e_j ≤ e_(j-1)·y/j + 1/j + 1 ≤ e_(j-1)/4 + 2, so below 3. At the end the true term is below
    # 3 and the terms after it fall by a factor of 4 or more, so they add less than 4.
    term, total, j = 1 << unit, 0, 0
    while term:
        total += term
        j += 1
        term = (term * Y >> unit) // j
    lo, hi = total, total + 3 * j + 4
    for _ in range(s):
        lo, hi = lo * lo >> unit, shift_up(hi * hi, unit)
    # e^(gap·2^-work) ≤ 1 + 2·gap·2^-work, as gap·2^-work ≤ 1.
    hi += shift_up(2 * hi * gap, work)
    return Enclosure(lo, hi, k - unit)


def logistic_enclosure(x: Fraction, bits: int) -> Enclosure:
    """1/(1+e^x) with relative width at most 2^-bits.

    With E = e^-|x| it is E/(1+E) for x > 0 and 1/(1+E) otherwise; 1 + E is taken in units of 2^-u.
    """
    work = bits + 8
    while True:
        E = exp_enclosure(-abs(x), work)
        u = work
        below = (1 << u) + shift_down(E.lo, -(E.exponent + u))
        above = (1 << u) + shift_up(E.hi, -(E.exponent + u))
        if x > 0:
            found = Enclosure((E.lo << u) // above, -(-(E.hi << u) // below), E.exponent)
        else:
            found = Enclosure((1 << 2 * u) // above, -(-(1 << 2 * u) // below), -u)
        if found.narrower_than(bits):
            return found
        work += 32


def combination_enclosure(terms: Sequence[tuple[int, Enclosure]], bits: int) -> tuple[int, int]:
    """Integers lo, hi: Σ coefficient·value lies between lo and hi, up to one power of two.

    The coefficients are not zero. The terms are added in a unit that is 2^-(bits+64) of the
    largest or finer, rounded outward.
    """
    top = max(e.exponent + e.hi.bit_length() + c.bit_length() for c, e in terms)
    unit = top - bits - 64
    lo = hi = 0
    for c, e in terms:
        ends = (e.lo, e.hi) if c >= 0 else (e.hi, e.lo)
        lo += shift_down(c * ends[0], unit - e.exponent)
        hi += shift_up(c * ends[1], unit - e.exponent)
    return lo, hi


def log_bounds(mantissa: int, exponent: int, bits: int) -> tuple[int, int, int]:
    """Integers lo, hi, u: lo·2^-u ≤ ln(mantissa·2^exponent) ≤ hi·2^-u, hi - lo ≤ 2^(u-bits).

    The mantissa is positive. With x = mantissa·2^-b in [1, 2) the logarithm is (exponent + b) ln 2
    + ln x, and ln x = 2^(k+1) atanh t, t = (y - 1)/(y + 1), where y is x after k square roots: y is
    below 1 + 2^-k, so t ≤ 1/8 by k ≥ 2. The k + 1 doublings are paid for in u.
    """
    b = mantissa.bit_length() - 1
    turns = exponent + b
    k = isqrt(bits) // 2 + 2
    u = bits + 2 * k + 32
    one = 1 << u
    y_lo, y_hi = shift_down(mantissa, b - u), shift_up(mantissa, b - u)
    for _ in range(k):
        y_lo, y_hi = isqrt(y_lo << u), isqrt((y_hi << u) - 1) + 1
    lo = _atanh((y_lo - one << u) // (y_lo + one), u)[0] << k + 1
    hi = _atanh(-(-(y_hi - one << u) // (y_hi + one)), u)[1] << k + 1
    fine = u + turns.bit_length() + 8
    low, high = sorted(turns * end for end in _log2(fine))
    return lo + shift_down(low, fine - u), hi + shift_up(high, fine - u), u


def _atanh(t: int, u: int) -> tuple[int, int]:
    """Integers lo ≤ atanh(t·2^-u)·2^u ≤ hi, for 0 ≤ t·2^-u ≤ 1/4: Σ_j t^(2j+1)/(2j+1).

    Floored powers give floored terms and so a lower end. A floored power is below its true value by
    less than 1 + 1/16 + 1/256 + … < 2, a term by less than 3. At the end the true power is below 2,
    and the terms from there on add less than 2·16/15 < 3.
    """
    square = t * t >> u
    power, total, j = t, 0, 0
    while power:
        total += power // (2 * j + 1)
        power = power * square >> u
        j += 1
    return total, total + 3 * j + 3
