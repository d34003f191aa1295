"""Stacks of rank-one rows against hand calculation and fractions."""

from fractions import Fraction

import numpy as np
import oracle
import pytest
from flint import fmpq, fmpq_mat, fmpz, fmpz_mat

from conditions.dataset import AttentionDataset
from conditions.exact.rank_one import RankOneRows, TokenRows, take

# Rows ½·(1,2)ᵀ(1,0) and ½·(0,3)ᵀ(2,1).
ROWS = RankOneRows(fmpz_mat([[1, 2], [0, 3]]), fmpz_mat([[1, 0], [2, 1]]), fmpz(2))


def test_take_keeps_the_order_asked_for():
    assert take(fmpz_mat([[1], [2], [3]]), [2, 0]) == fmpz_mat([[3], [1]])


def test_gram_by_hand():
    # (1,2)·(1,2) = 5, (1,2)·(0,3) = 6, (0,3)·(0,3) = 9; queries: 1, 2, 5.
    assert ROWS.gram() == fmpz_mat([[5, 12], [12, 45]])
    assert ROWS.gram([1]) == fmpz_mat([[45]])
    assert ROWS.gram([1, 0]) == fmpz_mat([[45, 12], [12, 5]])


def test_margins_by_hand():
    # (1,2)W = (1, −3/2), times (1,0): 1. (0,3)W = (0, −3), times (2,1): −3. Both over 2.
    assert ROWS.margins(fmpq_mat([[1, fmpq(1, 2)], [0, -1]])) == [fmpq(1, 2), fmpq(-3, 2)]


def test_combination_by_hand():
    # ½·½·[[1,0],[2,0]] + 3·½·[[0,0],[6,3]].
    assert ROWS.combination([0, 1], [fmpq(1, 2), fmpq(3)]) == fmpq_mat(
        [[fmpq(1, 4), 0], [fmpq(19, 2), fmpq(9, 2)]])
    assert ROWS.combination([], []) == fmpq_mat(2, 2)


@pytest.mark.parametrize("seed", range(5))
def test_margins_of_a_combination_are_the_gram_matrix_applied(seed):
    rng = np.random.default_rng(seed)
    p, d, N, scale = 3, 2, 5, 7
    rows = RankOneRows(fmpz_mat(rng.integers(-9, 10, (N, p)).tolist()),
                       fmpz_mat(rng.integers(-9, 10, (N, d)).tolist()), fmpz(scale))
    x = [fmpq(int(a), 3) for a in rng.integers(-9, 10, N)]
    W = rows.combination(range(N), x)
    assert (W.nrows(), W.ncols()) == (p, d)
    applied = fmpq_mat(rows.gram()) * fmpq_mat(N, 1, x) * fmpq(1, scale * scale)
    assert rows.margins(W) == applied.entries()
    # ⟨W, W⟩ = xᵀKx.
    assert sum(a * a for a in W.entries()) == sum(
        a * b for a, b in zip(x, applied.entries(), strict=True))


def test_token_rows_are_differences_times_queries():
    X = [[["1/2", 1], [0, "1/3"], [5, -1]], [[1, 0], ["0.1", 2]]]
    z = [["1/7", 2], [3, "1/2"]]
    data = AttentionDataset.build(X, [1, -1], z, [1, 1])
    pairs = ((0, 0, 1), (0, 2, 1), (1, 1, 0))
    rows = TokenRows(data, pairs)
    assert len(rows) == 3
    assert rows.owners.tolist() == [0, 0, 1]
    for a in range(2):
        for b in range(2):
            E = fmpq_mat(2, 2)
            E[a, b] = fmpq(1)
            expected = [(Fraction(X[i][t][a]) - Fraction(X[i][s][a])) * Fraction(z[i][b])
                        for i, t, s in pairs]
            assert [Fraction(int(m.p), int(m.q)) for m in rows.margins(E)] == expected


def test_float_view_follows_the_pairs():
    rng = np.random.default_rng(3)
    X, z = rng.normal(size=(3, 4, 2)), rng.normal(size=(3, 2))
    data = AttentionDataset.build(X, [1, 1, -1], z, [1, 0])
    pairs = ((0, 1, 0), (0, 1, 3), (2, 0, 2), (1, 3, 1), (0, 2, 1), (2, 1, 0))
    rows = TokenRows(data, pairs)
    assert np.array_equal(rows.float_differences,
                          [X[i, t] - X[i, s] for i, t, s in pairs])
    assert np.array_equal(rows.float_queries, z[[0, 0, 2, 1, 0, 2]])


def test_gram_agrees_with_the_oracle():
    data = ([[[1, 2], [0, 1], [3, 3]], [[1, 1], [2, 0]]], [1, 1], [[1, -1], [2, 1]], [1, 0])
    phi = oracle.features(data, (0, 1))
    rows = TokenRows(AttentionDataset.build(*data), ((0, 0, 1), (0, 0, 2), (1, 1, 0)))
    assert rows.scale == 1
    table = [[oracle.dot(a, b) for b in phi.values()] for a in phi.values()]
    assert rows.gram() == fmpz_mat([[int(x) for x in row] for row in table])
