"""Is the optimal token unique in every sample?

Statement
    For every sample i one token has the strictly largest score: γ_{i opt_i} > γ_it, t ≠ opt_i.
Hypotheses
    None.
Certificate
    `optimal_tokens` (holds), `optimum_tie` (fails).
Decision procedure
    Exact comparison of the scores γ_it = Y_i v·x_it.
Reference
    arXiv 2308.16898 v1, Definition 1 and Assumption B.
"""

from __future__ import annotations

from conditions.certificates import OptimalTokens, OptimumTie
from conditions.dataset import AttentionDataset
from conditions.selection import optimal_selection, score_order
from conditions.verdict import Status, Verdict, proved

CONDITION = "unique_optimum"


def tie(dataset: AttentionDataset) -> OptimumTie | None:
    """The first two tokens that share the largest score of a sample, if any do."""
    for i, scores in enumerate(dataset.scores):
        first, second = score_order(dataset, i)[:2]
        if scores[first] == scores[second]:
            return OptimumTie(i, (first, second))
    return None


def decide(dataset: AttentionDataset) -> Verdict:
    """Decide the condition; never undecided."""
    found = tie(dataset)
    if found is not None:
        t, s = found.tokens
        return proved(CONDITION, Status.FAILS, found,
                      f"tokens {t} and {s} of sample {found.sample} share the largest score",
                      number=f"tie in sample {found.sample}")
    best = optimal_selection(dataset)
    return proved(CONDITION, Status.HOLDS, OptimalTokens(best),
                  f"opt = {list(best)}: each score is strictly the largest of its sample",
                  number=f"opt = {','.join(map(str, best))}")
