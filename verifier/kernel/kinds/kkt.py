"""Certificates that solve Att-SVM(α) exactly, or bracket it by a primal-dual pair.

W is W^mm_α iff all its margins are ≥ 1 and W = Σ λ φ with λ ≥ 0 that is positive only where the
margin is 1 (KKT; the problem is strictly convex, so W^mm is unique and rational).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from fractions import Fraction

from ..claim import ENCLOSED, Claim, Proved, number_text, rows_text
from ..data import Features, Index, read_rows, read_sparse
from ..linear import rank
from ..numbers import common_denominator, integers
from ..reading import Node
from ..refusals import Code
from .feasibility import scaled_matrix


@dataclass(frozen=True)
class Combination:
    """W = Σ λ φ in integers: `matrix` is W times `scale`, `margins` are times `one`."""

    matrix: list[list[int]]
    scale: int
    margins: dict[Index, int]
    one: int


def combine(features: Features, vector: dict[Index, Fraction]) -> Combination:
    """Σ λ φ and its margins."""
    factor = common_denominator(vector.values())
    weights = integers(list(vector.values()), factor)
    W = features.combination(dict(zip(vector, weights, strict=True)))
    scale = factor * features.scale
    return Combination(W, scale, features.margins(W), scale * features.scale)


def solution(claim: Claim, node: Node) -> tuple[dict[Index, Fraction], Combination]:
    """λ > 0 whose W = Σ λ φ has every margin ≥ 1, and = 1 where λ > 0: W = W^mm_α."""
    vector = read_sparse(node, claim.features)
    W = combine(claim.features, vector)
    for row, margin in W.margins.items():
        if margin < W.one:
            raise node.refuse(Code.MARGIN_TOO_SMALL, f"the margin of row {row} is below 1")
        if row in vector and margin > W.one:
            raise node.refuse(Code.NOT_COMPLEMENTARY, f"the margin of row {row} is above 1")
    return vector, W


def exact_kkt(claim: Claim, node: Node) -> Proved:
    """W^mm_α, all its support indices, and ‖W^mm‖² = Σ λ m = Σ λ, exactly."""
    support, norm = exact_support(claim, node)
    claim.conclude(support, node)
    return Proved(f"support indices {rows_text(support)}; ‖W^mm‖² = {number_text(norm)}")


def exact_support(claim: Claim, node: Node) -> tuple[list[Index], Fraction]:
    """Check an `exact_kkt` object but for the demand of a condition: support and squared norm."""
    fields = node.object("kind", "multipliers", "support", "norm_squared")
    vector, W = solution(claim, fields["multipliers"])
    support = read_rows(fields["support"], claim.features)
    if support != [row for row, margin in W.margins.items() if margin == W.one]:
        raise fields["support"].refuse(Code.WRONG_SUPPORT, "not the rows of margin 1")
    norm = fields["norm_squared"].number()
    if norm != sum(vector.values()):
        raise fields["norm_squared"].refuse(Code.WRONG_NORM, "not the sum of the multipliers")
    return support, norm


def exact_rank(claim: Claim, node: Node) -> Proved:
    """W^mm_α as in `exact_kkt`, and its rank over the rationals."""
    fields = node.object("kind", "multipliers", "rank")
    _, W = solution(claim, fields["multipliers"])
    stated = fields["rank"].index(min(claim.dataset.n, claim.dataset.d) + 1)
    if stated != rank(W.matrix):
        raise fields["rank"].refuse(Code.WRONG_RANK, "not the rank of Σ λ φ")
    return Proved(f"rank W^mm = {stated}")


def primal_dual(claim: Claim, node: Node) -> Proved:
    """Rows that are no support indices, by a primal-dual pair."""
    excluded = exclusions(claim, node)
    place = node.field("excluded")
    if claim.condition == "all_support":
        if not excluded:
            raise place.refuse(Code.EMPTY, "no row is excluded")
    else:
        demand_excluded(filter(claim.features.outscores, claim.features.rows), excluded, place)
    return Proved(f"no support indices: {rows_text(excluded) or 'none needed'}", ENCLOSED)


def exclusions(claim: Claim, node: Node) -> list[Index]:
    """Check a `primal_dual` object but for the demand of a condition: the excluded rows.

    g = ‖W‖² - (2 Σλ - ‖Σλφ‖²) bounds ‖W - W^mm‖², for W^mm is the projection of 0 on a convex set
    that holds W, and the bracket is at most ‖W^mm‖² (weak duality). So m(W^mm) ≥ m(W) - ‖φ‖ √g.
    """
    features, d = claim.features, claim.dataset.d
    fields = node.object("kind", "W", "multipliers", "excluded")
    primal, scale = scaled_matrix(fields["W"].matrix(d, d))
    one = scale * features.scale
    margins = features.margins(primal)
    for row, margin in margins.items():
        if margin < one:
            raise fields["W"].refuse(Code.MARGIN_TOO_SMALL, f"row {row} has a margin below 1")
    vector = read_sparse(fields["multipliers"], features)
    dual = combine(claim.features, vector)
    gap = (Fraction(_square(primal), scale**2) - 2 * sum(vector.values())
           + Fraction(_square(dual.matrix), dual.scale**2))
    excluded = read_rows(fields["excluded"], features, increasing=False)
    for row in excluded:
        delta, query = features.delta(row), features.query(row)
        size = Fraction(_square([delta]) * _square([query]), features.scale**2)
        if margins[row] <= one or Fraction(margins[row] - one, one)**2 <= size * gap:
            raise fields["excluded"].refuse(Code.NOT_EXCLUDED, f"row {row} may be a support index")
    return excluded


def demand_excluded(rows: Iterable[Index], excluded: Collection[Index], place: Node) -> None:
    """Refuse unless all *rows* are among the excluded ones."""
    if missing := [row for row in rows if row not in set(excluded)]:
        raise place.refuse(Code.NOT_EXCLUDED, f"row {missing[0]} must be excluded and is not")


def _square(matrix: list[list[int]]) -> int:
    return sum(x * x for row in matrix for x in row)
