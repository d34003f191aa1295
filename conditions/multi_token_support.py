"""What are W^mm, its norm and its support indices, for sets of selected tokens?

Statement
    For the sets O_i ⊂ [T_i] of the certificate Gen-SVM has a solution W^mm; the rejected tokens
    τ ∉ O_i with (x_it − x_iτ)ᵀ W^mm z_i = 1, t ∈ O_i, and ‖W^mm‖²_F are as stated.
Hypotheses
    None; fails when Gen-SVM is infeasible. If no token is rejected W^mm = 0 has no direction, and
    a norm of 0 says so.
Certificate
    `gen_kkt`, `gen_enclosure` (holds), `motzkin` (fails). The sets are part of each.
Decision procedure
    `conditions.separation.general`: verified floats, then exact KKT over Q on the complement of
    the equalities.
Reference
    arXiv 2308.16898 v1, section 6 (Gen-SVM); docs/theory.md, section 8.
"""

from __future__ import annotations

from collections.abc import Iterable

from flint import arb

from conditions.dataset import AttentionDataset
from conditions.gen_feasibility import gen_infeasible
from conditions.separation.general import GenInfeasible, solve
from conditions.separation.token_sets import check_sets
from conditions.verdict import Status, Verdict, proved

CONDITION = "multi_token_support"


def decide(dataset: AttentionDataset, sets: Iterable[Iterable[object]]) -> Verdict:
    """Decide the condition for O = *sets*, one list of tokens per sample; never undecided."""
    outcome = solve(dataset, check_sets(dataset, sets))
    if isinstance(outcome, GenInfeasible):
        return gen_infeasible(CONDITION, outcome)
    count, total = len(outcome.support), len(outcome.constraints.rejected)
    if not total:
        return proved(CONDITION, Status.HOLDS, outcome.certificate,
                      "no token is rejected: W^mm = 0, there is no direction", number="W^mm = 0")
    margin = float(arb(1 / outcome.norm_bounds[0]).sqrt())
    return proved(CONDITION, Status.HOLDS, outcome.certificate,
                  f"{count} of {total} rejected tokens are support indices; "
                  f"margin 1/‖W^mm‖ ≈ {margin:.6g}", number=f"{count} of {total}")
