"""The support set in a ball of datasets: one approximate inverse for all of them."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from flint import fmpq

from conditions.certificates import BallKKT, ScaledInverse
from conditions.exact.numbers import round_dyadic
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
from conditions.robustness.scores import score_slack
from conditions.selection import Features
from conditions.separation.frobenius import Solution

Ratio = Callable[[Any, Any], Any]

_BITS = 40


def ball_kkt(solution: Solution, *, outscored: bool) -> BallKKT | None:
    """The support indices of *solution* are those of every dataset within a radius, or None.

    *outscored*: also each support index scores below its selected token on the whole ball. None
    for a support with dependent rows or a zero multiplier, which no ball keeps.
    """
    phi = solution.features
    rows = [row for row, x in solution.float_multipliers.items() if x > 0]
    if len(rows) != len(solution.support):
        return None
    inside = [phi.index[row] for row in rows]
    outside = [k for k in range(len(phi)) if k not in set(inside)]
    x = np.array([solution.float_multipliers[row] for row in rows])
    with np.errstate(all="ignore"), one_blas_thread():
        K = float_ball(phi, 0.0).gram(inside, inside)[0]
        if not np.isfinite(K).all() or np.linalg.matrix_rank(K) < len(rows):
            return None
        inverse = np.linalg.inv(K)
        if not (np.isfinite(inverse).all() and np.isfinite(x).all()):
            return None
        multipliers = tuple(round_dyadic(fmpq(*a.as_integer_ratio()), _BITS) for a in x.tolist())
        R = scaled(inverse)

        def slack(radius: float) -> float:
            found = min(_slacks(float_ball(phi, radius), inside, outside, inverse, (1, 1),
                                x, 1, operator.truediv))
            if outscored:
                found = min(found, *(score_slack(phi, row, radius) for row in rows))
            return float(found)

        def check(radius: fmpq) -> bool:
            return (_holds(phi, inside, outside, R, multipliers, radius)
                    and not (outscored and any(score_slack(phi, row, radius) <= 0
                                               for row in rows)))

        radius = largest_radius(slack, check)
    return None if radius is None else BallKKT(radius, tuple(rows), multipliers, R)


def _holds(phi: Features, inside: list[int], outside: list[int], R: ScaledInverse,
           multipliers: tuple[fmpq, ...], radius: fmpq) -> bool:
    common = math.lcm(*(int(a.q) for a in multipliers))
    x = np.array([int((a * common).p) for a in multipliers], dtype=object)
    powers = (1 << max(R.exponent, 0), 1 << max(-R.exponent, 0))
    slacks = _slacks(exact_ball(phi, radius), inside, outside, integers(R.entries), powers, x,
                     common, Fraction)
    return all(a > 0 for a in slacks)


def _slacks(ball: Ball, inside: list[int], outside: list[int], R: Array,
            powers: tuple[int, int], x: Array, common: int, ratio: Ratio) -> list[Any]:
    """All > 0 proves that the rows *inside* are the support on the whole ball.

    The inverse is R·powers[0]/powers[1], the multipliers are x/common; docs/theory/robustness.md.
    """
    up, down = powers
    unit = ball.unit * ball.unit
    G, e = ball.gram(inside, inside)
    identity = np.eye(len(x), dtype=int).astype(R.dtype)
    defects = (abs(identity * (unit * down) - up * (R @ G)) + up * (abs(R) @ e)).sum(axis=1)
    rho = [ratio(a, unit * down) for a in defects.tolist()]
    if max(rho) >= 1:
        return [1 - max(rho)]
    residual = abs(R @ (unit * common - G @ x)) + abs(R) @ (e @ x)
    c = [ratio(up * a, unit * common * down) for a in residual.tolist()]
    width = max(c) / (1 - max(rho))
    errors = [a + b * width for a, b in zip(c, rho, strict=True)]
    slacks = [ratio(a, common) - b for a, b in zip(x.tolist(), errors, strict=True)]
    if min(slacks) <= 0 or not outside:
        return slacks
    H, f = ball.gram(outside, inside)
    margins = H @ x - f @ x
    error = np.array(errors, dtype=object if ratio is Fraction else float)
    loss = (abs(H) + f) @ error
    return [*slacks, *(ratio(a, common * unit) - b / unit - 1
                       for a, b in zip(margins.tolist(), loss.tolist(), strict=True))]
