"""Flat samples: by hand, and by brute force."""

from __future__ import annotations

import oracle
import pytest
from acceptance import accepted

from conditions import AttentionDataset, Evidence, no_flat_sample


def test_the_largest_and_the_smallest_score_are_the_witness():
    # (2, 0, 1): 2 > 0. Label -1: (-2, 0, -1) has 0 > -2.
    X = [[[2], [0], [1]], [[2], [0], [1]]]
    dataset = AttentionDataset.build(X, [1, -1], [[1], [1]], [1])
    verdict = no_flat_sample.decide(dataset)
    assert verdict.holds and verdict.evidence is Evidence.EXACT
    assert verdict.certificate.pairs == ((0, 1), (1, 0))
    accepted(dataset, verdict)


@pytest.mark.parametrize(("X", "v", "flat"), [
    # Equal tokens.
    ([[[1, 0], [1, 0]], [[1, 0], [0, 0]]], [1, 0], (0,)),
    # Different tokens in a plane of equal scores: (1, 1)·(2, -1) = (0, -1)·(2, -1) = 1.
    ([[[1, 0], [0, 0]], [[1, 1], [0, -1]]], [2, -1], (1,)),
    # v = 0 flattens all samples.
    ([[[1, 0], [0, 0]], [[1, 1], [0, -1]]], [0, 0], (0, 1)),
])
def test_flat(X, v, flat):
    dataset = AttentionDataset.build(X, [1, -1], [[1, 0], [0, 1]], v)
    verdict = no_flat_sample.decide(dataset)
    assert verdict.fails and verdict.evidence is Evidence.EXACT
    assert verdict.certificate.samples == no_flat_sample.flat_samples(dataset) == flat
    accepted(dataset, verdict)


def test_a_difference_of_one_unit_in_the_last_place_is_not_flat():
    # 1 + 2^-52 and 1 differ, and so do all their multiples.
    dataset = AttentionDataset.build([[[1], [1 + 2.0**-52]]], [1], [[1]], [1])
    verdict = no_flat_sample.decide(dataset)
    assert verdict.holds and verdict.certificate.pairs == ((1, 0),)
    accepted(dataset, verdict)


def test_agrees_with_brute_force():
    seen = set()
    for data in oracle.integer_datasets(2, 2, 2, count=70, seed=3):
        dataset = AttentionDataset.build(*data)
        verdict = no_flat_sample.decide(dataset)
        flat = oracle.flat_samples(data)
        assert list(no_flat_sample.flat_samples(dataset)) == flat
        assert verdict.fails == bool(flat) == (not verdict.holds)
        seen.add(verdict.status)
    assert len(seen) == 2
