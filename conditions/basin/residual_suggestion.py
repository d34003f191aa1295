"""The residual conditions in float64: where a start lies, and the best parameters for it.

They suggest; `conditions.basin.residual` decides.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from flint import fmpq

from conditions.basin.suggestion import FloatProblem, IntArray, float_problem, log_slope
from conditions.dataset import FloatArray
from conditions.selection import Features

SLACK = 2.0**-6
"""How far the eigenvalue bounds stay off the float eigenvalues, relatively."""

_GRID = 16
_ORDER = ("residual", "force", "drift", "step")


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

    ``members`` are the support rows and ``places`` the place of each one's equal in S; ``inverse``
    is Γ⁻¹; ``eigenvalues`` are the smallest and largest of diag(√λ)Γdiag(√λ) across √λ, which is
    an eigenvector of eigenvalue 1.
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
    gram = p.cross[p.positions]
    if places is None or not np.all(np.isfinite(gram)):
        return None
    root = np.sqrt(p.multipliers)
    scaled = root[:, None] * gram * root
    # Deflate √λ to an eigenvalue that is neither the smallest nor the largest of the others.
    inner = float(np.trace(scaled) - 1.0) / max(len(root) - 1, 1) if len(root) > 1 else 1.0
    values = np.linalg.eigvalsh(scaled + (inner - 1.0) / p.norm_squared * np.outer(root, root))
    if not values[0] > 0:
        return None
    return ResidualFloats(p, members, np.array(places, dtype=np.intp),
                          np.asarray(np.linalg.inv(gram), dtype=float),
                          (float(values[0]), float(values[-1])))


@dataclass(frozen=True)
class Start:
    """A start as the conditions see it, in floats.

    Its clock s*, the size of its residual in the span of S, and m_o − ⟨φ_o, residual⟩ − s* for
    the rows of O, all at their worst over the ball of starts.
    """

    clock: float
    size: float
    ahead: FloatArray


def float_start(view: ResidualFloats, loss: str, margins: FloatArray, radius: float) -> Start:
    """The start of these margins (N,)."""
    p = view.problem
    o = margins[p.positions] - view.offsets(loss)
    clock = float(p.multipliers @ o) / p.norm_squared
    e = o - clock
    y = view.inverse @ e
    ahead = margins - p.cross @ y - clock - p.sizes * radius
    return Start(clock - radius / float(np.sqrt(p.norm_squared)),
                 float(np.sqrt(max(float(e @ y), 0.0))) + radius, ahead[view.others])


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
    s, members, owners = start.clock, view.members, p.phi.owners
    v, v_S = p.across, p.across[p.positions]
    with np.errstate(all="ignore"):
        lower = np.empty((len(B), len(p.phi)))
        lower[:, members] = s + (view.offsets(loss) - B[:, None] * v_S)[:, view.places]
        t = start.ahead - v[off] * (B + Z)[:, None]
        lower[:, off] = s + t
        w = p.weights(loss, lower)
        D = w.D[:, owners]
        limit = log_slope(loss, p.selected_scores)[owners]
        share = D[:, members] / p.gaps[members]
        up = np.expm1((w.log_most - limit)[:, members] + np.log1p(share))
        down = -np.expm1((w.log_least + w.log_share - limit)[:, members]
                         + np.log1p(-np.minimum(share, 1.0)))
        above, below = (np.zeros((len(p.positions), len(B))) for _ in range(2))
        np.maximum.at(above, view.places, up.T)
        np.maximum.at(below, view.places, down.T)
        shift = (above.max(axis=0) - below.max(axis=0)) / 2
        spread = np.maximum(above - shift, below + shift).T
        A = np.exp(w.log_most[:, off] - t) * (np.abs(p.gaps[off]) + D[:, off]) / n
        P = ((p.multipliers * np.exp(B[:, None] * v_S) * spread * v_S).sum(axis=-1)
             + (A * v[off]).sum(axis=-1))
        pace = 1 - below.max(axis=0) - (A * p.reach[off]).sum(axis=-1) / p.norm_squared
        h = {"normalized": step / (np.sqrt(p.norm_squared) * pace),
             "plain": np.full_like(B, step * np.exp(-s)), "flow": np.zeros_like(B)}[rule]
        moved = (A * v[off] * (1 / (pace[:, None] * (p.reach[off] - 1)) + h[:, None])).sum(axis=-1)
        low = view.eigenvalues[0] * (1 - SLACK) * np.exp(-v_S.max() * B / 2)
        high = view.eigenvalues[1] * (1 + SLACK) * (1 + np.exp(v_S.max() * B)) / 2
        ratios = {"residual": start.size / B, "force": P / ((1 + shift) * low * B),
                  "drift": moved / Z, "step": h * (1 + shift) * (low + high) / 2}
    lost = ~((pace > 0) & (1 + shift > 0))
    return {k: np.where(np.isnan(r) | (lost if k == "force" else False), np.inf, r)
            for k, r in ratios.items()}
