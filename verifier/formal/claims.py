"""A proved verdict as a statement of theories/Statements.v and an application of a theorem.

`TABLE` says which kinds of certificate are covered, by condition and status; a function of this
package makes a `Claim` of each. Nothing here is trusted: a wrong claim does not pass Coq, and what
is claimed is read in Claims.v.
"""

from __future__ import annotations

from dataclasses import dataclass

from conditions.certificates import Certificate
from conditions.dataset import AttentionDataset
from conditions.selection import Features, Selection, features
from conditions.verdict import Verdict
from verifier.formal import spelling

MAX_BITS = 5000
"""Certificates of larger numbers are replaced by enclosures: Coq's stack is finite."""


@dataclass(frozen=True)
class Definition:
    """``Definition name : type := literal.``"""

    name: str
    type: str
    literal: str


@dataclass(frozen=True)
class Claim:
    """A statement about ``data``, and how it follows.

    statement: a proposition over ``data``, the selection and ``definitions``, which are part of
    it. theorem: its name in the module of the library. arguments: what comes after ``data`` (and
    the selection, if there is one): names of definitions or literals; ``certificate`` holds the
    definitions that the proof alone needs. weaker: how the statement falls short of the verdict.
    """

    statement: str
    module: str
    theorem: str
    arguments: tuple[str, ...]
    certificate: tuple[Definition, ...] = ()
    definitions: tuple[Definition, ...] = ()
    weaker: str = ""


class NotExportedError(Exception):
    """Why a verdict has no claim."""


@dataclass(frozen=True)
class Subject:
    """What a claim is about, its number, and the name of its selection in Claims.v if any."""

    dataset: AttentionDataset
    verdict: Verdict
    number: int
    selection_name: str = ""

    @property
    def certificate(self) -> Certificate:
        """The certificate of the verdict, which is proved."""
        assert self.verdict.certificate is not None
        return self.verdict.certificate

    @property
    def selection(self) -> Selection:
        """The selection; token 0 everywhere for a verdict without one."""
        return self.verdict.selection or (0,) * self.dataset.n

    @property
    def features(self) -> Features:
        """The features of the selection."""
        return features(self.dataset, self.selection)

    @property
    def holds(self) -> bool:
        """Whether the verdict is that the condition holds."""
        return self.verdict.holds

    def says(self, predicate: str, *arguments: str) -> str:
        """``predicate data alpha arguments``."""
        words = (predicate, "data", self.selection_name, *arguments)
        return " ".join(word for word in words if word)


def matrix_definition(name: str, rows: spelling.IntegerMatrix) -> Definition:
    """A matrix of integers."""
    return Definition(name, "list (list Z)", spelling.matrix(rows))


def demand_bits(numbers: spelling.IntegerMatrix) -> None:
    """Refuse numbers that Coq's stack may not hold. Raises `NotExportedError`."""
    bits = max((abs(x).bit_length() for row in numbers for x in row), default=0)
    if bits > MAX_BITS:
        raise NotExportedError(f"a number of {bits} bits is too long for Coq")
