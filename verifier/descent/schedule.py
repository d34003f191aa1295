"""Trials in blocks, blocks over threads: who computes what, when to look up, when to stop."""

from __future__ import annotations

import os
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from contextlib import ExitStack
from dataclasses import dataclass, field
from enum import StrEnum

from rich.console import Console
from rich.progress import Progress

from conditions.dataset import AttentionDataset
from verifier.descent.engines import BlasEngine, Engine, LaneEngine
from verifier.descent.heads import LINEAR_HEAD, Head
from verifier.descent.lanes import LANES
from verifier.descent.loss import Loss
from verifier.descent.parameterization import Factors, Parameterization
from verifier.descent.rules import StepRule

_PIECE_SECONDS = 0.05
_SILENT_SECONDS = 1.0
_FIRST_PIECE = 64


class Outcome(StrEnum):
    """How a run ended."""

    COMPLETED = "completed"
    """All iterations were taken."""
    STATIONARY = "stationary"
    """The next step changes no factor in float64: its gradient is 0, or the step below rounding."""
    STOPPED = "stopped"
    """Ended early by the caller, an interrupt or the time limit, or because the next step would
    have taken ‖W‖_F past 2^500, or ‖K‖_F + ‖Q‖_F past 2^60."""


@dataclass(frozen=True)
class Settings:
    """What all trials of a batch share. ``keep`` is a set of steps ≤ ``iterations``."""

    parameterization: Parameterization
    rule: StepRule
    step: float
    penalty: float
    resolution: float
    loss: Loss
    iterations: int
    keep: frozenset[int]


@dataclass(eq=False)
class Trial:
    """One dataset's run: where it starts, then what became of it (see `Run`)."""

    dataset: AttentionDataset
    start: Factors
    head: Head = LINEAR_HEAD
    final: Factors = field(init=False)
    steps: int = 0
    outcome: Outcome = Outcome.STOPPED
    kept: list[tuple[int, Factors]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.final = self.start


@dataclass(eq=False)
class Block:
    """Trials that advance together in one engine; ``done`` counts the steps they were given."""

    trials: Sequence[Trial]
    engine: type[LaneEngine] | type[BlasEngine]
    done: int = 0

    def run(self, settings: Settings, cancelled: Callable[[], bool]) -> None:
        """Advance to the end, or until *cancelled*; write the results into the trials."""
        engine: Engine = self.engine([trial.dataset for trial in self.trials],
                                     [trial.start for trial in self.trials],
                                     [trial.head for trial in self.trials],
                                     settings.parameterization, settings.rule, settings.step,
                                     settings.penalty, settings.resolution, settings.loss)
        piece = _FIRST_PIECE
        for milestone in sorted({*settings.keep, settings.iterations}):
            while self.done < milestone and not cancelled() and self._moving(engine):
                taken = min(piece, milestone - self.done)
                began = time.monotonic()
                engine.advance(taken)
                self.done += taken
                elapsed = max(time.monotonic() - began, 1e-6)
                piece = max(1, int(taken * min(8.0, _PIECE_SECONDS / elapsed)))
            if milestone in settings.keep:
                for k, trial in enumerate(self.trials):
                    if engine.steps(k) == milestone:
                        trial.kept.append((milestone, engine.iterate(k)))
        for k, trial in enumerate(self.trials):
            trial.final, trial.steps = engine.iterate(k), engine.steps(k)
            trial.outcome = _outcome(engine, k, settings.iterations)
        self.done = settings.iterations

    def _moving(self, engine: Engine) -> bool:
        return any(engine.moving(k) for k in range(len(self.trials)))


def _outcome(engine: Engine, trial: int, iterations: int) -> Outcome:
    if engine.steps(trial) == iterations:
        return Outcome.COMPLETED
    if engine.moving(trial) or engine.overflowed(trial):
        return Outcome.STOPPED
    return Outcome.STATIONARY


# Choice of engine ---------------------------------------------------------------------------


def blocks(trials: Sequence[Trial], engine: str) -> list[Block]:
    """All *trials*, in blocks for ``"lanes"``, ``"blas"``, or what ``"auto"`` chooses by size."""
    by_shape: defaultdict[tuple[object, ...], list[Trial]] = defaultdict(list)
    for trial in trials:
        by_shape[*trial.start[0].shape, trial.head.code, trial.head.size].append(trial)
    result = []
    for members in by_shape.values():
        # Similar shapes side by side need little padding; large ones first fill the threads.
        members.sort(key=lambda trial: (-trial.dataset.n, -max(trial.dataset.lengths)))
        for first in range(0, len(members), LANES):
            group = members[first:first + LANES]
            lanes = engine == "lanes" or (engine == "auto" and _lanes_faster(group))
            if lanes and group[0].head.code is not None:
                result.append(Block(group, LaneEngine))
            else:
                result.extend(Block([trial], BlasEngine) for trial in group)
    return result


def _lanes_faster(group: Sequence[Trial]) -> bool:
    """Whether a step of the group is faster in lanes; times in µs, fitted to measurements.

    `benchmarks/descent.py --crossover` measures both sides.
    """
    n = max(trial.dataset.n for trial in group)
    T = max(max(trial.dataset.lengths) for trial in group)
    d, columns = group[0].start[0].shape
    passes = 2 if len(group[0].start) == 1 else 5
    products = 2 * n * T * d + passes * n * d * columns + 2 * n * d * group[0].head.size
    return bool(0.0009 * products < len(group) * (55 + 0.0002 * products))


# Driving ------------------------------------------------------------------------------------


def drive(trials: Sequence[Trial], settings: Settings, *, engine: str, threads: int | None,
          seconds: float | None, stop: Callable[[], bool] | None, progress: bool) -> None:
    """Run every trial; results are written into the trials. See `verifier.descent.run.descend`.

    Blocks are independent and their arithmetic is fixed, so neither the number of threads nor
    the cutting into pieces changes a bit of the result.
    """
    work = blocks(trials, engine)
    limit = None if seconds is None else time.monotonic() + seconds
    cancel = threading.Event()

    def cancelled() -> bool:
        return cancel.is_set() or (limit is not None and time.monotonic() >= limit)

    workers = max(1, min(threads or os.cpu_count() or 1, len(work)))
    with ThreadPoolExecutor(workers) as pool, ExitStack() as stack:
        futures = [pool.submit(block.run, settings, cancelled) for block in work]
        bar = _Bar(stack, work, settings.iterations) if progress else None
        try:
            _watch(futures, cancel, stop, bar)
        except KeyboardInterrupt:
            # An interrupt is an outcome: the workers return the iterates that they reached.
            cancel.set()
            wait(futures)
        except BaseException:
            cancel.set()
            raise
        for future in futures:
            future.result()


def _watch(futures: Sequence[Future[None]], cancel: threading.Event,
           stop: Callable[[], bool] | None, bar: _Bar | None) -> None:
    """Wait for *futures*; ask *stop* and move *bar* meanwhile."""
    pending = set(futures)
    while pending:
        done, pending = wait(pending, timeout=_PIECE_SECONDS, return_when=FIRST_EXCEPTION)
        if any(future.exception() for future in done):
            cancel.set()
        if stop is not None and stop():
            cancel.set()
        if bar is not None:
            bar.update()


class _Bar:
    """A progress bar, if stderr is a terminal, once a run has taken more than a second."""

    def __init__(self, stack: ExitStack, work: Sequence[Block], iterations: int) -> None:
        self._stack, self._work = stack, work
        self._total = iterations * sum(len(block.trials) for block in work)
        self._appears = time.monotonic() + _SILENT_SECONDS
        self._progress: Progress | None = None

    def update(self) -> None:
        if self._progress is None:
            if time.monotonic() < self._appears:
                return
            console = Console(stderr=True)
            self._progress = self._stack.enter_context(
                Progress(console=console, transient=True, disable=not console.is_terminal))
            self._task = self._progress.add_task("gradient descent", total=self._total)
        done = sum(block.done * len(block.trials) for block in self._work)
        self._progress.update(self._task, completed=done)
