"""Does every sample pull?

Statement
    Every sample has two tokens of different score. (A flat sample, all scores equal, has zero
    gradient for every W.)
Hypotheses
    None.
Certificate
    `score_gaps` (holds), `flat_samples` (fails).
Decision procedure
    Exact comparison of the scores γ_it = Y_i v·x_it.
Reference
    docs/theory.md, section 0.
"""

from __future__ import annotations

from conditions.certificates import FlatSamples, ScoreGaps
from conditions.dataset import AttentionDataset
from conditions.selection import score_order
from conditions.verdict import Status, Verdict, proved

CONDITION = "no_flat_sample"


def flat_samples(dataset: AttentionDataset) -> tuple[int, ...]:
    """The samples whose scores are all equal."""
    return tuple(i for i, scores in enumerate(dataset.scores) if min(scores) == max(scores))


def decide(dataset: AttentionDataset) -> Verdict:
    """Decide the condition; never undecided."""
    flat = flat_samples(dataset)
    if flat:
        return proved(CONDITION, Status.FAILS, FlatSamples(flat),
                      f"all scores are equal in {len(flat)} of {dataset.n} samples",
                      number=f"{len(flat)} flat")
    orders = [score_order(dataset, i) for i in range(dataset.n)]
    pairs = tuple((order[0], order[-1]) for order in orders)
    return proved(CONDITION, Status.HOLDS, ScoreGaps(pairs),
                  "the scores of every sample differ", number="0 flat")
