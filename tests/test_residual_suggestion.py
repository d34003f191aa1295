"""The float side of the residual conditions, by hand and against least squares."""

import numpy as np
import pytest
from basin_cases import TWO, locally_optimal

from conditions.basin.residual_suggestion import (
    equal_classes,
    float_start,
    residual_floats,
    suggest_ball,
)
from conditions.dataset import AttentionDataset
from conditions.losses import LOSSES
from conditions.selection import features

PHI = features(TWO, (0, 0))


def test_view_of_two_samples_by_hand():
    # Γ = [[1, −2], [−2, 5]], Γ⁻¹ = [[5, 2], [2, 1]]; diag(√λ)Γdiag(√λ) with λ = (7, 3) has trace
    # 7 + 15 = 22 and the eigenvalue 1 at √λ, so the other one is 21.
    view = residual_floats(PHI)
    assert np.allclose(view.inverse, [[5, 2], [2, 1]])
    assert np.allclose(view.eigenvalues, (21, 21))
    assert view.members.tolist() == view.places.tolist() == [0, 1]
    assert view.others.tolist() == []


def test_offsets_by_hand():
    # c = |ℓ'(1)|·Δ/n with Δ = 1 and n = 2, over λ = (7, 3).
    slopes = {"correlation": 1.0, "exponential": np.exp(-1.0), "logistic": 1 / (1 + np.exp(1.0))}
    for loss in LOSSES:
        expected = np.log(slopes[loss] / 2 / np.array([7, 3]))
        assert np.allclose(residual_floats(PHI).offsets(loss), expected)


def test_a_start_on_the_curve_has_no_residual():
    view = residual_floats(PHI)
    for clock in (5.0, 40.0):
        start = float_start(view, "logistic", clock + view.offsets("logistic"), 0.0)
        assert start.clock == pytest.approx(clock)
        assert start.size == pytest.approx(0, abs=1e-6)


def test_the_size_of_a_residual_is_a_norm():
    # E = φ₁ − (⟨φ₁, M⟩/‖M‖²)M lies in the span and is orthogonal to M: margins Γ₁ − 1/10.
    view = residual_floats(PHI)
    moved = np.array([1.0, -2.0]) - 0.1
    start = float_start(view, "logistic", 9 + view.offsets("logistic") + moved, 0.0)
    assert start.clock == pytest.approx(9)
    # ‖E‖² = ‖φ₁‖² − 1/10.
    assert start.size == pytest.approx(np.sqrt(0.9))


def test_the_radius_costs_clock_and_size():
    view = residual_floats(PHI)
    margins = np.array([20.0, 21.0])
    point, ball = (float_start(view, "logistic", margins, r) for r in (0.0, 0.5))
    assert ball.size == pytest.approx(point.size + 0.5)
    assert ball.clock == pytest.approx(point.clock - 0.5 / np.sqrt(10))


def test_equal_features_share_a_class():
    # 2·(1, 0) with query (1, 0), and (1, 0) with query (2, 0), are one feature.
    data = AttentionDataset.build([[[0, 0], [-2, 0]], [[0, 0], [-1, 0]], [[0, 0], [0, -1]]],
                                  [1, 1, 1], [[1, 0], [2, 0], [1, 0]], [1, 1])
    phi = features(data, (0, 0, 0))
    assert equal_classes(phi, [0, 2], [0, 1, 2]) == [0, 0, 1]
    assert equal_classes(phi, [0], [0, 1, 2]) is None
    assert equal_classes(phi, [1, 2], []) == []


def test_a_far_start_passes_and_a_near_one_does_not():
    view = residual_floats(PHI)
    far = float_start(view, "logistic", 200 + view.offsets("logistic"), 0.0)
    assert suggest_ball(view, "logistic", "normalized", 0.01, far).ratio < 1
    near = float_start(view, "logistic", np.array([-1.0, 1.0]), 0.0)
    assert not suggest_ball(view, "logistic", "normalized", 0.01, near).ratio < 1


def test_shorter_steps_are_no_worse():
    for dataset, alpha in locally_optimal(4):
        view = residual_floats(features(dataset, alpha))
        if view is None:
            continue
        margins = 300.0 * view.problem.reach
        start = float_start(view, "logistic", margins, 0.0)
        ratios = [suggest_ball(view, "logistic", "normalized", step, start).ratio
                  for step in (1.0, 0.1, 0.001)]
        assert ratios[2] <= ratios[1] * 1.1
        assert ratios[1] <= ratios[0] * 1.1
