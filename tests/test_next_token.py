"""The log-loss of whole corpora, its minimizer on S_fin, and descent against prediction."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest

from conditions import InvalidInput
from conditions.priority_graph import NextTokenData, graph_svm, training_set
from conditions.separation.general import solve
from verifier.multi_token import FiniteSpace, log_loss, restricted_loss
from verifier.next_token import (
    FiniteSubspace,
    LogLoss,
    LogRun,
    compare,
    ordered_pairs,
    predict_finite,
    train,
)

EYE = np.eye(4, dtype=int)
# After token 0 labels 1 and 2 are of equal priority; after 3 there are no ties.
NEXT = NextTokenData.build(
    [[1, 2, 3, 0], [1, 2, 3, 0], [1, 2, 0], [3, 1, 0], [2, 1, 3], [1, 0, 3]],
    [1, 2, 1, 1, 2, 1], EYE)


def random_data(seed, embeddings=None, K=4, inputs=9):
    rng = random.Random(seed)
    table = EYE if embeddings is None else embeddings
    return NextTokenData.build([[rng.randrange(K) for _ in range(rng.randint(1, 5))]
                                for _ in range(inputs)],
                               [rng.randrange(K) for _ in range(inputs)], table).completed()


def tables(seed):
    rng = np.random.default_rng(seed)
    return [EYE, rng.integers(-2, 3, size=(4, 3)), rng.integers(-2, 3, size=(4, 6))]


@pytest.mark.parametrize("k", range(3))
def test_loss_is_that_of_the_samples_one_by_one(k):
    data = random_data(k, tables(k)[k])
    samples = training_set(data)
    W = np.random.default_rng(k).standard_normal((data.d, data.d))
    # Inputs of a single token have no sample and no loss.
    share = len(samples.kept) / len(data.inputs)
    for restricted, sets in ((False, [range(T) for T in samples.dataset.lengths]),
                             (True, samples.sets)):
        value, gradient = LogLoss(data, restricted=restricted)(W)
        expected, slope = restricted_loss(samples.dataset, tuple(map(tuple, sets)),
                                          log_loss(samples.positions), W)
        assert value == pytest.approx(share * expected, rel=1e-12)
        np.testing.assert_allclose(gradient, share * slope, atol=1e-12)


def test_curvature_is_the_derivative_of_the_gradient():
    data = random_data(4, tables(4)[1])
    loss, rng = LogLoss(data), np.random.default_rng(4)
    W, V = rng.standard_normal((2, 3, 3)) / 2
    step = 1e-6
    expected = (loss(W + step * V)[1] - loss(W - step * V)[1]) / (2 * step)
    assert np.abs(expected).max() > 1e-2
    np.testing.assert_allclose(loss.curvature(W, V), expected, atol=1e-7)


@pytest.mark.parametrize("k", range(3))
def test_smoothness_bounds_the_curvature(k):
    data = random_data(10 + k, tables(k)[k])
    loss, rng = LogLoss(data), np.random.default_rng(k)
    d = data.d
    for _ in range(5):
        W = rng.standard_normal((d, d))
        H = np.array([loss.curvature(W, E.reshape(d, d)).ravel() for E in np.eye(d * d)])
        assert np.linalg.eigvalsh((H + H.T) / 2)[-1] <= loss.smoothness * (1 + 1e-12)


def test_saturation_leaves_the_gradient_its_sign():
    # The label's weight rounds to 1 long before the others' vanish.
    loss = LogLoss(NextTokenData.build([[1, 0]], [1], EYE))
    W = np.zeros((4, 4))
    W[1, 0] = 300.0
    value, gradient = loss(W)
    assert 0 < value < 1e-100
    assert gradient[1, 0] == -value and gradient[0, 0] == value


def test_every_label_must_occur():
    data = NextTokenData.build([[0, 1], [2, 1]], [0, 3], EYE)
    with pytest.raises(InvalidInput, match="1 of 2 labels"):
        LogLoss(data)


@pytest.mark.parametrize("k", range(3))
def test_projection_is_that_on_the_basis_of_the_samples(k):
    data = random_data(20 + k, tables(k)[k], inputs=14)
    svm, space = graph_svm(data), FiniteSubspace(data)
    reference = FiniteSpace(svm.dataset, svm.sets)
    assert len(reference.basis)
    W = np.random.default_rng(k).standard_normal((data.d, data.d))
    np.testing.assert_allclose(space.project(W), reference.project(W), atol=1e-10)
    np.testing.assert_allclose(space.project(space.project(W)), space.project(W), atol=1e-10)


def test_no_ties_no_finite_part():
    data = NextTokenData.build([[1, 0], [2, 1, 0]], [1, 2], EYE)
    assert not FiniteSubspace(data).project(np.ones((4, 4))).any()
    part = predict_finite(data)
    assert not part.W.any() and part.converged and part.loss == 0


def test_finite_part_of_two_contending_labels():
    # On {1, 2} after token 0: twice label 1, once label 2: the logits differ by log 2.
    part = predict_finite(NEXT)
    expected = np.zeros((4, 4))
    expected[1, 0], expected[2, 0] = np.log(2) / 2, -np.log(2) / 2
    assert part.converged
    np.testing.assert_allclose(part.W, expected, atol=1e-9)
    assert part.loss == pytest.approx((2 * np.log(1.5) + np.log(3)) / 6)


@pytest.mark.parametrize("k", range(3))
def test_finite_part_is_stationary_in_its_space(k):
    data = random_data(20 + k, tables(k)[k], inputs=14)
    part = predict_finite(data)
    assert part.converged and np.linalg.norm(part.W) > 0.1
    np.testing.assert_allclose(FiniteSubspace(data).project(part.W), part.W, atol=1e-8)
    svm, samples = graph_svm(data), training_set(data)
    reference = FiniteSpace(svm.dataset, svm.sets)
    _, slope = restricted_loss(samples.dataset, samples.sets, log_loss(samples.positions), part.W)
    assert np.abs(reference.basis @ slope.ravel()).max() < 1e-8


def test_descent_approaches_both_parts():
    # An observation, not a proof: Theorem 2 of arXiv 2403.08081 on a small cyclic example.
    svm = graph_svm(NEXT)
    direction = np.array([[float(int(x.p) / int(x.q)) for x in row]
                          for row in solve(svm.dataset, svm.sets).W.tolist()])
    loss = LogLoss(NEXT)
    calls = []
    run = train(loss, 3000, advance=lambda: calls.append(1))
    assert len(calls) == 3000 and run.kept[0][0] == 1 and run.kept[-1][0] == 3000
    seen = compare(NEXT, loss, run, direction, predict_finite(NEXT))
    assert [one.step for one in seen] == sorted({k for k, _ in run.kept})
    # Monotone at the step 1/β.
    assert all(a.loss > b.loss for a, b in itertools.pairwise(seen))
    late = seen[-12:]
    assert all(a.direction < b.direction for a, b in itertools.pairwise(late))
    assert all(a.finite > b.finite for a, b in itertools.pairwise(late))
    assert seen[-1].direction > 0.98 and seen[-1].beyond > seen[-1].direction
    assert seen[-1].finite < 1e-2
    # After 0: {1, 2} over 0 and over 3; after 3: 2 over 1 over 0 and 3.
    assert sorted(map(tuple, ordered_pairs(NEXT).tolist())) == sorted(
        [(i, j, 0) for i in (1, 2) for j in (0, 3)] + [(2, 1, 3), (1, 0, 3), (1, 3, 3)])
    assert seen[-1].ordered == 7 and 0 <= seen[0].ordered <= 7
    backwards = LogRun(run.step, 1, ((1, -direction),))
    assert compare(NEXT, loss, backwards, direction, predict_finite(NEXT))[0].ordered == 0
    assert compare(NEXT, loss, run, direction, None)[-1].finite is None
    without = compare(NEXT, loss, run, None, predict_finite(NEXT))[-1]
    assert without.direction is None is without.beyond and without.finite == seen[-1].finite


@pytest.mark.parametrize(("iterations", "step", "name"), [
    (0, None, "iterations"), (5, 0.0, "step"), (5, -1.0, "step"), (5, float("nan"), "step"),
    (5, float("inf"), "step")])
def test_bad_runs_are_refused(iterations, step, name):
    with pytest.raises(InvalidInput) as caught:
        train(LogLoss(NEXT), iterations, step)
    assert caught.value.name == name


def test_steps_that_overflow_are_refused():
    with pytest.raises(InvalidInput, match="overflow"):
        train(LogLoss(random_data(3, 10 * tables(3)[2])), 4, 1e308)
