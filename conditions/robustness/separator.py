"""One separator for a whole ball of datasets, chosen for the largest radius."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from flint import fmpq
from scipy.optimize import linprog
from scipy.sparse import csr_array, hstack, kron, vstack

from conditions.certificates import BallSeparator
from conditions.dataset import FloatArray
from conditions.robustness.ball import Array, Ball, exact_ball, float_ball, integers, largest_radius
from conditions.robustness.scores import score_slack
from conditions.selection import Features
from conditions.separation.frobenius import Solution
from conditions.separation.separator import rounded

_LARGEST_PROGRAM = 10_000
"""Rows × d² up to which the linear program for a better separator is solved."""

_BITS = 30


def ball_separator(solution: Solution, *, outscored: bool) -> BallSeparator | None:
    """A W whose margins are > 0 for every dataset within a radius; the largest radius found.

    *outscored*: also every rejected token scores below the selected one on the whole ball.
    """
    phi = solution.features
    candidates = [solution.float_W]
    if len(phi) * phi.dataset.d**2 <= _LARGEST_PROGRAM:
        better = _least_reach(phi)
        if better is not None:
            candidates.append(better)
    found = [c for W in candidates if (c := _with(phi, W, outscored)) is not None]
    return max(found, key=lambda c: c.radius, default=None)


def _with(phi: Features, W: FloatArray, outscored: bool) -> BallSeparator | None:
    if not np.isfinite(W).all() or not W.any():
        return None
    short = rounded(W, _BITS)
    numerator = integers(short.numer_denom()[0].tolist())

    def slack(radius: float) -> float:
        found = float(_margins(float_ball(phi, radius), W).min())
        return min(found, *(score_slack(phi, row, radius) for row in phi.rows)) if outscored \
            else found

    def check(radius: fmpq) -> bool:
        margins = _margins(exact_ball(phi, radius), numerator)
        return bool(min(margins.tolist()) > 0) and not (
            outscored and any(score_slack(phi, row, radius) <= 0 for row in phi.rows))

    radius = largest_radius(slack, check)
    return None if radius is None else BallSeparator(radius, tuple(map(tuple, short.tolist())))


def _margins(ball: Ball, W: Array) -> Array:
    """Lower bounds of δᵀWq over the ball, times its unit and that of W.

    (δ + e)ᵀW(q + g) ≥ δᵀWq − 2ε‖Wq‖₁ − ε‖Wᵀδ‖₁ − 2ε²Σ|W_ab|.
    """
    pull, push = ball.queries @ W.T, ball.deltas @ W
    lowest: Array = ((ball.deltas * pull).sum(axis=1) - 2 * ball.token * abs(pull).sum(axis=1)
                     - ball.query * abs(push).sum(axis=1)
                     - 2 * ball.token * ball.query * abs(W).sum())
    return lowest


@lru_cache(maxsize=16)
def _least_reach(phi: Features) -> FloatArray | None:
    """W with margins ≥ 1 and the least max 2‖W z_i‖₁ + ‖Wᵀδ_it‖₁, by linear programming."""
    D, Q = phi.float_differences, phi.float_queries
    N, d = D.shape
    with np.errstate(all="ignore"):
        features = np.einsum("ka,kb->kab", D, Q).reshape(N, d * d)
    if not all(np.isfinite(A).all() for A in (D, Q, features)):
        return None
    eye = np.eye(d)
    pull = csr_array(np.einsum("ac,kb->kacb", eye, Q).reshape(N * d, d * d))
    push = csr_array(np.einsum("ka,bc->kbac", D, eye).reshape(N * d, d * d))
    zero, one = csr_array((N * d, N * d)), csr_array(np.eye(N * d))
    column = csr_array((N * d, 1))
    block = [hstack([sign * A, *(-one if k == at else zero for k in range(2)), column])
             for at, A in enumerate((pull, push)) for sign in (1, -1)]
    sums = csr_array(kron(np.eye(N), np.ones((1, d))))
    reach = hstack([csr_array((N, d * d)), 2 * sums, sums, csr_array(-np.ones((N, 1)))])
    margin = hstack([csr_array(-features), csr_array((N, 2 * N * d + 1))])
    constraints: Any = vstack([*block, reach, margin]).tocsr()
    solved = linprog(np.eye(d * d + 2 * N * d + 1)[-1], A_ub=constraints,
                     b_ub=np.concatenate([np.zeros(4 * N * d + N), -np.ones(N)]),
                     bounds=(None, None), method="highs")
    return np.asarray(solved.x)[:d * d].reshape(d, d) if solved.success else None
