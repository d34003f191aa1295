"""Exact nonnegative least squares against brute force over supports."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import oracle
import pytest
from flint import fmpq, fmpz, fmpz_mat

from conditions.exact.nonnegative import (
    ConeProblem,
    SeparationProblem,
    nonnegative_minimizer,
)
from conditions.exact.rank_one import RankOneRows


class Dense:
    """min ½‖Ax‖² − fᵀx over x ≥ 0 with G = AᵀA and f = Aᵀb, in integers."""

    def __init__(self, A, b):
        self.G, self.f = (A.T @ A).tolist(), (A.T @ b).tolist()

    def system(self, passive):
        s = len(passive)
        return (fmpz_mat(s, s, [self.G[a][b] for a in passive for b in passive]),
                fmpz_mat(s, 1, [self.f[a] for a in passive]))

    def descent(self, passive, x):
        return [self.f[k] - sum((self.G[k][a] * y for a, y in zip(passive, x, strict=True)),
                                fmpq(0)) for k in range(len(self.f))]


def brute_force(G, f):
    """The least value, from the stationary point of every face with nonsingular G."""
    values = [Fraction(0)]
    for size in range(1, len(f) + 1):
        for S in combinations(range(len(f)), size):
            block = [[G[a][b] for b in S] for a in S]
            if oracle.rank(block) < size:
                continue
            x = oracle.solve(block, [f[a] for a in S])
            if min(x) >= 0:
                # At G_SS x = f_S the objective is −½ fᵀx.
                values.append(-oracle.dot([f[a] for a in S], x) / 2)
    return min(values)


def fraction(x):
    return Fraction(int(x.p), int(x.q))


def rows_of(deltas, queries=None):
    queries = [[1]] * len(deltas) if queries is None else queries
    return RankOneRows(fmpz_mat(deltas), fmpz_mat(queries), fmpz(1))


@pytest.mark.parametrize("seed", range(15))
def test_every_start_reaches_the_least_value_of_all_faces(seed):
    rng = np.random.default_rng(seed)
    N = 5
    A = rng.integers(-2, 3, (int(rng.integers(2, 6)), N))
    # Dependent columns: an equal one and an opposite one.
    A[:, 3], A[:, 4] = A[:, 0], -A[:, 1]
    problem = Dense(A, rng.integers(-3, 4, len(A)))
    least = brute_force(problem.G, problem.f)
    for start in ([], [0], [1, 4], [0, 3], list(range(N))):
        found = nonnegative_minimizer(problem, start)
        x = [fraction(found.get(k, fmpq(0))) for k in range(N)]
        assert all(value > 0 for value in found.values())
        slopes = [oracle.dot(row, x) - f for row, f in zip(problem.G, problem.f, strict=True)]
        assert min(slopes) >= 0
        assert all(slopes[k] == 0 for k in found)
        assert -oracle.dot(problem.f, x) / 2 == least
        assert oracle.rank([[problem.G[a][b] for b in found] for a in found]) == len(found)


def test_one_row_by_hand():
    # min ½·4x² − 2x: x = 1/2; with f = −2 the minimum is at 0.
    assert nonnegative_minimizer(Dense(np.array([[2]]), np.array([1])), []) == {0: fmpq(1, 2)}
    assert nonnegative_minimizer(Dense(np.array([[2]]), np.array([-1])), [0]) == {}


def test_separable_rows_by_hand():
    # δ = (1, 1) and (−1, 1): W = (0, 1) has both margins 1, λ = (½, ½).
    problem = SeparationProblem(rows_of([[1, 1], [-1, 1]]))
    x = nonnegative_minimizer(problem, [])
    slack = problem.slack(list(x.values()))
    assert slack > 0
    assert {k: a / slack for k, a in x.items()} == {0: fmpq(1, 2), 1: fmpq(1, 2)}


def test_opposite_rows_are_refuted_by_hand():
    # 2·(1, 0) + 1·(−2, 0) = 0, and Σx = 1/c.
    problem = SeparationProblem(rows_of([[1, 0], [-2, 0], [0, 3]]))
    x = nonnegative_minimizer(problem, [2])
    assert set(x) == {0, 1}
    assert x[0] == 2 * x[1]
    assert problem.slack(list(x.values())) == 0
    assert sum(x.values()) * problem.constant == 1


@pytest.mark.parametrize("seed", range(25))
def test_separation_agrees_with_gordan(seed):
    rng = np.random.default_rng(seed)
    N, d = int(rng.integers(1, 6)), int(rng.integers(1, 4))
    deltas = rng.integers(-2, 3, (N, d)).tolist()
    problem = SeparationProblem(rows_of(deltas))
    x = nonnegative_minimizer(problem, range(N))
    slack = problem.slack(list(x.values()))
    W = problem.rows.combination(list(x), list(x.values()))
    assert slack >= 0
    assert (slack > 0) == oracle.strictly_solvable(deltas)
    if slack == 0:
        assert not any(W.entries())
    else:
        margins = problem.rows.margins(W * (1 / slack))
        assert min(margins) == 1
        assert all(margins[k] == 1 for k in x)


@pytest.mark.parametrize("seed", range(25))
def test_cone_agrees_with_stiemke(seed):
    rng = np.random.default_rng(seed)
    N, d = int(rng.integers(1, 6)), int(rng.integers(1, 4))
    deltas = rng.integers(-2, 3, (N, d)).tolist()
    problem = ConeProblem(rows_of(deltas))
    x = nonnegative_minimizer(problem, [])
    D = problem.direction(list(x), list(x.values()))
    assert any(D.entries()) == oracle.weakly_solvable(deltas)
    products = problem.rows.margins(D)
    assert min(products) >= 0
    assert sum(products) == sum(a * a for a in D.entries())


def test_cone_of_scaled_rows_by_hand():
    # Rows ½(1, 0) and ½(−1, 1): the sum is (0, ½) with products 0 and ¼; x = 0.
    rows = RankOneRows(fmpz_mat([[1, 0], [-1, 1]]), fmpz_mat([[1], [1]]), fmpz(2))
    problem = ConeProblem(rows)
    x = nonnegative_minimizer(problem, [])
    assert x == {}
    assert problem.direction([], []).entries() == [fmpq(0), fmpq(1, 2)]


def test_sizes_that_no_float_holds():
    # δ = (1, ε), (−1, ε) with ε = 10⁻⁴⁰⁰, in integers (10⁴⁰⁰, 1), (−10⁴⁰⁰, 1).
    big = 10**400
    problem = SeparationProblem(rows_of([[big, 1], [-big, 1]]))
    x = nonnegative_minimizer(problem, [0])
    slack = problem.slack(list(x.values()))
    assert slack > 0
    assert problem.rows.combination(list(x), list(x.values())) * (1 / slack) == (
        rows_of([[0, 1]]).combination([0], [fmpq(1)]))
