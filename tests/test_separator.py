"""Short separators: rounded in floats, checked in exact arithmetic."""

import numpy as np
import oracle
import pytest
from flint import fmpq, fmpq_mat, fmpz, fmpz_mat

from conditions.dataset import AttentionDataset
from conditions.exact.rank_one import RankOneRows
from conditions.selection import features
from conditions.separation.separator import rounded, separating, short_separator


def vectors(rows):
    return RankOneRows(fmpz_mat(rows), fmpz_mat([[1]] * len(rows)), fmpz(1))


def test_rounded_by_hand():
    # The largest entry is below 2², so the grid is 2^(2−3) = ½.
    assert rounded(np.array([[3.0, 0.6], [-0.2, 1.3]]), 3) == fmpq_mat(
        [[3, fmpq(1, 2)], [0, fmpq(3, 2)]])
    assert rounded(np.array([[2.0**300]]), 6) == fmpq_mat([[fmpq(2) ** 300]])
    assert rounded(np.array([[2.0**-300]]), 6) == fmpq_mat([[fmpq(1, 2) ** 300]])


def test_separating_is_scaled_by_a_power_of_two():
    # The product 3·(5/16) becomes at least 1 by doubling.
    assert separating(vectors([[3]]), np.array([[0.3125]])) == fmpq_mat([[fmpq(5, 8)]])
    assert separating(vectors([[1]]), np.array([[8.0]])) == fmpq_mat([[1]])


@pytest.mark.parametrize("W", [[[0.0], [0.0]], [[np.nan], [1.0]], [[np.inf], [1.0]],
                               [[-1.0], [0.0]], [[1.0], [-1.0]]])
def test_what_does_not_separate_is_refused(W):
    assert separating(vectors([[1, 0], [1, 1]]), np.array(W)) is None


def test_more_bits_where_few_do_not_separate():
    # (1, −x) and (−1, y), x < y near each other: 1/W₂ must lie between them.
    rows = vectors([[10**6, -(10**6) + 1], [-(10**6) + 2, 10**6]])
    W = separating(rows, np.array([[1.0], [1.0 - 1e-7]]))
    assert min(rows.margins(W)) >= 1
    # Margins that vanish are not enough, however near the float is.
    assert separating(vectors([[1, -1], [-1, 1]]), np.array([[1.0], [1.0]])) is None


def test_float_error_beyond_all_grids_is_refused():
    # Separable by e₂ alone, which is 10³⁰ times smaller than e₁ in these rows.
    rows = vectors([[10**30, 1], [-(10**30), 1]])
    assert separating(rows, np.array([[0.5], [1.0]])) is None
    assert separating(rows, np.array([[0.0], [1.0]])) is not None


@pytest.mark.parametrize("seed", range(30))
def test_separators_exist_only_for_feasible_selections(seed):
    data = next(oracle.integer_datasets(2, 3, 2, count=1, seed=seed))
    alpha = oracle.optimal_selection(data)
    W = short_separator(features(AttentionDataset.build(*data), alpha))
    phi = oracle.features(data, alpha)
    # In so small integers floats always find what there is.
    assert (W is not None) == oracle.feasible(data, alpha)
    if W is not None:
        flat = [str(a) for a in W.entries()]
        assert min(oracle.dot(row, flat) for row in phi.values()) >= 1


def test_separators_of_large_data_are_short():
    rng = np.random.default_rng(0)
    data = AttentionDataset.build(rng.normal(size=(10, 5, 12)), [1] * 10,
                                  rng.normal(size=(10, 12)), np.ones(12))
    phi = features(data, (0,) * 10)
    W = short_separator(phi)
    assert min(phi.margins(W)) >= 1
    assert max(int(abs(a.p)).bit_length() for a in W.entries()) <= 24
    assert all(int(a.q) & (int(a.q) - 1) == 0 for a in W.entries())
