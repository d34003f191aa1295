"""Enclosures of W^mm: the rational certificate, and the balls of the basins."""

from fractions import Fraction

import numpy as np
import pytest
from basin_cases import TWO, locally_optimal
from flint import arb, fmpq, fmpq_mat

from conditions.basin.enclosure import (
    MAX_CLOCK,
    check_rule,
    enclose,
    positive_positions,
    score_gaps,
    scores_in_range,
    slope,
    support_rivals,
)
from conditions.dataset import AttentionDataset
from conditions.errors import InvalidInput
from conditions.selection import features
from conditions.separation.enclosure import enclosure_certificate
from conditions.separation.frobenius import EnclosedSolution, Infeasible, solve, solve_exactly


def enclosed(count=4, n=5, T=4, d=4, spread=0):
    """Features of datasets whose solution is enclosed, and the exact one."""
    found, seed = [], 0
    while len(found) < count:
        rng = np.random.default_rng([seed, spread])
        X = rng.normal(size=(n, T, d)) * 2.0 ** rng.integers(-spread, spread + 1, (n, T, 1))
        X[:, 0] = 0
        data = AttentionDataset.build(X, [1] * n, rng.normal(size=(n, d)), np.ones(d))
        outcome = solve(data, (0,) * n)
        if isinstance(outcome, EnclosedSolution):
            found.append((outcome, solve_exactly(outcome.features)))
        seed += 1
    return found


# The certificate ----------------------------------------------------------------------------


@pytest.mark.parametrize("spread", [0, 8])
def test_certificate_encloses_by_plain_norms(spread):
    for outcome, exact in enclosed(spread=spread):
        phi, certificate = outcome.features, outcome.enclosure
        if certificate is None:
            continue
        s = len(certificate.rows)
        positions = [phi.index[row] for row in certificate.rows]
        K = fmpq_mat(phi.gram(positions)) * fmpq(1, phi.scale * phi.scale)
        unit = fmpq(2) ** certificate.inverse.exponent
        R = fmpq_mat(s, s, [a for row in certificate.inverse.entries for a in row]) * unit
        identity = fmpq_mat(s, s, [int(a == b) for a in range(s) for b in range(s)])
        beta = max(sum(abs(a) for a in row) for row in (identity - R * K).tolist())
        assert beta < 1
        given = fmpq_mat(s, 1, list(certificate.multipliers))
        correction = R * (fmpq_mat(s, 1, [1] * s) - K * given)
        error = max(abs(a) for a in correction.entries()) / (1 - beta)
        true = [exact.multipliers[k] for k in positions]
        assert all(abs(a - b) <= error for a, b in zip(true, given.entries(), strict=True))
        assert min(given.entries()) > error
        lo, hi = certificate.norm_squared
        assert lo <= exact.norm_squared[0] <= hi
        assert hi - lo <= lo / 2**28
        assert certificate.support == exact.support


def test_most_certificates_are_enclosures():
    found = [outcome.enclosure for outcome, _ in enclosed(6)]
    assert sum(certificate is not None for certificate in found) >= 5


def test_a_weak_bound_gives_no_certificate():
    outcome, _ = enclosed(1)[0]
    verified = outcome.verified
    weak = type(verified)(**{**vars(verified), "defect": 0.25})
    assert enclosure_certificate(outcome.features, weak, outcome.support) is None


# Balls --------------------------------------------------------------------------------------


def contains(ball, value):
    return ball.contains(arb(value))


def test_balls_contain_the_exact_solution():
    for outcome, exact in enclosed():
        frame = enclose(outcome.features)
        phi = frame.phi
        assert frame.positions == sorted(exact.multipliers)
        assert all(ball.overlaps(arb(exact.multipliers[k]))
                   for k, ball in zip(frame.positions, frame.multipliers, strict=True))
        assert frame.norm_squared.overlaps(arb(exact.norm_squared[0]))
        assert all(ball.overlaps(arb(m))
                   for ball, m in zip(frame.reach, exact.margins, strict=True))
        assert all(ball.overlaps(arb(a)) for ball, a in
                   zip(frame.W.entries(), exact.W.entries(), strict=True))
        squares = [fmpq(phi.gram()[k, k], phi.scale * phi.scale) for k in range(len(phi))]
        assert all((ball * ball).overlaps(arb(x))
                   for ball, x in zip(frame.sizes, squares, strict=True))
        # v² = u² − a²/‖M‖² from below.
        assert all(v * v >= arb(x - m * m / exact.norm_squared[0]) or
                   (v * v).overlaps(arb(x - m * m / exact.norm_squared[0]))
                   for v, x, m in zip(frame.across, squares, exact.margins, strict=True))


def test_two_samples_by_hand():
    # α = (0, 0): W = e₁e₁ᵀ + 3e₂e₁ᵀ, φ = e₁e₁ᵀ and (−2e₁ + e₂)e₁ᵀ; K = [[1, −2], [−2, 5]],
    # λ = K⁻¹1 = (7, 3), ‖W‖² = 10. Both scores 1 against 0: gaps 1, 1.
    frame = enclose(features(TWO, (0, 0)))
    assert frame.multipliers == [arb(7), arb(3)]
    assert frame.norm_squared == 10
    assert frame.W.entries() == [arb(1), arb(0), arb(3), arb(0)]
    assert frame.gaps == [1, 1]
    assert frame.reach == [arb(1), arb(1)]
    assert frame.support == {0, 1}
    assert all(contains(u * u, fmpq(x)) for u, x in zip(frame.sizes, (1, 5), strict=True))


def test_weights_at_two_margins_by_hand():
    # One rejected token a sample: D = Δe⁻ᵐ, S = 1/(1 + e⁻ᵐ); f = 1 in both samples.
    frame = enclose(features(TWO, (0, 0)))
    w = frame.weights("exponential", [arb(2), arb(3)])
    for i, m in enumerate((2.0, 3.0)):
        e = np.exp(-m)
        assert float(w.D[i]) == pytest.approx(e, rel=1e-12)
        assert float(w.S[i]) == pytest.approx(1 / (1 + e), rel=1e-12)
        assert float(w.least[i]) == pytest.approx(np.exp(-(1 + e)), rel=1e-12)
        assert float(w.most[i]) == pytest.approx(np.exp(-(1 - e)), rel=1e-12)


def test_slopes_by_hand():
    # |ℓ'|: 1; e^−f; 1/(1 + e^f), ½ at 0.
    assert slope("correlation", fmpq(7)) == 1
    assert slope("exponential", fmpq(0)) == 1
    assert contains(slope("logistic", fmpq(0)), fmpq(1, 2))
    assert float(slope("exponential", fmpq(2))) == pytest.approx(np.exp(-2.0))


def test_rivals_are_support_indices_that_score_no_worse():
    assert support_rivals(solve(TWO, (0, 0))) == []
    # Selecting the origin, of score 0, against e₁ of score 1.
    data = AttentionDataset.build([[[1, 0], [0, 0]]], [1], [[1, 0]], [1, 0])
    solution = solve(data, (1,))
    assert support_rivals(solution) == [(0, 0)]
    assert score_gaps(features(data, (1,))) == [-1]
    assert positive_positions(solution) == [0]
    for dataset, alpha in locally_optimal(3):
        assert support_rivals(solve(dataset, alpha)) == []


def test_infeasible_selections_have_no_enclosure():
    data = AttentionDataset.build([[[0], [1], [-1]]], [1], [[1]], [1])
    assert isinstance(solve(data, (0,)), Infeasible)
    assert enclose(features(data, (0,))) is None


def test_rules_and_steps():
    assert check_rule("normalized", "1/3") == ("normalized", fmpq(1, 3))
    assert check_rule("flow", 0) == ("flow", 0)
    for rule, step in (("sgd", 1), ("flow", 1), ("plain", 0), ("normalized", -1), (None, 1)):
        with pytest.raises(InvalidInput):
            check_rule(rule, step)
    assert MAX_CLOCK == 2**40


def test_scores_beyond_the_range_of_the_exponential():
    data = AttentionDataset.build([[["1e9"], [0]]], [1], [[1]], [1])
    assert scores_in_range(data, "correlation")
    assert not scores_in_range(data, "logistic")
    assert scores_in_range(TWO, "logistic")
    assert score_gaps(features(data, (0,))) == [fmpq(Fraction("1e9").numerator)]
