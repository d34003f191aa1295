"""Local optimality: by hand, and by brute force."""

from __future__ import annotations

import numpy as np
import oracle
from acceptance import accepted

from conditions import AttentionDataset, Evidence, local_optimality
from conditions.selection import features, optimal_selection
from conditions.separation.frobenius import EnclosedSolution, solve

# z = e1 and 0 selected, of score 0: the rows of the others are (1, 0), (0, 1) and (3, -1), so
# w = (1, 1) has margins 1, 1 and 2: token 3 is off the support.
TOKENS = [[0, 0], [-1, 0], [0, -1], [-3, 1]]


def one(v, tokens=TOKENS):
    return AttentionDataset.build([tokens], [1], [[1, 0]], v)


def decided(dataset, selection, number):
    verdict = local_optimality.decide(dataset, selection)
    assert not verdict.undecided and verdict.evidence is Evidence.EXACT
    assert verdict.number == number
    accepted(dataset, verdict)
    return verdict


def test_the_optimum_is_locally_optimal():
    # v = (1, 1): scores 0, -1, -1, -2.
    verdict = decided(one([1, 1]), (0,), "0 of 0 rivals")
    assert verdict.holds and verdict.reason == "no rejected token scores as high"


def test_a_better_token_off_the_support_does_no_harm():
    # v = (1, 4): scores 0, -1, -4, 1.
    verdict = decided(one([1, 4]), (0,), "0 of 1 rivals")
    assert verdict.holds and verdict.certificate.support == ((0, 1), (0, 2))


def test_a_better_support_index_is_fatal():
    # v = (-1, 1): scores 0, 1, -1, 4; of the rivals 1 and 3 only 1 is supported.
    verdict = decided(one([-1, 1]), (0,), "1 of 2 rivals")
    assert verdict.fails and "support index (0,1)" in verdict.reason


def test_an_equal_support_index_is_fatal():
    # v = (0, 1): scores 0, 0, -1, 1.
    verdict = decided(one([0, 1]), (0,), "1 of 2 rivals")
    assert verdict.fails


def test_a_sample_without_support_index_demands_nothing():
    # Sample 1 asks the same query about 0 and (-5, 0), of margin 5; label -1 gives scores 0, 5.
    dataset = AttentionDataset.build([TOKENS[:3], [[0, 0], [-5, 0]]], [1, -1], [[1, 0]] * 2,
                                     [1, 1])
    verdict = decided(dataset, (0, 0), "0 of 1 rivals")
    assert verdict.holds and verdict.certificate.support == ((0, 1), (0, 2))


def test_infeasible():
    verdict = decided(one([1, 1], [[0, 0], [1, 0], [-1, 0]]), (0,), "Farkas, 2 rows")
    assert verdict.fails and verdict.certificate.kind == "farkas"


def test_rivals_score_at_least_as_high():
    # v = (0, 1): scores 0, 0, -1, 1 against the selected score 0.
    assert local_optimality.rivals(features(one([0, 1]), (0,))) == ((0, 1), (0, 3))


def test_floats_are_certified_by_a_primal_dual_pair():
    # Long entries go past small exact arithmetic: a short pair excludes the rivals.
    rng = np.random.default_rng(7)
    kinds = set()
    for _ in range(12):
        dataset = AttentionDataset.build(rng.standard_normal((6, 5, 8)),
                                         rng.choice([-1, 1], 6), rng.standard_normal((6, 8)),
                                         rng.standard_normal(8))
        selection = list(optimal_selection(dataset))
        selection[0] = (selection[0] + 1) % 5
        verdict = local_optimality.decide(dataset, selection)
        assert isinstance(solve(dataset, tuple(selection)), EnclosedSolution)
        assert verdict.evidence is Evidence.ENCLOSED
        kinds.add((str(verdict.status), verdict.certificate.kind))
        accepted(dataset, verdict)
        if verdict.certificate.kind == "primal_dual":
            phi = features(dataset, tuple(selection))
            assert verdict.certificate.excluded == local_optimality.rivals(phi)
    assert {("holds", "primal_dual"), ("fails", "kkt_enclosure")} <= kinds


def test_agrees_with_brute_force():
    counts = {True: 0, False: 0}
    for data in oracle.integer_datasets(2, 3, 3, range(-2, 3), 28, seed=7):
        dataset = AttentionDataset.build(*data)
        for alpha in oracle.selections(data)[::3]:
            verdict = local_optimality.decide(dataset, alpha)
            assert verdict.holds == oracle.locally_optimal(data, alpha) == (not verdict.fails)
            counts[verdict.holds] += 1
    assert min(counts.values()) > 5
