"""The excess n(L − L_*) and its comparison with the cost of lesser tokens."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
from flint import arb, ctx, fmpq

from conditions import AttentionDataset, InvalidInput, Verdict
from conditions.excess_loss import (
    MAX_BITS,
    Descent,
    combined,
    compare,
    deficit,
    exact_matrix,
    excess,
    matrix_margins,
    premises,
    rise,
)
from conditions.losses import LOSSES
from conditions.smoothness import smoothness

VALUES = {"logistic": lambda u: mpmath.log(1 + mpmath.exp(-u)),
          "exponential": lambda u: mpmath.exp(-u), "correlation": lambda u: -u}


def mp(x):
    return mpmath.mpf(int(x.p)) / int(x.q)


def defined(data, W, loss, share):
    """n(L − L_*) and the least gap from their definitions, to 60 digits."""
    with mpmath.workdps(60):
        value = VALUES[loss]
        total, gaps = mpmath.mpf(0), []
        for tokens, scores, z in zip(data.tokens, data.scores, data.queries, strict=True):
            logits = [sum(mp(x[a]) * mp(W[a, b]) * mp(z[b]) for a in range(data.d)
                          for b in range(data.d)) for x in tokens]
            weights = [mpmath.exp(h) for h in logits]
            f = sum(w * mp(g) for w, g in zip(weights, scores, strict=True)) / sum(weights)
            first, second = sorted(map(mp, scores), reverse=True)[:2]
            total += value(f) - value(first)
            gaps.append(value(first - share * (first - second)) - value(first))
        return float(total), float(min(gaps))


@pytest.mark.parametrize("loss", LOSSES)
def test_numbers_agree_with_the_definition(loss):
    rng = np.random.default_rng(1)
    outcomes = set()
    for case in range(30):
        n, T, d = rng.integers(1, 4), rng.integers(2, 5), rng.integers(1, 4)
        data = AttentionDataset.build(rng.standard_normal((n, T, d)), rng.choice([-1, 1], size=n),
                                      rng.standard_normal((n, d)), rng.standard_normal(d))
        W = exact_matrix(rng.standard_normal((d, d)) * rng.choice([0, 1, 5]), int(d))
        share = fmpq(1, 1 + case % 2)
        found = compare(data, loss, matrix_margins(data, W), share)
        total, least = defined(data, W, loss, 0.5 if case % 2 else 1)
        assert float(found.excess) == pytest.approx(total, rel=1e-5)
        assert float(found.gap) == pytest.approx(least, rel=1e-5)
        assert found.below is (total < least)
        assert found.precision == 128
        outcomes.add(found.below)
    assert outcomes == {True, False}


def test_sums_of_losses_without_logarithms():
    with ctx.workprec(128):
        tops = [fmpq(1), fmpq(-2), fmpq(1, 3)]
        drops = [arb(2), arb(1) / 7, arb(5)]
        for loss in LOSSES:
            single = [rise(loss, t, D) for t, D in zip(tops, drops, strict=True)]
            apart = sum((excess(loss, r) for r in single), arb(0))
            together = excess(loss, combined(loss, single))
            assert apart.overlaps(together)
            assert together.rad() < 1e-30


def test_deficit_at_any_margin():
    with ctx.workprec(64):
        drops = [fmpq(1), fmpq(3)]
        # All weight on the last token; half on each of two; none off the optimum.
        assert deficit([arb(0), arb(-10**7)], drops).overlaps(arb(3))
        assert deficit([arb(10**7), arb(0)], drops).overlaps(arb(3) / 2)
        tiny = deficit([arb(10**7), arb(10**7)], drops)
        assert tiny.contains(0) and tiny < arb(2) ** -143_000
        assert deficit([arb(-10**7), arb(10**7)], drops).overlaps(arb(1))


def test_close_calls_raise_the_precision():
    # One sample of two tokens: the excess is 1/(1 + e^−m) of the gap, short of it by e^−|m|.
    data = AttentionDataset.build([[[1], [0]]], [1], [[1]], [1])
    bits = {}
    for m in (-20, -100, -1000, -2500):
        found = compare(data, "correlation", matrix_margins(data, exact_matrix([[m]], 1)), fmpq(1))
        assert found.below is True
        bits[m] = found.precision
    assert bits == {-20: 128, -100: 512, -1000: 4096, -2500: 8192}
    lost = compare(data, "correlation", matrix_margins(data, exact_matrix([[-5000]], 1)), fmpq(1))
    assert lost.below is None and lost.precision == MAX_BITS
    assert str(lost) == "1 = 1"


@pytest.mark.parametrize(("head", "number"), [
    (1000, "7.12458e-218 < 1"), (-1000, "1.40359e+217 < 1.97007e+434")])
def test_figures_beyond_floats(head, number):
    # A deficit of 500 against a gap of 1000: e^−γ(1)·(e^500 − 1) and e^−γ(1)·(e^1000 − 1).
    data = AttentionDataset.build([[[1], [0]]], [1], [[1]], [head])
    found = compare(data, "exponential", matrix_margins(data, exact_matrix([[0]], 1)), fmpq(1))
    assert found.below is True
    assert str(found) == number


def test_premises():
    data = AttentionDataset.build([[[1], [0]]], [1], [[2]], [1])
    assert smoothness(data, "correlation") == 1
    assert premises("c", data, "flow", 0, "correlation").step == 0
    good = premises("c", data, "plain", "19/10", "correlation")
    assert isinstance(good, Descent) and good.step == fmpq(19, 10)
    # 2/β itself is refused, any smaller step is not, and the short β never reaches 2/η.
    tight = premises("c", data, "plain", 2 - fmpq(1, 2**80), "correlation")
    assert isinstance(tight, Descent) and tight.beta >= 1 and tight.step * tight.beta < 2
    for rule, step, loss, word in (("plain", 2, "correlation", "2/β"),
                                   ("normalized", 1, "correlation", "normalized")):
        verdict = premises("c", data, rule, step, loss)
        assert isinstance(verdict, Verdict) and verdict.undecided and word in verdict.reason
    tied = AttentionDataset.build([[[1], [1]]], [1], [[2]], [1])
    assert "not unique" in premises("c", tied, "plain", 1, "logistic").reason
    far = AttentionDataset.build([[[1], [0]]], [1], [[1]], [200_000])
    assert "100,000" in premises("c", far, "plain", 1, "logistic").reason
    assert isinstance(premises("c", far, "plain", fmpq(1, 10**6), "correlation"), Descent)


def test_beta_in_certificates_is_short_and_above():
    rng = np.random.default_rng(2)
    for loss in LOSSES:
        data = AttentionDataset.build(rng.standard_normal((2, 3, 2)), [1, -1],
                                      rng.standard_normal((2, 2)), rng.standard_normal(2))
        beta = smoothness(data, loss)
        found = premises("c", data, "plain", 1 / beta, loss)
        assert beta <= found.beta <= beta * (1 + fmpq(1, 2**27))
        assert int(found.beta.p).bit_length() <= 31


@pytest.mark.parametrize("W", [None, 3, [[1]], [1, 2], [[1, 2, 3], [4, 5, 6]], "ab",
                               np.zeros((2, 2, 2)), [[1, float("nan")], [0, 0]]])
def test_matrices_are_checked(W):
    with pytest.raises(InvalidInput, match="W"):
        exact_matrix(W, 2)


@pytest.mark.parametrize(("rule", "step"), [("plain", 0), ("plain", -1), ("flow", 1), ("sgd", 1),
                                            ("plain", float("inf")), ("normalized", 0)])
def test_steps_are_checked(rule, step):
    data = AttentionDataset.build([[[1], [0]]], [1], [[2]], [1])
    with pytest.raises(InvalidInput, match=r"step|rule"):
        premises("c", data, rule, step, "logistic")
