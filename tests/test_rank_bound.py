"""The rank of W^mm: by hand, and by brute force."""

from __future__ import annotations

import numpy as np
import oracle
from acceptance import accepted
from flint import fmpq

from conditions import AttentionDataset, Evidence, rank_bound
from conditions.selection import optimal_selection

STEP, RISE = [[1, 0], [0, 0]], [[0, 1], [0, 0]]
"""Differences e1 and e2 with token 0 selected."""


def build(X, z):
    return AttentionDataset.build(X, [1] * len(X), z, [1] * len(z[0]))


def ranked(dataset, selection, rank):
    verdict = rank_bound.decide(dataset, selection)
    assert verdict.holds and verdict.evidence is Evidence.EXACT
    assert verdict.certificate.kind == "exact_rank" and verdict.certificate.rank == rank
    assert verdict.number == f"rank {rank}"
    accepted(dataset, verdict)
    return verdict.certificate


def test_one_row():
    # φ = (2, 0)(0, 3)ᵀ: W = φ/36.
    certificate = ranked(build([[[2, 0], [0, 0]]], [[0, 3]]), (0,), 1)
    assert certificate.multipliers == ((0, 1, fmpq(1, 36)),)


def test_the_identity():
    # φ = e1 e1ᵀ and e2 e2ᵀ: W = I, rank 2 = min(n, d).
    assert ranked(build([STEP, RISE], [[1, 0], [0, 1]]), (0, 0), 2).multipliers == (
        (0, 1, 1), (1, 1, 1))


def test_one_query_gives_rank_one():
    # W = (e1 + e2) e1ᵀ, although n = d = 2.
    ranked(build([STEP, RISE], [[1, 0], [1, 0]]), (0, 0), 1)


def test_one_difference_gives_rank_one():
    # W = e1 (e1 + e2)ᵀ.
    ranked(build([STEP, STEP], [[1, 0], [0, 1]]), (0, 0), 1)


def test_one_sample_bounds_the_rank_by_one():
    # Rows (1, 0), (0, 1) with z = e1: W = (1, 1)ᵀ e1ᵀ.
    ranked(build([[[1, 1], [0, 1], [1, 0]]], [[1, 0]]), (0,), 1)


def test_a_row_off_the_support_does_not_count():
    # φ = e1 e1ᵀ and (e1 + e2)(e1 + e2)ᵀ: W = e1 e1ᵀ gives the second margin 1 as well, rank 1.
    ranked(build([STEP, [[1, 1], [0, 0]]], [[1, 0], [1, 1]]), (0, 0), 1)


def test_infeasible():
    dataset = build([[[1], [0], [-1]]], [[1]])
    verdict = rank_bound.decide(dataset, (1,))
    assert verdict.fails and verdict.certificate.multipliers == ((0, 0, 1), (0, 2, 1))
    accepted(dataset, verdict)


def test_floats_meet_the_bound_modulo_a_prime():
    # Generic data with n = 4 < d = 6, every sample supported: rank 4.
    rng = np.random.default_rng(3)
    dataset = AttentionDataset.build(rng.standard_normal((4, 5, 6)), [1, -1, 1, -1],
                                     rng.standard_normal((4, 6)), rng.standard_normal(6))
    verdict = rank_bound.decide(dataset, optimal_selection(dataset))
    assert verdict.holds and verdict.evidence is Evidence.ENCLOSED
    assert verdict.certificate.kind == "modular_rank" and verdict.certificate.rank == 4
    accepted(dataset, verdict)


def test_agrees_with_brute_force():
    ranks = set()
    for data in oracle.integer_datasets(2, 3, 2, count=28, seed=9):
        dataset = AttentionDataset.build(*data)
        for alpha in oracle.selections(data)[::3]:
            verdict = rank_bound.decide(dataset, alpha)
            expected = oracle.solution_rank(data, alpha)
            assert verdict.fails == (expected is None) == (not verdict.holds)
            if expected is not None:
                assert verdict.certificate.rank == expected
            ranks.add(expected)
    assert ranks == {None, 1, 2}
