"""log(L − L_α) and its derivatives, against 300 digits."""

import mpmath
import numpy as np
import pytest

from conditions import AttentionDataset
from conditions.selection import features, optimal_selection
from verifier.path.objective import Objective

DIGITS, H = 300, mpmath.mpf(10) ** -60
LOSS = {"logistic": lambda u: mpmath.log1p(mpmath.exp(-u)),
        "exponential": lambda u: mpmath.exp(-u), "correlation": lambda u: -u}


def ties(seed):
    """Integer tokens: many equal scores, also with that of the selected token."""
    rng = np.random.default_rng(seed)
    return AttentionDataset.build(rng.integers(-2, 3, (3, 4, 3)), rng.choice([-1, 1], 3),
                                  rng.normal(size=(3, 3)), [2, 0, -1])


def exact(dataset, selection, loss, margins):
    total = mpmath.mpf(0)
    rows = features(dataset, selection).rows
    for i, scores in enumerate(dataset.scores):
        weights = {t: mpmath.exp(-m) for (j, t), m in zip(rows, margins, strict=True) if j == i}
        weights[selection[i]] = mpmath.mpf(1)
        gamma = {t: mpmath.mpf(int(scores[t].p)) / int(scores[t].q) for t in weights}
        f = sum(weights[t] * gamma[t] for t in weights) / sum(weights.values())
        total += LOSS[loss](f) - LOSS[loss](gamma[selection[i]])
    return mpmath.log(total / dataset.n)


@pytest.mark.parametrize("loss", LOSS)
@pytest.mark.parametrize(("scale", "shift"), [(1, 0), (3, 20), (5, 300), (60, 0)])
def test_value_and_derivatives(loss, scale, shift):
    with mpmath.workdps(DIGITS):
        for seed in range(3):
            dataset = ties(seed)
            alpha = optimal_selection(dataset)
            objective = Objective(dataset, alpha, loss)
            rng = np.random.default_rng([seed, scale])
            margins = shift + scale * rng.normal(size=len(objective.gaps))
            at = [mpmath.mpf(float(m)) for m in margins]
            jet = objective.jet(margins)
            assert jet.value == objective.value(margins)
            assert jet.value == pytest.approx(float(exact(dataset, alpha, loss, at)), rel=1e-13)

            def moved(at, *steps):
                at = list(at)
                for k, h in steps:
                    at[k] += h
                return at

            def value(*steps, dataset=dataset, alpha=alpha, at=at):
                return exact(dataset, alpha, loss, moved(at, *steps))

            slopes = [float((value((k, H)) - value((k, -H))) / (2 * H)) for k in range(len(at))]
            assert np.allclose(jet.gradient, slopes, rtol=1e-10, atol=1e-13)
            for a, b in rng.integers(0, len(at), (6, 2)).tolist():
                bend = float((value((a, H), (b, H)) - value((a, H), (b, -H))
                              - value((a, -H), (b, H)) + value((a, -H), (b, -H))) / (4 * H**2))
                assert jet.hessian[a, b] == pytest.approx(bend, rel=1e-9, abs=1e-12)


def test_nothing_underflows():
    # One rejected token: log(L − L_α) = log(|ℓ'|Δ) − m up to e^{-m}.
    dataset = AttentionDataset.build([[[1, 0], [0, 0]]], [1], [[1, 0]], [1, 3])
    objective = Objective(dataset, (0,), "logistic")
    for m in (50.0, 1e3, 1e6):
        jet = objective.jet(np.array([m]))
        assert jet.value == pytest.approx(-np.log1p(np.e) - m, rel=1e-14)
        assert jet.gradient == pytest.approx([-1.0]) and abs(jet.hessian[0, 0]) < 1e-12
    assert objective.limit() == pytest.approx(np.log1p(np.exp(-1)))


def test_a_better_token_makes_it_infinite():
    # α is the worse token: L < L_α wherever softmax is not on it alone.
    dataset = AttentionDataset.build([[[1, 0], [0, 0]]], [1], [[1, 0]], [1, 3])
    assert Objective(dataset, (1,), "logistic").value(np.array([0.5])) == np.inf


def test_flat_data_are_recognised():
    dataset = AttentionDataset.build([[[1, 0], [0, 1]]], [1], [[1, 0]], [2, 2])
    assert Objective(dataset, (0,), "logistic").flat
    assert not Objective(ties(0), optimal_selection(ties(0)), "logistic").flat
