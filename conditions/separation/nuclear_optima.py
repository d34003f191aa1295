"""Two optima of the nuclear norm problem, exactly, where rational ones exist.

With λ optimal and M = Σλφ, the matrices MP, P ⪰ 0 on E = {v : MᵀMv = v}, have nuclear norm tr P;
those with margins 1 where λ > 0 and ≥ 1 elsewhere have tr P = Σλ: they are optimal. For small
integers λ is often rational; then E and the affine space of such P are computed over Q, and a
float optimum shows a point in it. Data in general position have no such λ, and one optimum.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from flint import fmpq, fmpq_mat

from conditions.certificates import NuclearOptima
from conditions.exact.definite import is_contraction, is_semidefinite
from conditions.selection import Features
from conditions.separation.nuclear import NuclearSolution
from conditions.separation.nuclear_rounding import on_grid, power_of_two, rational_matrix

_DENOMINATORS = (12, 420)
_GRIDS = (-2, -8, -20)
_HALVINGS = 24


def two_optima(solution: NuclearSolution) -> NuclearOptima | None:
    """Two different optima near the bracket *solution*, or None where none were found."""
    phi = solution.features
    for most in _DENOMINATORS:
        weights = {k: _simple(x, most) for k, x in solution.multipliers.weights.items()}
        weights = {k: x for k, x in weights.items() if x > 0}
        M = phi.combination(list(weights), list(weights.values()))
        if not weights or not is_contraction(M):
            continue
        found = _different(phi, M, weights, solution)
        if found is not None:
            first, second = (tuple(map(tuple, P.tolist())) for P in found)
            return NuclearOptima(tuple((*phi.rows[k], x) for k, x in sorted(weights.items())),
                                 first, second)
    return None


def _simple(value: fmpq, most: int) -> fmpq:
    """The nearest rational of denominator at most *most*."""
    near = Fraction(int(value.p), int(value.q)).limit_denominator(most)
    return fmpq(near.numerator, near.denominator)


def null_space(A: fmpq_mat) -> fmpq_mat | None:
    """A basis of {x : Ax = 0} as columns, or None if it is {0}."""
    form, rank = A.rref()
    table = form.tolist()[:rank]
    pivots = [next(j for j, a in enumerate(row) if a != 0) for row in table]
    free = [j for j in range(A.ncols()) if j not in set(pivots)]
    if not free:
        return None
    basis = fmpq_mat(A.ncols(), len(free))
    for c, j in enumerate(free):
        basis[j, c] = fmpq(1)
        for row, pivot in zip(table, pivots, strict=True):
            basis[pivot, c] = -row[j]
    return basis


def _different(phi: Features, M: fmpq_mat, weights: dict[int, fmpq],
               solution: NuclearSolution) -> tuple[fmpq_mat, fmpq_mat] | None:
    """P, P' ⪰ 0 of two different optima MP, MP'."""
    d = M.nrows()
    gram = M.transpose() * M
    for j in range(d):
        gram[j, j] = gram[j, j] - 1
    E = null_space(gram)
    if E is None:
        return None
    space = _Symmetric(E)
    margins = space.margins(phi, M)
    active = sorted(weights)
    B = fmpq_mat(len(active), space.size, [a for k in active for a in margins[k]])
    directions = null_space(B)
    if directions is None:
        return None
    near = space.coordinates(M.transpose() * rational_matrix(solution.float_W))
    for grid in _GRIDS:
        point = _projected(B, on_grid(near, grid))
        if point is None or not space.is_optimum(phi, M, point):
            continue
        for step in _steps(directions):
            if space.is_optimum(phi, M, point + step):
                return space.matrix(point), space.matrix(point + step)
    return None


def _steps(directions: fmpq_mat) -> Iterator[fmpq_mat]:
    for c in range(directions.ncols()):
        direction = fmpq_mat(directions.nrows(), 1,
                             [directions[r, c] for r in range(directions.nrows())])
        for k in range(_HALVINGS):
            for sign in (1, -1):
                yield direction * (sign * power_of_two(-k))


def _projected(B: fmpq_mat, h: fmpq_mat) -> fmpq_mat | None:
    """The point of {h : Bh = 1} nearest to *h*, if there is any."""
    ones = fmpq_mat(B.nrows(), 1, [1] * B.nrows())
    # Rows that depend on others are left out, then tested.
    form, rank = B.transpose().rref()
    rows = [next(j for j, a in enumerate(row) if a != 0) for row in form.tolist()[:rank]]
    table = B.tolist()
    C = fmpq_mat(rank, B.ncols(), [a for r in rows for a in table[r]])
    short = fmpq_mat(rank, 1, [1] * rank)
    moved = h + C.transpose() * (C * C.transpose()).solve(short - C * h)
    return moved if B * moved == ones else None


class _Symmetric:
    """P = EHEᵀ, H symmetric, by the entries of H on and above the diagonal."""

    def __init__(self, E: fmpq_mat) -> None:
        self.E = E
        r = E.ncols()
        self.pairs = [(a, b) for a in range(r) for b in range(a, r)]
        self.size = len(self.pairs)

    def half(self, h: fmpq_mat) -> fmpq_mat:
        """H."""
        r = self.E.ncols()
        H = fmpq_mat(r, r)
        for (a, b), x in zip(self.pairs, h.entries(), strict=True):
            H[a, b] = H[b, a] = x
        return H

    def matrix(self, h: fmpq_mat) -> fmpq_mat:
        """P."""
        return self.E * self.half(h) * self.E.transpose()

    def coordinates(self, P: fmpq_mat) -> fmpq_mat:
        """The H whose EHEᵀ is nearest to the symmetric part of *P*."""
        inverse = (self.E.transpose() * self.E).inv() * self.E.transpose()
        H = inverse * (P + P.transpose()) * inverse.transpose() * fmpq(1, 2)
        return fmpq_mat(self.size, 1, [H[a, b] for a, b in self.pairs])

    def margins(self, phi: Features, M: fmpq_mat) -> list[list[fmpq]]:
        """Per row the coefficients of its margin under MP in the entries of H."""
        left = (fmpq_mat(phi.differences) * (M * self.E)).tolist()
        right = (fmpq_mat(phi.queries) * self.E).tolist()
        unit = fmpq(1, phi.scale)
        return [[unit * (p[a] * v[b] + (p[b] * v[a] if a < b else 0)) for a, b in self.pairs]
                for p, v in zip(left, right, strict=True)]

    def is_optimum(self, phi: Features, M: fmpq_mat, h: fmpq_mat) -> bool:
        """Whether H ⪰ 0 and every margin of MP is at least 1."""
        return is_semidefinite(self.half(h)) and min(phi.margins(M * self.matrix(h))) >= 1
