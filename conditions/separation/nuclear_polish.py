"""Newton's method on the KKT conditions of a nuclear norm problem, to any number of bits.

With the rank r and the set S of positive multipliers known, the conditions are equations:

    M Q = K,   Mᵀ K = Q,   ⟨φ_k, KQᵀ⟩ = 1 for k in S,      M = Σ_S λ_k φ_k,

the gradient of Σ λ(⟨φ, KQᵀ⟩ − 1) − ½(‖K‖² + ‖Q‖²). Residuals are exact, corrections are float
solutions of the linearized equations, so each step adds the digits of a float. K, Q are only
determined up to a common rotation, which is fixed by taking no step along it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from flint import fmpq, fmpq_mat
from scipy.linalg import lapack

from conditions.dataset import FloatArray
from conditions.exact.numbers import to_float
from conditions.selection import Features
from conditions.separation.nuclear_frame import Frame
from conditions.separation.nuclear_rounding import exponent_above, on_grid, rational_matrix

_MOST_STEPS = 40


@dataclass(frozen=True)
class KKTPoint:
    """K, Q (d × r) and λ by row position that nearly solve the KKT equations."""

    K: fmpq_mat
    Q: fmpq_mat
    weights: dict[int, fmpq]


def refine(phi: Features, form: Frame, K: FloatArray, Q: FloatArray, weights: dict[int, float],
           bits: int) -> KKTPoint | None:
    """The KKT point near K, Q (d × r) and λ = *weights*, of the original problem, to *bits* bits.

    None where the equations are singular or the steps do not shrink.
    """
    positions = list(weights)
    rows = np.array(positions, dtype=np.intp)
    deltas, queries = form.deltas[rows], form.queries[rows]
    scales = [fmpq(*float(form.weights[k]).as_integer_ratio()) for k in positions]
    root = form.root
    # The unknowns in the units of the frame; powers of two away from those of the problem.
    k, q = rational_matrix(K) * (1 / root), rational_matrix(Q) * (1 / root)
    x = fmpq_mat(len(rows), 1, [fmpq(*float(weights[p]).as_integer_ratio()) / s
                                for p, s in zip(positions, scales, strict=True)])
    targets = fmpq_mat(len(rows), 1, [fmpq(*float(form.targets[p]).as_integer_ratio())
                                      for p in positions])
    before = float("inf")
    for _ in range(_MOST_STEPS):
        multipliers = [a * s for a, s in zip(x.entries(), scales, strict=True)]
        M = phi.combination(positions, multipliers)
        margins = phi.margins(k * q.transpose())
        gaps = fmpq_mat(len(rows), 1, [margins[p] * s for p, s in
                                       zip(positions, scales, strict=True)]) - targets
        residual = [M * q - k, M.transpose() * k - q, gaps]
        size = max((abs(a) for part in residual for a in part.entries()), default=fmpq(0))
        if size == 0 or exponent_above(size) < -bits:
            return KKTPoint(k * root, q * root,
                            dict(zip(positions, multipliers, strict=True)))
        step = _newton_step(deltas, queries, _floats(M), _floats(k), _floats(q), residual, size)
        if step is None or not to_float(size) < before:
            return None
        before = to_float(size) / 2
        grid = min(exponent_above(size), 0) * 2 - 60
        grid = max(grid, -bits - 12)
        k, q, x = (on_grid(a + b * size, grid)
                   for a, b in zip((k, q, x), step, strict=True))
    return None


def _floats(A: fmpq_mat) -> FloatArray:
    return np.array([[to_float(a) for a in row] for row in A.tolist()])


def _newton_step(deltas: FloatArray, queries: FloatArray, M: FloatArray, K: FloatArray,
                 Q: FloatArray, residual: list[fmpq_mat],
                 size: fmpq) -> list[fmpq_mat] | None:
    """The corrections of K, Q and x, divided by *size*, as rationals."""
    J = kkt_jacobian(deltas, queries, M, K, Q)
    right = np.concatenate([_floats(part * (1 / size)).ravel() for part in residual])
    with np.errstate(all="ignore"):
        _, _, solution, failed = lapack.dgesv(J, -right)
    if failed or not np.all(np.isfinite(solution)):
        return None
    cuts = np.cumsum([K.size, Q.size])
    parts = np.split(solution, cuts)
    shapes = (K.shape, Q.shape, (len(deltas), 1))
    return [rational_matrix(part.reshape(shape))
            for part, shape in zip(parts, shapes, strict=True)]


def kkt_jacobian(deltas: FloatArray, queries: FloatArray, M: FloatArray, K: FloatArray,
                 Q: FloatArray) -> FloatArray:
    """The symmetric Jacobian of the equations, made regular along the rotations of (K, Q).

    Square of size 2dr + |S|; K and Q are flattened row by row.
    """
    d, r = K.shape
    n = d * r
    s = len(deltas)
    J = np.zeros((2 * n + s, 2 * n + s))
    J[:n, :n] = J[n:2 * n, n:2 * n] = -np.eye(n)
    J[:n, n:2 * n] = np.kron(M, np.eye(r))
    # The margin of row k has gradient δ_k (Qᵀq_k)ᵀ in K and q_k (Kᵀδ_k)ᵀ in Q.
    J[2 * n:, :n] = (deltas[:, :, None] * (queries @ Q)[:, None, :]).reshape(s, n)
    J[2 * n:, n:2 * n] = (queries[:, :, None] * (deltas @ K)[:, None, :]).reshape(s, n)
    J[n:2 * n, :n] = J[:n, n:2 * n].T
    J[:2 * n, 2 * n:] = J[2 * n:, :2 * n].T
    for a in range(r):
        for b in range(a):
            turn = np.zeros(2 * n)
            for part, factor in ((turn[:n].reshape(d, r), K), (turn[n:].reshape(d, r), Q)):
                part[:, a], part[:, b] = factor[:, b], -factor[:, a]
            J[:2 * n, :2 * n] += np.outer(turn, turn)
    return J
