"""Exact semidefiniteness against all principal minors."""

from itertools import combinations

import numpy as np
import pytest
from flint import fmpq, fmpq_mat

from conditions.exact.definite import is_contraction, is_semidefinite


def by_minors(A):
    """A ⪰ 0 iff no principal minor is negative."""
    n = A.nrows()
    return all(fmpq_mat([[A[a, b] for b in S] for a in S]).det() >= 0
               for size in range(1, n + 1) for S in combinations(range(n), size))


@pytest.mark.parametrize("seed", range(20))
def test_agrees_with_all_principal_minors(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 5))
    half = rng.integers(-2, 3, (n, int(rng.integers(1, n + 1))))
    form = half @ half.T
    noise = rng.integers(-1, 2, (n, n))
    for A in (form, noise + noise.T, form - np.diag(rng.integers(0, 2, n)), -form):
        exact = fmpq_mat(A.tolist()) * fmpq(1, 3)
        assert is_semidefinite(exact) == by_minors(exact)


def test_zero_pivots():
    assert is_semidefinite(fmpq_mat(3, 3))
    assert is_semidefinite(fmpq_mat([[0, 0], [0, 1]]))
    assert not is_semidefinite(fmpq_mat([[0, 1], [1, 5]]))
    # The Schur complement of the first pivot is [[0, 1], [1, 0]].
    assert not is_semidefinite(fmpq_mat([[1, 1, 1], [1, 1, 2], [1, 2, 1]]))


def test_a_rank_one_form_is_the_boundary():
    v = [fmpq(1), fmpq(-2, 3), fmpq(5, 7)]
    form = fmpq_mat([[a * b for b in v] for a in v])
    assert is_semidefinite(form)
    below = fmpq_mat(form.tolist())
    below[2, 2] = below[2, 2] - fmpq(1, 10**60)
    assert not is_semidefinite(below)


def test_contractions_by_hand():
    # (3, 4)/5 is a unit vector, and [[3, −4], [4, 3]]/5 a rotation.
    rotation = fmpq_mat([[fmpq(3, 5), fmpq(-4, 5)], [fmpq(4, 5), fmpq(3, 5)]])
    assert is_contraction(rotation)
    assert not is_contraction(rotation * (1 + fmpq(1, 10**60)))
    row = fmpq_mat([[fmpq(3, 5), fmpq(4, 5)]])
    for M in (row, row.transpose()):
        assert is_contraction(M)
        assert not is_contraction(M * fmpq(10**40 + 1, 10**40))
    assert is_contraction(fmpq_mat(2, 3))


@pytest.mark.parametrize("seed", range(8))
def test_contraction_agrees_with_singular_values(seed):
    rng = np.random.default_rng(seed)
    M = rng.integers(-8, 9, (int(rng.integers(1, 5)), int(rng.integers(1, 5))))
    largest = np.linalg.norm(M, 2)
    exact = fmpq_mat(M.tolist())
    assert is_contraction(exact * fmpq(1, int(np.floor(largest)) + 1))
    if largest > 1.001:
        assert not is_contraction(exact * fmpq(1000, int(largest * 999) + 1))
