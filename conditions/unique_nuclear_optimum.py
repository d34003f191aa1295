"""Is there only one separating matrix of least nuclear norm?

Statement
    Exactly one W attains the least ‖W‖_* subject to ⟨φ_it, W⟩ ≥ 1 for all rejected t, and its
    rank is as stated.
Hypotheses
    None; fails when Att-SVM(α) is infeasible.
Certificate
    `nuclear_uniqueness` (holds); `nuclear_optima`, `farkas` or `query_cycle` (fails).
Decision procedure
    A primal-dual pair of tiny gap bounds where all optima lie; least singular values at the pair,
    verified, then exclude a second one. Failing that, two rational optima are sought. Undecided
    where neither is found: optima that differ but are irrational, or no strict complementarity.
Reference
    arXiv 2308.16898 v1, Theorem 2 (the nuclear norm solution set); docs/theory/nuclear.md.
"""

from __future__ import annotations

from conditions.dataset import AttentionDataset
from conditions.nuclear_margin import no_separator
from conditions.selection import Selection, check_selection
from conditions.separation.frobenius import Infeasible
from conditions.separation.nuclear import solve
from conditions.separation.nuclear_frame import LIMITS
from conditions.separation.nuclear_optima import two_optima
from conditions.separation.nuclear_uniqueness import uniqueness
from conditions.verdict import Status, Verdict, proved, undecided

CONDITION = "unique_nuclear_optimum"

_ACCURACIES = (1e-20, 1e-40)


def decide(dataset: AttentionDataset, selection: Selection) -> Verdict:
    """Decide the condition for α = *selection*."""
    selection = check_selection(dataset, selection)
    for accuracy in _ACCURACIES:
        outcome = solve(dataset, selection, accuracy)
        if outcome is None:
            return undecided(CONDITION, LIMITS, selection=selection)
        if isinstance(outcome, Infeasible):
            return no_separator(CONDITION, dataset, outcome)
        certificate = uniqueness(outcome)
        if certificate is not None:
            return proved(CONDITION, Status.HOLDS, certificate,
                          f"one W attains min ‖W‖_*; its rank is {certificate.rank}",
                          selection=selection, number=f"rank {certificate.rank}")
        pair = two_optima(outcome)
        if pair is not None:
            return proved(CONDITION, Status.FAILS, pair, "two different W attain min ‖W‖_*",
                          selection=selection, number="two optima")
        if outcome.point is None:
            break
    return undecided(CONDITION, "neither uniqueness nor a second optimum was shown",
                     selection=selection)
