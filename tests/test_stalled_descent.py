"""Descent that stalls at the zero of ℓ' of the cubic loss: by hand, and against runs."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from acceptance import accepted
from flint import fmpq

from conditions import AttentionDataset, Evidence, stalled_descent
from conditions.certificates import Certificate
from conditions.errors import InvalidInput
from conditions.large_first_step import sufficient_first_step
from conditions.losses import LOSSES
from conditions.selection import optimal_selection
from conditions.separation.frobenius import Infeasible, solve
from conditions.smoothness import smoothness
from conditions.stalled_descent import stalling_first_step

SMALL = AttentionDataset.build([[[1, 0], [-4, 1], [-4, 0]]], [1], [[1, 0]], [1, 0])
FIRST, STEP = fmpq(37, 8192), fmpq(1, 2048)


def score(dataset, W):
    """The score f and ∇f of the one sample, in floats."""
    view = dataset.floats
    X, z = view.tokens[0], view.queries[0]
    gamma = view.labels[0] * X @ view.head
    h = X @ W @ z
    s = np.exp(h - h.max())
    s /= s.sum()
    f = s @ gamma
    return f, np.outer(X.T @ (s * (gamma - f)), z)


def run(dataset, first, step, steps):
    """W(1), …, W(steps) of plain descent from 0."""
    W = np.zeros((dataset.d, dataset.d))
    for k in range(steps):
        f, slope = score(dataset, W)
        W = W + (first if k == 0 else step) * 3 * f * f * slope
        yield W, f


def number(x):
    return int(x.p) / int(x.q)


def test_a_small_one_by_hand():
    verdict = stalled_descent.decide(SMALL, FIRST, STEP, "cubic")
    assert verdict.holds and verdict.evidence is Evidence.ENCLOSED
    certificate = verdict.certificate
    assert certificate.solution == ((0, 2, fmpq(1, 25)),)
    # f(W(1)) = −0.0079923, ‖∇f(W(1))‖ = 4.04317, H = 65/2.
    assert number(certificate.radius) == pytest.approx(4 * 0.0079923 / 4.04317, rel=1e-4)
    assert number(certificate.least_slope) == pytest.approx(4.04317 - 32.5 * 0.0079070, rel=1e-4)
    assert Certificate.from_json(certificate.to_json()) == certificate
    (line,) = accepted(SMALL, verdict)
    assert "never leaves the ball" in line


@pytest.mark.parametrize("step", [fmpq(1, 2048), fmpq(1, 20), fmpq(1)])
def test_runs_stay_in_the_ball_and_below_zero(step):
    certificate = stalled_descent.decide(SMALL, FIRST, step, "cubic").certificate
    path = list(run(SMALL, number(FIRST), number(step), 5000))
    center, radius = path[0][0], number(certificate.radius)
    assert max(np.linalg.norm(W - center) for W, _ in path) < radius
    scores = [score(SMALL, W)[0] for W, _ in path]
    assert all(a <= b < 0 for a, b in pairwise(scores))
    # The limit is (10, −1) in direction, to a percent, and W^mm is (1, 0).
    assert path[-1][0][1, 0] / path[-1][0][0, 0] == pytest.approx(-0.1, rel=0.01)


def test_what_leaves_it_undecided():
    for loss in LOSSES:
        assert stalled_descent.decide(SMALL, FIRST, STEP, loss).undecided
    reasons = {
        "not shown to be negative": (SMALL, fmpq(1, 128), STEP),  # f(W(1)) > 0
        "too far below 0": (SMALL, fmpq(1, 4096), STEP),
        "pass the zero": (SMALL, FIRST, fmpq(4)),
        "line of W^mm": (AttentionDataset.build([[[1, 0], [-4, 0], [-4, 0]]], [1], [[1, 0]],
                                                [1, 0]), FIRST, STEP),
        # Softmax weights of e^−300 leave the slope open at the working precision.
        "not told from 0": (AttentionDataset.build([[[-1], [-2]]], [1], [[1]], [1]), 100, 1),
        "one sample": (AttentionDataset.build([[[1], [0]]] * 2, [1, 1], [[1], [1]], [1]), 1, 1),
        "not unique": (AttentionDataset.build([[[1], [1]]], [1], [[1]], [1]), 1, 1),
        "infeasible": (AttentionDataset.build([[[1, 0], [1, -1]]], [1], [[0, 0]], [0, 1]), 1, 1)}
    for reason, (dataset, first, step) in reasons.items():
        verdict = stalled_descent.decide(dataset, first, step, "cubic")
        assert verdict.undecided and reason in verdict.reason


def test_bad_input_is_refused():
    for first, step in ((0, 1), (-1, 1), (1, 0), (1, "x")):
        with pytest.raises(InvalidInput, match="first_step" if first != 1 else "step"):
            stalled_descent.decide(SMALL, first, step, "cubic")
    with pytest.raises(InvalidInput, match="cubic"):
        stalled_descent.decide(SMALL, 1, 1, "hinge")


def test_first_steps_are_found_and_runs_confirm_them():
    rng = np.random.default_rng(0)
    found = 0
    for _ in range(60):
        T, d = int(rng.integers(3, 5)), int(rng.integers(2, 4))
        # One score of 1, the others far below 0.
        tokens = np.hstack([rng.integers(-8, -3, (T, 1)), rng.integers(-3, 4, (T, d - 1))])
        tokens[0] = [1] + [0] * (d - 1)
        dataset = AttentionDataset.build([tokens.tolist()], [1], [tokens[0].tolist()],
                                         tokens[0].tolist())
        least = sufficient_first_step(dataset, "cubic")
        if least is None:
            continue
        step = fmpq(3, 2) / smoothness(dataset, "cubic")
        first = stalling_first_step(dataset, least, step)
        if first is None:
            continue
        found += 1
        verdict = stalled_descent.decide(dataset, first, step, "cubic")
        assert first >= least and verdict.holds
        accepted(dataset, verdict)
        path = [W for W, _ in run(dataset, number(first), number(step), 2000)]
        radius = number(verdict.certificate.radius)
        assert max(np.linalg.norm(W - path[0]) for W in path) < radius
        mm = solve(dataset, optimal_selection(dataset))
        assert not isinstance(mm, Infeasible)
        unit = mm.float_W / np.linalg.norm(mm.float_W)
        assert np.linalg.norm(path[-1] - np.vdot(path[-1], unit) * unit) > 0
    assert found >= 5
