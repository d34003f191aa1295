"""S4: a certified stationary point.

Statement
    ∇L(W) = 0 for some W, in a box of the row space of the features where the zero is unique.
Hypotheses
    None.
Certificate
    `krawczyk`.
Decision procedure
    Newton's method in floats from seeded starts suggests zeros of the gradient; the Krawczyk
    operator in ball arithmetic proves them, and a congruence that makes the Hessian diagonally
    dominant proves its inertia. Zeros that are not isolated, or of singular Hessian, stay unproved.
Reference
    docs/theory/stationary.md, S4.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from flint import arb, arb_mat, ctx, fmpq, fmpq_mat

from conditions.certificates import Inertia, Krawczyk, Matrix
from conditions.dataset import AttentionDataset, FloatArray
from conditions.exact.numbers import rational
from conditions.stationary.coordinates import RowSpace, row_space
from conditions.stationary.gradient import ball_gradient, float_gradient

PRECISION = 128
SLACK = 4
"""The factor a checker may lose in its own enclosures."""

LARGEST_RANK = 48
_RADII = tuple(2.0 ** -k for k in range(8, 60, 4))
_STEP = 3.0
"""The largest Newton step, in logits."""


@dataclass(frozen=True)
class StationaryPoint:
    """A proved zero of the gradient: W (d × d, the float nearest its box's centre)."""

    certificate: Krawczyk
    W: FloatArray

    @property
    def kind(self) -> str:
        """What the certified inertia on the row space makes it."""
        inertia = self.certificate.inertia
        if inertia is None:
            return "stationary point"
        if inertia.negative == 0:
            return "local minimum"
        return "local maximum" if inertia.negative == len(self.certificate.basis) else "saddle"


def candidates(space: RowSpace, loss: str, starts: int, seed: int) -> FloatArray:
    """Float zeros of the gradient, (S, r), nearly equal ones merged.

    Newton's method with steps limited in logits and halved until ‖G‖/size falls. Runs that escape
    to infinity, where G decays but the Newton step does not, are dropped.
    """
    F = space.float_logits
    largest = np.linalg.norm(F, axis=2).max()
    rng = np.random.default_rng(seed)
    # Starts of isotropic W, not isotropic y: y = R⁻¹g with RᵀR the Gram matrix of the basis.
    spread = F.reshape(-1, space.rank)
    _, singular, right = np.linalg.svd(spread, full_matrices=False)
    root = right.T / np.maximum(singular, singular.max() * 1e-9)
    y = rng.standard_normal((starts, space.rank)) @ root.T
    sizes = np.abs(np.einsum("itr,sr->sit", F, y)).max(axis=(1, 2))
    radii = np.exp(rng.uniform(np.log(0.05), np.log(40.0), starts))
    y *= (radii / np.maximum(sizes, 1e-300))[:, None]
    y[0] = 0.0
    G, J, size = float_gradient(space, loss, y)
    for _ in range(80):
        step = _newton(G, J)
        length = np.abs(np.einsum("itr,sr->sit", F, step)).max(axis=(1, 2))
        step *= np.minimum(1.0, _STEP / np.maximum(length, 1e-300))[:, None]
        merit = np.linalg.norm(G, axis=1) / size
        moving = np.ones(starts, dtype=bool)
        for _ in range(6):
            trial = np.where(moving[:, None], y + step, y)
            G_trial, J_trial, size_trial = float_gradient(space, loss, trial)
            better = moving & (np.linalg.norm(G_trial, axis=1) / size_trial < merit)
            y = np.where(better[:, None], trial, y)
            G = np.where(better[:, None], G_trial, G)
            J = np.where(better[:, None, None], J_trial, J)
            size = np.where(better, size_trial, size)
            moving &= ~better
            step *= 0.3
        if moving.all():
            break
    merit = np.linalg.norm(G, axis=1) / (size * largest)
    good = np.isfinite(merit) & (merit < 1e-7) & np.all(np.isfinite(y), axis=1)
    return _distinct(space, y[good], merit[good])


def _newton(G: FloatArray, J: FloatArray) -> FloatArray:
    """−J⁻¹G, by a slightly regularised pseudoinverse where J is singular."""
    scale = np.abs(J).max(axis=(1, 2))
    usable = np.isfinite(scale) & (scale > 0) & np.all(np.isfinite(G), axis=1)
    step = np.zeros_like(G)
    if usable.any():
        inverse = np.linalg.pinv(J[usable] / scale[usable, None, None], rcond=1e-10,
                                 hermitian=True)
        step[usable] = -np.einsum("skm,sm->sk", inverse, G[usable]) / scale[usable, None]
    return step


def _distinct(space: RowSpace, y: FloatArray, merit: FloatArray) -> FloatArray:
    """Best of each cluster, in logits, smallest first."""
    kept: list[FloatArray] = []
    for k in np.argsort(merit, kind="stable"):
        if all(np.abs(np.einsum("itr,r->it", space.float_logits, y[k] - other)).max() > 1e-3
               for other in kept):
            kept.append(y[k])
    kept.sort(key=lambda point: float(np.abs(point).max()))
    return np.array(kept).reshape(-1, space.rank)


def verify(space: RowSpace, loss: str, y: FloatArray) -> Krawczyk | None:
    """Prove a zero near *y* (r,), in the largest box that allows it; None if that fails."""
    r = space.rank
    _, J, _ = float_gradient(space, loss, y[None])
    try:
        C = np.linalg.inv(J[0])
    except np.linalg.LinAlgError:
        return None
    if not np.all(np.isfinite(C)):
        return None
    # 24 bits do: the test needs ‖I − CJ‖ < 1 with room, not a small residual.
    preconditioner = [[_short(float(a)) for a in row] for row in C]
    center = [rational(float(a)) for a in y]
    with ctx.workprec(PRECISION):
        ball_C = arb_mat([[arb(a) for a in row] for row in preconditioner])
        for sharpen in (False, True):
            if sharpen:
                center = _sharpened(space, loss, center, ball_C)
            G, _ = ball_gradient(space, loss, [arb(a) for a in center])
            defect = [abs(a) for a in (ball_C * G).entries()]
            for radius in _RADII:
                box = [arb(a) + arb(0, radius) for a in center]
                _, jacobian = ball_gradient(space, loss, box)
                matrix = ball_C * jacobian
                rows = [sum((abs(a - int(k == m)) for m, a in enumerate(row)), arb(0))
                        for k, row in enumerate(matrix.tolist())]
                if all(SLACK * (a + radius * b) < radius
                       for a, b in zip(defect, rows, strict=True)):
                    return Krawczyk(space.basis, tuple(center), rational(radius),
                                    tuple(map(tuple, preconditioner)), PRECISION,
                                    _inertia(J[0], jacobian, r))
    return None


def _short(a: float) -> fmpq:
    mantissa, exponent = np.frexp(a)
    return rational(float(np.ldexp(np.round(mantissa * 2.0**24), int(exponent) - 24)))


def _sharpened(space: RowSpace, loss: str, center: list[fmpq], C: arb_mat) -> list[fmpq]:
    """A few Newton steps with fixed C, in multiples of 2⁻⁹⁶."""
    for _ in range(6):
        G, _ = ball_gradient(space, loss, [arb(a) for a in center])
        step = (C * G).entries()
        if not all(a.is_finite() for a in step):
            return center
        unit = arb(2) ** 96
        center = [fmpq((unit * (arb(a) - b)).mid().floor().unique_fmpz() or 0, 1 << 96)
                  for a, b in zip(center, step, strict=True)]
    return center


def _inertia(J: FloatArray, jacobian: arb_mat, r: int) -> Inertia | None:
    """The proved inertia of −J over the box, or None where it is not diagonally dominant."""
    values, vectors = np.linalg.eigh(-J)
    with np.errstate(divide="ignore", invalid="ignore"):
        scaled = vectors / np.sqrt(np.abs(values))
    if not np.all(np.isfinite(scaled)):
        return None
    P: Matrix = tuple(tuple(_short(float(a)) for a in row) for row in scaled)
    ball = arb_mat([[arb(a) for a in row] for row in P])
    A = (ball.transpose() * (-1 * jacobian) * ball).tolist()
    for k in range(r):
        off = sum((abs(A[k][m]) for m in range(r) if m != k), arb(0))
        if not abs(A[k][k]) > 2 * off or A[k][k].contains(0):
            return None
    return Inertia(P, sum(bool(A[k][k] < 0) for k in range(r)))


def matrix_at(space: RowSpace, y: FloatArray) -> FloatArray:
    """W = Σ y_k B_k in float64, (d, d)."""
    view = space.dataset.floats
    W = np.zeros((space.dataset.d, space.dataset.d))
    for value, (i, t) in zip(y, space.basis, strict=True):
        W += value * np.outer(view.tokens[i][0] - view.tokens[i][t], view.queries[i])
    return W


def stationary_points(dataset: AttentionDataset, loss: str, *, starts: int = 64, seed: int = 0,
                      most: int | None = None) -> tuple[StationaryPoint, ...]:
    """Proved stationary points in disjoint boxes, at most *most* of them.

    ``starts`` Newton runs from W of size drawn with *seed*. Finding none proves nothing.
    """
    space = row_space(dataset)
    if not 0 < space.rank <= LARGEST_RANK:
        return ()
    found: list[StationaryPoint] = []
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        suggested = candidates(space, loss, starts, seed)
    for y in suggested:
        certificate = verify(space, loss, y)
        if certificate is None or any(_meet(certificate, p.certificate) for p in found):
            continue
        found.append(StationaryPoint(certificate, matrix_at(space, y)))
        if most is not None and len(found) >= most:
            break
    return tuple(found)


def _meet(a: Krawczyk, b: Krawczyk) -> bool:
    """Whether two boxes intersect, so that their zeros may be one."""
    return all(abs(p - q) <= a.radius + b.radius
               for p, q in zip(a.center, b.center, strict=True))


def proof(dataset: AttentionDataset, loss: str) -> Krawczyk | None:
    """The proof that a stationary point exists, or None where none was found and proved."""
    points = stationary_points(dataset, loss, most=1)
    return points[0].certificate if points else None
