"""Integer polynomials, lowest coefficient first, and a bound on the work that a file may take."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import zip_longest
from math import gcd

from .numbers import common_denominator, integers
from .reading import Node
from .refusals import Code

Polynomial = tuple[int, ...]
"""Without leading zeros; the zero polynomial is empty."""

ZERO: Polynomial = ()
_DEGREE = 4096
_LEAST_WORK, _WORK_PER_CHARACTER = 1 << 27, 1 << 10


@dataclass
class Work:
    """What may still be spent on a file, in products of short integers; 10^7 take some seconds.

    A polynomial of a few characters can take hours of exact arithmetic.
    """

    node: Node
    left: int

    @classmethod
    def allowed(cls, node: Node, characters: int) -> Work:
        """For a file of this length."""
        return cls(node, _LEAST_WORK + _WORK_PER_CHARACTER * characters)

    def spend(self, count: int, bits: int, others: int) -> None:
        """For *count* products of integers of *bits* and *others* bits. Raises `Refusal`."""
        self.left -= count * (1 + (bits * others >> 16))
        if self.left < 0:
            raise self.node.refuse(Code.SIGN_UNPROVED, "its signs take more work than a file of "
                                   "its length may ask for")


def read_polynomial(node: Node) -> tuple[Fraction, ...]:
    """A list of numbers, lowest coefficient first. Raises `Refusal`."""
    entries = node.items()
    if len(entries) > _DEGREE + 1:
        raise node.refuse(Code.OUT_OF_RANGE, f"a degree above {_DEGREE}")
    return tuple(entry.number() for entry in entries)


def cleared(polynomials: Sequence[Sequence[Fraction]]) -> tuple[list[Polynomial], int]:
    """The polynomials times their common denominator, which is returned, too."""
    unit = common_denominator(c for a in polynomials for c in a)
    return [trimmed(integers(a, unit)) for a in polynomials], unit


def trimmed(coefficients: Sequence[int]) -> Polynomial:
    """Without leading zeros."""
    end = len(coefficients)
    while end and coefficients[end - 1] == 0:
        end -= 1
    return tuple(coefficients[:end])


def bits(a: Iterable[int]) -> int:
    """The length of the largest coefficient."""
    return max(map(int.bit_length, a), default=0)


def add(a: Polynomial, b: Polynomial) -> Polynomial:
    """The sum."""
    return trimmed([x + y for x, y in zip_longest(a, b, fillvalue=0)])


def scale(a: Polynomial, c: int) -> Polynomial:
    """The multiple."""
    return tuple(c * x for x in a) if c else ZERO


def multiply(a: Polynomial, b: Polynomial, work: Work) -> Polynomial:
    """The product. Raises `Refusal`."""
    if not a or not b:
        return ZERO
    work.spend(len(a) * len(b), bits(a), bits(b))
    total = [0] * (len(a) + len(b) - 1)
    for i, x in enumerate(a):
        for j, y in enumerate(b, i):
            total[j] += x * y
    return tuple(total)


def combine(a: Sequence[Polynomial], b: Sequence[Polynomial], work: Work) -> Polynomial:
    """Σ a_k b_k. Raises `Refusal`."""
    total = ZERO
    for x, y in zip(a, b, strict=True):
        total = add(total, multiply(x, y, work))
    return total


def derivative(a: Polynomial) -> Polynomial:
    """The derivative."""
    return tuple(k * c for k, c in enumerate(a))[1:]


def sign_at(a: Polynomial, x: Fraction, work: Work) -> int:
    """The sign of a at x. Raises `Refusal`."""
    p, q = x.numerator, x.denominator
    size = max(p.bit_length(), q.bit_length())
    work.spend(2 * len(a), bits(a) + len(a) * size // 2, size)
    total, power = 0, 1
    for c in reversed(a):
        total = total * p + c * power
        power *= q
    return (total > 0) - (total < 0)


def primitive(a: Polynomial, work: Work) -> Polynomial:
    """Divided by the greatest common divisor of the coefficients. Raises `Refusal`."""
    size = bits(a)
    work.spend(4, size, size)
    work.spend(len(a), size, 64)
    divisor = gcd(*a)
    return a if divisor <= 1 else tuple(x // divisor for x in a)


def remainders(a: Polynomial, b: Polynomial, work: Work) -> list[Polynomial]:
    """a, b, and the negative remainder of each entry by the next, while not 0.

    Primitive, all up to positive factors. The last entry is a greatest common divisor. a is not
    0. Raises `Refusal`.
    """
    chain, following = [primitive(a, work)], primitive(b, work)
    while following:
        chain.append(following)
        following = scale(_remainder(chain[-2], following, work), -1)
    return chain


def _remainder(a: Polynomial, b: Polynomial, work: Work) -> Polynomial:
    """A positive multiple of the remainder of a by b, primitive."""
    rest, lead, turn = list(a), abs(b[-1]), 1 if b[-1] > 0 else -1
    below, size = b[:-1], bits(b)
    while len(rest) > len(below):
        c = turn * rest.pop()
        if c:
            long = bits(rest)
            work.spend(len(rest), long, lead.bit_length())
            work.spend(len(below), c.bit_length(), size)
            rest = [lead * x for x in rest]
            for j, y in enumerate(below, len(rest) - len(below)):
                rest[j] -= c * y
    return primitive(trimmed(rest), work)


def quotient(a: Polynomial, b: Polynomial, work: Work) -> Polynomial:
    """The quotient a / b of primitive a and b, b a divisor: integers by Gauss's lemma."""
    rest, found = list(a), [0] * (len(a) - len(b) + 1)
    for k in reversed(range(len(found))):
        found[k] = rest[k + len(b) - 1] // b[-1]
        work.spend(len(b), bits(rest), bits(b))
        for j, y in enumerate(b, k):
            rest[j] -= found[k] * y
    return tuple(found)
