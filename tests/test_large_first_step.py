"""A large first step from W = 0: thresholds, sufficiency, hypotheses, and runs."""

from __future__ import annotations

import numpy as np
import oracle
import pytest
from flint import fmpq, fmpq_mat

from conditions import (
    AttentionDataset,
    Evidence,
    InvalidInput,
    first_step_separates,
    large_first_step,
    low_norm_limit,
)
from conditions.certificates import Certificate, LargeFirstStep
from conditions.gradient_at_zero import gradient_terms
from conditions.large_first_step import sufficient_first_step
from conditions.losses import LOSSES
from conditions.selection import optimal_selection
from conditions.separation.frobenius import solve
from conditions.smoothness import smoothness
from verifier.descent import descend, gradient


def one(scores, query=1):
    return AttentionDataset.build([[[s] for s in scores]], [1], [[query]], [1])


def gaussian(n, T, d, seed):
    rng = np.random.default_rng(seed)
    return AttentionDataset.build(rng.standard_normal((n, T, d)), rng.choice([-1, 1], size=n),
                                  rng.standard_normal((n, d)), rng.standard_normal(d))


def to_float(x):
    return int(x.p) / int(x.q)


def first_iterate(data, first):
    """W(1) for the correlation loss, exact."""
    total = fmpq_mat(data.d, data.d)
    for matrix in gradient_terms(data).values():
        total += matrix
    return total * (first / data.n)


def test_by_hand():
    # Scores 2, 1, 0: −∇L(0) = Var = 2/3 for correlation, and every W(1) > 0 lifts f above 1.
    data = one([2, 1, 0])
    for first in ("1/1000000", 1, 10**6):
        verdict = large_first_step.decide(data, first, "1/10", "correlation")
        assert verdict.holds and verdict.evidence is Evidence.ENCLOSED
    certificate = verdict.certificate
    assert isinstance(certificate, LargeFirstStep)
    assert certificate.first_step == 10**6 and certificate.step == fmpq(1, 10)
    assert certificate.beta >= smoothness(data, "correlation")
    assert Certificate.from_json(certificate.to_json()) == certificate
    # Scores 2, 1, -9: W(1) must first outweigh the low token.
    data = one([2, 1, -9])
    assert large_first_step.decide(data, "1/1000", "1/1000", "correlation").undecided
    assert large_first_step.decide(data, 1, "1/1000", "correlation").holds


def test_each_hypothesis_is_needed():
    data, loss = one([2, 1, 0]), "correlation"
    beta = smoothness(data, loss)

    def reason(data=data, first=1, step=1 / beta):
        verdict = large_first_step.decide(data, first, step, loss)
        assert verdict.undecided and verdict.certificate is None
        return verdict.reason

    assert large_first_step.decide(data, 1, 1 / beta, loss).holds
    assert "2/β" in reason(step=2 / beta)
    assert "not unique" in reason(data=one([2, 2, 0]))
    assert "infeasible" in reason(data=one([1, 0], query=0))
    assert "W(1)" in reason(data=one([2, 1, -9]), first="1/1000", step="1/1000")
    for first, step in ((0, 1), (-1, 1), (1, 0), ("x", 1)):
        with pytest.raises(InvalidInput):
            large_first_step.decide(data, first, step, loss)


def test_correlation_agrees_with_the_exact_first_iterate():
    seen = set()
    for seed in range(30):
        data = gaussian(2, 3, 2, seed)
        step = 1 / smoothness(data, "correlation")
        for first in (fmpq(1, 2), fmpq(20), fmpq(2000)):
            there = large_first_step.decide(data, first, step, "correlation")
            here = low_norm_limit.decide(data, first_iterate(data, first), "plain", step,
                                         "correlation")
            assert there.status == here.status and there.number == here.number
            seen.add(there.status)
    assert len(seen) == 2


@pytest.mark.parametrize("loss", LOSSES)
def test_agrees_with_the_first_iterate_in_floats(loss):
    for seed in range(12):
        data = gaussian(2, 3, 3, seed)
        step = 1 / smoothness(data, loss)
        W = -50 * gradient(data, np.zeros((3, 3)), loss).value
        there = large_first_step.decide(data, 50, step, loss)
        here = low_norm_limit.decide(data, W, "plain", step, loss)
        assert there.status == here.status
        if there.number:
            assert [float(a) for a in there.number.split()[::2]] == pytest.approx(
                [float(a) for a in here.number.split()[::2]], rel=1e-4)


@pytest.mark.parametrize("loss", LOSSES)
def test_the_sufficient_first_step_suffices(loss):
    count = 0
    for seed in range(25):
        data = gaussian(2, 3, 3, seed)
        first = sufficient_first_step(data, loss)
        separates = first_step_separates.decide(data, loss)
        assert (first is not None) == separates.holds
        if first is None:
            continue
        count += 1
        step = 1 / smoothness(data, loss)
        for factor in (1, 2, 100):
            assert large_first_step.decide(data, factor * first, step, loss).holds
    assert count >= 5


@pytest.mark.parametrize("loss", LOSSES)
def test_the_sufficient_first_step_on_small_integers(loss):
    count = 0
    for data in oracle.integer_datasets(2, 2, 2, (-1, 0, 1), 80, seed=21):
        dataset = AttentionDataset.build(*data)
        first = sufficient_first_step(dataset, loss)
        assert (first is None) != first_step_separates.decide(dataset, loss).holds
        if first is not None:
            count += 1
            step = 1 / smoothness(dataset, loss)
            assert large_first_step.decide(dataset, first, step, loss).holds
    assert count >= 10


def test_sufficient_first_step_by_hand():
    # Scores 1, 0, correlation: the logarithm is that of 1, so any first step will do.
    assert 0 < sufficient_first_step(one([1, 0]), "correlation") < fmpq(1, 2**19)
    # Scores 1, 0, 0: Σ(γ(1) − γ_t) = 2 against 1, and μ = Cov(x, γ) = 2/9.
    needed = np.log(2) / (2 / 9)
    value = to_float(sufficient_first_step(one([1, 0, 0]), "correlation"))
    assert needed < value < needed * 1.00001
    far = AttentionDataset.build([[[1], [0]]], [1], [[1]], [200_000])
    assert sufficient_first_step(far, "logistic") is None
    with pytest.raises(InvalidInput, match="loss"):
        sufficient_first_step(far, "hinge")


def test_separation_at_zero_is_not_needed():
    # W(1) may meet the inequality although a margin of −∇L(0) is negative.
    found = 0
    for data in oracle.integer_datasets(2, 3, 2, (-2, -1, 0, 1, 2), 150, seed=5):
        dataset = AttentionDataset.build(*data)
        if not first_step_separates.decide(dataset, "correlation").holds:
            step = fmpq(1, 10**6)
            found += any(large_first_step.decide(dataset, first, step, "correlation").holds
                         for first in (1, 4, 16))
    assert found >= 1


@pytest.mark.parametrize("loss", LOSSES)
def test_runs_do_what_was_proved(loss):
    count = 0
    for seed in range(25):
        data = gaussian(2, 3, 3, seed)
        first = sufficient_first_step(data, loss)
        if first is None:
            continue
        count += 1
        opt = optimal_selection(data)
        solution = solve(data, opt)
        target = solution.float_W / np.linalg.norm(solution.float_W)
        W = -to_float(first) * gradient(data, np.zeros((3, 3)), loss).value
        # Short normalized steps follow the path of the flow from W(1).
        length = np.linalg.norm(W) * 100
        run = descend(data, rule="normalized", step=length / 8000, loss=loss, start=W,
                      iterations=8000)
        assert run.selected == opt
        assert (run.final * target).sum() / np.linalg.norm(run.final) > 0.999
    assert count >= 5


@pytest.mark.parametrize("loss", LOSSES)
def test_orders_of_tokens_and_samples_do_not_matter(loss):
    rng = np.random.default_rng(13)
    seen = set()
    for _ in range(20):
        X, Y = rng.standard_normal((2, 3, 2)), rng.choice([-1, 1], size=2)
        z, v = rng.standard_normal((2, 2)), rng.standard_normal(2)
        data = AttentionDataset.build(X, Y, z, v)
        moved = AttentionDataset.build(X[::-1][:, [2, 0, 1]], Y[::-1], z[::-1], v)
        verdicts = [large_first_step.decide(x, 100, 1 / smoothness(x, loss), loss)
                    for x in (data, moved)]
        assert len({(v.status, v.number) for v in verdicts}) == 1
        assert (sufficient_first_step(data, loss) is None) == (
            sufficient_first_step(moved, loss) is None)
        seen.add(verdicts[0].status)
    assert len(seen) == 2
