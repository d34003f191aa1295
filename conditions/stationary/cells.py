"""Cells of the row space, bounded or not, and the exact test that a direction excludes one.

A cell has r + 1 generators (w, q), w ≥ 0 and q integral: points q/w where w > 0 and rays q where
w = 0. It is the convex hull of its points plus the cone of its rays. A positive combination of two
generators splits it: with the new generator in the place of either, the two parts cover it.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

from flint import arb, ctx, fmpq

from conditions.stationary.coordinates import Point, RowSpace
from conditions.stationary.gradient import ball_slopes

PRECISION = 64

Generator = tuple[int, ...]
"""(w, q_1, …, q_r), integers, w ≥ 0."""

Cell = tuple[Generator, ...]
Range = tuple[fmpq | None, fmpq | None]
"""(inf, sup) of a linear function over a cell; None where it is infinite."""


def orthants(r: int) -> list[Cell]:
    """The 2^r cells that the trees of a cover start from, in the order of the certificate."""
    origin = (1, *[0] * r)
    out = []
    for b in range(1 << r):
        rays = [(0, *[(-1 if b >> k & 1 else 1) * int(m == k) for m in range(r)])
                for k in range(r)]
        out.append((origin, *rays))
    return out


def split(cell: Cell, a: int, b: int, alpha: int, beta: int) -> tuple[Cell, Cell]:
    """The parts of *cell* with alpha·g_a + beta·g_b in the place of g_a, and of g_b."""
    g = tuple(alpha * x + beta * y for x, y in zip(cell[a], cell[b], strict=True))
    return (*cell[:a], g, *cell[a + 1:]), (*cell[:b], g, *cell[b + 1:])


def extent(cell: Cell, function: Point) -> Range:
    """(inf, sup) of y ↦ function·y over *cell*, exact."""
    least: fmpq | None = None
    largest: fmpq | None = None
    falls = rises = False
    for w, *q in cell:
        value = sum((a * b for a, b in zip(function, q, strict=True)), fmpq(0))
        if w == 0:
            falls |= bool(value < 0)
            rises |= bool(value > 0)
            continue
        value /= w
        least = value if least is None or value < least else least
        largest = value if largest is None or value > largest else largest
    return None if falls else least, None if rises else largest


@dataclass(frozen=True)
class Leaf:
    """A direction c, the pair (j, t, τ) of the reference exponent, and a base token per sample."""

    direction: Point
    reference: tuple[int, int, int]
    bases: tuple[int, ...]


def _exp(value: fmpq | None, infinite: arb) -> arb:
    return infinite if value is None else arb(value).exp()


def excludes(space: RowSpace, loss: str, cell: Cell, leaf: Leaf) -> bool:
    """Whether the gradient along ``leaf.direction`` is shown to be negative on all of *cell*.

    The bound of docs/certificates.md, `simplex_cover`, in ball arithmetic.
    """
    scores = space.dataset.scores
    j, t, s = leaf.reference
    E0 = _exponent(space, j, t, s, leaf.bases[j])
    with ctx.workprec(PRECISION):
        total, size = arb(0), arb(0)
        for i, base in enumerate(leaf.bases):
            below, above = arb(0), arb(0)
            active = False
            for t, s in itertools.combinations(range(len(scores[i])), 2):
                F = space.difference(i, t, s)
                p = (scores[i][t] - scores[i][s]) * sum(
                    (a * b for a, b in zip(F, leaf.direction, strict=True)), fmpq(0))
                if p == 0:
                    continue
                active = True
                E = _exponent(space, i, t, s, base)
                low, high = extent(cell, tuple(a - b for a, b in zip(E, E0, strict=True)))
                if p > 0:
                    above += arb(p) * _exp(low, arb(0))
                elif high is None:
                    return False
                else:
                    below += arb(-p) * arb(high).exp()
            if not active:
                continue
            N_low, N_high = _weight(space, loss, cell, i, base)
            S = above - below
            # N_low S where S ≥ 0, N_high S where S ≤ 0: the smaller of the two either way.
            total += arb.min(N_low * S, N_high * S)
            size += N_high * (above + below)
        return bool(total > size * arb(2) ** (8 - PRECISION))


def _exponent(space: RowSpace, i: int, t: int, s: int, base: int) -> Point:
    """E_tτ = F_{i,t a} + F_{i,τ a}."""
    rows = space.logits[i]
    return tuple(x + y - 2 * z for x, y, z in zip(rows[t], rows[s], rows[base], strict=True))


def _weight(space: RowSpace, loss: str, cell: Cell, i: int, base: int) -> tuple[arb, arb]:
    """Lower and upper bound of |ℓ'(f_i)| s_ia² over the cell, as balls."""
    gamma = space.dataset.scores[i]
    T = len(gamma)
    low: list[arb] = []
    high: list[arb] = []
    for t in range(T):
        most, least = arb(1), arb(1)
        bounded = True
        for s in range(T):
            if s != t:
                inf, sup = extent(cell, space.difference(i, s, t))
                bounded &= sup is not None
                most += _exp(sup, arb(0))
                least += _exp(inf, arb(0))
        low.append(1 / most if bounded else arb(0))
        high.append(1 / least)
    if loss == "correlation":
        return low[base] ** 2, high[base] ** 2
    f_low = f_high = arb(gamma[base])
    for t in range(T):
        gap = arb(gamma[t] - gamma[base])
        f_low += gap * (low[t] if gap >= 0 else high[t])
        f_high += gap * (high[t] if gap >= 0 else low[t])
    f_low = arb.max(f_low, arb(min(gamma)))
    f_high = arb.min(f_high, arb(max(gamma)))
    # |ℓ'| falls as f rises.
    return ball_slopes(loss, f_high)[0] * low[base] ** 2, \
        ball_slopes(loss, f_low)[0] * high[base] ** 2


def points_and_rays(cell: Cell) -> tuple[list[int], list[int]]:
    """The numbers of the point generators and of the ray generators."""
    points = [k for k, g in enumerate(cell) if g[0] > 0]
    return points, [k for k, g in enumerate(cell) if g[0] == 0]

