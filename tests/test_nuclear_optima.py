"""Two optima of a nuclear norm problem, checked by their own definition."""

import numpy as np
import pytest
from flint import fmpq, fmpq_mat
from nuclear_cases import UNITS, of_differences, sphere

from conditions.exact.numbers import to_float
from conditions.selection import features, optimal_selection
from conditions.separation.nuclear import solve
from conditions.separation.nuclear_optima import null_space, two_optima


def floats(A):
    return np.array([[to_float(a) for a in row] for row in A.tolist()])


DIAGONAL = of_differences([[[1, 0, 0]], [[0, 1, 0]], [[0, 0, 1]]],
                          [[1, 0, 0], [0, 1, 0], [0, 0, 1]])
SCALED = of_differences([[[2, 0]], [[0, 3]]], [[1, 0], [0, 1]])


@pytest.mark.parametrize(("data", "value"), [(UNITS, fmpq(2)), (DIAGONAL, fmpq(3)),
                                             (SCALED, fmpq(5, 6))])
def test_both_matrices_are_feasible_and_have_the_optimal_norm(data, value):
    # With features c_k E_kk the trace norm is at least Σ|W_kk| ≥ Σ 1/c_k.
    alpha = (0,) * data.n
    phi = features(data, alpha)
    found = two_optima(solve(data, alpha))
    M = phi.combination([phi.index[i, t] for i, t, _ in found.multipliers],
                        [x for _, _, x in found.multipliers])
    optima = [M * fmpq_mat([list(row) for row in P]) for P in (found.first, found.second)]
    assert optima[0] != optima[1]
    assert sum(x for _, _, x in found.multipliers) == value
    for W in optima:
        assert min(phi.margins(W)) >= 1
        assert np.linalg.norm(floats(W), "nuc") == pytest.approx(to_float(value), rel=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_generic_data_have_none(seed):
    data = sphere(2, 3, 3, seed)
    alpha = optimal_selection(data)
    assert two_optima(solve(data, alpha)) is None


def test_one_feature_has_one_optimum():
    # min ‖W‖_* with ⟨c e₁e₁ᵀ, W⟩ ≥ 1 is attained by E₁₁/c alone.
    assert two_optima(solve(of_differences([[[4, 0]]], [[1, 0]]), (0,))) is None


def test_null_space_by_hand():
    # x + 2y − z = 0.
    basis = null_space(fmpq_mat([[1, 2, -1]]))
    assert (basis.nrows(), basis.ncols()) == (3, 2)
    assert not any((fmpq_mat([[1, 2, -1]]) * basis).entries())
    assert basis.rank() == 2
    assert null_space(fmpq_mat([[1, 2], [0, 3]])) is None
