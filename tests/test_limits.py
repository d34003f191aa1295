"""Limits of runs: continued until proved, and never claimed beyond what was proved."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from flint import fmpq

from conditions import AttentionDataset, Evidence
from conditions.selection import optimal_selection
from verifier import io
from verifier.certify import Report
from verifier.descent import descend
from verifier.kernel import check_text
from verifier.limits import limits

EXAMPLES = Path(__file__).parent.parent / "examples" / "data"
LOCAL = EXAMPLES / "local_convergence.npz"
TRIALS = io.load_datasets(LOCAL)
STARTS = np.load(LOCAL)["W0"]
TWO = io.load_dataset(EXAMPLES / "two_samples.json")


def proved_limits(dataset, seconds=20.0, **how):
    run = descend(dataset, **how)
    return run, {v.condition: v for v in limits(dataset, run, seconds)}


@pytest.mark.parametrize("k", range(0, 50, 5))
def test_the_run_is_continued_until_its_basin_is_proved(k):
    _, verdict = proved_limits(TRIALS[k], start=STARTS[k], iterations=500)
    basin = verdict["basin"]
    assert basin.holds
    assert basin.evidence is Evidence.ENCLOSED
    assert "from the recorded iterate" in basin.reason
    text = Report(TRIALS[k], "", tuple(verdict.values()), (), None).certificate_text()
    assert check_text(text).accepted


def test_no_time_means_one_check():
    _, verdict = proved_limits(TRIALS[0], seconds=0.0, start=STARTS[0], iterations=5)
    assert verdict["basin"].undecided
    assert "step 5," in verdict["basin"].reason


@pytest.mark.parametrize(("start", "limit"), [
    ([[0.0, 0.0], [0.0, 0.0]], (0, 0)), ([[20.0, 0.0], [0.0, 0.0]], (0, 1))])
def test_two_provable_limits_of_one_dataset(start, limit):
    # The dataset has no stationary point and opt is unique and feasible, yet sample 1 keeps its
    # worse token for ever from 20·e₁e₁ᵀ: theory, section 7, on Theorem 4.
    run, verdict = proved_limits(TWO, start=np.array(start), iterations=400)
    assert run.selected == limit
    assert verdict["basin"].holds
    assert verdict["basin"].selection == limit


def test_low_norm_limit_names_plain_descent_for_a_normalized_run():
    run, verdict = proved_limits(TRIALS[0], start=STARTS[0], iterations=2000)
    assert run.selected == optimal_selection(TRIALS[0])
    low = verdict["low_norm_limit"]
    assert low.holds
    # 1/β, not the run's own step of 0.1: the statement is about plain GD.
    assert float(low.certificate.step.p) / float(low.certificate.step.q) > 1


def test_a_run_that_selects_other_tokens_gets_no_statement_about_opt():
    _, verdict = proved_limits(TWO, start=np.array([[20.0, 0.0], [0.0, 0.0]]), iterations=100)
    assert set(verdict) == {"basin"}


def test_infeasible_selections_end_the_search_early():
    # Equal tokens: no W separates them, and no basin can be proved.
    data = AttentionDataset.build([[[1, 0], [1, 0], [0, 1]]], [1], [[1, 1]], [1, 0])
    _, verdict = proved_limits(data, seconds=60.0, iterations=100)
    assert verdict["basin"].undecided


def test_plain_runs_keep_their_own_step():
    _, verdict = proved_limits(TWO, rule="plain", step=0.25, iterations=4000)
    low = verdict["low_norm_limit"]
    assert low.holds
    assert low.certificate.step == fmpq(1, 4)


@pytest.mark.parametrize(("start", "limit"), [
    ([[0.0, 0.0], [0.0, 0.0]], (0, 0)), ([[20.0, 0.0], [0.0, 0.0]], (0, 1))])
def test_the_limit_from_the_exact_start(start, limit):
    run = descend(TWO, start=np.array(start), iterations=100)
    verdict = {v.condition: v for v in limits(TWO, run, 20.0, from_start=True)}
    assert verdict["limit_from_start"].holds
    assert verdict["limit_from_start"].selection == limit
    text = Report(TWO, "", tuple(verdict.values()), (), run).certificate_text()
    assert check_text(text).accepted


@pytest.mark.parametrize("X", [[[[1, 0], [0, 1]]], [[[1, 1], [1, 1]]]])
def test_a_constant_loss_has_no_longest_step(X):
    # Every query is 0, or all tokens are equal: β = 0.
    zero = AttentionDataset.build(X, [1], [[0, 0]], [1, 0])
    _, found = proved_limits(zero, seconds=0.0, iterations=5)
    assert found["basin"].undecided and found["low_norm_limit"].undecided
