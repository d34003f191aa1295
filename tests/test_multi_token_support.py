"""W^mm of Gen-SVM: known answers, brute force, and the checker."""

from __future__ import annotations

import random

import general_oracle
import oracle
import pytest
from flint import fmpq
from test_gen_feasibility import FOUR, checked

from conditions import AttentionDataset, Evidence, InvalidInput, multi_token_support
from conditions.selection import features
from conditions.separation.frobenius import Infeasible, solve_exactly


def test_two_equal_tokens():
    verdict = multi_token_support.decide(FOUR, [[0, 1]])
    assert verdict.holds and verdict.evidence is Evidence.EXACT
    certificate = verdict.certificate
    # w = (1, 1) = 2 (1, 0) - (1, -1), the token (-1, 0) has margin 2.
    assert certificate.multipliers == ((0, 2, 2),)
    assert certificate.equality_multipliers == ((0, 1, -1),)
    assert certificate.support == ((0, 2),)
    assert certificate.norm_squared == 2
    assert verdict.number == "1 of 2"
    assert "margin 1/‖W^mm‖ ≈ 0.707107" in verdict.reason
    assert "support indices (0, 2); ‖W^mm‖² = 2" in checked(FOUR, verdict)


def test_margin_of_one_with_zero_multiplier_is_a_support_index():
    # w_1 ≥ 1 twice, once as (1, 0) and once as (1, 1) with w_2 = 0 forced by the set.
    dataset = AttentionDataset.build([[[1, 0], [1, 1], [0, 0], [0, 1]]], [1], [[1, 0]], [1, 1])
    verdict = multi_token_support.decide(dataset, [[0, 1]])
    assert verdict.certificate.support == ((0, 2), (0, 3))
    assert len(verdict.certificate.multipliers) == 1
    assert verdict.certificate.norm_squared == 1
    checked(dataset, verdict)


def test_no_token_rejected_has_no_direction():
    verdict = multi_token_support.decide(FOUR, [[0, 1, 2, 3]])
    assert verdict.holds
    assert verdict.certificate.norm_squared == 0 and verdict.certificate.support == ()
    assert verdict.reason == "no token is rejected: W^mm = 0, there is no direction"
    assert "there is no direction" in checked(FOUR, verdict)


def test_infeasible():
    verdict = multi_token_support.decide(FOUR, [[0, 3]])
    assert verdict.fails and verdict.certificate.kind == "motzkin"
    checked(FOUR, verdict)


def test_agrees_with_brute_force_and_is_accepted():
    counts = {"gen_kkt": 0, "motzkin": 0}
    rng = random.Random(12)
    for shape in ((1, 3, 2), (2, 3, 2), (3, 2, 2)):
        for data in oracle.integer_datasets(*shape, (-1, 0, 1), 21, seed=43):
            dataset, sets = AttentionDataset.build(*data), general_oracle.draw_sets(data, rng)
            verdict = multi_token_support.decide(dataset, sets)
            expected = general_oracle.max_margin(data, sets)
            assert verdict.holds == (expected is not None)
            counts[verdict.certificate.kind] += 1
            checked(dataset, verdict)
            if expected is not None:
                W, support = expected
                norm = oracle.dot(W, W)
                assert list(verdict.certificate.support) == support
                assert verdict.certificate.norm_squared == fmpq(norm.numerator, norm.denominator)
    assert min(counts.values()) >= 10, counts


def test_single_tokens_are_att_svm():
    for data in oracle.integer_datasets(2, 3, 2, (-1, 0, 1), 21, seed=5):
        dataset = AttentionDataset.build(*data)
        for alpha in oracle.selections(data)[::2]:
            verdict = multi_token_support.decide(dataset, [[a] for a in alpha])
            outcome = solve_exactly(features(dataset, tuple(alpha)))
            assert verdict.fails == isinstance(outcome, Infeasible)
            if verdict.holds:
                assert verdict.certificate.support == outcome.support
                assert verdict.certificate.norm_squared == outcome.norm_squared[0]


def test_a_copy_of_a_selected_token_changes_nothing():
    data = AttentionDataset.build([[[1, 0], [0, 1], [1, 0]]], [1], [[1, 0]], [1, 1])
    with_copy = multi_token_support.decide(data, [[0, 2]])
    alone = AttentionDataset.build([[[1, 0], [0, 1]]], [1], [[1, 0]], [1, 1])
    without = multi_token_support.decide(alone, [[0]])
    assert with_copy.certificate.norm_squared == without.certificate.norm_squared == fmpq(1, 2)


def test_bad_sets_are_refused():
    with pytest.raises(InvalidInput):
        multi_token_support.decide(FOUR, [])
