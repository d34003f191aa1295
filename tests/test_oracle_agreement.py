"""Every decision agrees with the brute-force exact oracle on small integer datasets."""

from __future__ import annotations

import itertools

import oracle
import pytest
from flint import fmpq

from conditions import (
    AttentionDataset,
    Verdict,
    all_support,
    equal_scores,
    feasibility,
    first_step_separates,
    full_rank,
    local_optimality,
    no_flat_sample,
    no_stationary_point,
    rank_bound,
    support_indices,
    unique_optimum,
)
from conditions.losses import LOSSES
from conditions.selection import features, optimal_selection
from conditions.separation.frobenius import ExactSolution, Infeasible, solve_exactly
from conditions.stationary import monotone_direction, separable_queries

SHAPES = [s for s in itertools.product((1, 2, 3), (2, 3), (1, 2, 3)) if s != (3, 3, 3)]
PER_SHAPE = 14


def sampled():
    for n, T, d in SHAPES:
        seed = 100 * n + 10 * T + d
        yield from oracle.integer_datasets(n, T, d, (-1, 0, 1), PER_SHAPE, seed=seed)
    yield from oracle.integer_datasets(3, 3, 3, (-1, 0, 1), 7, seed=333)
    yield from oracle.integer_datasets(2, 3, 2, (-1, 0, 1), PER_SHAPE, seed=7, ragged=True)


DATA = list(sampled())


def built(data) -> AttentionDataset:
    return AttentionDataset.build(*data)


def says(verdict: Verdict) -> bool:
    assert not verdict.undecided
    return verdict.holds


def selections(data, count=3):
    """The optimal one and the first few others: an exhaustive walk is the oracle's own test."""
    best = tuple(oracle.optimal_selection(data))
    others = (s for s in map(tuple, oracle.selections(data)) if s != best)
    return [best, *itertools.islice(others, count)]


def test_the_sample_is_large_and_treacherous():
    assert len(DATA) > 200
    outcomes = [oracle.max_margin(d, tuple(oracle.optimal_selection(d))) for d in DATA]
    assert sum(m is None for m in outcomes) > 40
    weak = [oracle.weak_support(d, tuple(oracle.optimal_selection(d)))
            for d, m in zip(DATA, outcomes, strict=True) if m is not None]
    assert sum(bool(w) for w in weak) > 5


@pytest.mark.parametrize("data", DATA, ids=range(len(DATA)))
def test_scores_and_ranks(data):
    dataset = built(data)
    assert says(unique_optimum.decide(dataset)) == oracle.unique_optimum(data)
    assert says(equal_scores.decide(dataset)) == oracle.equal_scores(data)
    flat = no_flat_sample.decide(dataset)
    assert says(flat) == (not oracle.flat_samples(data))
    if flat.fails:
        assert list(flat.certificate.samples) == oracle.flat_samples(data)
    assert optimal_selection(dataset) == tuple(oracle.optimal_selection(data))
    assert says(full_rank.decide(dataset)) == oracle.full_row_rank(data)


@pytest.mark.parametrize("data", DATA, ids=range(len(DATA)))
def test_separation(data):
    dataset = built(data)
    for alpha in selections(data):
        expected = oracle.max_margin(data, alpha)
        assert says(feasibility.decide(dataset, alpha)) == (expected is not None)
        assert says(all_support.decide(dataset, alpha)) == oracle.all_support(data, alpha)
        assert says(local_optimality.decide(dataset, alpha)) == oracle.locally_optimal(data, alpha)
        rank = rank_bound.decide(dataset, alpha)
        support = support_indices.decide(dataset, alpha)
        assert says(rank) == says(support) == (expected is not None)
        solution = solve_exactly(features(dataset, alpha))
        assert isinstance(solution, Infeasible) == (expected is None)
        if expected is None:
            continue
        assert isinstance(solution, ExactSolution)
        assert set(solution.support) == {tuple(r) for r in expected.support_rows}
        assert solution.W.tolist() == [[fmpq(a.numerator, a.denominator) for a in row]
                                       for row in expected.W]
        lo, hi = solution.norm_squared
        value = expected.norm_squared
        assert lo == hi == fmpq(value.numerator, value.denominator)
        assert rank.certificate.rank == oracle.solution_rank(data, alpha)


@pytest.mark.parametrize("data", DATA, ids=range(len(DATA)))
def test_first_step_and_stationary_points(data):
    dataset = built(data)
    separable = separable_queries.proof(dataset)
    assert (separable is not None) == oracle.separable_queries(data)
    direction = monotone_direction.proof(dataset)
    assert (direction is not None) == oracle.monotone_direction_exists(data)
    for loss in LOSSES:
        assert says(first_step_separates.decide(dataset, loss)) == \
            oracle.first_step_separates(data, loss)
        at_zero = oracle.gradient_is_zero_at_zero(data, loss)
        excluded = ((oracle.full_row_rank(data) and len(oracle.flat_samples(data)) < len(data[0]))
                    or oracle.monotone_direction_exists(data))
        # With no budget for a search these two are all that is decided.
        cheap = no_stationary_point.decide(dataset, loss, budget=0)
        assert cheap.fails == at_zero
        assert cheap.holds == excluded
        verdict = no_stationary_point.decide(dataset, loss, budget=100)
        assert not (verdict.holds and at_zero)
        assert not excluded or verdict.holds
        assert not at_zero or verdict.fails
