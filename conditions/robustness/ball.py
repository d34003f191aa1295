"""The ball of datasets around one, and the search for the largest radius that passes a check.

The formulas of the checks are written once and run on two kinds of arrays: float64 for the
search, and Python integers in object arrays, which decide.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from flint import fmpq

from conditions.certificates import ScaledInverse
from conditions.dataset import FloatArray
from conditions.exact.numbers import round_dyadic
from conditions.exact.rank_one import TokenRows

Array = np.ndarray[Any, Any]
"""Float64, or Python integers of any length (dtype object)."""

_REACH = 1000
_STEPS = 24
_SHRINKS = (2.0**-12, 2.0**-6, 2.0**-3, 0.5)
_BITS = 16


@dataclass(frozen=True, eq=False)
class Ball:
    """Rows δ_k q_kᵀ whose δ moves by ≤ 2·``token`` and q by ≤ ``query`` in every entry.

    ``deltas``, ``queries``: (N, d). True values are those of the arrays divided by
    ``token_unit`` and ``query_unit``.
    """

    deltas: Array
    queries: Array
    token: Any
    query: Any
    token_unit: Any = 1
    query_unit: Any = 1

    @property
    def unit(self) -> Any:
        """What a product δ·q is divided by."""
        return self.token_unit * self.query_unit

    def gram(self, left: Sequence[int], right: Sequence[int]) -> tuple[Array, Array]:
        """Inner products ⟨φ_k, φ_l⟩ times ``unit``², and how far each can move."""
        D, E, p, q = self.deltas[left], self.deltas[right], self.token, self.query
        A, B = self.queries[left], self.queries[right]
        d = D.shape[1]
        inner, turn = D @ E.T, A @ B.T
        move = 2 * p * _pairs(D, E) + 4 * p * p * d
        swing = q * _pairs(A, B) + q * q * d
        return inner * turn, abs(inner) * swing + abs(turn) * move + move * swing


def _pairs(A: Array, B: Array) -> Array:
    """‖a_k‖₁ + ‖b_l‖₁ for all pairs of rows."""
    total: Array = np.add.outer(abs(A).sum(axis=1), abs(B).sum(axis=1))
    return total


def float_ball(phi: TokenRows, radius: float) -> Ball:
    """The ball in float64."""
    return Ball(phi.float_differences, phi.float_queries, radius, radius)


def exact_ball(phi: TokenRows, radius: fmpq) -> Ball:
    """The ball in integers, the units such that the radius is an integer in each."""
    view = phi.dataset.integers
    token_unit = math.lcm(int(view.token_scale), int(radius.q))
    query_unit = math.lcm(int(view.query_scale), int(radius.q))
    deltas = integers(phi.differences.tolist()) * (token_unit // int(view.token_scale))
    queries = integers(phi.queries.tolist()) * (query_unit // int(view.query_scale))
    return Ball(deltas, queries, int(radius.p) * (token_unit // int(radius.q)),
                int(radius.p) * (query_unit // int(radius.q)), token_unit, query_unit)


def integers(table: Sequence[Sequence[Any]]) -> Array:
    """Integers of any length as an object array."""
    return np.array([[int(a) for a in row] for row in table], dtype=object)


def scaled(matrix: FloatArray, bits: int = 24) -> ScaledInverse:
    """*matrix* on the dyadic grid 2^−bits of its largest entry."""
    exponent = int(np.frexp(np.abs(matrix).max())[1]) - bits
    return ScaledInverse(exponent, tuple(tuple(round(a) for a in row)
                                         for row in np.ldexp(matrix, -exponent).tolist()))


def power(exponent: int) -> Fraction:
    """2^exponent."""
    return Fraction(2) ** exponent


def largest_radius(slack: Callable[[float], float], check: Callable[[fmpq], bool]) -> fmpq | None:
    """A dyadic ε > 0 with check(ε), nearly the largest with slack(ε) > 0, or None.

    *slack* falls with ε and is a float suggestion; *check* decides.
    """
    with np.errstate(all="ignore"):
        exponent = 0
        if slack(1.0) > 0:
            while exponent < _REACH and slack(2.0 ** (exponent + 1)) > 0:
                exponent += 1
        else:
            while exponent > -_REACH and not slack(2.0 ** exponent) > 0:
                exponent -= 1
        low, high = 2.0 ** exponent, 2.0 ** (exponent + 1)
        for _ in range(_STEPS):
            middle = (low + high) / 2
            low, high = (middle, high) if slack(middle) > 0 else (low, middle)
    for shrink in _SHRINKS:
        radius = round_dyadic(fmpq(*(low * (1 - shrink)).as_integer_ratio()), _BITS)
        if radius > 0 and check(radius):
            return radius
    return None
