"""Gen-SVM by verified floats, against exact arithmetic and the checker."""

from __future__ import annotations

import random
from fractions import Fraction

import general_oracle
import numpy as np
import oracle
import pytest
from acceptance import accepted
from flint import fmpq, fmpq_mat

from conditions import AttentionDataset, Evidence, gen_feasibility, multi_token_support
from conditions.priority_graph import NextTokenData, graph_svm
from conditions.separation import general
from conditions.separation.general import GenInfeasible, GenSolution, solve, solve_exactly
from conditions.separation.general_enclosure import EnclosedGenSolution, enclosed
from conditions.separation.token_sets import Constraints


def of(dataset, sets):
    return Constraints(dataset, sets, range(dataset.n))


def gaussian(seed, n=4, T=5, d=5, queries=None):
    """Normal tokens and queries, the sets of one to three tokens each."""
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(n, d)) if queries is None else queries
    dataset = AttentionDataset.build(rng.normal(size=(n, T, d)), [1] * n, z, np.ones(d))
    return dataset, tuple(tuple(sorted(rng.choice(T, rng.integers(1, 4), replace=False).tolist()))
                          for _ in range(n))


def walks(embeddings, seed, count=14, noise=2.0):
    """Graph-SVM of noisy orders of the tokens."""
    rng = np.random.default_rng(seed)
    K = len(embeddings)
    orders = [np.argsort(np.arange(K) + noise * rng.normal(size=K)).tolist()
              for _ in range(count)]
    svm = graph_svm(NextTokenData.prefixes(orders, embeddings, 3).completed())
    return svm.dataset, svm.sets


def test_the_exact_solution_is_enclosed():
    found = 0
    for seed in range(12):
        dataset, sets = gaussian(seed, T=4, d=4, n=3)
        solution, exact = enclosed(of(dataset, sets)), solve_exactly(dataset, sets)
        if solution is None:
            assert isinstance(exact, GenInfeasible)
            continue
        found += 1
        assert solution.support == exact.support
        lo, hi = solution.norm_bounds
        assert lo <= exact.norm_squared <= hi and (hi - lo) * 10**9 <= hi
        np.testing.assert_allclose(solution.float_W, exact.float_W, rtol=1e-9, atol=1e-9)
        certificate = solution.certificate
        weights = [*certificate.multipliers]
        true = [exact.multipliers[row] for row in certificate.rows]
        true += [exact.equality_multipliers[row] for row in certificate.ties]
        assert all(abs(a - b) * 10**9 < 1 for a, b in zip(weights, true, strict=True))
        lo, hi = certificate.norm_squared
        assert lo <= exact.norm_squared <= hi
    assert found >= 8


def test_graphs_with_more_margins_of_one_than_multipliers():
    # Where one set covers two that cover a fourth, four margins of 1 obey one relation.
    more = 0
    for seed in range(4):
        dataset, sets = walks(np.random.default_rng(seed).normal(size=(8, 9)), seed, 10)
        solution, exact = solve(dataset, sets), solve_exactly(dataset, sets)
        assert isinstance(solution, EnclosedGenSolution)
        assert solution.support == exact.support
        assert solution.constraints.tied
        more += len(solution.support) > solution.count
        verdict = multi_token_support.decide(dataset, sets)
        assert verdict.holds and verdict.evidence is Evidence.ENCLOSED
        assert verdict.certificate.kind == "gen_enclosure"
        assert verdict.certificate.support == exact.support
        assert verdict.number == f"{len(exact.support)} of {len(exact.margins)}"
        accepted(dataset, verdict)
    assert more >= 2


def test_repeated_tokens_and_samples_are_dropped_and_found_again():
    # Token 5 repeats the first of the set, the last sample the first one with half its query.
    rng = np.random.default_rng(1)
    X = rng.integers(-40, 41, (3, 5, 6)).tolist()
    z = (2 * rng.integers(-40, 41, (3, 6))).tolist()
    X = [[*sample, sample[1]] for sample in X]
    X.append([[2 * a for a in x] for x in X[0]])
    z.append([a // 2 for a in z[0]])
    dataset = AttentionDataset.build(X, [1] * 4, z, [1] * 6)
    sets = ((1, 2, 5), (0, 1, 5), (1, 5), (1, 2, 5))
    solution, exact = enclosed(of(dataset, sets)), solve_exactly(dataset, sets)
    assert solution.support == exact.support
    assert solution.classes.ties == ((0, 2), (1, 1))
    twins = {t for i, t in solution.support if i == 0}
    assert twins == {t for i, t in solution.support if i == 3} and twins
    accepted(dataset, multi_token_support.decide(dataset, sets))


def test_what_floats_leave_open_is_decided_exactly():
    # w = (1/2^200, 0): the second row, (1, 1)·2^200, has a margin of exactly 1 that no others give.
    huge = 2**200
    X = [[[huge, 0], [0, 0]], [[huge, huge], [0, 0]]]
    dataset = AttentionDataset.build(X, [1] * 2, [[1, 0], [1, 0]], [1, 1])
    sets = ((0,), (0,))
    assert solve_exactly(dataset, sets).support == ((0, 1), (1, 1))
    assert enclosed(of(dataset, sets)) is None
    verdict = multi_token_support.decide(dataset, sets)
    assert verdict.certificate.kind == "gen_kkt"
    accepted(dataset, verdict)


def test_infeasible_sets_are_not_enclosed():
    dataset = AttentionDataset.build([[[1, 0], [0, 1], [-1, 0], [0, 0]]], [1], [[1, 0]], [1, 1])
    assert enclosed(of(dataset, ((0, 2),))) is None
    assert enclosed(of(dataset, ((3,),))) is None
    zero = AttentionDataset.build([[[1], [0]]] * 2, [1, 1], [[0], [1]], [1])
    assert enclosed(of(zero, ((0,), (0,)))) is None
    for seed in range(6):
        dataset, sets = gaussian(seed, n=6, T=6, d=2)
        assert isinstance(solve(dataset, sets), GenInfeasible)
        assert enclosed(of(dataset, sets)) is None


def test_only_small_blocks_are_exact_at_once(monkeypatch):
    monkeypatch.setattr(general, "enclosed", lambda constraints: pytest.fail("not small"))
    dataset, sets = walks(np.eye(9, dtype=int), 1)
    solve.cache_clear()
    assert isinstance(solve(dataset, sets), GenSolution)


def test_separators_meet_every_equality_exactly():
    found = 0
    for seed in range(8):
        embeddings = np.random.default_rng(seed).choice([-1, 1], (6, 8))
        dataset, sets = walks(embeddings, seed, noise=3.0)
        solution = enclosed(of(dataset, sets))
        if solution is None:
            # Where multipliers are 0 the rounding of the processor chooses the support.
            assert isinstance(solve(dataset, sets), GenSolution)
            continue
        found += 1
        W = fmpq_mat([list(row) for row in solution.separator.W])
        constraints = solution.constraints
        assert constraints.tied
        assert not any(constraints.features(constraints.tied).margins(W))
        assert min(constraints.features(constraints.rejected).margins(W)) >= 1
        assert max(len(str(a)) for a in W.entries()) < 40
        verdict = gen_feasibility.decide(dataset, sets)
        assert verdict.certificate.kind == "gen_separator"
        accepted(dataset, verdict)
    assert found >= 5


def test_dependent_queries_are_feasible_by_enclosure():
    # Five queries in three dimensions.
    z = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1], [1, -1, 2]])
    kinds = set()
    for seed in range(8):
        dataset, sets = gaussian(seed, n=5, T=4, d=3, queries=z)
        verdict = gen_feasibility.decide(dataset, sets)
        kinds.add(verdict.certificate.kind)
        assert verdict.holds == (verdict.certificate.kind == "gen_enclosure")
        accepted(dataset, verdict)
    assert kinds == {"gen_enclosure", "motzkin"}


def test_agrees_with_brute_force():
    rng = random.Random(9)
    found = 0
    for shape in ((1, 3, 2), (2, 3, 2), (3, 2, 2)):
        for data in oracle.integer_datasets(*shape, (-1, 0, 1), 28, seed=17):
            dataset, sets = AttentionDataset.build(*data), general_oracle.draw_sets(data, rng)
            constraints = of(dataset, sets)
            solution = enclosed(constraints) if constraints.rejected else None
            if solution is None:
                continue
            found += 1
            W, support = general_oracle.max_margin(data, sets)
            assert list(solution.support) == support
            norm = oracle.dot(W, W)
            lo, hi = (Fraction(int(x.p), int(x.q)) for x in solution.certificate.norm_squared)
            assert lo <= norm <= hi
            if (separator := solution.separator) is not None:
                flat = [Fraction(int(a.p), int(a.q)) for row in separator.W for a in row]
                equal, above = general_oracle.rows(data, sets)
                assert all(oracle.dot(row, flat) == 0 for row in equal.values())
                assert all(oracle.dot(row, flat) >= 1 for row in above.values())
    assert found >= 15


def test_scales_far_apart():
    dataset, sets = gaussian(3, n=3, T=4, d=5)
    exact = solve_exactly(dataset, sets)
    tiny = fmpq(1, 2**120)
    scaled = AttentionDataset.build(
        [[[tiny * a for a in x] for x in sample] for sample in dataset.tokens], [1] * 3,
        [[a / tiny**2 / 3 for a in q] for q in dataset.queries], [1] * 5)
    solution = enclosed(of(scaled, sets))
    assert solution.support == exact.support
    lo, hi = solution.certificate.norm_squared
    assert lo <= exact.norm_squared * 9 * tiny**2 <= hi
    accepted(scaled, multi_token_support.decide(scaled, sets))
