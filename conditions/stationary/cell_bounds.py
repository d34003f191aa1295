"""Float suggestions for cells: the direction, reference and bases whose bound is best.

Nothing here decides: a suggested leaf is accepted by `conditions.stationary.cells.excludes` alone.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
from flint import fmpq, fmpq_mat, fmpz_mat

from conditions.dataset import FloatArray
from conditions.exact.numbers import to_float
from conditions.stationary.cells import Cell, Leaf
from conditions.stationary.cone import primitive
from conditions.stationary.coordinates import Point, RowSpace
from conditions.stationary.gradient import float_slopes

MOST_DIRECTIONS = 160
_MOST_TERMS = 4_000
"""Directions times pairs that one cell is tried with."""
_MOST_REFERENCES = 8
_HUGE = 1e250
_TIE = 1e-9


@dataclass(frozen=True)
class View:
    """A cell in floats: logits at its points (n, T, points) and along its rays (n, T, rays).

    ``at_points``: coordinates (points, r); ``along``: unit rays (rays, r). ``bases`` (n,).
    """

    points: FloatArray
    rays: FloatArray
    at_points: FloatArray
    along: FloatArray
    bases: np.ndarray[tuple[int], np.dtype[np.intp]]


class Bounds:
    """The pairs of a dataset, the directions worth trying, and the bound of a cell for each.

    A bound is concave in the direction and linear between the hyperplanes p = 0, so the lines
    in which those meet are all that must be tried (at most 160, fewer for many pairs).
    """

    def __init__(self, space: RowSpace, loss: str) -> None:
        self.space, self.loss = space, loss
        scores = space.dataset.scores
        self.pairs = [(i, t, s) for i, sample in enumerate(scores)
                      for t, s in itertools.combinations(range(len(sample)), 2)
                      if sample[t] != sample[s]]
        normals = [space.difference(*pair) for pair in self.pairs]
        gaps = [scores[i][t] - scores[i][s] for i, t, s in self.pairs]
        most = max(16, min(MOST_DIRECTIONS, _MOST_TERMS // max(1, len(self.pairs))))
        self.directions = _extreme_lines(normals, space.rank)[:most]
        # Exact, so that what a direction kills is exactly 0.
        self.p = np.array([[to_float(gap * _dot(normal, c))
                            for gap, normal in zip(gaps, normals, strict=True)]
                           for c in self.directions]).reshape(-1, len(self.pairs))
        self.scale = np.abs(self.p).max(axis=1, initial=0.0)
        self.owner = np.array([i for i, _, _ in self.pairs], dtype=np.intp)
        self.first = np.array([t for _, t, _ in self.pairs], dtype=np.intp)
        self.second = np.array([s for _, _, s in self.pairs], dtype=np.intp)
        self.belongs = np.eye(space.dataset.n)[self.owner]
        self.absent = np.where(space.present, 0.0, -np.inf)

    def view(self, cell: Cell) -> View:
        """The cell in floats."""
        F = self.space.float_logits
        points = np.array([[x / g[0] for x in g[1:]] for g in cell if g[0] > 0])
        rays = np.array([[float(x) for x in g[1:]] for g in cell if g[0] == 0])
        rays = rays.reshape(-1, self.space.rank)
        rays = rays / np.linalg.norm(rays, axis=1, keepdims=True)
        at, along = F @ points.T, F @ rays.T
        # The largest logit at infinity, then at the points.
        top = along + self.absent[:, :, None]
        dominant = np.all(top >= top.max(axis=1, keepdims=True, initial=-np.inf) - _TIE, axis=2)
        size = np.where(dominant, 0.0, -1e100) + at.mean(axis=2) + self.absent
        return View(at, along, points, rays, np.argmax(size, axis=1))

    def exponents(self, view: View) -> tuple[FloatArray, FloatArray]:
        """E of every pair at the points and along the rays, (P, points), (P, rays)."""
        return tuple(values[self.owner, self.first] + values[self.owner, self.second]
                     - 2 * values[self.owner, view.bases[self.owner]]
                     for values in (view.points, view.rays))  # type: ignore[return-value]

    def suggest(self, view: View) -> tuple[float, Leaf]:
        """The largest bound, relative to the terms it is made of, and its leaf."""
        at, along = self.exponents(view)
        order = np.lexsort((at.mean(axis=1), along.sum(axis=1)))[::-1][:_MOST_REFERENCES]
        low, high = _extent(at[None] - at[order][:, None], along[None] - along[order][:, None])
        rise = np.exp(np.clip(low, -700.0, 570.0)) * (low > -np.inf)
        fall = np.where(high < 570.0, np.exp(np.minimum(high, 570.0)), _HUGE)
        up = np.maximum(self.p, 0.0)
        down = self.p - up
        lower = (rise[:, None, :] * up[None] + fall[:, None, :] * down[None]) @ self.belongs
        absolute = (rise[:, None, :] * up[None] - fall[:, None, :] * down[None]) @ self.belongs
        N_low, N_high = self._weights(view)
        total = np.where(lower >= 0, N_low * lower, N_high * lower).sum(axis=2)
        size = (N_high * absolute).sum(axis=2)
        ratio = np.where(size > 0, total / np.where(size > 0, size, 1.0), -1.0)
        e, c = np.unravel_index(int(np.argmax(ratio)), ratio.shape)
        return float(ratio[e, c]), Leaf(self.directions[c], self.pairs[order[e]],
                                        tuple(int(a) for a in view.bases))

    def _weights(self, view: View) -> tuple[FloatArray, FloatArray]:
        """Bounds of |ℓ'(f_i)| s_ia², each (n,)."""
        low, high = _extent(view.points[:, :, None] - view.points[:, None],
                            view.rays[:, :, None] - view.rays[:, None])
        weight = np.exp(self.absent)[:, :, None]
        with np.errstate(over="ignore"):
            # An absent token weighs nothing, also where e^∞ would be multiplied by 0.
            s_low = 1.0 / np.where(weight > 0, np.exp(high), 0.0).sum(axis=1)
            s_high = 1.0 / np.where(weight > 0, np.exp(low), 0.0).sum(axis=1)
        n = np.arange(len(view.bases))
        gamma = self.space.float_scores
        gap = (gamma - gamma[n, view.bases][:, None]) * self.space.present
        f_low = gamma[n, view.bases] + np.where(gap > 0, gap * s_low, gap * s_high).sum(axis=1)
        f_high = gamma[n, view.bases] + np.where(gap > 0, gap * s_high, gap * s_low).sum(axis=1)
        f_low = np.maximum(f_low, np.where(self.space.present, gamma, np.inf).min(axis=1))
        f_high = np.minimum(f_high, np.where(self.space.present, gamma, -np.inf).max(axis=1))
        slope_low, _ = float_slopes(self.loss, f_high)
        slope_high, _ = float_slopes(self.loss, f_low)
        return (slope_low * s_low[n, view.bases] ** 2,
                slope_high * s_high[n, view.bases] ** 2)

    def settled(self, view: View) -> bool:
        """Whether far out in the cell some direction is led by the same rising pairs throughout.

        Pairs that lead along a full set of rays have one exponent: what they add up to counts.
        """
        n = np.arange(len(view.bases))
        best = (view.rays + self.absent[:, :, None]).max(axis=1)
        used = np.isin(n, self.owner)
        if np.any((view.rays[n, view.bases] < best - _TIE)[used]):
            return False
        _, along = self.exponents(view)
        live = np.abs(self.p) > 1e-12 * self.scale[:, None]
        values = np.where(live[:, :, None], along[None], -np.inf)
        leads = live & np.all(values >= values.max(axis=1, keepdims=True) - _TIE, axis=2)
        if len(view.along) < self.space.rank:
            return bool(np.any(leads & (self.p > 0)))
        limit, _ = float_slopes(self.loss, self.space.float_scores[n, view.bases])
        terms = np.where(leads, self.p * limit[self.owner], 0.0)
        return bool(np.any(terms.sum(axis=1) > 1e-9 * np.abs(terms).sum(axis=1)))


def _extent(at: FloatArray, along: FloatArray) -> tuple[FloatArray, FloatArray]:
    """(inf, sup) over the points in the last axis of *at*, the rays in that of *along*."""
    low = np.where((along < -_TIE).any(axis=-1), -np.inf, at.min(axis=-1))
    return low, np.where((along > _TIE).any(axis=-1), np.inf, at.max(axis=-1))


def _dot(a: Point, b: Point) -> fmpq:
    return sum((x * y for x, y in zip(a, b, strict=True)), fmpq(0))


def primitive_integers(vector: Point) -> tuple[int, ...]:
    """The coprime integers proportional to *vector*, by a positive factor."""
    return tuple(int(a.p) for a in primitive(fmpq_mat(1, len(vector), list(vector))))


def _extreme_lines(normals: list[Point], r: int) -> list[Point]:
    """Both directions of every line in which r − 1 independent hyperplanes normal·c = 0 meet."""
    distinct: dict[tuple[int, ...], None] = {}
    for normal in normals:
        if any(a != 0 for a in normal):
            line = primitive_integers(normal)
            distinct.setdefault(max(line, tuple(-a for a in line)))
    found: dict[tuple[int, ...], None] = {}
    for chosen in itertools.islice(itertools.combinations(distinct, r - 1), MOST_DIRECTIONS):
        matrix = fmpz_mat(r - 1, r, [a for row in chosen for a in row])
        kernel, nullity = matrix.nullspace() if r > 1 else (fmpz_mat([[1]]), 1)
        if nullity != 1:
            continue
        line = primitive_integers(tuple(fmpq(kernel[k, 0]) for k in range(r)))
        for direction in (line, tuple(-a for a in line)):
            found.setdefault(direction)
    return [tuple(fmpq(a) for a in direction) for direction in found]
