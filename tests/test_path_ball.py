"""Newton's method in a ball, on functions whose minima are known."""

import numpy as np
import pytest
from scipy.optimize import brentq, nnls

from verifier.path.ball import Smooth, minimize


def quadratic(A, b):
    """½xᵀAx + bᵀx."""
    return Smooth(lambda x: float(x @ A @ x / 2 + b @ x), lambda x: (
        float(x @ A @ x / 2 + b @ x), A @ x + b, A))


def least(A, b, radius):
    """The global minimum over the ball, by the secular equation ‖(A + μI)⁻¹b‖ = ρ."""
    values, Q = np.linalg.eigh(A)
    c = Q.T @ b

    def excess(mu):
        return np.linalg.norm(c / (values + mu)) - radius

    if values[0] > 0 and excess(0.0) <= 0:
        x = -c / values
    else:
        low = max(0.0, -values[0]) + 1e-12
        x = -c / (values + brentq(excess, low, 1e6))
    return float(x @ (values * x) / 2 + c @ x)


@pytest.mark.parametrize("radius", [0.1, 1.0, 100.0])
def test_convex_quadratics(radius):
    for seed in range(10):
        rng = np.random.default_rng(seed)
        root = rng.normal(size=(6, 6))
        A, b = root @ root.T + 0.1 * np.eye(6), rng.normal(size=6)
        found = minimize(quadratic(A, b), radius, rng.normal(size=6))
        assert found.value == pytest.approx(least(A, b, radius), rel=1e-9, abs=1e-12)
        assert found.residual < 1e-4
        assert np.linalg.norm(found.x) <= radius * (1 + 1e-12)
        assert found.on_sphere == (np.linalg.norm(np.linalg.solve(A, b)) > radius)


def test_indefinite_quadratics_from_several_starts():
    for seed in range(10):
        rng = np.random.default_rng(seed)
        root = rng.normal(size=(5, 5))
        A, b = root + root.T, rng.normal(size=5)
        best = min(minimize(quadratic(A, b), 2.0, rng.normal(size=5)).value for _ in range(6))
        assert best == pytest.approx(least(A, b, 2.0), rel=1e-8)


def test_infinite_values_are_never_entered():
    # x² + y² with x ≥ 1 forbidden to be left: the start is admitted, the minimum 0 is not.
    f = quadratic(2 * np.eye(2), np.zeros(2))
    walled = Smooth(lambda x: f.value(x) if x[0] >= 1 else np.inf, f.jet)
    found = minimize(walled, 5.0, np.array([2.0, 1.0]))
    assert found.x[0] >= 1 and found.value < 5


def test_a_stiff_function_is_solved_to_the_digits():
    # log Σ exp(−1000 a_k·x) in the unit ball: the residual must fall, not stall.
    rng = np.random.default_rng(0)
    a = rng.normal(size=(8, 12))

    def jet(x):
        e = -1000 * (a @ x)
        top = e.max()
        w = np.exp(e - top)
        p = w / w.sum()
        g = -1000 * (p @ a)
        return top + np.log(w.sum()), g, 1e6 * (a.T * p) @ a - np.outer(g, g)

    found = minimize(Smooth(lambda x: jet(x)[0], jet), 1.0, rng.normal(size=12))
    assert found.residual < 1e-5 and found.on_sphere
    # min over the ball of log Σ exp(−1000 a_k·x) is within log 8 of −1000 times the distance of 0
    # from the convex hull of the a_k.
    weights, _ = nnls(np.vstack([a.T, 1e4 * np.ones(8)]), np.append(np.zeros(12), 1e4))
    distance = np.linalg.norm(weights @ a) / weights.sum()
    assert 0 < found.value + 1000 * distance < np.log(8)
