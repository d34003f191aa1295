"""Independence of the features: by hand, and by brute force."""

from __future__ import annotations

import oracle
import pytest
from acceptance import accepted
from flint import fmpq

from conditions import AttentionDataset, Evidence, full_rank
from conditions.selection import features


def build(X, z):
    return AttentionDataset.build(X, [1] * len(X), z, [1] * len(z[0]))


def decided(dataset):
    verdict = full_rank.decide(dataset)
    assert not verdict.undecided and verdict.evidence is Evidence.EXACT
    accepted(dataset, verdict)
    if verdict.fails:
        phi = features(dataset, (0,) * dataset.n)
        coefficients = full_rank.dependency(dataset).coefficients
        total = phi.combination([phi.index[i, t] for i, t, _ in coefficients],
                                [x for _, _, x in coefficients])
        assert any(x != 0 for _, _, x in coefficients)
        assert all(a == 0 for a in total.entries())
    return verdict


STEP = [[1, 0], [0, 0]]
"""Difference e1."""
RISE = [[0, 1], [0, 0]]
"""Difference e2."""


def test_independent_queries_and_differences():
    # e1 e1ᵀ and e1 e2ᵀ: the queries alone are independent.
    verdict = decided(build([STEP, STEP], [[1, 0], [0, 1]]))
    assert verdict.holds and verdict.certificate.kind == "independent_factors"
    assert verdict.number == "rank 2 of 2"


def test_one_query_with_independent_differences():
    # e1 e1ᵀ and e2 e1ᵀ are independent although the queries are not.
    verdict = decided(build([STEP, RISE], [[1, 0], [1, 0]]))
    assert verdict.holds and verdict.certificate.kind == "independent_rows"


def test_equal_rows():
    # φ_01 - φ_11 = 0.
    verdict = decided(build([STEP, STEP], [[1, 0], [1, 0]]))
    assert verdict.fails
    (_, _, a), (_, _, b) = verdict.certificate.coefficients
    assert a == -b
    assert [(i, t) for i, t, _ in verdict.certificate.coefficients] == [(0, 1), (1, 1)]


def test_proportional_rows():
    # (2 e1)(3 e1)ᵀ = 6 e1 e1ᵀ: coefficients in the ratio 1 : -6, coprime integers.
    verdict = decided(build([[[2, 0], [0, 0]], STEP], [[3, 0], [1, 0]]))
    assert verdict.fails
    assert [abs(x) for _, _, x in verdict.certificate.coefficients] == [1, 6]


@pytest.mark.parametrize(("X", "z"), [
    # A query 0 makes a zero row; so does a copy of token 0.
    ([STEP], [[0, 0]]),
    ([[[1, 0], [1, 0]]], [[1, 0]]),
])
def test_a_zero_row_is_dependent_by_itself(X, z):
    verdict = decided(build(X, z))
    assert verdict.fails
    (row,) = verdict.certificate.coefficients
    assert row[:2] == (0, 1)


def test_three_differences_in_the_plane():
    # (1,0), (0,1), (1,1) against token 0 = 0: -φ1 - φ2 + φ3 = 0 up to a factor.
    verdict = decided(build([[[0, 0], [1, 0], [0, 1], [1, 1]]], [[1, 1]]))
    assert verdict.fails
    a, b, c = (x for _, _, x in verdict.certificate.coefficients)
    assert a == b == -c


def test_more_rows_than_dimensions():
    # d = 1: three rows of one number each, so the count alone shows it; two of them are enough
    # for a dependency.
    data = build([[[0], [2], [3], [5]]], [[1]])
    verdict = decided(data)
    assert verdict.fails and verdict.certificate.kind == "too_many_rows"
    assert verdict.number == "3 > d² = 1"
    coefficients = full_rank.dependency(data).coefficients
    assert {abs(x) for _, _, x in coefficients} == {fmpq(2), fmpq(3)}


def test_as_many_rows_as_dimensions_are_compared_one_by_one():
    # d = 1 and one row: d² rows, not more, and it is not 0.
    assert decided(build([[[0], [2]]], [[1]])).holds
    # d = 1 and one row that is 0.
    assert decided(build([[[2], [2]]], [[1]])).certificate.kind == "row_dependency"


def test_agrees_with_brute_force():
    counts = {True: 0, False: 0}
    for shape in ((2, 2, 2), (2, 3, 2), (3, 2, 2)):
        for data in oracle.integer_datasets(*shape, count=28, seed=8):
            verdict = decided(AttentionDataset.build(*data))
            assert verdict.holds == oracle.full_row_rank(data)
            counts[verdict.holds] += 1
    assert min(counts.values()) > 10
