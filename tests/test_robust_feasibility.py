"""Feasibility in a ball of datasets: exact decisions at its corners, and a radius by hand."""

import pytest
from acceptance import accepted
from flint import fmpq
from robust import AT_THE_EDGE, DATASETS, UNITS, corners, sphere

from conditions import AttentionDataset, feasibility, robust_feasibility
from conditions.selection import optimal_selection


@pytest.mark.parametrize("dataset", DATASETS)
def test_every_corner_is_feasible(dataset):
    alpha = optimal_selection(dataset)
    verdict = robust_feasibility.decide(dataset, alpha)
    assert verdict.holds
    accepted(dataset, verdict)
    for near in corners(dataset, verdict.certificate.radius, 12):
        assert feasibility.decide(near, alpha).holds


def test_radius_by_hand():
    # δ = q = e1: whatever W, some dataset with ε = 1/2 has both tokens or the query at 0, and W = I
    # keeps its margins while 1 > 3ε + 4ε².
    radius = robust_feasibility.decide(UNITS, (0, 0)).certificate.radius
    assert fmpq(249, 1000) < radius < fmpq(1, 2)


def test_line():
    # d = 1: (1 + e)(1 + g) > 0 for all |e| ≤ 2ε, |g| ≤ ε just when ε < 1/2; plain bounds give
    # 1 > 3ε + 2ε², ε < (√17 − 3)/4 = 0.28077….
    line = AttentionDataset.build([[[1], [0]]], [1], [[1]], [1])
    radius = robust_feasibility.decide(line, (0,)).certificate.radius
    assert fmpq(2807, 10000) < radius < fmpq(28078, 100000)


def test_scaling_tokens_and_queries_scales_the_radius():
    dataset = sphere(3, 4, 5, 1)
    larger = AttentionDataset.build([[[1024 * a for a in x] for x in s] for s in dataset.tokens],
                                    dataset.labels, [[1024 * a for a in q] for q in
                                                     dataset.queries], dataset.head)
    alpha = optimal_selection(dataset)
    small, large = (robust_feasibility.decide(d, alpha).certificate.radius
                    for d in (dataset, larger))
    assert abs(large / small / 1024 - 1) < fmpq(1, 100)


def test_infeasible_data_is_so_in_every_ball():
    opposed = AttentionDataset.build([[[1], [0]], [[0], [1]]], [1, 1], [[1], [1]], [1])
    verdict = robust_feasibility.decide(opposed, (0, 0))
    assert verdict.fails and verdict.condition == "robust_feasibility"
    accepted(opposed, verdict)


@pytest.mark.parametrize("dataset", AT_THE_EDGE)
def test_data_beyond_floats_are_no_error(dataset):
    verdict = robust_feasibility.decide(dataset, (0, 0))
    assert not verdict.fails
    accepted(dataset, verdict)
