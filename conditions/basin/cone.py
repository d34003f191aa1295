"""Is there an explicit cone around W^mm_α from which all descent converges to it?

Statement
    Descent (normalized or plain with step η, or the flow) converges in direction to W^mm_α from
    every W with ‖W‖_F ≥ R and ⟨W, W^mm_α⟩ ≥ (1 − μ)‖W‖_F‖W^mm_α‖_F, for the R and μ of the
    certificate, and ∇L(W) ≠ 0 there.
Hypotheses
    Att-SVM(α) feasible and α locally optimal, else undecided: there is no such cone to find.
Certificate
    `basin_cone` (holds); never fails.
Decision procedure
    For a grid of slopes floats find the least clock at which the cone conditions hold and C < τ²s;
    the smallest R of them is rounded up and decided in balls.
Reference
    docs/theory/basin.md; arXiv 2308.16898 v1, Theorem 7, whose C_{μ,R}(W^mm_α) this is.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from flint import arb, ctx, fmpq

from conditions.basin.enclosure import (
    MAX_CLOCK,
    STATED_BITS,
    check_rule,
    enclose,
    scores_in_range,
    support_rivals,
)
from conditions.basin.isotropic import cone_bound, cone_floats, slope_range
from conditions.basin.suggestion import OUT_OF_RANGE, FloatProblem, float_problem
from conditions.certificates import BasinCone
from conditions.dataset import AttentionDataset, FloatArray
from conditions.exact.numbers import round_dyadic, to_float
from conditions.losses import check_loss
from conditions.selection import Selection, check_selection, features
from conditions.verdict import Status, Verdict, proved, undecided

CONDITION = "basin_cone"

_GRID, _ROUNDS, _HALVINGS = 32, 2, 40


class ExplicitBasin(NamedTuple):
    """Every W with ‖W‖_F ≥ R and 1 − cos ≤ ω converges; ‖W/‖W‖ − W̄‖ ≤ δ for ever, δ² = 2ω."""

    delta: float
    omega: fmpq
    R: fmpq


def explicit_basin(dataset: AttentionDataset, selection: Selection, rule: str, step: Any,
                   loss: str) -> ExplicitBasin | None:
    """(δ, ω, R) of the proved cone with the smallest R found, None if none was."""
    certificate = decide(dataset, selection, rule, step, loss).certificate
    if not isinstance(certificate, BasinCone):
        return None
    return ExplicitBasin(math.sqrt(2 * to_float(certificate.aperture)), certificate.aperture,
                         certificate.radius)


def decide(dataset: AttentionDataset, selection: Selection, rule: str, step: Any, loss: str
           ) -> Verdict:
    """Decide the condition for α = *selection*. rule and step as in `conditions.basin.decide`."""
    check_loss(loss)
    rule, eta = check_rule(rule, step)
    phi = features(dataset, check_selection(dataset, selection))

    def open_(reason: str) -> Verdict:
        return undecided(CONDITION, reason, selection=phi.selection, loss=loss)

    problem = float_problem(phi)
    if problem is None:
        return open_("Att-SVM(α) is infeasible")
    if rivals := support_rivals(problem.solution):
        return open_(f"α is not locally optimal: support index {rivals[0]} scores at least as "
                     "high as the selected token")
    if not scores_in_range(dataset, loss):
        return open_("scores put |ℓ'| out of the range that is enclosed")
    if not problem.in_range:
        return open_(OUT_OF_RANGE)
    certificate = _certificate(problem, loss, rule, eta)
    if certificate is None:
        return open_("no cone was found by floats and confirmed by balls")
    mu, R = to_float(certificate.aperture), to_float(certificate.radius)
    return proved(CONDITION, Status.HOLDS, certificate,
                  f"all W with ‖W‖ ≥ {R:.6g} and correlation ≥ 1 − {mu:.4g} converge to W^mm",
                  selection=phi.selection, loss=loss, number=f"R = {R:.4g}, μ = {mu:.3g}")


def _certificate(problem: FloatProblem, loss: str, rule: str, step: fmpq) -> BasinCone | None:
    found = suggest_cone(problem, loss, rule, to_float(step))
    frame = enclose(problem.phi) if found is not None else None
    if found is None or frame is None:
        return None
    slope = round_dyadic(fmpq(*found[0].as_integer_ratio()), 20)
    clock = round_dyadic(fmpq(*found[1].as_integer_ratio()) * (1 + fmpq(1, 1 << 12)), 24)
    with ctx.workprec(frame.bits):
        C = cone_bound(frame, loss, rule, step, clock, slope)
        s, tau = arb(clock), arb(slope)
        if clock > MAX_CLOCK or C is None or not tau * tau * s > C:
            return None
        # μ = 1 − 1/√(1+x), x = (τ/‖M‖)², without its cancellation; then R = s‖M‖/(1 − μ).
        x = tau * tau / frame.norm_squared
        root = (1 + x).sqrt()
        mu = _dyadic((x / (root * (1 + root))).lower(), -1)
        R = _dyadic((s * frame.norm / (1 - arb(mu))).upper(), 1)
        inside = arb(mu * (2 - mu)) * frame.norm_squared <= tau * tau * arb(1 - mu) ** 2
        if not (inside and s * frame.norm <= arb((1 - mu) * R)):
            return None
    return BasinCone(problem.solution.certificate, mu, R, rule, step, clock, slope, STATED_BITS)


def _dyadic(end: arb, side: int) -> fmpq:
    """A short dyadic within 2⁻²⁰ of *end*, relatively, below (−1) or above (1) it."""
    value = fmpq(*float(end).as_integer_ratio())
    return round_dyadic(value * (1 + side * fmpq(1, 1 << 21)), 24)


def suggest_cone(problem: FloatProblem, loss: str, rule: str, step: float
                 ) -> tuple[float, float] | None:
    """(slope, clock) of the cone of smallest R that floats find, or None."""
    low, high = slope_range(problem, 0.0)
    low = high * 1e-6
    best: tuple[float, float] | None = None
    for _ in range(_ROUNDS):
        slopes = np.geomspace(low, high, _GRID + 2)[1:-1]
        clocks = _least_clocks(problem, loss, rule, step, slopes)
        radii = clocks * np.sqrt(problem.norm_squared + slopes**2)
        k = int(np.argmin(radii))
        if not np.isfinite(radii[k]):
            return best
        best = float(slopes[k]), float(clocks[k])
        low, high = slopes[max(k - 1, 0)], slopes[min(k + 1, _GRID - 1)]
    return best


def _least_clocks(problem: FloatProblem, loss: str, rule: str, step: float, slopes: FloatArray
                  ) -> FloatArray:
    """Per slope the least clock at which the conditions hold, by bisection; inf if none."""

    def passes(log_clocks: FloatArray) -> FloatArray:
        clocks = np.exp2(log_clocks)
        cone = cone_floats(problem, loss, rule, step, clocks, slopes)
        return np.asarray((cone.valid < 1) & (slopes**2 * clocks > cone.C))

    low, high = np.full_like(slopes, -20.0), np.full_like(slopes, 40.0)
    reached = passes(high)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        good = passes(middle)
        high, low = np.where(good, middle, high), np.where(good, low, middle)
    return np.where(reached, np.exp2(high), np.inf)
