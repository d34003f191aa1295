"""S1: independent features and one sample that pulls."""

from __future__ import annotations

import oracle
import pytest
from acceptance import stationary

from conditions import AttentionDataset
from conditions.losses import LOSSES
from conditions.stationary.injective_features import proof

STEP, RISE = [[1, 0], [0, 0]], [[0, 1], [0, 0]]
"""Differences e1 and e2."""


def build(X, z, v=(1, 1)):
    return AttentionDataset.build(X, [1] * len(X), z, v)


@pytest.mark.parametrize("loss", LOSSES)
def test_independent_features_hold_for_every_loss(loss):
    # e1 e1ᵀ and e1 e2ᵀ.
    dataset = build([STEP, STEP], [[1, 0], [0, 1]])
    found = proof(dataset)
    assert found.rank.kind == "independent_factors" and found.sample == 0
    stationary(dataset, found, loss=loss)


def test_independent_rows_of_one_query():
    # e1 e1ᵀ and e2 e1ᵀ.
    dataset = build([STEP, RISE], [[1, 0], [1, 0]])
    found = proof(dataset)
    assert found.rank.kind == "independent_rows"
    stationary(dataset, found)


def test_the_witness_is_the_first_sample_that_pulls():
    # v = (0, 1) flattens sample 0, of difference e1.
    dataset = build([STEP, RISE], [[1, 0], [0, 1]], (0, 1))
    assert proof(dataset).sample == 1
    stationary(dataset, proof(dataset))


def test_flat_samples_alone_prove_nothing():
    # Independent features, but ∇L ≡ 0.
    assert proof(build([STEP, STEP], [[1, 0], [0, 1]], (0, 1))) is None


@pytest.mark.parametrize(("X", "z"), [
    # φ_01 = φ_11; a query 0; tokens on a line.
    ([STEP, STEP], [[1, 0], [1, 0]]),
    ([STEP, RISE], [[1, 0], [0, 0]]),
    ([[[1, 0], [0, 0], [3, 0]]], [[1, 1]]),
])
def test_dependent_features(X, z):
    assert proof(build(X, z)) is None


def test_agrees_with_brute_force():
    counts = {True: 0, False: 0}
    for data in oracle.integer_datasets(2, 2, 2, count=70, seed=14):
        dataset = AttentionDataset.build(*data)
        found = proof(dataset)
        expected = oracle.full_row_rank(data) and len(oracle.flat_samples(data)) < 2
        assert (found is not None) == expected
        counts[expected] += 1
        if found is not None:
            stationary(dataset, found)
    assert min(counts.values()) > 10
