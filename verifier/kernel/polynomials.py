"""Polynomials over the rationals, lowest coefficient first, and their signs at algebraic points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise, zip_longest

from .numbers import common_denominator, integers
from .reading import Node
from .refusals import Code

Polynomial = tuple[Fraction, ...]

ZERO: Polynomial = ()
_DEGREE = 4096
_BITS = 4096


def trimmed(coefficients: Sequence[Fraction]) -> Polynomial:
    """Without leading zeros; the zero polynomial is empty."""
    end = len(coefficients)
    while end and coefficients[end - 1] == 0:
        end -= 1
    return tuple(coefficients[:end])


def read_polynomial(node: Node) -> Polynomial:
    """A list of numbers, lowest first. Raises `Refusal`."""
    entries = node.items()
    if len(entries) > _DEGREE + 1:
        raise node.refuse(Code.OUT_OF_RANGE, f"a degree above {_DEGREE}")
    return trimmed([entry.number() for entry in entries])


def add(a: Polynomial, b: Polynomial) -> Polynomial:
    """The sum."""
    return trimmed([x + y for x, y in zip_longest(a, b, fillvalue=Fraction(0))])


def scale(a: Polynomial, c: Fraction | int) -> Polynomial:
    """The multiple."""
    return trimmed([c * x for x in a])


def multiply(a: Polynomial, b: Polynomial) -> Polynomial:
    """The product, in integers over one common denominator."""
    if not a or not b:
        return ZERO
    p, q = common_denominator(a), common_denominator(b)
    left, right = integers(a, p), integers(b, q)
    total = [0] * (len(a) + len(b) - 1)
    for i, x in enumerate(left):
        for j, y in enumerate(right):
            total[i + j] += x * y
    return tuple(Fraction(x, p * q) for x in total)


def combine(a: Sequence[Polynomial], b: Sequence[Polynomial]) -> Polynomial:
    """Σ a_k b_k."""
    total = ZERO
    for x, y in zip(a, b, strict=True):
        total = add(total, multiply(x, y))
    return total


def value(a: Polynomial, x: Fraction) -> Fraction:
    """The value at x."""
    total = Fraction(0)
    for c in reversed(a):
        total = total * x + c
    return total


def _primitive(a: Polynomial) -> Polynomial:
    """A positive multiple with a leading coefficient of ±1: small numbers, the same signs."""
    return scale(a, 1 / abs(a[-1])) if a else a


def _divide(a: Polynomial, b: Polynomial) -> tuple[Polynomial, Polynomial]:
    """Quotient and remainder."""
    rest, quotient = list(a), [Fraction(0)] * max(len(a) - len(b) + 1, 0)
    for k in reversed(range(len(quotient))):
        c = rest[k + len(b) - 1] / b[-1]
        quotient[k] = c
        for j, y in enumerate(b):
            rest[k + j] -= c * y
    return trimmed(quotient), trimmed(rest)


def common(a: Polynomial, b: Polynomial) -> Polynomial:
    """The greatest common divisor, up to a factor."""
    while b:
        a, b = b, _primitive(_divide(a, b)[1])
    return a


def _derivative(a: Polynomial) -> Polynomial:
    return trimmed([k * c for k, c in enumerate(a)][1:])


def sturm(a: Polynomial) -> list[Polynomial]:
    """Sturm's sequence of the square-free part of a polynomial other than 0."""
    free = _divide(a, common(a, _derivative(a)))[0] if len(a) > 1 else a
    chain = [_primitive(free)]
    following = _primitive(_derivative(free))
    while following:
        chain.append(following)
        following = _primitive(scale(_divide(chain[-2], chain[-1])[1], -1))
    return chain


def _changes(chain: Sequence[Polynomial], x: Fraction) -> int:
    signs = [y > 0 for a in chain if (y := value(a, x)) != 0]
    return sum(s != t for s, t in pairwise(signs))


def roots_within(chain: Sequence[Polynomial], low: Fraction, high: Fraction) -> int:
    """The number of distinct roots in [low, high], low ≤ high."""
    at_low = value(chain[0], low) == 0
    return _changes(chain, low) - _changes(chain, high) + at_low


@dataclass
class Point:
    """The only root of a polynomial in [low, high]; the interval shrinks when it must."""

    polynomial: Polynomial
    chain: list[Polynomial]
    low: Fraction
    high: Fraction

    @classmethod
    def read(cls, node: Node) -> Point:
        """A number, or the root of a polynomial in an interval. Raises `Refusal`."""
        if not isinstance(node.value, dict):
            x = node.number()
            line: Polynomial = (-x, Fraction(1))
            return cls(line, [line], x, x)
        fields = node.object("polynomial", "interval")
        polynomial = read_polynomial(fields["polynomial"])
        low, high = fields["interval"].vector(2)
        if len(polynomial) < 2 or low > high:
            raise node.refuse(Code.NOT_A_POINT, "no polynomial with a root, or no interval")
        chain = sturm(polynomial)
        if roots_within(chain, low, high) != 1:
            raise node.refuse(Code.NOT_A_POINT, "the interval does not hold exactly one root")
        return cls(chain[0], chain, low, high)

    def shrink(self, node: Node) -> None:
        """Halve the interval around the root."""
        middle = (self.low + self.high) / 2
        if (self.high - self.low) * 2**_BITS < 1:
            raise node.refuse(Code.SIGN_UNPROVED, "points or roots that are too close to tell")
        if roots_within(self.chain, self.low, middle):
            self.high = middle
        else:
            self.low = middle

    def is_root_of(self, a: Polynomial) -> bool:
        """Whether a vanishes at the point."""
        if self.low == self.high or not a:
            return not a or value(a, self.low) == 0
        shared = common(self.polynomial, a)
        return len(shared) > 1 and roots_within(sturm(shared), self.low, self.high) == 1

    def isolate(self, a: Polynomial, chain: Sequence[Polynomial], node: Node) -> bool:
        """Shrink until a has no root in the interval but the point; whether that is one."""
        here = self.is_root_of(a)
        while self.low < self.high and roots_within(chain, self.low, self.high) > here:
            self.shrink(node)
        return here

    def sign(self, a: Polynomial, node: Node) -> int:
        """The sign of a at the point."""
        if not a or self.isolate(a, sturm(a), node):
            return 0
        return 1 if value(a, self.low) > 0 else -1


def sign_between(a: Polynomial, left: Point, right: Point, node: Node) -> int | None:
    """The sign of a on the whole open interval between two points; None if it is not constant."""
    if not a:
        return 0
    chain = sturm(a)
    left.isolate(a, chain, node)
    right.isolate(a, chain, node)
    # The intervals of the points hold no other roots now, and roots at the points do not matter.
    inside = (roots_within(chain, left.low, right.high)
              - roots_within(chain, left.low, left.high)
              - roots_within(chain, right.low, right.high))
    if inside:
        return None
    return 1 if value(a, (left.high + right.low) / 2) > 0 else -1
