"""Invariant rays: by hand, against runs and the definition, and where they lead."""

from __future__ import annotations

import itertools

import numpy as np
import oracle
import pytest
from acceptance import accepted
from flint import fmpq

from conditions import AttentionDataset, Evidence, invariant_ray
from conditions.certificates import (
    Certificate,
    ExactKKT,
    InvariantRay,
    ShorterSeparator,
    TiedLogits,
)
from conditions.errors import InvalidInput
from conditions.losses import LOSSES
from conditions.selection import optimal_selection
from conditions.separation.frobenius import Infeasible, solve
from verifier.certify import certify
from verifier.descent import descend
from verifier.descent import gradient as log_gradient
from verifier.kernel import check_text


def build(features, gaps_head, flat=()):
    """Two tokens a sample, δ and 0, query e1; *flat*: further samples given whole."""
    tokens = [[list(delta), [0] * len(delta)] for delta in features] + list(flat)
    d = len(gaps_head)
    return AttentionDataset.build(tokens, [1] * len(tokens), [[1] + [0] * (d - 1)] * len(tokens),
                                  gaps_head)


CROSSED = build([(1, 0), (-2, 1)], (3, 7))  # 3(1, 0) + (-2, 1) = (1, 1), margins 1 and -1


def test_a_crossed_pair_by_hand():
    verdict = invariant_ray.decide(CROSSED, "correlation")
    assert verdict.holds and verdict.evidence is Evidence.EXACT
    assert verdict.certificate == InvariantRay(
        ((fmpq(1), fmpq(0)), (fmpq(1), fmpq(0))),
        ShorterSeparator(((fmpq(1), fmpq(0)), (fmpq(0), fmpq(0)))))
    assert Certificate.from_json(verdict.certificate.to_json()) == verdict.certificate
    (line,) = accepted(CROSSED, verdict)
    assert "D selects α = (0, 1) and is no multiple of W^mm_α" in line
    # |ℓ'| weighs the two samples differently under the other losses.
    for loss in ("logistic", "exponential"):
        assert invariant_ray.decide(CROSSED, loss).undecided


def test_opt_is_feasible_and_another_direction():
    assert not isinstance(solve(CROSSED, optimal_selection(CROSSED)), Infeasible)


@pytest.mark.parametrize(("rule", "step"), [("plain", 0.01), ("plain", 50.0),
                                            ("normalized", 0.1), ("normalized", 7.0)])
@pytest.mark.parametrize("r", [0.0, 0.5, -3.0, 20.0])
def test_runs_stay_on_the_line(rule, step, r):
    D = np.array([[1.0, 0.0], [1.0, 0.0]])
    # The line is unstable, so that rounding leaves it in the end; few steps show it.
    run = descend(CROSSED, rule=rule, step=step, loss="correlation", start=r * D, iterations=4)
    ahead = run.final[0, 0]
    assert np.allclose(run.final, ahead * D, rtol=1e-12, atol=1e-12) and ahead > r


def test_reports_tell_of_a_ray_from_zero():
    report = certify(CROSSED, loss="correlation", iterations=50, seconds=0.1)
    assert [v.holds for v in report.verdicts if v.condition == "invariant_ray"] == [True]
    assert check_text(report.certificate_text()).accepted
    away = certify(CROSSED, loss="correlation", iterations=50, seconds=0.1,
                   start=np.array([[1.0, 0.0], [0.0, 0.0]]))
    assert not [v for v in away.verdicts if v.condition == "invariant_ray"]


def test_each_exclusion_and_a_local_direction():
    tied = build([(1, 1), (1, -1)], (1, 0), [[[0, 1], [0, 0]]])
    found = invariant_ray.decide(tied, "logistic").certificate
    assert found.exclusion == TiedLogits(2, (0, 1))
    leaning = build([(1, 0), (1, 1)], (1, -1))
    found = invariant_ray.decide(leaning, "exponential").certificate
    assert isinstance(found.exclusion, ExactKKT)
    for data, loss in ((tied, "logistic"), (leaning, "exponential")):
        accepted(data, invariant_ray.decide(data, loss))
    # Without the flat sample the ray leads to W^mm_opt.
    verdict = invariant_ray.decide(build([(1, 1), (1, -1)], (1, 0)), "logistic")
    assert verdict.undecided and "locally optimal" in verdict.reason


def test_given_directions():
    assert invariant_ray.decide(CROSSED, "correlation", [[2, 0], [2, 0]]).holds
    assert invariant_ray.decide(CROSSED, "correlation", [[-1, 0], [-1, 0]]).undecided
    assert invariant_ray.decide(CROSSED, "correlation", [[1, 0], [0, 0]]).undecided
    with pytest.raises(InvalidInput, match="must not be 0"):
        invariant_ray.decide(CROSSED, "correlation", [[0, 0], [0, 0]])
    with pytest.raises(InvalidInput, match="2 × 2"):
        invariant_ray.decide(CROSSED, "correlation", [[1, 0]])
    with pytest.raises(InvalidInput, match="must be one of"):
        invariant_ray.decide(CROSSED, "hinge")


def test_a_zero_gradient_has_no_direction():
    opposed = AttentionDataset.build([[[1], [0]], [[-1], [0]]], [1, -1], [[1], [1]], [1])
    for loss in LOSSES:
        verdict = invariant_ray.decide(opposed, loss)
        assert verdict.undecided and "direction" in verdict.reason


def off_line(dataset, loss, D, radii):
    """The largest angle between −∇L(rD) and D, over the radii, in floats."""
    worst = 0.0
    for r in radii:
        pull = log_gradient(dataset, r * D, loss).M
        cosine = (pull * D).sum() / np.linalg.norm(pull) / np.linalg.norm(D)
        worst = max(worst, np.arccos(min(1.0, cosine)))
    return worst


def test_lattice_against_floats():
    """Every proved ray is one in floats; on this lattice every ray in floats is proved."""
    entries = (-2, -1, 0, 1, 2)
    radii = (-2.0, -0.7, 0.0, 0.3, 1.1, 3.0)
    counts = {True: 0, False: 0}
    for first, second in itertools.combinations(itertools.product(entries, repeat=2), 2):
        for head in ((1, 1), (1, 2), (3, 7)):
            dataset = build([first, second], head)
            D = invariant_ray.first_direction(dataset, "correlation")
            if D is None:
                continue
            shown = invariant_ray.ray_speeds(dataset, "correlation", D) is not None
            floats = np.array([[float(int(x.p)) / int(x.q) for x in row] for row in D.tolist()])
            assert shown == (off_line(dataset, "correlation", floats, radii) < 1e-7)
            counts[shown] += 1
    assert min(counts.values()) > 50, counts


@pytest.mark.parametrize("loss", LOSSES)
def test_the_checker_accepts_what_is_found(loss):
    found = 0
    for n, T in ((2, 2), (1, 3), (2, 3), (3, 2)):
        for X, Y, _, v in oracle.integer_datasets(n, T, 2, (-2, -1, 0, 1, 2), 250, seed=n + 9 * T):
            dataset = AttentionDataset.build(X, Y, [[1, 0]] * n, v)
            verdict = invariant_ray.decide(dataset, loss)
            assert not verdict.fails
            if verdict.holds:
                accepted(dataset, verdict)
                found += 1
    assert found >= 3
