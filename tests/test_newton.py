"""Newton's method suggests zeros: known ones, none where there is none."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from acceptance import stationary

from conditions import AttentionDataset, Status
from conditions.stationary import krawczyk
from conditions.stationary.coordinates import row_space
from conditions.stationary.newton import newton_steps, random_starts, zeros


def opposite(shift):
    """One dimension, z = 1 and -1, scores (1, 0) and (1 + shift, shift).

    Both sigmoids have one slope, so ∇L = 0 where f_0 = f_1: tanh(y/2) = shift.
    """
    return AttentionDataset.build([[[1], [0]], [[1 + shift], [shift]]], [1, 1], [[1], [-1]], [1])


def test_steps():
    # -J⁻¹G for diag(2, 4); the pseudoinverse where J is singular; no step where J is not finite.
    G = np.array([[2.0, 4.0], [3.0, 5.0], [1.0, 1.0]])
    J = np.array([[[2.0, 0], [0, 4]], [[1, 0], [0, 0]], [[np.inf, 0], [0, 1]]])
    assert np.allclose(newton_steps(G, J), [[-1, -1], [-3, 0], [0, 0]])


@pytest.mark.parametrize("loss", ["logistic", "exponential"])
@pytest.mark.parametrize("shift", [0.0, 0.5, -0.75])
def test_the_only_zero(loss, shift):
    dataset = opposite(shift)
    space = row_space(dataset)
    found = zeros(space, loss, random_starts(space, 24, 0))
    assert found == pytest.approx(np.array([[2 * math.atanh(shift)]]), abs=1e-9)
    stationary(dataset, krawczyk.verify(space, loss, found[0]), Status.FAILS, loss)


@pytest.mark.parametrize("loss", ["logistic", "exponential"])
def test_no_zero(loss):
    # shift 2: f_0 < 1 < 2 < f_1; runs escape to infinity, where G decays.
    space = row_space(opposite(2))
    assert len(zeros(space, loss, random_starts(space, 24, 0))) == 0


def test_zeros_are_merged():
    # Scores (1, 0) twice, z = 1 and -2, ℓ' constant: G = p(y) - 2 p(2y), p(y) = 1/(4 cosh²(y/2)),
    # vanishes where cosh²y = 2 cosh²(y/2) = 1 + cosh y: cosh y is the golden ratio.
    dataset = AttentionDataset.build([[[1], [0]]] * 2, [1, 1], [[1], [-2]], [1])
    space = row_space(dataset)
    found = zeros(space, "correlation", random_starts(space, 200, 3))
    y = math.acosh((1 + math.sqrt(5)) / 2)
    assert sorted(found[:, 0]) == pytest.approx([-y, y], abs=1e-9)
    for each in found:
        stationary(dataset, krawczyk.verify(space, "correlation", each), Status.FAILS,
                   "correlation")


def test_logits_out_of_the_range_of_floats_lead_nowhere():
    # All features are about 1e-400, 0 as floats; warnings are errors here.
    tiny = Fraction(1, 10**400)
    space = row_space(AttentionDataset.build([[[tiny], [0]], [[2 * tiny], [tiny]]], [1, 1],
                                             [[1], [-1]], [1]))
    assert len(zeros(space, "logistic", random_starts(space, 20, 0))) == 0


def test_starts_are_seeded_and_within_range():
    space = row_space(opposite(0.5))
    starts = random_starts(space, 500, 4)
    assert starts.shape == (500, 1) and starts[0] == 0
    assert np.array_equal(starts, random_starts(space, 500, 4))
    assert not np.array_equal(starts, random_starts(space, 500, 5))
    # Logits are ±y here: sizes from 0.05 to 40, of both signs.
    sizes = np.abs(starts[1:])
    assert sizes.min() >= 0.05 * (1 - 1e-12) and sizes.max() <= 40 * (1 + 1e-12)
    assert starts.min() < 0 < starts.max()
