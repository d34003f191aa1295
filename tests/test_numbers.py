import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
import sympy
from flint import arb, fmpq, fmpz
from hypothesis import given
from hypothesis import strategies as st

from conditions.errors import InvalidInput
from conditions.exact.numbers import (
    MAX_CHARACTERS,
    characters,
    is_short,
    number_to_json,
    rational,
    round_dyadic,
    to_float,
)
from verifier.kernel import Refusal, numbers
from verifier.kernel.reading import long_integers

finite = st.floats(allow_nan=False, allow_infinity=False)
integers = st.integers(-10**40, 10**40)
fractions = st.builds(Fraction, integers, st.integers(1, 10**40))
dyadics = st.builds(lambda p, k: Fraction(p) * Fraction(2) ** k,
                    st.integers(-2**60, 2**60), st.integers(-1200, 1200))


def fraction(value):
    return Fraction(int(value.p), int(value.q))


@given(st.one_of(finite.map(Fraction), fractions, dyadics))
def test_json_round_trip_is_exact(value):
    exact = rational(value)
    spelled = number_to_json(exact)
    assert type(spelled) in (int, str)
    assert rational(spelled) == exact
    assert fraction(exact) == value


@given(finite)
def test_floats_are_the_dyadic_rationals_they_are(value):
    assert fraction(rational(value)) == Fraction(value)
    assert rational(value.hex()) == rational(value)
    assert to_float(rational(value)) == value


@given(fractions)
def test_to_float_is_nearest(value):
    assert to_float(rational(value)) == float(value)


@given(st.decimals(allow_nan=False, allow_infinity=False, min_value=-10**30, max_value=10**30))
def test_decimals_are_taken_as_spelled(value):
    assert fraction(rational(str(value))) == fraction(rational(value)) == Fraction(value)


@given(st.text(max_size=12))
def test_text_is_a_number_or_refused(text):
    try:
        value = rational(text)
    except InvalidInput:
        return
    assert type(value) is fmpq


@given(st.text("0123456789.eExXpP+-/_ ", max_size=12))
def test_spellings_agree_with_python(text):
    try:
        value = rational(text)
    except InvalidInput:
        return
    if "x" in text.lower():
        assert to_float(value) == pytest.approx(float.fromhex(text.strip()), rel=1e-15)
    else:
        assert fraction(value) == Fraction(text.strip())


@pytest.mark.parametrize(("value", "expected"), [
    (3, Fraction(3)), (np.int8(-3), Fraction(-3)), (np.uint64(2**64 - 1), Fraction(2**64 - 1)),
    (np.float32(0.1), Fraction(13421773, 2**27)), (np.float16(0.1), Fraction(819, 8192)),
    (fmpz(5), Fraction(5)), (fmpq(5, 3), Fraction(5, 3)), (10**5000, Fraction(10**5000)),
    ("-3/6", Fraction(-1, 2)), ("+1/2", Fraction(1, 2)), ("0/5", Fraction(0)), (" 7 ", Fraction(7)),
    (".5", Fraction(1, 2)), ("-.5", Fraction(-1, 2)), ("+5.", Fraction(5)),
    ("1e-3", Fraction(1, 1000)),
    ("-1.25E+2", Fraction(-125)), ("0x.8", Fraction(1, 2)), ("-0x1.8p+1", Fraction(-3)),
    ("0X1P3", Fraction(8)), ("9" * 5000, Fraction(10**5000 - 1)), (Decimal("-0.0"), Fraction(0)),
    (sympy.Rational(1, 3), Fraction(1, 3)), (sympy.Integer(4), Fraction(4)),
    (sympy.Float(0.1), Fraction(0.1)), (-0.0, Fraction(0)), (5e-324, Fraction(1, 2**1074))],
    ids=lambda value: type(value).__name__)
def test_accepted(value, expected):
    assert fraction(rational(value)) == expected


@pytest.mark.parametrize("text", ["1e20000", "1e-20000", "0x1p20000", "0x1p-20000",
                                  "9" * MAX_CHARACTERS, "1." + "0" * 30_000 + "1"], ids=len)
def test_limits_are_inclusive(text):
    assert rational(text) != 0


@pytest.mark.parametrize("value", [
    True, np.True_, None, [1], {}, 1j, np.complex128(1), b"1", np.array(3), np.array([3]), arb(1),
    math.nan, math.inf, -math.inf, np.float32("nan"), np.longdouble(0.5), Decimal("NaN"),
    Decimal("Infinity"), Decimal("1e30000"), sympy.pi, sympy.oo, sympy.nan, sympy.Symbol("x"),
    "", " ", ".", "1/0", "1/-2", "1/2/3", "1.5/2", "1_000", "٣", "１", "nan", "inf", "0x", "0x.p1",
    "0x_1", "1e", "e5", "--1", "1\x00", "1 2", "1e20001", "1e-20001", "1e999999999",
    "1e9999999999", "0x1p20001", "0x1p-99999", "9" * (MAX_CHARACTERS + 1),
    # 60,001 digits over 10^60,000 are 120,003 characters as p/q.
    "1." + "0" * 59_999 + "1", Decimal("1." + "0" * 59_999 + "1")],
    ids=lambda value: type(value).__name__)
def test_refused_in_one_line(value):
    with pytest.raises(InvalidInput) as caught:
        rational(value, "X[0][1]")
    assert caught.value.name == "X[0][1]"
    assert len(str(caught.value).splitlines()) == 1


def test_the_limit_is_that_of_the_checker():
    assert MAX_CHARACTERS == numbers.MAX_CHARACTERS
    # 50,001 digits, a stroke, and 49,998 digits are as long as it may be.
    longest = fmpq(fmpz(10)**50_000 + 3, fmpz(10)**49_997)
    for value, length in ((longest, 100_000), (-longest, 100_001), (longest * 10, 99_999)):
        assert characters(value) == length
        assert is_short(value) == (length <= MAX_CHARACTERS)
        spelled = str(number_to_json(value))
        if is_short(value):
            with long_integers():
                assert numbers.parse_number(spelled, "here") == Fraction(str(value))
        else:
            with pytest.raises(Refusal):
                numbers.parse_number(spelled, "here")


def test_spellings():
    assert number_to_json(fmpq(2**63 - 1)) == 2**63 - 1
    assert number_to_json(fmpq(2**63)) == str(2**63)
    assert number_to_json(fmpq(-3, 2)) == "-0x1.8000000000000p+0"
    assert number_to_json(fmpq(1, 3)) == "1/3"
    assert number_to_json(fmpq(2**53 + 1, 2)) == f"{2**53 + 1}/2"


def test_to_float_at_the_ends_of_the_range():
    assert to_float(fmpq(2) ** 2000) == math.inf
    assert to_float(-fmpq(2) ** 2000) == -math.inf
    assert to_float(fmpq(1, 2) ** 1075) == 0.0
    assert to_float(fmpq(3, 2) * fmpq(1, 2) ** 1074) == 1e-323


@given(st.one_of(fractions, dyadics), st.integers(1, 80))
def test_round_dyadic_is_near_and_short(value, bits):
    rounded = fraction(round_dyadic(rational(value), bits))
    assert rounded.denominator.bit_count() == 1
    assert abs(rounded - value) <= abs(value) / 2**bits
    odd = abs(rounded.numerator) // max(rounded.numerator & -rounded.numerator, 1)
    assert odd.bit_length() <= bits + 1
