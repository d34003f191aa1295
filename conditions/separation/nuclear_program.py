"""Float suggestions for the nuclear norm problem: a primal-dual interior point method.

    min ‖W‖_*  s.t.  δ_kᵀ W q_k ≥ r_k          max rᵀx  s.t.  x ≥ 0, ‖Σ x_k δ_k q_kᵀ‖_op ≤ 1

as the semidefinite program min ½ tr X over X = [[A, W], [Wᵀ, B]] ⪰ 0, with the dual slack
S = ½[[I, −M], [−Mᵀ, I]], M = Σ x_k δ_k q_kᵀ. The constraint matrices have rank two, so the N × N
matrix of a Newton step is a sum of Hadamard products of Gram matrices. Every iterate is strictly
feasible on both sides (HKM direction with Mehrotra's corrector). It proves nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import lapack

from conditions.dataset import FloatArray

_MOST_STEPS = 60
_BACK_OFF = 0.98


@dataclass(frozen=True)
class FloatPair:
    """A strictly feasible W (p × q), x (N,) with ‖M‖_op < 1, and the relative gap of the pair."""

    W: FloatArray
    x: FloatArray
    M: FloatArray
    gap: float


class _Program:
    """The data: rows δ_k (N, p), q_k (N, q) and targets r (N,)."""

    def __init__(self, deltas: FloatArray, queries: FloatArray, targets: FloatArray) -> None:
        self.deltas, self.queries, self.targets = deltas, queries, targets
        self.p, self.q = deltas.shape[1], queries.shape[1]

    def margins(self, W: FloatArray) -> FloatArray:
        return np.asarray(((self.deltas @ W) * self.queries).sum(axis=1))

    def combination(self, x: FloatArray) -> FloatArray:
        return self.deltas.T @ (x[:, None] * self.queries)

    def slack(self, x: FloatArray) -> FloatArray:
        """S for multipliers x, (p+q) × (p+q)."""
        half = 0.5 * np.eye(self.p + self.q)
        half[:self.p, self.p:] = -0.5 * self.combination(x)
        half[self.p:, :self.p] = half[:self.p, self.p:].T
        return half

    def change_of_slack(self, step: FloatArray) -> FloatArray:
        out = np.zeros((self.p + self.q,) * 2)
        out[:self.p, self.p:] = -0.5 * self.combination(step)
        out[self.p:, :self.p] = out[:self.p, self.p:].T
        return out

    def schur(self, X: FloatArray, Y: FloatArray) -> FloatArray:
        """tr(A_j X A_k Y) for all rows j, k, where A_k = ½[[0, φ_k], [φ_kᵀ, 0]]."""
        p, D, Q = self.p, self.deltas, self.queries
        total = (D @ X[:p, :p] @ D.T) * (Q @ Y[p:, p:] @ Q.T)
        total += (Q @ X[p:, p:] @ Q.T) * (D @ Y[:p, :p] @ D.T)
        # (δ_jᵀ X q_k)(δ_kᵀ Y q_j) and its mirror image.
        cross = (D @ X[:p, p:] @ Q.T) * (D @ Y[:p, p:] @ Q.T).T
        total += cross
        total += cross.T
        return np.asarray(0.25 * total)


@dataclass
class _State:
    X: FloatArray
    x: FloatArray
    s: FloatArray


def _start(program: _Program, W: FloatArray) -> _State:
    """A strictly feasible pair, from a W whose margins exceed the targets."""
    p, q = program.p, program.q
    U, sigma, Vt = np.linalg.svd(W, full_matrices=False)
    lift = float(sigma.max())
    X = np.zeros((p + q, p + q))
    X[:p, :p] = (U * sigma) @ U.T + lift * np.eye(p)
    X[p:, p:] = (Vt.T * sigma) @ Vt + lift * np.eye(q)
    X[:p, p:], X[p:, :p] = W, W.T
    x = np.ones(len(program.targets))
    x *= 0.5 / np.linalg.norm(program.combination(x), 2)
    return _State(X, x, program.margins(W) - program.targets)


def _length(matrix: FloatArray, step: FloatArray) -> float:
    """The largest t ≤ 1 that keeps matrix + t·step positive definite, backed off."""
    factor, failed = lapack.dpotrf(matrix, lower=1)
    if failed:
        return 0.0
    half, _ = lapack.dtrtrs(factor, step, lower=1)
    whole, _ = lapack.dtrtrs(factor, half.T, lower=1)
    least = float(np.linalg.eigvalsh(0.5 * (whole + whole.T))[0])
    return 1.0 if least >= -_BACK_OFF else -_BACK_OFF / least


def _ratio(values: FloatArray, step: FloatArray) -> float:
    falling = step < 0
    if not falling.any():
        return 1.0
    return min(1.0, _BACK_OFF * float((values[falling] / -step[falling]).min()))


def _symmetric(A: FloatArray) -> FloatArray:
    return np.asarray(0.5 * (A + A.T))


def minimize(deltas: FloatArray, queries: FloatArray, targets: FloatArray, start: FloatArray,
             tolerance: float) -> FloatPair | None:
    """A pair of relative gap about *tolerance*, or the best that floats reach.

    *start*: W (p × q) with every δ_kᵀ W q_k > r_k. Rows should have norm near 1. None if the
    first steps break down.
    """
    program = _Program(deltas, queries, targets)
    state = _start(program, start)
    best: FloatPair | None = None
    for _ in range(_MOST_STEPS):
        value, bound = 0.5 * float(np.trace(state.X)), float(targets @ state.x)
        pair = FloatPair(state.X[:program.p, program.p:], state.x,
                         program.combination(state.x), (value - bound) / value)
        if not np.isfinite(pair.gap):
            break
        if best is None or pair.gap < best.gap:
            best = pair
        elif pair.gap > 2 * best.gap:
            break
        if pair.gap <= tolerance or not _advance(program, state):
            break
    return best


def _advance(program: _Program, state: _State) -> bool:
    """One predictor-corrector step in place; False where floats give out."""
    p = program.p
    X, x, s = state.X, state.x, state.s
    S = program.slack(x)
    factor, failed = lapack.dpotrf(S, lower=1)
    if failed:
        return False
    upper, failed = lapack.dpotri(factor, lower=1)
    if failed:
        return False
    Y = np.tril(upper) + np.tril(upper, -1).T
    matrix = program.schur(X, Y)
    matrix[np.diag_indices_from(matrix)] += s / x
    factor, failed = lapack.dpotrf(matrix, lower=1)
    if failed:
        return False
    size = len(X) + len(x)
    mu = (float((X * S).sum()) + float(x @ s)) / size
    inverse_margins = program.margins(Y[:p, p:])

    def direction(target: float, dXdS: FloatArray | None,
                  product: FloatArray | None) -> tuple[FloatArray, FloatArray, FloatArray]:
        right = program.targets + target / x - target * inverse_margins
        if dXdS is not None and product is not None:
            right = right - product / x + program.margins(dXdS[:p, p:])
        dx, _ = lapack.dpotrs(factor, right, lower=1)
        dS = program.change_of_slack(dx)
        dX = target * Y - X - _symmetric(X @ dS @ Y)
        ds = target / x - s - s / x * dx
        if dXdS is not None and product is not None:
            dX -= dXdS
            ds -= product / x
        return dX, dx, ds

    dX, dx, ds = direction(0.0, None, None)
    dS = program.change_of_slack(dx)
    primal = min(_length(X, dX), _ratio(s, ds))
    dual = min(_length(S, dS), _ratio(x, dx))
    reached = (float(((X + primal * dX) * (S + dual * dS)).sum())
               + float((x + dual * dx) @ (s + primal * ds))) / size
    center = min(1.0, max(reached / mu, 1e-6)) ** 2
    dX, dx, ds = direction(max(center, 1e-6) * mu, _symmetric(dX @ dS @ Y), dx * ds)
    dS = program.change_of_slack(dx)
    primal = min(_length(X, dX), _ratio(s, ds))
    dual = min(_length(S, dS), _ratio(x, dx))
    if max(primal, dual) < 1e-3:
        return False
    state.X = X + primal * dX
    state.x = x + dual * dx
    # Recomputed, so that the pair stays feasible to rounding.
    state.s = program.margins(state.X[:p, p:]) - program.targets
    return bool(state.s.min() > 0)
