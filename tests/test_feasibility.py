"""Feasibility of Att-SVM(α): separators and Farkas vectors by hand, and by brute force."""

from __future__ import annotations

import oracle
import pytest
from acceptance import accepted
from flint import fmpq_mat

from conditions import AttentionDataset, Evidence, InvalidInput, feasibility
from conditions.selection import features


def separated(dataset, selection):
    verdict = feasibility.decide(dataset, selection)
    assert verdict.holds and verdict.evidence is Evidence.EXACT
    assert verdict.certificate.kind == "separator"
    W = fmpq_mat([list(row) for row in verdict.certificate.W])
    assert min(features(dataset, selection).margins(W)) >= 1
    accepted(dataset, verdict)


def refuted(dataset, selection):
    verdict = feasibility.decide(dataset, selection)
    assert verdict.fails and verdict.evidence is Evidence.EXACT
    accepted(dataset, verdict)
    return verdict.certificate


@pytest.mark.parametrize("selection", [(0,), (2,)])
def test_the_ends_of_a_line_are_separable(selection):
    # Tokens 1, 0, -1 and z = 1: the rows are (1, 2) or (-2, -1), of one sign.
    separated(AttentionDataset.build([[[1], [0], [-1]]], [1], [[1]], [1]), selection)


def test_the_middle_of_a_line_is_not():
    # Selected 0 between 1 and -1: the rows -1 and 1 add up to 0.
    certificate = refuted(AttentionDataset.build([[[1], [0], [-1]]], [1], [[1]], [1]), (1,))
    assert certificate.kind == "farkas"
    assert certificate.multipliers == ((0, 0, 1), (0, 2, 1))


def test_farkas_weights_are_those_of_the_cancelling_combination():
    # Selected 0 between 1 and -2: rows -1 and 2, and 2·(-1) + 1·2 = 0.
    certificate = refuted(AttentionDataset.build([[[0], [1], [-2]]], [1], [[1]], [1]), (0,))
    assert certificate.multipliers == ((0, 1, 2), (0, 2, 1))


def test_zero_features_are_infeasible_by_themselves():
    # A copy of the selected token, or a query 0: the row is 0.
    copy = AttentionDataset.build([[[1], [1], [0]]], [1], [[1]], [1])
    zero = AttentionDataset.build([[[1], [0]]], [1], [[0]], [1])
    assert refuted(copy, (0,)).kind in ("farkas", "query_cycle")
    assert refuted(zero, (0,)).multipliers == ((0, 1, 1),)


def test_one_query_that_prefers_both_ways_is_a_cycle():
    # Both samples ask z = 1 about tokens 1 and 0: the rows of (0, 1) are 1 and -1.
    X, z = [[[1], [0]], [[1], [0]]], [[1], [1]]
    dataset = AttentionDataset.build(X, [1, 1], z, [1])
    certificate = refuted(dataset, (0, 1))
    assert certificate.kind == "query_cycle"
    assert sorted(certificate.edges) == [(0, 1), (1, 0)]
    separated(dataset, (1, 1))


def test_an_opposite_query_reverses_the_preference():
    # With z = (1, -1) the rows of (0, 0) are 1 and -1, those of (0, 1) are 1 and 1.
    dataset = AttentionDataset.build([[[1], [0]], [[1], [0]]], [1, 1], [[1], [-1]], [1])
    assert refuted(dataset, (0, 0)).multipliers == ((0, 1, 1), (1, 1, 1))
    separated(dataset, (0, 1))


def test_a_selection_must_name_tokens():
    dataset = AttentionDataset.build([[[1], [0]]], [1], [[1]], [1])
    with pytest.raises(InvalidInput, match="selection"):
        feasibility.decide(dataset, (2,))


def test_agrees_with_brute_force():
    counts = {True: 0, False: 0}
    for data in oracle.integer_datasets(2, 3, 2, count=35, seed=4):
        dataset = AttentionDataset.build(*data)
        for alpha in oracle.selections(data)[::2]:
            expected = oracle.feasible(data, alpha)
            (separated if expected else refuted)(dataset, alpha)
            counts[expected] += 1
    assert min(counts.values()) > 20
