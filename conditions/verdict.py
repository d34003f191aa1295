"""What was decided, how firmly, and with which certificate."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from conditions.certificates import Certificate
from conditions.exact.numbers import MAX_CHARACTERS, characters, is_short


class Status(enum.StrEnum):
    """The three answers. ``HOLDS`` and ``FAILS`` are proved; everything else is undecided."""

    HOLDS = "holds"
    FAILS = "fails"
    UNDECIDED = "undecided"


class Evidence(enum.StrEnum):
    """How an answer is known: exact arithmetic, enclosures, or a mere observation."""

    EXACT = "exact"
    ENCLOSED = "enclosed"
    OBSERVED = "observed"


_STRENGTH = {Evidence.OBSERVED: 0, Evidence.ENCLOSED: 1, Evidence.EXACT: 2}


def weakest(*evidence: Evidence) -> Evidence:
    """The evidence of a statement that rests on all of *evidence*.

    >>> str(weakest(Evidence.EXACT, Evidence.OBSERVED))
    'observed'
    """
    return min(evidence, key=_STRENGTH.__getitem__)


@dataclass(frozen=True)
class Verdict:
    """One decided (or undecided) condition.

    ``selection`` is α, 0-based, for the conditions about one; ``loss`` names the loss for those
    about one. ``number`` is the figure a reader wants first; it proves nothing.

    Raises ``ValueError`` for a ``holds`` or ``fails`` without certificate or with mere
    observation, and for an undecided verdict that carries either.
    """

    condition: str
    status: Status
    evidence: Evidence | None
    certificate: Certificate | None
    reason: str
    selection: tuple[int, ...] | None = None
    loss: str | None = None
    number: str = ""

    def __post_init__(self) -> None:
        proved = self.certificate is not None and self.evidence in (Evidence.EXACT,
                                                                    Evidence.ENCLOSED)
        unproved = self.certificate is None and self.evidence in (None, Evidence.OBSERVED)
        if not (unproved if self.status is Status.UNDECIDED else proved):
            raise ValueError(
                f"{self.condition}: {self.status} with evidence {self.evidence} and "
                f"{'no' if self.certificate is None else 'a'} certificate; holds and fails need "
                "a certificate with exact or enclosed evidence, undecided has neither")

    def __bool__(self) -> bool:
        raise TypeError(
            f"a Verdict has three statuses; ask for .holds, .fails or .undecided of "
            f"{self.condition!r} instead of its truth value")

    @property
    def holds(self) -> bool:
        """Whether the condition is proved to hold."""
        return self.status is Status.HOLDS

    @property
    def fails(self) -> bool:
        """Whether the condition is proved to fail."""
        return self.status is Status.FAILS

    @property
    def undecided(self) -> bool:
        """Whether nothing was proved."""
        return self.status is Status.UNDECIDED


def proved(condition: str, status: Status, certificate: Certificate, reason: str, *,
           evidence: Evidence | None = None, selection: tuple[int, ...] | None = None,
           loss: str | None = None, number: str = "") -> Verdict:
    """A proved verdict; its evidence is the one of its certificate's kind unless given.

    Undecided where the certificate holds a number that checkers do not read, as nobody could check
    it.
    """
    too_long = next((x for x in certificate.numbers() if not is_short(x)), None)
    if too_long is not None:
        return undecided(condition, f"a number of the certificate ({certificate.kind}) has "
                         f"{characters(too_long):,} characters, and a checker reads at most "
                         f"{MAX_CHARACTERS:,}; rescale or round the data", selection=selection,
                         loss=loss, number="number too long")
    evidence = evidence or Evidence(certificate.evidence)
    return Verdict(condition, status, evidence, certificate, reason, selection, loss, number)


def undecided(condition: str, reason: str, *, observed: bool = False,
              selection: tuple[int, ...] | None = None, loss: str | None = None,
              number: str = "") -> Verdict:
    """An undecided verdict; *observed* says that *number* was measured."""
    evidence = Evidence.OBSERVED if observed else None
    return Verdict(condition, Status.UNDECIDED, evidence, None, reason, selection, loss, number)
