"""Equal scores below the optimum: by hand, and by brute force."""

from __future__ import annotations

import oracle
import pytest
from acceptance import accepted

from conditions import AttentionDataset, Evidence, equal_scores

# d = 1 and v = 1: the scores are Y times the tokens.
HOLDS = [
    # (3, 1, 1): the level below 3 is 1.
    ([[[3], [1], [1]]], [1], ((3, 1),)),
    # Two tokens have at most two levels; (2, 2) has none below.
    ([[[0], [7]], [[2], [2]]], [1, 1], ((7, 0), (2, None))),
    # (3, 3, 1): several tokens may share the largest score.
    ([[[3], [3], [1]]], [1], ((3, 1),)),
    # Label -1 turns (0, 0, 5) into (0, 0, -5): levels 0 and -5.
    ([[[0], [0], [5]]], [-1], ((0, -5),)),
]
FAILS = [
    # (3, 1, 0): tokens 1 and 2 lie below 3 and differ.
    ([[[3], [1], [0]]], [1], 0, (1, 2)),
    # Sample 1 is at fault; with label -1 it scores (-1, 0, -2).
    ([[[3], [1], [1]], [[1], [0], [2]]], [1, -1], 1, (0, 2)),
    # A difference of 2^-60 is a difference.
    ([[[1], [0], [2.0**-60]]], [1], 0, (1, 2)),
]


@pytest.mark.parametrize(("X", "Y", "levels"), HOLDS)
def test_equal(X, Y, levels):
    dataset = AttentionDataset.build(X, Y, [[1]] * len(X), [1])
    verdict = equal_scores.decide(dataset)
    assert verdict.holds and verdict.evidence is Evidence.EXACT
    assert verdict.certificate.levels == levels
    accepted(dataset, verdict)


@pytest.mark.parametrize(("X", "Y", "sample", "tokens"), FAILS)
def test_unequal(X, Y, sample, tokens):
    dataset = AttentionDataset.build(X, Y, [[1]] * len(X), [1])
    verdict = equal_scores.decide(dataset)
    assert verdict.fails and verdict.evidence is Evidence.EXACT
    assert (verdict.certificate.sample, verdict.certificate.tokens) == (sample, tokens)
    accepted(dataset, verdict)


def test_agrees_with_brute_force():
    seen = set()
    for data in oracle.integer_datasets(2, 4, 2, count=70, seed=2):
        verdict = equal_scores.decide(AttentionDataset.build(*data))
        assert verdict.holds == oracle.equal_scores(data) == (not verdict.fails)
        seen.add(verdict.status)
    assert len(seen) == 2
