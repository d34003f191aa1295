"""Verified floats against the exact solution over Q."""

from dataclasses import replace

import numpy as np
import pytest
from flint import fmpq, fmpq_mat

from conditions.dataset import AttentionDataset
from conditions.exact.verified import FloatRows, verify_support
from conditions.selection import features
from conditions.separation.frobenius import ExactSolution, solve_exactly
from conditions.separation.general import GenInfeasible
from conditions.separation.general import solve_exactly as solve_sets
from conditions.separation.rows import float_rows

NONE = np.array([], dtype=np.intp)


def exact(x):
    return fmpq(*float(x).as_integer_ratio())


def random_features(seed, n=3, T=4, d=4, spread=0):
    """Token 0 is 0 and selected, so that the differences are the tokens: no rounding.

    Norms of the features range over 4^±spread.
    """
    rng = np.random.default_rng([seed, spread])
    X = rng.normal(size=(n, T, d)) * 2.0 ** rng.integers(-spread, spread + 1, (n, T, 1))
    X[:, 0] = 0
    z = rng.normal(size=(n, d)) * 2.0 ** rng.integers(-spread, spread + 1, (n, 1))
    return features(AttentionDataset.build(X, [1] * n, z, np.ones(d)), (0,) * n)


def feasible(spread, count, **shape):
    found, seed = [], 0
    while len(found) < count:
        phi = random_features(seed, spread=spread, **shape)
        solution = solve_exactly(phi)
        if isinstance(solution, ExactSolution):
            found.append((phi, solution))
        seed += 1
    return found


def support_of(solution):
    return np.array(sorted(solution.multipliers), dtype=np.intp)


def contains(verified, solution):
    """Whether the exact solution lies in all of the enclosures."""
    lo, hi = verified.norm_squared
    return (exact(lo) <= solution.norm_squared[0] <= exact(hi) and all(
        abs(solution.multipliers[int(k)] - exact(y)) <= exact(r) for k, y, r in
        zip(verified.positions, verified.multipliers, verified.radius, strict=True)))


@pytest.mark.parametrize("spread", [0, 5, 20, 40])
def test_the_exact_solution_is_enclosed_whatever_the_norms_of_the_rows(spread):
    cases = feasible(spread, 5)
    for phi, solution in cases:
        verified = verify_support(float_rows(phi), support_of(solution), NONE)
        assert verified is not None
        assert contains(verified, solution)
        lo, hi = verified.norm_squared
        assert hi - lo <= 1e-9 * hi


def test_rows_that_range_over_fifty_binary_orders():
    phi, solution = feasible(40, 1)[0]
    sizes = verify_support(float_rows(phi), support_of(solution), NONE).norms
    assert sizes.max() / sizes.min() > 2.0**50


@pytest.mark.parametrize("spread", [0, 20])
def test_every_wrong_support_is_refused(spread):
    for phi, solution in feasible(spread, 3):
        rows, right = float_rows(phi), support_of(solution)
        for k in range(len(phi)):
            wrong = np.setxor1d(right, [k])
            assert verify_support(rows, wrong.astype(np.intp), NONE) is None


def test_the_bounds_of_inverse_and_norms_hold_exactly():
    for phi, solution in feasible(3, 3):
        support = support_of(solution)
        verified = verify_support(float_rows(phi), support, NONE)
        s = len(support)
        K = fmpq_mat(phi.gram(support.tolist())) * fmpq(1, phi.scale * phi.scale)
        R = fmpq_mat(s, s, [exact(a) for a in verified.inverse.ravel()])
        rest = (fmpq_mat(s, s, [int(a == b) for a in range(s) for b in range(s)]) - R * K).tolist()
        assert max(sum(abs(a) for a in row) for row in rest) <= exact(verified.defect)
        gram = fmpq_mat(phi.gram()) * fmpq(1, phi.scale * phi.scale)
        assert all(exact(a) ** 2 >= gram[k, k] for k, a in enumerate(verified.norms))


def test_equal_rows_must_be_named_as_twins():
    phi, solution = feasible(0, 1)[0]
    support = support_of(solution)
    rows = float_rows(phi)
    again = support[0]
    doubled = FloatRows(np.vstack([rows.deltas, rows.deltas[again]]),
                        np.vstack([rows.queries, rows.queries[again]]),
                        np.append(rows.exponents, rows.exponents[again]))
    twin = np.array([len(phi)])
    # Its margin is exactly 1, never proved to be larger; with it K is singular.
    assert verify_support(doubled, support, NONE) is None
    assert verify_support(doubled, np.append(support, twin), NONE) is None
    verified = verify_support(doubled, support, twin)
    assert contains(verified, solution)


def test_a_weakly_supported_row_is_not_excluded():
    # W = e₁ has margin exactly 1 on (1, 0) and on (1, 1), which needs no multiplier.
    rows = FloatRows(np.array([[1.0, 0.0], [1.0, 1.0]]), np.array([[1.0], [1.0]]).repeat(2, 1)
                     * [1.0, 0.0], np.zeros(2, dtype=np.int64))
    assert verify_support(rows, np.array([0]), NONE) is None
    nearly = replace(rows, deltas=np.array([[1.0, 0.0], [1.0 + 2.0**-20, 1.0]]))
    verified = verify_support(nearly, np.array([0]), NONE)
    assert verified.multipliers.tolist() == [1.0]


@pytest.mark.parametrize("spread", [0, 20])
def test_rows_of_margin_zero(spread):
    # The sets {0, 1}, {0} and {0}: the first rejected row of sample 0 becomes a tie.
    count = 0
    for seed in range(12):
        phi = random_features(seed, spread=spread)
        exact_ = solve_sets(phi.dataset, ((0, 1), (0,), (0,)))
        if isinstance(exact_, GenInfeasible):
            continue
        count += 1
        weights = {phi.index[row]: x for row, x in exact_.multipliers.items()}
        support, tie = np.array(sorted(weights), dtype=np.intp), np.array([0], dtype=np.intp)
        weights[0] = exact_.equality_multipliers.get((0, 1), fmpq(0))
        verified = verify_support(float_rows(phi), support, NONE, tie)
        assert verified.positions.tolist() == [*support.tolist(), 0]
        assert all(abs(weights[int(k)] - exact(y)) <= exact(r) for k, y, r in
                   zip(verified.positions, verified.multipliers, verified.radius, strict=True))
        lo, hi = verified.norm_squared
        assert exact(lo) <= exact_.norm_squared <= exact(hi)
        assert np.abs(verified.W - exact_.float_W).max() <= 1e-9 * np.abs(exact_.float_W).max()
        # The tie is not free, and no other support will do with it.
        wrong = np.setxor1d(support, [int(support[0])]).astype(np.intp)
        assert verify_support(float_rows(phi), wrong, NONE, tie) is None
        assert verify_support(float_rows(phi), np.append(support, 0), NONE, tie) is None
    assert count >= 6


def test_exponents_scale_the_solution():
    phi, solution = feasible(0, 1)[0]
    rows = float_rows(phi)
    larger = replace(rows, exponents=rows.exponents + 3)
    verified = verify_support(larger, support_of(solution), NONE)
    # Rows 8φ: λ and ‖W‖² are 64 times smaller.
    lo, hi = verified.norm_squared
    assert exact(lo) <= solution.norm_squared[0] / 64 <= exact(hi)


def test_what_is_out_of_range_is_refused():
    phi, solution = feasible(0, 1)[0]
    rows, support = float_rows(phi), support_of(solution)
    assert verify_support(rows, NONE, NONE) is None
    assert verify_support(replace(rows, exponents=rows.exponents + 300), support, NONE) is None
    zero = replace(rows, deltas=rows.deltas * (np.arange(len(phi)) > 0)[:, None])
    assert verify_support(zero, support, NONE) is None
