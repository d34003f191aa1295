"""Runs of gradient descent as values: `descend` takes datasets and returns what happened."""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np

from conditions.dataset import AttentionDataset, FloatArray
from conditions.errors import InvalidInput
from verifier.descent.loss import loss_named
from verifier.descent.packing import LARGEST_NORM, check_magnitudes
from verifier.descent.rules import rule_named
from verifier.descent.schedule import Outcome, Settings, Trial, drive
from verifier.descent.selected import selected_tokens

_ENGINES = ("auto", "lanes", "blas")


@dataclass(frozen=True, eq=False)
class Run:
    """What one run of gradient descent did; it proves nothing.

    ``start`` and ``final`` are W(0) and W(``iterations``), d × d, read-only; ``iterations``
    counts the steps taken. ``selected`` is the argmax token of each sample at ``final``, lowest
    index on exact ties, decided exactly for the float matrix ``final``. ``kept`` holds (k, W(k))
    for the requested k ≤ ``iterations``, in increasing order.

    A ``stationary`` run may have met ∇L = 0 or a step below rounding; which, is told by
    ``gradient(dataset, run.final, run.loss).log_norm``.
    """

    rule: str
    step: float
    loss: str
    iterations: int
    start: FloatArray
    final: FloatArray
    selected: tuple[int, ...]
    outcome: Outcome
    kept: tuple[tuple[int, FloatArray], ...] = ()

    @property
    def norms(self) -> tuple[float, ...]:
        """‖W(k)‖_F of the kept iterates."""
        return tuple(float(np.linalg.norm(W)) for _, W in self.kept)

    def to_json(self) -> dict[str, Any]:
        """The ``run`` object of docs/certificates.md; its numbers are hexadecimal floats."""
        return {
            "rule": self.rule, "step": self.step.hex(), "loss": self.loss,
            "iterations": self.iterations, "selected": list(self.selected),
            "outcome": self.outcome.value,
            "start": [[float(x).hex() for x in row] for row in self.start],
            "final": [[float(x).hex() for x in row] for row in self.final]}


@overload
def descend(datasets: AttentionDataset, *, rule: str = ..., step: float = ..., loss: str = ...,
            iterations: int = ..., start: Any = ..., keep: Iterable[int] | None = ...,
            engine: str = ..., threads: int | None = ..., seconds: float | None = ...,
            stop: Callable[[], bool] | None = ..., progress: bool = ...) -> Run: ...


@overload
def descend(datasets: Sequence[AttentionDataset], *, rule: str = ..., step: float = ...,
            loss: str = ..., iterations: int = ..., start: Any = ...,
            keep: Iterable[int] | None = ..., engine: str = ..., threads: int | None = ...,
            seconds: float | None = ..., stop: Callable[[], bool] | None = ...,
            progress: bool = ...) -> list[Run]: ...


def descend(datasets: AttentionDataset | Sequence[AttentionDataset], *,
            rule: str = "normalized", step: float = 0.1, loss: str = "logistic",
            iterations: int = 2000, start: Any = None, keep: Iterable[int] | None = None,
            engine: str = "auto", threads: int | None = None, seconds: float | None = None,
            stop: Callable[[], bool] | None = None, progress: bool = False
            ) -> Run | list[Run]:
    """Run gradient descent on W for one dataset (a ``Run``) or several (a ``list[Run]``).

    rule: ``"normalized"`` W ← W − η∇L/‖∇L‖_F, or ``"plain"`` W ← W − η∇L; step: η > 0.
    start: None for 0, one d × d matrix for all datasets, or one per dataset.
    keep: steps k ≤ iterations whose W(k) to keep.
    engine: ``"lanes"`` (compiled, eight datasets at a time), ``"blas"`` (numpy), or ``"auto"``,
    which chooses by size. They agree to rounding.
    threads: workers, by default one per CPU; the result does not depend on it.
    seconds, stop: end after a time, or once ``stop()`` is true (asked every 0.05 s); an interrupt
    from the keyboard does the same. The iterates reached are returned as ``stopped``.
    progress: show a bar in runs of more than a second, if stderr is a terminal.

    Nothing is lost to underflow or saturation at any ‖W‖: the direction of every step is that of
    the gradient up to about u‖W‖‖x‖‖z‖, the rounding of the logits, u = 2⁻⁵³ (see
    `verifier.descent.gradient`). Datasets may differ in shape. Raises ``InvalidInput``.

    >>> data = AttentionDataset.build([[[1, 0], [0, 0]]], [1], [[1, 0]], [1, 3])
    >>> run = descend(data, iterations=50)
    >>> run.outcome.value, run.iterations, run.selected, run.final.round(6).tolist()
    ('completed', 50, (0,), [[5.0, 0.0], [0.0, 0.0]])
    """
    batch = [datasets] if isinstance(datasets, AttentionDataset) else list(datasets)
    length = _count(iterations, "iterations")
    settings = Settings(rule_named(rule), _positive(step, "step"), loss_named(loss), length,
                        _kept_steps(keep, length))
    if engine not in _ENGINES:
        raise InvalidInput("engine", engine, f"must be one of {', '.join(_ENGINES)}",
                           "choose an engine")
    for k, dataset in enumerate(batch):
        check_magnitudes(dataset, f"datasets[{k}]")
    trials = [Trial(dataset, W)
              for dataset, W in zip(batch, _starts(start, batch), strict=True)]
    drive(trials, settings, engine=engine, stop=stop, progress=progress,
          threads=None if threads is None else _count(threads, "threads", least=1),
          seconds=None if seconds is None else _positive(seconds, "seconds"))
    runs = [_run(trial, settings) for trial in trials]
    return runs[0] if isinstance(datasets, AttentionDataset) else runs


def _run(trial: Trial, settings: Settings) -> Run:
    for W in (trial.start, trial.final, *(W for _, W in trial.kept)):
        W.flags.writeable = False
    return Run(settings.rule.name, settings.step, settings.loss.name, trial.steps, trial.start,
               trial.final, selected_tokens(trial.dataset, trial.final), trial.outcome,
               tuple(trial.kept))


# Input --------------------------------------------------------------------------------------


def _positive(value: object, name: str) -> float:
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise InvalidInput(name, value, "must be a number", "give a positive number")
    if not 0 < float(value) < math.inf:
        raise InvalidInput(name, value, "must be positive and finite", "give a positive number")
    return float(value)


def _count(value: object, name: str, least: int = 0) -> int:
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or value < least:
        raise InvalidInput(name, value, f"must be an integer ≥ {least}", "correct it")
    return int(value)


def _kept_steps(keep: Iterable[int] | None, iterations: int) -> frozenset[int]:
    steps = frozenset(_count(k, f"keep[{j}]") for j, k in enumerate(keep or ()))
    if steps and max(steps) > iterations:
        raise InvalidInput("keep", max(steps), f"must not exceed iterations = {iterations}",
                           "keep earlier steps or run longer")
    return steps


def _starts(start: Any, batch: Sequence[AttentionDataset]) -> list[FloatArray]:
    """One W(0) per dataset, each its own copy."""
    if start is None:
        return [np.zeros((dataset.d, dataset.d)) for dataset in batch]
    shared = isinstance(start, np.ndarray) and start.ndim == 2
    given = [start] * len(batch) if shared else list(start)
    if len(given) != len(batch):
        raise InvalidInput("start", f"{len(given)} matrices",
                           f"must be one d × d array, or one matrix per dataset ({len(batch)})",
                           "give an array of shape (d, d) or (B, d, d)")
    return [_start(W, dataset.d, f"start[{k}]")
            for k, (W, dataset) in enumerate(zip(given, batch, strict=True))]


def _start(given: Any, d: int, name: str) -> FloatArray:
    try:
        W = np.array(given, dtype=float, order="C")
    except (TypeError, ValueError):
        raise InvalidInput(name, given, f"must be a {d} × {d} matrix of numbers",
                           "correct it") from None
    if W.shape != (d, d):
        raise InvalidInput(name, f"shape {W.shape}", f"must have shape ({d}, {d})", "correct it")
    if not np.isfinite(W).all() or not np.abs(W).max() < LARGEST_NORM / d:
        raise InvalidInput(name, given, "must be finite, with entries below 2^500/d",
                           "choose a start of smaller norm")
    return W
