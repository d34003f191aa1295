"""Observations on sets of tokens: losses, thresholds, the finite part, and the prediction."""

from __future__ import annotations

import numpy as np
import pytest

from conditions import AttentionDataset, InvalidInput
from conditions.predicted_direction import correlation
from conditions.priority_graph import NextTokenData, training_set
from verifier.descent import ReluHead, gradient
from verifier.descent.loss import LOSSES
from verifier.multi_token import (
    FiniteSpace,
    equivalent_matrices,
    head_loss,
    log_loss,
    observe,
    observed_sets,
    restricted_loss,
    selected_sets,
    softmax_weights,
)

EYE = np.eye(4, dtype=int)
# After token 0 labels 1 and 2 are of equal priority; after 3 there are no ties.
NEXT = training_set(NextTokenData.build(
    [[1, 2, 3, 0], [1, 2, 3, 0], [1, 2, 0], [3, 1, 0], [2, 1, 3], [1, 0, 3]],
    [1, 2, 1, 1, 2, 1], EYE))


def all_tokens(dataset):
    return tuple(tuple(range(T)) for T in dataset.lengths)


def random_dataset(seed, n=3, T=4, d=3):
    rng = np.random.default_rng(seed)
    return AttentionDataset.build(rng.standard_normal((n, T, d)), [1, -1, 1],
                                  rng.standard_normal((n, d)), rng.standard_normal(d))


def difference_quotient(function, W, step=1e-6):
    slope = np.zeros_like(W)
    for k in np.ndindex(*W.shape):
        E = np.zeros_like(W)
        E[k] = step
        slope[k] = (function(W + E) - function(W - E)) / (2 * step)
    return slope


@pytest.mark.parametrize("name", LOSSES)
def test_linear_head_on_all_tokens_is_the_loss_of_descent(name):
    dataset = random_dataset(1)
    W = np.random.default_rng(2).standard_normal((3, 3))
    value, slope = restricted_loss(dataset, all_tokens(dataset), head_loss(dataset, name), W)
    expected = gradient(dataset, W, name).value
    np.testing.assert_allclose(slope, expected, rtol=1e-10)
    scores = [y * (X @ dataset.floats.head) for X, y in
              zip(dataset.floats.tokens, dataset.floats.labels, strict=True)]
    f = np.array([s @ g for s, g in zip(softmax_weights(dataset, W), scores, strict=True)])
    assert value == pytest.approx(LOSSES[name].value(f).mean())


def relu_head(a):
    V = np.array([[1.0, -2.0, 0.5], [0.3, 1.0, 1.0]])
    active = V @ a > 0
    return float((V @ a)[active].sum()), V[active].sum(axis=0)


@pytest.mark.parametrize("loss", ["relu", "log"])
def test_gradients_of_other_losses(loss):
    dataset = random_dataset(3)
    sets = ((0, 2), (0, 1, 3), (1,))
    chosen = (head_loss(dataset, "exponential", relu_head) if loss == "relu"
              else log_loss(((0,), (1, 3), (1,))))
    W = np.random.default_rng(4).standard_normal((3, 3)) / 4
    _, slope = restricted_loss(dataset, sets, chosen, W)
    expected = difference_quotient(
        lambda V: restricted_loss(dataset, sets, chosen, V)[0], W)
    assert np.abs(expected).max() > 1e-3
    np.testing.assert_allclose(slope, expected, atol=1e-8)


def test_restricted_loss_depends_on_the_finite_part_alone():
    dataset, sets = random_dataset(5), ((0, 1), (0, 1, 3), (2,))
    space, loss = FiniteSpace(dataset, sets), head_loss(dataset)
    W = np.random.default_rng(6).standard_normal((3, 3))
    value, slope = restricted_loss(dataset, sets, loss, W)
    assert np.linalg.norm(W - space.project(W)) > 0.1
    assert restricted_loss(dataset, sets, loss, space.project(W))[0] == pytest.approx(value)
    np.testing.assert_allclose(space.project(slope), slope, atol=1e-12)


def test_what_is_read_off_is_the_least_matrix_with_these_weight_ratios():
    dataset, sets = random_dataset(7), ((0, 1), (0, 1, 3), (2,))
    space = FiniteSpace(dataset, sets)
    W = np.random.default_rng(8).standard_normal((3, 3))
    weights = softmax_weights(dataset, W)
    view = dataset.floats
    rows = np.array([np.outer(view.tokens[i][a] - view.tokens[i][b], view.queries[i]).ravel()
                     for i, a, b in ((0, 0, 1), (1, 0, 1), (1, 1, 3))])
    ratios = [np.log(weights[i][a] / weights[i][b]) for i, a, b in
              ((0, 0, 1), (1, 0, 1), (1, 1, 3))]
    least = np.linalg.lstsq(rows, np.array(ratios), rcond=None)[0]
    np.testing.assert_allclose(space.project(W).ravel(), least, atol=1e-10)


def test_thresholds_and_what_is_between():
    # Logits 0, -a, -b: weights near 1, e^-a, e^-b.
    dataset = AttentionDataset.build([[[0], [-1], [-2]]], [1], [[1]], [1])

    def at(w):
        return observed_sets(dataset, np.array([[float(w)]]))

    assert at(0).sets == ((0, 1, 2),)
    assert at(20).sets == ((0,),)
    one = at(6.0)
    assert one.selected == ((0, 1),) and one.sets is None
    (row,) = one.between
    assert row[:2] == (0, 2) and row[2] == pytest.approx(np.exp(-12) / (1 + np.exp(-6)), rel=1e-4)
    assert at(7.0).sets is None and [t for _, t, _ in at(7.0).between] == [1]
    assert observed_sets(dataset, np.array([[7.0]]), selected=1e-4, masked=1e-5).sets == ((0, 1),)


@pytest.mark.parametrize(("selected", "masked"), [(0.4, 1e-6), (1e-6, 1e-3), (1e-3, 0.0)])
def test_thresholds_must_leave_a_selected_token(selected, masked):
    with pytest.raises(InvalidInput, match="0 < masked"):
        observed_sets(random_dataset(9, T=3), np.zeros((3, 3)), selected=selected, masked=masked)


def test_predicted_finite_part_of_two_contending_labels():
    # On {1, 2} after token 0: weights σ(x), σ(-x); twice label 1, once label 2: x = log 2.
    part = FiniteSpace(NEXT.dataset, NEXT.sets).predict(log_loss(NEXT.positions))
    assert part.converged and part.gradient_norm < 1e-8
    expected = np.zeros((4, 4))
    expected[1, 0], expected[2, 0] = np.log(2) / 2, -np.log(2) / 2
    np.testing.assert_allclose(part.W, expected, atol=1e-7)
    # The fourth input has no token 2: its restricted loss is 0, as are those after token 3.
    assert part.loss == pytest.approx((2 * np.log(1.5) + np.log(3)) / 6)


def test_finite_part_may_not_exist():
    # A linear head wants token 0 alone: over {0, 1} the loss has no minimizer.
    dataset = AttentionDataset.build([[[1, 0], [0, 0], [0, 1]]], [1], [[1, 0]], [1, 0])
    space = FiniteSpace(dataset, ((0, 1),))
    part = space.predict(log_loss(((0,),)))
    assert np.linalg.norm(part.W) > 10


def test_no_ties_no_finite_part():
    dataset = random_dataset(10)
    space = FiniteSpace(dataset, ((0,), (1,), (2,)))
    assert space.basis.shape == (0, 9)
    part = space.predict(head_loss(dataset))
    assert not part.W.any() and part.converged
    assert not space.project(np.ones((3, 3))).any()


def test_descent_on_the_log_loss_approaches_the_prediction():
    # An observation, not a proof: Theorem 2 of arXiv 2403.08081 on the smallest cyclic example.
    dataset, loss = NEXT.dataset, log_loss(NEXT.positions)
    W, sets, seen = np.zeros((4, 4)), all_tokens(dataset), []
    for step in range(3001):
        if step in (30, 300, 3000):
            seen.append(observe(dataset, W, NEXT.sets, loss))
        W = W - 2.0 * restricted_loss(dataset, sets, loss, W)[1]
    assert all(o.feasible for o in seen)
    assert seen[0].direction < seen[1].direction < seen[2].direction
    assert seen[2].direction > 0.99 and seen[2].beyond > seen[2].direction
    assert seen[0].distance > seen[1].distance > seen[2].distance
    assert seen[2].distance < 1e-2


def test_no_direction_without_rejected_tokens_or_when_infeasible():
    dataset = AttentionDataset.build([[[1], [0], [-1]]], [1], [[1]], [1])
    W = np.array([[0.5]])
    everything = observe(dataset, W, [[0, 1, 2]])
    assert everything.feasible and everything.direction is None is everything.beyond
    np.testing.assert_allclose(everything.read_off, W)
    infeasible = observe(dataset, W, [[1]])
    assert not infeasible.feasible and infeasible.direction is None
    assert infeasible.predicted is None is infeasible.distance
    assert observe(dataset, W, [[0]]).direction == pytest.approx(1)


def test_no_multiple_of_the_direction_does_better_than_the_equivalent():
    dataset, sets = random_dataset(12, d=5), ((0, 1), (0, 1, 3), (2,))
    rng = np.random.default_rng(12)
    for _ in range(20):
        W = rng.standard_normal((5, 5))
        equivalent, direction = equivalent_matrices(dataset, W, sets)
        finite = FiniteSpace(dataset, sets).project(W)
        best = correlation(W, equivalent)
        assert best >= max(correlation(W, finite + rho * direction)
                           for rho in np.linspace(0, 10, 101)) - 1e-12
        assert observe(dataset, W, sets).equivalent == pytest.approx(best)
    # Against the direction, what is left is the part inside the sets.
    away = finite - 3 * direction
    np.testing.assert_allclose(equivalent_matrices(dataset, away, sets)[0], finite, atol=1e-12)


def test_heads_of_descent_and_functions_give_the_same_loss():
    dataset = random_dataset(13)
    V = np.array([[1.0, -2.0, 0.5], [0.3, 1.0, 1.0]])
    W = np.random.default_rng(13).standard_normal((3, 3))
    one = restricted_loss(dataset, all_tokens(dataset), head_loss(dataset, head=relu_head), W)
    head = ReluHead.of(V)
    other = restricted_loss(dataset, all_tokens(dataset), head_loss(dataset, head=head), W)
    assert one[0] == pytest.approx(other[0])
    np.testing.assert_allclose(other[1], gradient(dataset, W, "logistic", head).value, rtol=1e-10)
    with pytest.raises(InvalidInput, match="V"):
        head_loss(dataset, head=ReluHead.of(np.eye(2)))


def test_thresholds_leave_a_selected_token_in_long_samples():
    tokens = np.zeros((1, 3000, 1))
    tokens[0, 0] = 40
    dataset = AttentionDataset.build(tokens, [1], [[1]], [1])
    assert len(selected_sets(dataset, np.zeros((1, 1))).sets[0]) == 3000
    assert selected_sets(dataset, np.eye(1)).sets == ((0,),)
