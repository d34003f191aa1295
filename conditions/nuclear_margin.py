"""How small can the nuclear norm of a separating matrix be?

Statement
    The least ‖W‖_* over all W with ⟨φ_it, W⟩ ≥ 1 for all rejected t lies in [lower, upper], and
    some such W of rank ≤ rank ≤ min(n, d) has ‖W‖_* ≤ upper.
Hypotheses
    None; fails when Att-SVM(α) is infeasible.
Certificate
    `nuclear_interval` (holds), `farkas` or `query_cycle` (fails).
Decision procedure
    `conditions.separation.nuclear`: an interior point method and, for narrow intervals, Newton's
    method on the KKT equations suggest factors and multipliers, which are rounded to rationals
    that are feasible exactly. Undecided only beyond the limits of the float solver.
Reference
    arXiv 2308.16898 v1, (Att-SVM⋆) and Theorem 2; docs/theory/nuclear.md.
"""

from __future__ import annotations

from conditions.dataset import AttentionDataset
from conditions.errors import InvalidInput
from conditions.exact.numbers import to_float
from conditions.feasibility import infeasible
from conditions.graphs import cycle_certificate
from conditions.selection import Selection, check_selection
from conditions.separation.frobenius import Infeasible
from conditions.separation.nuclear import ACCURACY, solve
from conditions.separation.nuclear_frame import LIMITS
from conditions.verdict import Status, Verdict, proved, undecided

CONDITION = "nuclear_margin"


def decide(dataset: AttentionDataset, selection: Selection, accuracy: float = ACCURACY) -> Verdict:
    """Decide the condition for α = *selection*.

    *accuracy*: the relative width of the interval that is aimed at; the certified interval may
    be wider where the optimum is degenerate. Raises ``InvalidInput`` unless 1e-300 ≤ accuracy < 1.
    """
    selection = check_selection(dataset, selection)
    if not 1e-300 <= accuracy < 1:
        raise InvalidInput("accuracy", accuracy, "must lie between 1e-300 and 1", "try 1e-6")
    outcome = solve(dataset, selection, accuracy)
    if outcome is None:
        return undecided(CONDITION, LIMITS, selection=selection)
    if isinstance(outcome, Infeasible):
        return no_separator(CONDITION, dataset, outcome)
    certificate = outcome.certificate
    upper = to_float(certificate.upper)
    return proved(CONDITION, Status.HOLDS, certificate,
                  f"min ‖W‖_* ≈ {upper:.7g} within {outcome.gap:.1e} of it, attained so far by a "
                  f"W of rank ≤ {outcome.rank} ≤ min(n, d) = {min(dataset.n, dataset.d)}",
                  selection=selection, number=f"{upper:.6g}, rank ≤ {outcome.rank}")


def no_separator(condition: str, dataset: AttentionDataset, outcome: Infeasible) -> Verdict:
    """The verdict that *condition* fails because no W has all margins ≥ 1."""
    cycle = cycle_certificate(dataset, outcome.features.selection)
    if cycle is None:
        return infeasible(condition, outcome)
    count = len(cycle.edges)
    return proved(condition, Status.FAILS, cycle,
                  f"no W separates: {count} features along a cycle of one query add up to 0",
                  selection=outcome.features.selection, number=f"cycle of {count}")
