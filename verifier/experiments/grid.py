"""The grid of a sweep: axes, their cells, and the data, starts and heads of a cell's trials.

Everything random about a trial is a function of a seed, the cell and the number of the trial.
The dataset depends on n, T, d and the kind of data alone, so cells that differ in other axes share
their datasets and can be compared trial by trial.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np

from conditions.dataset import AttentionDataset, FloatArray
from conditions.errors import Description, InvalidInput, unknown
from conditions.excess_loss import RULES
from conditions.losses import check_loss
from verifier.descent import LINEAR_HEAD, Head, MulticlassHead, QuadraticHead, ReluHead
from verifier.descent.parameterization import parameterization_named
from verifier.experiments.samples import SAMPLES

MAX_ENTRIES = 10**6
"""Token entries n·T·d of one dataset."""

MAX_CELLS, MAX_TRIALS = 100_000, 10_000_000
_MAX_SIZE = 10**6
# Tells the random numbers of starts and heads from each other and from those of the data.
_START, _HEAD = 1, 2
_HEADS = "linear, quadratic:λ, relu:UNITS or multiclass:CLASSES"
_RANGE = re.compile(r"(\d{1,7})(?:\.\.(\d{1,7}))?")


@dataclass(frozen=True)
class Cell:
    """One point of the grid: a setting that is repeated in trials.

    ``m`` is the number of columns of K and Q, 0 where none is chosen (K and Q are then d × d).
    ``head``: ``linear``, ``quadratic:λ`` (v·x − λ‖x‖²), ``relu:UNITS`` (1ᵀReLU(V·), rows of V on
    the unit sphere) or ``multiclass:CLASSES``. Raises ``InvalidInput``.
    """

    n: int
    T: int
    d: int
    m: int = 0
    head: str = "linear"
    loss: str = "logistic"
    parameterization: str = "W"
    rule: str = "normalized"

    def __post_init__(self) -> None:
        for name, least in (("n", 1), ("T", 2), ("d", 1)):
            _size(getattr(self, name), name, least)
        if self.n * self.T * self.d > MAX_ENTRIES:
            raise InvalidInput("n·T·d", self.n * self.T * self.d,
                               f"must be at most {MAX_ENTRIES:,}", "choose smaller sizes")
        _size(self.m, "m", 0)
        if self.m > self.d:
            raise InvalidInput("m", self.m, f"must be at most d = {self.d}",
                               "more columns than d change nothing: leave that cell out")
        check_loss(self.loss)
        parameterization_named(self.parameterization)
        if self.rule not in RULES:
            raise unknown("rule", self.rule, RULES)
        kind, size = self._head()
        if kind == "multiclass" and self.loss != "logistic":
            raise InvalidInput("loss", self.loss, "must be logistic for the multiclass head: it is "
                               "then the cross-entropy", "choose it, or another head")
        if isinstance(size, int) and size * self.d > MAX_ENTRIES:
            raise InvalidInput("head", self.head, f"must have at most {MAX_ENTRIES:,} entries",
                               "choose a smaller one")

    @classmethod
    def of(cls, values: Sequence[Any]) -> Self:
        """The cell with these `values`."""
        return cls(*values)

    @property
    def values(self) -> tuple[int | str, ...]:
        """All coordinates, in the order of the fields."""
        return tuple(getattr(self, each.name) for each in fields(self))

    @property
    def head_name(self) -> str:
        """The head without its parameter."""
        return self._head()[0]

    def dataset(self, data: str, seed: int, trial: int) -> AttentionDataset:
        """The dataset of a trial; *data* is one of `SAMPLES`."""
        return SAMPLES[data](self.n, self.T, self.d, self._entropy(seed, trial))

    def start(self, seed: int, trial: int) -> tuple[FloatArray, FloatArray] | None:
        """K(0), Q(0), d × m with entries uniform in ±1/√d; None is W(0) = 0."""
        if self.parameterization == "W":
            return None
        rng = np.random.default_rng([*self._entropy(seed, trial), self.m, _START])
        pair = rng.uniform(-1, 1, (2, self.d, self.m or self.d)) / np.sqrt(self.d)
        return pair[0], pair[1]

    def prediction_head(self, seed: int, trial: int) -> Head:
        """The head of a trial."""
        kind, size = self._head()
        if kind == "linear":
            return LINEAR_HEAD
        if not isinstance(size, int):
            return size
        rng = np.random.default_rng([*self._entropy(seed, trial), size, _HEAD])
        rows = rng.normal(size=(size, self.d))
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        return (ReluHead.of(rows) if kind == "relu"
                else MulticlassHead.of(rows, rng.integers(0, size, self.n)))

    def _entropy(self, seed: int, trial: int) -> tuple[int, ...]:
        return seed, self.n, self.T, self.d, trial

    def _head(self) -> tuple[str, int | QuadraticHead]:
        """The kind of the head, and its size or, where it is not random, itself."""
        kind, colon, parameter = str(self.head).partition(":")
        if kind == "linear" and not colon:
            return kind, 0
        if kind == "quadratic" and parameter:
            return kind, QuadraticHead.of(parameter)
        least = {"relu": 1, "multiclass": 2}.get(kind)
        if least is not None and re.fullmatch(r"\d{1,7}", parameter) and int(parameter) >= least:
            return kind, int(parameter)
        raise InvalidInput("head", self.head, f"must be {_HEADS}",
                           "e.g. quadratic:1/2, relu:8, multiclass:3")


def cells(**axes: Sequence[int | str]) -> tuple[Cell, ...]:
    """The product of *axes*, named as the fields of `Cell`; the last field varies fastest.

    Raises ``InvalidInput``, for a cell without meaning too.
    """
    count = 1
    for name, values in axes.items():
        if not values:
            raise InvalidInput(name, list(values), "must not be empty", "give a value")
        count *= len(values)
        if count > MAX_CELLS:
            raise InvalidInput("grid", Description(f"{count:,} cells or more"),
                               f"must have at most {MAX_CELLS:,}", "split the sweep")
    order = [each.name for each in fields(Cell) if each.name in axes]
    found = (Cell(**dict(zip(order, values, strict=True)))  # type: ignore[arg-type]
             for values in itertools.product(*(dict.fromkeys(axes[name]) for name in order)))
    return tuple(found)


def parse_integers(text: str, name: str) -> tuple[int, ...]:
    """Integers as ``2,4,6`` or ``2..10`` or both. Raises ``InvalidInput``.

    >>> parse_integers("1,4..6", "n")
    (1, 4, 5, 6)
    """
    found: list[int] = []
    for part in text.split(","):
        match = _RANGE.fullmatch(part.strip())
        first, last = (0, -1) if match is None else (int(match[1]), int(match[2] or match[1]))
        if match is None or last < first or last - first > MAX_CELLS:
            raise InvalidInput(name, text, "must be integers and ranges, e.g. 2,4,6 or 2..10",
                               "correct it")
        found += range(first, last + 1)
    return tuple(found)


def _size(value: object, name: str, least: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= _MAX_SIZE:
        raise InvalidInput(name, value, f"must be an integer in {least}..{_MAX_SIZE:,}",
                           "correct it")
