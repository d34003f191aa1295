"""The gradient at W = 0: exact terms by hand, signs of margins by brute force."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import oracle
import pytest
from acceptance import accepted
from flint import fmpq

from conditions import AttentionDataset, first_step_separates
from conditions.gradient_at_zero import exact_pull, gradient_terms, margin_signs
from conditions.losses import LOSSES
from conditions.selection import features, optimal_selection
from verifier.descent.gradient import gradient


def entries(terms):
    return {f: matrix.tolist() for f, matrix in terms.items()}


def test_one_sample():
    # Scores (3, 0, 0), f = 1: M = (2 (1, 0) - (0, 3) - (0, -1)) e1ᵀ / 3 = (2, -2) e1ᵀ / 3.
    dataset = AttentionDataset.build([[[1, 0], [0, 3], [0, -1]]], [1], [[1, 0]], [3, 0])
    assert entries(gradient_terms(dataset)) == {
        fmpq(1): [[fmpq(2, 3), 0], [fmpq(-2, 3), 0]]}
    # Row 1 is (1, -3), row 2 is (1, 1): margins 8/3 and 0.
    for loss in LOSSES:
        signs = [shown[0] for shown in margin_signs(features(dataset, (0,)), loss)]
        assert signs == [1, 0]


def test_equal_mean_scores_share_a_term():
    # Two tokens give M = (γ_0 - γ_1)/4 (x_0 - x_1) zᵀ: (1/4) 1·3 and (1/4) 1·5 at f = 1/2.
    dataset = AttentionDataset.build([[[1], [0]], [[0], [1]]], [1, 1], [[3], [5]], [1])
    assert entries(gradient_terms(dataset)) == {fmpq(1, 2): [[2]]}


def test_the_label_enters_score_and_mean():
    # Label -1: scores (-1, 0), f = -1/2, M = (-1/4) (1 - 0) z = -1/4.
    dataset = AttentionDataset.build([[[1], [0]]], [-1], [[1]], [1])
    assert entries(gradient_terms(dataset)) == {fmpq(-1, 2): [[fmpq(-1, 4)]]}


def test_a_flat_sample_does_not_pull():
    dataset = AttentionDataset.build([[[1, 0], [1, 1]]], [1], [[1, 1]], [7, 0])
    assert entries(gradient_terms(dataset)) == {fmpq(7): [[0, 0], [0, 0]]}


def test_opposite_pulls_cancel_as_an_identity():
    # z = 1 and -1, equal tokens: both margins are 0, of both rows and for every loss.
    dataset = AttentionDataset.build([[[1], [0]], [[1], [0]]], [1, 1], [[1], [-1]], [1])
    for loss in LOSSES:
        assert [shown[0] for shown in margin_signs(features(dataset, (0, 0)), loss)] == [0, 0]
        verdict = first_step_separates.decide(dataset, loss)
        assert verdict.fails and verdict.certificate.sign == 0
        accepted(dataset, verdict)


@pytest.mark.parametrize("loss", LOSSES)
def test_agrees_with_the_gradient_in_floats(loss):
    rng = np.random.default_rng(13)
    for _ in range(10):
        dataset = AttentionDataset.build(rng.integers(-3, 4, (3, 4, 2)), [1, -1, 1],
                                         rng.integers(-3, 4, (3, 2)), rng.integers(-3, 4, 2))
        total = np.zeros((2, 2))
        for f, matrix in gradient_terms(dataset).items():
            u = float(Fraction(int(f.p), int(f.q)))
            slope = {"logistic": 1 / (1 + np.exp(u)), "exponential": np.exp(-u),
                     "correlation": 1.0}[loss]
            total += slope * np.array([[int(a.p) / int(a.q) for a in row]
                                       for row in matrix.tolist()])
        # `gradient` gives M with n∇L = -e^log_scale M.
        shown = gradient(dataset, np.zeros((2, 2)), loss)
        assert np.allclose(np.exp(shown.log_scale) * shown.M, total, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("loss", LOSSES)
def test_signs_agree_with_brute_force(loss):
    seen = set()
    for data in oracle.integer_datasets(2, 3, 2, count=42, seed=13):
        dataset = AttentionDataset.build(*data)
        alpha = optimal_selection(dataset)
        expected = list(oracle.first_step_sign(data, alpha, loss).values())
        shown = [sign for sign, _ in margin_signs(features(dataset, alpha), loss)]
        assert shown == expected
        seen |= set(shown)
    assert seen == {-1, 0, 1}


def test_the_cubic_gradient_is_exact():
    """−n∇L(0) = Σ 3f² M_f against brute force; its margins decide Assumption C."""
    for data in oracle.integer_datasets(2, 3, 2, count=40, seed=9):
        dataset = AttentionDataset.build(*data)
        G = np.zeros((2, 2))
        for tokens, label, query in zip(*data[:3], strict=True):
            X, z = np.array(tokens, float), np.array(query, float)
            gamma = label * X @ np.array(data[3], float)
            G += 3 * gamma.mean()**2 * np.outer(X.T @ (gamma - gamma.mean()) / len(gamma), z)
        exact = exact_pull(dataset, "cubic")
        assert np.allclose([[float(x) for x in row] for row in exact.tolist()], G)
        verdict = first_step_separates.decide(dataset, "cubic")
        accepted(dataset, verdict)
        phi = features(dataset, optimal_selection(dataset))
        signs = [shown for shown, _ in margin_signs(phi, "cubic")]
        assert signs == [(m > 0) - (m < 0) for m in phi.margins(exact)]
        unique = all(sorted(s)[-1] > sorted(s)[-2] for s in dataset.scores)
        assert verdict.holds == (unique and min(signs) > 0)
    assert exact_pull(dataset, "logistic") is None
