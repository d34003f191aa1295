"""Rank one separation: linear problems by hand and by brute force, trees replayed."""

from itertools import product

import numpy as np
import oracle
import pytest
from flint import fmpq, fmpz
from nuclear_cases import TWISTED, UNITS, integers, of_differences, shape

from conditions.certificates import OppositeQueries, OppositeRows, RankOneInfeasible
from conditions.selection import features, optimal_selection
from conditions.separation import rank_one_factors
from conditions.separation.rank_one_factors import (
    Exhausted,
    RankOnePair,
    decide_rank_one,
    positive_vector,
)


def table(rows):
    return [[fmpz(int(a)) for a in row] for row in rows]


@pytest.mark.parametrize("seed", range(30))
def test_positive_vector_agrees_with_gordan(seed):
    rng = np.random.default_rng(seed)
    rows = rng.integers(-2, 3, (int(rng.integers(1, 6)), int(rng.integers(1, 4)))).tolist()
    found = positive_vector(table(rows))
    assert isinstance(found, dict) != oracle.strictly_solvable(rows)
    if isinstance(found, dict):
        assert min(found.values()) > 0
        assert all(x.q == 1 for x in found.values())
        assert not any(sum(x * rows[j][c] for j, x in found.items()) for c in range(len(rows[0])))
    else:
        assert min(sum(a * u for a, u in zip(row, found.entries(), strict=True))
                   for row in rows) >= 1


def test_positive_vector_by_hand():
    # 3·(2, 0) + 2·(−3, 0) = 0, whatever else there is.
    assert positive_vector(table([[2, 0], [0, 1], [-3, 0]])) == {0: fmpq(3), 2: fmpq(2)}
    assert positive_vector(table([[1, 1], [0, 0]])) == {1: fmpq(1)}


def test_positive_vector_where_floats_cannot_see():
    # (10⁴⁰, 1) and (−10⁴⁰, 1): only u near e₂ has both products positive.
    big = 10**40
    u = positive_vector(table([[big, 1], [-big, 1]]))
    assert u[1, 0] - abs(big * u[0, 0]) >= 1


def test_twisted_differences_are_refuted_by_hand():
    # s = (1, 1): δ = e₂ and −e₂; s = (1, −1): e₁ and −e₁.
    found = decide_rank_one(features(TWISTED, (0, 0)))
    assert found == RankOneInfeasible((
        0, 1, OppositeRows(((0, 2, fmpq(1)), (1, 2, fmpq(1)))),
        OppositeRows(((0, 1, fmpq(1)), (1, 1, fmpq(1))))))


def test_opposite_queries_are_refuted_by_hand():
    # One difference wants equal signs, queries e₁ and −e₁ opposite ones.
    phi = features(of_differences([[[1, 0]], [[1, 0]]], [[1, 0], [-1, 0]]), (0, 0))
    assert decide_rank_one(phi) == RankOneInfeasible((
        0, 1, OppositeQueries(((0, fmpq(1)), (1, fmpq(1)))),
        OppositeRows(((0, 1, fmpq(1)), (1, 1, fmpq(1))))))


def test_units_have_a_pair():
    found = decide_rank_one(features(UNITS, (0, 0)))
    assert isinstance(found, RankOnePair)
    assert min(features(UNITS, (0, 0)).margins(found.k * found.q.transpose())) >= 1


@pytest.mark.parametrize("seed", range(25))
def test_agrees_with_all_signs(seed):
    rng = np.random.default_rng(seed)
    data = integers(rng, *shape(rng))
    phi = features(data, optimal_selection(data))
    deltas, queries = phi.differences.tolist(), data.integers.queries.tolist()

    def solvable(signs):
        left = [[signs[i] * int(a) for a in row] for (i, _), row in zip(phi.rows, deltas,
                                                                       strict=True)]
        right = [[s * int(a) for a in row] for s, row in zip(signs, queries, strict=True)]
        return oracle.strictly_solvable(left) and oracle.strictly_solvable(right)

    expected = any(solvable(signs) for signs in product((1, -1), repeat=data.n))
    found = decide_rank_one(phi)
    assert isinstance(found, RankOnePair if expected else RankOneInfeasible)
    if isinstance(found, RankOnePair):
        assert min(phi.margins(found.k * found.q.transpose())) >= 1


def test_a_cut_search_decides_nothing(monkeypatch):
    monkeypatch.setattr(rank_one_factors, "MOST_NODES", 1)
    assert decide_rank_one(features(TWISTED, (0, 0))) == Exhausted(1)
