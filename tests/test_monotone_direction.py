"""S2: a direction along which logits rise with scores."""

from __future__ import annotations

import oracle
import pytest
from acceptance import stationary

from conditions import AttentionDataset
from conditions.losses import LOSSES
from conditions.stationary.monotone_direction import comparisons, neighbours, proof, score_levels


def line(tokens, Y, z):
    """One dimension and v = 1: the scores are Y times the tokens."""
    return AttentionDataset.build([[[x] for x in sample] for sample in tokens], Y,
                                  [[q] for q in z], [1])


def test_levels_and_neighbours():
    # Scores (2, 0, 1, 0): levels {1, 3}, {2}, {0}; neighbours only.
    dataset = line([[2, 0, 1, 0]], [1], [1])
    assert [sorted(level) for level in score_levels(dataset, 0)] == [[1, 3], [2], [0]]
    assert sorted(neighbours(dataset, 0)) == [(0, 0, 2), (0, 2, 1), (0, 2, 3)]
    assert comparisons(dataset) == tuple(neighbours(dataset, 0))


@pytest.mark.parametrize("loss", LOSSES)
def test_scores_themselves_are_monotone(loss):
    # h = D x z rises with the score Y x where D Y z > 0.
    dataset = line([[2, 0, 1]], [-1], [3])
    found = proof(dataset)
    assert found.D[0][0] < 0
    stationary(dataset, found, loss=loss)


def test_opposite_demands():
    # One query asks h to rise with x (label 1) and to fall with x (label -1).
    assert proof(line([[1, 0], [1, 0]], [1, -1], [1, 1])) is None
    assert proof(line([[1, 0], [1, 0]], [1, -1], [1, -1])).D[0][0] > 0


def test_a_weak_direction_with_one_strict_pair():
    # z = e1, w the first column of D, v = (1, 1). Sample 0: scores (1, 0) ask for w_1 ≥ 0; sample
    # 1, label -1: scores (-1, 0) ask for w_1 ≤ 0; sample 2: scores (1, 0) ask for w_2 ≥ 0.
    step, rise = [[1, 0], [0, 0]], [[0, 1], [0, 0]]
    dataset = AttentionDataset.build([step, step, rise], [1, -1, 1], [[1, 0]] * 3, [1, 1])
    found = proof(dataset)
    assert found.D[0][0] == 0 and found.D[1][0] > 0 and found.witness == (2, 0, 1)
    stationary(dataset, found)


def test_equal_scores_ask_for_nothing():
    # Tokens (1, 0) and (0, 1) share the score 1: only their rise over 0 counts, w_1, w_2 ≥ 0.
    dataset = AttentionDataset.build([[[1, 0], [0, 1], [0, 0]]], [1], [[1, 0]], [1, 1])
    found = proof(dataset)
    assert min(found.D[0][0], found.D[1][0]) >= 0
    stationary(dataset, found)
    assert proof(line([[1, 1]], [1], [1])) is None


def test_agrees_with_brute_force():
    counts = {True: 0, False: 0}
    for shape in ((2, 3, 1), (2, 3, 2)):
        for data in oracle.integer_datasets(*shape, count=42, seed=16):
            dataset = AttentionDataset.build(*data)
            found = proof(dataset)
            expected = oracle.monotone_direction_exists(data)
            assert (found is not None) == expected
            counts[expected] += 1
            if found is not None:
                stationary(dataset, found)
    assert min(counts.values()) > 10
