"""Do the support indices of W^mm_α stay the same when every entry of the data moves a little?

Statement
    W^mm_α exists, with the certificate's `rows` as its support indices, for every dataset of the
    same sizes and labels whose entries of X, z and v are each within ε > 0 of the given ones.
Hypotheses
    None; fails, for every ε, when Att-SVM(α) is infeasible.
Certificate
    `ball_kkt` (holds); `farkas` (fails).
Decision procedure
    An approximate inverse of the support's Gram matrix bounds all multipliers and margins on the
    ball. Undecided for a support with dependent features or a zero multiplier, which every ball
    around the data can change.
Reference
    docs/theory.md, robustness.
"""

from __future__ import annotations

from conditions import support_indices
from conditions.dataset import AttentionDataset
from conditions.robustness.kkt import ball_kkt
from conditions.robustness.wording import NO_RADIUS, radius_text, renamed
from conditions.selection import Selection, check_selection
from conditions.separation.frobenius import Infeasible, solve
from conditions.verdict import Status, Verdict, proved, undecided

CONDITION = "robust_support"


def decide(dataset: AttentionDataset, selection: Selection) -> Verdict:
    """Decide the condition for α = *selection*; undecided for a degenerate support."""
    alpha = check_selection(dataset, selection)
    outcome = solve(dataset, alpha)
    if isinstance(outcome, Infeasible):
        return renamed(support_indices.decide(dataset, alpha), CONDITION)
    found = ball_kkt(outcome, outscored=False)
    if found is None:
        return undecided(CONDITION, f"{NO_RADIUS}, or the support is degenerate", selection=alpha)
    return proved(CONDITION, Status.HOLDS, found,
                  f"the {len(found.rows)} support indices stay within this distance of every entry",
                  selection=alpha, number=radius_text(found.radius))
