"""Verified floating-point linear algebra: a float solution of K λ = b with proved errors, b being
1 on the rows of the support and 0 on rows of margin 0.

Assumes IEEE 754 binary64 with rounding to nearest and sums of products in any order, with or
without fused operations: then |fl(xᵀy) − xᵀy| ≤ γ_m |x|ᵀ|y|, γ_m = m·u/(1 − m·u), u = 2⁻⁵³, as
long as nothing over- or underflows, which the range of `FloatRows` excludes. Rounded data enters
by its norm-wise error. Bounds computed in floats are inflated by more than their own rounding.
Source: docs/theory.md, section 1, verified KKT.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import lapack

from conditions.dataset import FloatArray

_U = 2.0**-53
# Covers the rounding of the error bounds themselves (sums of at most 2^20 positive terms).
_INFLATE = 1.0 + 2.0**-30
# Powers of 2 over which the scales of rows may range.
_REACH = 250

Positions = np.ndarray[tuple[int], np.dtype[np.intp]]


def _gamma(m: int) -> float:
    return m * _U / (1.0 - m * _U) * _INFLATE


@dataclass(frozen=True, eq=False)
class FloatRows:
    """N rows 2^exponents[k] δ_k q_kᵀ, known up to rounding.

    ``deltas``, ``queries`` (N, d): within 2u of the true δ_k and 4u of the true q_k, relatively
    and in Euclidean norm; nonzero entries lie between 2⁻¹²⁰ and 2⁶¹ in size.
    """

    deltas: FloatArray
    queries: FloatArray
    exponents: Positions


@dataclass(frozen=True)
class VerifiedSolution:
    """λ = K⁻¹b within ``radius``, > 0 on S, all other margins > 1, so S is the support.

    ``positions``: S and then the rows of margin 0, s in all. ``multipliers``, ``radius``: shape
    (s,). ``inverse``: approximate K⁻¹, (s, s). ``W``: (d, d), near W^mm. ``norm_squared`` encloses
    ‖W^mm‖²_F = Σ_S λ. ``defect`` bounds ‖I − inverse·K‖_∞, ``norms`` (N,) the norms of all rows.
    """

    positions: Positions
    multipliers: FloatArray
    radius: FloatArray
    inverse: FloatArray
    W: FloatArray
    norm_squared: tuple[float, float]
    defect: float
    norms: FloatArray


_NONE: Positions = np.array([], dtype=np.intp)


def verify_support(rows: FloatRows, support: Positions, twins: Positions,
                   ties: Positions = _NONE) -> VerifiedSolution | None:
    """Prove that the support of min ‖W‖_F, ⟨row_k, W⟩ ≥ 1, is *support* and *twins*.

    The rows of *ties* have ⟨row_k, W⟩ = 0 instead. *twins* are rows that differ from one of
    *support* by exactly 0 or a combination of *ties*. None if the proof does not go through, which
    says nothing about the support.
    """
    deltas, queries = rows.deltas, rows.queries
    N, d = deltas.shape
    norms = np.sqrt((deltas * deltas).sum(axis=1) * (queries * queries).sum(axis=1))
    # a_k ≥ ‖δ_k‖‖q_k‖ for the true rows: the sums lose at most γ_d each, the data 6u.
    norms *= 1.0 + _gamma(2 * d + 16)
    if not len(support) or not norms.all():
        return None
    # Powers of two give rows of norm near 1 without rounding.
    shift = -np.round(np.log2(norms)).astype(np.int64)
    if np.abs(shift - rows.exponents).max() > _REACH:
        return None
    scale = np.ldexp(1.0, shift)
    # Margins of the scaled rows: the constraint of row k reads m_k ≥ target_k.
    target = np.ldexp(1.0, shift - rows.exponents)
    a = norms * scale
    chosen = np.concatenate([support, ties])
    D, Q, r, b = deltas[chosen], queries[chosen], target[chosen], a[chosen]
    D = D * scale[chosen, None]
    goal = r.copy()
    goal[len(support):] = 0.0
    K = (D @ D.T) * (Q @ Q.T)
    # |K − true K| ≤ entry · b bᵀ: two dot products, one product, rounded data twice.
    entry = _gamma(2 * d + 16)
    factor, failed = lapack.dpotrf(K)
    if failed:
        return None
    upper, failed = lapack.dpotri(factor)
    if failed:
        return None
    R = np.triu(upper) + np.triu(upper, 1).T
    s = len(chosen)
    dot = _gamma(s + 4)
    size = np.abs(R)
    ones = np.abs(K).sum(axis=1)
    defect = np.abs(np.eye(s) - R @ K).sum(axis=1)
    defect += dot * (size @ ones + defect + 1.0) + entry * (size @ b) * b.sum()
    beta = float(defect.max()) * _INFLATE
    if not beta < 1.0:
        return None
    y = R @ goal
    y += R @ (goal - K @ y)
    weight = np.abs(y)
    residual = np.abs(goal - K @ y)
    residual += dot * (np.abs(K) @ weight + r + residual) + entry * b * float(b @ weight)
    error = size @ residual * (1.0 + dot)
    error += float(error.max()) * beta / (1.0 - beta)
    error *= _INFLATE
    if not bool(np.all((y - error)[:len(support)] > 0)):
        return None
    # W = Σ y δ qᵀ is off by at most γ Σ|y| b from rounding (of the data, too) and Σ error b from
    # y, in norm. Evaluating a margin loses as much again as 2d + 12 roundings of ‖W‖ ≤ Σ|y| b.
    W = D.T @ (y[:, None] * Q)
    spread = _gamma(s + 2 * d + 20) * float(b @ weight) + float(b @ error)
    margins = ((deltas @ W) * queries).sum(axis=1) * scale
    others = np.ones(N, dtype=bool)
    others[chosen] = others[twins] = False
    if not bool(np.all((margins - a * spread * _INFLATE)[others]
                       > target[others] * _INFLATE)):
        return None
    multipliers, radius = y * r, error * r
    total = float(multipliers[:len(support)].sum())
    slack = (float(radius[:len(support)].sum()) * _INFLATE
             + _gamma(s + 4) * float((weight * goal).sum()))
    return VerifiedSolution(chosen, multipliers, radius, R * np.outer(r, r), W,
                            (total - slack * _INFLATE, total + slack * _INFLATE),
                            # Undoing the scaling is a similarity of the defect matrix.
                            beta * float(r.max() / r.min()) * _INFLATE,
                            np.ldexp(norms, rows.exponents))
