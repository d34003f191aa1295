"""Unique optimal tokens: by hand, and by brute force."""

from __future__ import annotations

import oracle
import pytest
from acceptance import accepted

from conditions import AttentionDataset, Evidence, unique_optimum

# d = 1 and v = 1: the scores are Y times the tokens.
HOLDS = [
    # (2, 0) and (1, 3, -1): tokens 0 and 1.
    ([[[2], [0]], [[1], [3], [-1]]], [1, 1], (0, 1)),
    # The label -1 turns (1, 3, -1) into (-1, -3, 1): token 2.
    ([[[2], [0]], [[1], [3], [-1]]], [1, -1], (0, 2)),
    # Equal scores below the largest do no harm.
    ([[[2], [0], [0]]], [1], (0,)),
    # In binary 0.1 + 0.2 exceeds 0.3 by 2^-54.
    ([[[0.3], [0.1 + 0.2]]], [1], (1,)),
]
FAILS = [
    # (0, 1, 1): tokens 1 and 2 share the score 1.
    ([[[0], [1], [1]]], [1], 0, (1, 2)),
    # With the label -1 the tokens 0 of sample 1 are largest: -0 > -1.
    ([[[1], [0]], [[0], [1], [0]]], [1, -1], 1, (0, 2)),
    # Exact fractions: 2/6 = 1/3.
    ([[["1/3"], ["2/6"], [0]]], [1], 0, (0, 1)),
]


@pytest.mark.parametrize(("X", "Y", "tokens"), HOLDS)
def test_unique(X, Y, tokens):
    dataset = AttentionDataset.build(X, Y, [[1]] * len(X), [1])
    verdict = unique_optimum.decide(dataset)
    assert verdict.holds and verdict.evidence is Evidence.EXACT
    assert verdict.certificate.tokens == tokens
    accepted(dataset, verdict)


@pytest.mark.parametrize(("X", "Y", "sample", "tokens"), FAILS)
def test_tied(X, Y, sample, tokens):
    dataset = AttentionDataset.build(X, Y, [[1]] * len(X), [1])
    verdict = unique_optimum.decide(dataset)
    assert verdict.fails and verdict.evidence is Evidence.EXACT
    assert (verdict.certificate.sample, verdict.certificate.tokens) == (sample, tokens)
    accepted(dataset, verdict)


def test_head_zero_ties_everything():
    dataset = AttentionDataset.build([[[1], [2]]], [1], [[1]], [0])
    assert unique_optimum.tie(dataset).tokens == (0, 1)


def test_agrees_with_brute_force():
    seen = set()
    for data in oracle.integer_datasets(2, 3, 2, count=70, seed=1):
        verdict = unique_optimum.decide(AttentionDataset.build(*data))
        assert verdict.holds == oracle.unique_optimum(data) == (not verdict.fails)
        if verdict.holds:
            assert verdict.certificate.tokens == oracle.optimal_selection(data)
        seen.add(verdict.status)
    assert len(seen) == 2
