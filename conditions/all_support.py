"""Are all rejected tokens support indices?

Statement
    W^mm_α exists and ⟨φ_it, W^mm_α⟩ = 1 for every rejected token (i, t).
Hypotheses
    None; fails when Att-SVM(α) is infeasible.
Certificate
    `exact_kkt` or `kkt_enclosure` (either way), `farkas` (fails).
Decision procedure
    The support indices of `conditions.separation.frobenius` are compared with all rows.
Reference
    arXiv 2308.16898 v1, Assumption B.1.
"""

from __future__ import annotations

from conditions.dataset import AttentionDataset
from conditions.feasibility import infeasible
from conditions.selection import Selection, check_selection
from conditions.separation.frobenius import Infeasible, solve
from conditions.verdict import Status, Verdict, proved

CONDITION = "all_support"


def decide(dataset: AttentionDataset, selection: Selection) -> Verdict:
    """Decide the condition for α = *selection*; never undecided."""
    outcome = solve(dataset, check_selection(dataset, selection))
    if isinstance(outcome, Infeasible):
        return infeasible(CONDITION, outcome)
    count, total = len(outcome.support), len(outcome.features)
    status = Status.HOLDS if count == total else Status.FAILS
    return proved(CONDITION, status, outcome.certificate,
                  f"{total - count} of {total} rejected tokens have margin above 1"
                  if count < total else f"all {total} margins are 1",
                  selection=outcome.features.selection, number=f"{count} of {total}")
