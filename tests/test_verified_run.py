"""Runs from exact starts: limits proved, the checker, enclosures that hold the exact iterate."""

import json
from fractions import Fraction

import numpy as np
import pytest
from basin_cases import TWO, step_along
from flint import arb, ctx, fmpq, fmpq_mat

from conditions.certificates import Certificate
from conditions.dataset import AttentionDataset
from conditions.errors import InvalidInput
from conditions.exact.numbers import number_to_json, to_float
from conditions.losses import LOSSES
from conditions.smoothness import lemma4_constant
from conditions.verified_run import decide
from conditions.verified_run.steps import Coarse, Descent, Iterate, Stalled
from verifier.descent.selected import selected_tokens
from verifier.io import load_datasets
from verifier.kernel import check_text
from verifier.kernel.data import Dataset
from verifier.kernel.reading import parse
from verifier.kernel.replay import NotEnclosed, Replay

ZERO, FAR = [[0, 0], [0, 0]], [[20, 0], [0, 0]]
# 1/L_W for TWO and the logistic loss: L_W = 90.28.
LIPSCHITZ_STEP = fmpq(1, 91)
# ∇L(0) = 0: equal pulls in opposite directions.
BALANCED = AttentionDataset.build([[[1], [0]], [[-1], [0]]], [1, -1], [[1], [1]], [1])


def spelled(dataset):
    def numbers(rows):
        return [[number_to_json(x) for x in row] for row in rows]
    return {"X": [numbers(sample) for sample in dataset.tokens], "Y": list(dataset.labels),
            "z": numbers(dataset.queries), "v": numbers([dataset.head])[0]}


def accepted(dataset, verdict):
    """The verdict holds, and the checker accepts it from its text."""
    assert verdict.holds, verdict.reason
    assert Certificate.from_json(verdict.certificate.to_json()) == verdict.certificate
    result = check_text(json.dumps({
        "format": "attsvm-certificate", "version": 1, "dataset": spelled(dataset), "run": None,
        "verdicts": [{
            "condition": verdict.condition, "selection": list(verdict.selection),
            "loss": verdict.loss, "status": "holds", "evidence": str(verdict.evidence),
            "certificate": verdict.certificate.to_json(), "reason": verdict.reason}]}))
    return result.accepted and result.counts["proved"] == 1


def plane(tokens):
    return load_datasets(f"examples/data/plane_{tokens}_tokens.npz")[0]


# The two-sample counterexample to Theorem 4 of v1 as printed ----------------------------------


def test_the_step_is_below_that_of_lemma_4():
    upper = lemma4_constant(TWO, "logistic")[1]
    assert LIPSCHITZ_STEP * upper <= 1


@pytest.mark.parametrize(("start", "rule", "step", "steps", "limit"), [
    (ZERO, "normalized", 0.1, None, (0, 0)),
    # The basin conditions hold from about step 65,000 on.
    pytest.param(ZERO, "plain", LIPSCHITZ_STEP, 1 << 16, (0, 0), marks=pytest.mark.slow),
    (FAR, "normalized", 0.1, None, (0, 1)), (FAR, "plain", LIPSCHITZ_STEP, None, (0, 1))])
def test_two_samples_have_two_limits(start, rule, step, steps, limit):
    verdict = decide(TWO, start, rule, step, "logistic", steps=steps)
    assert verdict.selection == limit
    assert accepted(TWO, verdict)


# Planes ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("tokens", [3, 5])
@pytest.mark.parametrize("loss", LOSSES)
def test_planes_from_zero(tokens, loss):
    dataset = plane(tokens)
    verdict = decide(dataset, ZERO, "normalized", 0.1, loss)
    assert accepted(dataset, verdict)
    W = np.zeros((2, 2))
    for _ in range(verdict.certificate.steps):
        W = step_along(dataset, W, "normalized", 0.1, loss)
    assert selected_tokens(dataset, W) == verdict.selection
    iterate = [[to_float(x) for x in row] for row in verdict.certificate.basin.iterate]
    assert np.allclose(W, iterate, atol=1e-6)


def test_plane_by_plain_steps():
    dataset = plane(5)
    assert accepted(dataset, decide(dataset, ZERO, "plain", 8, "exponential"))


# Outcomes -------------------------------------------------------------------------------------


def test_the_stated_number_of_steps():
    verdict = decide(TWO, FAR, "normalized", "1/10", "logistic", steps=7)
    assert verdict.certificate.steps == 7
    assert accepted(TWO, verdict)
    early = decide(TWO, ZERO, "normalized", "1/10", "logistic", steps=7)
    assert early.undecided
    assert "after 7 steps: α is not locally optimal" in early.reason
    assert early.selection == (1, 0)


def test_what_ran_out_is_said():
    short = decide(TWO, ZERO, "normalized", 0.1, "logistic", budget=20)
    assert short.undecided and "after 20 steps" in short.reason
    late = decide(TWO, ZERO, "plain", LIPSCHITZ_STEP, "logistic", seconds=0)
    assert late.undecided and "0 seconds were over" in late.reason
    # Far out, steps of 1000 would stretch distances 2^10-fold each.
    long = decide(TWO, FAR, "normalized", 1000, "logistic", steps=7000)
    assert long.undecided and "ask for more than 65,536 bits" in long.reason


def test_no_step_is_defined_where_the_gradient_vanishes():
    for loss in LOSSES:
        verdict = decide(BALANCED, [[0]], "normalized", 0.1, loss)
        assert verdict.undecided
        assert "not shown to be nonzero at step 0" in verdict.reason
        assert decide(BALANCED, [[0]], "plain", 0.1, loss, budget=50).undecided


def test_scores_out_of_range():
    huge = AttentionDataset.build([[[10**6], [0]]], [1], [[1]], [1])
    assert "range" in decide(huge, [[1]], "plain", 1, "exponential").reason
    assert decide(huge, [[1]], "plain", 1, "correlation").holds


@pytest.mark.parametrize("arguments", [
    {"rule": "flow", "step": 0}, {"rule": "adam"}, {"step": 0}, {"loss": "hinge"},
    {"start": [[1, 0]]}, {"start": [[1, 0], [0, float("nan")]]}, {"steps": -1},
    {"budget": 1 << 21}])
def test_bad_input(arguments):
    given = {"start": FAR, "rule": "normalized", "step": 0.1, "loss": "logistic"} | arguments
    with pytest.raises(InvalidInput):
        decide(TWO, **given)


# Enclosures -----------------------------------------------------------------------------------


def _random(rng):
    n, T, d = (int(x) for x in rng.integers(1, 4, 3))
    if rng.integers(2):
        X, z = rng.integers(-4, 5, (n, T + 1, d)) / 4, rng.integers(-4, 5, (n, d)) / 4
    else:
        X, z = rng.standard_normal((n, T + 1, d)), rng.standard_normal((n, d))
    dataset = AttentionDataset.build(X, rng.choice([-1, 1], n), z, rng.integers(-9, 10, d))
    return dataset, fmpq_mat(d, d, [fmpq(int(x), 3) for x in rng.integers(-60, 61, d * d)])


def _distance(precise, entries):
    """The distance of a center from an iterate that is known to 1000 bits."""
    with ctx.workprec(1200):
        square = sum(((x - arb(y))**2 for x, y in zip(precise.center, entries, strict=True)),
                     arb(0))
        return (square.sqrt() + precise.radius).upper()


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize(("rule", "step"), [("normalized", fmpq(1, 7)), ("plain", fmpq(3, 10))])
def test_both_enclosures_hold_the_exact_iterate(loss, rule, step):
    """Against ball arithmetic so precise that its error is invisible: 40 random problems."""
    rng = np.random.default_rng(12)
    followed = 0
    for _ in range(40):
        dataset, start = _random(rng)
        bits = int(rng.integers(64, 200))
        precise, coarse = Iterate.start(start, 1200), Iterate.start(start, bits)
        reference, descent = (Descent(dataset, rule, step, loss, b) for b in (1200, bits))
        table = [[Fraction(int(x.p), int(x.q)) for x in row] for row in start.tolist()]
        replay = Replay(Dataset.read(parse(json.dumps(spelled(dataset)))), loss, rule,
                        Fraction(int(step.p), int(step.q)), table, bits)
        for _ in range(8):
            try:
                coarse.advance(descent)
                replay.advance()
            except (Coarse, Stalled, NotEnclosed):
                break
            precise.advance(reference)
            assert _distance(precise, coarse.center) <= coarse.radius
            scale = fmpq(1, 1 << bits)
            center = [fmpq(x) * scale for row in replay.center for x in row]
            assert _distance(precise, center) <= fmpq(replay.radius) * scale + fmpq(1, 1 << 900)
            followed += 1
    assert followed > 200


def test_no_distance_grows_more_than_the_bound():
    """Pairs of nearby starts, one step: Λ at the first bounds how far apart they come."""
    rng = np.random.default_rng(5)
    tightest = 0.0
    for _ in range(60):
        dataset, start = _random(rng)
        d = dataset.d
        offset = [fmpq(int(x), 1 << 40) for x in rng.integers(-9, 10, d * d)]
        far = fmpq_mat(d, d, [x + y for x, y in zip(start.entries(), offset, strict=True)])
        for loss in LOSSES:
            for rule in ("normalized", "plain"):
                descent = Descent(dataset, rule, fmpq(2), loss, 300)
                one, two = Iterate.start(start, 300), Iterate.start(far, 300)
                with ctx.workprec(300):
                    before = _norm(x - y for x, y in zip(one.center, two.center, strict=True))
                    try:
                        bound = descent.growth(descent.at(one.center), before)
                        one.advance(descent)
                        two.advance(descent)
                    except (Coarse, Stalled):
                        continue
                    after = _norm(x - y for x, y in zip(one.center, two.center, strict=True))
                    assert after <= bound * before + fmpq(1, 1 << 250)
                    if before > 0:
                        tightest = max(tightest, float((after / before - 1) / (bound - 1)))
    assert 0.1 < tightest <= 1


def _norm(entries):
    return arb(sum((x * x for x in entries), arb(0)).sqrt().upper())
