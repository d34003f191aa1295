"""What an expression comes to on a case: a status, and the verdicts and facts that prove it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from conditions.verdict import Evidence, Status, Verdict, weakest

_OPPOSITE = {Status.HOLDS: Status.FAILS, Status.FAILS: Status.HOLDS,
             Status.UNDECIDED: Status.UNDECIDED}


@dataclass(frozen=True)
class Fact:
    """An arithmetic statement that a reader recomputes from the data: it needs no certificate.

    ``statement`` is true as it stands; ``values`` are its numbers, exact; ``evidence`` says whether
    roots, exponentials or logarithms had to be enclosed.
    """

    name: str
    statement: str
    values: tuple[tuple[str, str], ...] = ()
    evidence: Evidence = Evidence.EXACT

    def __str__(self) -> str:
        return self.statement


@dataclass(frozen=True)
class Outcome:
    """The status of an expression, with exactly what proves it.

    ``verdicts`` carry certificates, ``facts`` are arithmetic; both are empty where the status is
    undecided, and then ``reasons`` says what was missing. Raises ``ValueError`` for a status
    without proof and for a proof without status.
    """

    status: Status
    verdicts: tuple[Verdict, ...] = ()
    facts: tuple[Fact, ...] = ()
    reasons: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        proof = bool(self.verdicts or self.facts)
        if proof == self.undecided or any(v.undecided for v in self.verdicts):
            raise ValueError(f"an outcome that {self.status} with {len(self.verdicts)} verdicts "
                             f"and {len(self.facts)} facts: what is decided has a proof, and "
                             "what is undecided has none")

    def __bool__(self) -> bool:
        raise TypeError("an Outcome has three statuses; ask for .holds, .fails or .undecided "
                        "instead of its truth value")

    @property
    def holds(self) -> bool:
        """Whether the expression is proved true."""
        return self.status is Status.HOLDS

    @property
    def fails(self) -> bool:
        """Whether the expression is proved false."""
        return self.status is Status.FAILS

    @property
    def undecided(self) -> bool:
        """Whether nothing was proved."""
        return self.status is Status.UNDECIDED

    @property
    def evidence(self) -> Evidence | None:
        """The weakest evidence of the proof; None where undecided."""
        if self.undecided:
            return None
        return weakest(*(v.evidence for v in self.verdicts if v.evidence),
                       *(fact.evidence for fact in self.facts))


def from_verdict(verdict: Verdict) -> Outcome:
    """The outcome of an expression that is one condition."""
    if verdict.undecided:
        return undecided(f"{verdict.condition}: {verdict.reason}")
    return Outcome(verdict.status, (verdict,))


def undecided(*reasons: str) -> Outcome:
    """Nothing was proved, for these reasons."""
    return Outcome(Status.UNDECIDED, reasons=tuple(dict.fromkeys(reasons)))


def arithmetic(holds: bool, fact: Fact) -> Outcome:
    """The outcome of a question that *fact* answers."""
    return Outcome(Status.HOLDS if holds else Status.FAILS, facts=(fact,))


def negated(outcome: Outcome) -> Outcome:
    """Not: a proof of a statement is one against its negation."""
    return Outcome(_OPPOSITE[outcome.status], outcome.verdicts, outcome.facts, outcome.reasons)


def joined(status: Status, outcomes: Iterable[Outcome]) -> Outcome:
    """*status*, proved by all of *outcomes* together, each part once."""
    parts = list(outcomes)
    return Outcome(status, tuple(_once(v for part in parts for v in part.verdicts)),
                   tuple(dict.fromkeys(f for part in parts for f in part.facts)))


def _once(verdicts: Iterable[Verdict]) -> list[Verdict]:
    """Verdicts without repetition, as the certificate format asks for."""
    kept: dict[tuple[object, ...], Verdict] = {}
    for verdict in verdicts:
        kept.setdefault((verdict.condition, verdict.selection, verdict.loss), verdict)
    return list(kept.values())
