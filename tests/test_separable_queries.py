"""S2a: queries on one side, sign by label."""

from __future__ import annotations

import oracle
import pytest
from acceptance import stationary

from conditions import AttentionDataset
from conditions.losses import LOSSES
from conditions.stationary.separable_queries import proof

PULLS, FLAT = [[1, 0], [0, 0]], [[0, 1], [0, 0]]
"""Scores ±(1, 0) and (0, 0) for v = e1."""


def build(Y, z, X=None):
    return AttentionDataset.build(X or [PULLS] * len(Y), Y, z, [1, 0])


@pytest.mark.parametrize("loss", LOSSES)
def test_one_sample(loss):
    # Y z = -(2, 0): u = (-1, 0), in coprime integers.
    dataset = build([-1], [[2, 0]])
    assert proof(dataset).u == (-1, 0)
    stationary(dataset, proof(dataset), loss=loss)


def test_labels_turn_queries():
    # Opposite queries: Y z = (1, 0) twice for opposite labels, (1, 0) and (-1, 0) for equal ones.
    dataset = build([1, -1], [[1, 0], [-1, 0]])
    assert proof(dataset).u == (1, 0)
    stationary(dataset, proof(dataset))
    assert proof(build([1, 1], [[1, 0], [-1, 0]])) is None


def test_one_strict_query_is_enough():
    # (1, 0) and (-1, 0) force u_1 = 0; (1, 2) asks for 2 u_2 > 0.
    dataset = build([1, 1, 1], [[1, 0], [-1, 0], [1, 2]])
    u = proof(dataset).u
    assert u[0] == 0 and u[1] > 0
    stationary(dataset, proof(dataset))


def test_a_flat_sample_is_not_asked():
    dataset = build([1, 1], [[1, 0], [-1, 0]], [PULLS, FLAT])
    assert proof(dataset).u == (1, 0)
    stationary(dataset, proof(dataset))


def test_nothing_to_separate():
    assert proof(build([1], [[1, 0]], [FLAT])) is None
    assert proof(build([1], [[0, 0]])) is None


def test_three_queries_around_zero():
    # (1, 0) + (0, 1) + (-1, -1) = 0.
    assert proof(build([1, 1, 1], [[1, 0], [0, 1], [-1, -1]])) is None


def test_agrees_with_brute_force():
    counts = {True: 0, False: 0}
    for data in oracle.integer_datasets(3, 2, 2, count=70, seed=15):
        dataset = AttentionDataset.build(*data)
        found = proof(dataset)
        rows = oracle.signed_queries(data)
        expected = bool(rows) and oracle.separable_queries(data)
        assert (found is not None) == expected
        counts[expected] += 1
        if found is not None:
            stationary(dataset, found)
    assert min(counts.values()) > 10
