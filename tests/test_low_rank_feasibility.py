"""K and Q of m columns: the decision for m = 1 against brute force, pairs, and the gap between."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import oracle
import pytest
from flint import fmpq_mat
from nuclear_cases import TWISTED, UNITS, accepted, integers, of_differences, shape, sphere

from conditions import Evidence, InvalidInput, feasibility, low_rank_feasibility
from conditions.certificates import Certificate, LowRankPair, RankOneInfeasible
from conditions.selection import features, optimal_selection
from conditions.separation import rank_one_factors
from conditions.separation.rank_one_factors import Exhausted, RankOnePair, decide_rank_one


def brute_force(data, alpha):
    """Whether some k qᵀ separates, by all signs and exact enumeration of circuits."""
    differences = [[[a - b for a, b in zip(X[s], x, strict=True)]
                    for t, x in enumerate(X) if t != s]
                   for X, s in zip(data.tokens, alpha, strict=True)]
    plain = [[[int(a.p) for a in delta] for delta in sample] for sample in differences]
    queries = [[int(a.p) for a in z] for z in data.queries]
    for signs in itertools.product((1, -1), repeat=data.n):
        k_rows = [[s * a for a in delta] for s, sample in zip(signs, plain, strict=True)
                  for delta in sample]
        q_rows = [[s * a for a in z] for s, z in zip(signs, queries, strict=True)]
        if oracle.strictly_solvable(q_rows) and oracle.strictly_solvable(k_rows):
            return True
    return False


@pytest.mark.parametrize("seed", range(120))
def test_rank_one_agrees_with_brute_force(seed):
    rng = np.random.default_rng([31, seed])
    n, T, d = shape(rng)
    data = integers(rng, n, T, d)
    alpha = tuple(int(x) for x in rng.integers(0, T, n))
    expected = brute_force(data, alpha)
    outcome = decide_rank_one(features(data, alpha))
    assert isinstance(outcome, RankOnePair if expected else RankOneInfeasible)
    verdict = low_rank_feasibility.decide(data, alpha, 1)
    assert verdict.holds == expected and verdict.fails != expected
    assert accepted(data, verdict)
    if not expected and feasibility.decide(data, alpha).holds:
        assert isinstance(verdict.certificate, RankOneInfeasible)


def test_feasible_is_not_feasible_in_rank_one():
    assert feasibility.decide(TWISTED, (0, 0)).holds
    verdict = low_rank_feasibility.decide(TWISTED, (0, 0), 1)
    assert verdict.fails and verdict.evidence is Evidence.EXACT
    assert isinstance(verdict.certificate, RankOneInfeasible)
    assert Certificate.from_json(verdict.certificate.to_json()) == verdict.certificate
    assert accepted(TWISTED, verdict)
    verdict = low_rank_feasibility.decide(TWISTED, (0, 0), 2)
    assert verdict.holds and accepted(TWISTED, verdict)


@pytest.mark.parametrize(("n", "first"), [(12, True), (9, False)])
def test_many_samples_are_decided(n, first):
    # TWISTED in two samples, and the others in dimensions of their own, with either sign.
    unit = np.eye(n, dtype=int).tolist()
    twisted = [[unit[0], unit[1]], [unit[0], [-a for a in unit[1]]]]
    others = [[unit[i]] for i in range(2, n)]
    data = of_differences([*twisted, *others] if first else [*others, *twisted], unit)
    verdict = low_rank_feasibility.decide(data, (0,) * n, 1)
    assert verdict.fails and accepted(data, verdict)
    leaves = sum(not isinstance(node, int) for node in verdict.certificate.nodes)
    assert leaves == (2 if first else 2 ** (n - 1))


def test_a_search_that_is_cut_decides_nothing(monkeypatch):
    monkeypatch.setattr(rank_one_factors, "MOST_NODES", 3)
    assert isinstance(decide_rank_one(features(TWISTED, (0, 0))), Exhausted)
    verdict = low_rank_feasibility.decide(TWISTED, (0, 0), 1)
    assert verdict.undecided and "3 nodes" in verdict.reason


@pytest.mark.parametrize("m", [1, 2, 3, 5])
def test_pairs_have_m_columns(m):
    data = sphere(6, 8, 10, 1)
    alpha = optimal_selection(data)
    verdict = low_rank_feasibility.decide(data, alpha, m)
    certificate = verdict.certificate
    assert verdict.holds and isinstance(certificate, LowRankPair)
    K, Q = fmpq_mat(certificate.K), fmpq_mat(certificate.Q)
    assert (K.nrows(), K.ncols(), Q.nrows(), Q.ncols()) == (10, m, 10, m)
    assert min(features(data, alpha).margins(K * Q.transpose())) >= 1
    assert accepted(data, verdict)
    assert low_rank_feasibility.decide(data, alpha, np.int64(m)).certificate == certificate


def test_more_columns_cost_less():
    data = sphere(6, 8, 10, 1)
    values = [float(low_rank_feasibility.decide(
        data, optimal_selection(data), m).number.split("value ")[1]) for m in (1, 2, 3)]
    assert values[0] > values[1] > values[2]


def test_full_width_is_feasibility_beyond_floats():
    tiny = Fraction(1, 10 ** 60)
    data = of_differences([[[1, 0]], [[0, tiny]]], [[1, 0], [0, 1]])
    for m in (1, 2):
        verdict = low_rank_feasibility.decide(data, (0, 0), m)
        assert verdict.holds and accepted(data, verdict)
    mixed = of_differences([[[1, 0, 0], [0, 1, 0]], [[1, 0, 0], [0, -1, 0]], [[0, 0, tiny]]],
                           [[1, 0, 0], [0, 1, 0], [0, 0, 1]])
    assert low_rank_feasibility.decide(mixed, (0, 0, 0), 1).fails
    assert low_rank_feasibility.decide(mixed, (0, 0, 0), 2).undecided
    verdict = low_rank_feasibility.decide(mixed, (0, 0, 0), 3)
    assert verdict.holds and accepted(mixed, verdict)


@pytest.mark.parametrize("m", [1, 2])
def test_infeasible_data_fail_for_every_m(m):
    data = of_differences([[[1, 0], [-1, 0]], [[0, 1]]], [[1, 0], [0, 1]])
    verdict = low_rank_feasibility.decide(data, (0, 0), m)
    assert verdict.fails and verdict.certificate.kind == "farkas"
    assert accepted(data, verdict)


@pytest.mark.parametrize("m", [0, -1, 3, 1.0, True, "1", None])
def test_bad_m(m):
    with pytest.raises(InvalidInput, match="m"):
        low_rank_feasibility.decide(UNITS, (0, 0), m)
