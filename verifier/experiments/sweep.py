"""A sweep: questions asked of random datasets over a grid, every trial a function of its place.

`Sweep.run` decides them by `parallel.run_trials`, so a sweep may run anywhere, be killed at any
moment and be continued. Where descent is run, trials of a cell run in batches; neither a batch nor
the number of trials changes a bit of any trial.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from conditions.dataset import AttentionDataset
from conditions.errors import InvalidInput, unknown
from conditions.exact.numbers import rational, to_float
from conditions.predicted_direction import correlation, nuclear_comparison
from conditions.selection import optimal_selection
from conditions.separation import nuclear
from conditions.separation.frobenius import Infeasible, solve
from verifier.claims import Case
from verifier.claims.expression import Memo
from verifier.claims.steps import longest_lemma4_step
from verifier.descent import FactoredRun, Head, QuadraticHead, Run, descend
from verifier.experiments.asks import Answer, Ask
from verifier.experiments.grid import MAX_TRIALS, Cell
from verifier.experiments.parallel import ERROR, run_trials
from verifier.experiments.samples import SAMPLES
from verifier.experiments.workers import Coordinate, Record
from verifier.io.files import Path
from verifier.multi_token import selected_sets

SELECTIONS = ("opt", "gd")
_BATCH = 16
_DIGITS = 10
_DEFAULT_STEP = "1/10"


@dataclass(frozen=True)
class Settings:
    """What all trials of a sweep share.

    ``asks``: texts of questions. ``data``: one of `SAMPLES`. ``selection``: α is ``opt``, or
    ``gd``, the tokens that descent selects (observed; what is proved of them is proved). ``step``:
    η as text, exact; by default 1/10, and for plain descent on W the 2^−k with η ≤ 1/L_W < 2η.
    ``seconds``: budget of each search for a proof. ``observe``: run descent for that many
    ``iterations`` and keep what it shows. Raises ``InvalidInput``.
    """

    asks: tuple[str, ...] = ()
    data: str = "sphere"
    seed: int = 0
    selection: str = "opt"
    step: str | None = None
    seconds: float = 10.0
    observe: bool = False
    iterations: int = 2000

    def __post_init__(self) -> None:
        for name, known in (("data", tuple(SAMPLES)), ("selection", SELECTIONS)):
            if getattr(self, name) not in known:
                raise unknown(name, getattr(self, name), known)
        for name, least in (("seed", 0), ("iterations", 1)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or not least <= value < 2**63:
                raise InvalidInput(name, value, f"must be an integer ≥ {least}, below 2^63",
                                   "correct it")
        if self.step is not None and rational(self.step, "step") <= 0:
            raise InvalidInput("step", self.step, "must be positive", "give a number above 0")
        if not 0 <= self.seconds < float("inf"):
            raise InvalidInput("seconds", self.seconds, "must be a finite number ≥ 0",
                               "give a budget")
        if not self.asks and not self.observe:
            raise InvalidInput("ask", None, "must be given unless descent is observed",
                               "e.g. --ask feasible, or --observe")
        if len(set(self.asks)) < len(self.asks):
            raise InvalidInput("ask", list(self.asks), "must not be repeated", "drop one")


@dataclass(frozen=True)
class Observed:
    """What a run showed; nothing of it is proved.

    ``selects_opt`` is None where there are no scores, ``correlation`` (of W with W^mm of the tokens
    selected, or of K Qᵀ with one least nuclear norm) where no such matrix exists.
    """

    outcome: str
    steps: int
    selected: tuple[int, ...]
    selects_opt: bool | None
    correlation: float | None


@dataclass(frozen=True)
class Trial:
    """One trial: ``dataset`` is the start of its fingerprint, ``error`` why there are no answers.

    ``answers`` and ``seconds`` are in the order of the questions.
    """

    cell: Cell
    number: int
    dataset: str = ""
    answers: tuple[Answer, ...] = ()
    seconds: tuple[float, ...] = ()
    observed: Observed | None = None
    error: str = ""


@dataclass(frozen=True)
class Sweep:
    """``trials`` of every one of ``cells``. Raises ``InvalidInput`` for what has no meaning."""

    cells: tuple[Cell, ...]
    trials: int
    settings: Settings
    asks: tuple[Ask, ...] = field(init=False)

    def __post_init__(self) -> None:
        if isinstance(self.trials, bool) or not isinstance(self.trials, int) or self.trials < 1:
            raise InvalidInput("trials", self.trials, "must be an integer ≥ 1", "correct it")
        if self.trials * len(self.cells) > MAX_TRIALS:
            raise InvalidInput("trials", self.trials * len(self.cells),
                               f"must be at most {MAX_TRIALS:,} over all cells",
                               "split the sweep")
        object.__setattr__(self, "asks", tuple(map(Ask.of, self.settings.asks)))
        for cell in self.cells:
            for ask in self.asks:
                ask.require(cell.head_name, cell.parameterization)
            _check(cell, self.settings, self.asks)

    def run(self, *, jobs: int | None = None, cluster: str | None = None,
            journal: Path | None = None, progress: bool = False) -> tuple[Trial, ...]:
        """All trials, cell by cell; the parameters are those of `parallel.run_trials`.

        A trial that keeps ending its worker has an ``error``; the others of its batch do not.
        """
        function = functools.partial(sweep_batch, **asdict(self.settings))
        where: dict[str, Any] = {"jobs": jobs, "cluster": cluster, "journal": journal,
                                 "progress": progress}
        size = _BATCH if self.descends else 1
        places: list[Coordinate] = [(*cell.values, k, min(k + size, self.trials))
                                    for cell in self.cells for k in range(0, self.trials, size)]
        records = dict(zip(places, run_trials(function, places, **where), strict=True))
        single = {place: [(*place[:-2], k, k + 1) for k in _numbers(place)]
                  for place, record in records.items() if ERROR in record}
        alone = [each for group in single.values() if len(group) > 1 for each in group]
        records.update(zip(alone, run_trials(function, alone, **where), strict=True))
        return tuple(trial for place in places for part in single.get(place, [place])
                     for trial in _trials(part, records[part]))

    @property
    def descends(self) -> bool:
        """Whether descent is run."""
        return _descends(self.settings, self.asks)

    def dataset(self, cell: int, trial: int) -> tuple[AttentionDataset, Head, Any]:
        """The dataset, head and start of one trial, drawn again. Raises ``InvalidInput``."""
        for name, value, limit in (("cell", cell, len(self.cells)), ("trial", trial, self.trials)):
            if not 0 <= value < limit:
                raise InvalidInput(name, value, f"must be in 0..{limit - 1}", "count from 0")
        drawn, seed = self.cells[cell], self.settings.seed
        return (drawn.dataset(self.settings.data, seed, trial), drawn.prediction_head(seed, trial),
                drawn.start(seed, trial))


def _descends(settings: Settings, asks: Sequence[Ask]) -> bool:
    return (settings.observe or settings.selection == "gd"
            or any(ask.about("O_i") for ask in asks))


def _check(cell: Cell, settings: Settings, asks: Sequence[Ask]) -> None:
    """Refuse, by name, a cell in which something asked for has no meaning."""
    if settings.selection == "opt" and cell.head_name != "linear":
        raise InvalidInput("selection", "opt", "optimal tokens need the scores of the linear head; "
                           f"the {cell.head_name} head has none", "choose gd")
    if _descends(settings, asks) and cell.rule == "flow":
        raise InvalidInput("rule", "flow", "gradient flow is not run",
                           "choose another rule, or ask nothing that needs a run")
    if cell.parameterization == "KQ" and not _descends(settings, asks):
        raise InvalidInput("parameterization", "KQ", "changes nothing without a run",
                           "observe descent, or let it select (selection gd)")
    for ask in asks:
        if ask.about("m") and not cell.m:
            raise InvalidInput("ask", ask.text, "needs m, the columns of K and Q", "give m")


# One batch ----------------------------------------------------------------------------------


def sweep_batch(place: Coordinate, **settings: Any) -> Record:
    """The trials first, …, last − 1 of a cell: ``{"trials": […]}``, as JSON.

    *place* is the values of a `Cell`, then first and last; *settings* are those of `Settings`.
    """
    chosen = Settings(**{**settings, "asks": tuple(settings["asks"])})
    cell, asks = Cell.of(place[:-2]), [Ask.of(text) for text in chosen.asks]
    numbers = _numbers(place)
    cases = [_case(cell, chosen, k) for k in numbers]
    runs: Sequence[Run | None] = [None] * len(cases)
    if _descends(chosen, asks):
        runs = _runs(cell, chosen, cases, numbers)
    return {"trials": [_record(cell, chosen, asks, case, run)
                       for case, run in zip(cases, runs, strict=True)]}


def _numbers(place: Coordinate) -> range:
    """The trials of a batch."""
    return range(int(place[-2]), int(place[-1]))


def _case(cell: Cell, settings: Settings, trial: int) -> Case:
    """The case of a trial, with α = opt."""
    head = cell.prediction_head(settings.seed, trial)
    factored = cell.parameterization == "KQ"
    case = Case(cell.dataset(settings.data, settings.seed, trial), loss=cell.loss, rule=cell.rule,
                rank=cell.m or (cell.d if factored else None), seconds=settings.seconds,
                lam=head.lam if isinstance(head, QuadraticHead) and head.lam > 0 else None)
    if cell.rule == "flow":
        return case
    if settings.step is not None:
        return case.with_step(settings.step)
    if cell.rule == "plain" and not factored and cell.head_name == "linear":
        return case.with_step(longest_lemma4_step(case))
    return case.with_step(_DEFAULT_STEP)


def _runs(cell: Cell, settings: Settings, cases: Sequence[Case],
          numbers: Sequence[int]) -> list[Run]:
    """A run of every case, those of equal steps together."""
    steps = [to_float(rational(_DEFAULT_STEP) if case.step is None else case.step)
             for case in cases]
    runs: dict[int, Run] = {}
    for step in dict.fromkeys(steps):
        group = [j for j, each in enumerate(steps) if each == step]
        drawn = [cell.start(settings.seed, numbers[j]) for j in group]
        # One engine, whatever the size of a batch: its lanes do not see each other.
        found = descend([cases[j].dataset for j in group], engine="lanes", threads=1,
                        parameterization=cell.parameterization, rule=cell.rule, step=step,
                        loss=cell.loss, iterations=settings.iterations,
                        head=[cell.prediction_head(settings.seed, numbers[j]) for j in group],
                        start=None if cell.parameterization == "W" else drawn)
        runs.update(zip(group, found, strict=True))
    return [runs[j] for j in range(len(cases))]


def _record(cell: Cell, settings: Settings, asks: Sequence[Ask], case: Case,
            run: Run | None) -> Record:
    if run is not None:
        case = replace(case, token_sets=selected_sets(case.dataset, run.final).sets)
        if settings.selection == "gd":
            case = case.with_selection(run.selected)
    memo: Memo = {}
    answers, seconds = [], []
    for ask in asks:
        began = time.perf_counter()
        answers.append(ask.answer(case, memo))
        seconds.append(round(time.perf_counter() - began, 6))
    record: Record = {"dataset": case.dataset.fingerprint[:16], "answers": answers,
                      "seconds": seconds}
    if settings.observe and run is not None:
        record["observed"] = asdict(_observed(cell, case.dataset, run))
    return record


def _observed(cell: Cell, dataset: AttentionDataset, run: Run) -> Observed:
    opt = run.selected == optimal_selection(dataset) if cell.head_name == "linear" else None
    value: float | None = None
    if isinstance(run, FactoredRun):
        optimum = nuclear.solve(dataset, run.selected)
        if optimum is not None and not isinstance(optimum, Infeasible):
            value = nuclear_comparison(optimum, run.final).correlation
    else:
        outcome = solve(dataset, run.selected)
        if not isinstance(outcome, Infeasible) and np.isfinite(outcome.float_W).all():
            value = correlation(run.final, outcome.float_W)
    return Observed(str(run.outcome), run.iterations, run.selected, opt,
                    None if value is None else round(value, _DIGITS))


def _trials(place: Coordinate, record: Record) -> Iterator[Trial]:
    """The trials of a batch from its record."""
    cell, numbers = Cell.of(place[:-2]), _numbers(place)
    if ERROR in record:
        yield from (Trial(cell, k, error=record[ERROR]) for k in numbers)
        return
    for k, one in zip(numbers, record["trials"], strict=True):
        seen = one.get("observed")
        yield Trial(cell, k, one["dataset"], tuple(tuple(a) for a in one["answers"]),
                    tuple(one["seconds"]),
                    None if seen is None else Observed(**{**seen, "selected": tuple(
                        seen["selected"])}))
