"""Exact numbers: from what users write to python-flint rationals, and to certificate text."""

from __future__ import annotations

import math
import numbers
import re
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from flint import fmpq, fmpz

from conditions.errors import Description, InvalidInput

MAX_CHARACTERS = 100_000
"""Of the longest number that a checker reads (docs/certificates.md), as it is written there."""

MAX_EXPONENT = 20_000

_RATIONAL = re.compile(r"[+-]?[0-9]+(/[0-9]+)?")
_DECIMAL = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,9})?")
_HEX = re.compile(r"[+-]?0[xX][0-9a-fA-F]*\.?[0-9a-fA-F]*([pP][+-]?[0-9]{1,9})?")

Rational = fmpq
"""The type of every exact number here (python-flint's ``fmpq``)."""


def rational(value: Any, name: str = "value") -> fmpq:
    """The exact rational that *value* denotes.

    Accepts Python and numpy integers and floats (a float is the dyadic rational it is),
    ``Fraction``, ``Decimal``, flint numbers, sympy rationals and floats, and the strings
    ``"p/q"``, a decimal (taken as the decimal it spells) or a hexadecimal float.

    Raises ``InvalidInput`` naming *name* for anything else, for NaN and infinities, for texts of
    more than 100,000 characters, as they stand or as "p/q", and for exponents beyond ±20,000.

    >>> rational("0.1"), rational(0.5), rational("-3/6")
    (1/10, 1/2, -1/2)
    """
    # bool is an int to Python, never a coordinate to a user.
    if isinstance(value, bool | np.bool_):
        raise InvalidInput(name, value, "must be a number", "write 0 or 1")
    if isinstance(value, fmpq):
        return value
    if isinstance(value, int | np.integer | fmpz):
        return fmpq(int(value))
    if isinstance(value, float | np.floating):
        return _from_float(float(value), name, exact=not isinstance(value, np.longdouble))
    if isinstance(value, str):
        return short(_from_string(value, name), name)
    if isinstance(value, Fraction):
        return fmpq(value.numerator, value.denominator)
    if isinstance(value, Decimal):
        return short(_from_string(str(value), name), name)
    if isinstance(value, numbers.Rational):
        return fmpq(int(value.numerator), int(value.denominator))
    return _from_sympy(value, name)


def _from_float(value: float, name: str, *, exact: bool) -> fmpq:
    if not exact:
        raise InvalidInput(name, value, "must not be an extended-precision float",
                           "convert to float64 or give a rational")
    if not math.isfinite(value):
        raise InvalidInput(name, value, "must be finite", "remove NaN and infinite entries")
    p, q = value.as_integer_ratio()
    return fmpq(p, q)


def _from_string(text: str, name: str) -> fmpq:
    if len(text) > MAX_CHARACTERS:
        raise InvalidInput(name, text, f"must have at most {MAX_CHARACTERS:,} characters",
                           "round the number")
    body = text.strip()
    if _RATIONAL.fullmatch(body):
        p, _, q = body.partition("/")
        denominator = fmpz(q) if q else fmpz(1)
        if denominator == 0:
            raise InvalidInput(name, text, "must have a nonzero denominator", "correct it")
        return fmpq(fmpz(p.removeprefix("+")), denominator)
    if _HEX.fullmatch(body):
        return _from_hex(body, name)
    if _DECIMAL.fullmatch(body):
        return _from_decimal(body, name)
    raise InvalidInput(name, text, 'must spell a number: "p/q", a decimal or a hex float',
                       "correct the text")


def _from_decimal(body: str, name: str) -> fmpq:
    digits, _, power = body.lower().partition("e")
    whole, _, fraction = digits.partition(".")
    if abs(int(power or 0)) > MAX_EXPONENT:
        raise InvalidInput(name, body, f"must have an exponent within ±{MAX_EXPONENT:,}",
                           "rescale the data")
    exponent = int(power or 0) - len(fraction)
    mantissa, ten = fmpz((whole + fraction).removeprefix("+")), fmpz(10) ** abs(exponent)
    return fmpq(mantissa * ten) if exponent >= 0 else fmpq(mantissa, ten)


def _from_hex(body: str, name: str) -> fmpq:
    lowered = body.lower().lstrip("+-")[2:]
    mantissa, _, power = lowered.partition("p")
    whole, _, fraction = mantissa.partition(".")
    exponent = int(power or 0)
    if not whole + fraction or abs(exponent) > MAX_EXPONENT:
        raise InvalidInput(name, body,
                           f"must be a hex float with an exponent within ±{MAX_EXPONENT:,}",
                           "correct it")
    value = fmpq(int(whole + fraction, 16)) * _power_of_two(exponent - 4 * len(fraction))
    return -value if body.startswith("-") else value


def _from_sympy(value: Any, name: str) -> fmpq:
    if getattr(value, "is_Rational", False):
        return fmpq(int(value.p), int(value.q))
    if getattr(value, "is_Float", False) and getattr(value, "is_finite", False):
        sign, mantissa, exponent, _ = value._mpf_
        magnitude = fmpq(int(mantissa)) * _power_of_two(int(exponent))
        return -magnitude if sign else magnitude
    raise InvalidInput(name, value, "must be a rational number or a finite float",
                       "give numbers that are exact")


def _power_of_two(exponent: int) -> fmpq:
    return fmpq(fmpz(1) << exponent) if exponent >= 0 else fmpq(1, fmpz(1) << -exponent)


def to_float(value: fmpq) -> float:
    """The nearest float64 of *value*; ±inf beyond its range."""
    try:
        return int(value.p) / int(value.q)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def number_to_json(value: fmpq) -> int | str:
    """The shortest certificate spelling of *value*: integer, hex float or ``"p/q"``.

    >>> number_to_json(fmpq(3)), number_to_json(fmpq(1, 8)), number_to_json(fmpq(1, 3))
    (3, '0x1.0000000000000p-3', '1/3')
    """
    p, q = int(value.p), int(value.q)
    if q == 1 and abs(p) < 1 << 63:
        return p
    dyadic = q & (q - 1) == 0
    if dyadic and abs(p) < 1 << 53 and q.bit_length() <= 1000:
        return (p / q).hex()
    return str(value)


def positive(value: Any, name: str) -> fmpq:
    """The exact rational > 0 that *value* denotes. Raises ``InvalidInput`` like `rational`."""
    number = rational(value, name)
    if number <= 0:
        raise InvalidInput(name, value, "must be positive", "give a number above 0")
    return number


def characters(value: fmpq) -> int:
    """How many characters `number_to_json` takes.

    >>> characters(fmpq(-7)), characters(fmpq(10, 3))
    (2, 4)
    """
    return len(str(number_to_json(value)))


def is_short(value: fmpq) -> bool:
    """Whether a checker reads *value*, which is no longer than `MAX_CHARACTERS` as it is written.

    >>> is_short(fmpq(1, fmpz(10)**50_000)), is_short(fmpq(fmpz(3)**105_000, fmpz(10)**50_000))
    (True, False)
    """
    # Numerators and denominators below 2^166,000 have fewer than 49,980 digits each.
    return value.height_bits() < 166_000 or characters(value) <= MAX_CHARACTERS


def short(value: fmpq, name: str) -> fmpq:
    """*value*, if a certificate may hold it. Raises ``InvalidInput`` naming *name*."""
    if not is_short(value):
        raise InvalidInput(name, Description(f"{characters(value):,} characters as p/q"),
                           f"must have at most {MAX_CHARACTERS:,}, which a checker reads",
                           "round or rescale it")
    return value


def round_dyadic(value: fmpq, bits: int) -> fmpq:
    """*value* rounded to a dyadic rational of about *bits* significant bits.

    >>> round_dyadic(fmpq(1, 3), 8)
    171/512
    """
    if value == 0:
        return value
    p, q = abs(value.p), value.q
    shift = bits - int(p).bit_length() + int(q).bit_length()
    scaled = value * _power_of_two(shift)
    return (scaled + fmpq(1, 2)).floor() * _power_of_two(-shift)
