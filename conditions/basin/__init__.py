"""Does gradient descent from this iterate converge in direction to W^mm_α?

Statement
    Exact descent (W ← W − η∇L(W)/‖∇L(W)‖_F, W ← W − η∇L(W), or dW/dt = −∇L(W)) from every W with
    ‖W − iterate‖_F ≤ radius has W_k/‖W_k‖_F → W^mm_α/‖W^mm_α‖_F. It says nothing about the rounded
    run that may have led to the iterate.
Hypotheses
    Att-SVM(α) feasible and α locally optimal, else undecided: the conditions cannot hold.
Certificate
    `basin_isotropic`, `basin_residual` (holds); never fails.
Decision procedure
    Floats search the parameters of the cone conditions, then of the residual conditions; balls
    decide. Where neither passes, the binding condition is named, with the radius at which floats
    see one pass along the ray of W^mm_α.
Reference
    docs/theory/basin.md; arXiv 2308.16898 v1, Theorem 7 (existence of a cone).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from flint import arb, arb_mat, ctx, fmpq, fmpq_mat

from conditions.basin.enclosure import (
    MAX_CLOCK,
    STATED_BITS,
    Enclosure,
    check_rule,
    enclose,
    scores_in_range,
    support_rivals,
)
from conditions.basin.isotropic import ENOUGH, cone_bound, stays, suggest_slope
from conditions.basin.residual import parameters, residual_holds
from conditions.basin.residual_suggestion import (
    Start,
    float_start,
    residual_floats,
    suggest_ball,
)
from conditions.basin.suggestion import OUT_OF_RANGE, FloatProblem, float_problem
from conditions.certificates import BasinIsotropic, BasinResidual
from conditions.dataset import AttentionDataset, FloatArray
from conditions.errors import InvalidInput
from conditions.exact.numbers import rational, round_dyadic, to_float
from conditions.losses import MAX_SCORE, check_loss
from conditions.selection import Features, Selection, check_selection, features
from conditions.verdict import Status, Verdict, proved, undecided

__all__ = ["CONDITION", "decide"]

CONDITION = "basin"

_MEANING = {
    "i": "a margin may vanish in the cone", "ii": "a token that scores no worse is too close to "
    "the margin", "iii": "the softmax weights are not small enough",
    "iv": "better tokens may outweigh the pull", "v": "the start lies too far off the axis",
    "residual": "the residual is too large", "force": "the forces on the residual are too large",
    "drift": "the drift is too large", "step": "the step is too long",
    "eigenvalues": "the support features are nearly dependent"}


@dataclass(frozen=True, eq=False)
class _Question:
    """One call of `decide`, checked: a start with its exact margins."""

    phi: Features
    loss: str
    rule: str
    step: fmpq
    W: fmpq_mat
    radius: fmpq
    margins: tuple[fmpq, ...]


def decide(dataset: AttentionDataset, selection: Selection, W: Any, rule: str, step: Any,
           loss: str, *, radius: Any = 0) -> Verdict:
    """Decide the condition for α = *selection*.

    W: d × d numbers, exact as given (floats are dyadic rationals). rule: ``normalized``,
    ``plain`` or ``flow``; step: η > 0, or 0 for the flow. radius: ≥ 0, Frobenius; the statement
    is about every start within it of *W*. Raises ``InvalidInput``.
    """
    question = _question(dataset, selection, W, rule, step, loss, radius)
    phi = question.phi
    problem = float_problem(phi)
    if problem is None:
        return _open(question, "Att-SVM(α) is infeasible, so no direction is predicted")
    rivals = support_rivals(problem.solution)
    if rivals:
        return _open(question, f"α is not locally optimal: support index {rivals[0]} scores at "
                     "least as high as the selected token")
    if not scores_in_range(dataset, loss):
        return _open(question, f"scores beyond ±{MAX_SCORE:,} put |ℓ'| out of the range that is "
                     "enclosed")
    if not problem.in_range:
        return _open(question, OUT_OF_RANGE)
    cone, ratio, binding = _by_cone(question, problem)
    residual, other_ratio, other_binding = (None, np.inf, "") if cone else _by_residual(question)
    certificate = cone or residual
    size = float(np.linalg.norm(_float_matrix(question.W)))
    if certificate is not None:
        how = "cone" if cone else "residual"
        return proved(CONDITION, Status.HOLDS, certificate,
                      f"the {how} conditions hold at ‖W‖ = {size:.6g}, clock "
                      f"{to_float(certificate.clock):.6g}: descent converges to W^mm",
                      selection=phi.selection, loss=loss, number=f"‖W‖ = {size:.4g}")
    if other_ratio < ratio:
        binding = other_binding
    return _open(question, f"{_MEANING[binding]} (condition {binding}) at ‖W‖ = {size:.6g}; "
                 + _estimate(question, problem))


def _question(dataset: AttentionDataset, selection: Selection, W: Any, rule: str, step: Any,
              loss: str, radius: Any) -> _Question:
    check_loss(loss)
    rule, eta = check_rule(rule, step)
    phi = features(dataset, check_selection(dataset, selection))
    ball = rational(radius, "radius")
    if ball < 0:
        raise InvalidInput("radius", radius, "must not be negative", "give a radius ≥ 0")
    table = W.tolist() if isinstance(W, np.ndarray | fmpq_mat) else [list(row) for row in W]
    d = dataset.d
    if len(table) != d or any(len(row) != d for row in table):
        raise InvalidInput("W", W, f"must be a {d} × {d} matrix", "correct its shape")
    exact = fmpq_mat([[rational(x, f"W[{a}][{b}]") for b, x in enumerate(row)]
                      for a, row in enumerate(table)])
    return _Question(phi, loss, rule, eta, exact, ball, tuple(phi.margins(exact)))


def _open(question: _Question, reason: str) -> Verdict:
    return undecided(CONDITION, reason, selection=question.phi.selection, loss=question.loss)


# The two kinds ------------------------------------------------------------------------------


def _by_cone(question: _Question, problem: FloatProblem
             ) -> tuple[BasinIsotropic | None, float, str]:
    """(certificate or None, worst float ratio, the condition that has it)."""
    q = question
    clock, across = _float_place(q, problem)
    found = suggest_slope(problem, q.loss, q.rule, to_float(q.step), clock, across)
    failed = None, found.ratio, found.binding
    if not found.ratio < ENOUGH or clock > MAX_CLOCK:
        return failed
    frame = enclose(q.phi)
    if frame is None:
        return failed
    with ctx.workprec(frame.bits):
        s, p = _place(q, frame)
        # A clock below that of W by less than the float search could notice.
        stated = round_dyadic(fmpq(*float(s.mid()).as_integer_ratio()) * (1 - fmpq(1, 1 << 36)),
                              40)
        slope = round_dyadic(fmpq(*found.slope.as_integer_ratio()), 30)
        if not s >= arb(stated):
            return failed
        C = cone_bound(frame, q.loss, q.rule, q.step, stated, slope)
        if C is None or not stays(C, stated, slope, p):
            return failed
    certificate = BasinIsotropic(
        problem.solution.certificate, _table(q.W), q.radius, q.rule, q.step, stated, slope,
        STATED_BITS)
    return certificate, found.ratio, found.binding


def _by_residual(question: _Question) -> tuple[BasinResidual | None, float, str]:
    """(certificate or None, worst float ratio, the condition that has it)."""
    q = question
    view = residual_floats(q.phi)
    if view is None:
        return None, np.inf, "eigenvalues"
    start = float_start(view, q.loss, _float_margins(q), to_float(q.radius))
    if not 0 < start.clock < MAX_CLOCK:
        return None, np.inf, "residual"
    found = suggest_ball(view, q.loss, q.rule, to_float(q.step), start)
    frame = enclose(q.phi) if found.ratio < 1 else None
    given = parameters(view, start, found)
    if frame is None or not residual_holds(frame, view, q.loss, q.rule, q.step, q.margins,
                                           q.radius, given):
        return None, found.ratio, found.binding
    certificate = BasinResidual(
        frame.solution.certificate, _table(q.W), q.radius, q.rule, q.step, given.clock,
        given.ball, given.drift, (given.low, given.high), STATED_BITS)
    return certificate, found.ratio, found.binding


def _place(q: _Question, frame: Enclosure) -> tuple[arb, arb]:
    """A lower bound of the clock and an upper bound of ‖W_⊥‖ over all starts."""
    pull = sum((x * arb(q.margins[k]) for k, x in
                zip(frame.positions, frame.multipliers, strict=True)), arb(0))
    clock = pull / frame.norm_squared
    rest = arb_mat(q.W) - frame.W * clock
    across = sum((x * x for x in rest.entries()), arb(0)).upper()
    radius = arb(q.radius)
    return (clock - radius / frame.norm).lower(), max(across, arb(0)).sqrt() + radius


# Estimates ----------------------------------------------------------------------------------


def _float_matrix(W: fmpq_mat) -> FloatArray:
    return np.array([[to_float(x) for x in row] for row in W.tolist()])


def _float_margins(q: _Question) -> FloatArray:
    return np.array([to_float(m) for m in q.margins])


def _float_place(q: _Question, problem: FloatProblem) -> tuple[float, float]:
    W, M = _float_matrix(q.W), problem.solution.float_W
    clock = float((W * M).sum()) / problem.norm_squared
    radius = to_float(q.radius)
    across = float(np.linalg.norm(W - clock * M)) + radius
    return clock - radius / float(np.sqrt(problem.norm_squared)), across


def _estimate(q: _Question, problem: FloatProblem) -> str:
    """Where along the ray through W_⊥ the float conditions pass: a factor found by bisection."""
    clock, across = _float_place(q, problem)
    step, norm = to_float(q.step), float(np.sqrt(problem.norm_squared))
    view = residual_floats(q.phi)
    if not np.isfinite(clock + across):
        return "no estimate of a sufficient radius"
    base = max(clock, 1.0)
    ahead = None
    if view is not None:
        start = float_start(view, q.loss, _float_margins(q), 0.0)
        excess = problem.reach[view.others] - 1.0
        ahead = start.ahead - excess * start.clock

    def passes(s: float) -> bool:
        if suggest_slope(problem, q.loss, q.rule, step, s, across).ratio < ENOUGH:
            return True
        if view is None or ahead is None:
            return False
        aligned = Start(s, 0.0, ahead + excess * s)
        return suggest_ball(view, q.loss, q.rule, step, aligned).ratio < 1

    low, high = 0, 48
    if not passes(base * 2.0 ** (high / 2)):
        return "no radius up to 2^24 times that passes along this ray"
    while high - low > 1:
        middle = (low + high) // 2
        if passes(base * 2.0 ** (middle / 2)):
            high = middle
        else:
            low = middle
    enough = float(np.hypot(base * 2.0 ** (high / 2) * norm, across))
    return f"about ‖W‖ = {enough:.2g} along this ray would be enough"


def _table(W: fmpq_mat) -> tuple[tuple[fmpq, ...], ...]:
    return tuple(map(tuple, W.tolist()))
