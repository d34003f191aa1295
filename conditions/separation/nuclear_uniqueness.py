"""Is the optimum of the nuclear norm problem a single point? Proved from one good pair.

Every dual optimum lies so near the multipliers of the pair, and every optimum so near the span of
its factors, that two optima would differ by a nonzero KHQᵀ, H symmetric, without margins on the
support. Four least singular values rule that out; floats suggest them and verified floats prove
them. The bounds are those of docs/theory/nuclear.md, Theorem 3.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from flint import fmpq, fmpq_mat, fmpz

from conditions.certificates import NuclearUniqueness
from conditions.dataset import FloatArray
from conditions.exact.numbers import round_dyadic, to_float
from conditions.selection import Features
from conditions.separation.nuclear import NuclearSolution
from conditions.separation.nuclear_rounding import power_of_two, square
from conditions.separation.rows import equal_rows

_SHARE = 0.9
_TIE = power_of_two(-20)
"""Rows whose margin exceeds 1 by less are treated as if it might be 1."""
_U = 2.0**-53


@dataclass(frozen=True)
class LeastValues:
    """Lower bounds a, κ, ρ, b > 0 of the least values that the proof needs.

    AᵀA ⪰ a²I, I − MᵀM + QQᵀ ⪰ κI, QᵀQ ⪰ ρ²I, and ‖B(H)‖ ≥ b‖H‖_F for symmetric H.
    """

    multipliers: fmpq
    complement: fmpq
    factor: fmpq
    margins: fmpq

    @property
    def values(self) -> tuple[fmpq, ...]:
        """(a, κ, ρ, b)."""
        return self.multipliers, self.complement, self.factor, self.margins


def uniqueness(solution: NuclearSolution) -> NuclearUniqueness | None:
    """The proof that the optimum is unique and has rank `solution.rank`, if this pair gives one."""
    phi = solution.features
    rows = _Rows(solution)
    K, Q = solution.factors.K, solution.factors.Q
    M = phi.combination(list(rows.weights), list(rows.weights.values()))
    forms = quadratic_forms(phi, rows.near, [k in rows.weights for k in rows.near], K, Q, M)
    least = [_least_value(*form) for form in forms]
    a, complement, factor, b = least
    if a is None or complement is None or factor is None or b is None:
        return None
    values = LeastValues(_root_below(a), complement, _root_below(factor), _root_below(b))
    if not _suffices(solution, rows, values):
        return None
    return NuclearUniqueness(
        tuple(map(tuple, K.tolist())), tuple(map(tuple, Q.tolist())),
        tuple((*phi.rows[k], x) for k, x in rows.weights.items()),
        tuple(phi.rows[k] for k in rows.near), values.values, solution.rank)


class _Rows:
    """The distinct features by first row: which have margins near 1, and their multipliers."""

    def __init__(self, solution: NuclearSolution) -> None:
        phi, factors = solution.features, solution.factors
        self.margins = phi.margins(factors.K * factors.Q.transpose())
        first = [int(k) for k in equal_rows(phi)]
        merged: dict[int, fmpq] = {}
        for k, x in solution.multipliers.weights.items():
            merged[first[k]] = merged.get(first[k], fmpq(0)) + x
        self.weights = dict(sorted(merged.items()))
        self.near = [k for k, f in enumerate(first)
                     if k == f and (k in merged or self.margins[k] < 1 + _TIE)]
        chosen = set(self.near)
        self.far = [k for k, f in enumerate(first) if f not in chosen]


def quadratic_forms(phi: Features, positions: list[int], positive: list[bool], K: fmpq_mat,
                    Q: fmpq_mat, M: fmpq_mat) -> list[tuple[fmpq_mat, fmpq_mat]]:
    """(form, unit): AᵀA, I − MᵀM + QQᵀ and QᵀQ against I; BᵀB against ‖H‖_F².

    A is about all *positions*, B about those that are *positive*; H is given by its entries on
    and above the diagonal, row by row.
    """
    d, r = K.nrows(), K.ncols()
    s = len(positions)
    table_d, table_q = phi.differences.tolist(), phi.queries.tolist()
    D = fmpq_mat(s, d, [x for k in positions for x in table_d[k]]) * fmpq(
        1, phi.dataset.integers.token_scale)
    Z = fmpq_mat(s, d, [x for k in positions for x in table_q[k]]) * fmpq(
        1, phi.dataset.integers.query_scale)
    P, V = D * K, Z * Q
    left = _hadamard(D * D.transpose(), V * V.transpose())
    right = _hadamard(P * P.transpose(), Z * Z.transpose())
    pairs = [(a, b) for a in range(r) for b in range(a, r)]
    p, v = P.tolist(), V.tolist()
    kept = [k for k in range(s) if positive[k]]
    B = fmpq_mat(len(kept), len(pairs), [
        p[k][a] * v[k][b] + (p[k][b] * v[k][a] if a < b else 0)
        for k in kept for a, b in pairs])
    weights = fmpq_mat(len(pairs), len(pairs))
    for j, (a, b) in enumerate(pairs):
        weights[j, j] = fmpq(1 if a == b else 2)
    return [(left + right, _identity(s)),
            (_identity(d) - M.transpose() * M + Q * Q.transpose(), _identity(d)),
            (Q.transpose() * Q, _identity(r)),
            (B.transpose() * B, weights)]


def _identity(size: int) -> fmpq_mat:
    return fmpq_mat(size, size, [int(a == b) for a in range(size) for b in range(size)])


def _hadamard(A: fmpq_mat, B: fmpq_mat) -> fmpq_mat:
    return fmpq_mat(A.nrows(), A.ncols(),
                    [a * b for a, b in zip(A.entries(), B.entries(), strict=True)])


def _floats(A: fmpq_mat) -> FloatArray:
    return np.array([[to_float(a) for a in row] for row in A.tolist()])


def _least_value(form: fmpq_mat, unit: fmpq_mat) -> fmpq | None:
    """A short t > 0 with form ⪰ t·unit proved, not far below the largest; unit is diagonal."""
    scales = 1 / np.sqrt(np.diag(_floats(unit)))
    matrix = _floats(form)
    if not np.all(np.isfinite(matrix)):
        return None
    least = float(np.linalg.eigvalsh(matrix * np.outer(scales, scales))[0])
    if not least > 0:
        return None
    value = round_dyadic(fmpq(*(_SHARE * least).as_integer_ratio()), 10)
    return value if verified_definite(form - unit * value) else None


def verified_definite(matrix: fmpq_mat) -> bool:
    """Whether the symmetric *matrix* is proved positive definite by a float Cholesky factor.

    Rounding to floats moves entries by at most u max|a|, and a Cholesky factorization in floats
    that runs to completion is exact for a matrix within γ_{n+1}·max a_kk of the given one
    entrywise (Rump 2006): n times the sum of both, subtracted from the diagonal, covers them.
    """
    floats = _floats(matrix)
    n = len(floats)
    top = float(np.abs(floats).max())
    if not 2.0**-400 < top < 2.0**400:
        return False
    shifted = floats - 4 * n * (n + 4) * _U * top * np.eye(n)
    try:
        np.linalg.cholesky(shifted)
    except np.linalg.LinAlgError:
        return False
    return True


def _root_below(value: fmpq) -> fmpq:
    """A short rational at most √value and near it, value > 0."""
    root = fmpq(*(math.sqrt(to_float(value)) * (1 - 2.0**-12)).as_integer_ratio())
    short = round_dyadic(root, 14)
    while short * short > value:
        short *= fmpq(15, 16)
    return short


def _root_above(value: fmpq) -> fmpq:
    """A rational at least √value and within 2⁻³² of it, relatively; value ≥ 0."""
    if value == 0:
        return fmpq(0)
    shift = 2 * max(0, 34 - int(value.p).bit_length() + int(value.q).bit_length())
    scaled = (value * (fmpz(1) << shift)).ceil()
    return fmpq(scaled.isqrt() + 1, fmpz(1) << (shift // 2))


def _suffices(solution: NuclearSolution, rows: _Rows, values: LeastValues) -> bool:
    """Whether the bounds of the theorem close."""
    factors, margins = solution.factors, rows.margins
    a, complement, rho, b = values.values
    gap = factors.value - sum(rows.weights.values(), fmpq(0))
    squares = [square_of_row(solution.features, k) for k in range(len(margins))]
    if any(margins[k] <= 1 for k in rows.far):
        return False
    outside = gap * max((_root_above(squares[k]) / (margins[k] - 1) for k in rows.far),
                        default=fmpq(0))
    size = _root_above(max(square(factors.K), square(factors.Q)))
    root = _root_above(gap)
    error = (4 * root + fmpq(3, 2) * outside * size) / a
    if min(rows.weights.values()) <= error:
        return False
    reach = _root_above(sum((squares[k] for k in rows.near), fmpq(0)))
    tangent = fmpq(3, 2) * root / rho
    omega = (2 * (outside + reach * error) + 2 * tangent) / complement
    zeta = tangent + 2 * omega
    excess = _root_above(sum(((margins[k] - 1) ** 2 for k in rows.weights), fmpq(0)))
    return bool(2 * omega < 1 and square(factors.Q) * reach * zeta < b * (1 - 2 * omega)
                and reach * zeta * factors.value + excess < b)


def square_of_row(phi: Features, k: int) -> fmpq:
    """‖φ_k‖_F²."""
    d = phi.dataset.d
    delta = [phi.differences[k, c] for c in range(d)]
    query = [phi.queries[k, c] for c in range(d)]
    return fmpq(sum(x * x for x in delta) * sum(x * x for x in query), phi.scale * phi.scale)
