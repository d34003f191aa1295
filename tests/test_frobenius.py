"""Att-SVM where it is hard: tiny margins, ties, extreme sizes, many rows, wrong suggestions."""

from fractions import Fraction

import numpy as np
import pytest
from flint import fmpq, fmpq_mat

from conditions.certificates import ExactKKT, KKTEnclosure
from conditions.dataset import AttentionDataset
from conditions.selection import features
from conditions.separation import frobenius
from conditions.separation.frobenius import (
    EnclosedSolution,
    ExactSolution,
    Infeasible,
    solve,
    solve_exactly,
    solve_features,
)
from conditions.separation.suggestion import Suggestion


def one_query(deltas, query=None):
    """One sample whose features are δ eᵀ; token 0, at the origin, is selected."""
    d = len(deltas[0])
    query = query or ["1"] + ["0"] * (d - 1)
    X = [[0] * d] + [[-rational(a) for a in delta] for delta in deltas]
    return AttentionDataset.build([X], [1], [query], [1] * d)


def rational(a):
    return Fraction(a)


def planted(n, T, d, seed):
    """Random floats, and the selection that a random W makes: feasible."""
    rng = np.random.default_rng(seed)
    X, z, W = rng.normal(size=(n, T, d)), rng.normal(size=(n, d)), rng.normal(size=(d, d))
    data = AttentionDataset.build(X, [1] * n, z, np.ones(d))
    return data, tuple(int(k) for k in np.einsum("ntd,de,ne->nt", X, W, z).argmax(axis=1))


def assert_optimal(phi, solution):
    """The KKT conditions, which are sufficient, in exact arithmetic."""
    assert all(x > 0 for x in solution.multipliers.values())
    W = phi.combination(list(solution.multipliers), list(solution.multipliers.values()))
    assert solution.W == W
    margins = phi.margins(W)
    assert min(margins) == 1
    assert all(margins[k] == 1 for k in solution.multipliers)
    assert solution.support == tuple(phi.rows[k] for k, m in enumerate(margins) if m == 1)
    assert solution.norm_squared[0] == sum(a * a for a in W.entries())


@pytest.mark.parametrize("epsilon", ["1e-3", "1e-30", "1e-300"])
def test_margins_as_small_as_one_likes(epsilon):
    # (1, ε) and (−1, ε): W = (0, 1/ε), λ = 1/(2ε²) each; the margin is ε.
    outcome = solve(one_query([["1", epsilon], ["-1", epsilon]]), (0,))
    inverse = 1 / fmpq(Fraction(epsilon).numerator, Fraction(epsilon).denominator)
    assert isinstance(outcome, ExactSolution)
    assert fmpq_mat([[0, 0], [inverse, 0]]) == outcome.W
    assert outcome.norm_squared == (inverse**2, inverse**2)
    assert outcome.support == ((0, 1), (0, 2))
    assert list(outcome.multipliers.values()) == [inverse**2 / 2] * 2


def test_a_margin_of_zero_is_infeasible():
    # W = e₂ separates (0, 1) and is only weakly right about ±e₁.
    outcome = solve(one_query([["2", "0"], ["-3", "0"], ["0", "1"]]), (0,))
    assert isinstance(outcome, Infeasible)
    assert outcome.certificate.multipliers == ((0, 1, fmpq(3)), (0, 2, fmpq(2)))


def test_a_margin_of_one_without_multiplier_is_in_the_support():
    # W = e₁ has margin 1 on (1, 1), too.
    outcome = solve(one_query([["1", "0"], ["1", "1"], ["2", "5"]]), (0,))
    assert outcome.support == ((0, 1), (0, 2))
    assert set(outcome.multipliers) == {0}


def test_duplicates_are_all_in_the_support():
    data, alpha = planted(6, 4, 4, 0)
    single = solve(data, alpha)
    double = AttentionDataset.build(
        [*data.tokens, *data.tokens], data.labels * 2, [*data.queries, *data.queries], data.head)
    outcome = solve(double, alpha + alpha)
    assert isinstance(single, EnclosedSolution)
    assert isinstance(outcome, EnclosedSolution)
    assert outcome.support == single.support + tuple((i + 6, t) for i, t in single.support)
    assert max(single.norm_squared[0], outcome.norm_squared[0]) <= min(
        single.norm_squared[1], outcome.norm_squared[1])


def test_entries_from_1e_minus_300_to_1e300():
    tiny, huge = fmpq(*(1e-300).as_integer_ratio()), fmpq(*(1e300).as_integer_ratio())
    data = AttentionDataset.build([[[0.0, 0.0], [-1e-300, 0.0], [-1e300, 1e300]]], [1],
                                  [[1e300, 0.0]], [1.0, 1.0])
    outcome = solve(data, (0,))
    # The first row is (1e-300·1e300) E₁₁; the second is far above 1 at W = E₁₁/(…).
    assert outcome.support == ((0, 1),)
    assert fmpq_mat([[1 / (tiny * huge), 0], [0, 0]]) == outcome.W
    assert np.isfinite(outcome.float_W).all()


def test_two_halves_of_very_different_sizes_are_enclosed():
    data, alpha = planted(5, 4, 4, 3)
    tokens = [[[x * fmpq(2) ** (40 * (i % 3 - 1)) for x in token] for token in sample]
              for i, sample in enumerate(data.tokens)]
    scaled = AttentionDataset.build(tokens, data.labels, data.queries, data.head)
    outcome, exact = solve(scaled, alpha), solve_exactly(features(scaled, alpha))
    assert_optimal(features(scaled, alpha), exact)
    assert outcome.support == exact.support
    assert outcome.norm_squared[0] <= exact.norm_squared[0] <= outcome.norm_squared[1]


@pytest.mark.parametrize(("n", "T", "d"), [(40, 5, 2), (30, 8, 3), (8, 4, 5)])
def test_enclosures_agree_with_the_exact_solution(n, T, d):
    # The first two have N = n(T−1) ≫ d² rows.
    data, alpha = planted(n, T, d, 1)
    outcome = solve(data, alpha)
    assert isinstance(outcome, EnclosedSolution)
    assert isinstance(outcome.certificate, KKTEnclosure)
    phi = features(data, alpha)
    exact = solve_exactly(phi)
    assert_optimal(phi, exact)
    assert len(exact.multipliers) <= d * d
    assert outcome.support == exact.support
    assert outcome.norm_squared[0] <= exact.norm_squared[0] <= outcome.norm_squared[1]
    assert np.allclose(outcome.float_W, exact.float_W, rtol=1e-9, atol=1e-9)
    assert outcome.float_multipliers.keys() == exact.float_multipliers.keys()


def test_many_rows_that_cannot_be_separated():
    data, alpha = planted(40, 5, 2, 2)
    # One wrong token against 159 right ones in a plane.
    wrong = ((alpha[0] + 1) % 5, *alpha[1:])
    phi = features(data, wrong)
    outcome = solve(data, wrong)
    assert isinstance(outcome, Infeasible)
    total = phi.combination(list(outcome.multipliers), list(outcome.multipliers.values()))
    assert not any(total.entries())
    assert all(x > 0 for x in outcome.multipliers.values())


@pytest.mark.parametrize("passive", [[], [0], [1, 2], [3, 5, 7], list(range(24))])
def test_wrong_suggestions_change_nothing(monkeypatch, passive):
    data, alpha = planted(8, 4, 5, 7)
    right = solve_exactly(features(data, alpha))
    again = AttentionDataset.build(data.tokens, data.labels, data.queries, data.head)
    garbage = Suggestion(np.array(passive, dtype=np.intp), np.ones(len(passive)), 0.5)
    monkeypatch.setattr(frobenius, "suggest_support", lambda phi: garbage)
    outcome = solve_features(features(again, alpha))
    assert isinstance(outcome, ExactSolution)
    assert outcome.support == right.support
    assert outcome.W == right.W


def test_zero_rows_are_infeasible_by_themselves():
    # Token 2 equals the selected one; a zero query makes every row zero.
    equal = solve(one_query([["1", "2"], ["0", "0"]]), (0,))
    assert equal.certificate.multipliers == ((0, 2, fmpq(1)),)
    none = solve(one_query([["1", "2"]], ["0", "0"]), (0,))
    assert none.certificate.multipliers == ((0, 1, fmpq(1)),)


def test_certificate_falls_back_on_the_exact_solution(monkeypatch):
    data, alpha = planted(8, 4, 5, 9)
    outcome = solve_features(features(data, alpha))
    assert isinstance(outcome, EnclosedSolution)
    monkeypatch.setattr(frobenius, "enclosure_certificate", lambda *arguments: None)
    fresh = solve_features(features(data, alpha))
    assert isinstance(fresh.certificate, ExactKKT)
    assert fresh.certificate.support == outcome.support


def test_solutions_are_cached_by_dataset_and_selection():
    data, alpha = planted(3, 3, 3, 0)
    assert solve(data, alpha) is solve(data, alpha)
