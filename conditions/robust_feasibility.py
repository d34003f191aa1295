"""Does Att-SVM(α) stay feasible when every entry of the data moves a little?

Statement
    Att-SVM(α) is feasible for every dataset of the same sizes and labels whose entries of X, z
    and v are each within the certificate's ε > 0 of the given ones.
Hypotheses
    None; fails, for every ε, when Att-SVM(α) is infeasible.
Certificate
    `ball_separator` (holds); `farkas`, `query_cycle` (fails).
Decision procedure
    One W for the whole ball: W^mm_α, or the solution of a linear program for the largest ε to
    first order. The ε is nearly the largest that this W and plain bounds allow.
Reference
    docs/theory.md, robustness.
"""

from __future__ import annotations

from conditions import feasibility
from conditions.dataset import AttentionDataset
from conditions.robustness.separator import ball_separator
from conditions.robustness.wording import NO_RADIUS, radius_text, renamed
from conditions.selection import Selection, check_selection
from conditions.separation.frobenius import Infeasible, solve
from conditions.verdict import Status, Verdict, proved, undecided

CONDITION = "robust_feasibility"


def decide(dataset: AttentionDataset, selection: Selection) -> Verdict:
    """Decide the condition for α = *selection*; undecided where floats suggest no radius."""
    alpha = check_selection(dataset, selection)
    outcome = solve(dataset, alpha)
    if isinstance(outcome, Infeasible):
        return renamed(feasibility.decide(dataset, alpha), CONDITION)
    found = ball_separator(outcome, outscored=False)
    if found is None:
        return undecided(CONDITION, NO_RADIUS, selection=alpha)
    return proved(CONDITION, Status.HOLDS, found,
                  "one W keeps all margins positive within this distance of every entry",
                  selection=alpha, number=radius_text(found.radius))
