"""S4: a certified stationary point.

Statement
    ∇L(W) = 0 for some W, in a box of the row space of the features where the zero is unique.
Hypotheses
    None.
Certificate
    `krawczyk`.
Decision procedure
    Newton's method in floats suggests zeros of the gradient; the Krawczyk operator in ball
    arithmetic proves them, and a congruence that makes the Hessian diagonally dominant proves its
    inertia. Zeros that are not isolated, or of singular Hessian, stay unproved.
Reference
    docs/theory/stationary.md, S4.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from flint import arb, arb_mat, ctx, fmpq

from conditions.certificates import Inertia, Krawczyk, Matrix
from conditions.dataset import AttentionDataset, FloatArray
from conditions.exact.numbers import rational, round_dyadic
from conditions.stationary.coordinates import RowSpace, row_space
from conditions.stationary.gradient import ball_gradient, float_gradient
from conditions.stationary.newton import random_starts, zeros

SLACK = 4
"""The factor a checker may lose in its own enclosures."""

LARGEST_RANK = 48
BATCHES = (12, 52)
"""Newton runs of `proof`, batch after batch until one is proved."""

_MOST_VERIFIED = 12
"""Suggestions of one batch that are put to the test: a curve of zeros suggests many."""


@dataclass(frozen=True)
class StationaryPoint:
    """A proved zero of the gradient; W (d × d) is the centre of its box in float64."""

    certificate: Krawczyk
    W: FloatArray

    @property
    def kind(self) -> str:
        """What the certified inertia on the row space makes it."""
        return classify(self.certificate)


def classify(certificate: Krawczyk) -> str:
    """"local minimum", "local maximum", "saddle", or "stationary point" of unknown inertia."""
    if certificate.inertia is None:
        return "stationary point"
    if certificate.inertia.negative == 0:
        return "local minimum"
    rank = len(certificate.basis)
    return "local maximum" if certificate.inertia.negative == rank else "saddle"


@dataclass(frozen=True)
class _Attempt:
    """A centre and a preconditioner C near J⁻¹, to be tested at a working precision in bits."""

    center: tuple[fmpq, ...]
    preconditioner: Matrix
    precision: int
    finest: int


def _attempts(space: RowSpace, loss: str, y: FloatArray) -> Iterator[_Attempt]:
    """The float zero with C in 24 bits; then, for nearly singular J, both in many bits."""
    _, J, _ = float_gradient(space, loss, y[None])
    scale = float(np.abs(J[0]).max())
    if np.isfinite(scale) and scale > 0 and np.linalg.cond(J[0]) < 1e12:
        C = np.linalg.inv(J[0])
        yield _Attempt(tuple(rational(float(a)) for a in y),
                       tuple(tuple(round_dyadic(rational(float(a)), 24) for a in row)
                             for row in C), 128, 48)
    center = tuple(rational(float(a)) for a in y)
    with ctx.workprec(512):
        for _ in range(6):
            G, jacobian = ball_gradient(space, loss, [arb(a) for a in center])
            try:
                inverse = jacobian.inv()
            except ZeroDivisionError:
                return
            step = (inverse * G).entries()
            if not all(a.is_finite() and abs(a) < 1 for a in step):
                return
            center = tuple(_rounded(arb(a) - b, 200) for a, b in zip(center, step, strict=True))
        yield _Attempt(center, tuple(tuple(_significant(a, 160) for a in row)
                                     for row in inverse.tolist()), 512, 160)


def _rounded(ball: arb, bits: int) -> fmpq:
    """A multiple of 2^−bits near *ball*."""
    return (_middle(ball) * (1 << bits) + fmpq(1, 2)).floor() * fmpq(1, 1 << bits)


def _significant(ball: arb, bits: int) -> fmpq:
    """The middle of *ball* to about *bits* significant bits."""
    return round_dyadic(_middle(ball), bits)


def _middle(ball: arb) -> fmpq:
    mantissa, exponent = ball.mid().man_exp()
    return fmpq(mantissa) * fmpq(2) ** int(exponent)


def verify(space: RowSpace, loss: str, y: FloatArray) -> Krawczyk | None:
    """Prove a zero near *y* (r,), in the largest box that allows it; None if that fails."""
    for attempt in _attempts(space, loss, y):
        with ctx.workprec(attempt.precision):
            found = _test(space, loss, attempt)
        if found is not None:
            return found
    return None


def _test(space: RowSpace, loss: str, attempt: _Attempt) -> Krawczyk | None:
    """|C G(c)| + ρ‖I − C J(Y)‖ < ρ/4, row by row, for the largest ρ that does it."""
    C = arb_mat([[arb(a) for a in row] for row in attempt.preconditioner])
    G, _ = ball_gradient(space, loss, [arb(a) for a in attempt.center])
    defect = [abs(a) for a in (C * G).entries()]
    for k in range(8, attempt.finest + 1, 4):
        radius = arb(2) ** -k
        if not all(SLACK * a < radius for a in defect):
            return None
        box = [arb(a) + arb(0, 2.0**-k) for a in attempt.center]
        _, jacobian = ball_gradient(space, loss, box)
        rows = [sum((abs(a - int(p == q)) for q, a in enumerate(row)), arb(0))
                for p, row in enumerate((C * jacobian).tolist())]
        if all(SLACK * (a + radius * b) < radius for a, b in zip(defect, rows, strict=True)):
            return Krawczyk(space.basis, attempt.center, fmpq(1, 1 << k),
                            attempt.preconditioner, attempt.precision, _inertia(jacobian))
    return None


def _inertia(jacobian: arb_mat) -> Inertia | None:
    """The proved inertia of −J over the box, or None where it is not diagonally dominant."""
    r = jacobian.nrows()
    middle = np.array([[float(a.mid()) for a in row] for row in jacobian.tolist()])
    values, vectors = np.linalg.eigh(-middle)
    if not np.all(values != 0):
        return None
    scaled = vectors / np.sqrt(np.abs(values))
    P: Matrix = tuple(tuple(round_dyadic(rational(float(a)), 24) for a in row) for row in scaled)
    ball = arb_mat([[arb(a) for a in row] for row in P])
    A = (ball.transpose() * (-1 * jacobian) * ball).tolist()
    for k in range(r):
        off = sum((abs(A[k][m]) for m in range(r) if m != k), arb(0))
        # Twice, so that a checker with wider enclosures sees it too.
        if not abs(A[k][k]) > 2 * off:
            return None
    return Inertia(P, sum(bool(A[k][k] < 0) for k in range(r)))


def matrix_at(space: RowSpace, y: FloatArray) -> FloatArray:
    """W = Σ y_k B_k in float64, (d, d)."""
    view = space.dataset.floats
    W = np.zeros((space.dataset.d, space.dataset.d))
    for value, (i, t) in zip(y, space.basis, strict=True):
        W += value * np.outer(view.tokens[i][0] - view.tokens[i][t], view.queries[i])
    return W


def near(dataset: AttentionDataset, loss: str, starts: FloatArray, *,
         most: int | None = None) -> tuple[StationaryPoint, ...]:
    """Proved stationary points in disjoint boxes that Newton's method reaches from *starts*.

    ``starts`` (S, r) are coordinates in the row space. Finding none proves nothing.
    """
    space = row_space(dataset)
    found: list[StationaryPoint] = []
    for y in _by_condition(space, loss, zeros(space, loss, starts))[:_MOST_VERIFIED]:
        certificate = verify(space, loss, y)
        if certificate is None or any(_meet(certificate, p.certificate) for p in found):
            continue
        found.append(StationaryPoint(certificate, matrix_at(space, y)))
        if most is not None and len(found) >= most:
            break
    return tuple(found)


def _by_condition(space: RowSpace, loss: str, y: FloatArray) -> FloatArray:
    """The points whose Jacobian is best conditioned first: those of curves of zeros come last."""
    _, J, _ = float_gradient(space, loss, y)
    with np.errstate(divide="ignore", invalid="ignore"):
        condition = np.nan_to_num(np.linalg.cond(J), nan=np.inf)
    return y[np.argsort(condition, kind="stable")]


def stationary_points(dataset: AttentionDataset, loss: str, *, starts: int = 128,
                      seed: int = 0) -> tuple[StationaryPoint, ...]:
    """Proved stationary points in disjoint boxes, from *starts* seeded Newton runs."""
    space = row_space(dataset)
    if not 0 < space.rank <= LARGEST_RANK:
        return ()
    return near(dataset, loss, random_starts(space, starts, seed))


def _meet(a: Krawczyk, b: Krawczyk) -> bool:
    """Whether two boxes intersect, so that their zeros may be one."""
    return all(abs(p - q) <= a.radius + b.radius
               for p, q in zip(a.center, b.center, strict=True))


def proof(dataset: AttentionDataset, loss: str,
          batches: tuple[int, ...] = BATCHES) -> Krawczyk | None:
    """The proof that a stationary point exists, or None where none was found and proved."""
    space = row_space(dataset)
    if not 0 < space.rank <= LARGEST_RANK:
        return None
    for seed, starts in enumerate(batches):
        points = near(dataset, loss, random_starts(space, starts, seed), most=1)
        if points:
            return points[0].certificate
    return None


def proof_near(dataset: AttentionDataset, loss: str, points: tuple[tuple[float, ...], ...],
               starts: int = 96) -> Krawczyk | None:
    """As `proof`, from *points* in coordinates of the row space and *starts* more runs."""
    space = row_space(dataset)
    if not 0 < space.rank <= LARGEST_RANK:
        return None
    far = random_starts(space, starts, len(BATCHES))
    found = near(dataset, loss, np.vstack([np.reshape(points, (-1, space.rank)), far]), most=1)
    return found[0].certificate if found else None
