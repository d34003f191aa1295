"""Assumption E for linear heads: the largest constant, by a search over mixtures."""

import numpy as np
import pytest
from acceptance import accepted
from flint import fmpq

from conditions import AttentionDataset, assumption_e
from conditions.errors import InvalidInput


def random_dataset(seed):
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(1, 4)), int(rng.integers(1, 4))
    X = [rng.integers(-3, 4, (int(rng.integers(2, 5)), d)) for _ in range(n)]
    data = AttentionDataset.build(X, rng.choice([-1, 1], n), rng.integers(-2, 3, (n, d)),
                                  rng.integers(-3, 4, d))
    return data, tuple(int(rng.integers(T)) for T in data.lengths)


def mixtures(dataset, selection, seed):
    """Random weights on the selected token and lower ones: (1 − s_α, score of α − output)."""
    rng = np.random.default_rng(seed)
    for i, (X, a) in enumerate(zip(dataset.tokens, selection, strict=True)):
        lower = [t for t, score in enumerate(dataset.scores[i]) if score < dataset.scores[i][a]]
        for _ in range(20):
            shares = [fmpq(int(k), 64) for k in rng.multinomial(64, [1 / (len(lower) + 1)]
                                                                * (len(lower) + 1))]
            o = [sum((s * X[t][k] for s, t in zip(shares, [a, *lower], strict=True)), fmpq(0))
                 for k in range(dataset.d)]
            output = dataset.labels[i] * sum((v * x for v, x in zip(dataset.head, o, strict=True)),
                                             fmpq(0))
            yield 1 - shares[0], dataset.scores[i][a] - output


@pytest.mark.parametrize("seed", range(30))
def test_the_constant_bounds_every_mixture_and_is_attained(seed):
    dataset, selection = random_dataset(seed)
    verdict = assumption_e.decide(dataset, selection)
    assert verdict.holds and verdict.selection == selection
    accepted(dataset, verdict)
    c = verdict.certificate.constant
    seen = list(mixtures(dataset, selection, seed))
    assert all(fall >= c * share for share, fall in seen)
    for i, t in verdict.certificate.rows:
        scores = dataset.scores[i]
        assert scores[selection[i]] - scores[t] == c > 0
    if not verdict.certificate.rows:
        assert c == 1 and all(share == 0 for share, _ in seen)


def test_the_first_of_equal_gaps_is_named():
    dataset = AttentionDataset.build([[[2], [1], [1], [5]]], [1], [[1]], [1])
    verdict = assumption_e.decide(dataset, (0,))
    assert (verdict.certificate.constant, verdict.certificate.rows) == (1, ((0, 1),))
    assert "token 1 of sample 0" in verdict.reason
    assert assumption_e.decide(dataset, (3,)).certificate.constant == 3


def test_without_a_lower_token_every_constant_will_do():
    dataset = AttentionDataset.build([[[1], [1]], [[0], [2]]], [1, 1], [[1], [1]], [1])
    verdict = assumption_e.decide(dataset, (0, 0))
    assert verdict.holds and verdict.number == "any c"
    accepted(dataset, verdict)


def test_a_selection_that_does_not_fit_is_refused():
    with pytest.raises(InvalidInput, match=r"selection\[0\]"):
        assumption_e.decide(AttentionDataset.build([[[1], [0]]], [1], [[1]], [1]), (2,))
