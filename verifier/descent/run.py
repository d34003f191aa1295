"""Runs of gradient descent as values: `descend` takes datasets and returns what happened."""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, overload

import numpy as np

from conditions.dataset import AttentionDataset, FloatArray
from conditions.errors import InvalidInput, unknown
from verifier.descent.heads import LINEAR_HEAD, Head, LinearHead, head_to_json, heads_for
from verifier.descent.loss import loss_named
from verifier.descent.packing import check_magnitudes
from verifier.descent.parameterization import parameterization_named
from verifier.descent.rules import rule_named
from verifier.descent.schedule import Outcome, Settings, Trial, drive
from verifier.descent.selected import selected_tokens
from verifier.descent.starts import starts

_ENGINES = ("auto", "lanes", "blas")


@dataclass(frozen=True, eq=False)
class Run:
    """What one run of gradient descent on W did; it proves nothing.

    ``start`` and ``final`` are W(0) and W(``iterations``), d × d, read-only; ``iterations``
    counts the steps taken. ``selected`` is the argmax token of each sample at ``final``, lowest
    index on exact ties, decided exactly for the float matrix ``final``. ``kept`` holds (k, W(k))
    for the requested k ≤ ``iterations``, in increasing order.

    A ``stationary`` run may have met ∇L = 0 or a step below rounding; which, is told by
    ``gradient(dataset, run.final, run.loss).log_norm`` where ``penalty`` is 0.
    """

    parameterization: ClassVar[str] = "W"

    rule: str
    step: float
    loss: str
    iterations: int
    start: FloatArray
    final: FloatArray
    selected: tuple[int, ...]
    outcome: Outcome
    kept: tuple[tuple[int, FloatArray], ...] = ()
    penalty: float = 0.0
    head: Head = LINEAR_HEAD
    resolution: float = 0.0

    @property
    def norms(self) -> tuple[float, ...]:
        """‖W(k)‖_F of the kept iterates."""
        return tuple(float(np.linalg.norm(W)) for _, W in self.kept)

    def to_json(self) -> dict[str, Any]:
        """The ``run`` object of docs/certificates.md; its numbers are hexadecimal floats."""
        unusual: dict[str, Any] = {}
        if not isinstance(self.head, LinearHead):
            unusual["head"] = head_to_json(self.head)
        if self.resolution:
            unusual["resolution"] = self.resolution.hex()
        return {
            "parameterization": self.parameterization, "rule": self.rule, **unusual,
            "step": self.step.hex(), "penalty": self.penalty.hex(), "loss": self.loss,
            "iterations": self.iterations, "selected": list(self.selected),
            "outcome": self.outcome.value,
            "start": _spelled(self.start), "final": _spelled(self.final)}


@dataclass(frozen=True, eq=False, kw_only=True)
class FactoredRun(Run):
    """What one run of gradient descent on K and Q did, W = K Qᵀ; it proves nothing.

    ``start_K``, ``start_Q``, ``final_K``, ``final_Q`` are d × m, ``kept_factors`` holds
    (k, K(k), Q(k)); ``start``, ``final`` and ``kept`` are the products K Qᵀ, rounded. ``selected``
    is decided for the exact product of ``final_K`` and ``final_Q``. All arrays are read-only.
    Such a run is also stationary at K = Q = 0, whatever ∇L(0) is.
    """

    parameterization: ClassVar[str] = "KQ"

    start_K: FloatArray
    start_Q: FloatArray
    final_K: FloatArray
    final_Q: FloatArray
    kept_factors: tuple[tuple[int, FloatArray, FloatArray], ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The ``run`` object of docs/certificates.md; its numbers are hexadecimal floats."""
        return {**super().to_json(),
                "start": {"K": _spelled(self.start_K), "Q": _spelled(self.start_Q)},
                "final": {"K": _spelled(self.final_K), "Q": _spelled(self.final_Q)}}


def _spelled(A: FloatArray) -> list[list[str]]:
    return [[float(x).hex() for x in row] for row in A]


@overload
def descend(datasets: AttentionDataset, *, parameterization: str = ..., rule: str = ...,
            step: float = ..., penalty: float = ..., loss: str = ..., iterations: int = ...,
            resolution: float = ..., head: Head | Sequence[Head] | None = ...,
            start: Any = ..., keep: Iterable[int] | None = ..., engine: str = ...,
            threads: int | None = ..., seconds: float | None = ...,
            stop: Callable[[], bool] | None = ..., progress: bool = ...) -> Run: ...


@overload
def descend(datasets: Sequence[AttentionDataset], *, parameterization: str = ...,
            rule: str = ..., step: float = ..., penalty: float = ..., loss: str = ...,
            iterations: int = ..., resolution: float = ...,
            head: Head | Sequence[Head] | None = ..., start: Any = ...,
            keep: Iterable[int] | None = ..., engine: str = ..., threads: int | None = ...,
            seconds: float | None = ..., stop: Callable[[], bool] | None = ...,
            progress: bool = ...) -> list[Run]: ...


def descend(datasets: AttentionDataset | Sequence[AttentionDataset], *,
            parameterization: str = "W", rule: str = "normalized", step: float = 0.1,
            penalty: float = 0.0, loss: str = "logistic", iterations: int = 2000,
            resolution: float = 0.0, head: Head | Sequence[Head] | None = None,
            start: Any = None, keep: Iterable[int] | None = None, engine: str = "auto",
            threads: int | None = None, seconds: float | None = None,
            stop: Callable[[], bool] | None = None, progress: bool = False) -> Run | list[Run]:
    """Run gradient descent for one dataset (a ``Run``) or several (a ``list[Run]``).

    parameterization: ``"W"``, or ``"KQ"`` for W = K Qᵀ, which gives ``FactoredRun``; K and Q then
    take the place of W below. Both move at once, from the same iterate, each by the rule for its
    own gradient: ∇_K L = ∇L(W) Q, ∇_Q L = ∇L(W)ᵀ K.
    rule: ``"normalized"`` W ← W − η∇L/‖∇L‖_F, or ``"plain"`` W ← W − η∇L; step: η > 0.
    penalty: λ ≥ 0; descent is then on L + λ‖W‖_F², or L + λ(‖K‖_F² + ‖Q‖_F²), in log scale too.
    resolution: ε ≥ 0 of the normalized step η∇L/(‖∇L‖_F + ε): a run then comes to rest where ‖∇L‖
    is below ε. 2⁻⁵² is that of v1's published code; 0 rests nowhere but where ∇L = 0.
    head: the prediction head, None for the linear one of the dataset; one for all datasets or one
    per dataset (`verifier.descent.heads`). One given as a Python function runs in numpy.
    start: for W None for 0, one d × d matrix for all datasets, or one per dataset. For KQ a tuple
    (K0, Q0) of two d × m matrices for all datasets, or a list of one tuple per dataset; m ≥ 1 is
    free. It must be given, as K = Q = 0 is stationary.
    keep: steps k ≤ iterations whose W(k) to keep.
    engine: ``"lanes"`` (compiled, eight datasets at a time), ``"blas"`` (numpy), or ``"auto"``,
    which chooses by size. They agree to rounding, which a normalized run on K and Q may amplify:
    its steps in W are about η(‖K‖ + ‖Q‖) long, and grow.
    threads: workers, by default one per CPU; the result does not depend on it.
    seconds, stop: end after a time, or once ``stop()`` is true (asked every 0.05 s); an interrupt
    from the keyboard does the same. The iterates reached are returned as ``stopped``.
    progress: show a bar in runs of more than a second, if stderr is a terminal.

    Nothing is lost to underflow or saturation at any ‖W‖: the direction of every step is that of
    the gradient up to about u‖W‖‖x‖‖z‖, the rounding of the logits, u = 2⁻⁵³ (see
    `verifier.descent.gradient`; ‖K‖‖Q‖ for ‖W‖ where W = K Qᵀ). Datasets may differ in shape.
    Raises ``InvalidInput``.

    >>> data = AttentionDataset.build([[[1, 0], [0, 0]]], [1], [[1, 0]], [1, 3])
    >>> run = descend(data, iterations=50)
    >>> run.outcome.value, run.iterations, run.selected, run.final.round(6).tolist()
    ('completed', 50, (0,), [[5.0, 0.0], [0.0, 0.0]])
    """
    batch = [datasets] if isinstance(datasets, AttentionDataset) else list(datasets)
    length = _count(iterations, "iterations")
    settings = Settings(parameterization_named(parameterization), rule_named(rule),
                        _positive(step, "step"), _nonnegative(penalty, "penalty"),
                        _nonnegative(resolution, "resolution"), loss_named(loss), length,
                        _kept_steps(keep, length))
    if settings.resolution and settings.rule.name != "normalized":
        raise InvalidInput("resolution", resolution, "must be 0 but for the normalized rule",
                           "leave it out")
    if engine not in _ENGINES:
        raise unknown("engine", engine, _ENGINES)
    for k, dataset in enumerate(batch):
        check_magnitudes(dataset, f"datasets[{k}]" if len(batch) > 1 else "")
    heads = heads_for(head, batch, settings.loss.name)
    if engine == "lanes" and any(each.code is None for each in heads):
        raise InvalidInput("engine", engine, "must be auto or blas for a head given as a function",
                           "choose one of them")
    trials = [Trial(dataset, factors, each) for dataset, factors, each
              in zip(batch, starts(start, batch, settings.parameterization), heads, strict=True)]
    drive(trials, settings, engine=engine, stop=stop, progress=progress,
          threads=None if threads is None else _count(threads, "threads", least=1),
          seconds=None if seconds is None else _positive(seconds, "seconds"))
    runs = [_run(trial, settings) for trial in trials]
    return runs[0] if isinstance(datasets, AttentionDataset) else runs


def _run(trial: Trial, settings: Settings) -> Run:
    product = settings.parameterization.product
    start, final = product(trial.start), product(trial.final)
    kept = tuple((k, product(factors)) for k, factors in trial.kept)
    for A in (*trial.start, *trial.final, *(F for _, factors in trial.kept for F in factors),
              start, final, *(W for _, W in kept)):
        A.flags.writeable = False
    common = (settings.rule.name, settings.step, settings.loss.name, trial.steps, start, final,
              selected_tokens(trial.dataset, *trial.final), trial.outcome, kept,
              settings.penalty, trial.head, settings.resolution)
    if settings.parameterization.name == Run.parameterization:
        return Run(*common)
    (start_K, start_Q), (final_K, final_Q) = trial.start, trial.final
    return FactoredRun(*common, start_K=start_K, start_Q=start_Q, final_K=final_K,
                       final_Q=final_Q,
                       kept_factors=tuple((k, K, Q) for k, (K, Q) in trial.kept))


# Input --------------------------------------------------------------------------------------


def _positive(value: object, name: str) -> float:
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise InvalidInput(name, value, "must be a number", "give a positive number")
    if not 0 < float(value) < math.inf:
        raise InvalidInput(name, value, "must be positive and finite", "give a positive number")
    return float(value)


def _nonnegative(value: object, name: str) -> float:
    if isinstance(value, numbers.Real) and not isinstance(value, bool) and value == 0:
        return 0.0
    return _positive(value, name)


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
