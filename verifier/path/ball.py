"""Newton's method in a ball: minimise a smooth, not convex function over ‖x‖ ≤ ρ.

In the interior, and on the sphere where the function falls outwards, a step solves the damped
Newton equations, on the sphere those of the Lagrangian in the tangent space; a step that leaves the
ball is drawn back to the sphere. Steps that do not lower the function are damped more.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import lapack

from conditions.dataset import FloatArray

_SUFFICIENT = 1e-4
_STALLED = 1e-14
_LEAST_DAMPING, _MOST_DAMPING = 1e-14, 1e14


@dataclass(frozen=True, eq=False)
class Smooth:
    """A function of x in R^k: ``value(x)`` may be inf; ``jet(x)`` is (value, gradient, Hessian)."""

    value: Callable[[FloatArray], float]
    jet: Callable[[FloatArray], tuple[float, FloatArray, FloatArray]]


@dataclass(frozen=True, eq=False)
class Minimum:
    """Where a search ended. ``residual`` is 0 at a stationary point of the constrained problem.

    It is ρ times the norm of the gradient, or of its tangential part on the sphere, over
    max(1, ρ times the norm of the whole gradient).
    """

    x: FloatArray
    value: float
    residual: float
    on_sphere: bool


def minimize(function: Smooth, radius: float, start: FloatArray, tolerance: float = 1e-9,
             steps: int = 200) -> Minimum:
    """A local minimum over ‖x‖ ≤ *radius* near *start*, where the function must be finite.

    It ends where the residual is at most *tolerance*, where no damped step lowers the function any
    more, or after *steps* steps.
    """
    x = _inside(start, radius)
    value, gradient, hessian = function.jet(x)
    damping = 1e-3
    for _ in range(steps):
        residual, multiplier = _stationarity(x, gradient, radius)
        if residual <= tolerance:
            break
        # With a gradient but no curvature, steps are of the order of the ball.
        scale = (float(np.abs(np.diag(hessian)).max()) + multiplier
                 + float(np.linalg.norm(gradient)) / radius)
        moved = None
        while damping <= _MOST_DAMPING:
            step = _step(x, gradient, hessian, multiplier, damping * scale)
            if step is None:
                damping = max(10 * damping, 1e-8)
                continue
            candidate = _moved(x, step, radius, on_sphere=multiplier > 0)
            found = function.value(candidate)
            expected = -0.5 * float((gradient + multiplier * x) @ (candidate - x))
            if found < value and value - found >= _SUFFICIENT * expected:
                moved = candidate
                break
            damping = max(10 * damping, 1e-8)
        if moved is None or value - found <= _STALLED * max(1.0, abs(value)):
            break
        if value - found > 0.5 * expected:
            damping = max(damping / 10, _LEAST_DAMPING)
        x = moved
        value, gradient, hessian = function.jet(x)
    residual, multiplier = _stationarity(x, gradient, radius)
    return Minimum(x, value, residual, multiplier > 0)


def _inside(x: FloatArray, radius: float) -> FloatArray:
    """*x*, drawn back to the sphere if it lies outside."""
    size = float(np.linalg.norm(x))
    return np.asarray(x * (radius / size)) if size > radius else x


def _moved(x: FloatArray, step: FloatArray, radius: float, *, on_sphere: bool) -> FloatArray:
    moved = x + step
    if on_sphere:
        return np.asarray(moved * (radius / np.linalg.norm(moved)))
    return _inside(moved, radius)


def _stationarity(x: FloatArray, gradient: FloatArray,
                  radius: float) -> tuple[float, float]:
    """The residual, and the multiplier of ½‖x‖² ≤ ½ρ²; 0 inside."""
    outward = -float(gradient @ x)
    size = radius * float(np.linalg.norm(gradient))
    if outward <= 0 or float(np.linalg.norm(x)) < radius * (1 - 1e-12):
        return size / max(1.0, size), 0.0
    multiplier = outward / radius**2
    tangential = radius * float(np.linalg.norm(gradient + multiplier * x))
    return tangential / max(1.0, size), multiplier


def _step(x: FloatArray, gradient: FloatArray, hessian: FloatArray, multiplier: float,
          damping: float) -> FloatArray | None:
    """The damped step, tangential on the sphere; None where the damping does not suffice."""
    matrix, right = hessian.copy(), -(gradient + multiplier * x)
    matrix[np.diag_indices_from(matrix)] += multiplier + damping
    if multiplier > 0:
        # P A P + c n nᵀ, n = x/‖x‖, P = I − n nᵀ: definite iff A is on the tangent space.
        normal = x / np.linalg.norm(x)
        along = matrix @ normal
        curvature = float(normal @ along)
        matrix -= np.outer(normal, along) + np.outer(along, normal)
        matrix += (curvature + multiplier + damping) * np.outer(normal, normal)
    factor, failed = lapack.dpotrf(matrix, lower=1)
    if failed:
        return None
    step, _ = lapack.dpotrs(factor, right, lower=1)
    return np.asarray(step) if np.all(np.isfinite(step)) else None
