"""Data of extreme size and structure: every decision is made, and every proof is accepted."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import pytest
from acceptance import accepted
from flint import fmpz_mat

from conditions import (
    AttentionDataset,
    all_support,
    equal_scores,
    feasibility,
    first_step_separates,
    full_rank,
    local_optimality,
    no_flat_sample,
    no_stationary_point,
    predicted_direction,
    rank_bound,
    support_indices,
    unique_optimum,
)
from conditions.exact.ranks import integer_rows
from conditions.losses import LOSSES
from conditions.selection import features, optimal_selection
from conditions.separation.frobenius import ExactSolution, solve, solve_exactly
from verifier.certify import certify
from verifier.directions import explore

ABOUT_DATASET = (unique_optimum, equal_scores, no_flat_sample, full_rank)
ABOUT_SELECTION = (feasibility, support_indices, all_support, local_optimality, rank_bound)

F = Fraction
POOLS = {
    "from 1e-300 to 1e300": [0.0, 1e-300, -1e-300, 1e300, -1e300, 1.0, -1.0, 2.0**-60, 1e-30],
    "denormals": [5e-324, 1e-323, -5e-324, 0.0, 1.0],
    "beyond floats": [F(10)**400, -F(10)**400, F(1, 10**400), F(0), F(1), F(-1), 1e308, -1e308],
    "long denominators": [F(1, 3), F(-1, 7), F(10**40 + 1, 10**39 + 7), F(0), F(1),
                          F(-2, 10**20 + 39)],
    "ties": [0, 1, -1, 2, -2, F(1, 2)],
    "edges of the float rows": [2.0**-60, -2.0**-60, 2.0**60, -2.0**60, 1.0, -1.0, 0.0,
                                1 + 2**-52, 1 - 2**-53],
}


def drawn(pool, seed):
    """A small dataset with repeated samples, tokens and queries now and then, and a selection."""
    draw = random.Random(seed)
    n, d = draw.randint(1, 4), draw.randint(1, 4)

    def vectors(count):
        return [[draw.choice(pool) for _ in range(d)] for _ in range(count)]

    X = [vectors(draw.randint(2, 4)) for _ in range(n)]
    z = vectors(n)
    if draw.random() < 0.3:
        z = [z[0]] * n
    if draw.random() < 0.3:
        X = [X[0]] * n
    if draw.random() < 0.3:
        X[0] = [*X[0], X[0][-1]]
    if draw.random() < 0.2:
        z[-1] = [0] * d
    dataset = AttentionDataset.build(X, [draw.choice((1, -1)) for _ in range(n)], z, vectors(1)[0])
    if draw.random() < 0.5:
        return dataset, optimal_selection(dataset)
    return dataset, tuple(draw.randrange(T) for T in dataset.lengths)


@pytest.mark.parametrize("name", POOLS)
def test_everything_is_decided_and_accepted(name):
    for seed in range(20):
        dataset, alpha = drawn(POOLS[name], seed)
        verdicts = [module.decide(dataset) for module in ABOUT_DATASET]
        verdicts += [module.decide(dataset, alpha) for module in ABOUT_SELECTION]
        verdicts += [first_step_separates.decide(dataset, loss) for loss in LOSSES]
        assert not any(verdict.undecided for verdict in verdicts)
        verdicts += [no_stationary_point.decide(dataset, loss, budget=0) for loss in LOSSES]
        accepted(dataset, *verdicts)


TINY = F(1, 3**62_000)
"""29,582 digits below the stroke; its powers are soon longer than a checker reads."""


def test_what_no_checker_could_read_is_undecided():
    # One row φ = TINY²: ‖W^mm‖² = TINY^−4, of 118,327 digits; that some W is feasible needs only
    # one of about 10^60,000.
    dataset = AttentionDataset.build([[[TINY], [0]]], [1], [[TINY]], [1])
    report = certify(dataset, seconds=0, iterations=0)
    found = {verdict.condition: verdict for verdict in report.verdicts}
    for condition in ("support_indices", "all_support", "local_optimality", "rank_bound"):
        assert found[condition].undecided
        assert "118,327 characters" in found[condition].reason
    for condition in ("feasibility", "unique_optimum", "full_rank", "no_stationary_point"):
        assert found[condition].holds
    accepted(dataset, *report.verdicts)
    explored = explore(dataset)
    assert all(verdict.undecided for verdict in explored.report.verdicts)
    accepted(dataset, *explored.report.verdicts)


@pytest.mark.parametrize("seed", [0, 2, 3, 4])
def test_whatever_is_written_is_accepted(seed):
    draw = random.Random(seed)
    pool = [TINY, -TINY, F(7**50, 10**8000), F(1, 3), 1, -1, 0]
    n, d = draw.randint(1, 2), draw.randint(1, 2)

    def vectors(count):
        return [[draw.choice(pool) for _ in range(d)] for _ in range(count)]

    dataset = AttentionDataset.build([vectors(draw.randint(2, 3)) for _ in range(n)],
                                     [draw.choice((1, -1)) for _ in range(n)], vectors(n),
                                     vectors(1)[0])
    accepted(dataset, *certify(dataset, seconds=0, iterations=0, robust=True).verdicts)
    accepted(dataset, *explore(dataset, seconds=1).report.verdicts)


@pytest.mark.parametrize("size", [1e-170, 1e170])
def test_a_norm_whose_square_is_out_of_range(size):
    # One row φ = size·e1e1ᵀ: W^mm = e1e1ᵀ/size, margin 1/‖W^mm‖ = size.
    dataset = AttentionDataset.build([[[size, 0], [0, 0]]], [1], [[1, 0]], [1, 1])
    verdict = support_indices.decide(dataset, (0,))
    assert verdict.holds and f"≈ {size:.6g}" in verdict.reason
    # W = (2, 1)ᵀ e1ᵀ/size has the correlation 2/√5 with it, 1 − 2/√5 = 0.1056.
    W = np.array([[2.0, 0.0], [1.0, 0.0]]) / size
    assert predicted_direction.decide(dataset, (0,), W, "logistic").number == "1 − corr 0.11"


@pytest.mark.parametrize("size", [10**6, 10**50, 10**300])
@pytest.mark.parametrize("loss", ["logistic", "exponential"])
def test_first_steps_at_huge_scores(size, loss):
    # d = 1, z = (1, −1), v = 1. Sample 0 has the tokens size, size − 1 and pulls by |ℓ'(size − ½)|;
    # sample 1, tokens 1 and 0, pulls the other way by |ℓ'(½)|, incomparably harder: its own margin
    # is positive, that of sample 0 negative.
    dataset = AttentionDataset.build([[[size], [size - 1]], [[1], [0]]], [1, 1], [[1], [-1]], [1])
    verdict = first_step_separates.decide(dataset, loss)
    assert verdict.fails
    assert (verdict.certificate.row, verdict.certificate.sign) == ((0, 1), -1)
    accepted(dataset, verdict)
    # With the query 1 in both samples all pull the same way.
    dataset = AttentionDataset.build([[[size], [size - 1]], [[1], [0]]], [1, 1], [[1], [1]], [1])
    verdict = first_step_separates.decide(dataset, loss)
    assert verdict.holds
    accepted(dataset, verdict)


def test_decimals_are_solved_in_floats():
    # Entries such as 1/10 are no floats; 40 rows of them need no exact arithmetic.
    draw = random.Random(1)

    def vectors(count):
        return [[f"{draw.randint(-99, 99)}e-1" for _ in range(8)] for _ in range(count)]

    dataset = AttentionDataset.build([vectors(6) for _ in range(8)], [1] * 8, vectors(8),
                                     vectors(1)[0])
    alpha = optimal_selection(dataset)
    verdict = support_indices.decide(dataset, alpha)
    assert verdict.certificate.kind == "kkt_enclosure"
    exact = solve_exactly(features(dataset, alpha))
    assert isinstance(exact, ExactSolution)
    assert set(verdict.certificate.support) == set(exact.support)
    lo, hi = solve(dataset, alpha).norm_squared
    assert lo <= exact.norm_squared[0] <= hi
    accepted(dataset, verdict)


def test_equal_features_of_different_factors_are_solved_in_floats():
    # Sample 3 repeats sample 0 with tokens times 3 and query over 3: the same features.
    rng = np.random.default_rng(0)
    X = rng.integers(-4000, 4001, (3, 4, 6)).tolist()
    z = (3 * rng.integers(-4000, 4001, (3, 6))).tolist()
    X.append([[3 * a for a in x] for x in X[0]])
    z.append([a // 3 for a in z[0]])
    dataset = AttentionDataset.build(X, [1] * 4, z, rng.integers(-40, 41, 6).tolist())
    alpha = (0, 0, 0, 0)
    verdict = support_indices.decide(dataset, alpha)
    assert verdict.certificate.kind == "kkt_enclosure"
    support = set(verdict.certificate.support)
    assert support == set(solve_exactly(features(dataset, alpha)).support)
    assert {t for i, t in support if i == 0} == {t for i, t in support if i == 3}
    accepted(dataset, verdict)


def test_the_rank_below_both_factors():
    # Orthogonal features. Samples 0 and 1 share the difference e1 at the
    # queries e1 and e2, sample 2 has differences e2 and e3 at the query e3: W^mm is
    # e1(e1 + e2)ᵀ + (e2 + e3)e3ᵀ of rank 2, though differences and queries span three dimensions.
    def unit(k):
        return [int(j == k) for j in range(3)]

    zero = [0, 0, 0]
    X = [[unit(0), zero], [unit(0), zero], [[0, 1, 1], unit(1), unit(2)]]
    dataset = AttentionDataset.build(X, [1, 1, 1], [unit(0), unit(1), unit(2)], [1, 1, 1])
    bounds = rank_bound.bounds(solve(dataset, (0, 0, 0)))
    assert (bounds.rank, bounds.differences) == (2, ((0, 1), (1, 1)))
    verdict = rank_bound.decide(dataset, (0, 0, 0))
    assert verdict.certificate.rank == 2
    accepted(dataset, verdict)


def test_ranks_of_causal_data_need_no_elimination_over_the_rationals():
    # Prefixes that share queries and selected tokens: the rank is below the plain bounds.
    rng = np.random.default_rng(0)
    divided = 0
    for _ in range(6):
        dataset = AttentionDataset.causal(rng.normal(size=(3, 5, 10)), [1, -1, 1],
                                          rng.normal(size=10))
        alpha = optimal_selection(dataset)
        bounds = rank_bound.bounds(solve(dataset, alpha))
        assert bounds is not None
        exact: fmpz_mat = integer_rows(solve_exactly(features(dataset, alpha)).W)
        assert bounds.rank == exact.rank()
        verdict = rank_bound.decide(dataset, alpha)
        assert verdict.certificate.kind == "modular_rank"
        assert verdict.certificate.rank == bounds.rank
        accepted(dataset, verdict)
        divided += 0 < len(bounds.differences) < len(verdict.certificate.enclosure.rows)
    assert divided
