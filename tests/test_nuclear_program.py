"""The interior point method on problems with known optima."""

import numpy as np
import pytest

from conditions.exact.threads import one_blas_thread
from conditions.separation import nuclear_program


def minimize(*arguments):
    with one_blas_thread():
        return nuclear_program.minimize(*arguments)


def assert_strictly_feasible(deltas, queries, targets, pair):
    margins = ((deltas @ pair.W) * queries).sum(axis=1)
    assert np.all(margins > targets)
    assert np.all(pair.x > 0)
    assert np.linalg.norm(pair.M, 2) < 1
    assert np.allclose(pair.M, deltas.T @ (pair.x[:, None] * queries))


@pytest.mark.parametrize("size", [0.5, 1.0, 1.9])
def test_one_row_by_hand(size):
    # min ‖W‖_* with size·W₁₁ ≥ 1 is 1/size.
    rows = np.array([[size, 0.0]]), np.array([[1.0, 0.0]]), np.ones(1)
    pair = minimize(*rows, np.array([[3 / size, 0.0], [0.0, 0.0]]), 1e-8)
    assert_strictly_feasible(*rows, pair)
    assert np.linalg.norm(pair.W, "nuc") == pytest.approx(1 / size, rel=1e-6)
    assert pair.x[0] == pytest.approx(1 / size, rel=1e-6)


def test_units_have_value_two():
    rows = np.eye(2), np.eye(2), np.ones(2)
    pair = minimize(*rows, 2 * np.eye(2), 1e-8)
    assert_strictly_feasible(*rows, pair)
    assert np.linalg.norm(pair.W, "nuc") == pytest.approx(2, rel=1e-6)
    assert np.allclose(pair.x, 1, atol=1e-5)


def test_rows_of_a_rotation_have_its_norm_where_the_dual_shows_it():
    # Rows r_k e_kᵀ of a rotation R: W = R has margins 1 and M = R is a contraction of Σx = 3.
    R = np.linalg.qr(np.random.default_rng(0).normal(size=(3, 3)))[0]
    rows = R.T.copy(), np.eye(3), np.ones(3)
    pair = minimize(*rows, 2 * R, 1e-8)
    assert np.linalg.norm(pair.W, "nuc") == pytest.approx(3, rel=1e-6)


@pytest.mark.parametrize("seed", range(6))
def test_weak_duality_and_the_gap_that_is_stated(seed):
    rng = np.random.default_rng(seed)
    N, p, q = 6, 3, 4
    W = rng.normal(size=(p, q))
    deltas, queries = rng.normal(size=(N, p)), rng.normal(size=(N, q))
    signs = np.sign(((deltas @ W) * queries).sum(axis=1))
    deltas *= signs[:, None]
    deltas /= np.linalg.norm(deltas, axis=1)[:, None]
    queries /= np.linalg.norm(queries, axis=1)[:, None]
    start = W * (1.5 / ((deltas @ W) * queries).sum(axis=1).min())
    pair = minimize(deltas, queries, np.ones(N), start, 1e-7)
    assert_strictly_feasible(deltas, queries, np.ones(N), pair)
    norm = np.linalg.norm(pair.W, "nuc")
    assert pair.x.sum() <= norm * (1 + 1e-12)
    assert norm - pair.x.sum() <= 1.01e-6 * norm
    assert pair.gap <= 1e-6
