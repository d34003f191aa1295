"""Do all non-optimal tokens of a sample share one score?

Statement
    For every sample, all tokens whose score is below the largest have one and the same score.
Hypotheses
    None; that the optimum is unique is a condition of its own.
Certificate
    `score_levels` (holds), `unequal_scores` (fails).
Decision procedure
    Exact comparison of the scores γ_it = Y_i v·x_it.
Reference
    arXiv 2308.16898 v1, Assumption B.2.
"""

from __future__ import annotations

from conditions.certificates import ScoreLevels, UnequalScores
from conditions.dataset import AttentionDataset
from conditions.verdict import Status, Verdict, proved

CONDITION = "equal_scores"


def decide(dataset: AttentionDataset) -> Verdict:
    """Decide the condition; never undecided."""
    levels = []
    for i, scores in enumerate(dataset.scores):
        top = max(scores)
        below = [t for t, score in enumerate(scores) if score < top]
        for t in below[1:]:
            if scores[t] != scores[below[0]]:
                pair = (below[0], t)
                return proved(CONDITION, Status.FAILS, UnequalScores(i, pair),
                              f"tokens {pair[0]} and {t} of sample {i} are not optimal and differ",
                              number=f"sample {i}")
        levels.append((top, scores[below[0]] if below else None))
    return proved(CONDITION, Status.HOLDS, ScoreLevels(tuple(levels)),
                  "at most two score levels in every sample", number="2 levels")
