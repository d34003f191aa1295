"""The trap: thresholds by hand, what it implies, and simulated runs inside and outside it."""

from __future__ import annotations

import numpy as np
import pytest
from flint import fmpq, fmpq_mat

from conditions import AttentionDataset, Evidence, low_norm_limit, selection_trap
from conditions.certificates import Certificate, SelectionTrap
from conditions.excess_loss import exact_matrix
from conditions.losses import LOSSES
from conditions.selection import features, optimal_selection
from conditions.smoothness import smoothness
from verifier.descent import descend


def one(scores, query=1, head=1):
    return AttentionDataset.build([[[s] for s in scores]], [1], [[query]], [head])


def gaussian(n, T, d, seed):
    rng = np.random.default_rng(seed)
    return AttentionDataset.build(rng.standard_normal((n, T, d)), rng.choice([-1, 1], size=n),
                                  rng.standard_normal((n, d)), rng.standard_normal(d))


@pytest.mark.parametrize("loss", LOSSES)
def test_the_threshold_of_two_tokens_is_weight_one_half(loss):
    data = one([1, 0])
    step = 1 / smoothness(data, loss)
    assert selection_trap.decide(data, [[fmpq(1, 10**9)]], "plain", step, loss).holds
    for W in (0, fmpq(-1, 10**9)):
        verdict = selection_trap.decide(data, [[W]], "plain", step, loss)
        assert verdict.undecided
        assert low_norm_limit.decide(data, [[W]], "plain", step, loss).holds
    # At W = 0 the weight is exactly 1/2; for scores in thirds no ball can tell.
    thirds = one([1, 0], head="1/3")
    verdict = selection_trap.decide(thirds, [[0]], "flow", 0, loss)
    assert verdict.undecided
    assert verdict.number.split()[1] in ("=", "≥")


def test_the_certificate_says_what_was_asked():
    data = one([2, 1, 0])
    verdict = selection_trap.decide(data, [[4]], "plain", "1/2", "logistic")
    assert verdict.evidence is Evidence.ENCLOSED and verdict.loss == "logistic"
    certificate = verdict.certificate
    assert isinstance(certificate, SelectionTrap)
    assert ((fmpq(4),),) == certificate.W and certificate.step == fmpq(1, 2)
    assert certificate.beta >= smoothness(data, "logistic")
    assert Certificate.from_json(certificate.to_json()) == certificate


def test_each_hypothesis_is_needed():
    data, loss = one([2, 1, 0]), "correlation"
    beta = smoothness(data, loss)

    def reason(data=data, W=4, rule="plain", step=1 / beta):
        verdict = selection_trap.decide(data, [[W]], rule, step, loss)
        assert verdict.undecided and verdict.certificate is None
        return verdict.reason

    assert selection_trap.decide(data, [[4]], "plain", 1 / beta, loss).holds
    assert "2/β" in reason(step=2 / beta)
    assert "normalized" in reason(rule="normalized")
    assert "not below" in reason(W="1/2")
    assert "not unique" in reason(data=one([2, 2, 0]))
    # A zero query never leaves weight 1/2 each.
    assert "not below" in reason(data=one([1, 0], query=0))


@pytest.mark.parametrize("loss", LOSSES)
def test_a_trap_separates_and_is_a_low_norm_limit(loss):
    rng = np.random.default_rng(3)
    trapped = 0
    for seed in range(60):
        data = gaussian(2, 3, 3, seed)
        W = exact_matrix(8 * rng.standard_normal((3, 3)), 3)
        verdict = selection_trap.decide(data, W, "flow", 0, loss)
        if verdict.holds:
            trapped += 1
            assert min(features(data, optimal_selection(data)).margins(W)) > 0
            assert low_norm_limit.decide(data, W, "flow", 0, loss).holds
    assert trapped >= 3


def weights(data, W):
    out = []
    for X, z in zip(data.floats.tokens, data.floats.queries, strict=True):
        h = X @ W @ z
        s = np.exp(h - h.max())
        out.append(s / s.sum())
    return out


@pytest.mark.parametrize("loss", LOSSES)
def test_runs_stay_in_the_trap(loss):
    rng = np.random.default_rng(3)
    trapped = 0
    for seed in range(60):
        data = gaussian(2, 3, 3, seed)
        start = 8 * rng.standard_normal((3, 3))
        beta = smoothness(data, loss)
        step = 1.99 / (int(beta.p) / int(beta.q))
        if not selection_trap.decide(data, start, "plain", step, loss).holds:
            continue
        trapped += 1
        opt = optimal_selection(data)
        run = descend(data, rule="plain", step=step, loss=loss, start=start, iterations=500,
                      keep=range(0, 501, 10))
        for _, W in run.kept:
            assert min(s[a] for s, a in zip(weights(data, W), opt, strict=True)) > 0.5
            exact = fmpq_mat([[fmpq(*x.as_integer_ratio()) for x in row] for row in W.tolist()])
            assert min(features(data, opt).margins(exact)) > 0
        # Growth may be below the rounding of a norm, never a fall beyond it.
        assert np.diff(run.norms).min() >= -1e-13
    assert trapped >= 3


@pytest.mark.parametrize("loss", LOSSES)
def test_orders_of_tokens_and_samples_do_not_matter(loss):
    rng = np.random.default_rng(11)
    seen = set()
    for _ in range(40):
        X, Y = rng.standard_normal((2, 3, 2)), rng.choice([-1, 1], size=2)
        z, v = rng.standard_normal((2, 2)), rng.standard_normal(2)
        W = 10 * rng.standard_normal((2, 2))
        data = AttentionDataset.build(X, Y, z, v)
        moved = AttentionDataset.build(X[::-1][:, [2, 0, 1]], Y[::-1], z[::-1], v)
        verdicts = [selection_trap.decide(x, W, "flow", 0, loss) for x in (data, moved)]
        assert len({(v.status, v.number) for v in verdicts}) == 1
        seen.add(verdicts[0].status)
    assert len(seen) == 2
