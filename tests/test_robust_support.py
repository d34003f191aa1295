"""The support set in a ball of datasets: exact solutions at its corners."""

import pytest
from acceptance import accepted
from flint import fmpq
from robust import AT_THE_EDGE, DATASETS, UNITS, corners

from conditions import AttentionDataset, robust_support
from conditions.selection import optimal_selection
from conditions.separation.frobenius import solve


@pytest.mark.parametrize("dataset", DATASETS)
def test_every_corner_has_the_same_support(dataset):
    alpha = optimal_selection(dataset)
    verdict = robust_support.decide(dataset, alpha)
    assert verdict.holds
    assert verdict.certificate.rows == solve(dataset, alpha).support
    accepted(dataset, verdict)
    for near in corners(dataset, verdict.certificate.radius, 12):
        assert solve(near, alpha).support == verdict.certificate.rows


def test_radius_by_hand():
    # ρ = c = a + b + 2ab with a = 4ε + 8ε², b = 2ε + 2ε² must stay below 1/2: ε < 0.0638….
    radius = robust_support.decide(UNITS, (0, 0)).certificate.radius
    assert fmpq(63, 1000) < radius < fmpq(64, 1000)


@pytest.mark.parametrize("X", [
    # The rejected tokens are equal, or (1, ±1) and (1, 0): a zero multiplier.
    [[[1, 0], [0, 0], [0, 0]]], [[[1, 0], [0, 1], [0, -1], [0, 0]]]])
def test_a_degenerate_support_has_no_ball(X):
    dataset = AttentionDataset.build(X, [1], [[1, 0]], [1, 0])
    assert robust_support.decide(dataset, (0,)).undecided


def test_infeasible_data_is_so_in_every_ball():
    opposed = AttentionDataset.build([[[1], [0]], [[0], [1]]], [1, 1], [[1], [1]], [1])
    verdict = robust_support.decide(opposed, (0, 0))
    assert verdict.fails
    accepted(opposed, verdict)


@pytest.mark.parametrize("dataset", AT_THE_EDGE)
def test_data_beyond_floats_are_no_error(dataset):
    verdict = robust_support.decide(dataset, (0, 0))
    assert not verdict.fails
    accepted(dataset, verdict)
