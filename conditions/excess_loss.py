"""How far the loss lies above its infimum, compared with what a better token would cost.

For D ≥ 0 let e_i(D) = ℓ(γ_i(1) − D) − ℓ(γ_i(1)), γ_i(1) the largest score of sample i. Then
n(L(W) − L_*) = Σ_i e_i(D_i) with the deficit D_i = γ_i(1) − f_i(W) = Σ_t s_it (γ_i(1) − γ_it). If
this excess is below e_j(G_j) for every j, then D_j < G_j for every j, and gradient descent that
never raises L keeps it so. Also here: what such conditions ask of a step and an iterate.
Source: docs/theory/global_limits.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from flint import arb, ctx, fmpq, fmpq_mat

from conditions.dataset import AttentionDataset
from conditions.errors import InvalidInput, unknown
from conditions.exact.numbers import rational, round_dyadic, to_float
from conditions.losses import MAX_SCORE, check_loss
from conditions.selection import features, optimal_selection
from conditions.smoothness import slope, smoothness, within_range
from conditions.unique_optimum import tie
from conditions.verdict import Verdict, undecided

MAX_BITS = 4096
"""The working precision at which a comparison that stays open is given up."""

RULES = ("plain", "flow", "normalized")

_SHORT = 30
"""Significant bits of β in certificates, where the step leaves room for so few."""

_NEGLIGIBLE = -144_000
"""The power of 2 that bounds e^x for x < −100,000."""

Margins = Callable[[], Sequence[arb]]
"""Encloses the margins under opt, in the order of the features' rows, at the current precision."""


@dataclass(frozen=True)
class Comparison:
    """The excess n(L − L_*) against the least gap min_j e_j(G_j), as figures for people.

    ``below`` is None if ``precision`` bits could not separate them.
    """

    below: bool | None
    precision: int
    excess: str
    gap: str

    def __str__(self) -> str:
        relation = {True: "<", False: "≥", None: "="}[self.below]
        return f"{self.excess} {relation} {self.gap}"


def compare(dataset: AttentionDataset, loss: str, margins: Margins, share: fmpq) -> Comparison:
    """Compare the excess at these margins with the gaps G_j = *share* · (γ_j(1) − γ_j(2)).

    The optimum must be unique and the scores `within_range`. Balls of rising precision decide; the
    precision returned is twice what they needed, so that a checker with other roundings agrees.
    """
    opt = optimal_selection(dataset)
    drops = [[scores[a] - score for t, score in enumerate(scores) if t != a]
             for scores, a in zip(dataset.scores, opt, strict=True)]
    tops = [scores[a] for scores, a in zip(dataset.scores, opt, strict=True)]
    gaps = [share * min(row) for row in drops]
    precision = 64
    while True:
        with ctx.workprec(precision):
            left = iter(margins())
            deficits = [deficit(list(islice(left, len(row))), row) for row in drops]
            total = combined(loss, [rise(loss, top, D)
                                    for top, D in zip(tops, deficits, strict=True)])
            rises = [rise(loss, top, arb(G)) for top, G in zip(tops, gaps, strict=True)]
            below = (True if all(total < r for r in rises)
                     else False if any(total >= r for r in rises) else None)
            if below is not None or precision == MAX_BITS:
                least = min(excess(loss, r).mid() for r in rises)
                return Comparison(below, precision if below is None else 2 * precision,
                                  _figures(excess(loss, total)), _figures(least))
        precision *= 2


def _figures(value: arb) -> str:
    """Six digits of *value*, also beyond the range of floats."""
    nearest = float(value.mid())
    within = math.isfinite(nearest) and (nearest != 0 or value.mid() == 0)
    return f"{nearest:.6g}" if within else str(value.mid().str(6, radius=False))


def deficit(margins: Sequence[arb], drops: Sequence[fmpq]) -> arb:
    """Σ_t s_t·drop_t over the rejected tokens, with s_t/s_opt = e^−margin_t."""
    # A common factor keeps every exponent ≤ 0.
    shift = min([arb(0), *(m.mid() for m in margins)])
    weights = [_weight(shift - m) for m in margins]
    pulled = sum((w * arb(drop) for w, drop in zip(weights, drops, strict=True)), arb(0))
    return pulled / sum(weights, _weight(shift))


def _weight(exponent: arb) -> arb:
    """e^exponent; far below 0 only as well as a checker needs to know it."""
    if exponent < -MAX_SCORE:
        return arb(0).union(arb(2) ** _NEGLIGIBLE)
    return exponent.exp()


def rise(loss: str, top: fmpq, D: arb) -> arb:
    """D for correlation, |ℓ'(top)|·(e^D − 1) otherwise: increasing with e(D), see `excess`."""
    return D if loss == "correlation" else slope(loss, top) * D.expm1()


def combined(loss: str, rises: Sequence[arb]) -> arb:
    """The one number whose `excess` is the sum of those of *rises*; all are ≥ 0."""
    total = arb(0)
    for a in rises:
        # Logistic: Π(1 + a) − 1, without cancellation.
        total = total + a + total * a if loss == "logistic" else total + a
    return total


def excess(loss: str, risen: arb) -> arb:
    """e(D) in terms of ``rise(loss, top, D)``: log(1 + a) for logistic, else a itself."""
    return risen.log1p() if loss == "logistic" else risen


# Premises -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Descent:
    """Steps that never raise the loss: 0 ≤ ``step`` < 2/``beta``; 0 is gradient flow."""

    step: fmpq
    beta: fmpq


def premises(condition: str, dataset: AttentionDataset, rule: str, step: Any,
             loss: str) -> Descent | Verdict:
    """The descent, or the undecided verdict of *condition* that says which premise is missing.

    Premises: plain gradient descent or flow, a unique optimum, scores within range, step < 2/β.
    Raises ``InvalidInput`` for an unknown rule or loss and for a step out of place.
    """
    check_loss(loss)
    eta = _checked_step(rule, step)
    if rule == "normalized":
        return undecided(condition, "normalized gradient descent may raise the loss; the argument "
                         "needs plain gradient descent or flow", loss=loss)
    tied = tie(dataset)
    if tied is not None:
        return undecided(condition, f"the optimal token of sample {tied.sample} is not unique",
                         loss=loss)
    if not within_range(dataset, loss):
        return undecided(condition, f"scores beyond ±{MAX_SCORE:,} are not evaluated", loss=loss)
    beta = smoothness(dataset, loss)
    if eta * beta >= 2:
        return undecided(condition, f"the step {to_float(eta):.6g} is not shown to be below 2/β: "
                         f"β = {to_float(beta):.6g}, 2/β = {to_float(2 / beta):.6g}", loss=loss,
                         number=f"η = {to_float(eta):.6g} ≥ {to_float(2 / beta):.6g}")
    short = round_dyadic(beta + beta / 2 ** (_SHORT - 2), _SHORT)
    return Descent(eta, short if short >= beta and eta * short < 2 else beta)


def _checked_step(rule: str, step: Any) -> fmpq:
    if rule not in RULES:
        raise unknown("rule", rule, RULES)
    eta = rational(step, "step")
    if rule == "flow" and eta != 0:
        raise InvalidInput("step", step, "must be 0 for gradient flow", "give 0, or rule 'plain'")
    if rule != "flow" and eta <= 0:
        raise InvalidInput("step", step, "must be positive", "give a step above 0")
    return eta


def exact_matrix(W: Any, d: int) -> fmpq_mat:
    """*W* as a d × d rational matrix. Raises ``InvalidInput``."""
    if isinstance(W, fmpq_mat):
        rows: list[Any] = W.tolist()
    elif isinstance(W, np.ndarray | list | tuple):
        rows = [list(row) if isinstance(row, np.ndarray | list | tuple) else [row] for row in W]
    else:
        rows = []
    if len(rows) != d or any(len(row) != d for row in rows):
        raise InvalidInput("W", W, f"must be a {d} × {d} matrix", "give d rows of d numbers")
    return fmpq_mat([[rational(a, f"W[{j}][{k}]") for k, a in enumerate(row)]
                     for j, row in enumerate(rows)])


def matrix_margins(dataset: AttentionDataset, W: fmpq_mat) -> Margins:
    """The margins of an exact W under opt."""
    exact = features(dataset, optimal_selection(dataset)).margins(W)
    return lambda: [arb(m) for m in exact]


def open_reason(found: Comparison) -> str:
    """Why a comparison that is not ``below`` leaves a condition undecided."""
    if found.below is None:
        return (f"n(L − L_*) and its threshold, both about {found.gap}, are not separated by "
                f"{found.precision} bits")
    return f"n(L − L_*) = {found.excess} is not below its threshold {found.gap}"
