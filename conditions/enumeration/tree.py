"""The walk over the tree of selections, vertex by vertex in preorder, with its certificate.

A vertex of depth k fixes the tokens of samples 0..k−1. It is closed at once if their constraints
leave no exceptional completion. Leaves are closed by the compiled batch where it can, else one by
one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from math import prod
from time import monotonic

from conditions.certificates import DirectionTree, Obstruction
from conditions.certificates.enumeration import BRANCH, OPTIMAL, Node
from conditions.enumeration.batch import Batch, batch
from conditions.enumeration.obstruction import Obstructions
from conditions.enumeration.problem import Examined, Problem
from conditions.full_rank import independence
from conditions.selection import Selection

_BLOCK = 1024
_COMPILED_FROM = 1500
"""Leaves from which compiled code pays for its start-up."""


@dataclass(frozen=True)
class Progress:
    """How many of all ``total`` selections are decided, and how many exceptional ones were met."""

    closed: int
    total: int
    exceptional: int

    @property
    def share(self) -> float:
        """The share of the tree that is closed, rounded down so that 1.0 means all."""
        return self.closed * 10**6 // self.total / 10**6

    def __str__(self) -> str:
        return f"{self.closed} of {self.total} selections ({100 * self.share:.4g} %)"


class Search:
    """A resumable walk: consume `steps` as far as wanted, then read the rest.

    ``found`` are the exceptional selections so far, in the order of the tree. *compiled* chooses
    whether leaves go through compiled code; by default where there are many.
    """

    def __init__(self, problem: Problem, *, compiled: bool | None = None) -> None:
        self.problem = problem
        self.total = prod(problem.dataset.lengths)
        self.closed = 0
        self.found: list[Examined] = []
        self._compiled = self.total >= _COMPILED_FROM if compiled is None else compiled
        self._nodes: list[Node] = []

    @property
    def progress(self) -> Progress:
        """What was reached."""
        return Progress(self.closed, self.total, len(self.found))

    @property
    def complete(self) -> bool:
        """Whether every selection is decided."""
        return self.closed == self.total

    @property
    def certificate(self) -> DirectionTree | None:
        """The proof of completeness, or None while the walk is not."""
        if not self.complete:
            return None
        return DirectionTree(tuple(each.selection for each in self.found), tuple(self._nodes))

    def steps(self) -> Iterator[Progress]:
        """Walk on; yields often, so that the caller can stop. Use one iterator a search."""
        lengths = self.problem.dataset.lengths
        waiting: list[tuple[int, Selection]] = []
        stack: list[Selection] = [()]
        while stack:
            prefix = stack.pop()
            depth = len(prefix)
            if depth == len(lengths):
                waiting.append((len(self._nodes), prefix))
                self._nodes.append(OPTIMAL)
                if len(waiting) == _BLOCK:
                    yield from self._resolve(waiting)
                    waiting = []
            elif (obstruction := self._obstruction(prefix)) is not None:
                self._nodes.append(obstruction)
                self.closed += prod(lengths[depth:])
                yield self.progress
            else:
                self._nodes.append(BRANCH)
                stack.extend((*prefix, t) for t in reversed(range(lengths[depth])))
        yield from self._resolve(waiting)

    def _resolve(self, leaves: list[tuple[int, Selection]]) -> Iterator[Progress]:
        """Replace the placeholders of *leaves* by their proofs."""
        exempt = self.problem.exempt
        self.closed += sum(selection == exempt for _, selection in leaves)
        leaves = [leaf for leaf in leaves if leaf[1] != exempt]
        texts: list[str | None] = [None] * len(leaves)
        if leaves and self._batch is not None:
            texts = self._batch.close([selection for _, selection in leaves])
        for (position, _), text in zip(leaves, texts, strict=True):
            if text is not None:
                self._nodes[position] = text
                self.closed += 1
        yield self.progress
        for (position, selection), text in zip(leaves, texts, strict=True):
            if text is None:
                examined = self.problem.examine(selection)
                self._nodes[position] = examined.proof
                self.closed += 1
                if examined.exceptional:
                    self.found.append(examined)
                yield self.progress

    def _obstruction(self, prefix: Selection) -> Obstruction | None:
        """A proof that no completion of *prefix* is exceptional, where one is looked for.

        Independent features leave every selection feasible, and generic ones no obstruction.
        """
        return self._obstructions.find(prefix) if prefix and self._obstructions else None

    @cached_property
    def _obstructions(self) -> Obstructions | None:
        if independence(self.problem.dataset) is not None:
            return None
        return Obstructions(self.problem)

    @cached_property
    def _batch(self) -> Batch | None:
        if not self._compiled:
            return None
        return batch(self.problem.dataset, sorted(self.problem.tested))


def run(search: Search, *, seconds: float | None = None,
        progress: Callable[[Progress], None] | None = None,
        enough: Callable[[Search], bool] | None = None) -> None:
    """Walk until the tree is closed, *seconds* are over, or *enough* says so."""
    deadline = None if seconds is None else monotonic() + seconds
    for reached in search.steps():
        if progress is not None:
            progress(reached)
        if enough is not None and enough(search):
            return
        if deadline is not None and monotonic() >= deadline and not search.complete:
            return
