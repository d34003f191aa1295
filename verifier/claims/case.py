"""What a claim is evaluated on: a dataset and the choices that a theorem quantifies over."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from flint import fmpq, fmpq_mat

from conditions.dataset import AttentionDataset
from conditions.errors import InvalidInput
from conditions.exact.numbers import positive, rational
from conditions.excess_loss import RULES, exact_matrix
from conditions.losses import ALL_LOSSES, check_loss
from conditions.selection import Selection, check_selection, optimal_selection
from conditions.separation.token_sets import check_sets

Matrix = tuple[tuple[fmpq, ...], ...]
TokenSets = tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Case:
    """A dataset, a selection α, and a gradient descent: loss, rule, step, start; all exact.

    ``selection``: α; opt if left out. ``rule``: plain, normalized or flow. ``step``: η > 0 (0
    for the flow), None where none is chosen; ``first_step``: η₀ of the first step, None where it
    is η. ``start``: W(0), d × d, zero if left out. ``rank``: m, the columns of K and Q.
    ``token_sets``: O_i of Gen-SVM. ``lam``: λ > 0 of the head v·x − λ‖x‖². ``seconds``: budget
    of each search for a proof. ``skeptical``: theorems that a search puts to the test are not
    taken for granted: limits are proved by runs, basins and rays alone, and zeros of the gradient
    are looked for before there is a proof that there are none.
    Raises ``InvalidInput``. Two cases are equal if they share the dataset and all choices.
    """

    dataset: AttentionDataset
    selection: Selection = ()
    loss: str = "logistic"
    rule: str = "plain"
    step: fmpq | None = None
    start: Matrix = ()
    rank: int | None = None
    first_step: fmpq | None = None
    token_sets: TokenSets | None = None
    lam: fmpq | None = None
    seconds: float = 10.0
    skeptical: bool = False

    def __post_init__(self) -> None:
        selection = self.selection or optimal_selection(self.dataset)
        checked: dict[str, Any] = {
            "selection": check_selection(self.dataset, selection),
            "loss": check_loss(self.loss, ALL_LOSSES),
            "start": _start(self.start, self.dataset.d), "rank": _rank(self.rank, self.dataset.d)}
        if self.rule not in RULES:
            raise InvalidInput("rule", self.rule, f"must be one of {', '.join(RULES)}",
                               "choose a rule")
        for name in ("step", "first_step"):
            checked[name] = _step(getattr(self, name), name, self.rule)
        if self.lam is not None:
            checked["lam"] = positive(self.lam, "lambda")
        if not 0 <= self.seconds < float("inf"):
            raise InvalidInput("seconds", self.seconds, "must be a finite number ≥ 0",
                               "give a budget")
        if self.token_sets is not None:
            checked["token_sets"] = check_sets(self.dataset, self.token_sets)
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    @property
    def opt(self) -> Selection:
        """Per sample the token of largest score, lowest index on ties."""
        return optimal_selection(self.dataset)

    @property
    def starts_at_zero(self) -> bool:
        """Whether W(0) = 0."""
        return all(x == 0 for row in self.start for x in row)

    @property
    def opening_step(self) -> fmpq | None:
        """The length of the first step: η₀, or η."""
        return self.step if self.first_step is None else self.first_step

    @property
    def constant_step(self) -> bool:
        """Whether all steps have the same length."""
        return self.first_step is None or self.first_step == self.step

    def start_matrix(self) -> fmpq_mat:
        """W(0) as a matrix of rationals."""
        return fmpq_mat([list(row) for row in self.start])

    # A selection, a start, a rank and token sets belong to a dataset; another one drops them.

    def with_dataset(self, dataset: AttentionDataset) -> Self:
        """The same descent from 0 on another dataset, with α = opt."""
        return replace(self, dataset=dataset, selection=(), start=(), rank=None, token_sets=None)

    def with_selection(self, selection: Iterable[int]) -> Self:
        """Another α."""
        return replace(self, selection=tuple(selection))

    def with_start(self, start: Any) -> Self:
        """Another W(0): d rows of d numbers, taken exactly."""
        return replace(self, start=start)

    def with_step(self, step: Any, first_step: Any = None) -> Self:
        """Another η and η₀, taken exactly."""
        return replace(self, step=step, first_step=first_step)

    def with_rank(self, rank: int | None) -> Self:
        """Another m."""
        return replace(self, rank=rank)

    def with_budget(self, seconds: float) -> Self:
        """Another budget of each search."""
        return replace(self, seconds=seconds)


def _start(given: Any, d: int) -> Matrix:
    if isinstance(given, tuple) and not given:
        return ((fmpq(0),) * d,) * d
    try:
        return tuple(map(tuple, exact_matrix(given, d).tolist()))
    except InvalidInput as error:
        name = error.name.replace("W", "start", 1)
        raise InvalidInput(name, error.value, error.rule, error.remedy) from None


def _step(given: Any, name: str, rule: str) -> fmpq | None:
    if rule == "flow":
        if given is not None and rational(given, name) != 0:
            raise InvalidInput(name, given, "must be 0 for gradient flow", "leave it out")
        return fmpq(0)
    if given is None:
        return None
    return positive(given, name)


def _rank(given: Any, d: int) -> int | None:
    if given is None:
        return None
    if not isinstance(given, int | np.integer) or isinstance(given, bool) or not 1 <= given <= d:
        raise InvalidInput("rank", given, f"must be an integer in 1..{d}",
                           "more columns than d change nothing")
    return int(given)
