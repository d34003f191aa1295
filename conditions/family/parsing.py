"""Rational functions of one parameter, from the text that users write; nothing is evaluated."""

from __future__ import annotations

import re
from typing import Any

from flint import fmpq_poly

from conditions.errors import InvalidInput
from conditions.exact.numbers import rational

Fraction = tuple[fmpq_poly, fmpq_poly]
"""Numerator and denominator, coprime, the denominator monic."""

_TOKEN = re.compile(r"\s*(?:(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
                    r"|[^\W\d]\w*|\*\*|[-+*/^()])")
_LONGEST = 10_000
_DEEPEST = 50
_HIGHEST = 64
_BITS = 1 << 17


def rational_function(value: Any, parameter: str, name: str) -> Fraction:
    """The rational function of *parameter* that *value* spells: a number, a text, or sympy's.

    Texts are made of numbers, the parameter, + - * / ^ and parentheses; exponents are integers.
    Raises ``InvalidInput`` naming *name*, also for degrees above 64 and for coefficients of more
    than 131,072 bits.
    """
    if getattr(value, "free_symbols", None):
        value = str(value)
    if not isinstance(value, str):
        return fmpq_poly([rational(value, name)]), fmpq_poly([1])
    if len(value) > _LONGEST:
        raise InvalidInput(name, value, f"must have at most {_LONGEST:,} characters",
                           "simplify the expression")
    return _Parser(value, parameter, name).result()


def lowest(numerator: fmpq_poly, denominator: fmpq_poly) -> Fraction:
    """The fraction in lowest terms, its denominator monic."""
    common = numerator.gcd(denominator)
    over = denominator // common
    leading = over.leading_coefficient()
    return (numerator // common) / leading, over / leading


def _bits(a: fmpq_poly) -> int:
    """The length of the coefficients over their common denominator, and of that."""
    return int(a.numer().height_bits()) + int(a.denom()).bit_length()


class _Parser:
    """Recursive descent: sum, product, sign, power, atom."""

    def __init__(self, text: str, parameter: str, name: str) -> None:
        self.text, self.parameter, self.name = text, parameter, name
        self.tokens = list(self._split())
        self.at = self.depth = 0

    def _refuse(self, rule: str) -> InvalidInput:
        return InvalidInput(self.name, self.text, rule,
                            f"write a rational function of {self.parameter} such as "
                            f"(1 - {self.parameter}^2)/3")

    def _split(self) -> list[str]:
        tokens, at, body = [], 0, self.text.rstrip()
        while at < len(body):
            match = _TOKEN.match(body, at)
            if match is None:
                raise self._refuse("has a character that means nothing here: "
                                   f"{body[at:].strip()[:1]!r}")
            at = match.end()
            tokens.append(match.group().strip())
        return tokens

    def _peek(self) -> str | None:
        return self.tokens[self.at] if self.at < len(self.tokens) else None

    def _take(self) -> str:
        token = self._peek()
        if token is None:
            raise self._refuse("ends too early")
        self.at += 1
        return token

    def result(self) -> Fraction:
        value = self._sum()
        if self._peek() is not None:
            raise self._refuse(f"has {self._peek()!r} where it should end")
        return value

    def _checked(self, numerator: fmpq_poly, denominator: fmpq_poly) -> Fraction:
        if max(numerator.degree(), denominator.degree()) > _HIGHEST:
            raise self._refuse(f"must have a degree of at most {_HIGHEST}")
        if _bits(numerator) + _bits(denominator) > _BITS:
            raise self._refuse(f"must have coefficients of at most {_BITS:,} bits")
        return lowest(numerator, denominator)

    def _sum(self) -> Fraction:
        a, b = self._product()
        while self._peek() in ("+", "-"):
            sign = 1 if self._take() == "+" else -1
            c, e = self._product()
            a, b = self._checked(a * e + sign * c * b, b * e)
        return a, b

    def _product(self) -> Fraction:
        a, b = self._signed()
        while self._peek() in ("*", "/"):
            divide = self._take() == "/"
            c, e = self._signed()
            if divide:
                if c == 0:
                    raise self._refuse("divides by 0")
                c, e = e, c
            a, b = self._checked(a * c, b * e)
        return a, b

    def _signed(self) -> Fraction:
        sign = 1
        while self._peek() in ("+", "-"):
            sign = -sign if self._take() == "-" else sign
        a, b = self._power()
        return sign * a, b

    def _power(self) -> Fraction:
        a, b = self._atom()
        if self._peek() in ("^", "**"):
            self._take()
            sign = 1
            if self._peek() == "-":
                self._take()
                sign = -1
            token = self._take()
            if not token.isdecimal():
                raise self._refuse(f"has the exponent {token!r}, which is no integer")
            digits = token.lstrip("0") or "0"
            # Python reads no integer of any length.
            exponent = int(digits) if len(digits) <= len(str(_HIGHEST)) else _HIGHEST + 1
            if exponent * max(a.degree(), b.degree(), 1) > _HIGHEST:
                raise self._refuse(f"must have a degree of at most {_HIGHEST}")
            if exponent * (_bits(a) + _bits(b)) > 2 * _BITS:
                raise self._refuse(f"must have coefficients of at most {_BITS:,} bits")
            if sign < 0:
                if a == 0:
                    raise self._refuse("divides by 0")
                a, b = b, a
            return self._checked(a**exponent, b**exponent)
        return a, b

    def _atom(self) -> Fraction:
        token = self._take()
        one = fmpq_poly([1])
        if token == "(":
            self.depth += 1
            if self.depth > _DEEPEST:
                raise self._refuse(f"is nested deeper than {_DEEPEST}")
            value = self._sum()
            if self._take() != ")":
                raise self._refuse("has a parenthesis that is not closed")
            self.depth -= 1
            return value
        if token[0].isdecimal() or token[0] == ".":
            return fmpq_poly([rational(token, self.name)]), one
        if token == self.parameter:
            return fmpq_poly([0, 1]), one
        raise self._refuse(f"has {token!r}, which is neither a number nor {self.parameter}")
