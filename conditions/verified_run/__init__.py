"""Does gradient descent from this exact start converge in direction to W^mm_α?

Statement
    Exact descent (W ← W − η∇L(W)/‖∇L(W)‖_F, or W ← W − η∇L(W)) from the stated W(0) has
    W(k)/‖W(k)‖_F → W^mm_α/‖W^mm_α‖_F.
Hypotheses
    Att-SVM(α) feasible and α locally optimal, for the α of the verdict: the tokens of largest
    logit where the run was last tested. Undecided for any other α; never fails.
Certificate
    `verified_run` (holds), with the certificate of a basin inside.
Decision procedure
    A run of 64 bits finds a number of steps after which the basin conditions pass, and the
    precision that an enclosure asks for. Then the same steps in ball arithmetic from W(0), and the
    basin conditions for all of the enclosure, at growing precision. Undecided where the steps, the
    time or the precision run out, or where the gradient is not shown to differ from zero.
Reference
    docs/theory/basin.md, "Verified runs".
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from flint import arb, ctx, fmpq, fmpq_mat

from conditions import basin
from conditions.basin.enclosure import check_rule
from conditions.certificates import BasinIsotropic, BasinResidual, VerifiedRun
from conditions.dataset import AttentionDataset
from conditions.errors import InvalidInput
from conditions.exact.numbers import rational
from conditions.losses import MAX_SCORE, check_loss
from conditions.selection import Selection
from conditions.smoothness import within_range
from conditions.verdict import Status, Verdict, proved, undecided
from conditions.verified_run.steps import Coarse, Descent, Iterate, Stalled

__all__ = ["CONDITION", "MAX_STEPS", "decide"]

CONDITION = "limit_from_start"

MAX_STEPS = 1 << 20
MAX_PRECISION = 65_536
_SCOUT_BITS = 64
_RADIUS_BITS = 30
"""The ball of the basin has radius 2^−30."""
_ROOM = 48
"""Bits between the radius of the enclosure and that of the basin, for the rounding of others."""


@dataclass(frozen=True, eq=False)
class _Question:
    dataset: AttentionDataset
    start: fmpq_mat
    rule: str
    step: fmpq
    loss: str
    deadline: float


class _OutOfTimeError(Exception):
    """The seconds are over."""


def decide(dataset: AttentionDataset, start: Any, rule: str, step: Any, loss: str, *,
           steps: int | None = None, budget: int = 1 << 17, seconds: float = 60.0) -> Verdict:
    """Decide the condition for the start *start*, d × d numbers, exact as given.

    rule: ``normalized`` or ``plain``; step: η > 0. steps: where to test the basin conditions; by
    default at 0, 1, 2, …, each about 2^(1/8) times the one before, and at *budget*.
    Raises ``InvalidInput``.
    """
    question = _question(dataset, start, rule, step, loss, seconds)
    if not 0 <= (budget if steps is None else steps) <= MAX_STEPS:
        name, value = ("budget", budget) if steps is None else ("steps", steps)
        raise InvalidInput(name, value, f"must be within 0 and {MAX_STEPS:,}", "change it")
    places = list(_places(budget)) if steps is None else [steps]
    scout = Iterate.start(question.start, _SCOUT_BITS)
    try:
        if not within_range(dataset, loss):
            return _open(question, scout, f"scores beyond ±{MAX_SCORE:,} put |ℓ'| out of the range "
                         "that is enclosed")
        return _search(question, scout, places)
    except Stalled:
        return _open(question, scout, f"the gradient is not shown to be nonzero at step {scout.k}")
    except _OutOfTimeError:
        return _open(question, scout, f"{seconds:g} seconds were over at step {scout.k}")


def _question(dataset: AttentionDataset, start: Any, rule: str, step: Any, loss: str,
              seconds: float) -> _Question:
    check_loss(loss)
    rule, eta = check_rule(rule, step)
    if rule == "flow":
        raise InvalidInput("rule", rule, "must be normalized or plain", "choose one")
    table = start.tolist() if isinstance(start, np.ndarray | fmpq_mat) else list(map(list, start))
    d = dataset.d
    if len(table) != d or any(len(row) != d for row in table):
        raise InvalidInput("start", start, f"must be a {d} × {d} matrix", "correct its shape")
    exact = fmpq_mat([[rational(x, f"start[{a}][{b}]") for b, x in enumerate(row)]
                      for a, row in enumerate(table)])
    return _Question(dataset, exact, rule, eta, loss, time.monotonic() + seconds)


def _places(budget: int) -> Iterator[int]:
    place = 0
    while place < budget:
        yield place
        place = max(place + 1, round(place * 2.0**0.125))
    yield budget


def _search(q: _Question, scout: Iterate, places: list[int]) -> Verdict:
    """The scout runs ahead; where a basin passes, the enclosure follows."""
    descent = Descent(q.dataset, q.rule, q.step, q.loss, _SCOUT_BITS)
    verdict = None
    for place in places:
        _advance(q, descent, scout, place, enclosing=False)
        verdict = _basin(q, scout)
        if verdict.holds:
            enclosed = _enclose(q, scout)
            if isinstance(enclosed, str):
                return _open(q, scout, enclosed)
            bits, iterate = enclosed
            found = _basin(q, iterate)
            if isinstance(found.certificate, BasinIsotropic | BasinResidual):
                return _holds(q, found, found.certificate, iterate.k, bits)
            verdict = found
    reason = "no step was tested" if verdict is None else verdict.reason
    return _open(q, scout, f"after {scout.k} steps: {reason}")


def _enclose(q: _Question, scout: Iterate) -> tuple[int, Iterate] | str:
    """(precision, the enclosure at the step of the scout), or what ran out."""
    bits = _rounded_up(scout.stretch + _ROOM + _RADIUS_BITS
                       + math.log2(scout.k + 1 + _size(scout)))
    while bits <= MAX_PRECISION:
        descent = Descent(q.dataset, q.rule, q.step, q.loss, bits)
        iterate = Iterate.start(q.start, bits)
        try:
            _advance(q, descent, iterate, scout.k, enclosing=True)
        except Coarse:
            bits = _rounded_up(bits * 1.5)
            continue
        if iterate.radius <= fmpq(1, 1 << (_ROOM + _RADIUS_BITS)):
            return bits, iterate
        bits = _rounded_up(bits + 64)
    return (f"{scout.k} steps ask for more than {MAX_PRECISION:,} bits: distances may grow "
            f"2^{scout.stretch:.0f}-fold")


def _rounded_up(bits: float) -> int:
    return -(-math.ceil(bits) // 32) * 32


def _advance(q: _Question, descent: Descent, iterate: Iterate, place: int, *,
             enclosing: bool) -> None:
    while iterate.k < place:
        if time.monotonic() > q.deadline:
            raise _OutOfTimeError
        iterate.advance(descent, enclosing=enclosing)


# The basin at an iterate ----------------------------------------------------------------------


def _basin(q: _Question, iterate: Iterate) -> Verdict:
    """The basin conditions on a ball of short numbers that holds the center's neighbourhood."""
    d = q.dataset.d
    # Rounding moves each of d² entries by at most 2^−(30 + 2 + bits of d), W by at most a quarter
    # of the radius.
    unit = 1 << (_RADIUS_BITS + 1 + d.bit_length())
    short = [(fmpq(*_ratio(x)) * unit + fmpq(1, 2)).floor() for x in iterate.center]
    W = fmpq_mat(d, d, [fmpq(x, unit) for x in short])
    return basin.decide(q.dataset, _selected(q.dataset, W), W, q.rule, q.step, q.loss,
                        radius=fmpq(1, 1 << _RADIUS_BITS))


def _ratio(x: arb) -> tuple[int, int]:
    mantissa, exponent = (int(part) for part in x.man_exp())
    return mantissa << max(exponent, 0), 1 << max(-exponent, 0)


def _selected(dataset: AttentionDataset, W: fmpq_mat) -> Selection:
    """The tokens of largest logit, lowest index on ties."""
    chosen = []
    for tokens, query in zip(dataset.tokens, dataset.queries, strict=True):
        field = W * fmpq_mat(dataset.d, 1, list(query))
        logits = (fmpq_mat([list(x) for x in tokens]) * field).entries()
        chosen.append(logits.index(max(logits)))
    return tuple(chosen)


def _size(iterate: Iterate) -> float:
    return float(sum((abs(x) for x in iterate.center), arb(0)))


def _holds(q: _Question, found: Verdict, certificate: BasinIsotropic | BasinResidual, steps: int,
           bits: int) -> Verdict:
    whole = VerifiedRun(tuple(map(tuple, q.start.tolist())), q.rule, q.step, steps, bits,
                        certificate)
    return proved(CONDITION, Status.HOLDS, whole,
                  f"exact {q.rule} descent from this start is in a basin after {steps} steps "
                  f"({bits} bits): {found.reason}", selection=found.selection, loss=q.loss,
                  number=f"basin after {steps} steps")


def _open(q: _Question, iterate: Iterate, reason: str) -> Verdict:
    with ctx.workprec(_SCOUT_BITS):
        W = fmpq_mat(q.dataset.d, q.dataset.d, [fmpq(*_ratio(x)) for x in iterate.center])
    return undecided(CONDITION, reason, selection=_selected(q.dataset, W), loss=q.loss)
