"""What the proof of uniqueness is built from, against direct evaluation."""

import numpy as np
import pytest
from flint import fmpq, fmpq_mat
from nuclear_cases import UNITS, of_differences, sphere

from conditions.exact.definite import is_semidefinite
from conditions.selection import features, optimal_selection
from conditions.separation.nuclear import solve
from conditions.separation.nuclear_rounding import square
from conditions.separation.nuclear_uniqueness import (
    quadratic_forms,
    square_of_row,
    uniqueness,
    verified_definite,
)


def integer_matrix(rng, *shape):
    return fmpq_mat(rng.integers(-3, 4, shape).tolist())


@pytest.mark.parametrize("seed", range(6))
def test_forms_are_squares_of_the_maps_they_stand_for(seed):
    rng = np.random.default_rng(seed)
    data = of_differences(rng.integers(-3, 4, (3, 2, 3)).tolist(),
                          rng.integers(-3, 4, (3, 3)).tolist())
    phi = features(data, (0, 0, 0))
    K, Q, M = integer_matrix(rng, 3, 2), integer_matrix(rng, 3, 2), integer_matrix(rng, 3, 3)
    positions, positive = [0, 2, 3, 5], [True, False, True, True]
    A, complement, factor, B = (form for form, _ in
                                quadratic_forms(phi, positions, positive, K, Q, M))
    x = [fmpq(int(a)) for a in rng.integers(-4, 5, 4)]
    column = fmpq_mat(4, 1, x)
    S = phi.combination(positions, x)
    # ‖A x‖² = ‖S Q‖² + ‖Sᵀ K‖² for S = Σ x φ.
    assert (column.transpose() * A * column)[0, 0] == square(S * Q) + square(S.transpose() * K)
    v = integer_matrix(rng, 3, 1)
    assert (v.transpose() * complement * v)[0, 0] == (
        square(v) - square(M * v) + square(Q.transpose() * v))
    assert factor == Q.transpose() * Q
    # H = [[1, 2], [2, −3]]: B(H) are the margins of K H Qᵀ on the positive rows.
    H, h = fmpq_mat([[1, 2], [2, -3]]), fmpq_mat(3, 1, [1, 2, -3])
    margins = phi.margins(K * H * Q.transpose())
    assert (h.transpose() * B * h)[0, 0] == sum(margins[k] ** 2 for k in (0, 3, 5))


def test_units_of_the_forms_count_off_diagonal_entries_twice():
    phi = features(UNITS, (0, 0))
    identity = fmpq_mat([[1, 0], [0, 1]])
    units = [unit for _, unit in
             quadratic_forms(phi, [0, 1], [True, True], identity, identity, identity)]
    assert units[3] == fmpq_mat([[1, 0, 0], [0, 2, 0], [0, 0, 1]])


@pytest.mark.parametrize("seed", range(10))
def test_verified_definite_is_never_wrong(seed):
    rng = np.random.default_rng(seed)
    half = rng.integers(-3, 4, (4, int(rng.integers(2, 7))))
    form = fmpq_mat((half @ half.T).tolist()) * fmpq(1, 7)
    if verified_definite(form):
        assert is_semidefinite(form)
        assert form.det() > 0
    else:
        assert np.linalg.eigvalsh(half @ half.T)[0] < 1e-9


def test_verified_definite_near_the_boundary():
    def nearly(gap):
        return fmpq_mat([[1, 1], [1, 1 + gap]])

    assert verified_definite(nearly(fmpq(1, 10**6)))
    assert not verified_definite(nearly(fmpq(1, 10**18)))
    assert not verified_definite(nearly(fmpq(0)))
    assert not verified_definite(fmpq_mat([[fmpq(2) ** 500]]))


def test_square_of_row_by_hand():
    # δ = (1, 2), q = (3, 4)/2: 5 · 25/4.
    phi = features(of_differences([[[1, 2]]], [["3/2", 2]]), (0,))
    assert square_of_row(phi, 0) == fmpq(125, 4)


@pytest.mark.parametrize("seed", range(3))
def test_a_proof_states_positive_values_that_floats_confirm(seed):
    data = sphere(2, 3, 3, seed)
    solution = solve(data, optimal_selection(data), 1e-20)
    proof = uniqueness(solution)
    assert proof.rank == solution.rank
    assert min(proof.least_values) > 0
    rho = np.linalg.svd(np.array([[float(a.p) / float(a.q) for a in row] for row in proof.Q]),
                        compute_uv=False)[-1]
    assert float(proof.least_values[2].p) / float(proof.least_values[2].q) <= rho
    assert len(proof.near) >= len(proof.multipliers)


def test_several_optima_are_not_one():
    assert uniqueness(solve(UNITS, (0, 0), 1e-20)) is None
