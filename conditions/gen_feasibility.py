"""Can sets of tokens be separated from the rest, with equal logits inside each set?

Statement
    For the sets O_i ⊂ [T_i] of the certificate Gen-SVM is feasible: some W has
    (x_it − x_iτ)ᵀ W z_i = 0 for all t, τ ∈ O_i, and ≥ 1 for all t ∈ O_i, τ ∉ O_i.
Hypotheses
    None; every O_i has at least one token. O_i = {α_i} is Att-SVM(α). If no token is rejected,
    W = 0 is a solution, and there is no direction.
Certificate
    `gen_separator`, `gen_enclosure` (holds), `motzkin` (fails). The sets are part of each.
Decision procedure
    `conditions.separation.general`. Verified floats enclose W^mm; near it a W that meets the
    equalities exactly is found query by query where the directions of the queries are independent,
    and otherwise the enclosure shows that there is one. Over Q the features are projected on the
    orthogonal complement of the equalities; there it is the question of `conditions.feasibility`.
Reference
    arXiv 2308.16898 v1, section 6 (Gen-SVM); docs/theory.md, section 8.
"""

from __future__ import annotations

from collections.abc import Iterable

from conditions.dataset import AttentionDataset
from conditions.separation.general import GenInfeasible, solve
from conditions.separation.token_sets import check_sets
from conditions.verdict import Status, Verdict, proved

CONDITION = "gen_feasibility"


def decide(dataset: AttentionDataset, sets: Iterable[Iterable[object]]) -> Verdict:
    """Decide the condition for O = *sets*, one list of tokens per sample; never undecided."""
    outcome = solve(dataset, check_sets(dataset, sets))
    if isinstance(outcome, GenInfeasible):
        return gen_infeasible(CONDITION, outcome)
    rejected, tied = len(outcome.constraints.rejected), len(outcome.constraints.tied)
    reason = (f"W has all {rejected} margins at least 1 and meets all {tied} equalities"
              if rejected else "no token is rejected: W = 0 is a solution, there is no direction")
    return proved(CONDITION, Status.HOLDS, outcome.separator or outcome.certificate, reason,
                  number=f"{rejected} margins ≥ 1, {tied} equalities")


def gen_infeasible(condition: str, outcome: GenInfeasible) -> Verdict:
    """The verdict that *condition*, which needs a solution of Gen-SVM, fails for want of one."""
    count, ties = len(outcome.multipliers), len(outcome.equality_multipliers)
    reason = f"a combination of {count} features with positive weights is 0"
    if ties:
        reason += f" but for {ties} differences of tokens that must have equal logits"
    return proved(condition, Status.FAILS, outcome.certificate,
                  f"Gen-SVM is infeasible: {reason}", number=f"Motzkin, {count} + {ties} rows")
