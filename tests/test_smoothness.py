"""β bounds every Hessian met, L_W is enclosed, and β ≤ L_W/4."""

from __future__ import annotations

import numpy as np
import oracle
import pytest
from flint import fmpq
from scipy.optimize import minimize

from conditions import AttentionDataset, InvalidInput
from conditions.losses import LOSSES
from conditions.smoothness import lemma4_constant, score_curvature, smoothness, spectral_norm
from verifier.descent import descend, gradient

SHAPES = [(1, 2, 1), (1, 3, 2), (2, 3, 2), (3, 2, 2)]


def gaussian(n, T, d, seed, scale=1.0):
    rng = np.random.default_rng(seed)
    return AttentionDataset.build(scale * rng.standard_normal((n, T, d)),
                                  rng.choice([-1, 1], size=n), rng.standard_normal((n, d)),
                                  rng.standard_normal(d))


def fraction(x: fmpq) -> float:
    return int(x.p) / int(x.q)


def hessian_norm(data, W, loss, h=1e-5):
    d = data.d
    rows = []
    for k in range(d * d):
        E = np.zeros(d * d)
        E[k] = h
        E = E.reshape(d, d)
        rows.append((gradient(data, W + E, loss).value - gradient(data, W - E, loss).value).ravel()
                    / (2 * h))
    H = np.array(rows)
    return np.abs(np.linalg.eigvalsh((H + H.T) / 2)).max()


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_no_hessian_exceeds_beta(shape, loss):
    for seed in range(2):
        data = gaussian(*shape, seed)
        beta = fraction(smoothness(data, loss))
        d = data.d
        largest = 0.0
        for start in range(2):
            x0 = np.random.default_rng(start).standard_normal(d * d)
            found = minimize(lambda x, D=data, d=d: -hessian_norm(D, x.reshape(d, d), loss), x0,
                             method="Nelder-Mead", options={"maxiter": 40})
            largest = max(largest, -found.fun)
        assert 0 < largest < beta


def test_beta_is_within_a_small_factor_for_two_tokens():
    # L = −σ(w): |σ''| is at most 1/(6√3), β is 1/4.
    data = AttentionDataset.build([[[1], [0]]], [1], [[1]], [1])
    curvature = max(hessian_norm(data, np.array([[w]]), "correlation")
                    for w in np.linspace(-3, 3, 61))
    assert curvature == pytest.approx(1 / (6 * np.sqrt(3)), rel=1e-3)
    assert smoothness(data, "correlation") == fmpq(1, 4)


def test_by_hand():
    data = AttentionDataset.build([[[1], [0]]], [1], [[2]], [1])
    # ‖z‖² d²/4 = 1, R = 1.
    assert smoothness(data, "correlation") == 1
    logistic, exponential = smoothness(data, "logistic"), smoothness(data, "exponential")
    # M = 1/(1+e^0), N = 1/4; M = N = e^0. Rounded up by no more than 2^-59.
    for value, exact in ((logistic, fmpq(1, 2) + fmpq(1, 16)), (exponential, fmpq(5, 4))):
        assert exact <= value <= exact * (1 + fmpq(1, 2**59))


def test_logistic_curvature_away_from_zero():
    # Scores 2 and 1: N = σ(1)σ(−1); and with the other label.
    for label in (1, -1):
        data = AttentionDataset.build([[[2], [1]]], [label], [[2]], [1])
        low = 1 if label == 1 else -2
        s = 1 / (1 + np.e)
        expected = 1 / (1 + np.exp(low)) + s * (1 - s) / 4
        assert fraction(smoothness(data, "logistic")) == pytest.approx(expected, rel=1e-14)


def test_flat_samples_do_not_count_but_divide():
    one = AttentionDataset.build([[[1], [0]]], [1], [[2]], [1])
    two = AttentionDataset.build([[[1], [0]], [[5], [5]]], [1, 1], [[2], [9]], [1])
    assert smoothness(two, "correlation") == smoothness(one, "correlation") / 2


@pytest.mark.parametrize("loss", LOSSES)
def test_symmetries(loss):
    rng = np.random.default_rng(5)
    X, Y = rng.standard_normal((3, 4, 2)), np.array([1, -1, 1])
    z, v = rng.standard_normal((3, 2)), rng.standard_normal(2)
    beta = smoothness(AttentionDataset.build(X, Y, z, v), loss)
    order = [2, 0, 1]
    moved = AttentionDataset.build(X[order][:, [3, 1, 0, 2]], Y[order], z[order], v)
    assert smoothness(moved, loss) == beta
    assert smoothness(AttentionDataset.build(X, -Y, z, -v), loss) == beta
    doubled = AttentionDataset.build([*X, *X], [*Y, *Y], [*z, *z], v)
    assert smoothness(doubled, loss) == beta
    assert smoothness(AttentionDataset.build(X, Y, 4 * z, v), loss) == 16 * beta
    if loss == "correlation":
        assert smoothness(AttentionDataset.build(2 * X, Y, z, v), loss) == 8 * beta


@pytest.mark.parametrize("loss", LOSSES)
def test_beta_is_at_most_a_quarter_of_lemma_4(loss):
    # The bounds are exact rationals: this is a comparison without tolerance.
    data = [gaussian(3, 4, 3, seed, scale) for seed in range(5) for scale in (0.1, 1, 5)]
    data += [AttentionDataset.build(*d) for d in
             oracle.integer_datasets(2, 3, 2, (-2, -1, 0, 1, 2), 20, seed=3)]
    # Two opposite tokens along the head: the worst case of d² R ≤ 2√2‖X‖³‖v‖.
    data.append(AttentionDataset.build([[[1, 0], [-1, 0]]], [1], [[1, 0]], [1, 0]))
    for dataset in data:
        lower, upper = lemma4_constant(dataset, loss)
        assert lower <= upper <= lower * (1 + fmpq(1, 10**9))
        assert smoothness(dataset, loss) <= lower / 4


@pytest.mark.parametrize("loss", LOSSES)
def test_lemma_4_against_its_formula_in_floats(loss):
    data = gaussian(3, 4, 3, 1)
    view = data.floats
    scores = np.array([[fraction(s) for s in row] for row in data.scores])
    low, high = scores.min(), scores.max()
    assert low < 0 < high
    M1, M0 = {"logistic": (1 / (1 + np.exp(low)), 0.25), "exponential": (np.exp(-low),) * 2,
              "correlation": (1.0, 0.0)}[loss]
    v = np.linalg.norm(view.head)
    total = 0.0
    for X, z in zip(view.tokens, view.queries, strict=True):
        x = np.linalg.norm(X, 2)
        total += v * (z @ z) * x**3 * (M0 * v * x + 3 * M1) / data.n
    lower, upper = lemma4_constant(data, loss)
    assert fraction(lower) == pytest.approx(total, rel=1e-9)
    assert fraction(upper) == pytest.approx(total, rel=1e-9)


def test_spectral_norm_encloses_known_values():
    rows = [[fmpq(3), fmpq(4)]]
    assert spectral_norm(rows).contains(5)
    assert spectral_norm([[fmpq(1), fmpq(0)], [fmpq(0), fmpq(1)]]).contains(1)
    assert spectral_norm([[fmpq(0)] * 3] * 2) == 0
    assert spectral_norm([[fmpq(1, 3)] * 3] * 3).contains(1)


@pytest.mark.parametrize("shape", [(5, 3), (3, 5), (1, 7), (40, 60)])
def test_spectral_norm_against_floats(shape):
    A = np.random.default_rng(shape[0]).standard_normal(shape) * 1e-3
    ball = spectral_norm([[fmpq(*a.as_integer_ratio()) for a in row.tolist()] for row in A])
    assert float(ball.mid()) == pytest.approx(np.linalg.norm(A, 2), rel=1e-9)
    assert ball.rad() <= ball.mid() * 1e-9


@pytest.mark.parametrize("loss", LOSSES)
def test_steps_below_two_over_beta_never_raise_the_loss(loss):
    value = {"logistic": lambda f: np.logaddexp(0, -f), "exponential": lambda f: np.exp(-f),
             "correlation": lambda f: -f}[loss]
    for seed in range(3):
        data = gaussian(3, 4, 2, seed)
        step = 1.99 / fraction(smoothness(data, loss))
        start = np.random.default_rng(seed).standard_normal((2, 2))
        run = descend(data, rule="plain", step=step, loss=loss, start=start, iterations=200,
                      keep=range(201))
        losses = [mean_loss(data, W, value) for _, W in run.kept]
        assert np.diff(losses).max() < 1e-12


def mean_loss(data, W, value):
    f = []
    for X, scores, z in zip(data.floats.tokens, data.scores, data.floats.queries, strict=True):
        h = X @ W @ z
        s = np.exp(h - h.max())
        f.append(s @ np.array([fraction(g) for g in scores]) / s.sum())
    return value(np.array(f)).mean()


def test_refusals():
    far = AttentionDataset.build([[[1], [0]]], [1], [[1]], [200_000])
    for function in (smoothness, lemma4_constant):
        with pytest.raises(InvalidInput, match="scores"):
            function(far, "exponential")
        with pytest.raises(InvalidInput, match="loss"):
            function(far, "hinge")
    assert smoothness(far, "correlation") == 50_000


def test_the_cubic_loss():
    # ‖z‖² d²/4 = 1, R = 2, M = 3, N = 6: 2·3 + 4·6/4.
    centred = AttentionDataset.build([[[1], [-1]]], [1], [[1]], [1])
    assert smoothness(centred, "cubic") == 12
    assert score_curvature(centred, 0) == 2
    # L = −f³ with f = tanh(w): |L''| = |6 f f'² + 3 f² f''|.
    w = np.linspace(-4, 4, 4001)
    f, slope = np.tanh(w), 1 / np.cosh(w)**2
    assert np.abs(6 * f * slope**2 - 6 * f**3 * slope).max() < 12
    lower, upper = lemma4_constant(centred, "cubic")
    assert lower <= upper and upper >= 4 * 12


def test_the_score_turns_no_faster_than_its_curvature():
    for seed in range(6):
        data = gaussian(1, 3, 2, seed)
        largest = max(hessian_norm(data, W, "correlation")
                      for W in np.random.default_rng(seed).standard_normal((60, 2, 2)))
        assert 0 < largest < fraction(score_curvature(data, 0))
