"""Sturm's sequences and signs at algebraic points, against roots isolated by python-flint."""

from __future__ import annotations

import itertools
import random
from fractions import Fraction

import pytest
from flint import fmpq, fmpq_poly

from conditions.family.roots import Point as Algebraic
from conditions.family.roots import between, real_roots
from verifier.kernel.polynomials import Work, cleared, multiply, primitive, quotient, remainders
from verifier.kernel.reading import Node
from verifier.kernel.refusals import Refusal
from verifier.kernel.signs import Point, Sturm, demand_increasing, sign_between

HERE = Node([])


def work():
    return Work.allowed(HERE, 0)


def rational(x):
    return Fraction(int(x.p), int(x.q))


def at(x):
    return Algebraic.of(fmpq(x.numerator, x.denominator))


def drawn(rng):
    """A polynomial with repeated factors, among them those of other polynomials."""
    total = (rng.choice([-3, 1, 2]),)
    for _ in range(rng.randint(0, 4)):
        factor = rng.choice([(0, 1), (-1, 1), (1, 2), (-2, 0, 1), (1, 0, 1), (-1, 3, 0, 1),
                             (1, -3, 1), (0, -2, 1)])
        for _ in range(rng.randint(1, 3)):
            total = multiply(total, factor, work())
    return total


@pytest.mark.parametrize("seed", range(60))
def test_counts_of_roots(seed):
    rng = random.Random(seed)
    a = drawn(rng)
    roots = real_roots(fmpq_poly(list(a)))
    sturm = Sturm(work())
    # Ends at roots, and between them.
    ends = sorted(Fraction(k, 2) for k in range(-8, 9))
    for low, high in zip(ends, ends[rng.randint(0, 5):], strict=False):
        inside = [r for r in roots if not r < at(low) and not at(high) < r]
        assert sturm.roots(sturm.sequence(a), low, high) == len(inside)


@pytest.mark.parametrize("seed", range(60))
def test_signs_at_points_and_between(seed):
    rng = random.Random(seed)
    sturm = Sturm(work())
    algebraic = sorted({r for _ in range(2) for r in real_roots(fmpq_poly(list(drawn(rng))))}
                       | {at(Fraction(-9, 2)), at(Fraction(9, 2))})
    points = []
    for root in algebraic:
        low, high = map(rational, root.enclosure(rng.choice([2, 16])))
        points.append(Point.read(Node({"polynomial": list(root.coefficients), "interval": [
            f"{end.numerator}/{end.denominator}" for end in (low, high)]}), sturm))
    for left, right in itertools.pairwise(points):
        demand_increasing(left, right, HERE)
        with pytest.raises(Refusal):
            demand_increasing(right, left, HERE)
        with pytest.raises(Refusal):
            demand_increasing(left, left, HERE)
    for _ in range(4):
        a = drawn(rng)
        exact = fmpq_poly(list(a))
        for point, root in zip(points, algebraic, strict=True):
            assert point.sign(a, HERE) == root.sign(exact)
        for k in range(len(points) - 1):
            inside = any(algebraic[k] < r < algebraic[k + 1] for r in real_roots(exact))
            middle = exact(between(algebraic[k], algebraic[k + 1]))
            sign = sign_between(a, points[k], points[k + 1], HERE)
            assert sign == (None if inside else 1 if middle > 0 else -1)


@pytest.mark.parametrize("seed", range(20))
def test_divisors_and_quotients(seed):
    rng = random.Random(seed)
    a, b = drawn(rng), drawn(rng)
    divisor = remainders(a, b, work())[-1]
    expected = fmpq_poly(list(a)).gcd(fmpq_poly(list(b)))
    assert fmpq_poly(list(divisor)) / divisor[-1] == expected
    product = multiply(primitive(a, work()), divisor, work())
    assert quotient(product, divisor, work()) == primitive(a, work())


def test_common_denominators():
    assert cleared([(Fraction(1, 2), Fraction(0)), (), (Fraction(0), Fraction(2, 3))]) == (
        [(3,), (), (0, 4)], 6)
