"""Local optimality in a ball of datasets: exact decisions at its corners."""

import itertools

import pytest
from acceptance import accepted
from robust import AT_THE_EDGE, DATASETS, UNITS, corners

from conditions import AttentionDataset, local_optimality, robust_local_optimality
from conditions.selection import optimal_selection


@pytest.mark.parametrize("dataset", DATASETS)
def test_every_corner_agrees(dataset):
    for alpha in itertools.islice(itertools.product(*map(range, dataset.lengths)), 12):
        plain = local_optimality.decide(dataset, alpha)
        verdict = robust_local_optimality.decide(dataset, alpha)
        accepted(dataset, verdict)
        assert verdict.status == plain.status
        if verdict.holds:
            for near in corners(dataset, verdict.certificate.radius, 4):
                assert local_optimality.decide(near, alpha).holds


def test_opt_may_use_a_separator_or_the_support():
    # Larger than what the support alone allows, for opt has no rival.
    assert robust_local_optimality.decide(UNITS, (0, 0)).certificate.kind == "ball_separator"
    # Token 2 outscores token 0 and is off the support: only the support can tell.
    dataset = AttentionDataset.build([[[1, 0], [0, -1], [-3, 1]]], [1], [[1, 0]], [0, 1])
    verdict = robust_local_optimality.decide(dataset, (0,))
    assert verdict.holds and verdict.certificate.kind == "ball_kkt"
    accepted(dataset, verdict)


def test_equal_scores():
    # A tie on the support fails. Off it, no separator shows what the support does.
    dataset = AttentionDataset.build([[[1, 0], [0, 0], [-1, 0]]], [1], [[1, 0]], [0, 0])
    assert robust_local_optimality.decide(dataset, (0,)).fails
    tied = AttentionDataset.build([[[1, 1], [0, 0], [-3, 1]]], [1], [[1, 0]], [0, 1])
    verdict = robust_local_optimality.decide(tied, (0,))
    assert optimal_selection(tied) == (0,) and verdict.holds
    assert verdict.certificate.kind == "ball_kkt"


@pytest.mark.parametrize("dataset", AT_THE_EDGE)
def test_data_beyond_floats_are_no_error(dataset):
    verdict = robust_local_optimality.decide(dataset, (0, 0))
    assert not verdict.fails
    accepted(dataset, verdict)
