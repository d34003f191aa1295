"""Can the selected tokens be separated from the rejected ones?

Statement
    Att-SVM(α) is feasible: some W has ⟨φ_it, W⟩ = (x_{iα_i} − x_it)ᵀ W z_i ≥ 1 for all rejected t.
Hypotheses
    None.
Certificate
    `separator` (holds), `query_cycle` or `farkas` (fails); `topological_order`, from
    `conditions.graphs`, is another proof that it holds.
Decision procedure
    A float separator, rounded to short rationals, is checked exactly. Failing that, the least
    distance from 0 to the features' cone is found over Q: it gives W or λ (Gordan). A cycle of the
    selection graph, where there is one, says the same in fewer words.
Reference
    arXiv 2308.16898 v1, (Att-SVM); docs/theory.md, section 1.
"""

from __future__ import annotations

from conditions.certificates import Separator
from conditions.dataset import AttentionDataset
from conditions.graphs import cycle_certificate
from conditions.selection import Selection, check_selection, features
from conditions.separation.frobenius import Infeasible, solve_exactly
from conditions.separation.separator import short_separator
from conditions.verdict import Status, Verdict, proved

CONDITION = "feasibility"


def decide(dataset: AttentionDataset, selection: Selection) -> Verdict:
    """Decide the condition for α = *selection*; never undecided."""
    selection = check_selection(dataset, selection)
    phi = features(dataset, selection)
    W = short_separator(phi)
    if W is None:
        outcome = solve_exactly(phi)
        if isinstance(outcome, Infeasible):
            cycle = cycle_certificate(dataset, selection)
            if cycle is None:
                return infeasible(CONDITION, outcome)
            return proved(CONDITION, Status.FAILS, cycle,
                          f"{len(cycle.edges)} features along a cycle of one query add up to 0",
                          selection=selection, number=f"cycle of {len(cycle.edges)}")
        W = outcome.W
    return proved(CONDITION, Status.HOLDS, Separator(tuple(map(tuple, W.tolist()))),
                  f"W has all {len(phi)} margins at least 1", selection=selection,
                  number=f"{len(phi)} margins ≥ 1")


def infeasible(condition: str, outcome: Infeasible) -> Verdict:
    """The verdict that *condition*, which needs W^mm_α, fails for want of one."""
    count = len(outcome.multipliers)
    reason = f"{count} features have a positive combination that is 0, so no W separates them"
    if condition != CONDITION:
        reason = f"Att-SVM(α) is infeasible, there is no W^mm_α: {reason}"
    return proved(condition, Status.FAILS, outcome.certificate, reason,
                  selection=outcome.features.selection, number=f"Farkas, {count} rows")
