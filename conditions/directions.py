"""Which selections are locally optimal? All of them, with a proof that none is missing.

Statement
    The locally optimal selections, γ_{iα_i} > γ_it for every support index (i, t) of W^mm_α, are
    exactly those that the certificate lists.
Hypotheses
    None.
Certificate
    `direction_tree` (holds). There is nothing to fail: a set is found or the walk is not finished.
Decision procedure
    α is locally optimal iff the problem with the worse tokens' constraints alone has a solution
    under which every other rejected token has margin > 1. A walk over the tree of selections
    excludes a vertex whose fixed tokens contradict each other, and a leaf by multipliers that show
    a better token to have margin ≤ 1; compiled, neighbouring leaves start from each other. The
    rest is decided exactly, one by one. Undecided only when the time runs out.
Reference
    arXiv 2308.16898 v1, Definition 2 and Theorem 7; docs/theory/directions.md.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from conditions.certificates import DirectionTree
from conditions.dataset import AttentionDataset
from conditions.enumeration.problem import Examined, Proof, local_optimality_problem
from conditions.enumeration.tree import Progress, Search, run
from conditions.selection import Row, Selection
from conditions.separation.frobenius import Solution
from conditions.support_indices import margin
from conditions.verdict import Status, Verdict, proved, undecided

CONDITION = "directions"


@dataclass(frozen=True)
class Direction:
    """A locally optimal selection: W^mm_α is a direction to which gradient descent can converge.

    ``proof`` is the certificate that `local_optimality` holds for it.
    """

    selection: Selection
    solution: Solution
    proof: Proof

    @property
    def margin(self) -> float:
        """1/‖W^mm_α‖_F, rounded."""
        return margin(self.solution)

    @property
    def support(self) -> tuple[Row, ...]:
        """The support indices (i, t)."""
        return self.solution.support


@dataclass(frozen=True)
class Enumeration:
    """The locally optimal selections found, largest margin first.

    ``certificate`` proves that there are no others; None if the walk ended early, and then
    ``reached`` says how much of the tree is closed.
    """

    directions: tuple[Direction, ...]
    reached: Progress
    certificate: DirectionTree | None

    @property
    def complete(self) -> bool:
        """Whether every selection is decided."""
        return self.certificate is not None


def enumerate_directions(dataset: AttentionDataset, *, seconds: float | None = None,
                         progress: Callable[[Progress], None] | None = None,
                         found: Callable[[Direction], None] | None = None) -> Enumeration:
    """Every locally optimal selection of *dataset*, within *seconds* if given.

    *progress* is called several times a second in general, *found* with each direction at once.
    """
    search = Search(local_optimality_problem(dataset))
    known: list[Direction] = []

    def tell(reached: Progress) -> None:
        for examined in search.found[len(known):]:
            known.append(_direction(examined))
            if found is not None:
                found(known[-1])
        if progress is not None:
            progress(reached)

    run(search, seconds=seconds, progress=tell)
    ranked = sorted(known, key=lambda each: (-each.margin, each.selection))
    return Enumeration(tuple(ranked), search.progress, search.certificate)


def decide(dataset: AttentionDataset, seconds: float | None = None) -> Verdict:
    """List the locally optimal selections; undecided only when *seconds* are over."""
    return verdict(enumerate_directions(dataset, seconds=seconds))


def verdict(enumeration: Enumeration) -> Verdict:
    """The verdict on an enumeration that was made before."""
    count = len(enumeration.directions)
    if enumeration.certificate is None:
        return undecided(CONDITION, f"time ran out with {enumeration.reached} decided; {count} "
                         "locally optimal so far", number=f"{count} or more")
    return proved(CONDITION, Status.HOLDS, enumeration.certificate,
                  f"{count} of {enumeration.reached.total} selections are locally optimal, the "
                  "others are excluded", number=f"{count} locally optimal")


def _direction(examined: Examined) -> Direction:
    return Direction(examined.selection, examined.solution, examined.proof)
