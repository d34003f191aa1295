"""Compiled multipliers of small problems against the method over Q."""

import numpy as np
import pytest
from flint import fmpz, fmpz_mat

from conditions.enumeration.pivoting import multipliers
from conditions.exact.nonnegative import SeparationProblem, nonnegative_minimizer
from conditions.exact.rank_one import RankOneRows


def minimizer(K, guess=True):
    """(found, x) for the Gram matrix K."""
    N = len(K)
    scratch, x = np.empty((N, N)), np.empty(N)
    found = multipliers(K.copy(), N, np.arange(N), np.full(N, guess), scratch, x)
    return found, x


def assert_optimal(K, x, tolerance=1e-7):
    """That x ≥ 0, Kx ≥ 1, and Kx = 1 where x > 0."""
    margins = K @ x
    assert np.all(x >= 0)
    assert margins.min() >= 1 - tolerance
    assert np.abs(x * (margins - 1)).max() <= tolerance * (1 + np.abs(x).max())


@pytest.mark.parametrize("guess", [True, False])
def test_orthogonal_and_obtuse_rows_by_hand(guess):
    found, x = minimizer(np.diag([1.0, 4.0]), guess)
    assert found
    assert np.allclose(x, [1, 0.25])
    # (1, 0), (−1, 1): K = [[1, −1], [−1, 2]], x = K⁻¹1 = (3, 2).
    found, x = minimizer(np.array([[1.0, -1.0], [-1.0, 2.0]]), guess)
    assert found
    assert np.allclose(x, [3, 2])


def test_a_row_that_is_separated_anyway_has_no_multiplier():
    # (1, 0) and (2, 1): W = (1, 0) has margins 1 and 2.
    found, x = minimizer(np.array([[1.0, 2.0], [2.0, 5.0]]))
    assert found
    assert np.allclose(x, [1, 0])


@pytest.mark.parametrize("seed", range(12))
def test_agrees_with_the_exact_method(seed):
    rng = np.random.default_rng(seed)
    N, d = 6, 6
    A = rng.integers(-4, 5, (N, d))
    if np.linalg.matrix_rank(A) < N:
        A += 9 * np.eye(N, dtype=A.dtype)
    K = (A @ A.T).astype(float)
    found, x = minimizer(K, bool(seed % 2))
    assert found
    assert_optimal(K, x)
    problem = SeparationProblem(
        RankOneRows(fmpz_mat(A.tolist()), fmpz_mat([[1]] * N), fmpz(1)))
    exact = nonnegative_minimizer(problem, [])
    slack = problem.slack(list(exact.values()))
    expected = np.zeros(N)
    for k, a in exact.items():
        expected[k] = int((a / slack).p) / int((a / slack).q)
    assert np.allclose(x, expected, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_dependent_rows_are_solved_with_a_ridge(seed):
    rng = np.random.default_rng(seed)
    half = rng.normal(size=(3, 3)) + 3 * np.ones(3)
    A = np.vstack([half, half])
    found, x = minimizer(A @ A.T)
    assert found
    # The ridge moves margins by about its own size.
    assert (A @ A.T @ x).min() >= 1 - 1e-4
    assert np.all(x >= 0)


def test_only_the_kept_part_is_read():
    K = np.full((4, 4), np.nan)
    K[:2, :2] = np.diag([2.0, 5.0])
    scratch, x, inside = np.empty((4, 4)), np.empty(4), np.ones(7, dtype=bool)
    assert multipliers(K, 2, np.array([6, 1]), inside, scratch, x)
    assert np.allclose(x[:2], [0.5, 0.2])
    assert inside[6]
    assert inside[1]


def test_the_guess_is_left_for_the_neighbour():
    K = np.array([[1.0, 2.0], [2.0, 5.0]])
    inside = np.ones(2, dtype=bool)
    assert multipliers(K, 2, np.arange(2), inside, np.empty((2, 2)), np.empty(2))
    assert inside.tolist() == [True, False]
