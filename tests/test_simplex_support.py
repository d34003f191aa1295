"""The best mixture under v·x − λ‖x‖², against brute force over supports; Lemma 6."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from acceptance import accepted
from flint import fmpq, fmpq_mat
from scipy.optimize import minimize

from conditions import AttentionDataset, simplex_support
from conditions.errors import InvalidInput
from conditions.simplex_support import lemma_6_interval, orthonormal_count


def single(tokens, head, label=1):
    return AttentionDataset.build([tokens], [label], [[1] * len(head)], head)


def rational(rng, low=-12, high=12, parts=6):
    return Fraction(int(rng.integers(low, high + 1)), int(rng.integers(1, parts + 1)))


def orthonormal_rows(rng, T, d):
    """T orthonormal rational rows of length d: of the Cayley transform of a skew matrix."""
    skew = [[fmpq(0)] * d for _ in range(d)]
    for i, j in combinations(range(d), 2):
        a = int(rng.integers(-2, 3))
        skew[i][j], skew[j][i] = fmpq(a), fmpq(-a)
    one = fmpq_mat([[int(i == j) for j in range(d)] for i in range(d)])
    S = fmpq_mat(skew)
    return ((one - S) * (one + S).inv()).tolist()[:T]


def best_by_supports(scores, lam):
    """The largest γ·s − λ‖s‖² over the simplex, support by support, and all s that attain it.

    On a support the maximizer with Σ s = 1 is s_t = (γ_t − θ)/(2λ).
    """
    best, found = None, []
    T = len(scores)
    for size in range(1, T + 1):
        for support in combinations(range(T), size):
            theta = (sum(scores[t] for t in support) - 2 * lam) / size
            s = [(scores[t] - theta) / (2 * lam) if t in support else Fraction(0)
                 for t in range(T)]
            if min(s[t] for t in support) <= 0:
                continue
            value = sum(g * x - lam * x * x for g, x in zip(scores, s, strict=True))
            if best is None or value > best:
                best, found = value, [s]
            elif value == best:
                found.append(s)
    return found


def test_lemma_6_on_a_thousand_random_instances():
    rng = np.random.default_rng(6)
    proved, counts = 0, set()
    while proved < 1000:
        T = int(rng.integers(3, 6))
        scores = sorted((rational(rng) for _ in range(T)), reverse=True)
        tau = int(rng.integers(2, T))
        low = scores[0] - scores[1]
        high = tau * (scores[tau - 1] - scores[tau]) / 2
        assert lemma_6_interval(scores_of(scores), tau) == (
            (exact(low), exact(high)) if low < high else None)
        if low >= high:
            continue
        lam = low + (high - low) * Fraction(int(rng.integers(1, 16)), 16)
        (s,) = best_by_supports(scores, lam)
        support = [t for t in range(T) if s[t]]
        assert 2 <= len(support) <= tau
        assert orthonormal_count(scores_of(scores), exact(lam)) == len(support)
        dataset = single(np.eye(T, dtype=int).tolist(), scores)
        verdict = simplex_support.decide(dataset, lam)
        assert verdict.holds
        assert [Fraction(int(x.p), int(x.q)) for x in verdict.certificate.weights[0]] == s
        if proved % 20 == 0:
            assert f"tokens taken: {len(support)}" in accepted(dataset, verdict)[0]
        proved += 1
        counts.add((tau, len(support)))
    assert {(2, 2), (3, 2), (3, 3), (4, 2), (4, 3), (4, 4)} <= counts


def exact(x):
    return fmpq(x.numerator, x.denominator)


def scores_of(values):
    return [exact(value) for value in values]


@pytest.mark.parametrize("seed", range(12))
def test_orthonormal_tokens_with_rational_coordinates(seed):
    rng = np.random.default_rng(seed)
    T, d = 4, 5
    tokens = orthonormal_rows(rng, T, d)
    dataset = single(tokens, [rational(rng) for _ in range(d)])
    lam = fmpq(int(rng.integers(1, 9)), 2)
    verdict = simplex_support.decide(dataset, lam)
    scores = dataset.scores[0]
    assert verdict.holds
    taken = sum(s != 0 for s in verdict.certificate.weights[0])
    assert taken == orthonormal_count(scores, lam)
    # At most τ tokens iff Σ_{t ≤ τ} (γ_t − γ_{τ+1}) ≥ 2λ.
    falling = sorted(scores, reverse=True)
    for tau in range(1, T):
        below = sum((g - falling[tau] for g in falling[:tau]), fmpq(0)) >= 2 * lam
        assert (taken <= tau) == below
    accepted(dataset, verdict)


@pytest.mark.parametrize("seed", range(40))
def test_any_tokens_against_a_float_optimizer(seed):
    rng = np.random.default_rng(100 + seed)
    T, d = int(rng.integers(2, 6)), int(rng.integers(1, 4))
    X = rng.integers(-3, 4, (T, d))
    v = rng.integers(-5, 6, d)
    lam = fmpq(int(rng.integers(1, 5)), 2)
    dataset = single(X.tolist(), v.tolist())
    verdict = simplex_support.decide(dataset, lam)
    accepted(dataset, verdict)
    given = verdict.certificate.weights

    def minus_h(s):
        o = X.T @ s
        return float(lam.p) / float(lam.q) * o @ o - v @ o

    found = minimize(minus_h, np.full(T, 1 / T), bounds=[(0, 1)] * T, tol=1e-14,
                     constraints={"type": "eq", "fun": lambda s: s.sum() - 1})
    for weights in given:
        s = np.array([float(x.p) / float(x.q) for x in weights])
        assert minus_h(s) <= found.fun + 1e-7
    if verdict.holds:
        # From the unique maximizer to the optimizer's point the value falls with the distance.
        assert np.allclose(X.T @ s, X.T @ found.x, atol=1e-3)
    else:
        assert given[0] != given[1]


def test_both_statuses_are_met_with_labels_of_both_signs():
    met = set()
    for seed in range(120):
        rng = np.random.default_rng(seed)
        X = rng.integers(-1, 2, (4, 2)).tolist()
        dataset = single(X, rng.integers(-2, 3, 2).tolist(), int(rng.choice([-1, 1])))
        verdict = simplex_support.decide(dataset, fmpq(1, 2))
        accepted(dataset, verdict)
        met.add((verdict.status, dataset.labels[0]))
        if verdict.holds and dataset.labels[0] == -1:
            assert sorted(verdict.certificate.weights[0]) == [0, 0, 0, 1]
    assert len(met) == 4


def test_a_negative_label_asks_for_one_token():
    # ‖x‖² − v·x is 0, 3 and 8 at the tokens, and smaller at every mixture of the last two.
    dataset = single([[0], [3], [4]], [2], -1)
    verdict = simplex_support.decide(dataset, 1)
    assert verdict.certificate.weights == ((0, 0, 1),) and verdict.certificate.normals == ((),)


@pytest.mark.parametrize(("tokens", "head", "support"), [
    # The target v/2 is a token, is inside the hull, is outside but between tokens.
    ([[0, 0], [1, 0], [0, 1]], [2, 0], (1,)),
    ([[0, 0], [3, 0], [0, 3]], [2, 2], (0, 1, 2)),
    ([[0, 0], [1, 0], [0, 1]], [4, 4], (1, 2)),
])
def test_supports_by_hand(tokens, head, support):
    dataset = single(tokens, head)
    best = simplex_support.best_mixture(dataset, 0, fmpq(1))
    assert best.support == support
    accepted(dataset, simplex_support.decide(dataset, 1))


def test_level_tokens_need_a_tilted_normal():
    # The target (0, 0, 5) sees a triangle at one height; o = 0 is on an edge of it.
    dataset = single([[-1, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, -1]], [0, 0, 10])
    best = simplex_support.best_mixture(dataset, 0, fmpq(1))
    assert best.support == (0, 1)
    heights = [sum((w * x for w, x in zip(best.normal, token, strict=True)), fmpq(0))
               for token in dataset.tokens[0]]
    assert heights[0] == heights[1] > max(heights[2:])
    accepted(dataset, simplex_support.decide(dataset, 1))


def test_copies_of_a_taken_token_tie():
    dataset = AttentionDataset.build([[[1], [0]], [[1], [1], [0]]], [1, 1], [[1], [1]], [4])
    verdict = simplex_support.decide(dataset, 1)
    assert verdict.fails and verdict.certificate.sample == 1
    accepted(dataset, verdict)


@pytest.mark.parametrize("change", ["samples", "tokens", "scale", "queries"])
def test_invariance(change):
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X, v = rng.integers(-3, 4, (2, 3, 2)), rng.integers(-4, 5, 2)
        lam, Y, z = fmpq(3, 2), [1, -1], [[1, 0]] * 2
        before = simplex_support.decide(AttentionDataset.build(X, Y, z, v), lam)
        if change == "samples":
            X, Y = X[::-1], Y[::-1]
        elif change == "tokens":
            X = X[:, ::-1]
        elif change == "scale":
            # o ↦ 2o: v/2 and λ/4 give the same values.
            X, v, lam = 2 * X, [fmpq(int(a), 2) for a in v], lam / 4
        else:
            z = [[-1, 5]] * 2
        after = simplex_support.decide(AttentionDataset.build(X, Y, z, v), lam)
        assert after.status is before.status
        if before.holds:
            counts = [sorted(x != 0 for x in s) for s in before.certificate.weights]
            moved = [sorted(x != 0 for x in s) for s in after.certificate.weights]
            assert moved == (counts[::-1] if change == "samples" else counts)


@pytest.mark.parametrize("lam", [0, -1, "x", float("nan")])
def test_bad_lambda_is_refused(lam):
    with pytest.raises(InvalidInput, match="lambda"):
        simplex_support.decide(single([[1], [0]], [1]), lam)


@pytest.mark.parametrize("tau", [1, 3, 0])
def test_bad_tau_is_refused(tau):
    with pytest.raises(InvalidInput, match="tau"):
        lemma_6_interval([fmpq(2), fmpq(1), fmpq(0)], tau)
