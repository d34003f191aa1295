"""Signs of the inner products of features under opt: ⟨φ, φ'⟩ = (δ·δ')(z·z') for φ = δ zᵀ."""

from __future__ import annotations

from ..claim import Claim, Proved
from ..data import Features, Index, read_row, read_rows
from ..linear import dot
from ..reading import Node
from ..refusals import Code
from .first_step import optimal_features


def nonnegative_products(claim: Claim, node: Node) -> Proved:
    """Two score levels in every sample, no zero feature, no negative product.

    Then under descent with η < 2/B, B the smoothness bound, no margin ever falls: -n∇L = Σ w φ with
    all w > 0, and a step changes a margin by (η/n) Σ w⟨φ', φ⟩ ≥ 0. So every f_i keeps its distance
    from the second level, and descent converges in direction to W^mm_opt from every start.
    """
    node.object("kind")
    features = optimal_features(claim, node)
    for i, scores in enumerate(claim.dataset.scores):
        if len(set(scores)) > 2:
            raise node.refuse(Code.WRONG_LEVELS, f"sample {i} has several scores below its largest")
    for row in features.rows:
        if _is_zero(features, row):
            raise node.refuse(Code.FEATURE_ZERO, f"the feature of row {row} is zero")
    queries = claim.dataset.integer_queries
    turns = [[dot(p, q) for q in queries] for p in queries]
    deltas = [(row, features.delta(row)) for row in features.rows]
    for k, (row, delta) in enumerate(deltas):
        for other, epsilon in deltas[:k]:
            turn = turns[row[0]][other[0]]
            if turn and dot(delta, epsilon) * turn < 0:
                raise node.refuse(Code.PRODUCT_NEGATIVE, f"rows {other} and {row} oppose")
    return Proved(f"opt = {features.selection}; gradient descent W ← W - η∇L(W) with η < 2/B, B "
                  "the smoothness bound of the loss, and gradient flow converge in direction to "
                  "W^mm_opt from every W, for logistic, exponential and correlation loss")


def negative_product(claim: Claim, node: Node) -> Proved:
    """Two features with a negative inner product."""
    place = node.object("kind", "rows")["rows"]
    features = optimal_features(claim, node)
    place.items(2)
    first, second = read_rows(place, features)
    value = (dot(features.delta(first), features.delta(second))
             * dot(features.query(first), features.query(second)))
    if value >= 0:
        raise place.refuse(Code.PRODUCT_NOT_NEGATIVE, f"rows {first} and {second} do not oppose")
    return Proved(f"opt = {features.selection}; the features of rows {first} and {second} have a "
                  "negative inner product")


def zero_feature(claim: Claim, node: Node) -> Proved:
    """A feature that is 0."""
    place = node.object("kind", "row")["row"]
    features = optimal_features(claim, node)
    row = read_row(place, claim.dataset, features.selection)
    if not _is_zero(features, row):
        raise place.refuse(Code.FEATURE_NOT_ZERO, f"the feature of row {row} is not zero")
    return Proved(f"opt = {features.selection}; the feature of row {row} is zero")


def _is_zero(features: Features, row: Index) -> bool:
    return not any(features.delta(row)) or not any(features.query(row))
