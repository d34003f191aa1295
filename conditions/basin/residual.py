"""The residual conditions: descent stays within a bounded distance of an explicit curve.

Near sM + W̃, M = W^mm_α, the part of the residual in the span of the support features does
gradient steps on a strongly convex function, perturbed by forces that fall like e^{−κs}. Asks for
support features that are independent (up to equal ones) and all of positive multiplier.
Source: docs/theory/basin.md, "The residual".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from flint import arb, arb_mat, ctx, fmpq

from conditions.basin.enclosure import Enclosure, Weights, slope
from conditions.basin.suggestion import FloatProblem, IntArray, float_problem, log_slope
from conditions.dataset import FloatArray
from conditions.exact.numbers import round_dyadic
from conditions.selection import Features

_GRID = 16
_SLACK = 2.0**-6
"""How far the eigenvalue bounds stay off the float eigenvalues, relatively."""
_ORDER = ("eigenvalues", "residual", "force", "drift", "step")


# The support --------------------------------------------------------------------------------


def equal_classes(phi: Features, positions: Sequence[int], support: Sequence[int]
                  ) -> list[int] | None:
    """For each of *support* the place in *positions* of a row with an equal feature.

    None if one has none: then the support features are dependent in some other way, or a
    multiplier is 0.
    """
    deltas, queries = phi.differences.tolist(), phi.queries.tolist()

    def key(k: int) -> tuple[tuple[fmpq, ...], tuple[fmpq, ...]]:
        # δqᵀ ≠ 0 determines (q_j δ, q/q_j), q_j the first nonzero entry of q.
        head = next(q for q in queries[k] if q != 0)
        return (tuple(fmpq(head * x) for x in deltas[k]),
                tuple(fmpq(q, head) for q in queries[k]))

    place = {key(k): j for j, k in enumerate(positions)}
    found = [place.get(key(k), -1) for k in support]
    return None if -1 in found else found


# In floats ----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class ResidualFloats:
    """What the float evaluation needs beyond `FloatProblem`.

    ``members`` are the support rows and ``places`` the place of each one's equal in S;
    ``inverse`` is Γ⁻¹, ``eigenvalues`` those of diag(√λ)Γdiag(√λ), smallest and largest.
    """

    problem: FloatProblem
    members: IntArray
    places: IntArray
    inverse: FloatArray
    eigenvalues: tuple[float, float]

    @cached_property
    def others(self) -> IntArray:
        """O, the rows off the support."""
        return np.flatnonzero(~self.problem.support)

    def offsets(self, loss: str) -> FloatArray:
        """l_σ = log(c_σ/λ_σ), (s,)."""
        p = self.problem
        slopes = np.exp(log_slope(loss, p.selected_scores))[p.phi.owners]
        c = np.zeros(len(p.positions))
        np.add.at(c, self.places, (slopes * p.gaps)[self.members] / p.phi.dataset.n)
        return np.asarray(np.log(c / p.multipliers))


@lru_cache(maxsize=64)
def residual_floats(phi: Features) -> ResidualFloats | None:
    """The float view, None where the conditions do not apply; cached."""
    p = float_problem(phi)
    if p is None:
        return None
    members = np.flatnonzero(p.support)
    places = equal_classes(phi, p.positions.tolist(), members.tolist())
    if places is None:
        return None
    gram = p.cross[p.positions]
    root = np.sqrt(p.multipliers)
    if not np.all(np.isfinite(gram)):
        return None
    values = np.linalg.eigvalsh(root[:, None] * gram * root)
    if not values[0] > 0:
        return None
    return ResidualFloats(p, members, np.array(places, dtype=np.intp),
                          np.asarray(np.linalg.inv(gram), dtype=float),
                          (float(values[0]), float(values[-1])))


@dataclass(frozen=True)
class Start:
    """A start as the conditions see it, in floats: clock s, ‖E‖, and q_o for the rows of O."""

    clock: float
    size: float
    ahead: FloatArray


def float_start(view: ResidualFloats, loss: str, margins: FloatArray, radius: float) -> Start:
    """The start of these margins (N,), at the clock that makes ‖E‖ least."""
    p = view.problem
    o = margins[p.positions] - view.offsets(loss)
    clock = float(p.multipliers @ o) / p.norm_squared
    e = o - clock
    y = view.inverse @ e
    ahead = margins - p.cross @ y - clock - p.sizes * radius
    return Start(clock, float(np.sqrt(max(float(e @ y), 0.0))) + radius, ahead[view.others])


@dataclass(frozen=True)
class Suggestion:
    """Parameters of the conditions, their worst ratio (< 1 passes) and which has it."""

    ball: float
    drift: float
    ratio: float
    binding: str


def suggest_ball(view: ResidualFloats, loss: str, rule: str, step: float, start: Start
                 ) -> Suggestion:
    """The best ball and drift allowance for *start*, by a grid that is refined once."""
    unit = 1.0 / float(view.problem.sizes[view.problem.positions].max())
    balls = np.geomspace(max(start.size, 1e-9 * unit), max(2 * start.size, 8 * unit), _GRID)
    balls = balls * (1 + 2.0**-10)
    drifts = np.geomspace(1e-8 * unit, 8 * unit, _GRID)
    best = Suggestion(0.0, 0.0, np.inf, "residual")
    for _ in range(2):
        B, Z = (grid.ravel() for grid in np.meshgrid(balls, drifts, indexing="ij"))
        ratios = _ratios(view, loss, rule, step, start, B, Z)
        worst = np.max(list(ratios.values()), axis=0)
        k = int(np.argmin(worst))
        if worst[k] < best.ratio:
            binding = max(_ORDER, key=lambda name: ratios[name][k])
            best = Suggestion(float(B[k]), float(Z[k]), float(worst[k]), binding)
        a, b = divmod(k, _GRID)
        balls = np.geomspace(balls[max(a - 1, 0)], balls[min(a + 1, _GRID - 1)], _GRID)
        drifts = np.geomspace(drifts[max(b - 1, 0)], drifts[min(b + 1, _GRID - 1)], _GRID)
    return best


def _ratios(view: ResidualFloats, loss: str, rule: str, step: float, start: Start,
            B: FloatArray, Z: FloatArray) -> dict[str, FloatArray]:
    """The conditions as ratios at arrays of B and Z."""
    p, n, off = view.problem, view.problem.phi.dataset.n, view.others
    s, members, owners = start.clock, view.members, view.problem.phi.owners
    own = p.positions[view.places]
    u, u_S = p.sizes, float(p.sizes[p.positions].max())
    with np.errstate(all="ignore"):
        lower = np.empty((len(B), len(p.phi)))
        lower[:, members] = s + view.offsets(loss)[view.places] - B[:, None] * u[own]
        t = start.ahead - u[off] * (B + Z)[:, None]
        lower[:, off] = s + t
        w = p.weights(loss, lower)
        D = w.D[:, owners]
        limit = log_slope(loss, p.selected_scores)[owners]
        gaps = p.gaps[members]
        up = np.expm1((w.log_most - limit)[:, members] + np.log1p(D[:, members] / gaps))
        down = -np.expm1((w.log_least + w.log_share - limit)[:, members]
                         + np.log1p(-np.minimum(D[:, members] / gaps, 1.0)))
        worst = np.zeros((len(p.positions), len(B)))
        np.maximum.at(worst, view.places, np.maximum(up, down).T)
        on_S = np.exp(B[:, None] * u[p.positions])
        force = (p.multipliers * on_S * worst.T * u[p.positions]).sum(axis=-1)
        A = np.exp(w.log_most[:, off] - t) * (np.abs(p.gaps[off]) + D[:, off]) / n
        P = force + (A * u[off]).sum(axis=-1)
        norm = np.sqrt(p.norm_squared)
        bottom = norm * np.exp(-B / norm) - P
        h = {"normalized": np.where(bottom > 0, step / bottom, np.inf),
             "plain": np.full_like(B, step * np.exp(-s)), "flow": np.zeros_like(B)}[rule]
        moved = (A * u[off] * (1 / (p.reach[off] - 1) + h[:, None])).sum(axis=-1)
        low = view.eigenvalues[0] * -np.expm1(-u_S * B) / (u_S * B)
        high = view.eigenvalues[1] * np.expm1(u_S * B) / (u_S * B)
        ratios = {"eigenvalues": np.zeros_like(B), "residual": start.size / B,
                  "force": P / (low * B * (1 - _SLACK)), "drift": moved / Z,
                  "step": h * (low + high) * (1 + _SLACK) / 2}
    return {k: np.where(np.isnan(r), np.inf, r) for k, r in ratios.items()}


# In balls -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Eigenvalues:
    """0 < μ ≤ μ' with Γ − μ diag(1/λ) and μ' diag(1/λ) − Γ proved positive definite."""

    low: fmpq
    high: fmpq


def eigenvalue_bounds(frame: Enclosure, view: ResidualFloats) -> Eigenvalues | None:
    """Proved bounds near the float eigenvalues, or None."""
    low, high = view.eigenvalues
    bounds = Eigenvalues(round_dyadic(fmpq(*(low * (1 - _SLACK)).as_integer_ratio()), 12),
                         round_dyadic(fmpq(*(high * (1 + _SLACK)).as_integer_ratio()), 12))
    with ctx.workprec(frame.bits):
        s = len(frame.positions)
        inverses = arb_mat(s, s)
        for k, x in enumerate(frame.multipliers):
            inverses[k, k] = 1 / x
        if (_positive_definite(frame.gram - inverses * arb(bounds.low))
                and _positive_definite(inverses * arb(bounds.high) - frame.gram)):
            return bounds
    return None


def _positive_definite(A: arb_mat) -> bool:
    """Whether a congruence with a float triangle shows A ≻ 0: TᵀAT is near I (Gershgorin)."""
    s = A.nrows()
    try:
        L = np.linalg.cholesky(np.array([[float(x) for x in row] for row in A.tolist()]))
        T = np.linalg.inv(L).T
    except np.linalg.LinAlgError:
        return False
    if not np.all(np.isfinite(T)):
        return False
    ball = arb_mat(s, s, [float(x) for x in T.ravel()])
    for k, row in enumerate((ball.transpose() * A * ball).tolist()):
        others = sum((abs(x) for j, x in enumerate(row) if j != k), arb(0))
        if not row[k] > others:
            return False
    # TᵀAT ≻ 0 makes T nonsingular and A ≻ 0.
    return True


def residual_holds(frame: Enclosure, view: ResidualFloats, bounds: Eigenvalues, loss: str,
                   rule: str, step: fmpq, margins: Sequence[fmpq], radius: fmpq, clock: fmpq,
                   ball: fmpq, drift: fmpq) -> bool:
    """Whether all conditions are proved for a start of these margins (N,)."""
    with ctx.workprec(frame.bits):
        s, B, Z = arb(clock), arb(ball), arb(drift)
        phi, S, n = frame.phi, frame.positions, frame.phi.dataset.n
        owner = dict(zip(view.members.tolist(), view.places.tolist(), strict=True))
        off = [k for k in range(len(phi)) if k not in owner]
        if any(frame.gaps[k] <= 0 for k in owner):
            return False
        limit = [slope(loss, f) for f in frame.selected_scores]
        c = [arb(0)] * len(S)
        for k, j in owner.items():
            c[j] = c[j] + limit[phi.rows[k][0]] * frame.gaps[k] / n
        offsets = [(x / y).log() for x, y in zip(c, frame.multipliers, strict=True)]
        column = arb_mat(len(S), 1, [arb(margins[k]) - s - x
                                     for k, x in zip(S, offsets, strict=True)])
        try:
            y = frame.gram.solve(column)
        except ZeroDivisionError:
            return False
        square = (column.transpose() * y)[0, 0].upper()
        if not max(square, arb(0)).sqrt() + arb(radius) <= B:
            return False
        shift = (frame.cross * y).entries()
        t = {k: arb(margins[k]) - shift[k] - s - frame.sizes[k] * (arb(radius) + B + Z) for k in off}
        sizes = [frame.sizes[k] for k in S]
        lower = [s + t[k] if k in t else s + offsets[owner[k]] - sizes[owner[k]] * B
                 for k in range(len(phi))]
        w = frame.weights(loss, lower)
        A = {k: w.most[phi.rows[k][0]] * (abs(frame.gaps[k]) + w.D[phi.rows[k][0]])
             * (-x).exp() / n for k, x in t.items()}
        P = sum((a * frame.sizes[k] for k, a in A.items()), arb(0))
        for x, u, worst in zip(frame.multipliers, sizes,
                               _deviations(frame, owner, limit, w), strict=True):
            P += x * (u * B).exp() * worst * u
        u = arb(0)
        for size in sizes:
            u = u.max(size)
        low = arb(bounds.low) * (1 - (-u * B).exp()) / (u * B)
        high = arb(bounds.high) * ((u * B).exp() - 1) / (u * B)
        h = _relative_step(frame, rule, step, s, B, P)
        if h is None or not all(frame.excess[k] > 0 for k in off):
            return False
        moved = sum((a * frame.sizes[k] * (1 / frame.excess[k] + h) for k, a in A.items()), arb(0))
        return bool(low * B > P and moved < Z and h * (low + high) < 2)


def _deviations(frame: Enclosure, owner: dict[int, int], limit: list[arb], w: Weights
                ) -> list[arb]:
    """ν_σ, upper bounds: how far the true weights on S may be from their limits, relatively."""
    worst = [arb(0)] * len(frame.positions)
    for k, j in owner.items():
        i, gap = frame.phi.rows[k][0], frame.gaps[k]
        full = limit[i] * gap
        up = w.most[i] * (gap + w.D[i]) / full - 1
        down = 1 - w.least[i] * w.S[i] * (gap - w.D[i]) / full
        worst[j] = worst[j].max(up).max(down)
    return worst


def _relative_step(frame: Enclosure, rule: str, step: fmpq, s: arb, B: arb, P: arb) -> arb | None:
    """h, a bound of e^−s times the step along the gradient; None if there is none."""
    if rule == "flow":
        return arb(0)
    if rule == "plain":
        return arb(step) * (-s).exp()
    bottom = frame.norm * (-B / frame.norm).exp() - P
    return arb(step) / bottom if bottom > 0 else None
