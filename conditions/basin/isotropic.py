"""The cone conditions: descent that starts in a cone around W^mm_α stays there and converges.

For a clock s and a slope τ, every step in the region {⟨W, M⟩ ≥ s‖M‖², ‖W_⊥‖ ≤ τ⟨W, M⟩/‖M‖²} raises
the clock of W, and ‖W_⊥‖² by at most 2C times as much: the run stays within a paraboloid around
the ray of M = W^mm_α. Source: docs/theory/basin.md, "The cone".
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from flint import arb, ctx, fmpq

from conditions.basin.enclosure import Enclosure, Weights
from conditions.basin.suggestion import FloatProblem
from conditions.dataset import FloatArray

ENOUGH = 1.0 - 2.0**-12
"""A float ratio below this is worth an evaluation in balls."""

_GRID, _ROUNDS = 32, 2
_ORDER = ("i", "iii", "iv", "ii", "v")


# In floats ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class ConeFloats:
    """Ratios that must be < 1, conditions (i)–(iv), and C; all of the shape of the grid."""

    ratios: dict[str, FloatArray]
    C: FloatArray

    @property
    def valid(self) -> FloatArray:
        """The largest of the ratios."""
        return np.asarray(np.max(list(self.ratios.values()), axis=0))


def cone_floats(problem: FloatProblem, loss: str, rule: str, step: float, clock: FloatArray,
                slope: FloatArray) -> ConeFloats:
    """The cone conditions at arrays of clocks and slopes of one shape."""
    p, s, tau = problem, clock[..., None], slope[..., None]
    worse = p.gaps > 0
    excess = p.reach - 1.0
    with np.errstate(all="ignore"):
        w = p.weights(loss, s * np.maximum(p.reach - tau * p.across, 0.0))
        D = w.D[..., p.phi.owners]
        least = np.log(np.maximum(p.gaps - D, 0.0)) + w.log_least + w.log_share
        weight = p.multipliers / p.norm_squared
        log_Z = (weight * (least[..., p.positions] - np.log(weight))).sum(axis=-1)
        pull = np.where(worse, np.log(p.gaps + D) + w.log_most - s * excess, -np.inf)
        top = pull.max(axis=-1)
        E = top + np.log(np.exp(pull - top[..., None]).sum(axis=-1)) - log_Z
        lead = s * (excess - tau * p.across)
        size = np.abs(p.gaps) + D
        A = np.where(worse, 0.0, size * np.exp(w.log_most - lead - log_Z[..., None]))
        eps_a, eps_v = (A * p.reach).sum(axis=-1), (A * p.across).sum(axis=-1)
        length = {"normalized": step, "flow": 0.0}.get(rule)
        if length is None:
            e = np.exp(-s * (p.reach - tau * p.across))
            length = step / p.phi.dataset.n * (np.exp(w.log_most) * size * p.across * e).sum(
                axis=-1)
        C = p.norm_squared * (E + clock * slope * eps_v + length * (
            p.across[worse].max(initial=0.0) + eps_v) / 2) / (1 - eps_a)
    ratios = {
        "i": (tau * p.across / p.reach).max(axis=-1),
        "ii": np.where(worse, 0.0, 1.0 / np.maximum(lead, 1e-300)).max(axis=-1),
        "iii": np.where(worse, D / np.where(worse, p.gaps, 1.0), 0.0).max(axis=-1),
        "iv": eps_a}
    return ConeFloats({k: np.where(np.isnan(r), np.inf, r) for k, r in ratios.items()}, C)


def least_slope(C: FloatArray, clock: float, across: float) -> FloatArray:
    """The least slope that (v) allows for a start with this clock and ‖W_⊥‖."""
    with np.errstate(all="ignore"):
        inner = 2.0 * C * clock - across**2
        return np.where(across**2 >= C * clock, across / clock, C / np.sqrt(inner))


@dataclass(frozen=True)
class Suggestion:
    """A slope, its worst ratio (< 1 passes) and the condition that has it."""

    slope: float
    ratio: float
    binding: str


def suggest_slope(problem: FloatProblem, loss: str, rule: str, step: float, clock: float,
                  across: float) -> Suggestion:
    """The best slope for a start of this clock and ‖W_⊥‖, by a refined logarithmic grid."""
    if not (clock > 0 and math.isfinite(clock) and math.isfinite(across)):
        return Suggestion(0.0, math.inf, "v")
    low, high = slope_range(problem, across / clock)
    if not low < high:
        return Suggestion(low, math.inf, "v")
    best = Suggestion(low, math.inf, "v")
    for _ in range(_ROUNDS):
        slopes = np.geomspace(low, high, _GRID + 2)[1:-1]
        cone = cone_floats(problem, loss, rule, step, np.full_like(slopes, clock), slopes)
        with np.errstate(all="ignore"):
            start = least_slope(cone.C, clock, across) / slopes
        # C means nothing where (i)–(iv) fail.
        start = np.where((cone.valid < 1) & ~np.isnan(start), start, 0.0)
        ratios = cone.ratios | {"v": start}
        worst = np.max(list(ratios.values()), axis=0)
        k = int(np.argmin(worst))
        if worst[k] < best.ratio:
            binding = max(_ORDER, key=lambda name: ratios[name][k])
            best = Suggestion(float(slopes[k]), float(worst[k]), binding)
        low, high = slopes[max(k - 1, 0)], slopes[min(k + 1, _GRID - 1)]
    return best


def slope_range(problem: FloatProblem, least: float) -> tuple[float, float]:
    """Slopes between *least* and what (i) and (ii) allow at any clock."""
    worse = problem.gaps > 0
    with np.errstate(all="ignore"):
        limits = np.where(worse, problem.reach, problem.reach - 1.0) / problem.across
    high = float(np.nanmin(limits, initial=1e6))
    return max(least, high * 1e-9), high


# In balls -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class ConeValues:
    """What the cone conditions come to for a clock s and a slope τ, in balls.

    ``least`` is the least s(a − τv), ``lead`` the least s(κ − τv) of a rival (None: no rivals),
    ``deviation`` the largest D_i/Δ_it of a worse row; the others are E, ε_a, ε_v, v̄, σ and C.
    """

    least: arb
    lead: arb | None
    deviation: arb
    entropy: arb
    eps_a: arb
    eps_v: arb
    across: arb
    length: arb
    C: arb


def cone_bound(frame: Enclosure, loss: str, rule: str, step: fmpq, clock: fmpq,
               slope: fmpq) -> arb | None:
    """C, enclosed, where conditions (i)–(iv) are proved for *clock* and *slope*; else None."""
    values = cone_values(frame, loss, rule, step, clock, slope)
    return None if values is None else values.C


def cone_values(frame: Enclosure, loss: str, rule: str, step: fmpq, clock: fmpq,
                slope: fmpq) -> ConeValues | None:
    """All values, where conditions (i)–(iv) are proved for *clock* and *slope*; else None."""
    with ctx.workprec(frame.bits):
        s, tau = arb(clock), arb(slope)
        lower = [a - tau * v for a, v in zip(frame.reach, frame.across, strict=True)]
        if not all(b > 0 for b in lower):
            return None
        w = frame.weights(loss, [s * b for b in lower])
        rows, gaps = frame.phi.rows, frame.gaps
        worse = [k for k, gap in enumerate(gaps) if gap > 0]
        rivals = [k for k, gap in enumerate(gaps) if gap <= 0]
        lead = {k: s * (frame.excess[k] - tau * frame.across[k]) for k in rivals}
        if not (all(x > 1 for x in lead.values())
                and all(w.D[rows[k][0]] < gaps[k] for k in worse)
                and all(gaps[k] > 0 for k in frame.positions)):
            return None
        log_Z = arb(0)
        for k, x in zip(frame.positions, frame.multipliers, strict=True):
            i, weight = rows[k][0], x / frame.norm_squared
            least = w.least[i] * w.S[i] * (gaps[k] - w.D[i])
            log_Z += weight * (least / weight).log()
        total = sum((w.most[rows[k][0]] * (gaps[k] + w.D[rows[k][0]])
                     * (-s * frame.excess[k]).exp() for k in worse), arb(0))
        E = total.log() - log_Z
        eps_a = eps_v = arb(0)
        for k, x in lead.items():
            i = rows[k][0]
            A = w.most[i] * (abs(gaps[k]) + w.D[i]) * (-x - log_Z).exp()
            eps_a, eps_v = eps_a + A * frame.reach[k], eps_v + A * frame.across[k]
        if not eps_a < 1:
            return None
        across = _largest([frame.across[k] for k in worse])
        length = _step_length(frame, w, rule, step)
        C = frame.norm_squared * (E + s * tau * eps_v + length * (across + eps_v) / 2)
        return ConeValues(_least([s * b for b in lower]), _least(list(lead.values())) if lead else
                          None, _largest([w.D[rows[k][0]] / gaps[k] for k in worse]), E, eps_a,
                          eps_v, across, length, C / (1 - eps_a))


def _largest(values: Sequence[arb]) -> arb:
    top = arb(0)
    for x in values:
        top = top.max(x)
    return top


def _least(values: Sequence[arb]) -> arb:
    least = values[0]
    for x in values:
        least = least.min(x)
    return least


def _step_length(frame: Enclosure, w: Weights, rule: str, step: fmpq) -> arb:
    """A bound of the part of a step across M, throughout the region."""
    if rule != "plain":
        return arb(step)
    total = arb(0)
    for (i, _), gap, v, e in zip(frame.phi.rows, frame.gaps, frame.across, w.e, strict=True):
        total += w.most[i] * (abs(gap) + w.D[i]) * v * e
    return arb(step) * total / frame.phi.dataset.n


def stays(C: arb, clock: fmpq, slope: fmpq, across: arb) -> bool:
    """Whether (v) is proved: a start of at least this clock and at most this ‖W_⊥‖ stays."""
    s, tau = arb(clock), arb(slope)
    return bool(across < tau * s and (
        tau * tau * s > C or tau * tau * (2 * C * s - across * across) > C * C))
