"""Float suggestions: right on easy data, harmless and finite on hard data."""

import numpy as np
import pytest
from basin_cases import TWO, locally_optimal
from flint import fmpq

from conditions.basin.enclosure import enclose
from conditions.basin.suggestion import float_problem, log_slope
from conditions.dataset import AttentionDataset
from conditions.selection import features
from conditions.separation.frobenius import ExactSolution, solve_exactly, suggest_support
from conditions.separation.suggestion import suggest


def unit_rows(rng, N, d):
    deltas, queries = rng.normal(size=(2, N, d))
    return (deltas / np.linalg.norm(deltas, axis=1)[:, None],
            queries / np.linalg.norm(queries, axis=1)[:, None])


def residuals(deltas, queries, targets, found):
    """The ascent f − Gx of the bounded dual, for all rows."""
    constant = len(targets) / float(targets @ targets)
    K = (deltas @ deltas.T) * (queries @ queries.T) + constant * np.outer(targets, targets)
    x = np.zeros(len(targets))
    x[found.passive] = found.x
    return targets - K @ x, x, 1 - constant * targets @ x


# Nonnegative least squares ------------------------------------------------------------------


def test_orthogonal_rows_by_hand():
    # K = I, r = 1, c = 1: (I + 11ᵀ)x = 1 gives x = 1/3 each and κ = 1/3.
    found = suggest(np.eye(2), np.ones((2, 1)), np.ones(2))
    assert found.passive.tolist() == [0, 1]
    assert np.allclose(found.x, 1 / 3)
    assert found.slack == pytest.approx(1 / 3)


def test_opposite_rows_leave_no_slack():
    # Φᵀx = 0 at x = (½, ½): κ = 1 − c·Σx = 0.
    found = suggest(np.array([[1.0], [-1.0]]), np.ones((2, 1)), np.ones(2))
    assert found.slack == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize(("N", "d"), [(6, 4), (16, 4), (80, 3), (200, 2)])
@pytest.mark.parametrize("seed", range(3))
def test_kkt_conditions_to_working_precision(N, d, seed):
    # Both methods: d² ≥ N, and N ≫ d².
    rng = np.random.default_rng([N, d, seed])
    deltas, queries = unit_rows(rng, N, d)
    targets = rng.uniform(0.5, 2, N)
    found = suggest(deltas, queries, targets)
    ascent, _, slack = residuals(deltas, queries, targets, found)
    assert np.all(found.x > 0)
    assert np.all(np.diff(found.passive) > 0)
    assert np.abs(ascent[found.passive]).max() < 1e-8
    assert ascent.max() < 1e-8
    assert found.slack == pytest.approx(slack, abs=1e-10)


def test_equal_rows_end():
    rng = np.random.default_rng(0)
    deltas, queries = unit_rows(rng, 5, 3)
    deltas, queries = np.repeat(deltas, 4, axis=0), np.repeat(queries, 4, axis=0)
    found = suggest(deltas, queries, np.ones(20))
    ascent, _, _ = residuals(deltas, queries, np.ones(20), found)
    assert ascent.max() < 1e-8


def test_suggested_supports_are_the_exact_ones_on_generic_data():
    agreed = 0
    for seed in range(10):
        rng = np.random.default_rng(seed)
        data = AttentionDataset.build(rng.normal(size=(3, 4, 4)), [1, 1, 1],
                                      rng.normal(size=(3, 4)), np.ones(4))
        phi = features(data, (0, 0, 0))
        exact = solve_exactly(phi)
        if isinstance(exact, ExactSolution):
            assert suggest_support(phi).passive.tolist() == sorted(exact.multipliers)
            agreed += 1
    assert agreed >= 5


def test_zero_rows_have_no_suggestion():
    data = AttentionDataset.build([[[1], [1]]], [1], [[1]], [1])
    assert suggest_support(features(data, (0,))) is None


# Basins -------------------------------------------------------------------------------------


def test_basin_floats_are_the_balls():
    for dataset, alpha in locally_optimal(6):
        phi = features(dataset, alpha)
        problem, frame = float_problem(phi), enclose(phi)
        assert problem.positions.tolist() == frame.positions
        assert np.flatnonzero(problem.support).tolist() == sorted(frame.support)
        for ours, balls in ((problem.multipliers, frame.multipliers), (problem.reach, frame.reach),
                            (problem.sizes, frame.sizes)):
            assert np.allclose(ours, [float(x) for x in balls], rtol=1e-10)
        assert np.allclose(problem.across, [float(x) for x in frame.across], atol=1e-6)
        assert problem.gaps.tolist() == [float(x.p) / float(x.q) for x in map(fmpq, frame.gaps)]


def test_basin_of_two_samples_by_hand():
    # λ = (7, 3), φ = e₁e₁ᵀ and (−2e₁ + e₂)e₁ᵀ; v² = u² − 1/10.
    problem = float_problem(features(TWO, (0, 0)))
    assert np.allclose(problem.multipliers, [7, 3])
    assert problem.norm_squared == pytest.approx(10)
    assert np.allclose(problem.cross, [[1, -2], [-2, 5]])
    assert np.allclose(problem.across**2, [0.9, 4.9])
    assert problem.selected_scores.tolist() == [1, 1]


def test_basin_weights_over_a_grid_are_those_of_each_point():
    problem = float_problem(features(TWO, (0, 0)))
    grid = np.array([[[1.0, 2.0], [0.5, 3.0]]])
    w = problem.weights("logistic", grid)
    assert w.D.shape == (1, 2, 2)
    assert np.allclose(w.D, np.exp(-grid))
    assert np.allclose(w.log_share, -np.log1p(np.exp(-grid)))


def test_log_slopes_do_not_overflow():
    f = np.array([-1e6, 0.0, 1e6])
    assert np.allclose(log_slope("logistic", f), [0, -np.log(2), -1e6])
    assert log_slope("exponential", f).tolist() == [1e6, 0, -1e6]
    assert log_slope("correlation", f).tolist() == [0, 0, 0]


def test_infeasible_selections_have_no_basin_floats():
    data = AttentionDataset.build([[[0], [1], [-1]]], [1], [[1]], [1])
    assert float_problem(features(data, (0,))) is None
