"""Is the optimal selection the only locally optimal one?

Statement
    The optimal token is unique in every sample, and opt, the selection of these tokens, is the
    only locally optimal selection.
Hypotheses
    None; fails when the optimum is tied, and when opt is infeasible.
Certificate
    `direction_tree` (holds); `optimum_tie`, `exceptional_selection` (fails).
Decision procedure
    opt, where unique, is locally optimal iff it is feasible. The walk of `conditions.directions`
    then looks for another locally optimal selection and ends at the first, or proves that there is
    none. Undecided only when the time runs out.
Reference
    arXiv 2308.16898 v1, section 5.2; docs/theory/directions.md.
"""

from __future__ import annotations

from collections.abc import Callable

from conditions.certificates import ExceptionalSelection
from conditions.dataset import AttentionDataset
from conditions.enumeration.problem import Examined, local_optimality_problem
from conditions.enumeration.tree import Progress, Search, run
from conditions.selection import optimal_selection
from conditions.unique_optimum import tie
from conditions.verdict import Evidence, Status, Verdict, proved, undecided

CONDITION = "only_local_optimum"


def decide(dataset: AttentionDataset, seconds: float | None = None,
           progress: Callable[[Progress], None] | None = None) -> Verdict:
    """Decide the condition; undecided only when *seconds* are over."""
    tied = tie(dataset)
    if tied is not None:
        return proved(CONDITION, Status.FAILS, tied,
                      f"sample {tied.sample} has no unique optimal token", number="optimum tied")
    problem = local_optimality_problem(dataset)
    best = optimal_selection(dataset)
    opt = problem.examine(best)
    if not opt.exceptional:
        return contradicted(CONDITION, opt, f"opt = {list(best)} is infeasible",
                            "opt infeasible")
    search = Search(problem)
    run(search, seconds=seconds, progress=progress,
        enough=lambda walk: any(each.selection != best for each in walk.found))
    other = next((each for each in search.found if each.selection != best), None)
    if other is not None:
        return contradicted(CONDITION, other,
                            f"{list(other.selection)} is locally optimal too; opt = {list(best)}",
                            "another local optimum")
    certificate = search.certificate
    if certificate is None:
        return undecided(CONDITION, f"time ran out with {search.progress} decided and no other "
                         "local optimum met", number=f"{100 * search.progress.share:.4g} % closed")
    return proved(CONDITION, Status.HOLDS, certificate,
                  f"opt = {list(best)} is locally optimal, the other {search.total - 1} selections "
                  "are not", number=f"1 of {search.total}")


def contradicted(condition: str, examined: Examined, reason: str, number: str) -> Verdict:
    """The verdict that *condition*, about all selections, fails at one of them."""
    certificate = ExceptionalSelection(examined.selection, examined.proof)
    return proved(condition, Status.FAILS, certificate, reason, number=number,
                  evidence=Evidence(examined.proof.evidence))
