"""Whether all rejected tokens are support indices: by hand, and by brute force."""

from __future__ import annotations

import oracle
from acceptance import accepted

from conditions import AttentionDataset, Evidence, all_support


def one(*tokens):
    """0 selected and z = e1: the row of a token x is -x on the first column of W."""
    return AttentionDataset.build([[[0, 0], *tokens]], [1], [[1, 0]], [1, 1])


def decided(dataset, selection, number):
    verdict = all_support.decide(dataset, selection)
    assert not verdict.undecided and verdict.evidence is Evidence.EXACT
    assert verdict.number == number
    accepted(dataset, verdict)
    return verdict


def test_one_rejected_token_is_always_supported():
    verdict = decided(one([-5, 3]), (0,), "1 of 1")
    assert verdict.holds and verdict.certificate.support == ((0, 1),)


def test_orthogonal_rows_are_all_supported():
    # w = (1, 1/2) gives (1, 0) and (0, 2) margin 1.
    verdict = decided(one([-1, 0], [0, -2]), (0,), "2 of 2")
    assert verdict.holds and verdict.certificate.support == ((0, 1), (0, 2))


def test_margin_one_with_a_redundant_row_counts():
    # w = (1, 1): (1/2, 1/2) has margin 1 although the other two rows suffice.
    assert decided(one([-1, 0], [0, -1], ["-1/2", "-1/2"]), (0,), "3 of 3").holds


def test_a_longer_row_is_not_supported():
    # w = (1, 0) gives (2, 0) margin 2.
    verdict = decided(one([-1, 0], [-2, 0]), (0,), "1 of 2")
    assert verdict.fails and verdict.certificate.support == ((0, 1),)
    assert verdict.reason == "1 of 2 rejected tokens have margin above 1"


def test_margin_one_without_a_multiplier_counts():
    # Rows (1, 0) and (1, 1): w = (1, 0) already gives both margin exactly 1.
    assert decided(one([-1, 0], [-1, -1]), (0,), "2 of 2").holds
    # With (2, 1) in the place of (1, 1) the margin is 2.
    assert decided(one([-1, 0], [-2, -1]), (0,), "1 of 2").fails


def test_infeasible():
    verdict = decided(one([1, 0], [-1, 0]), (0,), "Farkas, 2 rows")
    assert verdict.fails and verdict.certificate.multipliers == ((0, 1, 1), (0, 2, 1))


def test_agrees_with_brute_force():
    seen = set()
    for data in oracle.integer_datasets(2, 3, 2, count=28, seed=6):
        dataset = AttentionDataset.build(*data)
        for alpha in oracle.selections(data)[::3]:
            verdict = all_support.decide(dataset, alpha)
            assert verdict.holds == oracle.all_support(data, alpha) == (not verdict.fails)
            seen.add((verdict.status, verdict.certificate.kind))
    assert len(seen) == 3
