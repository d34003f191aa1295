"""Full row rank in a ball of datasets: approximate right inverses."""

from __future__ import annotations

from typing import Any

import numpy as np
from flint import fmpq

from conditions.certificates import BallFactors, BallRows, ScaledInverse
from conditions.exact.threads import one_blas_thread
from conditions.robustness.ball import (
    Array,
    Ball,
    exact_ball,
    float_ball,
    integers,
    largest_radius,
    scaled,
)
from conditions.selection import Features

Powers = tuple[int, int]


def ball_rank(phi: Features) -> BallFactors | BallRows | None:
    """A radius within which the features stay independent, by whichever proof gives the larger."""
    with np.errstate(all="ignore"), one_blas_thread():
        ball = float_ball(phi, 0.0)
        if not (np.isfinite(ball.deltas).all() and np.isfinite(ball.queries).all()):
            return None
        found = [c for c in (_factors(phi), _rows(phi)) if c is not None]
    return max(found, key=lambda c: c.radius, default=None)


def _parts(phi: Features, ball: Ball) -> list[tuple[Array, Any, Any]]:
    """Each sample's differences and all queries, with the reach of their entries and the unit."""
    owners = phi.owners
    parts = [(ball.deltas[owners == i], 2 * ball.token, ball.token_unit)
             for i in range(phi.dataset.n)]
    first = [int(np.argmax(owners == i)) for i in range(phi.dataset.n)]
    return [*parts, (ball.queries[first], ball.query, ball.query_unit)]


def _factors(phi: Features) -> BallFactors | None:
    dataset = phi.dataset
    if dataset.n > dataset.d or max(dataset.lengths) - 1 > dataset.d:
        return None
    inverses = [np.linalg.pinv(A) for A, _, _ in _parts(phi, float_ball(phi, 0.0))]
    if not all(np.isfinite(B).all() for B in inverses):
        return None
    short = [scaled(B) for B in inverses]

    def slack(radius: float) -> float:
        return min(float(_defect(A, B, reach, (1, 1), 1))
                   for (A, reach, _), B in zip(_parts(phi, float_ball(phi, radius)), inverses,
                                               strict=True))

    def check(radius: fmpq) -> bool:
        return all(_defect(A, integers(B.entries), reach, _powers(B), unit) > 0
                   for (A, reach, unit), B in zip(_parts(phi, exact_ball(phi, radius)), short,
                                                  strict=True))

    radius = largest_radius(slack, check)
    return None if radius is None else BallFactors(radius, tuple(short[:-1]), short[-1])


def _powers(inverse: ScaledInverse) -> Powers:
    return 1 << max(inverse.exponent, 0), 1 << max(-inverse.exponent, 0)


def _defect(A: Array, B: Array, reach: Any, powers: Powers, unit: Any) -> Any:
    """Of the sign of 1 − ‖I − A'B'‖_∞ for the worst A', B' = B·powers[0]/powers[1]/unit."""
    up, down = powers
    one = unit * down
    identity = np.eye(len(A), dtype=int).astype(A.dtype)
    rows = abs(identity * one - up * (A @ B)).sum(axis=1)
    return one - max(rows.tolist()) - up * reach * abs(B).sum()


def _rows(phi: Features) -> BallRows | None:
    ball = float_ball(phi, 0.0)
    N, d = ball.deltas.shape
    if d * d < N:
        return None
    features = np.einsum("ka,kb->kab", ball.deltas, ball.queries).reshape(N, d * d)
    if not np.isfinite(features).all():
        return None
    inverse = np.linalg.pinv(features)
    if not np.isfinite(inverse).all():
        return None
    short = scaled(inverse)
    entries, powers = integers(short.entries), _powers(short)

    def slack(radius: float) -> float:
        return float(_row_defect(float_ball(phi, radius), inverse, (1, 1)))

    def check(radius: fmpq) -> bool:
        return bool(_row_defect(exact_ball(phi, radius), entries, powers) > 0)

    radius = largest_radius(slack, check)
    return None if radius is None else BallRows(radius, short)


def _row_defect(ball: Ball, B: Array, powers: Powers) -> Any:
    """Of the sign of 1 − ‖I − Φ'B'‖_∞ for the worst Φ' of the ball."""
    up, down = powers
    D, Q = ball.deltas, ball.queries
    N, d = D.shape
    one = ball.unit * down
    identity = np.eye(N, dtype=int).astype(D.dtype)
    product = (D[:, :, None] * Q[:, None, :]).reshape(N, d * d) @ B
    rows = abs(identity * one - up * product).sum(axis=1)
    reach = abs(B).sum(axis=1).reshape(d, d)
    # Entry (a, b) of a feature moves by at most |δ_a|ε + 2ε|q_b| + 2ε².
    moved = (ball.query * (abs(D) @ reach.sum(axis=1))
             + 2 * ball.token * (abs(Q) @ reach.sum(axis=0))
             + 2 * ball.token * ball.query * reach.sum())
    return one - max((rows + up * moved).tolist())
