"""Cells that cover the row space, each with a direction of descent, leave no stationary point.

Statement
    ∇L(W) ≠ 0 for every W.
Hypotheses
    ℓ' < 0 on the range of the scores; on each of finitely many cells that cover the row space,
    unbounded ones included, a direction has a derivative of L that is bounded away from 0 relative
    to one exponential.
Certificate
    `simplex_cover`.
Decision procedure
    Cells are split until the bound is positive, or the budget is used up. Cells with several rays
    are first split between rays until one rising pair leads along all of them (in the plane
    exactly where the leader changes), then moved outward; strips are moved outward and narrowed;
    bounded cells are halved. Floats choose, ball arithmetic decides each leaf.
Reference
    docs/theory/stationary.md, S5.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from math import gcd

import numpy as np

from conditions.certificates import SimplexCover
from conditions.dataset import AttentionDataset, FloatArray
from conditions.no_flat_sample import flat_samples
from conditions.stationary.cell_bounds import Bounds, View, primitive_integers
from conditions.stationary.cells import PRECISION, Cell, excludes, orthants, points_and_rays, split
from conditions.stationary.coordinates import Point, RowSpace, row_space
from conditions.stationary.outcome import NotExcluded

CELL_BUDGET = 6_000
LARGEST_RANK = 3
_WIDTH = 2.0
"""The width, in logits, beyond which a strip that was not yet moved outward is narrowed."""

_NARROW = 1e-6
"""The angle, in radians, below which a cone is no longer split."""

_FARTHEST = 48
"""Moves outward after which a strip is given up: each takes half as long a step again."""

_LONGEST = 400
"""Bits of a generator beyond which its norm would leave the range of floats."""

Split = tuple[int, int, int, int]


@dataclass
class _Search:
    space: RowSpace
    loss: str
    bounds: Bounds
    budget: int
    turns: list[Point]
    nodes: list[tuple[int, ...]] = field(default_factory=list)
    directions: dict[Point, int] = field(default_factory=dict)

    def cover(self, root: Cell) -> NotExcluded | None:
        """Append the tree of *root* to ``nodes``; None on success."""
        pending: list[tuple[Cell, int]] = [(root, 0)]
        while pending:
            cell, moves = pending.pop()
            if any(int(abs(x)).bit_length() > _LONGEST for g in cell for x in g):
                return NotExcluded("cells became too narrow for floats to steer by")
            view = self.bounds.view(cell)
            if len(self.nodes) >= self.budget:
                return NotExcluded(f"node budget {self.budget} used up", _suspects(view, pending))
            if moves > _FARTHEST:
                return NotExcluded("the leading terms cancel along a ray", _suspects(view, []))
            ratio, leaf = self.bounds.suggest(view)
            if ratio > 1e-6 and excludes(self.space, self.loss, cell, leaf):
                k = self.directions.setdefault(leaf.direction, len(self.directions))
                self.nodes.append((k, *leaf.reference, *leaf.bases))
                continue
            chosen, moved = self.choose(cell, view, moves)
            self.nodes.append(chosen)
            first, second = split(cell, *chosen)
            pending += [(second, moves + moved), (first, moves + moved)]
        return None

    def choose(self, cell: Cell, view: View, moves: int) -> tuple[Split, int]:
        """The next split, and 1 if it moves the cell outward."""
        points, rays = points_and_rays(cell)
        if len(rays) > 1 and _angle(view) > _NARROW and not self.bounds.settled(view):
            return self.turned(cell, rays), 0
        if not rays:
            return _halved(cell, points, view.points)[1], 0
        transversal = _transversal(self.space.float_logits, view)
        if len(points) > 1:
            width, narrowing = _halved(cell, points, transversal)
            if width > _WIDTH / (1 + moves):
                return narrowing, 0
        return _outward(cell, points, rays, view, moves), 1

    def turned(self, cell: Cell, rays: list[int]) -> Split:
        """Split between the two rays of widest angle, where a leader changes if that is known."""
        unit = {k: _unit(cell[k]) for k in rays}
        a, b = min(itertools.combinations(rays, 2), key=lambda ab: float(unit[ab[0]] @ unit[ab[1]]))
        best: tuple[float, Split] | None = None
        if self.space.rank == 2:
            middle = unit[a] + unit[b]
            for turn in self.turns:
                inside = _between(cell[a][1:], cell[b][1:], tuple(int(x.p) for x in turn))
                if inside is not None:
                    g = np.array([float(x.p) for x in turn])
                    score = float(g @ middle) / float(np.linalg.norm(g))
                    if best is None or score > best[0]:
                        best = score, (a, b, *inside)
        if best is not None:
            return best[1]
        return (a, b, *_ratio(float(np.linalg.norm(np.array(cell[b][1:], dtype=float)))
                              / float(np.linalg.norm(np.array(cell[a][1:], dtype=float)))))


def _halved(cell: Cell, points: list[int], logits: FloatArray) -> tuple[float, Split]:
    """The widest edge between points, measured in *logits* (n, T, points), halved."""
    edges = list(itertools.combinations(range(len(points)), 2))
    widths = [float(np.abs(logits[:, :, x] - logits[:, :, y]).max()) for x, y in edges]
    widest = int(np.argmax(widths))
    a, b = (points[x] for x in edges[widest])
    common = gcd(cell[a][0], cell[b][0])
    return widths[widest], (a, b, cell[b][0] // common, cell[a][0] // common)


def _outward(cell: Cell, points: list[int], rays: list[int], view: View, moves: int) -> Split:
    """Cut off what lies near the innermost point along the ray that has moved it least."""
    x = int(np.argmin(view.at_points @ view.along.sum(axis=0)))
    k = int(np.argmin(view.along @ view.at_points[x]))
    p, r = points[x], rays[k]
    speed = float(np.abs(view.rays[:, :, k]).max()) or 1.0
    length = 1.5 ** (1 + moves / (1 + len(points) * len(rays))) / speed
    step = length / float(np.linalg.norm(np.array(cell[r][1:], dtype=float)))
    return (p, r, *_ratio(step * cell[p][0]))


def _suspects(view: View, pending: list[tuple[Cell, int]]) -> tuple[tuple[float, ...], ...]:
    """The centres of the cell at hand and of the last few pending cells without rays."""
    bounded = [np.array([[x / g[0] for x in g[1:]] for g in cell])
               for cell, _ in pending[-8:] if all(g[0] > 0 for g in cell)]
    return tuple(tuple(map(float, points.mean(axis=0))) for points in (view.at_points, *bounded))


def _unit(generator: tuple[int, ...]) -> FloatArray:
    q = np.array(generator[1:], dtype=float)
    return q / float(np.linalg.norm(q))


def _angle(view: View) -> float:
    """The widest chord between two unit rays."""
    return max(float(np.linalg.norm(a - b)) for a, b in itertools.combinations(view.along, 2))


def _transversal(F: FloatArray, view: View) -> FloatArray:
    """Logits at the points after projecting the rays out, (n, T, points)."""
    basis, _ = np.linalg.qr(view.along.T)
    projected = view.at_points - (view.at_points @ basis) @ basis.T
    return np.asarray(F @ projected.T)


def _ratio(value: float) -> tuple[int, int]:
    """(α, β) with β/α near *value* > 0, one of them 1."""
    return (1, max(1, round(value))) if value >= 1 else (max(1, round(1 / value)), 1)


def _between(a: tuple[int, ...], b: tuple[int, ...],
             g: tuple[int, ...]) -> tuple[int, int] | None:
    """(α, β) > 0 with αa + βb a positive multiple of g, in the plane, or None."""
    det = a[0] * b[1] - a[1] * b[0]
    alpha, beta = g[0] * b[1] - g[1] * b[0], a[0] * g[1] - a[1] * g[0]
    if det < 0:
        alpha, beta = -alpha, -beta
    if alpha <= 0 or beta <= 0:
        return None
    common = gcd(alpha, beta)
    return alpha // common, beta // common


def _turns(space: RowSpace, bounds: Bounds) -> list[Point]:
    """Directions of the plane in which the order of two exponents can change."""
    if space.rank != 2:
        return []
    singles = [space.difference(i, t, s) for i, a, b in bounds.pairs for t, s in ((a, b), (b, a))]
    normals = [*singles, *(tuple(x - y for x, y in zip(f, g, strict=True))
                           for f, g in itertools.combinations(singles, 2))]
    found: dict[Point, None] = {}
    for normal in normals:
        if any(a != 0 for a in normal):
            x, y = primitive_integers(normal)
            found.setdefault(tuple(normal[0] * 0 + a for a in (-y, x)))
            found.setdefault(tuple(normal[0] * 0 + a for a in (y, -x)))
    return list(found)


def proof(dataset: AttentionDataset, loss: str,
          budget: int = CELL_BUDGET) -> SimplexCover | NotExcluded:
    """The proof, or why there is none with at most *budget* nodes."""
    if len(flat_samples(dataset)) == dataset.n:
        return NotExcluded("every sample is flat")
    space = row_space(dataset)
    if not 0 < space.rank <= LARGEST_RANK:
        return NotExcluded(f"row space of dimension {space.rank}, not 1 to {LARGEST_RANK}")
    bounds = Bounds(space, loss)
    search = _Search(space, loss, bounds, budget, _turns(space, bounds))
    with np.errstate(over="ignore", under="ignore"):
        for root in orthants(space.rank):
            failure = search.cover(root)
            if failure is not None:
                return failure
    return SimplexCover(space.basis, tuple(search.directions), tuple(search.nodes), PRECISION)
