"""Newton's method on the KKT equations of the nuclear norm."""

import numpy as np
import pytest
from flint import fmpq
from nuclear_cases import of_differences, sphere

from conditions.selection import features, optimal_selection
from conditions.separation.nuclear import solve
from conditions.separation.nuclear_frame import frame
from conditions.separation.nuclear_polish import kkt_jacobian, refine


def residuals(deltas, queries, x, K, Q):
    M = deltas.T @ (x[:, None] * queries)
    return np.concatenate([(M @ Q - K).ravel(), (M.T @ K - Q).ravel(),
                           ((deltas @ K) * (queries @ Q)).sum(axis=1) - 1])


@pytest.mark.parametrize("r", [1, 2])
def test_jacobian_is_the_derivative_across_rotations(r):
    rng = np.random.default_rng(r)
    d, s = 3, 4
    deltas, queries = rng.normal(size=(2, s, d))
    x, K, Q = rng.normal(size=s), rng.normal(size=(d, r)), rng.normal(size=(d, r))
    M = deltas.T @ (x[:, None] * queries)
    J = kkt_jacobian(deltas, queries, M, K, Q)
    assert np.allclose(J, J.T)
    step = rng.normal(size=2 * d * r + s)
    if r == 2:
        # Without part along the common rotation of K and Q the added term is 0.
        turn = np.concatenate([np.column_stack([A[:, 1], -A[:, 0]]).ravel() for A in (K, Q)])
        step[:2 * d * r] -= (step[:2 * d * r] @ turn) / (turn @ turn) * turn
    k, q, y = np.split(step, [d * r, 2 * d * r])
    plus, minus = (residuals(deltas, queries, x + h * y, K + h * k.reshape(d, r),
                             Q + h * q.reshape(d, r)) for h in (0.5, -0.5))
    # The residuals are quadratic: the central difference is their derivative.
    assert np.allclose(plus - minus, J @ step)


def test_one_feature_by_hand():
    # φ = 4E₁₁: λ = 1/4, K = Q = e₁/2.
    phi = features(of_differences([[[4, 0]]], [[1, 0]]), (0,))
    near = np.array([[0.51], [0.0]]), np.array([[0.49], [0.0]])
    point = refine(phi, frame(phi), *near, {0: 0.26}, 200)
    tiny = fmpq(1, 2**190)
    assert abs(point.weights[0] - fmpq(1, 4)) < tiny
    W = point.K * point.Q.transpose()
    assert abs(W[0, 0] - fmpq(1, 4)) < tiny
    assert max(abs(a) for a in W.entries()[1:]) < tiny


@pytest.mark.parametrize("seed", range(4))
def test_the_equations_hold_to_the_bits_asked_for(seed):
    data = sphere(2, 3, 3, seed)
    alpha = optimal_selection(data)
    solution = solve(data, alpha, 1e-40)
    point, phi = solution.point, solution.features
    assert point is not None
    assert solution.gap <= 1e-40
    M = phi.combination(list(point.weights), list(point.weights.values()))
    margins = phi.margins(point.K * point.Q.transpose())
    rest = [*(M * point.Q - point.K).entries(), *(M.transpose() * point.K - point.Q).entries(),
            *(margins[k] - 1 for k in point.weights)]
    assert max(abs(a) for a in rest) < fmpq(1, 2**120)
    assert min(point.weights.values()) > 0


def test_a_hopeless_start_gives_nothing():
    phi = features(of_differences([[[4, 0]]], [[1, 0]]), (0,))
    zero = np.zeros((2, 1))
    assert refine(phi, frame(phi), zero, zero, {0: 0.25}, 100) is None
