"""Exact ranks, where primes mislead and where they do not."""

import math

import numpy as np
import oracle
import pytest
from flint import fmpq, fmpq_mat, fmpz, fmpz_mat

from conditions.exact.ranks import (
    PRIMES,
    circuits_modulo,
    gcd,
    integer_rows,
    modular_rank,
    pivot_columns,
    rank,
    reduced,
)


def test_moduli_are_primes_that_fit_a_word():
    for p in PRIMES:
        assert fmpz(p).is_prime()
        assert p < 2**63


def test_reduced_takes_remainders_of_negative_entries():
    assert reduced(fmpz_mat([[-1, 7]]), 5).tolist() == [[4, 2]]


def test_rank_of_a_matrix_that_is_singular_modulo_the_first_prime():
    # det = p₁·1 − 0 ≠ 0.
    matrix = fmpz_mat([[PRIMES[0], 5], [0, 1]])
    assert int(reduced(matrix, PRIMES[0]).rank()) == 1
    assert modular_rank(matrix) == (2, PRIMES[1])
    assert rank(matrix) == 2


def test_rank_of_a_matrix_that_is_singular_modulo_every_prime():
    product = math.prod(PRIMES)
    # [[1, 1], [1, 1 + p₁p₂p₃]] has determinant p₁p₂p₃.
    matrix = fmpz_mat([[1, 1], [1, 1 + product]])
    assert modular_rank(matrix) == (1, PRIMES[0])
    assert rank(matrix) == 2
    assert rank(fmpz_mat([[product]])) == 1
    assert modular_rank(fmpz_mat([[product]])) == (0, PRIMES[0])


@pytest.mark.parametrize("seed", range(12))
def test_rank_agrees_with_flint_and_with_elimination(seed):
    rng = np.random.default_rng(seed)
    m, n, r = (int(x) for x in rng.integers(1, 6, 3))
    A = rng.integers(-4, 5, (m, r)) @ rng.integers(-4, 5, (r, n))
    matrix = fmpz_mat(A.tolist())
    expected = oracle.rank(A.tolist())
    assert rank(matrix) == int(matrix.rank()) == expected
    assert modular_rank(matrix)[0] <= expected


def test_empty_and_zero_matrices():
    for shape in ((0, 0), (0, 3), (3, 0), (2, 3)):
        assert rank(fmpz_mat(*shape)) == 0
        assert pivot_columns(fmpz_mat(*shape), PRIMES[0]) == []
        assert modular_rank(fmpz_mat(*shape)) == (0, PRIMES[0])


def test_pivots_and_circuits_by_hand():
    # Columns a, 2a, b, a + 3b, 0.
    matrix = fmpz_mat([[1, 2, 0, 1, 0], [0, 0, 1, 3, 0]])
    assert pivot_columns(matrix, PRIMES[0]) == [0, 2]
    assert circuits_modulo(matrix, PRIMES[0]) == ([0, 2], {1: [0], 3: [0, 2], 4: []})


def test_pivot_columns_are_independent_over_the_rationals():
    rng = np.random.default_rng(5)
    for _ in range(10):
        A = rng.integers(-2, 3, (4, 3)) @ rng.integers(-2, 3, (3, 7))
        pivots = pivot_columns(fmpz_mat(A.tolist()), PRIMES[0])
        assert len(pivots) == oracle.rank(A.tolist()) == oracle.rank(A[:, pivots].T.tolist())


def test_gcd():
    assert (gcd(), gcd(fmpz(0), fmpz(0)), gcd(fmpz(-12), fmpz(18))) == (0, 0, 6)


def test_integer_rows_share_one_factor():
    assert integer_rows(fmpq_mat([[fmpq(1, 2), fmpq(1, 3)], [0, 1]])) == fmpz_mat([[3, 2], [0, 6]])
