"""Does every other selection have an optimal token among its support indices (Assumption D)?

Statement
    The optimal token is unique in every sample, and for every α ≠ opt for which Att-SVM(α) is
    feasible some sample i has α_i ≠ opt_i and opt_i ∈ 𝒯_i(α): (i, opt_i) is a support index.
Hypotheses
    None; fails when the optimum is tied. Implies that no α ≠ opt is locally optimal.
Certificate
    `direction_tree` (holds); `optimum_tie`, `exceptional_selection` (fails).
Decision procedure
    α contradicts the statement iff Att-SVM(α) without the rows (i, opt_i) has a solution under
    which these rows have margin > 1. The walk of `conditions.directions`, with these rows tested
    in place of the better tokens, ends at the first contradiction or closes the tree. Undecided
    only when the time runs out.
Reference
    arXiv 2308.16898 v1, Assumption D; docs/theory/directions.md.
"""

from __future__ import annotations

from collections.abc import Callable

from conditions.dataset import AttentionDataset
from conditions.enumeration.problem import optimal_support_problem
from conditions.enumeration.tree import Progress, Search, run
from conditions.only_local_optimum import contradicted
from conditions.selection import optimal_selection
from conditions.unique_optimum import tie
from conditions.verdict import Status, Verdict, proved, undecided

CONDITION = "assumption_d"


def decide(dataset: AttentionDataset, seconds: float | None = None,
           progress: Callable[[Progress], None] | None = None) -> Verdict:
    """Decide the condition; undecided only when *seconds* are over."""
    tied = tie(dataset)
    if tied is not None:
        return proved(CONDITION, Status.FAILS, tied,
                      f"sample {tied.sample} has no unique optimal token", number="optimum tied")
    search = Search(optimal_support_problem(dataset))
    run(search, seconds=seconds, progress=progress, enough=lambda walk: bool(walk.found))
    best = list(optimal_selection(dataset))
    if search.found:
        witness = search.found[0]
        return contradicted(CONDITION, witness,
                            f"α = {list(witness.selection)} is feasible and has no optimal token "
                            f"among its support indices; opt = {best}", "contradicted")
    certificate = search.certificate
    if certificate is None:
        return undecided(CONDITION, f"time ran out with {search.progress} decided and no "
                         "contradiction met", number=f"{100 * search.progress.share:.4g} % closed")
    return proved(CONDITION, Status.HOLDS, certificate,
                  f"each of the {search.total - 1} selections other than opt = {best} is "
                  "infeasible or has an optimal token among its support indices",
                  number=f"{search.total - 1} selections")
