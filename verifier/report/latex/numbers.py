"""Numbers in mathematics mode, never more precise than what is known.

A rational is spelled exactly where that is short: an integer, ``p/q``, ``p·2^k``, or ``fl(x)``, the
binary64 number nearest to the decimal x. Every other number appears between or beyond decimals that
are rounded outward: [a, b] holds it, and ``≤ b`` and ``≥ a`` are true of it. There is no ≈.
"""

from __future__ import annotations

import math

from flint import arb, fmpq, fmpz

from conditions.exact.numbers import rational, to_float
from conditions.smoothness import rational_above, rational_below

DIGITS = 6
"""Significant digits of a rounded decimal."""

_CHARACTERS = 14
_BITS = 50
_LARGE = 1000
_FAR = 10_000
_WHOLE = 10**16
"""Fractions of a denominator up to _LARGE come before multiples, up to _LARGE, of powers of two,
which end at 2^±_FAR; floats below _WHOLE that are integers are spelled as such."""
_PLAIN = range(-4, 6)
"""Decimal exponents that are written without a power of ten."""


def short(x: fmpq) -> str | None:
    """*x* exactly, in few characters; None where that is impossible.

    >>> short(fmpq(-7, 3)), short(fmpq(1, 2**30)), short(fmpq(1, 3**40))
    ('-7/3', '2^{-30}', None)
    """
    p, q = int(x.p), int(x.q)
    if max(p.bit_length(), q.bit_length()) <= _BITS:
        if q == 1 and len(str(p)) <= _CHARACTERS:
            return str(p)
        if q <= _LARGE and len(f"{p}/{q}") <= _CHARACTERS:
            return f"{p}/{q}"
    odd, power = _without_twos(p, q)
    if odd is not None and abs(odd) <= _LARGE and abs(power) < _FAR:
        return _scaled(odd, power)
    if max(p.bit_length(), q.bit_length()) <= _BITS and len(f"{p}/{q}") <= _CHARACTERS:
        return f"{p}/{q}"
    return None


def _without_twos(p: int, q: int) -> tuple[int | None, int]:
    """(m, k) with p/q = m·2^k and few bits in m, else (None, 0)."""
    power = (p & -p).bit_length() - 1 if q == 1 else 1 - q.bit_length()
    if q & (q - 1) or p == 0 or p.bit_length() - max(power, 0) > _BITS:
        return None, 0
    return p >> max(power, 0), power


def exact(x: fmpq) -> str | None:
    """As `short`, and in up to seventeen digits where *x* is a binary64 number.

    >>> exact(rational(0.1)), exact(fmpq(1, 3**40))
    ('\\\\mathrm{fl}(0.1)', None)
    """
    if (found := short(x)) is not None:
        return found
    spelled = float_text(x)
    return None if spelled is None else rf"\mathrm{{fl}}({spelled})"


def _scaled(p: int, power: int) -> str:
    factor = f"2^{{{power}}}"
    return {1: factor, -1: f"-{factor}"}.get(p, rf"{p}\cdot {factor}")


def float_text(x: fmpq) -> str | None:
    """The shortest decimal to which *x* is the nearest binary64 number, if it is one."""
    nearest = to_float(x)
    if not math.isfinite(nearest) or rational(nearest) != x:
        return None
    if nearest.is_integer() and abs(nearest) < _WHOLE:
        return str(int(nearest))
    mantissa, _, power = repr(nearest).partition("e")
    return rf"{mantissa}\cdot 10^{{{int(power)}}}" if power else mantissa


# Rounded decimals -----------------------------------------------------------------------------


def below(x: fmpq, digits: int = DIGITS) -> str:
    """The largest decimal of *digits* significant digits that is ≤ *x*.

    >>> below(fmpq(2, 3)), below(fmpq(-2, 3)), below(fmpq(1, 3 * 10**9))
    ('0.666666', '-0.666667', '3.33333\\\\cdot 10^{-10}')
    """
    return _spelled(*_rounded(x, digits, up=False))


def above(x: fmpq, digits: int = DIGITS) -> str:
    """The least decimal of *digits* significant digits that is ≥ *x*."""
    return _spelled(*_rounded(x, digits, up=True))


def apart(a: fmpq, b: fmpq) -> tuple[str, str]:
    """Numbers A ≥ *a* and B ≤ *b* with A < B, in as many digits as that takes; a < b.

    >>> apart(fmpq(1, 3**40), fmpq(1, 2)), apart(1 - fmpq(1, 10**9), fmpq(1))
    (('8.22527\\\\cdot 10^{-20}', '1/2'), ('0.999999999', '1'))
    """
    assert a < b, "numbers that are apart"
    digits = DIGITS
    while True:
        ends = []
        for x, up in ((a, True), (b, False)):
            found = short(x)
            mantissa, power = _rounded(x, digits, up=up)
            ends.append((_spelled(mantissa, power), mantissa * fmpq(10) ** power)
                        if found is None else (found, x))
        if ends[0][1] < ends[1][1]:
            return ends[0][0], ends[1][0]
        digits += 1


def _rounded(x: fmpq, digits: int, *, up: bool) -> tuple[int, int]:
    """(m, k): m·10^k is *x* to *digits* significant digits, rounded up or down."""
    if x == 0:
        return 0, 0
    power = _order(abs(x)) - digits + 1
    unit = fmpq(10) ** power
    return int((x / unit).ceil() if up else (x / unit).floor()), power


def _spelled(mantissa: int, power: int) -> str:
    if mantissa == 0:
        return "0"
    return ("-" if mantissa < 0 else "") + _decimal(abs(mantissa), power)


def _order(size: fmpq) -> int:
    """The k with 10^k ≤ *size* < 10^(k+1)."""
    guess = math.floor((int(size.p).bit_length() - int(size.q).bit_length()) * math.log10(2))
    while fmpq(10) ** guess > size:
        guess -= 1
    while fmpq(10) ** (guess + 1) <= size:
        guess += 1
    return guess


def _decimal(mantissa: int, power: int) -> str:
    """mantissa·10^power, mantissa > 0."""
    while mantissa % 10 == 0:
        mantissa, power = mantissa // 10, power + 1
    text = str(mantissa)
    order = power + len(text) - 1
    if order not in _PLAIN:
        tail = f".{text[1:]}" if len(text) > 1 else ""
        return rf"{text[0]}{tail}\cdot 10^{{{order}}}"
    if power >= 0:
        return text + "0" * power
    if order < 0:
        return "0." + "0" * (-order - 1) + text
    return f"{text[:order + 1]}.{text[order + 1:]}"


# What is known of a number --------------------------------------------------------------------


def value(x: fmpq) -> str:
    """What *x* is: ``= …`` exactly where that is short, else ``∈ [a, b]``."""
    found = short(x)
    return rf"\in [{below(x)},\,{above(x)}]" if found is None else f"= {found}"


def parameter(x: fmpq) -> str:
    """What *x*, a number that someone chose, is: exactly also where that takes many digits."""
    found = exact(x)
    return value(x) if found is None else f"= {found}"


def between(low: fmpq, high: fmpq) -> str:
    """``∈ [a, b]`` for a number between *low* and *high*, or its value if they are equal."""
    return value(low) if low == high else rf"\in [{below(low)},\,{above(high)}]"


def lower(x: fmpq) -> str:
    """A number ≤ *x*: itself where that is short, else rounded down."""
    found = short(x)
    return below(x) if found is None else found


def upper(x: fmpq) -> str:
    """A number ≥ *x*: itself where that is short, else rounded up."""
    found = short(x)
    return above(x) if found is None else found


def at_most(x: fmpq) -> str:
    """``≤ …`` for a number that is at most *x*."""
    return rf"\le {upper(x)}"


def at_least(x: fmpq) -> str:
    """``≥ …`` for a number that is at least *x*."""
    return rf"\ge {lower(x)}"


def strictly(left: str, a: fmpq, right: str, b: fmpq) -> str:
    """The sentence that *left*, at most *a*, is below *right*, at least *b*, with both bounds.

    Where the bounds do not show it, because what proved it was sharper, they are left out.
    """
    if not a < b:
        return f"${left}<{right}$"
    first, second = apart(a, b)
    known = "" if right == second else rf", which is $\ge {second}$"
    return rf"${left}\le {first}<{right}${known}"


def ball(x: arb) -> str:
    """``∈ [a, b]`` for a number in the ball *x*; its value where the ball is a point."""
    return between(rational_below(x), rational_above(x))


def top(x: arb, limit: fmpq | None = None) -> str:
    """``≤ …`` for a number in the ball *x*; below *limit* if there is one, or else nothing."""
    high = rational_above(x)
    if limit is None:
        return at_most(high)
    return rf"\le {apart(high, limit)[0]}" if high < limit else ""


def bottom(x: arb, limit: fmpq | None = None) -> str:
    """``≥ …`` for a number in the ball *x*; above *limit* if there is one, or else nothing."""
    low = rational_below(x)
    if limit is None:
        return at_least(low)
    return rf"\ge {apart(limit, low)[1]}" if limit < low else ""


def root_between(square_low: fmpq, square_high: fmpq) -> tuple[fmpq, fmpq]:
    """Rationals around the roots of two numbers ≥ 0, twenty digits of them."""
    return _root(square_low, up=False), _root(square_high, up=True)


def _root(x: fmpq, *, up: bool) -> fmpq:
    if x == 0:
        return x
    shift = 2 * max(0, 140 - int(x.p).bit_length() + int(x.q).bit_length())
    scaled = x * (fmpz(1) << shift)
    floor = math.isqrt(int(scaled.floor()))
    above = up and floor * floor != scaled
    return fmpq(floor + above, fmpz(1) << (shift // 2))
