"""One claim on one case: which hypotheses hold, what follows, and what is proved of it."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from conditions.verdict import Status, Verdict
from verifier.certify import Report
from verifier.claims.case import Case
from verifier.claims.claim import Claim, Hypothesis, Standing
from verifier.claims.expression import Cost, Memo
from verifier.claims.outcome import Outcome, joined, undecided


class Finding(enum.StrEnum):
    """What a case says about a claim."""

    REFUTED = "REFUTED"
    EXCEPTION = "EXCEPTION"
    CONFIRMED = "confirmed here"
    CONCLUDED = "concluded"
    PREDICTED = "predicted"
    NOT_APPLICABLE = "not applicable"
    OPEN = "open"


MEANING = {
    Finding.REFUTED: "all hypotheses are certified, and the conclusion is certified to be false",
    Finding.EXCEPTION: "all hypotheses are certified and the conclusion is certified to be false; "
                       "the claim is about almost all datasets, so one exception does not refute "
                       "it",
    Finding.CONFIRMED: "all hypotheses and the conclusion are certified",
    Finding.CONCLUDED: "all hypotheses are certified, so the conclusion follows: the claim is "
                       "proved",
    Finding.PREDICTED: "all hypotheses are certified; the claim predicts the conclusion, which is "
                       "not certified",
    Finding.NOT_APPLICABLE: "a hypothesis is certified to be false, so the claim says nothing",
    Finding.OPEN: "a hypothesis is undecided",
}


@dataclass(frozen=True)
class Assessment:
    """A claim on a case. ``conclusion`` is None where no condition certifies it."""

    claim: Claim
    case: Case
    hypotheses: tuple[tuple[Hypothesis, Outcome], ...]
    conclusion: Outcome | None

    @property
    def finding(self) -> Finding:
        """What the outcomes come to."""
        outcomes = [outcome for _, outcome in self.hypotheses]
        if any(outcome.fails for outcome in outcomes):
            return Finding.NOT_APPLICABLE
        if any(outcome.undecided for outcome in outcomes):
            return Finding.OPEN
        if self.conclusion is not None and self.conclusion.fails:
            return Finding.EXCEPTION if self.claim.almost_all else Finding.REFUTED
        if self.conclusion is not None and self.conclusion.holds:
            return Finding.CONFIRMED
        proved = self.claim.standing is Standing.PROVED and not self.claim.almost_all
        return Finding.CONCLUDED if proved else Finding.PREDICTED

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """All that is certified of the hypotheses and the conclusion, each verdict once."""
        outcomes = [outcome for _, outcome in self.hypotheses]
        if self.conclusion is not None:
            outcomes.append(self.conclusion)
        decided = [outcome for outcome in outcomes if not outcome.undecided]
        return joined(Status.HOLDS, decided).verdicts if decided else ()

    def report(self, source: str = "") -> Report:
        """The verdicts as a report, whose certificate the checker re-verifies."""
        return Report(self.case.dataset, source, self.verdicts, (("α", self.case.selection),),
                      None)


def assess(claim: Claim, case: Case, memo: Memo | None = None) -> Assessment:
    """Decide every hypothesis of *claim* on *case*, and its conclusion.

    A conclusion that takes a search or a run is left undecided where a hypothesis fails. *memo*
    keeps the outcomes of predicates, for other claims on the same case.
    """
    memo = {} if memo is None else memo
    decided = tuple((hypothesis, hypothesis.expression.evaluate(case, memo))
                    for hypothesis in claim.hypotheses)
    failed = [hypothesis.name for hypothesis, outcome in decided if outcome.fails]
    conclusion = None
    if claim.conclusion is not None:
        conclusion = (undecided(f"not examined, as {failed[0]} fails")
                      if failed and claim.conclusion.cost >= Cost.SEARCH
                      else claim.conclusion.evaluate(case, memo))
    return Assessment(claim, case, decided, conclusion)


def refutes(claim: Claim, case: Case, memo: Memo | None = None) -> Outcome | None:
    """The proof that *case* has all hypotheses and not the conclusion, or None.

    Cheap parts are decided first, so that most cases are dismissed early.
    """
    if claim.expression is None:
        return None
    outcome = claim.expression.evaluate(case, memo)
    return outcome if outcome.fails else None
