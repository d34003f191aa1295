"""What is searched for: a case on which all kept hypotheses hold and the conclusion fails."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from conditions.errors import InvalidInput
from verifier.claims.case import Case
from verifier.claims.claim import Claim, Hypothesis, Standing
from verifier.claims.expression import And, Atom, Expression, Memo
from verifier.claims.outcome import Outcome

DESCENT = frozenset({"rule", "η", "η₀", "W(0)"})
STEPS = frozenset({"step_within_lemma4", "step_below_smoothness", "first_step_within_theorem6",
                   "first_step_sufficient", "constant_step", "plain_descent", "large_first_step"})
"""Hypotheses about the rule and its steps; all but the last are about plain descent."""


@dataclass(frozen=True)
class Counterexample:
    """A case with the proofs that its hypotheses hold and that its conclusion fails."""

    case: Case
    hypotheses: tuple[tuple[Hypothesis, Outcome], ...]
    conclusion: Outcome


@dataclass(frozen=True)
class Problem:
    """The kept hypotheses of a claim, and its conclusion; ``dropped`` names the others."""

    claim: Claim
    dropped: tuple[str, ...] = ()

    @classmethod
    def of(cls, claim: Claim, *dropped: str) -> Problem:
        """The search against *claim* without some hypotheses. Raises ``InvalidInput``."""
        for name in dropped:
            claim.hypothesis(name)
        if claim.conclusion is None:
            raise InvalidInput("claim", claim.name, "has a conclusion that is only observed, so "
                               "that nothing can be certified against it",
                               "choose a claim with a certified conclusion (attsvm claims)")
        return cls(claim, tuple(dropped))

    @property
    def kept(self) -> tuple[Hypothesis, ...]:
        """The hypotheses that a counterexample meets."""
        return tuple(h for h in self.claim.hypotheses if h.name not in self.dropped)

    @cached_property
    def conclusion(self) -> Expression:
        """The conclusion, which a counterexample contradicts."""
        assert self.claim.conclusion is not None, "checked by `of`"
        return self.claim.conclusion

    @property
    def title(self) -> str:
        """The claim, and what is dropped."""
        return self.claim.name + "".join(f", without {name}" for name in self.dropped)

    @cached_property
    def demands(self) -> frozenset[Atom]:
        """The predicates that every counterexample must meet, each by itself."""
        return frozenset(atom for h in self.kept for atom in _conjuncts(h.expression)
                         if isinstance(atom, Atom))

    @cached_property
    def demanded(self) -> frozenset[str]:
        """The names of `demands`; of those about a selection, the ones about opt."""
        return frozenset(atom.predicate.name for atom in self.demands
                         if not atom.predicate.selective or atom.argument == "opt")

    @cached_property
    def let_go(self) -> frozenset[str]:
        """The names of the predicates of the dropped hypotheses."""
        return frozenset(atom.predicate.name for h in self.claim.hypotheses
                         if h.name in self.dropped for atom in h.expression.atoms())

    @property
    def skeptical(self) -> bool:
        """Whether the search tests a theorem that is proved here, with all its hypotheses."""
        return self.claim.standing is Standing.PROVED and not self.dropped

    @cached_property
    def atoms(self) -> tuple[Atom, ...]:
        """All predicates of hypotheses and conclusion."""
        expressions = [*(h.expression for h in self.kept), self.conclusion]
        return tuple(dict.fromkeys(a for e in expressions for a in e.atoms()))

    @cached_property
    def about(self) -> frozenset[str]:
        """What the predicates need beside the dataset: ℓ, η, W(0), m, …"""
        return frozenset(word for atom in self.atoms
                         for word in atom.predicate.about.split(", ") if word and word != "α")

    @property
    def about_selection(self) -> bool:
        """Whether some predicate is about α."""
        return any(a.predicate.selective and a.argument in (None, "alpha") for a in self.atoms)

    @property
    def about_descent(self) -> bool:
        """Whether some predicate is about a descent."""
        return bool(self.about & DESCENT)

    @cached_property
    def refuted_by(self) -> frozenset[str]:
        """The names of the predicates of the conclusion, whose failure may refute it."""
        return frozenset(atom.predicate.name for atom in self.conclusion.atoms())

    def check(self, case: Case) -> Counterexample | Outcome:
        """The proof that *case* refutes the claim, or the outcome for want of which it is none.

        That is a hypothesis that fails or is undecided, or a conclusion that is not proved false.
        """
        memo: Memo = {}
        outcomes: dict[Hypothesis, Outcome] = {}
        for hypothesis in sorted(self.kept, key=lambda h: h.expression.cost):
            outcome = hypothesis.expression.evaluate(case, memo)
            if not outcome.holds:
                return outcome
            outcomes[hypothesis] = outcome
        conclusion = self.conclusion.evaluate(case, memo)
        if not conclusion.fails:
            return conclusion
        return Counterexample(case, tuple((h, outcomes[h]) for h in self.kept), conclusion)

    def admits(self, case: Case) -> bool:
        """Whether the hypotheses that are about dataset and loss alone hold on *case*."""
        parts = sorted((h.expression for h in self.kept), key=lambda part: part.cost)
        memo: Memo = {}
        return all(part.evaluate(case, memo).holds for part in parts if _about_data(part))


def _about_data(expression: Expression) -> bool:
    return all(set(atom.predicate.about.split(", ")) <= {"", "α", "ℓ"}
               and (not atom.predicate.selective or atom.argument == "opt")
               for atom in expression.atoms())


def _conjuncts(expression: Expression) -> list[Expression]:
    if isinstance(expression, And):
        return _conjuncts(expression.left) + _conjuncts(expression.right)
    return [expression]
