"""Do the features stay linearly independent when every entry of the data moves a little?

Statement
    The features are linearly independent, for every selection, for every dataset of the same
    sizes and labels whose entries of X, z and v are each within ε > 0 of the given ones.
Hypotheses
    None; fails, for every ε, when they are dependent.
Certificate
    `ball_factors`, `ball_rows` (holds); `row_dependency`, `too_many_rows` (fails).
Decision procedure
    Approximate right inverses, of the queries and each sample's differences or of all features,
    stay such on the ball. The larger ε is taken.
Reference
    docs/theory.md, robustness.
"""

from __future__ import annotations

from conditions import full_rank
from conditions.dataset import AttentionDataset
from conditions.robustness.ranks import ball_rank
from conditions.robustness.wording import NO_RADIUS, radius_text, renamed
from conditions.selection import features
from conditions.verdict import Status, Verdict, proved, undecided

CONDITION = "robust_full_rank"


def decide(dataset: AttentionDataset) -> Verdict:
    """Decide the condition; undecided where floats suggest no radius."""
    plain = full_rank.decide(dataset)
    if plain.fails:
        return renamed(plain, CONDITION)
    found = ball_rank(features(dataset, (0,) * dataset.n))
    if found is None:
        return undecided(CONDITION, NO_RADIUS)
    return proved(CONDITION, Status.HOLDS, found,
                  "the features stay independent within this distance of every entry",
                  number=radius_text(found.radius))
