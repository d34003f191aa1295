"""|ℓ'| at exact scores: identities, signs and balls."""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction

import oracle
import pytest
from acceptance import accepted
from flint import arb, ctx, fmpq

from conditions import AttentionDataset, InvalidInput, first_step_separates
from conditions.losses import (
    ALL_LOSSES,
    LOSSES,
    check_loss,
    decreasing,
    exact_slope,
    is_zero,
    largest_slopes,
    sign,
    weight,
)


def terms(**given):
    """Terms by score: ``p1`` is 1, ``m1`` is -1, ``o`` is 0."""
    return {fmpq({"p": 1, "m": -1, "o": 0}[f[0]] * int(f[1:] or 0)): fmpq(c)
            for f, c in given.items()}


@pytest.mark.parametrize(("given", "zero"), [
    # Per loss: logistic, exponential, correlation.
    # 1/(1 + e) + 1/(1 + 1/e) = 1 = 2/(1 + 1); e^-1 + e - 2 > 0; 1 + 1 - 2 = 0.
    (terms(p1=1, m1=1, o=-2), (True, False, True)),
    # A constant needs the score 0 to cancel it: 1 - 1 alone leaves 1/(1 + e) + 1/(1 + 1/e) = 1.
    (terms(p1=1, m1=1), (False, False, False)),
    # Equal coefficients of opposite sign at ±1 leave 1 - 2/(1 + e).
    (terms(p1=1, m1=-1), (False, False, True)),
    # No terms, and zero coefficients.
    ({}, (True, True, True)),
    (terms(p1=0, o=0), (True, True, True)),
    # Two pairs: the constants 1 and -1 cancel.
    (terms(p1=1, m1=1, p2=-1, m2=-1), (True, False, True)),
    # Scores 1 and 2 only: independent.
    (terms(p1=1, p2=-1), (False, False, True)),
])
def test_identities(given, zero):
    assert tuple(is_zero(loss, given) for loss in LOSSES) == zero
    assert tuple(sign(loss, given) == (0, 64) for loss in LOSSES) == zero


@pytest.mark.parametrize(("loss", "given", "expected"), [
    ("logistic", terms(o=1, p1=-1), 1),          # 1/2 > 0.269
    ("logistic", terms(o=1, p1=-2), -1),         # 1/2 < 0.538
    ("exponential", terms(o=1, p1=-3), -1),      # 1 < 3/e = 1.104
    ("exponential", terms(o=1, p1="-5/2"), 1),   # 1 > 2.5/e = 0.920
    ("correlation", terms(o=1, p1="-2/3"), 1),
    ("correlation", terms(o=1, p5=-2), -1),
])
def test_signs(loss, given, expected):
    assert sign(loss, given) == (expected, 64)


def test_precision_rises_with_cancellation():
    # e to 61 decimals, rounded down: e - q is positive and below 10^-60 = 2^-199.
    q = fmpq(2718281828459045235360287471352662497757247093699959574966967, 10**60)
    assert sign("exponential", {fmpq(-1): fmpq(1), fmpq(0): -q}) == (1, 256)


def test_no_guess_beyond_the_largest_precision():
    # 1/2 - |ℓ'(2^-70000)| is about 2^-70002.
    given = {fmpq(0): fmpq(1), fmpq(1, 1 << 70_000): fmpq(-1)}
    assert sign("logistic", given) is None and sign("exponential", given) is None
    assert sign("correlation", given) == (0, 64)


@pytest.mark.parametrize("f", [0, 1, -1, "7/3", -40, 400])
@pytest.mark.parametrize("precision", [64, 256])
def test_weights_enclose_the_slope_to_the_precision(f, precision):
    f = fmpq(*Fraction(f).as_integer_ratio())
    with localcontext(prec=150):
        power = (Decimal(int(f.p)) / Decimal(int(f.q))).exp()
        exact = {"exponential": 1 / power, "logistic": 1 / (1 + power)}
    for loss, value in exact.items():
        ball = weight(loss, f, precision)
        with ctx.workprec(480):
            assert ball.contains(arb(str(value)))
            assert ball.rad() <= abs(ball) * arb(2) ** (4 - precision)


def test_unknown_losses_are_refused():
    assert [check_loss(loss) for loss in LOSSES] == list(LOSSES)
    for loss in ("hinge", None, "Logistic"):
        with pytest.raises(InvalidInput, match="loss"):
            check_loss(loss)


def test_agrees_with_brute_force():
    # The pulls of the oracle are pairs (q, f); the same sums, by another way.
    for loss in LOSSES:
        signs = set()
        for data in oracle.integer_datasets(3, 3, 2, count=35, seed=11):
            pairs = oracle.pull(data, [1, 2, -1, 3])
            given = {}
            for q, f in pairs:
                key = fmpq(f.numerator, f.denominator)
                given[key] = given.get(key, fmpq(0)) + fmpq(q.numerator, q.denominator)
            expected = oracle.sign(pairs, loss)
            assert sign(loss, given)[0] == expected
            assert is_zero(loss, given) == (expected == 0)
            signs.add(expected)
        assert signs == {-1, 0, 1}


def test_the_checker_sees_the_same_signs():
    # The precision of `sign` is what a certificate states: 200 bits of cancellation.
    dataset = AttentionDataset.build(
        [[[1, 0], [0, 0]], [[1 + fmpq(1, 1 << 200), 0], [fmpq(1, 1 << 200), 0]]], [1, 1],
        [[1, 0], [-1, 1]], [1, 0])
    verdicts = [first_step_separates.decide(dataset, loss) for loss in LOSSES]
    assert [str(verdict.status) for verdict in verdicts] == ["holds", "holds", "fails"]
    assert verdicts[0].certificate.precision == 256
    accepted(dataset, *verdicts)


# The cubic loss ---------------------------------------------------------------------------------


def test_the_cubic_loss_has_rational_slopes():
    # 3·1 + 3·1 − 6 at 0 does not count; 3·4 − 4·3·1 = 0.
    assert is_zero("cubic", terms(p1=1, m1=-1)) and is_zero("cubic", terms(o=5))
    assert is_zero("cubic", terms(p2=1, m1=-4)) and not is_zero("cubic", terms(p1=1, m1=1, o=-2))
    assert sign("cubic", terms(p2=1, p1="-7/2")) == (1, 64)
    assert sign("cubic", terms(p2=1, p1="-9/2")) == (-1, 64)
    assert sign("cubic", terms(o=3)) == (0, 64)
    assert exact_slope("cubic", fmpq(-2, 3)) == fmpq(4, 3)
    assert exact_slope("logistic", fmpq(0)) is None


def test_bounds_of_the_slopes():
    assert largest_slopes("correlation", fmpq(-3), fmpq(1)) == (1, 0)
    assert largest_slopes("cubic", fmpq(-3), fmpq(1)) == (27, 18)
    assert largest_slopes("cubic", fmpq(1), fmpq(2)) == (12, 12)
    assert largest_slopes("exponential", fmpq(1), fmpq(2)) is None


@pytest.mark.parametrize(("low", "high", "falls"), [
    (1, 2, True), (-2, -1, True), (-1, 1, False), (0, 1, False), (-1, 0, False)])
def test_where_the_cubic_loss_has_a_slope(low, high, falls):
    assert decreasing("cubic", fmpq(low), fmpq(high)) is falls
    assert all(decreasing(loss, fmpq(low), fmpq(high)) for loss in LOSSES)


def test_the_cubic_loss_is_known_to_few():
    assert check_loss("cubic", ALL_LOSSES) == "cubic"
    with pytest.raises(InvalidInput, match="cubic"):
        check_loss("cubic")
