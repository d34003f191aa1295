"""The nuclear norm problem: closed forms, a second solver, narrow brackets, ranks, rounding."""

from __future__ import annotations

import warnings
from fractions import Fraction

import cvxpy
import numpy as np
import pytest
from flint import fmpq, fmpq_mat
from nuclear_cases import TWISTED, UNITS, integers, of_differences, shape, sphere

from conditions.exact.definite import is_contraction, is_semidefinite
from conditions.exact.numbers import to_float
from conditions.selection import features, optimal_selection
from conditions.separation import frobenius
from conditions.separation.frobenius import Infeasible
from conditions.separation.nuclear import NuclearSolution, solve
from conditions.separation.nuclear_frame import frame
from conditions.separation.nuclear_program import minimize
from conditions.separation.nuclear_rounding import contracting_multipliers, feasible_factors


def certified(solution):
    """The bracket, re-derived: margins ≥ 1, ‖M‖ ≤ 1, and both values."""
    phi, factors = solution.features, solution.factors
    W = factors.K * factors.Q.transpose()
    assert min(phi.margins(W)) >= 1
    weights = solution.multipliers.weights
    assert all(x > 0 for x in weights.values())
    assert is_contraction(phi.combination(list(weights), list(weights.values())))
    assert solution.lower == sum(weights.values())
    assert 2 * solution.upper == sum(a * a for A in (factors.K, factors.Q) for a in A.entries())
    assert solution.lower <= solution.upper
    c = solution.certificate
    assert 0 < c.lower <= solution.lower and solution.upper <= c.upper
    assert to_float((c.upper - c.lower) / c.upper) <= 1.3 * solution.gap + 1e-110
    return solution


def second_opinion(data, alpha):
    phi = features(data, alpha)
    dense = (phi.float_differences[:, :, None] * phi.float_queries[:, None, :]).reshape(
        len(phi), -1)
    W = cvxpy.Variable((data.d, data.d))
    problem = cvxpy.Problem(cvxpy.Minimize(cvxpy.normNuc(W)),
                            [dense @ cvxpy.vec(W, order="C") >= 1])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return problem.solve(solver="CLARABEL")


@pytest.mark.parametrize(("n", "T", "d", "seed"), [
    (6, 8, 10, 0), (6, 8, 10, 1), (5, 5, 5, 2), (3, 4, 6, 3), (2, 3, 2, 0), (8, 5, 4, 2),
    (1, 6, 3, 0), (4, 2, 7, 0)])
def test_brackets_hold_what_another_solver_finds(n, T, d, seed):
    data = sphere(n, T, d, seed)
    alpha = optimal_selection(data)
    solution = certified(solve(data, alpha))
    assert solution.gap <= 1e-6
    assert solution.rank <= min(n, d)
    value = second_opinion(data, alpha)
    assert to_float(solution.lower) * (1 - 1e-5) <= value <= to_float(solution.upper) * (1 + 1e-5)


@pytest.mark.parametrize("size", [(6, 8, 10), (10, 10, 12)])
@pytest.mark.parametrize("accuracy", [1e-9, 1e-14, 1e-40])
def test_accuracy_as_asked(size, accuracy):
    data = sphere(*size, 4)
    coarse = solve(data, optimal_selection(data))
    solution = certified(solve(data, optimal_selection(data), accuracy))
    assert solution.gap <= accuracy
    assert coarse.lower <= solution.upper and solution.lower <= coarse.upper
    assert solution.rank == coarse.rank


def test_full_size_is_within_a_millionth():
    data = sphere(15, 15, 20, 0)
    solution = certified(solve(data, optimal_selection(data)))
    assert solution.gap <= 1e-6 and solution.rank <= 15


@pytest.mark.parametrize("seed", range(12))
def test_one_query_gives_the_frobenius_norm(seed):
    # All W = u zᵀ have one singular value, so that both norms agree.
    rng = np.random.default_rng(seed)
    data = integers(rng, 1, 4, 3, 3)
    alpha = optimal_selection(data)
    outcome, exact = solve(data, alpha, 1e-12), frobenius.solve(data, alpha)
    if isinstance(exact, Infeasible):
        assert isinstance(outcome, Infeasible)
        return
    lo, hi = exact.norm_squared
    assert certified(outcome).lower ** 2 <= hi and lo <= outcome.upper ** 2
    assert outcome.rank == 1


def test_orthogonal_queries_add_up():
    # Columns of W for e1 and e2 are (3, 4)/25 and 1/2 (−4, 3)/5 · …: orthogonal, so norms add.
    data = of_differences([[[3, 4]], [[-8, 6]]], [[1, 0], [0, 1]])
    solution = certified(solve(data, (0, 0), 1e-20))
    value = fmpq(1, 5) + fmpq(1, 10)
    assert solution.lower <= value <= solution.upper
    assert solution.gap <= 1e-20


def test_several_optima_have_a_bracket():
    solution = certified(solve(UNITS, (0, 0)))
    assert solution.lower <= 2 <= solution.upper and solution.gap <= 1e-6


def test_rank_two_is_needed():
    solution = certified(solve(TWISTED, (0, 0)))
    assert solution.rank == 2


@pytest.mark.parametrize("seed", range(40))
def test_small_integers_agree_with_exact_feasibility(seed):
    rng = np.random.default_rng([77, seed])
    n, T, d = shape(rng)
    data = integers(rng, n, T, d)
    alpha = optimal_selection(data)
    outcome = solve(data, alpha)
    exact = frobenius.solve_exactly(features(data, alpha))
    assert isinstance(outcome, Infeasible) == isinstance(exact, Infeasible)
    if isinstance(outcome, NuclearSolution):
        solution = certified(outcome)
        assert solution.gap <= 1e-6 and solution.rank <= min(n, d)
        # ‖W‖_F ≤ ‖W‖_* ≤ √rank ‖W‖_F.
        assert exact.norm_squared[0] <= solution.upper ** 2
        assert solution.lower ** 2 <= min(n, d) * exact.norm_squared[0]


@pytest.mark.parametrize("exponent", [-90, -20, 20, 90])
def test_scaling_tokens_scales_the_optimum(exponent):
    data = sphere(4, 4, 5, 1)
    alpha = optimal_selection(data)
    factor = fmpq(2) ** exponent
    scaled = data.build([[[factor * x for x in token] for token in sample]
                         for sample in data.tokens], data.labels, data.queries, data.head)
    base, other = solve(data, alpha), certified(solve(scaled, alpha))
    assert other.gap <= 1e-6
    assert base.lower <= other.upper * factor and other.lower * factor <= base.upper


def test_rows_of_very_different_sizes():
    data = of_differences([[[Fraction(1, 10 ** 6), 0, 0]], [[0, 3, 1]], [[1000, 1, 1]]],
                          [[1, 0, 0], [1, 1, 0], [0, 1, 2]])
    assert certified(solve(data, (0, 0, 0))).gap <= 1e-6


def test_sizes_beyond_floats_are_given_up():
    data = of_differences([[[1, 0]], [[0, fmpq(1, 10 ** 60)]]], [[1, 0], [0, 1]])
    assert solve(data, (0, 0)) is None
    zero = of_differences([[[1, 0]], [[0, 0]]], [[1, 0], [0, 1]])
    assert isinstance(solve(zero, (0, 0)), Infeasible)


@pytest.mark.parametrize("seed", range(4))
def test_order_of_samples_and_tokens_is_immaterial(seed):
    data = sphere(4, 4, 5, seed)
    rng = np.random.default_rng(seed)
    alpha = optimal_selection(data)
    samples = rng.permutation(4)
    tokens = [rng.permutation(4) for _ in range(4)]
    mixed = data.build([[data.tokens[i][t] for t in tokens[i]] for i in samples],
                       [data.labels[i] for i in samples], [data.queries[i] for i in samples],
                       data.head)
    beta = tuple(list(tokens[i]).index(alpha[i]) for i in samples)
    a, b = solve(data, alpha, 1e-12), solve(mixed, beta, 1e-12)
    assert a.lower <= b.upper and b.lower <= a.upper and a.rank == b.rank


def test_float_pair_is_strictly_feasible():
    data = sphere(5, 6, 7, 0)
    alpha = optimal_selection(data)
    phi = features(data, alpha)
    form = frame(phi)
    left, right = form.bases
    D, Z = form.deltas @ left, form.queries @ right
    start = left.T @ frobenius.solve(data, alpha).float_W @ right * 4.0 ** -form.exponent * 2
    pair = minimize(D, Z, form.targets, start, 1e-8)
    assert 0 < pair.gap <= 1e-8
    assert (((D @ pair.W) * Z).sum(axis=1) > form.targets).all() and (pair.x > 0).all()
    assert np.linalg.norm(pair.M, 2) < 1
    assert form.targets @ pair.x < np.linalg.svd(pair.W, compute_uv=False).sum()


def test_rounding_refuses_what_is_not_near_feasible():
    phi = features(UNITS, (0, 0))
    one = fmpq_mat([[1], [1]])
    assert feasible_factors(phi, one, -one, 20) is None
    found = feasible_factors(phi, one * fmpq(1, 3), one * fmpq(1, 3), 20)
    assert min(phi.margins(found.K * found.Q.transpose())) >= 1
    assert 2 <= found.value < fmpq(2) + fmpq(1, 2 ** 12)
    assert contracting_multipliers(phi, {0: fmpq(2), 1: fmpq(1)}, 30) is None
    assert contracting_multipliers(phi, {0: fmpq(0)}, 30) is None
    kept = contracting_multipliers(phi, {0: fmpq(1), 1: fmpq(1, 2 ** 40)}, 30)
    assert set(kept.weights) == {0} and 1 - fmpq(1, 2 ** 20) < kept.value <= 1


@pytest.mark.parametrize("seed", range(30))
def test_semidefinite_agrees_with_eigenvalues(seed):
    rng = np.random.default_rng(seed)
    size = int(rng.integers(1, 6))
    A = rng.integers(-2, 3, (size, int(rng.integers(1, size + 1))))
    matrix = A @ A.T
    assert is_semidefinite(fmpq_mat([[fmpq(int(x)) for x in row] for row in matrix]))
    shifted = matrix - np.eye(size, dtype=int) * int(rng.integers(0, 3))
    least = np.linalg.eigvalsh(shifted.astype(float))[0]
    if abs(least) > 1e-9:
        assert is_semidefinite(
            fmpq_mat([[fmpq(int(x)) for x in row] for row in shifted])) == (least > 0)
