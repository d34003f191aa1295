"""Signs of integer polynomials at real algebraic points, and on open intervals between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise

from .polynomials import (
    ZERO,
    Polynomial,
    Work,
    cleared,
    derivative,
    quotient,
    read_polynomial,
    remainders,
    sign_at,
)
from .reading import Node
from .refusals import Code

_BITS = 4096
_CALL = 100
"""Work of a question about a sign, whatever the polynomial."""


@dataclass
class Sturm:
    """Counts roots by Sturm's theorem. The last sequence is kept: a question asks for it thrice."""

    work: Work
    _last: list[Polynomial] = field(default_factory=list)
    _of: Polynomial = ZERO

    def sequence(self, a: Polynomial) -> list[Polynomial]:
        """Sturm's sequence of the square-free part of a polynomial other than 0."""
        self.work.spend(_CALL, 0, 0)
        if a != self._of:
            chain = remainders(a, derivative(a), self.work)
            if len(chain[-1]) > 1:
                free = quotient(chain[0], chain[-1], self.work)
                chain = remainders(free, derivative(free), self.work)
            self._of, self._last = a, chain
        return self._last

    def _changes(self, chain: Sequence[Polynomial], x: Fraction) -> int:
        signs = [s for a in chain if (s := sign_at(a, x, self.work))]
        return sum(s != t for s, t in pairwise(signs))

    def roots(self, chain: Sequence[Polynomial], low: Fraction, high: Fraction) -> int:
        """The number of distinct roots in [low, high], low ≤ high."""
        at_low = sign_at(chain[0], low, self.work) == 0
        return self._changes(chain, low) - self._changes(chain, high) + at_low


@dataclass
class Point:
    """The only root in [low, high] of a square-free polynomial.

    It is no end of its interval, unless low = high. The interval shrinks when it must.
    """

    sturm: Sturm
    polynomial: Polynomial
    low: Fraction
    high: Fraction

    @classmethod
    def read(cls, node: Node, sturm: Sturm) -> Point:
        """A number, or the root of a polynomial in an interval. Raises `Refusal`."""
        if not isinstance(node.value, dict):
            x = node.number()
            return cls(sturm, (-x.numerator, x.denominator), x, x)
        fields = node.object("polynomial", "interval")
        (polynomial,), _ = cleared([read_polynomial(fields["polynomial"])])
        low, high = fields["interval"].vector(2)
        if len(polynomial) < 2 or low > high:
            raise node.refuse(Code.NOT_A_POINT, "no polynomial with a root, or no interval")
        chain = sturm.sequence(polynomial)
        if sturm.roots(chain, low, high) != 1:
            raise node.refuse(Code.NOT_A_POINT, "the interval does not hold exactly one root")
        point = cls(sturm, chain[0], low, high)
        for end in (low, high):
            if point._sign(end) == 0:
                point.low = point.high = end
        return point

    @property
    def is_exact(self) -> bool:
        """Whether the interval is the point."""
        return self.low == self.high

    def _sign(self, x: Fraction) -> int:
        return sign_at(self.polynomial, x, self.sturm.work)

    def shrink(self, node: Node, times: int = 1) -> None:
        """Halve the interval around the root so many times. Raises `Refusal`.

        The root is simple, so that signs differ at the ends, and the middle has one of them.
        """
        for _ in range(0 if self.is_exact else times):
            if (self.high - self.low) * 2**_BITS < 1:
                raise node.refuse(Code.SIGN_UNPROVED, "points or roots that are too close to tell")
            middle = (self.low + self.high) / 2
            sign = self._sign(middle)
            if sign == 0:
                self.low = self.high = middle
                return
            if sign == self._sign(self.low):
                self.low = middle
            else:
                self.high = middle

    def equals(self, other: Point) -> bool:
        """Whether the two points are one."""
        low, high = max(self.low, other.low), min(self.high, other.high)
        if low > high:
            return False
        # A root of both polynomials in both intervals is both points.
        shared = remainders(self.polynomial, other.polynomial, self.sturm.work)[-1]
        return bool(self.sturm.roots(self.sturm.sequence(shared), low, high))

    def is_root_of(self, a: Polynomial) -> bool:
        """Whether a polynomial other than 0 vanishes at the point."""
        if self.is_exact:
            return sign_at(a, self.low, self.sturm.work) == 0
        shared = remainders(self.polynomial, a, self.sturm.work)[-1]
        return len(shared) > 1 and (sign_at(shared, self.low, self.sturm.work)
                                    != sign_at(shared, self.high, self.sturm.work))

    def isolate(self, a: Polynomial, node: Node) -> bool:
        """Shrink until a ≠ 0 has no root in the interval but the point; whether that is one."""
        here, chain, times = self.is_root_of(a), self.sturm.sequence(a), 1
        while not self.is_exact and self.sturm.roots(chain, self.low, self.high) > here:
            self.shrink(node, times)
            times *= 2
        return here

    def sign(self, a: Polynomial, node: Node) -> int:
        """The sign of a at the point. Raises `Refusal`."""
        if not a or self.isolate(a, node):
            return 0
        return sign_at(a, self.low, self.sturm.work)


def demand_increasing(left: Point, right: Point, node: Node) -> None:
    """Shrink until the intervals are apart; refuse *node* unless left < right."""
    if left.equals(right):
        raise node.refuse(Code.NOT_INCREASING, "two points are equal")
    while left.high >= right.low:
        if left.low >= right.high:
            raise node.refuse(Code.NOT_INCREASING, "a point is not above the one before it")
        left.shrink(node)
        right.shrink(node)


def sign_between(a: Polynomial, left: Point, right: Point, node: Node) -> int | None:
    """The sign of a on the whole open interval between two points; None if it is not constant.

    The intervals of the points are apart. Raises `Refusal`.
    """
    if not a:
        return 0
    left.isolate(a, node)
    right.isolate(a, node)
    # No other roots are in the intervals of the points now, and roots at the points do not matter.
    sturm, work = left.sturm, left.sturm.work
    inside = sturm.roots(sturm.sequence(a), left.high, right.low)
    ends = sum(sign_at(a, end, work) == 0 for end in (left.high, right.low))
    return sign_at(a, (left.high + right.low) / 2, work) if inside == ends else None
