"""S2: a direction along which logits rise with scores leaves no stationary point.

Statement
    ∇L(W) ≠ 0 for every W.
Hypotheses
    ℓ' < 0 on the range of the scores; some D has (γ_it − γ_iτ)(h_it − h_iτ) ≥ 0 for all i, t, τ,
    with h_it = x_itᵀ D z_i, and > 0 for one of them.
Certificate
    `monotone_direction`.
Decision procedure
    It is enough to compare neighbouring score levels. A float D that makes all comparisons strict
    is rounded and checked exactly. Failing that, the cone of the comparisons is decided over Q
    (`conditions.stationary.cone`); D is rounded as far as it stays one.
Reference
    docs/theory.md, section 5, S2.
"""

from __future__ import annotations

import itertools

from conditions.certificates import MonotoneDirection
from conditions.dataset import AttentionDataset
from conditions.exact.rank_one import TokenRows
from conditions.selection import score_order
from conditions.separation.separator import short_separator
from conditions.stationary.cone import Cancelling, Pair, decide_cone


def score_levels(dataset: AttentionDataset, i: int) -> list[list[int]]:
    """The tokens of sample i by score level, lowest level first."""
    scores = dataset.scores[i]
    levels: dict[object, list[int]] = {}
    for t in reversed(score_order(dataset, i)):
        levels.setdefault(scores[t], []).append(t)
    return list(levels.values())


def neighbours(dataset: AttentionDataset, i: int) -> list[Pair]:
    """(i, t, τ) with γ_it > γ_iτ on neighbouring score levels of sample i."""
    return [(i, t, s) for low, high in itertools.pairwise(score_levels(dataset, i))
            for t in high for s in low]


def comparisons(dataset: AttentionDataset) -> tuple[Pair, ...]:
    """(i, t, τ) with γ_it > γ_iτ on neighbouring score levels, for every sample."""
    return tuple(pair for i in range(dataset.n) for pair in neighbours(dataset, i))


def proof(dataset: AttentionDataset) -> MonotoneDirection | None:
    """The proof, or None where no such D exists."""
    pairs = comparisons(dataset)
    if not pairs:
        return None
    strict = short_separator(TokenRows(dataset, pairs))
    if strict is not None:
        return MonotoneDirection(tuple(map(tuple, strict.tolist())), pairs[0])
    found = decide_cone(dataset, pairs)
    if isinstance(found, Cancelling):
        return None
    return MonotoneDirection(tuple(map(tuple, found.D.tolist())), found.witness)
