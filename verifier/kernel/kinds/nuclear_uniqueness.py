"""That one matrix alone attains the least nuclear norm, from one primal-dual pair.

Every dual optimum λ* is near the λ of the certificate: with g the gap of the pair, (K − M*Q) and
(Q − M*ᵀK) have norm ≤ √(2g), which determines λ* where the features, mapped to (φQ, φᵀK), are
independent. Every optimum is M*P with P ⪰ 0 on {v : M*ᵀM*v = v}, which is near the span of Q; two
of them would differ by nearly KHQᵀ, H symmetric, which must have no margins on the support.
docs/theory/nuclear.md, Theorem 3, has the bounds; all errors here are rounded up.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import isqrt

from ..claim import ENCLOSED, Claim, Proved
from ..data import Index, read_rows
from ..definite import positive_definite
from ..linear import dot, product, transpose
from ..reading import Node
from ..refusals import Code
from .nuclear import Factors, Multipliers, read_factors, read_multipliers, read_rank

_UNIT = 160
_ROOT_BITS = 64


def root_above(x: Fraction) -> Fraction:
    """A rational ≥ √x, above it by less than 2^-63 of it; x ≥ 0."""
    if x == 0:
        return Fraction(0)
    shift = 2 * max(0, _ROOT_BITS - x.numerator.bit_length() + x.denominator.bit_length())
    scaled = -(-(x.numerator << shift) // x.denominator)
    return Fraction(isqrt(scaled) + 1, 1 << shift // 2)


def exceeds(A: Sequence[Sequence[int]], scale: int, bound: Fraction,
            weights: Sequence[int]) -> bool:
    """Whether A/scale − bound·diag(weights) is shown positive definite, A symmetric."""
    rows = [[bound.denominator * x - (bound.numerator * scale * w if a == b else 0)
             for b, x in enumerate(row)] for a, (row, w) in enumerate(zip(A, weights,
                                                                         strict=True))]
    largest = max(max(map(abs, row)) for row in rows)
    cut = largest.bit_length() - _UNIT
    low = [[x >> cut if cut > 0 else x << -cut for x in row] for row in rows]
    high = [[-(-x >> cut) if cut > 0 else x << -cut for x in row] for row in rows]
    return positive_definite(low, high, _UNIT)


def nuclear_uniqueness(claim: Claim, node: Node) -> Proved:
    """The optimum is unique, and its rank is `rank`."""
    fields = node.object("kind", "K", "Q", "multipliers", "near", "least_values", "rank")
    factors = read_factors(claim, fields["K"], fields["Q"])
    rank = read_rank(claim, fields["rank"], factors)
    multipliers = read_multipliers(claim, fields["multipliers"])
    near = read_rows(fields["near"], claim.features)
    _check_distinct(claim, near, multipliers, fields["near"])
    least = fields["least_values"].vector(4)
    for entry, value in zip(fields["least_values"].items(), least, strict=True):
        if value <= 0:
            raise entry.refuse(Code.NOT_POSITIVE, "a least value is positive")
    _check_least_values(claim, factors, multipliers, near, fields["least_values"], least)
    _check_bounds(claim, factors, multipliers, near, least, node)
    return Proved(f"the one W of least ‖W‖_* has rank {rank}", ENCLOSED)


def _check_distinct(claim: Claim, near: list[Index], multipliers: Multipliers,
                    node: Node) -> None:
    """No two rows of `near` have the same feature, and all multipliers are on them."""
    if not near:
        raise node.refuse(Code.EMPTY, "at least one row is near")
    if len({claim.features.key(row) for row in near}) != len(near):
        raise node.refuse(Code.DEGENERATE, "two rows have the same feature")
    if not set(multipliers.weights) <= set(near):
        raise node.refuse(Code.DEGENERATE, "a row of a multiplier is not listed")


def _check_least_values(claim: Claim, factors: Factors, multipliers: Multipliers,
                        near: list[Index], node: Node, least: Sequence[Fraction]) -> None:
    """AᵀA ⪰ a²I, I − MᵀM + QQᵀ ⪰ κI, QᵀQ ⪰ ρ²I and BᵀB ⪰ b² on symmetric H."""
    a, kappa, rho, b = least
    features, d, r = claim.features, claim.dataset.d, len(factors.K[0])
    deltas = [features.delta(row) for row in near]
    queries = [features.query(row) for row in near]
    left, right = list(product(deltas, factors.K)), list(product(queries, factors.Q))
    squared = (features.scale * factors.scale)**2
    grams = [product(X, transpose(X)) for X in (right, deltas, left, queries)]
    images = [[v * x + p * z for v, x, p, z in zip(*rows, strict=True)]
              for rows in zip(*grams, strict=True)]
    QQ = list(product(factors.Q, transpose(factors.Q)))
    whole = multipliers.M.scale**2
    complement = [[x * factors.scale**2 + y * whole for x, y in zip(row, other, strict=True)]
                  for row, other in zip(multipliers.complement, QQ, strict=True)]
    pairs = [(i, j) for i in range(r) for j in range(i, r)]
    turned = transpose([[p[i] * v[j] + (p[j] * v[i] if i < j else 0) for i, j in pairs]
                        for row, p, v in zip(near, left, right, strict=True)
                        if row in multipliers.weights])
    margins = [[dot(x, y) for y in turned] for x in turned]
    forms = (
        (images, squared, a * a, [1] * len(near)),
        (complement, whole * factors.scale**2, kappa, [1] * d),
        (list(product(transpose(factors.Q), factors.Q)), factors.scale**2, rho * rho, [1] * r),
        (margins, (features.scale * factors.scale**2)**2, b * b,
         [1 if i == j else 2 for i, j in pairs]))
    for entry, form in zip(node.items(), forms, strict=True):
        if not exceeds(*form):
            raise entry.refuse(Code.NOT_DEFINITE, "this least value is not shown")


def _check_bounds(claim: Claim, factors: Factors, multipliers: Multipliers, near: list[Index],
                  least: Sequence[Fraction], node: Node) -> None:
    a, kappa, rho, b = least
    features = claim.features

    def size(row: Index) -> Fraction:
        delta, query = features.delta(row), features.query(row)
        return Fraction(dot(delta, delta) * dot(query, query), features.scale**2)

    def excess(row: Index) -> Fraction:
        return Fraction(factors.margins[row] - factors.one, factors.one)

    gap = factors.value - multipliers.value
    keys = {features.key(row) for row in near}
    outside = Fraction(0)
    for row in features.rows:
        if features.key(row) in keys:
            continue
        if excess(row) <= 0:
            raise node.refuse(Code.SECOND_OPTIMUM, f"row {row} has margin 1 and is not near")
        outside = max(outside, root_above(size(row)) / excess(row))
    outside *= gap
    squares = [Fraction(sum(x * x for row in factor for x in row), factors.scale**2)
               for factor in (factors.K, factors.Q)]
    root = root_above(gap)
    error = (4 * root + Fraction(3, 2) * outside * root_above(max(squares))) / a
    if min(multipliers.weights.values()) <= error:
        raise node.refuse(Code.SECOND_OPTIMUM, "a multiplier may vanish at a dual optimum")
    reach = root_above(sum(map(size, near), Fraction(0)))
    tangent = Fraction(3, 2) * root / rho
    omega = 2 * (outside + reach * error + tangent) / kappa
    zeta = tangent + 2 * omega
    if not (2 * omega < 1 and squares[1] * reach * zeta < b * (1 - 2 * omega)):
        raise node.refuse(Code.SECOND_OPTIMUM, "the gap is too large for the least values")
    off = root_above(sum((excess(row)**2 for row in multipliers.weights), Fraction(0)))
    if not reach * zeta * factors.value + off < b:
        raise node.refuse(Code.WRONG_RANK, "the rank is not shown to be as large")
