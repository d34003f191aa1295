"""Verified floating-point linear algebra: a float solution of K_SS λ = 1 with proved errors.

Assumes IEEE 754 binary64 with rounding to nearest and sums of products in any order, with or
without fused operations: then |fl(xᵀy) − xᵀy| ≤ γ_m |x|ᵀ|y|, γ_m = m·u/(1 − m·u), u = 2⁻⁵³, as
long as nothing over- or underflows, which `FloatView.moderate` excludes. Bounds computed in
floats are inflated by more than their own rounding. Source: docs/theory.md, section 1, verified
KKT.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import lapack

from conditions.dataset import FloatArray

_U = 2.0**-53
# Covers the rounding of the error bounds themselves (sums of at most 2^20 positive terms).
_INFLATE = 1.0 + 2.0**-30

Positions = np.ndarray[tuple[int], np.dtype[np.intp]]


def _gamma(m: int) -> float:
    return m * _U / (1.0 - m * _U) * _INFLATE


@dataclass(frozen=True)
class VerifiedSolution:
    """λ = K_SS⁻¹1 within ``radius``, > 0, all other margins > 1, so S is the support.

    ``multipliers``, ``radius``: shape (s,). ``inverse``: approximate K_SS⁻¹, (s, s). ``W``: (d, d),
    near W^mm. ``norm_squared`` encloses ‖W^mm‖²_F = Σλ. ``defect`` bounds ‖I − inverse·K_SS‖_∞.
    """

    positions: Positions
    multipliers: FloatArray
    radius: FloatArray
    inverse: FloatArray
    W: FloatArray
    norm_squared: tuple[float, float]
    defect: float


def verify_support(deltas: FloatArray, queries: FloatArray, support: Positions,
                   twins: Positions) -> VerifiedSolution | None:
    """Prove that the support of min ‖W‖_F, δ_kᵀWq_k ≥ 1, is *support* and *twins*.

    ``deltas`` (N, d) are differences of floats, each rounded once; ``queries`` (N, d) are exact.
    *twins* are rows exactly equal to one of *support*. None if the proof does not go through,
    which says nothing about the support.
    """
    N, d = deltas.shape
    norms = np.sqrt((deltas * deltas).sum(axis=1) * (queries * queries).sum(axis=1))
    # a_k ≥ ‖δ_k‖‖q_k‖ for the true rows: the sums lose at most γ_d each, rounding of δ adds u.
    norms *= 1.0 + _gamma(2 * d + 8)
    if not len(support) or not norms.all():
        return None
    # Powers of two give rows of norm near 1 without rounding.
    scale = np.ldexp(1.0, -np.round(np.log2(norms)).astype(int))
    a = norms * scale
    D, Q, r, b = deltas[support], queries[support], scale[support], a[support]
    D = D * r[:, None]
    K = (D @ D.T) * (Q @ Q.T)
    # |K − true K| ≤ entry · b bᵀ: two dot products, one product, two rounded differences.
    entry = _gamma(2 * d + 8)
    factor, failed = lapack.dpotrf(K)
    if failed:
        return None
    upper, failed = lapack.dpotri(factor)
    if failed:
        return None
    R = np.triu(upper) + np.triu(upper, 1).T
    s = len(support)
    dot = _gamma(s + 4)
    size = np.abs(R)
    ones = np.abs(K).sum(axis=1)
    defect = np.abs(np.eye(s) - R @ K).sum(axis=1)
    defect += dot * (size @ ones + defect + 1.0) + entry * (size @ b) * b.sum()
    beta = float(defect.max()) * _INFLATE
    if not beta < 1.0:
        return None
    y = R @ r
    y += R @ (r - K @ y)
    weight = np.abs(y)
    residual = np.abs(r - K @ y)
    residual += dot * (np.abs(K) @ weight + r + residual) + entry * b * float(b @ weight)
    error = size @ residual * (1.0 + dot)
    error += float(error.max()) * beta / (1.0 - beta)
    error *= _INFLATE
    if not bool(np.all(y - error > 0)):
        return None
    # W = Σ y δ qᵀ is off by at most γ Σ|y| b from rounding and Σ error b from y, in norm.
    W = D.T @ (y[:, None] * Q)
    spread = _gamma(s + 2 * d + 12) * float(b @ weight) + float(b @ error)
    margins = ((deltas @ W) * queries).sum(axis=1) * scale
    others = np.ones(N, dtype=bool)
    others[support] = others[twins] = False
    # Margins in units of scale: the constraint of row k reads m_k ≥ scale_k.
    if not bool(np.all((margins - a * spread * _INFLATE)[others]
                       > scale[others] * _INFLATE)):
        return None
    multipliers, radius = y * r, error * r
    total = float(multipliers.sum())
    slack = float(radius.sum()) * _INFLATE + _gamma(s + 4) * float((weight * r).sum())
    return VerifiedSolution(support, multipliers, radius, R * np.outer(r, r), W,
                            (total - slack * _INFLATE, total + slack * _INFLATE),
                            # Undoing the scaling is a similarity of the defect matrix.
                            beta * float(r.max() / r.min()) * _INFLATE)
