"""From floats to rationals that are feasible exactly."""

import numpy as np
import pytest
from flint import fmpq, fmpq_mat
from nuclear_cases import UNITS, sphere

from conditions.exact.definite import is_contraction
from conditions.selection import features, optimal_selection
from conditions.separation.nuclear_rounding import (
    contracting_multipliers,
    exponent_above,
    feasible_factors,
    float_factors,
    on_grid,
    power_of_two,
    rational_matrix,
    square,
)

PHI = features(UNITS, (0, 0))


def test_powers_and_exponents():
    assert (power_of_two(3), power_of_two(0), power_of_two(-2)) == (8, 1, fmpq(1, 4))
    for value in (fmpq(1), fmpq(1, 3), fmpq(7, 8), fmpq(10**40), fmpq(3, 10**40)):
        e = exponent_above(value)
        assert power_of_two(e - 2) < value <= power_of_two(e)


def test_on_grid_rounds_to_nearest():
    A = fmpq_mat([[fmpq(3, 10), fmpq(-3, 10)], [fmpq(1, 8), 5]])
    assert on_grid(A, -2) == fmpq_mat([[fmpq(1, 4), fmpq(-1, 4)], [fmpq(1, 4), 5]])
    assert square(fmpq_mat([[fmpq(1, 2), -2]])) == fmpq(17, 4)


def test_floats_are_kept_as_they_are():
    assert rational_matrix(np.array([[0.1, 2.0**-1074]])).entries() == [
        fmpq(*(0.1).as_integer_ratio()), fmpq(1, 2**1074)]


def test_infeasible_factors_grow_by_the_root_of_the_worst_margin():
    # K = Q = I/2 has margins ¼ on E₁₁ and E₂₂: twice as large it is optimal, of value 2.
    half = fmpq_mat([[fmpq(1, 2), 0], [0, fmpq(1, 2)]])
    found = feasible_factors(PHI, half, half, 30)
    assert min(PHI.margins(found.K * found.Q.transpose())) >= 1
    assert 2 <= found.value <= 2 + fmpq(1, 2**20)
    assert found.width == 2


def test_factors_on_the_wrong_side_are_refused():
    one = fmpq_mat([[1, 0], [0, 1]])
    assert feasible_factors(PHI, one, one * -1, 30) is None
    assert feasible_factors(PHI, one, fmpq_mat([[1, 0], [0, 0]]), 30) is None


def test_multipliers_shrink_to_a_contraction():
    # λ₁E₁₁ + λ₂E₂₂ is a contraction iff both are at most 1.
    found = contracting_multipliers(PHI, {0: fmpq(1), 1: fmpq(1)}, 30)
    assert 2 - fmpq(1, 2**20) <= found.value <= 2
    assert contracting_multipliers(PHI, {0: fmpq(1), 1: fmpq(3)}, 30) is None
    assert contracting_multipliers(PHI, {0: fmpq(0)}, 30) is None


@pytest.mark.parametrize("seed", range(4))
def test_rounded_multipliers_contract(seed):
    rng = np.random.default_rng(seed)
    data = sphere(3, 3, 4, seed)
    phi = features(data, optimal_selection(data))
    x = rng.uniform(0, 1, len(phi))
    M = phi.float_differences.T @ (x[:, None] * phi.float_queries)
    x = x / np.linalg.norm(M, 2)
    weights = {k: fmpq(*float(a).as_integer_ratio()) for k, a in enumerate(x)}
    found = contracting_multipliers(phi, weights, 24)
    assert is_contraction(phi.combination(list(found.weights), list(found.weights.values())))
    assert float(found.value.p) / float(found.value.q) == pytest.approx(x.sum(), rel=1e-4)


def test_float_factors_are_balanced_and_nearest():
    # diag(9, 4, 1) cut to width 2 keeps 9 and 4; both factors have ‖·‖² = 13.
    K, Q = float_factors(np.diag([9.0, 4.0, 1.0]), 2)
    assert np.allclose(K @ Q.T, np.diag([9, 4, 0]))
    assert np.sum(K**2) == pytest.approx(13)
    assert np.sum(Q**2) == pytest.approx(13)
