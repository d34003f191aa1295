"""Float suggestions for nonnegative least squares over rank-one rows. They prove nothing.

Minimizes ½ xᵀ(K + c rrᵀ)x − rᵀx over x ≥ 0, K the Gram matrix of N rows δ_k q_kᵀ: the dual of
Att-SVM with margins r, bounded as in `conditions.exact.nonnegative.SeparationProblem`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import lapack

from conditions.dataset import FloatArray

Positions = np.ndarray[tuple[int], np.dtype[np.intp]]

_TOLERANCE = 1e-12
_BLOCK_EXCHANGES = 40


@dataclass(frozen=True)
class Suggestion:
    """A passive set (sorted positions), its x > 0 and κ = 1 − c·rᵀx, near 0 if not separable."""

    passive: Positions
    x: FloatArray
    slack: float


class _Rows:
    """The float rows with what every step needs of them."""

    def __init__(self, deltas: FloatArray, queries: FloatArray, targets: FloatArray) -> None:
        self.deltas, self.queries, self.targets = deltas, queries, targets
        self.constant = len(targets) / float(targets @ targets)

    def solve(self, passive: Positions) -> FloatArray | None:
        """The solution of the normal equations on *passive*, or None if not positive definite."""
        deltas, queries, r = self.deltas[passive], self.queries[passive], self.targets[passive]
        gram = (deltas @ deltas.T) * (queries @ queries.T)
        gram += self.constant * np.outer(r, r)
        _, x, failed = lapack.dposv(gram, r)
        return None if failed else x

    def ascent(self, passive: Positions, x: FloatArray) -> tuple[FloatArray, float]:
        """(f − Gx for all rows, κ)."""
        slack = 1.0 - self.constant * float(self.targets[passive] @ x)
        W = self.deltas[passive].T @ (x[:, None] * self.queries[passive])
        return slack * self.targets - ((self.deltas @ W) * self.queries).sum(axis=1), slack


def suggest(deltas: FloatArray, queries: FloatArray, targets: FloatArray) -> Suggestion:
    """A suggestion for rows ``deltas[k] queries[k]ᵀ`` (both (N, d)) and margins ``targets`` (N,).

    Rows should have norm near 1 (scale the targets with them).
    """
    rows = _Rows(deltas, queries, targets)
    N, d = deltas.shape
    if d * d >= N:
        found = _block_pivoting(rows)
        if found is not None:
            return found
    return _lawson_hanson(rows)


def _block_pivoting(rows: _Rows) -> Suggestion | None:
    """Block principal pivoting: exchange all infeasible indices at once while that pays."""
    N = len(rows.targets)
    inside = np.ones(N, dtype=bool)
    fewest, patience = N + 1, 3
    for _ in range(_BLOCK_EXCHANGES):
        passive = np.flatnonzero(inside)
        x = rows.solve(passive)
        if x is None:
            return None
        ascent, slack = rows.ascent(passive, x)
        wrong = ~inside & (ascent > _TOLERANCE * rows.targets)
        wrong[passive] = x <= 0
        count = int(np.count_nonzero(wrong))
        if count == 0:
            return Suggestion(passive, x, slack)
        if count < fewest:
            fewest, patience = count, 3
        elif patience:
            patience -= 1
        else:
            # Murty's rule: only the last index, which cannot cycle.
            wrong[: np.flatnonzero(wrong)[-1]] = False
        inside ^= wrong
    return None


def _lawson_hanson(rows: _Rows) -> Suggestion:
    """Lawson and Hanson's active-set method."""
    N = len(rows.targets)
    passive: list[int] = []
    x = np.empty(0)
    barred: set[int] = set()
    ascent, slack = rows.targets.copy(), 1.0
    for _ in range(3 * N + 30):
        score = ascent / rows.targets
        score[passive] = -np.inf
        score[list(barred)] = -np.inf
        entering = int(score.argmax())
        if score[entering] <= _TOLERANCE:
            break
        trial, y = _entered(rows, [*passive, entering], np.append(x, 0.0))
        if y is None or entering not in trial:
            # Dependent to working precision: exact arithmetic will see to it.
            barred.add(entering)
            continue
        passive, x = trial, y
        ascent, slack = rows.ascent(np.array(passive), x)
    order = np.argsort(passive)
    return Suggestion(np.array(passive, dtype=np.intp)[order], x[order], slack)


def _entered(rows: _Rows, passive: list[int],
             x: FloatArray) -> tuple[list[int], FloatArray | None]:
    while passive:
        target = rows.solve(np.array(passive))
        if target is None:
            return passive, None
        blocked = target <= 0
        if not blocked.any():
            return passive, target
        gap = x[blocked] - target[blocked]
        step = float(np.min(np.where(gap > 0, x[blocked] / np.where(gap > 0, gap, 1.0), 0.0)))
        x = x + step * (target - x)
        kept = x > 1e-15 * np.abs(x).max()
        kept &= ~(blocked & (x <= 0))
        if kept.all():
            kept[int(np.argmin(np.where(blocked, x, np.inf)))] = False
        passive = [k for k, keep in zip(passive, kept, strict=True) if keep]
        x = x[kept]
    return passive, None
