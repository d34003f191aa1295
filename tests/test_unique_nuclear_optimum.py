"""One optimum or several: closed forms, generic data, ties, and the bounds of the proof."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from flint import fmpq, fmpq_mat
from nuclear_cases import UNITS, accepted, integers, of_differences, shape, sphere

from conditions import Evidence, feasibility, unique_nuclear_optimum
from conditions.certificates import Certificate, NuclearOptima, NuclearUniqueness
from conditions.selection import features, optimal_selection
from conditions.separation.nuclear import solve
from conditions.separation.nuclear_optima import null_space, two_optima
from conditions.separation.nuclear_uniqueness import uniqueness, verified_definite


@pytest.mark.parametrize(("size", "seed"), [
    ((6, 8, 10), 0), ((6, 8, 10), 4), ((5, 5, 5), 1), ((2, 3, 2), 2), ((10, 8, 12), 0)])
def test_generic_data_have_one_optimum(size, seed):
    data = sphere(*size, seed)
    verdict = unique_nuclear_optimum.decide(data, optimal_selection(data))
    assert verdict.holds and verdict.evidence is Evidence.ENCLOSED
    certificate = verdict.certificate
    assert isinstance(certificate, NuclearUniqueness)
    assert Certificate.from_json(certificate.to_json()) == certificate
    assert accepted(data, verdict)
    # A coarse optimum has the same numerical rank.
    sizes = np.linalg.svd(solve(data, optimal_selection(data)).float_W, compute_uv=False)
    assert certificate.rank == np.count_nonzero(sizes > 1e-5 * sizes[0])


@pytest.mark.parametrize("differences", [
    [[[1, 0]], [[0, 1]]],                       # E11 and E22
    [[[1, 0]], [[0, 1], [0, 1], [0, 2]]],       # with an equal and a longer row
    [[[2, 0]], [[0, 3]]]])
def test_diagonal_features_have_many_optima(differences):
    data = of_differences(differences, [[1, 0], [0, 1]])
    verdict = unique_nuclear_optimum.decide(data, (0, 0))
    assert verdict.fails and verdict.evidence is Evidence.EXACT
    certificate = verdict.certificate
    assert isinstance(certificate, NuclearOptima)
    phi = features(data, (0, 0))
    rows = [phi.index[i, t] for i, t, _ in certificate.multipliers]
    M = phi.combination(rows, [x for *_, x in certificate.multipliers])
    optima = [M * fmpq_mat(P) for P in (certificate.first, certificate.second)]
    assert optima[0] != optima[1]
    for W in optima:
        assert min(phi.margins(W)) >= 1
        norm = np.linalg.norm([[float(a.p) / float(a.q) for a in row] for row in W.tolist()],
                              "nuc")
        value = sum((x for *_, x in certificate.multipliers), fmpq(0))
        assert norm == pytest.approx(float(value.p) / float(value.q), abs=1e-12)
    assert accepted(data, verdict)


@pytest.mark.parametrize("differences", [
    [[[1, 1], [3, -1]]],                        # margin 1 with multiplier 0
    [[[3, 4], [3, 4], [6, 9]], [[-4, 3]]],      # equal rows
    [[[1, 0]], [[1, 0]]],                       # rank one
    [[[1, 0]], [[1, 1]]]])
def test_ties_do_not_hinder_uniqueness(differences):
    data = of_differences(differences, [[1, 0], [0, 1]][:len(differences)])
    verdict = unique_nuclear_optimum.decide(data, (0,) * len(differences))
    if differences == [[[3, 4], [3, 4], [6, 9]], [[-4, 3]]]:
        # Orthogonal columns again: I times a rotation, or something in between.
        assert verdict.fails
    else:
        assert verdict.holds
    assert accepted(data, verdict)


@pytest.mark.parametrize("seed", range(60))
def test_small_integers(seed):
    rng = np.random.default_rng([9, seed])
    n, T, d = shape(rng)
    data = integers(rng, n, T, d)
    alpha = optimal_selection(data)
    verdict = unique_nuclear_optimum.decide(data, alpha)
    if feasibility.decide(data, alpha).fails:
        assert verdict.fails and verdict.certificate.kind in ("farkas", "query_cycle")
    if n == 1 or d == 1:
        # ‖W‖_* is the Frobenius norm on matrices of rank one: strictly convex.
        assert not isinstance(verdict.certificate, NuclearOptima)
    assert verdict.undecided or accepted(data, verdict)


def test_a_wide_bracket_proves_nothing():
    data = sphere(6, 8, 10, 0)
    assert uniqueness(solve(data, optimal_selection(data), 1e-4)) is None
    assert two_optima(solve(data, optimal_selection(data))) is None


def test_several_optima_are_never_one():
    for accuracy in (1e-6, 1e-20, 1e-60):
        assert uniqueness(solve(UNITS, (0, 0), accuracy)) is None


def test_undecided_beyond_floats():
    data = of_differences([[[1, 0]], [[0, Fraction(1, 10 ** 60)]]], [[1, 0], [0, 1]])
    assert unique_nuclear_optimum.decide(data, (0, 0)).undecided


def test_verified_definite():
    rng = np.random.default_rng(0)
    A = rng.integers(-5, 6, (6, 6))
    gram = fmpq_mat([[fmpq(int(x)) for x in row] for row in A @ A.T])
    identity = fmpq_mat(6, 6, [int(a == b) for a in range(6) for b in range(6)])
    least = float(np.linalg.eigvalsh((A @ A.T).astype(float))[0])
    assert least > 1e-3 and verified_definite(gram)
    assert verified_definite(gram - identity * fmpq(*(0.999 * least).as_integer_ratio()))
    assert not verified_definite(gram - identity * fmpq(*(1.001 * least).as_integer_ratio()))
    # Exactly singular: no rounding may let it pass.
    singular = fmpq_mat([[fmpq(int(x)) for x in row] for row in A[:, :4] @ A[:, :4].T])
    assert not verified_definite(singular)
    assert not verified_definite(singular + identity * fmpq(1, 2 ** 60))
    assert not verified_definite(identity * 0)


def test_null_space():
    A = fmpq_mat([[1, 2, 3], [2, 4, 6]])
    basis = null_space(A)
    assert basis.ncols() == 2 and (A * basis) == fmpq_mat(2, 2)
    assert basis.rank() == 2
    assert null_space(fmpq_mat([[1, 0], [0, 1]])) is None
