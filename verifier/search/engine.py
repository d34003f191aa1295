"""The search itself: wider and wider families of datasets, screened in floats, decided exactly.

Pass k spends no more than 2^(16 + 2k) places and 2^(2k − 1) CPU seconds on a lattice, so that no
large one keeps others waiting; a lattice that was examined completely is not visited again.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import count

import numpy as np

from conditions.errors import InvalidInput
from conditions.losses import CUBIC
from verifier.claims.case import Case
from verifier.search import screens
from verifier.search.batch import Batch, Size
from verifier.search.choices import descents, losses, variants
from verifier.search.coverage import Coverage, Stage
from verifier.search.guided import LIMITS, limit_cases
from verifier.search.lattice import (
    CHUNK,
    Grid,
    OrthonormalGrid,
    grids,
    orthonormal_grids,
    random_floats,
    random_rationals,
    sizes,
)
from verifier.search.problem import Counterexample, Problem

LARGEST, BOUND = Size(4, 4, 3), 5
_FIRST_PLACES, _FIRST_VISIT = 1 << 16, 0.5
_FIRST_REACH, _REACH = 15, 3
"""Complexity of lattices beyond the simplest: of the first pass, and more in every further one."""
_RANDOM_FROM, _RANDOM_SHARE = 2, 512
_PROOF_SECONDS = 30.0
_FIRST_STEP = 4.0
"""Of descents with a long first step, in margins: how far floats take it."""
_SAMPLED = 1 / 1024

Progress = Callable[[str], None]


@dataclass(frozen=True)
class Result:
    """What a search came to: a counterexample or none, what it covered, and how long it took."""

    problem: Problem
    found: Counterexample | None
    coverage: Coverage
    seconds: float
    seed: int


class _FoundError(Exception):
    """The search ends."""

    def __init__(self, found: Counterexample) -> None:
        super().__init__()
        self.found = found


class _OutOfTimeError(Exception):
    """The seconds are over."""


def search(problem: Problem, *, seconds: float = 60.0, seed: int = 0, size: Size | None = None,
           largest: Size = LARGEST, bound: int = BOUND, progress: Progress | None = None
           ) -> Result:
    """Look for a case that refutes *problem*, from nothing, within *seconds*.

    seed: of everything random. size: search datasets of this size alone; else all up to *largest*.
    bound: of the integers of tokens and heads. progress: told a line now and then. The first
    counterexample found is returned as it is (`verifier.search.shrink` makes it small); the order
    is by growing lattices, so it is a small one.
    """
    began = time.monotonic()
    run = _Run(problem, began + seconds, np.random.default_rng(seed), Coverage(), progress)
    found = None
    try:
        run.all(size, largest, bound)
    except _FoundError as end:
        found = end.found
    except _OutOfTimeError:
        pass
    return Result(problem, found, run.coverage, time.monotonic() - began, seed)


@dataclass(eq=False)
class _Run:
    problem: Problem
    deadline: float
    rng: np.random.Generator
    coverage: Coverage
    progress: Progress | None
    told: float = 0.0
    shuffled: bool = False
    visit: float = 0.0
    leave: float = 0.0

    def all(self, size: Size | None, largest: Size, bound: int) -> None:
        """Every pass over every family; ends by an exception, or when all were complete."""
        named = size or largest
        known: list[Grid | OrthonormalGrid] = [*grids(named, bound)]
        random = [each for each in sizes(named) if size is None or each == size]
        if "orthonormal_tokens" in self.problem.demanded:
            known, random = [*orthonormal_grids()], []
        lattices = [grid for grid in known if size is None or grid.size == size]
        if not lattices:
            raise InvalidInput("size", str(size), "must have n ≥ 1, T ≥ 2 and d ≥ 1, and n = 1, "
                               "T = d ≤ 6 for orthonormal tokens", "give another size")
        first = min(grid.complexity for grid in lattices)
        for k in count():
            places, self.visit = _FIRST_PLACES << 2 * k, _FIRST_VISIT * 4**k
            self.shuffled = k > 0
            for grid in lattices:
                for rank, loss in enumerate(losses(self.problem)):
                    if grid.complexity + 3 * rank - first <= _FIRST_REACH + _REACH * k:
                        self.lattice(grid, loss, places)
            for each in random if k >= _RANDOM_FROM else []:
                for what, draw in (("rationals", random_rationals), ("floats", random_floats)):
                    for loss in losses(self.problem):
                        number = min(places // _RANDOM_SHARE, CHUNK)
                        stage = self.coverage.stage(f"{each} random {what}{self.named(loss)}", None)
                        self.leave = time.process_time() + self.visit
                        self.examine(stage, draw(each, self.rng, number), loss, number)
            if not random and all(
                    self.coverage.stage(self.name(grid, loss), grid.count).exhaustive
                    for grid in lattices for loss in losses(self.problem)):
                return

    def name(self, grid: Grid | OrthonormalGrid, loss: str) -> str:
        """What the family is called."""
        return f"{grid}{self.named(loss)}"

    def lattice(self, grid: Grid | OrthonormalGrid, loss: str, places: int) -> None:
        """Look at a grid, or at all of it if it has so few places, unless that was done."""
        if loss == CUBIC and isinstance(grid, Grid):
            grid = replace(grid, lifted=True)
        name = self.name(grid, loss)
        stage = self.coverage.stage(name, grid.count)
        if stage.exhaustive:
            return
        if grid.count <= places:
            stage = self.coverage.restart(stage)
        self.leave = time.process_time() + self.visit
        for drawn, batch in grid.listed(self.rng, places):
            self.examine(stage, batch, loss, drawn)
            if time.process_time() > self.leave:
                break

    def named(self, loss: str) -> str:
        """What a family's name says of the loss."""
        return f", {loss} loss" if "ℓ" in self.problem.about else ""

    def examine(self, stage: Stage, batch: Batch, loss: str, drawn: int) -> None:
        """Screen a batch, and decide what is left until it is time to leave."""
        self.check_time(stage)
        stage.drawn += drawn
        stage.datasets += len(batch)
        names, kept = self.screened(batch, loss)
        self.coverage.screens = tuple(dict.fromkeys((*self.coverage.screens, *names)))
        stage.screened += len(kept)
        order = self.rng.permutation(len(kept)) if self.shuffled else np.arange(len(kept))
        for k in order.tolist():
            self.check_time(stage)
            if time.process_time() > self.leave:
                return
            self.decide(stage, Case(kept.dataset(k), loss=loss,
                                    skeptical=self.problem.skeptical))

    def screened(self, batch: Batch, loss: str) -> tuple[list[str], Batch]:
        """The datasets of *batch* worth deciding, and the names of the screens."""
        known = screens.hypothesis_screens(set(self.problem.demanded), loss)
        aims = self.aims(loss)
        names = [screen.__name__ for screen in known]
        for screen in known:
            if len(batch):
                batch = batch.take(screen(batch))
        if aims is not None and len(batch):
            hit = np.zeros(len(batch), dtype=bool)
            for aim in aims.values():
                open_ = np.flatnonzero(~hit)
                hit[open_] = aim(batch.take(open_)) if len(open_) else False
            if self.problem.skeptical:
                # Some that show nothing in floats are decided all the same.
                hit |= self.rng.random(len(batch)) < _SAMPLED
            batch = batch.take(hit)
        return [*names, *(aims or ())], batch

    def aims(self, loss: str) -> dict[str, screens.Screen] | None:
        """Screens any of which a dataset must pass for the conclusion to fail; None: no screen."""
        found: dict[str, screens.Screen] = {}
        skeptical = self.problem.skeptical
        for name in self.problem.refuted_by:
            if loss == CUBIC and name in LIMITS | {"no_stationary_point"}:
                found["vanishes_at_zero"] = screens.vanishes_at_zero(loss)
                if name in LIMITS:
                    found["may_stall"] = screens.may_stall
            elif name in LIMITS:
                if (name in ("limit_is", "limit_is_opt")
                        and "starts_at_zero" not in self.problem.demanded):
                    return {"ends_elsewhere": screens.ends_elsewhere(loss, self.rng,
                                                                     skeptical=skeptical)}
                found["vanishes_at_zero"] = screens.vanishes_at_zero(loss)
                if name != "norm_diverges":
                    found["on_stray_ray"] = screens.on_stray_ray(loss)
                if name in ("limit_is", "limit_is_opt"):
                    long = self.problem.demanded & {"first_step_sufficient", "large_first_step"}
                    found["leaves_opt"] = screens.leaves_opt(
                        loss, skeptical=skeptical, first=_FIRST_STEP if long else 0.0)
            elif name == "no_stationary_point":
                found["stationary"] = screens.has_stationary_point(loss, self.rng,
                                                                   skeptical=skeptical)
            elif name == "low_rank_feasible":
                found["no_rank_one_separator"] = screens.no_rank_one_separator(self.rng)
            else:
                return None
        return found

    def decide(self, stage: Stage, base: Case) -> None:
        """Decide every case of a dataset. Raises when one is a counterexample."""
        stage.examined += 1
        if not self.problem.admits(base):
            return
        open_ = False
        for case in self.cases(base):
            outcome = self.problem.check(case)
            if isinstance(outcome, Counterexample):
                raise _FoundError(outcome)
            open_ = open_ or outcome.undecided
            self.check_time(stage)
        stage.undecided += open_

    def cases(self, base: Case) -> Iterator[Case]:
        """The cases of the dataset and loss of *base*."""
        left = max(self.deadline - time.monotonic(), 0.1)
        base = replace(base, seconds=min(_PROOF_SECONDS, left))
        for case in variants(self.problem, base):
            if self.problem.refuted_by & LIMITS:
                yield from limit_cases(self.problem, case, base.seconds)
                if self.problem.refuted_by <= LIMITS:
                    continue
            yield from descents(self.problem, case) if self.problem.about_descent else [case]

    def check_time(self, stage: Stage) -> None:
        """Raise at the deadline; tell the progress now and then."""
        now = time.monotonic()
        if now > self.deadline:
            raise _OutOfTimeError
        if self.progress is not None and now > self.told + 0.5:
            self.told = now
            self.progress(f"{stage.name}: {stage.examined:,} examined; "
                          f"{self.coverage.summary()}")
