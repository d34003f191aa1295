"""What a sweep asks of every trial: expressions over predicates, and registered claims."""

from __future__ import annotations

from dataclasses import dataclass

from conditions.errors import InvalidInput
from conditions.verdict import Status
from verifier.claims import Case, Expression, Outcome, parse
from verifier.claims.assessment import assess
from verifier.claims.claim import Claim
from verifier.claims.expression import Memo
from verifier.claims.registry import CLAIMS

ABOUT_TOKENS = frozenset({
    "all_support", "constant_step", "decreasing_loss", "every_selection_feasible", "feasible",
    "full_rank", "gen_feasible", "low_rank_feasible", "multi_token_support", "nuclear_rank_bound",
    "orthonormal_tokens", "overparameterized_dimension", "plain_descent", "rank_bound",
    "rank_suffices", "starts_at_zero", "support_exists", "two_tokens", "unique_nuclear_optimum"})
"""The predicates in which no score Y v·x has a part (compare `conditions.setting`)."""

ABOUT_QUADRATIC_HEAD = frozenset({"count_of_lemma6", "lambda_of_lemma6", "simplex_support"})

_OF_DESCENT = frozenset({"rule", "η", "η₀", "W(0)"})

Answer = tuple[str, str, str]
"""Status, evidence ("" where undecided), and the figures that matter, or what was missing."""


@dataclass(frozen=True)
class Ask:
    """A question; ``claim`` where it is a registered claim."""

    text: str
    expression: Expression
    claim: Claim | None = None

    @classmethod
    def of(cls, text: str) -> Ask:
        """The claim or expression that *text* names. Raises ``InvalidInput``."""
        name = text.strip()
        if name not in CLAIMS:
            return cls(name, parse(name))
        claim = CLAIMS[name]
        if claim.expression is None:
            raise InvalidInput("ask", name, "is only observed: no condition certifies it",
                               f"attsvm claims {name} says how")
        return cls(name, claim.expression, claim)

    def about(self, choice: str) -> bool:
        """Whether a predicate of it needs *choice*, e.g. ``m`` or ``O_i``."""
        return any(choice in _needs(atom.predicate.about) for atom in self.expression.atoms())

    def require(self, head: str, parameterization: str) -> None:
        """Raise ``InvalidInput`` that names a predicate without meaning in this setting."""
        for atom in self.expression.atoms():
            lacking = _unmet(atom.predicate.name, atom.predicate.about, atom.argument == "opt",
                             head, parameterization)
            if lacking:
                raise InvalidInput("ask", self.text, f"{atom} {lacking}",
                                   "drop it, or sweep that setting by itself")

    def answer(self, case: Case, memo: Memo) -> Answer:
        """What is proved of it on *case*; *memo* is shared by all questions about the case."""
        outcome = self.expression.evaluate(case, memo)
        figures = _figures(outcome)
        if self.claim is not None:
            figures = f"{assess(self.claim, case, memo).finding}: {figures}".rstrip(": ")
        return str(outcome.status), str(outcome.evidence or ""), figures


def _needs(about: str) -> frozenset[str]:
    return frozenset(about.split(", "))


def _unmet(name: str, about: str, opt: bool, head: str, parameterization: str) -> str:
    if name in ABOUT_QUADRATIC_HEAD:
        return "" if head == "quadratic" else "is about the quadratic head"
    if head != "linear" and (name not in ABOUT_TOKENS or opt):
        return f"needs the scores Y v·x of the linear head; the {head} head has none"
    if parameterization != "W" and _needs(about) & _OF_DESCENT:
        return "is about descent on W, not on K and Q"
    return ""


def _figures(outcome: Outcome) -> str:
    """On one line: the numbers of the proof, or the reasons that there is none."""
    if outcome.status is Status.UNDECIDED:
        parts = list(outcome.reasons)
    else:
        parts = [*(v.number for v in outcome.verdicts), *(str(fact) for fact in outcome.facts)]
    return " ".join("; ".join(dict.fromkeys(part for part in parts if part)).split())
