"""Printed numbers bound what they stand for."""

from __future__ import annotations

from fractions import Fraction

import pytest
from flint import arb, fmpq
from hypothesis import given, settings
from hypothesis import strategies as st
from latex_claims import number

from conditions.exact.numbers import rational
from verifier.report.latex import numbers

RATIONALS = st.builds(
    lambda p, q, k: Fraction(p, q) * Fraction(2) ** k,
    st.integers(-10**30, 10**30), st.integers(1, 10**30), st.integers(-400, 400))
DIGITS = st.integers(1, 25)


def flint(x: Fraction) -> fmpq:
    return fmpq(x.numerator, x.denominator)


def read(text: str) -> list[Fraction]:
    """The numbers of a relation."""
    body = text.split("[", 1)[-1].rstrip("]") if "[" in text else text.split(" ", 1)[1]
    return [number(part) for part in body.split(r",\,")]


@given(RATIONALS, DIGITS)
@settings(max_examples=120, deadline=None)
def test_rounded_decimals_are_on_their_side_and_as_near_as_their_digits(x, digits):
    low, high = (number(f(flint(x), digits)) for f in (numbers.below, numbers.above))
    assert low <= x <= high
    assert high - low <= abs(x) * Fraction(10) ** (1 - digits)
    for text in (numbers.below(flint(x), digits), numbers.above(flint(x), digits)):
        assert len(text.split(r"\cdot")[0].replace(".", "").strip("-0")) <= max(digits, 7)


@given(RATIONALS)
@settings(max_examples=120, deadline=None)
def test_exact_spellings_are_exact(x):
    for spell in (numbers.short, numbers.exact):
        text = spell(flint(x))
        assert text is None or number(text) == x


@given(st.floats(allow_nan=False, allow_infinity=False))
@settings(max_examples=120, deadline=None)
def test_floats_are_spelled_exactly(x):
    assert number(numbers.exact(rational(x))) == Fraction(x)


@given(RATIONALS)
@settings(max_examples=80, deadline=None)
def test_relations_are_true(x):
    given_ = flint(x)
    found = read(numbers.value(given_))
    assert found == [x] if len(found) == 1 else found[0] <= x <= found[1]
    assert read(numbers.at_most(given_))[0] >= x >= read(numbers.at_least(given_))[0]
    assert number(numbers.lower(given_)) <= x <= number(numbers.upper(given_))


@given(RATIONALS, RATIONALS)
@settings(max_examples=80, deadline=None)
def test_numbers_that_differ_are_told_apart(x, y):
    if x == y:
        y = x + abs(x) * Fraction(1, 10**30) + Fraction(1, 10**40)
    a, b = min(x, y), max(x, y)
    low, high = map(number, numbers.apart(flint(a), flint(b)))
    assert a <= low < high <= b


@given(RATIONALS, RATIONALS)
@settings(max_examples=60, deadline=None)
def test_intervals_hold_both_ends(x, y):
    low, high = min(x, y), max(x, y)
    found = read(numbers.between(flint(low), flint(high)))
    assert found[0] <= low <= high <= found[-1]


@given(st.fractions(min_value=0, max_value=10**20))
@settings(max_examples=60, deadline=None)
def test_roots_are_enclosed(x):
    low, high = numbers.root_between(flint(x), flint(x))
    assert low * low <= flint(x) <= high * high
    assert high - low <= low / 10**15 or x == 0


def test_balls_by_hand():
    third = arb(1) / 3
    assert numbers.ball(third) == r"\in [0.333333,\,0.333334]"
    assert (numbers.top(third), numbers.bottom(third)) == (r"\le 0.333334", r"\ge 0.333333")
    assert numbers.ball(arb(2)) == "= 2"
    # A limit that the ball respects is respected by its decimal; one that it does not, is not said.
    tight = arb(1) - arb(2) ** -40
    assert numbers.top(tight, fmpq(1)) == r"\le 0.9999999999991"
    assert numbers.top(arb(2), fmpq(1)) == ""
    assert numbers.bottom(arb(1), fmpq(2)) == ""


@pytest.mark.parametrize(("x", "text"), [
    (fmpq(0), "0"), (fmpq(-12), "-12"), (fmpq(5, 3), "5/3"), (fmpq(1, 1 << 30), "2^{-30}"),
    (fmpq(-3, 1 << 20), r"-3\cdot 2^{-20}"), (fmpq(1 << 60), "2^{60}"), (fmpq(1, 3**40), None),
    (fmpq(10**40), None), (fmpq(1, 10**5000), None)])
def test_short_spellings(x, text):
    assert numbers.short(x) == text


@pytest.mark.parametrize(("x", "low", "high"), [
    (fmpq(2, 3), "0.666666", "0.666667"), (fmpq(-2, 3), "-0.666667", "-0.666666"),
    (fmpq(9999999), r"9.99999\cdot 10^{6}", r"1\cdot 10^{7}"),
    (fmpq(1, 3 * 10**9), r"3.33333\cdot 10^{-10}", r"3.33334\cdot 10^{-10}"),
    (fmpq(123456789, 1000), "123456", "123457"), (fmpq(0), "0", "0")])
def test_decimals_by_hand(x, low, high):
    assert (numbers.below(x), numbers.above(x)) == (low, high)


def test_strict_relations_say_no_more_than_they_show():
    shown = numbers.strictly("C", fmpq(1, 3), "D", fmpq(1, 2))
    assert shown == r"$C\le 1/3<D$, which is $\ge 1/2$"
    assert numbers.strictly("C", fmpq(1), "D", fmpq(1)) == "$C<D$"
