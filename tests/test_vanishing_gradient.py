"""Gradients that vanish everywhere, or at W = 0."""

from __future__ import annotations

import oracle
import pytest
from acceptance import stationary

from conditions import AttentionDataset, Status
from conditions.losses import LOSSES
from conditions.stationary.vanishing_gradient import proof


def line(tokens, z, Y=None):
    """One dimension, v = 1; two tokens x + 1, x and label 1 pull w(f) z/4 at W = 0, f = x + 1/2."""
    return AttentionDataset.build([[[x] for x in sample] for sample in tokens],
                                  Y or [1] * len(z), [[q] for q in z], [1])


def kinds(dataset):
    """The kind found for each loss, after the checker has accepted it."""
    found = {loss: proof(dataset, loss) for loss in LOSSES}
    for loss, certificate in found.items():
        if certificate is not None:
            stationary(dataset, certificate, Status.FAILS, loss)
    return [None if c is None else c.kind for c in found.values()]


def test_flat():
    assert kinds(line([[2, 2]], [1])) == ["all_flat"] * 3


def test_one_sample_that_is_not_flat_pulls():
    assert kinds(line([[2, 2], [1, 0]], [1, 1])) == [None] * 3


def test_a_query_of_zero_does_not_pull():
    assert kinds(line([[1, 0]], [0])) == ["stationary_at_zero"] * 3


@pytest.mark.parametrize(("tokens", "z", "expected"), [
    # Equal mean scores: w/4 - w/4 for every loss.
    ([[1, 0], [1, 0]], [1, -1], "lec"),
    # Means 1/2 and 3/2: only the constant slope cancels.
    ([[1, 0], [2, 1]], [1, -1], "c"),
    # Means 1, -1, 0: w(1) + w(-1) - 2 w(0) = 1 - 1 for the logistic loss, e^-1 + e - 2 > 0 for
    # the exponential one.
    ([["3/2", "1/2"], ["-1/2", "-3/2"], ["1/2", "-1/2"]], [1, 1, -2], "lc"),
    # One more unit of the last query leaves the half.
    ([["3/2", "1/2"], ["-1/2", "-3/2"], ["1/2", "-1/2"]], [1, 1, -3], ""),
])
def test_cancellation_is_decided_as_an_identity(tokens, z, expected):
    assert kinds(line(tokens, z)) == ["stationary_at_zero" if loss[0] in expected else None
                                      for loss in LOSSES]


def test_agrees_with_brute_force():
    seen = set()
    for data in oracle.integer_datasets(2, 2, 2, count=70, seed=17):
        dataset = AttentionDataset.build(*data)
        found = kinds(dataset)
        for loss, kind in zip(LOSSES, found, strict=True):
            flat = len(oracle.flat_samples(data)) == 2
            zero = oracle.gradient_is_zero_at_zero(data, loss)
            assert kind == ("all_flat" if flat else "stationary_at_zero" if zero else None)
        seen |= set(found)
    assert len(seen) == 3
