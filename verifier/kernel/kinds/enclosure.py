"""Certificates that enclose the solution of Att-SVM(α) by an approximate inverse.

Let S be s rows, K the Gram matrix of their features, R ≈ K⁻¹, λ ≈ K⁻¹1. If β = ‖I - R K‖_∞ < 1
then K is nonsingular and λ* = K⁻¹1 has |λ* - λ|_∞ ≤ ε = ‖R (1 - K λ)‖_∞ / (1 - β). If λ - ε > 0,
and every row outside S keeps a margin > 1 for all multipliers within ε of λ, then Σ λ* φ meets the
KKT conditions with margin exactly 1 on S alone: it is W^mm_α, and S is its support (together with
rows whose features equal one of S).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from ..claim import ENCLOSED, Claim, Proved, number_text, rows_text
from ..data import Features, Index, read_rows
from ..linear import dot, product, rank, solve_modulo, transpose, unit_pivots
from ..numbers import MAX_EXPONENT, common_denominator, integers
from ..reading import Node
from ..refusals import Code
from .kkt import combine
from .ranks import read_modulus

_SPARE_BITS = 64


@dataclass(frozen=True)
class Enclosed:
    """What an enclosure proves: S, its integer Gram matrix, the support, the bounds of ‖W^mm‖².

    Each exact multiplier is within ``error`` of the stated one; ``inverse_norm`` ≥ ‖K⁻¹‖_∞.
    """

    rows: list[Index]
    gram: list[list[int]]
    support: list[Index]
    low: Fraction
    high: Fraction
    multipliers: tuple[Fraction, ...]
    error: Fraction
    inverse_norm: Fraction


def kkt_enclosure(claim: Claim, node: Node) -> Proved:
    """The support indices of W^mm_α, and its squared norm to 2^-20."""
    found = enclose(claim, node)
    claim.conclude(found.support, node)
    return Proved(f"support indices {rows_text(found.support)}; ‖W^mm‖² in "
                  f"[{number_text(found.low)}, {number_text(found.high)}]", ENCLOSED)


def modular_rank(claim: Claim, node: Node) -> Proved:
    """The rank of W^mm_α: from below by unit pivots, from above by ranks of its factors.

    In integers K λ = 1 has λ det K integral, so where det K is a unit modulo p, solving modulo p
    gives λ times a unit, and unit pivots of Σ λ φ modulo p bound the rank from below. W^mm =
    Σ λ (x_{iα_i} - x_it) z_iᵀ, and the sum over A ⊂ S has no larger rank than the differences
    of A, that over S∖A no larger one than its queries.
    """
    fields = node.object("kind", "enclosure", "modulus", "differences", "rank")
    inner = fields["enclosure"]
    inner.field("kind").choice(["kkt_enclosure"])
    p = read_modulus(fields["modulus"])
    stated = fields["rank"].index(min(claim.dataset.n, claim.dataset.d) + 1)
    found = enclose(claim, inner)
    weights = solve_modulo(found.gram, [1] * len(found.rows), p)
    if weights is None:
        raise fields["modulus"].refuse(Code.NOT_INDEPENDENT, "det K is not shown a unit")
    features = claim.features
    W = features.combination(dict(zip(found.rows, weights, strict=True)))
    if unit_pivots(W, p) < stated:
        raise fields["rank"].refuse(Code.WRONG_RANK, "there are fewer unit pivots")
    divided = read_rows(fields["differences"], features)
    if not set(divided) <= set(found.rows):
        raise fields["differences"].refuse(Code.WRONG_SIDE, "a row is not one of the enclosure")
    above = (rank({tuple(features.delta(row)) for row in divided})
             + rank({tuple(features.query(row)) for row in set(found.rows) - set(divided)}))
    if above > stated:
        raise fields["rank"].refuse(Code.WRONG_RANK, "the factors allow a larger rank")
    return Proved(f"rank W^mm = {stated}", ENCLOSED)


def enclose(claim: Claim, node: Node) -> Enclosed:
    """Check a `kkt_enclosure` object but for the demand of a condition."""
    features = claim.features
    fields = node.object("kind", "rows", "multipliers", "inverse", "support", "norm_squared")
    rows = read_rows(fields["rows"], features)
    if not rows:
        raise fields["rows"].refuse(Code.EMPTY, "without rows W would be 0")
    found = solve(features, rows, len(rows), fields)
    support = _support(features, fields["rows"], found)
    if read_rows(fields["support"], features) != support:
        raise fields["support"].refuse(Code.WRONG_SUPPORT, "not `rows` with their equals")
    low, high = read_norm(fields["norm_squared"], found.multipliers, found.error)
    return Enclosed(rows, found.gram, support, low, high, found.multipliers, found.error,
                    found.inverse_norm)


@dataclass(frozen=True)
class Solved:
    """The solution of K λ = b, each entry within ``error`` of ``multipliers``.

    K is ``gram`` over the square of the scale of the features; ``inverse_norm`` ≥ ‖K⁻¹‖_∞.
    """

    rows: list[Index]
    gram: list[list[int]]
    multipliers: tuple[Fraction, ...]
    error: Fraction
    inverse_norm: Fraction


def solve(features: Features, rows: list[Index], count: int, fields: dict[str, Node]) -> Solved:
    """Check the fields `multipliers` and `inverse` of K λ = b, K the Gram matrix of *rows*.

    b is 1 on the first *count* rows, where λ must be shown positive, and 0 on the others.
    """
    multipliers = fields["multipliers"].vector(len(rows))
    inverse = fields["inverse"].object("exponent", "entries")
    exponent = inverse["exponent"].integer(-MAX_EXPONENT, MAX_EXPONENT)
    R = [[entry.integer() for entry in row.items(len(rows))]
         for row in inverse["entries"].items(len(rows))]
    deltas = [features.delta(row) for row in rows]
    queries = [features.query(row) for row in rows]
    gram = [_times(a, b) for a, b in zip(product(deltas, transpose(deltas)),
                                         product(queries, transpose(queries)), strict=True)]
    # K is gram / unit.
    unit = features.scale**2
    beta = _residual(R, exponent, gram, unit)
    if beta >= 1:
        raise inverse["entries"].refuse(Code.COARSE_INVERSE, "‖I - R K‖ is not below 1")
    goal = [int(k < count) for k in range(len(rows))]
    error = _multiplier_error(R, exponent, gram, unit, multipliers, goal) / (1 - beta)
    if any(x <= error for x in multipliers[:count]):
        raise fields["multipliers"].refuse(Code.NOT_POSITIVE, "a multiplier may be 0 or less")
    # K⁻¹ = (I - (I - R K))⁻¹ R.
    inverse_norm = max(sum(map(abs, row)) for row in R) * Fraction(2)**exponent / (1 - beta)
    return Solved(rows, gram, multipliers, error, inverse_norm)


def read_norm(node: Node, multipliers: Sequence[Fraction],
              error: Fraction) -> tuple[Fraction, Fraction]:
    """The interval of ‖W^mm‖² = Σ λ that *node* states, of relative width 2^-20 at most."""
    low, high = node.vector(2)
    total, error = sum(multipliers), len(multipliers) * error
    if not (low <= total - error and total + error <= high and (high - low) * 2**20 <= high):
        raise node.refuse(Code.WRONG_NORM, "not a close enclosure of Σ λ")
    return low, high


def _times(a: Sequence[int], b: Sequence[int]) -> list[int]:
    return [x * y for x, y in zip(a, b, strict=True)]


def _residual(R: list[list[int]], exponent: int, gram: list[list[int]], unit: int) -> Fraction:
    """An upper bound of ‖I - 2^exponent R gram / unit‖_∞, within 2^-64 of it.

    gram is rounded to multiples of 2^h. Each entry changes by at most 2^(h-1), each row sum of
    2^exponent R gram / unit by at most 2^exponent ‖R‖_∞ s 2^(h-1) / unit, which is added.
    """
    reach = len(R) * max((sum(map(abs, row)) for row in R), default=0)
    h = max(unit.bit_length() - _SPARE_BITS - exponent - reach.bit_length(), 0)
    half = (1 << h) >> 1
    rounded = [[(x + half) >> h for x in row] for row in gram]
    shift = exponent + h
    up, down = 1 << max(shift, 0), 1 << max(-shift, 0)
    largest = 0
    for i, row in enumerate(product(R, rounded)):
        others = sum(map(abs, row)) - abs(row[i])
        largest = max(largest, abs(unit * down - up * row[i]) + up * others)
    bound = Fraction(largest, unit * down)
    if h:
        bound += Fraction(reach, 2 * unit) * Fraction(up, down)
    return bound


def _multiplier_error(R: list[list[int]], exponent: int, gram: list[list[int]], unit: int,
                      multipliers: Sequence[Fraction], goal: Sequence[int]) -> Fraction:
    """‖R (b - K λ)‖_∞, exactly, b = *goal*."""
    factor = common_denominator(multipliers)
    weights = integers(multipliers, factor)
    residual = [unit * factor * b - dot(row, weights) for row, b in zip(gram, goal, strict=True)]
    largest = max((abs(dot(row, residual)) for row in R), default=0)
    return Fraction(largest, unit * factor) * Fraction(2)**exponent


def _support(features: Features, node: Node, found: Solved) -> list[Index]:
    """`rows` with all rows of an equal feature; every other margin is shown to exceed 1."""
    keys = {features.key(row) for row in found.rows}
    others = list[Index]()
    support = list(found.rows)
    for row in sorted(set(features.rows) - set(found.rows)):
        (support if features.key(row) in keys else others).append(row)
    for row, margin in least_margins(features, found, others):
        if margin <= 1:
            raise node.refuse(Code.MARGIN_TOO_SMALL, f"row {row} is not shown to exceed margin 1")
    return sorted(support)


def least_margins(features: Features, found: Solved,
                  others: list[Index]) -> Iterator[tuple[Index, Fraction]]:
    """*others* with a lower bound of their margins.

    The margin of row o differs by at most ε Σ_σ |⟨φ_o, φ_σ⟩| between λ and λ*.
    """
    W = combine(features, dict(zip(found.rows, found.multipliers, strict=True)))
    columns = transpose([features.delta(row) for row in found.rows])
    turns = list(product(features.dataset.integer_queries,
                         transpose([features.query(row) for row in found.rows])))
    error, one = found.error / features.scale**2, Fraction(1, W.one)
    for row, dots in zip(others, product([features.delta(row) for row in others], columns),
                         strict=True):
        reach = sum(map(abs, _times(dots, turns[row[0]])))
        yield row, W.margins[row] * one - error * reach
