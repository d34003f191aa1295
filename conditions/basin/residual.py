"""The residual conditions: descent stays within a bounded distance of an explicit curve.

Near sM + W̃, M = W^mm_α, the part of the residual in the span of the support features does
gradient steps on a strongly convex function, perturbed by forces that fall like e^{−κs}. Asks for
support features that are independent (up to equal ones) and all of positive multiplier.
Source: docs/theory/basin.md, "The residual".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from flint import arb, arb_mat, ctx, fmpq

from conditions.basin.enclosure import Enclosure, Weights, slope
from conditions.basin.residual_suggestion import SLACK, ResidualFloats, Start, Suggestion
from conditions.exact.numbers import round_dyadic


@dataclass(frozen=True)
class Parameters:
    """The parameters of the conditions: clock s, B, Z, and the eigenvalue bounds μ ≤ μ'."""

    clock: fmpq
    ball: fmpq
    drift: fmpq
    low: fmpq
    high: fmpq


def parameters(view: ResidualFloats, start: Start, found: Suggestion) -> Parameters:
    """The suggestion in short dyadics, the clock rounded down."""
    def short(x: float, bits: int) -> fmpq:
        return round_dyadic(fmpq(*x.as_integer_ratio()), bits)

    low, high = view.eigenvalues
    return Parameters(short(start.clock * (1 - 2.0**-36), 40), short(found.ball, 30),
                      short(found.drift, 30), short(low * (1 - SLACK / 2), 12),
                      short(high * (1 + SLACK / 2), 12))


def eigenvalues_hold(frame: Enclosure, low: fmpq, high: fmpq) -> bool:
    """Whether *low* and *high* are proved to bound diag(√λ)Γdiag(√λ) across √λ."""
    with ctx.workprec(frame.bits):
        s = len(frame.positions)
        inverses = arb_mat(s, s)
        for k, x in enumerate(frame.multipliers):
            inverses[k, k] = 1 / x
        ones = arb_mat(s, s, [1] * (s * s)) * (1 / frame.norm_squared)
        return (_positive_definite(frame.gram + ones * arb(low) - inverses * arb(low))
                and _positive_definite(inverses * arb(high) - frame.gram + ones))


def _positive_definite(A: arb_mat) -> bool:
    """Whether a congruence with a float triangle shows A ≻ 0: TᵀAT is near I (Gershgorin)."""
    s = A.nrows()
    middle = np.array([[float(x) for x in row] for row in A.tolist()])
    # Rows of very different multipliers: scale to a unit diagonal first.
    diagonal = np.diag(middle)
    if not np.all(diagonal > 0):
        return False
    scale = 1.0 / np.sqrt(diagonal)
    try:
        L = np.linalg.cholesky(scale[:, None] * middle * scale)
        T = scale[:, None] * np.linalg.inv(L).T
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


@dataclass(frozen=True)
class ResidualValues:
    """What the residual conditions come to, in balls.

    ``clock`` is the least s* of a start and ``size`` the largest ‖E_∥‖; then ν⁺, ν⁻, ν̄, ϑ, P,
    h, μ_B, μ'_B and ``moved``, the bound of the drift.
    """

    clock: arb
    size: arb
    up: arb
    down: arb
    shift: arb
    pace: arb
    push: arb
    step: arb
    low: arb
    high: arb
    moved: arb


def residual_holds(frame: Enclosure, view: ResidualFloats, loss: str, rule: str, step: fmpq,
                   margins: Sequence[fmpq], radius: fmpq, given: Parameters) -> bool:
    """Whether all conditions are proved for the starts within *radius* of these margins (N,)."""
    owner = dict(zip(view.members.tolist(), view.places.tolist(), strict=True))
    found = residual_values(frame, owner, loss, rule, step, margins, radius, given)
    return found is not None and eigenvalues_hold(frame, given.low, given.high)


def residual_values(frame: Enclosure, owner: dict[int, int], loss: str, rule: str, step: fmpq,
                    margins: Sequence[fmpq], radius: fmpq, given: Parameters
                    ) -> ResidualValues | None:
    """All values where every condition but that on the eigenvalues is proved; else None.

    *owner* gives each support row the place in S of the row with its feature.
    """
    with ctx.workprec(frame.bits):
        s, B, Z, rho = (arb(x) for x in (given.clock, given.ball, given.drift, radius))
        phi, S, n = frame.phi, frame.positions, frame.phi.dataset.n
        off = [k for k in range(len(phi)) if k not in owner]
        if any(frame.gaps[k] <= 0 for k in owner) or not all(frame.excess[k] > 0 for k in off):
            return None
        limit = [slope(loss, f) for f in frame.selected_scores]
        offsets = _offsets(frame, owner, limit)
        place = _place(frame, margins, offsets)
        if place is None:
            return None
        star, size, ahead = place
        if not (s <= star - rho / frame.norm and size + rho <= B):
            return None
        v_S = [frame.across[k] for k in S]
        t = {k: ahead[k] - frame.sizes[k] * rho - frame.across[k] * (B + Z) for k in off}
        w = frame.weights(loss, [
            s + t[k] if k in t else s + offsets[owner[k]] - v_S[owner[k]] * B
            for k in range(len(phi))])
        above, below = _deviations(frame, owner, limit, w)
        up, down, top = (_largest(x) for x in (above, below, v_S))
        shift = ((up - down) / 2).mid()
        A = {k: w.most[phi.rows[k][0]] * (abs(frame.gaps[k]) + w.D[phi.rows[k][0]])
             * (-x).exp() / n for k, x in t.items()}
        P = _dot(A, frame.across)
        for x, v, a, b in zip(frame.multipliers, v_S, above, below, strict=True):
            P += x * (v * B).exp() * (a - shift).max(b + shift) * v
        pace = 1 - down - _dot(A, frame.reach) / frame.norm_squared
        if not (pace > 0 and shift > -1):
            return None
        h = {"normalized": arb(step) / (frame.norm * pace), "flow": arb(0),
             "plain": arb(step) * (-s).exp()}[rule]
        low = arb(given.low) * (-top * B / 2).exp()
        high = arb(given.high) * (1 + (top * B).exp()) / 2
        moved = _dot(A, [v * (1 / (pace * x) + h) if k in A else v for k, (v, x) in
                         enumerate(zip(frame.across, frame.excess, strict=True))])
        if not ((1 + shift) * low * B > P and moved < Z and h * (1 + shift) * (low + high) < 2):
            return None
        return ResidualValues(star - rho / frame.norm, size + rho, up, down, shift, pace, P, h, low,
                              high, moved)


def _offsets(frame: Enclosure, owner: dict[int, int], limit: list[arb]) -> list[arb]:
    """l_σ = log(c_σ/λ_σ)."""
    c = [arb(0)] * len(frame.positions)
    for k, j in owner.items():
        c[j] = c[j] + limit[frame.phi.rows[k][0]] * frame.gaps[k] / frame.phi.dataset.n
    return [(x / y).log() for x, y in zip(c, frame.multipliers, strict=True)]


def _place(frame: Enclosure, margins: Sequence[fmpq], offsets: list[arb]
           ) -> tuple[arb, arb, list[arb]] | None:
    """s*, ‖E‖ in the span of S, and m − ⟨φ, E⟩ − s* for all rows; None if Γ is not invertible."""
    column = [arb(margins[k]) - x for k, x in zip(frame.positions, offsets, strict=True)]
    star = sum((a * x for a, x in zip(frame.multipliers, column, strict=True)), arb(0))
    star /= frame.norm_squared
    e = arb_mat(len(column), 1, [x - star for x in column])
    try:
        y = frame.gram.solve(e)
    except ZeroDivisionError:
        return None
    size = max((e.transpose() * y)[0, 0].upper(), arb(0)).sqrt()
    pulls = (frame.cross * y).entries()
    return star, size, [arb(m) - x - star for m, x in zip(margins, pulls, strict=True)]


def _deviations(frame: Enclosure, owner: dict[int, int], limit: list[arb], w: Weights
                ) -> tuple[list[arb], list[arb]]:
    """(ν⁺, ν⁻): how far the true weights on S may be above and below their limits, relatively."""
    above, below = ([arb(0)] * len(frame.positions) for _ in range(2))
    for k, j in owner.items():
        i, gap = frame.phi.rows[k][0], frame.gaps[k]
        full = limit[i] * gap
        above[j] = above[j].max(w.most[i] * (gap + w.D[i]) / full - 1)
        below[j] = below[j].max(1 - w.least[i] * w.S[i] * (gap - w.D[i]) / full)
    return above, below


def _largest(values: Sequence[arb]) -> arb:
    top = arb(0)
    for x in values:
        top = top.max(x)
    return top


def _dot(sparse: dict[int, arb], values: Sequence[arb]) -> arb:
    return sum((x * values[k] for k, x in sparse.items()), arb(0))
