"""What is asked of every selection: are the tested rows off the support of W^mm_α?

Local optimality tests the rejected tokens that score at least as high as the selected one,
Assumption D the optimal tokens that were not selected. A selection that has W^mm_α with no tested
row among its support indices is *exceptional*: locally optimal, or a contradiction to D.
Source: docs/theory/directions.md.
"""

from __future__ import annotations

from dataclasses import dataclass

from conditions.certificates import ExactKKT, Farkas, KKTEnclosure, PrimalDual
from conditions.dataset import AttentionDataset
from conditions.local_optimality import primal_dual
from conditions.selection import Row, Selection, optimal_selection
from conditions.separation.frobenius import EnclosedSolution, Infeasible, Outcome, Solution, solve

Proof = ExactKKT | KKTEnclosure | PrimalDual | Farkas


@dataclass(frozen=True)
class Examined:
    """One selection, decided on its own: its outcome and the proof of ``exceptional``."""

    selection: Selection
    exceptional: bool
    proof: Proof
    outcome: Outcome

    @property
    def solution(self) -> Solution:
        """W^mm_α. Raises ``ValueError`` where there is none."""
        if isinstance(self.outcome, Infeasible):
            raise ValueError(f"Att-SVM of {self.selection} is infeasible")
        return self.outcome


@dataclass(frozen=True, eq=False)
class Problem:
    """A question about all selections of *dataset*.

    ``tested`` holds (i, a, t) where row (i, t) is tested if token a is selected in sample i.
    Nothing is asked of the selection ``exempt``.
    """

    dataset: AttentionDataset
    tested: frozenset[tuple[int, int, int]]
    exempt: Selection | None = None

    def tested_rows(self, selection: Selection) -> tuple[Row, ...]:
        """The tested rows of *selection*, increasing."""
        return tuple((i, t) for i, (a, T) in enumerate(zip(selection, self.dataset.lengths,
                                                           strict=True))
                     for t in range(T) if (i, a, t) in self.tested)

    def examine(self, selection: Selection) -> Examined:
        """Decide one selection, exactly or by enclosures; never open."""
        outcome = solve(self.dataset, selection)
        if isinstance(outcome, Infeasible):
            return Examined(selection, False, outcome.certificate, outcome)
        tested = self.tested_rows(selection)
        exceptional = not set(tested) & set(outcome.support)
        pair = (primal_dual(outcome, tested)
                if exceptional and isinstance(outcome, EnclosedSolution) else None)
        return Examined(selection, exceptional, pair or outcome.certificate, outcome)


def local_optimality_problem(dataset: AttentionDataset) -> Problem:
    """Which selections are locally optimal? (arXiv 2308.16898 v1, Definition 2)."""
    return Problem(dataset, frozenset(
        (i, a, t) for i, scores in enumerate(dataset.scores) for a in range(len(scores))
        for t in range(len(scores)) if t != a and scores[t] >= scores[a]))


def optimal_support_problem(dataset: AttentionDataset) -> Problem:
    """Which selections α ≠ opt contradict Assumption D? (arXiv 2308.16898 v1, section 5.2)."""
    best = optimal_selection(dataset)
    return Problem(dataset, frozenset(
        (i, a, t) for i, (t, T) in enumerate(zip(best, dataset.lengths, strict=True))
        for a in range(T) if a != t), best)
