"""What a figure of the paper is: trials in blocks, the numbers drawn, a drawing, a caption."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar

from matplotlib.figure import Figure as Canvas

from conditions.verdict import Verdict
from verifier.experiments.workers import Coordinate, Record

Settings = Mapping[str, Any]
Records = Sequence[Record]
Summary = dict[str, Any]

_DRAWS = 2**20
"""More than a block ever needs, of which it rejects some."""


class Figure(ABC):
    """One figure of arXiv 2308.16898 v1, with the paper's number of trials and settings."""

    number: ClassVar[int]
    title: ClassVar[str]
    trials: ClassVar[int]
    settings: ClassVar[Settings]
    """JSON-able."""

    size: ClassVar[tuple[float, float]]
    """Width and height in inches, the caption apart."""

    block: ClassVar[int] = 25
    """How many trials are computed together: descent is fastest on many at once."""

    quick: ClassVar[bool] = False
    """Whether the paper's trials take less than further processes take to start."""

    compute: ClassVar[Callable[..., Record]]
    """(coordinate, seed=…, settings=…) ↦ {"records": […]}: a pure function at module level.

    Where draws are rejected also "rejected", how many for which reason.
    A coordinate is a cell of the grid, the number of its first trial, and how many. The record of
    a trial does not depend on the block that it is in.
    """

    @abstractmethod
    def cells(self, settings: Settings) -> list[Coordinate]:
        """The points of the grid, each of which has all trials."""

    @abstractmethod
    def coordinate(self, record: Record) -> Coordinate:
        """The block that consists of the trial of *record* alone."""

    @abstractmethod
    def summary(self, records: Records, settings: Settings) -> Summary:
        """The numbers that are drawn, JSON-able."""

    @abstractmethod
    def draw(self, canvas: Canvas, records: Records, summary: Summary, settings: Settings) -> None:
        """Draw them."""

    @abstractmethod
    def caption(self, summary: Summary, settings: Settings) -> str:
        """What is shown, what of it is proved and what observed."""

    def blocks(self, settings: Settings, trials: int) -> list[Coordinate]:
        """The coordinates of all trials."""
        return [(*cell, first, min(self.block, trials - first))
                for cell in self.cells(settings) for first in range(0, trials, self.block)]

    def function(self, settings: Settings, seed: int) -> partial[Record]:
        """``compute`` for these settings."""
        return partial(type(self).compute, seed=seed, settings=dict(settings))


def apart(blocks: list[Coordinate], size: int) -> list[Coordinate]:
    """(cell, first, count) with the *first* of each block of *size* trials far from the others."""
    return [(cell, int(first) // size * _DRAWS, count) for cell, first, count in blocks]


def proof(verdict: Verdict, name: str) -> Record:
    """The columns that tell of *verdict*: its status, its evidence and the kind of certificate."""
    return {name: verdict.status.value,
            f"{name}_evidence": None if verdict.evidence is None else verdict.evidence.value,
            f"{name}_certificate": None if verdict.certificate is None
            else verdict.certificate.kind}
