"""Gradient and Hessian in coordinates: closed forms, differences, and balls around floats."""

from __future__ import annotations

import math

import numpy as np
import oracle
import pytest
from acceptance import stationary
from flint import arb, fmpq

from conditions import AttentionDataset, Status
from conditions.losses import LOSSES
from conditions.stationary import krawczyk
from conditions.stationary.coordinates import row_space
from conditions.stationary.gradient import (
    ball_gradient,
    ball_slopes,
    ball_softmax,
    float_gradient,
    float_slopes,
)

# d = 1: y = W, s = (σ(y), σ(-y)), f = σ(y), Cov(h, γ) = σ(y)σ(-y).
STEP = row_space(AttentionDataset.build([[[1], [0]]], [1], [[1]], [1]))


def sigmoid(u):
    return 1 / (1 + math.exp(-u))


def slopes(loss, f):
    """(|ℓ'|, ℓ'')."""
    if loss == "correlation":
        return 1.0, 0.0
    if loss == "exponential":
        return math.exp(-f), math.exp(-f)
    return sigmoid(-f), sigmoid(f) * sigmoid(-f)


@pytest.mark.parametrize("loss", LOSSES)
def test_slopes(loss):
    f = np.array([-3.0, 0.0, 0.5, 4.0])
    first, second = float_slopes(loss, f)
    for k, u in enumerate(f):
        assert (first[k], second[k]) == pytest.approx(slopes(loss, u), rel=1e-14)
        a, b = ball_slopes(loss, arb(u))
        assert (float(a), float(b)) == pytest.approx(slopes(loss, u), rel=1e-14)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("y", [0.0, 1.5, -2.0])
def test_two_tokens_in_closed_form(loss, y):
    # G = |ℓ'(s)| p with s = σ(y), p = s(1 - s); dG/dy = |ℓ'| p (1 - 2s) - ℓ'' p².
    s = sigmoid(y)
    p = s * (1 - s)
    first, second = slopes(loss, s)
    G, J, size = float_gradient(STEP, loss, np.array([[y]]))
    assert G[0, 0] == pytest.approx(first * p, rel=1e-13)
    assert J[0, 0, 0] == pytest.approx(first * p * (1 - 2 * s) - second * p * p, abs=1e-15)
    # Σ_t s_t |γ_t - f| = 2p, and the largest |F| is 1.
    assert size[0] == pytest.approx(2 * first * p, rel=1e-13)


@pytest.mark.parametrize("loss", LOSSES)
def test_far_out_nothing_overflows(loss):
    # At y = 600, p = e^-600 and |ℓ'(1)| to all digits of a float.
    G, J, _ = float_gradient(STEP, loss, np.array([[600.0]]))
    expected = slopes(loss, 1.0)[0] * math.exp(-600)
    assert G[0, 0] == pytest.approx(expected, rel=1e-12)
    assert J[0, 0, 0] == pytest.approx(-expected, rel=1e-12)
    ball, _ = ball_gradient(STEP, loss, [arb(600)])
    assert float(ball[0, 0]) == pytest.approx(expected, rel=1e-12)


def random_spaces():
    for data in oracle.integer_datasets(2, 3, 2, count=14, seed=21, ragged=True):
        space = row_space(AttentionDataset.build(*data))
        if space.rank:
            yield space


@pytest.mark.parametrize("loss", LOSSES)
def test_the_hessian_is_the_derivative_of_the_gradient(loss):
    rng = np.random.default_rng(21)
    h = 1e-5
    for space in random_spaces():
        y = rng.standard_normal(space.rank) / 4
        _, J, _ = float_gradient(space, loss, y[None])
        shifted = y + h * np.vstack([np.eye(space.rank), -np.eye(space.rank)])
        G, _, _ = float_gradient(space, loss, shifted)
        difference = (G[:space.rank] - G[space.rank:]) / (2 * h)
        assert np.allclose(J[0], difference.T, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("loss", LOSSES)
def test_balls_enclose_the_floats(loss):
    rng = np.random.default_rng(22)
    for space in random_spaces():
        y = rng.standard_normal(space.rank)
        G, J, _ = float_gradient(space, loss, y[None])
        width = arb(0, 1e-6)
        ball_G, ball_J = ball_gradient(space, loss, [arb(a) + width for a in y])
        for k in range(space.rank):
            assert ball_G[k, 0].contains(arb(G[0, k]))
            for m in range(space.rank):
                assert ball_J[k, m].contains(arb(J[0, k, m]))


def test_softmax_of_balls():
    # (0, log 3): weights 1/4 and 3/4; beyond the range of floats the weights stay right.
    low, high = ball_softmax([arb(0), arb(3).log()])
    assert low.contains(arb(fmpq(1, 4))) and high.contains(arb(fmpq(3, 4)))
    low, high = ball_softmax([arb(0), arb(5000)])
    assert low > 0 and high > 1 - arb(10) ** -15


def test_a_zero_of_the_gradient_is_one_for_the_checker():
    # z = 1 and -1, scores (1, 0) and (3/2, 1/2): G = 0 at y = log 3, where f_0 = f_1 = 3/4.
    dataset = AttentionDataset.build([[[1], [0]], [["3/2"], ["1/2"]]], [1, 1], [[1], [-1]], [1])
    space = row_space(dataset)
    for loss in ("logistic", "exponential"):
        G, _, _ = float_gradient(space, loss, np.array([[math.log(3)]]))
        assert abs(G[0, 0]) < 1e-15
        proof = krawczyk.verify(space, loss, np.array([math.log(3)]))
        stationary(dataset, proof, Status.FAILS, loss)
