"""Whether one selection α is exceptional: W^mm_α exists and no *tested* row is a support index.

For `directions` and `only_local_optimum` the tested rows are those that score no less than the
selected token: exceptional means locally optimal. For `assumption_d` they are the rows (i, opt_i)
with α_i ≠ opt_i: an exceptional α ≠ opt contradicts Assumption D. The other rejected rows are kept.
What is tested in a sample depends on the token selected there alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from ..claim import ENCLOSED, EXACT, Claim, Proved
from ..data import Index
from ..reading import Node
from ..refusals import Code
from .enclosure import enclose
from .feasibility import farkas
from .first_step import optimal_features
from .kkt import demand_excluded, exact_support, exclusions


@dataclass(frozen=True)
class Splitting:
    """How a claim's condition splits rejected rows into tested and kept ones."""

    claim: Claim
    optimal: tuple[int, ...] | None
    """The optimal tokens, for the conditions that ask for them to be unique."""

    @classmethod
    def of(cls, claim: Claim, node: Node) -> Splitting:
        """The splitting of the claim's condition. Raises `Refusal` if it needs a unique optimum."""
        return cls(claim, None if claim.condition == "directions"
                   else optimal_features(claim, node).selection)

    @cached_property
    def _tested(self) -> list[list[list[int]]]:
        data = self.claim.dataset
        if self.claim.condition == "assumption_d" and self.optimal is not None:
            return [[[best] if a != best else [] for a in range(T)]
                    for best, T in zip(self.optimal, data.lengths, strict=True)]
        return [[[t for t, score in enumerate(scores) if t != a and score >= scores[a]]
                 for a in range(len(scores))] for scores in data.scores]

    def tested(self, i: int, a: int) -> list[int]:
        """The tested tokens of sample i where token a is selected."""
        return self._tested[i][a]

    def kept(self, i: int, a: int) -> list[int]:
        """The other rejected tokens of sample i where token a is selected."""
        return [t for t in range(self.claim.dataset.lengths[i])
                if t != a and t not in self._tested[i][a]]

    def is_exceptional(self, selection: Sequence[int], node: Node) -> tuple[bool, str]:
        """What an object shows about a selection, and its evidence. Raises `Refusal`.

        The object is read for the selection as for a condition about it: `farkas` shows that there
        is no W^mm_α, `exact_kkt` and `kkt_enclosure` show all its support indices, `primal_dual`
        that it exists and that the excluded rows are none.
        """
        kind = node.field("kind").choice(["exact_kkt", "kkt_enclosure", "primal_dual", "farkas"])
        about = replace(self.claim, selection=tuple(selection))
        if kind == "farkas":
            farkas(about, node)
            return False, EXACT
        tested: list[Index] = [(i, t) for i, a in enumerate(selection)
                               for t in self.tested(i, a)]
        if kind == "primal_dual":
            demand_excluded(tested, exclusions(about, node), node.field("excluded"))
            return True, ENCLOSED
        if kind == "exact_kkt":
            support, evidence = exact_support(about, node)[0], EXACT
        else:
            support, evidence = enclose(about, node).support, ENCLOSED
        return not set(tested) & set(support), evidence


def exceptional_selection(claim: Claim, node: Node) -> Proved:
    """A selection that refutes the condition: α ≠ opt that is exceptional, or opt that is not.

    The second refutes `only_local_optimum` alone: Assumption D says nothing of opt.
    """
    fields = node.object("kind", "selection", "certificate")
    splitting = Splitting.of(claim, node)
    selection = fields["selection"].selection(claim.dataset.lengths)
    exceptional, evidence = splitting.is_exceptional(selection, fields["certificate"])
    is_optimal = selection == splitting.optimal
    if exceptional == is_optimal or (is_optimal and claim.condition == "assumption_d"):
        raise node.refuse(Code.NOT_EXCEPTIONAL, f"the selection {selection} agrees with it")
    if is_optimal:
        text = f"opt = {selection} is not locally optimal"
    elif claim.condition == "assumption_d":
        text = (f"W^mm exists for α = {selection}, without support index (i, opt_i); "
                f"opt = {splitting.optimal}")
    else:
        text = f"α = {selection} is locally optimal; opt = {splitting.optimal}"
    return Proved(text, evidence)
