"""Feasible factors of a given width."""

import pytest
from flint import fmpq
from nuclear_cases import TWISTED, UNITS, sphere

from conditions.selection import features, optimal_selection
from conditions.separation.low_rank import low_rank_factors
from conditions.separation.nuclear import solve
from conditions.separation.nuclear_rounding import square
from conditions.separation.rank_one_factors import RankOnePair, decide_rank_one


def factors(data, alpha, width, seed=0):
    return low_rank_factors(features(data, alpha), solve(data, alpha), width, seed)


def assert_feasible(data, alpha, found, width):
    assert found.K.ncols() == found.Q.ncols() == found.width <= width
    assert min(features(data, alpha).margins(found.K * found.Q.transpose())) >= 1
    assert found.value == (square(found.K) + square(found.Q)) / 2


def test_no_pair_of_width_one_where_there_is_none():
    # Signs of both samples are refuted, see test_rank_one_factors.
    assert factors(TWISTED, (0, 0), 1) is None
    assert_feasible(TWISTED, (0, 0), factors(TWISTED, (0, 0), 2), 2)


def test_units_have_a_pair_of_width_one_with_tight_margins():
    # K = (a, b), Q = (1/a, 1/b): each is least for the other, of a value that is at least 2.
    found = factors(UNITS, (0, 0), 1)
    assert_feasible(UNITS, (0, 0), found, 1)
    assert found.value >= 2
    margins = features(UNITS, (0, 0)).margins(found.K * found.Q.transpose())
    assert max(margins) <= 1 + fmpq(1, 10**6)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("width", [1, 2])
def test_pairs_are_feasible_and_none_is_below_the_optimum(seed, width):
    data = sphere(4, 3, 4, seed)
    alpha = optimal_selection(data)
    found = factors(data, alpha, width)
    if width == 1:
        # The exact decision says whether there is anything to find.
        exists = isinstance(decide_rank_one(features(data, alpha)), RankOnePair)
        assert (found is not None) == exists
        if not exists:
            return
    assert_feasible(data, alpha, found, width)
    assert found.value >= solve(data, alpha).lower


def test_enough_columns_give_the_optimum_itself():
    data = sphere(3, 3, 4, 1)
    alpha = optimal_selection(data)
    optimum = solve(data, alpha)
    assert factors(data, alpha, optimum.rank) is optimum.factors


def test_the_seed_makes_the_answer_repeatable():
    data = sphere(6, 3, 4, 2)
    alpha = optimal_selection(data)
    first, second = (factors(data, alpha, 1, seed=5) for _ in range(2))
    assert (first is None) == (second is None)
    if first is not None:
        assert (first.K, first.Q) == (second.K, second.Q)
