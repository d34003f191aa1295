"""Does the head preserve the top score on mixtures with lower tokens (Assumption E)?

Statement
    Some c > 0 has Y_i h(Σ_t s_t x_it) ≤ γ_{iα_i} − c(1 − s_{α_i}) for all samples i and all weights
    s ≥ 0, Σ s = 1, on α_i and the tokens with γ_it < γ_{iα_i}. The constant of the certificate is
    the largest such c.
Hypotheses
    The linear head h(x) = v·x, for which it holds. Without a lower token in any sample it says
    nothing, and every c will do; the certificate then says 1.
Certificate
    `top_score_gap` (holds).
Decision procedure
    c = min_i (γ_{iα_i} − the largest score below it), over Q.
Reference
    arXiv 2308.16898 v1, Assumption E and (87); docs/theory.md, section 0.
"""

from __future__ import annotations

from flint import fmpq

from conditions.certificates import TopScoreGap
from conditions.dataset import AttentionDataset
from conditions.exact.numbers import to_float
from conditions.selection import Selection, check_selection
from conditions.verdict import Status, Verdict, proved

CONDITION = "assumption_e"


def decide(dataset: AttentionDataset, selection: Selection) -> Verdict:
    """Decide the condition for α = *selection*; it holds for every linear head."""
    selection = check_selection(dataset, selection)
    gaps = [(scores[a] - score, (i, t))
            for i, (scores, a) in enumerate(zip(dataset.scores, selection, strict=True))
            for t, score in enumerate(scores) if score < scores[a]]
    if not gaps:
        return proved(CONDITION, Status.HOLDS, TopScoreGap(fmpq(1), ()),
                      "no token scores below the selected one of its sample: every c > 0 will do",
                      selection=selection, number="any c")
    # The first of the least gaps.
    constant, (i, t) = min(gaps)
    shown = f"{to_float(constant):.6g}"
    return proved(CONDITION, Status.HOLDS, TopScoreGap(constant, ((i, t),)),
                  f"c = {shown}, the gap to token {t} of sample {i}, is the largest constant",
                  selection=selection, number=f"c = {shown}")
