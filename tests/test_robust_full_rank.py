"""Independent features in a ball of datasets: exact ranks at its corners."""

import pytest
from acceptance import accepted
from flint import fmpq
from robust import AT_THE_EDGE, DATASETS, UNITS, corners, sphere

from conditions import AttentionDataset, full_rank, robust_full_rank


@pytest.mark.parametrize("dataset", DATASETS)
def test_every_corner_has_independent_features(dataset):
    verdict = robust_full_rank.decide(dataset)
    assert verdict.holds
    accepted(dataset, verdict)
    for near in corners(dataset, verdict.certificate.radius, 12):
        assert full_rank.decide(near).holds


def test_radius_by_hand():
    # Differences e1 and e2: 2ε < 1; queries e1, e2: 2ε < 1. At ε = 1/2 a token pair can coincide.
    verdict = robust_full_rank.decide(UNITS)
    assert verdict.certificate.kind == "ball_factors"
    assert fmpq(499, 1000) < verdict.certificate.radius < fmpq(1, 2)


def test_shared_queries_need_all_rows():
    # Independent features, dependent queries.
    dataset = AttentionDataset.build([[[1, 0], [0, 0]], [[0, 1], [0, 0]]], [1, 1],
                                     [[1, 0], [1, 0]], [1, 1])
    verdict = robust_full_rank.decide(dataset)
    assert verdict.holds and verdict.certificate.kind == "ball_rows"
    accepted(dataset, verdict)


@pytest.mark.parametrize("dataset", [sphere(5, 2, 2, 0), AttentionDataset.build(
    [[[1, 0], [0, 0], [2, 0]]], [1], [[1, 0]], [1, 1])])
def test_dependent_features_are_so_in_every_ball(dataset):
    verdict = robust_full_rank.decide(dataset)
    assert verdict.fails
    accepted(dataset, verdict)


@pytest.mark.parametrize("dataset", AT_THE_EDGE)
def test_data_beyond_floats_are_no_error(dataset):
    verdict = robust_full_rank.decide(dataset)
    assert not verdict.fails
    accepted(dataset, verdict)
