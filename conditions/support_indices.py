"""What are W^mm_α, its margin and its support indices?

Statement
    W^mm_α exists; its support indices {(i,t) : ⟨φ_it, W^mm_α⟩ = 1} and ‖W^mm_α‖²_F are as stated.
Hypotheses
    None; fails when Att-SVM(α) is infeasible.
Certificate
    `exact_kkt` or `kkt_enclosure` (holds), `farkas` (fails).
Decision procedure
    `conditions.separation.frobenius`: verified floating-point KKT, then exact KKT over Q.
Reference
    arXiv 2308.16898 v1, (Att-SVM) and Definition 2; docs/theory.md, section 1.
"""

from __future__ import annotations

from flint import arb

from conditions.dataset import AttentionDataset
from conditions.feasibility import infeasible
from conditions.selection import Selection, check_selection
from conditions.separation.frobenius import Infeasible, Solution, solve
from conditions.verdict import Status, Verdict, proved

CONDITION = "support_indices"


def margin(solution: Solution) -> float:
    """1/‖W^mm‖_F, rounded; 0 or inf beyond the range of floats."""
    lo, hi = solution.norm_squared
    # ‖W^mm‖² may lie beyond the range of floats where its root does not.
    return float(arb(2 / (lo + hi)).sqrt())


def decide(dataset: AttentionDataset, selection: Selection) -> Verdict:
    """Decide the condition for α = *selection*; never undecided."""
    outcome = solve(dataset, check_selection(dataset, selection))
    if isinstance(outcome, Infeasible):
        return infeasible(CONDITION, outcome)
    count, total = len(outcome.support), len(outcome.features)
    return proved(CONDITION, Status.HOLDS, outcome.certificate,
                  f"{count} of {total} rejected tokens are support indices; "
                  f"margin 1/‖W^mm‖ ≈ {margin(outcome):.6g}",
                  selection=outcome.features.selection, number=f"{count} of {total}")
