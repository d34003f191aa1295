import mpmath
import numpy as np
import pytest

from conditions import AttentionDataset
from conditions.errors import InvalidInput
from verifier.descent import LOSSES, gradient

MP_LOSS = {
    "logistic": (lambda u: mpmath.log1p(mpmath.exp(-u)), lambda u: -1 / (1 + mpmath.exp(u))),
    "exponential": (lambda u: mpmath.exp(-u), lambda u: -mpmath.exp(-u)),
    "correlation": (lambda u: -u, lambda u: mpmath.mpf(-1)),
}


def ragged(seed, n=3, d=3, integers=False):
    rng = np.random.default_rng(seed)

    def draw(*shape):
        return (rng.integers(-2, 3, shape) if integers
                else rng.integers(-64, 65, shape) / 32).tolist()

    X = [draw(int(rng.integers(2, 6)), d) for _ in range(n)]
    return AttentionDataset.build(X, rng.choice([-1, 1], n), draw(n, d), draw(d))


def softmax_scores(dataset, W):
    """Per sample (scores, softmax weights) in the current mpmath precision; W is d × d."""
    view = dataset.floats
    result = []
    for X, y, z in zip(view.tokens, view.labels, view.queries, strict=True):
        pulled = [mpmath.fsum(mpmath.mpf(W[r][k]) * z[k] for k in range(dataset.d))
                  for r in range(dataset.d)]
        logits = [mpmath.fsum(a * b for a, b in zip(x, pulled, strict=True)) for x in X]
        weights = [mpmath.exp(h - max(logits)) for h in logits]
        total = mpmath.fsum(weights)
        scores = [int(y) * mpmath.fsum(mpmath.mpf(a) * b
                                       for a, b in zip(x, view.head, strict=True)) for x in X]
        result.append((scores, [w / total for w in weights]))
    return result


def mp_loss(dataset, W, loss):
    value = MP_LOSS[loss][0]
    return mpmath.fsum(value(mpmath.fsum(g * s for g, s in zip(*pair, strict=True)))
                       for pair in softmax_scores(dataset, W)) / dataset.n


def mp_pull(dataset, W, loss):
    """−n∇L(W) = Σ_i |ℓ'| Σ_{a<b} s_a s_b (γ_a − γ_b)(x_a − x_b) zᵀ, which cancels nothing."""
    d, view = dataset.d, dataset.floats
    total = mpmath.matrix(d, d)
    for X, z, (scores, s) in zip(view.tokens, view.queries, softmax_scores(dataset, W),
                                 strict=True):
        slope = -MP_LOSS[loss][1](mpmath.fsum(g * w for g, w in zip(scores, s, strict=True)))
        for b in range(len(X)):
            for a in range(b):
                weight = slope * s[a] * s[b] * (scores[a] - scores[b])
                for r in range(d):
                    for k in range(d):
                        total[r, k] += weight * (mpmath.mpf(X[a][r]) - X[b][r]) * z[k]
    return total


def assert_agrees(got, expected, tolerance):
    """e^{log_scale} M = expected up to *tolerance* times the largest entry."""
    scale, d = mpmath.exp(got.log_scale), got.M.shape[0]
    largest = max(abs(x) for x in expected)
    for r in range(d):
        for k in range(d):
            assert abs(scale * got.M[r, k] - expected[r, k]) <= tolerance * largest


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("seed", range(3))
def test_agrees_with_finite_differences_of_the_loss(loss, seed):
    dataset = ragged(seed)
    W = np.random.default_rng(seed).normal(size=(3, 3))
    value = gradient(dataset, W, loss).value
    with mpmath.workdps(60):
        h = mpmath.mpf(10) ** -20
        for r in range(3):
            for k in range(3):
                plus = [[mpmath.mpf(x) for x in row] for row in W]
                minus = [list(row) for row in plus]
                plus[r][k] += h
                minus[r][k] -= h
                slope = (mp_loss(dataset, plus, loss) - mp_loss(dataset, minus, loss)) / (2 * h)
                assert abs(value[r, k] - slope) < 1e-13 * max(1, np.abs(value).max())


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("norm", [1, 1000, 10**6])
@pytest.mark.parametrize("integers", [False, True])
def test_direction_and_scale_are_right_at_any_norm(loss, norm, integers):
    # Logits of size ‖W‖ carry rounding errors of size 1e-16‖W‖, and so do the weights.
    for seed in range(4):
        dataset = ragged(seed + 10, integers=integers)
        W = np.random.default_rng(seed).integers(-4, 5, (3, 3)) * (norm / 4)
        with mpmath.workdps(60):
            assert_agrees(gradient(dataset, W, loss), mp_pull(dataset, W, loss),
                          1e-12 + 1e-13 * norm)


def test_a_gradient_far_below_the_smallest_float_keeps_its_direction():
    dataset, W = ragged(11), np.diag([1e6, -2e6, 5e5])
    got = gradient(dataset, W)
    with mpmath.workdps(60):
        expected = mp_pull(dataset, W, "logistic")
        size = mpmath.sqrt(mpmath.fsum(x * x for x in expected))
        assert size < mpmath.mpf("1e-1000")
        assert float(mpmath.log(size / dataset.n)) == pytest.approx(got.log_norm, rel=1e-13)
        direction = np.array((expected / size).tolist(), dtype=float)
    assert np.allclose(got.M / np.linalg.norm(got.M), direction, atol=1e-8)
    assert not got.value.any()


def test_equal_scores_at_the_top_keep_their_weight():
    # Tokens 0 and 1 share a score and half the attention each; γ_α − f is about e^{-1000}.
    dataset = AttentionDataset.build([[[1, 1], [1, 0], [0, 0]]], [1], [[1, 0]], [1, 0])
    W = np.array([[1000.0, 0.0], [0.0, 0.0]])
    got = gradient(dataset, W)
    assert np.allclose(got.M / got.M[0, 0], [[1, 0], [0.5, 0]], rtol=1e-14)
    with mpmath.workdps(60):
        assert_agrees(got, mp_pull(dataset, W, "logistic"), 1e-12)


def test_a_zero_query_does_not_hide_the_other_samples():
    X = [[[1, 0], [0, 1]], [[1, 0], [0, 0]]]
    dataset = AttentionDataset.build(X, [1, 1], [[0, 0], [1, 0]], [1, 2])
    W = np.array([[5000.0, 0.0], [0.0, 0.0]])
    got = gradient(dataset, W)
    assert got.log_scale < -4000
    assert np.allclose(got.M, [[1.0, 0.0], [0.0, 0.0]])


def test_all_samples_flat_gives_no_direction():
    dataset = AttentionDataset.build([[[1, 0], [0, 1]]], [1], [[1, 2]], [3, 3])
    got = gradient(dataset, np.eye(2))
    assert not got.M.any() and got.log_scale == -np.inf and got.log_norm == -np.inf
    assert not got.value.any()


def test_logits_are_those_of_the_tokens():
    dataset = ragged(3)
    W = np.random.default_rng(3).normal(size=(3, 3))
    got = gradient(dataset, W)
    for h, X, z in zip(got.logits, dataset.floats.tokens, dataset.floats.queries, strict=True):
        assert np.allclose(h, X @ W @ z)
    assert got.n == dataset.n


def test_an_unknown_loss_is_refused():
    with pytest.raises(InvalidInput, match="loss"):
        gradient(ragged(0), np.eye(3), "hinge")
