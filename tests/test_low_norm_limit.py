"""The low-norm limit: hand cases, exact ties, each hypothesis dropped, and simulated runs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from flint import fmpq, fmpq_mat

from conditions import AttentionDataset, Evidence, InvalidInput, low_norm_limit
from conditions.certificates import Certificate, LowNormLimit
from conditions.losses import LOSSES
from conditions.selection import features, optimal_selection
from conditions.separation.frobenius import Infeasible, solve
from conditions.smoothness import smoothness
from verifier.descent import descend
from verifier.io import load_array, load_datasets

EXAMPLES = Path(__file__).parent.parent / "examples" / "data"


def one(scores, query=1):
    """One sample of one-dimensional tokens whose scores are *scores*."""
    return AttentionDataset.build([[[s] for s in scores]], [1], [[query]], [1])


def gaussian(n, T, d, seed):
    rng = np.random.default_rng(seed)
    return AttentionDataset.build(rng.standard_normal((n, T, d)), rng.choice([-1, 1], size=n),
                                  rng.standard_normal((n, d)), rng.standard_normal(d))


def expected_scores(data, W):
    """f_i(W) in floats."""
    out = []
    for X, scores, z in zip(data.floats.tokens, data.scores, data.floats.queries, strict=True):
        h = X @ W @ z
        s = np.exp(h - h.max())
        out.append(s @ np.array([int(g.p) / int(g.q) for g in scores]) / s.sum())
    return np.array(out)


def second_scores(data):
    return np.array([sorted(int(g.p) / int(g.q) for g in scores)[-2] for scores in data.scores])


def half_step(data, loss):
    return 1 / smoothness(data, loss)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("start", [0, 3, -3, -20])
def test_two_tokens_always_have_the_limit(start, loss):
    # n = 1, T = 2: the expected score never falls to the second one.
    data = one([1, 0])
    verdict = low_norm_limit.decide(data, [[start]], "plain", half_step(data, loss), loss)
    assert verdict.holds and verdict.evidence is Evidence.ENCLOSED
    assert verdict.loss == loss and verdict.selection is None


def test_the_certificate_says_what_was_asked():
    data = one([2, 1, 0])
    W = [[fmpq(7, 8)]]
    verdict = low_norm_limit.decide(data, W, "plain", "0.5", "logistic")
    certificate = verdict.certificate
    assert isinstance(certificate, LowNormLimit)
    assert ((fmpq(7, 8),),) == certificate.W and certificate.step == fmpq(1, 2)
    assert certificate.beta >= smoothness(data, "logistic")
    assert certificate.step * certificate.beta < 2
    separator = fmpq_mat([list(row) for row in certificate.separator])
    assert min(features(data, (0,)).margins(separator)) >= 1
    assert Certificate.from_json(certificate.to_json()) == certificate
    flow = low_norm_limit.decide(data, W, "flow", 0, "logistic")
    assert flow.holds and flow.certificate.step == 0


def test_exact_ties_are_not_met():
    # Scores 2, 1, 0 at W = 0: f = 1 = γ(2) exactly, and dyadic.
    data = one([2, 1, 0])
    tie = low_norm_limit.decide(data, [[0]], "plain", "1/10", "correlation")
    assert tie.undecided and "is not below" in tie.reason and tie.number == "1 ≥ 1"
    # Scores 2/3, 1/3, 0: no ball separates f = 1/3 from γ(2) = 1/3.
    third = AttentionDataset.build([[[2], [1], [0]]], [1], [[1]], ["1/3"])
    tie = low_norm_limit.decide(third, [[0]], "plain", "1/10", "correlation")
    assert tie.undecided and "4096 bits" in tie.reason
    above = low_norm_limit.decide(third, [[fmpq(1, 2**60)]], "plain", "1/10", "correlation")
    below = low_norm_limit.decide(third, [[fmpq(-1, 2**60)]], "plain", "1/10", "correlation")
    assert above.holds and below.undecided


def test_each_hypothesis_is_needed():
    data = one([2, 1, 0])
    W, loss = [[2]], "correlation"
    beta = smoothness(data, loss)

    def reason(data=data, W=W, rule="plain", step=1 / beta):
        verdict = low_norm_limit.decide(data, W, rule, step, loss)
        assert verdict.undecided and verdict.certificate is None
        return verdict.reason

    assert low_norm_limit.decide(data, W, "plain", 1 / beta, loss).holds
    assert low_norm_limit.decide(data, W, "plain", 2 / beta - fmpq(1, 2**99), loss).holds
    assert "2/β" in reason(step=2 / beta)
    assert "normalized" in reason(rule="normalized")
    assert "not below" in reason(W=[[-2]])
    assert "not unique" in reason(data=one([2, 2, 0]))
    # A zero query: the excess 1/2 is below the gap 1, but nothing separates.
    assert "infeasible" in reason(data=one([1, 0], query=0))


def test_bad_input():
    data = one([1, 0])
    for W, rule, step, loss in (([[0, 1]], "plain", 1, "logistic"), ([[0]], "sgd", 1, "logistic"),
                                ([[0]], "plain", 0, "logistic"), ([[0]], "flow", 1, "logistic"),
                                ([[0]], "plain", 1, "hinge")):
        with pytest.raises(InvalidInput):
            low_norm_limit.decide(data, W, rule, step, loss)


def test_the_trapped_run_tends_to_the_threshold_from_above():
    data, = load_datasets(EXAMPLES / "two_samples.json")
    e = np.zeros((2, 2))
    e[0, 0] = 1.0
    for loss in LOSSES:
        verdicts = {r: low_norm_limit.decide(data, r * e, "flow", 0, loss) for r in (5, 20, 4000)}
        assert all(v.undecided for v in verdicts.values())
        assert "is not below" in verdicts[20].reason
        assert "4096 bits" in verdicts[4000].reason
    # At 0 both samples are halfway: two halves are not below one gap. A better start is.
    assert low_norm_limit.decide(data, 0 * e, "flow", 0, "correlation").undecided
    good = np.array([[0.0, 0.0], [3.0, 0.0]]) + 0.5 * e
    assert low_norm_limit.decide(data, good, "flow", 0, "logistic").holds


@pytest.mark.parametrize("loss", LOSSES)
def test_orders_of_tokens_and_samples_do_not_matter(loss):
    rng = np.random.default_rng(7)
    seen = set()
    for _ in range(40):
        X, Y = rng.standard_normal((2, 3, 2)), rng.choice([-1, 1], size=2)
        z, v = rng.standard_normal((2, 2)), rng.standard_normal(2)
        W = 10 * rng.standard_normal((2, 2))
        data = AttentionDataset.build(X, Y, z, v)
        moved = AttentionDataset.build(X[::-1][:, [2, 0, 1]], Y[::-1], z[::-1], v)
        flipped = AttentionDataset.build(X, -Y, z, -v)
        verdicts = [low_norm_limit.decide(x, W, "plain", half_step(x, loss), loss)
                    for x in (data, moved, flipped)]
        assert len({(v.status, v.number) for v in verdicts}) == 1
        seen.add(verdicts[0].status)
    assert len(seen) == 2


def towards_optimum(seed):
    """A dataset, a start that leans towards W^mm_opt, and that direction; None if infeasible."""
    data = gaussian(2, 3, 3, seed)
    solution = solve(data, optimal_selection(data))
    if isinstance(solution, Infeasible):
        return None
    target = solution.float_W / np.linalg.norm(solution.float_W)
    return data, 3 * target + np.random.default_rng(seed).standard_normal((3, 3)), target


CASES = [case for case in map(towards_optimum, range(12)) if case is not None]


def cosine(W, target):
    return float((W * target).sum() / np.linalg.norm(W))


@pytest.mark.parametrize("loss", LOSSES)
def test_plain_runs_never_fall_to_a_second_token(loss):
    certified = 0
    for data, start, _ in CASES:
        beta = smoothness(data, loss)
        step = 1.99 / (int(beta.p) / int(beta.q))
        if not low_norm_limit.decide(data, start, "plain", step, loss).holds:
            continue
        certified += 1
        run = descend(data, rule="plain", step=step, loss=loss, start=start, iterations=5000,
                      keep=(0, 1, 2, 5, 10, 100, 1000, 5000))
        assert min((expected_scores(data, W) - second_scores(data)).min()
                   for _, W in run.kept) > 0
    assert certified >= 5


@pytest.mark.parametrize("loss", LOSSES)
def test_flows_end_at_the_predicted_direction(loss):
    # Normalized descent with short steps follows the path of the flow, in equal lengths.
    certified, elsewhere = 0, 0
    for data, start, target in CASES:
        verdict = low_norm_limit.decide(data, start, "flow", 0, loss)
        run = descend(data, rule="normalized", step=0.05, loss=loss, start=start, iterations=8000)
        if verdict.holds:
            certified += 1
            assert run.selected == optimal_selection(data)
            assert cosine(run.final, target) > 0.9999
        else:
            elsewhere += run.selected != optimal_selection(data)
    assert certified >= 5
    assert elsewhere >= 1


def test_recorded_runs_to_the_optimum_are_certified_early():
    """At least 33 of the 34 recorded limits at opt follow from an iterate of norm below 200."""
    path = EXAMPLES / "local_convergence.npz"
    chosen, starts = [], []
    for k, data in enumerate(load_datasets(path)):
        if tuple(load_array(path, "selected_W", k).astype(int)) == optimal_selection(data):
            chosen.append(data)
            starts.append(load_array(path, "W0", k))
    assert len(chosen) == 34
    steps = (250, 500, 1000, 1800)
    runs = descend(chosen, rule="normalized", step=0.1, start=np.array(starts), iterations=1800,
                   keep=steps)
    first = []
    for data, run in zip(chosen, runs, strict=True):
        for (_, W), norm in zip(run.kept, run.norms, strict=True):
            if norm < 200 and low_norm_limit.decide(data, W, "plain", half_step(data, "logistic"),
                                                    "logistic").holds:
                first.append(norm)
                break
    assert len(first) >= 33
    assert np.median(first) < 30
