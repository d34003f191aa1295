"""Every way to decide the absence of stationary points, on one small dataset each."""

from __future__ import annotations

import oracle
import pytest
from acceptance import accepted
from flint import arb, ctx

from conditions import AttentionDataset, Evidence, InvalidInput, Status, no_stationary_point
from conditions.losses import LOSSES

STEP = [[1], [0]]


def build(X, Y, z, v):
    return AttentionDataset.build(X, Y, z, v)


def decided(dataset, loss, status, kind, budget=400):
    verdict = no_stationary_point.decide(dataset, loss, budget)
    assert verdict.status is status and verdict.certificate.kind == kind
    assert verdict.evidence in (Evidence.EXACT, Evidence.ENCLOSED)
    accepted(dataset, verdict)
    return verdict


@pytest.mark.parametrize("loss", LOSSES)
def test_flat_samples_have_no_gradient(loss):
    # Equal scores: f_i is constant.
    dataset = build([[[1, 0], [1, 1]]], [1], [[1, 0]], [1, 0])
    decided(dataset, loss, Status.FAILS, "all_flat")


@pytest.mark.parametrize("loss", LOSSES)
def test_opposite_queries_cancel_at_zero(loss):
    # The same tokens and label, z = 1 and -1: the two pulls at W = 0 are opposite.
    dataset = build([STEP, STEP], [1, 1], [[1], [-1]], [1])
    verdict = decided(dataset, loss, Status.FAILS, "stationary_at_zero")
    assert verdict.number == "∇L(0) = 0" and verdict.evidence is Evidence.EXACT


@pytest.mark.parametrize("loss", LOSSES)
def test_independent_features(loss):
    # e1 e1ᵀ and e1 e2ᵀ, and scores 1, 0 are not flat.
    dataset = build([[[1, 0], [0, 0]]] * 2, [1, 1], [[1, 0], [0, 1]], [1, 0])
    assert decided(dataset, loss, Status.HOLDS, "injective_features").number == "S1"


@pytest.mark.parametrize("loss", LOSSES)
def test_queries_of_one_side(loss):
    # Three dependent features on a line; Y z = 1 > 0.
    dataset = build([[[1], [0], [3]]], [1], [[1]], [1])
    verdict = decided(dataset, loss, Status.HOLDS, "separable_queries")
    assert verdict.certificate.u == (1,)


@pytest.mark.parametrize("loss", LOSSES)
def test_a_monotone_direction(loss):
    # z = e1 with both labels: Y z = ±e1 leaves no u. The features e1, -e1 and e2 are dependent. The
    # scores (1, 0, 2) of sample 0 rise with x_1, (-1, 0) of sample 1 fall with x_2.
    X = [[[1, 0], [0, 0], [2, 0]], [[0, 1], [0, 0]]]
    dataset = build(X, [1, -1], [[1, 0], [1, 0]], [1, 1])
    verdict = decided(dataset, loss, Status.HOLDS, "monotone_direction")
    (a, _), (b, _) = verdict.certificate.D
    assert (a > 0 and b <= 0) or (a >= 0 and b < 0)


def test_a_tree_of_directions():
    # Found by search: branches on both samples, a direction for each of their cells.
    dataset = build([[[2, -2, 1], [1, 0, 1], [0, 2, 1], [1, -1, 1]],
                     [[0, 0, -1], [-2, -2, 1], [1, -2, -1], [1, 1, 2]]],
                    [1, -1], [[0, 2, -1], [0, 2, -1]], [-1, 0, 1])
    verdict = decided(dataset, "logistic", Status.HOLDS, "decision_tree")
    assert verdict.number == "S3" and verdict.evidence is Evidence.EXACT


@pytest.mark.parametrize("loss", ["logistic", "exponential"])
def test_a_proved_zero_of_the_gradient(loss):
    # d = 1, z = 1 and -1, scores (1, 0) and (3/2, 1/2): the sigmoids' slopes agree for every W, so
    # ∇L = 0 where f_0 = f_1: σ(W) = 1/2 + σ(-W), tanh(W/2) = 1/2, W = log 3 and nowhere else.
    # L' changes from falling to rising there or the other way round; y is W in the basis φ_01 = 1.
    dataset = build([STEP, [["3/2"], ["1/2"]]], [1, 1], [[1], [-1]], [1])
    verdict = decided(dataset, loss, Status.FAILS, "krawczyk")
    center, radius = verdict.certificate.center[0], verdict.certificate.radius
    with ctx.workprec(200):
        assert abs(arb(center) - arb(3).log()) <= arb(radius)
    assert verdict.evidence is Evidence.ENCLOSED


def test_the_correlation_loss_cancels_everywhere():
    # The same data with ℓ' constant: ∇L ≡ 0 although no sample is flat.
    dataset = build([STEP, [["3/2"], ["1/2"]]], [1, 1], [[1], [-1]], [1])
    decided(dataset, "correlation", Status.FAILS, "stationary_at_zero")


@pytest.mark.parametrize("loss", ["logistic", "exponential"])
def test_a_cover(loss):
    # Shifted by 2 instead of 1/2, f_0 < 1 < 2 < f_1: sample 0 outweighs sample 1 everywhere.
    dataset = build([STEP, [[3], [2]]], [1, 1], [[1], [-1]], [1])
    verdict = decided(dataset, loss, Status.HOLDS, "simplex_cover")
    assert verdict.number == "S5" and verdict.evidence is Evidence.ENCLOSED


def test_without_a_budget_the_searches_are_left_out():
    dataset = build([STEP, [[3], [2]]], [1, 1], [[1], [-1]], [1])
    verdict = no_stationary_point.decide(dataset, "logistic", 0)
    assert verdict.undecided and "S3 to S5 not tried" in verdict.reason
    accepted(dataset, verdict)
    verdict = no_stationary_point.decide(dataset, "logistic", 1)
    assert verdict.undecided and "node budget 1 used up" in verdict.reason
    accepted(dataset, verdict)


def test_unknown_losses_are_refused():
    with pytest.raises(InvalidInput, match="loss"):
        no_stationary_point.decide(build([STEP], [1], [[1]], [1]), "hinge")


@pytest.mark.parametrize("loss", LOSSES)
def test_plain_reasons_agree_with_brute_force(loss):
    names = set()
    for data in oracle.integer_datasets(2, 3, 2, count=56, seed=12):
        dataset = AttentionDataset.build(*data)
        verdict = no_stationary_point.decide(dataset, loss, 0)
        flat = len(oracle.flat_samples(data)) == 2
        zero = flat or oracle.gradient_is_zero_at_zero(data, loss)
        excluded = not flat and (oracle.full_row_rank(data) or oracle.separable_queries(data)
                                 or oracle.monotone_direction_exists(data))
        assert not (zero and excluded)
        assert (verdict.fails, verdict.holds) == (zero, excluded)
        names.add(verdict.number)
        accepted(dataset, verdict)
    assert {"S1", "S2a", "S2", "∇L ≡ 0"} <= names


def test_the_cubic_loss_where_its_slope_vanishes():
    centred = build([[[1], [-1]]], [1], [[1]], [1])
    decided(centred, "cubic", Status.FAILS, "stationary_at_zero")
    assert no_stationary_point.decide(centred, "correlation").holds
    # f = 0 is reached, though not at W = 0.
    assert no_stationary_point.decide(build([[[1], [-2]]], [1], [[1]], [1]), "cubic").undecided
    # A flat sample does not matter.
    decided(build([[[1], [2]], [[0], [0]]], [1, 1], [[1], [1]], [1]), "cubic", Status.HOLDS,
            "separable_queries")
    decided(build([[[1], [2]]], [1], [[1]], [1]), "cubic", Status.HOLDS, "injective_features")
