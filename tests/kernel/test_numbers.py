"""Number parsing, and enclosures of e^x and 1/(1+e^x) against the decimal module."""

import random
from decimal import Context, Decimal
from fractions import Fraction

import pytest

from verifier.kernel.numbers import (
    MAX_CHARACTERS,
    MAX_EXPONENT,
    Enclosure,
    combination_enclosure,
    exp_enclosure,
    logistic_enclosure,
    parse_number,
)
from verifier.kernel.reading import long_integers
from verifier.kernel.refusals import Code, Refusal

ARGUMENTS = [Fraction(x) for x in (
    "0", "1", "-1", "1/2", "-7/3", "22/7", "100", "-100", "1000", "-1000", "12345/7", "-54321/11",
    "1/1000000000000000000000000000000", "-1/1000000000000000000000000000000", "710", "-745")]
ARGUMENTS += [Fraction(p, q) for p, q in zip(
    random.Random(7).sample(range(-10**6, 10**6), 40), random.Random(8).sample(range(1, 10**4), 40),
    strict=True)]


def _fraction(value: Decimal) -> Fraction:
    return Fraction(*value.as_integer_ratio())


def _exp(x: Fraction, digits: int) -> tuple[Fraction, Fraction]:
    """Bounds of e^x: decimal rounds x by half a unit and exp correctly (half a unit)."""
    context = Context(prec=digits + 12, Emin=-10**8, Emax=10**8)
    value = _fraction(context.exp(context.divide(Decimal(x.numerator), Decimal(x.denominator))))
    slack = (abs(x) + 1) * 2 / Fraction(10)**(digits + 11)
    return value * (1 - slack), value * (1 + slack)


def _ends(e: Enclosure) -> tuple[Fraction, Fraction]:
    return e.lo * Fraction(2)**e.exponent, e.hi * Fraction(2)**e.exponent


@pytest.mark.parametrize("bits", [8, 53, 200, 1000])
def test_exp_encloses(bits):
    for x in ARGUMENTS:
        lo, hi = _ends(exp_enclosure(x, bits))
        below, above = _exp(x, bits // 3 + 10)
        assert 0 < lo <= below and above <= hi, x
        assert (hi - lo) * 2**bits <= lo


@pytest.mark.parametrize("bits", [8, 53, 200, 1000])
def test_logistic_encloses(bits):
    for x in ARGUMENTS:
        lo, hi = _ends(logistic_enclosure(x, bits))
        below, above = _exp(x, bits // 3 + 10)
        assert 0 < lo <= 1 / (1 + above) and 1 / (1 + below) <= hi, x
        assert (hi - lo) * 2**bits <= lo


def test_logistic_of_zero_and_of_opposites():
    lo, hi = _ends(logistic_enclosure(Fraction(0), 64))
    assert lo <= Fraction(1, 2) <= hi
    for x in ARGUMENTS:
        (lo, hi), (lo2, hi2) = (_ends(logistic_enclosure(y, 64)) for y in (x, -x))
        assert lo + lo2 <= 1 <= hi + hi2


def test_highest_precision():
    # e and 1/e multiply to 1; at the largest precision of a certificate, and at the largest
    # arguments, where the exponent of two itself has thousands of digits.
    for x, bits in ((Fraction(1, 3), 65536), (Fraction(10)**3000, 64)):
        up, down = exp_enclosure(x, bits), exp_enclosure(-x, bits)
        assert up.narrower_than(bits) and down.narrower_than(bits)
        exponent = up.exponent + down.exponent
        assert up.lo * down.lo <= 1 << -exponent <= up.hi * down.hi
    tiny = logistic_enclosure(Fraction(10)**3000, 64)
    assert tiny.narrower_than(64) and tiny.exponent < -10**2999
    near_one = logistic_enclosure(-Fraction(10)**3000, 64)
    assert near_one.lo <= 1 << -near_one.exponent <= near_one.hi


def test_combination_has_the_sign_of_the_sum():
    generator = random.Random(3)
    shown = 0
    for _ in range(300):
        terms, total = [], Fraction(0)
        for _ in range(generator.randint(1, 5)):
            c = generator.choice([-9, -4, -1, 1, 2, 9])
            m, e = generator.randint(1, 99), generator.randint(-80, 80)
            terms.append((c, Enclosure(m, m, e)))
            total += c * m * Fraction(2)**e
        lo, hi = combination_enclosure(terms, 8)
        assert lo <= hi
        if lo > 0 or hi < 0:
            shown += 1
            assert (total > 0) == (lo > 0)
        else:
            assert abs(total) * 2**60 <= max(abs(c) * _ends(e)[1] for c, e in terms)
    assert shown > 250


def test_combination_of_far_apart_terms():
    terms = [(1, Enclosure(1, 1, 10**30)), (-10**9, Enclosure(5, 5, -10**30))]
    assert combination_enclosure(terms, 8)[0] > 0


@pytest.mark.parametrize(("text", "value"), [
    (0, 0), (-5, -5), (10**50, 10**50), ("7", 7), ("-7", -7), ("+7", 7), ("007", 7),
    ("6/4", Fraction(3, 2)), ("-6/4", Fraction(-3, 2)), ("0/9", 0), ("-0", 0),
    ("0x1.8p+1", 3), ("-0x1.8p+1", -3), ("0x0.0p+0", 0), ("-0x0.0p+0", 0),
    ("0x1p-3", Fraction(1, 8)),
    ("0x1.999999999999ap-4", Fraction(0.1)), ("0x0.0000000000001p-1022", Fraction(5e-324)),
    ("0x1.fffffffffffffp+1023", Fraction(1.7976931348623157e308)),
    ("0xap0", 10), ("0x1p2000", 2**2000), ("0x1p-2000", Fraction(1, 2**2000))])
def test_spellings(text, value):
    assert parse_number(text, "here") == value


def test_every_float_hex_is_read_back():
    generator = random.Random(1)
    for _ in range(500):
        x = generator.uniform(-1, 1) * 2.0**generator.randint(-1070, 1023)
        assert parse_number(x.hex(), "here") == Fraction(x)


@pytest.mark.parametrize("text", [
    "", " ", "1 ", " 1", "1\n", "1_000", "1.5", ".5", "1e3", "1/0", "1/-2", "1/+2", "1/", "/2",
    "1/2/3", "--1", "+-1", "0x", "0x1", "0x1.8", "0x1.p+1", "0x.8p+1", "+0x1p+0", "0X1P+0", "0xAp0",
    "0x1p+", "0x1p1.5", "-", "nan", "inf", "-inf", "NaN", "Infinity", "١", "½", "1/２", "\ud800",
    True, False, None, 1.0, [], [1], {}], ids=range(44))
def test_other_spellings_are_no_numbers(text):
    with pytest.raises(Refusal) as caught:
        parse_number(text, "here")
    assert (caught.value.code, caught.value.place) == (Code.NOT_A_NUMBER, "here")


@pytest.mark.parametrize("text", [
    f"0x1p+{MAX_EXPONENT + 1}", f"0x1p-{MAX_EXPONENT + 1}", "0x1p+99999999999999999999",
    "1" * (MAX_CHARACTERS + 1), "1/" + "3" * MAX_CHARACTERS], ids=range(5))
def test_limits(text):
    with pytest.raises(Refusal) as caught:
        parse_number(text, "here")
    assert caught.value.code is Code.NUMBER_LIMIT


def test_longest_numbers_are_read():
    assert parse_number(f"0x1p{MAX_EXPONENT}", "here") == 2**MAX_EXPONENT
    with long_integers():
        assert parse_number("9" * MAX_CHARACTERS, "here") == 10**MAX_CHARACTERS - 1
        digits = "f" * (MAX_CHARACTERS - len("0xp-20000"))
        value = parse_number(f"0x{digits}p-20000", "here")
        assert value.denominator == 2**20000
