"""Where on an interval of θ feasibility, the support set and local optimality change, exactly.

At a rational θ the problem is solved over Q. The multipliers of its basis are rational functions of
θ; the solution is theirs as far as no polynomial of its optimality conditions has a root. The roots
bound the cell, and the rest of the interval is treated likewise. At a root the polynomials of an
adjacent cell decide by continuity. Proofs in docs/theory/family.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

from flint import fmpq, fmpq_mat, fmpq_poly

from conditions.dataset import AttentionDataset
from conditions.errors import InvalidInput
from conditions.family.family import Family, check_degree
from conditions.family.roots import Point, between, real_roots
from conditions.selection import Row, Selection, check_selection, features
from conditions.separation.frobenius import Infeasible, solve_exactly


@dataclass(frozen=True)
class Cell:
    """An open interval between two points, or (``low`` = ``high``) a point."""

    low: Point
    high: Point

    @property
    def is_point(self) -> bool:
        """Whether this is a point."""
        return self.low == self.high


@dataclass(frozen=True, eq=False)
class Piece:
    """A cell and the polynomials that decide it.

    ``multipliers``: a_k(θ) by row. Where ``scale`` = c(θ) is given, W^mm = Σ a_k φ_k / c up to the
    positive factor that clearing denominators leaves; without it, Σ a_k φ_k = 0. ``support`` lists
    the support indices, ``violating`` one that scores no less than its selected token. At a pole
    of the data there are neither multipliers nor scale.
    """

    cell: Cell
    multipliers: tuple[tuple[Row, fmpq_poly], ...]
    scale: fmpq_poly | None = None
    support: tuple[Row, ...] = ()
    violating: Row | None = None

    @property
    def status(self) -> str:
        """``feasible``, ``infeasible`` or ``undefined``."""
        if not self.multipliers:
            return "undefined"
        return "infeasible" if self.scale is None else "feasible"

    @property
    def locally_optimal(self) -> bool:
        """Whether α is locally optimal on the cell."""
        return self.scale is not None and self.violating is None

    @property
    def verdict(self) -> tuple[str, tuple[Row, ...], bool]:
        """What is compared between neighbours."""
        return self.status, self.support, self.locally_optimal


class _Problem:
    """A family with a selection: its rows, and products of features as polynomials."""

    def __init__(self, family: Family, selection: Selection) -> None:
        self.family, self.selection = family, selection
        self.rows = [(i, t) for i, T in enumerate(family.lengths) for t in range(T)
                     if t != selection[i]]
        self.deltas = {row: family.delta(row[0], selection[row[0]], row[1]) for row in self.rows}
        self.queries = family.queries.cleared

    @cached_property
    def degree(self) -> int:
        """Twice the largest degree of a feature."""
        top = max((a.degree() for delta in self.deltas.values() for a in delta), default=0)
        return 2 * int(max(top, 0) + max(0, *(a.degree() for q in self.queries for a in q)))

    def product(self, left: Row, right: Row) -> fmpq_poly:
        """⟨φ, φ'⟩."""
        zero = fmpq_poly([0])
        return (sum((a * b for a, b in zip(self.deltas[left], self.deltas[right], strict=True)),
                    zero)
                * sum((a * b for a, b in zip(self.queries[left[0]], self.queries[right[0]],
                                             strict=True)), zero))

    def gap(self, row: Row) -> fmpq_poly:
        """γ_{iα_i} − γ_it, times a square."""
        return self.family.gap(row[0], self.selection[row[0]], row[1])


def partition(family: Family, selection: Sequence[int], low: fmpq, high: fmpq) -> list[Piece]:
    """The pieces of [low, high] in order: point, open cell, point, …, point.

    low < high, rational. Neighbours may have equal verdicts; `merged` joins them. Raises
    ``InvalidInput``, also where multipliers may have a degree above 4,096.
    """
    if not low < high:
        raise InvalidInput("interval", [low, high], "must have its lower end first",
                           "swap the ends")
    alpha = check_selection(_shape(family), selection)
    problem = _Problem(family, alpha)
    ends = [Point.of(low), Point.of(high)]
    poles = set(real_roots(family.poles))
    cuts = sorted({*ends, *(p for p in poles if ends[0] < p < ends[1])})
    cells: list[Piece] = []
    todo = list(pairwise(cuts))
    while todo:
        left, right = todo.pop()
        piece = _open_piece(problem, left, right)
        cells.append(piece)
        if left < piece.cell.low:
            todo.append((left, piece.cell.low))
        if piece.cell.high < right:
            todo.append((piece.cell.high, right))
    cells.sort(key=lambda piece: piece.cell.low)
    first = cells[0].cell.low
    pieces = [_at_point(problem, first, cells[0], poles)]
    for piece in cells:
        pieces += [piece, _at_point(problem, piece.cell.high, piece, poles)]
    return pieces


@dataclass(frozen=True)
class Span:
    """Neighbouring pieces of one verdict; ``piece`` is an open one of them where there is one."""

    low: Point
    high: Point
    closed_low: bool
    closed_high: bool
    piece: Piece


def merged(pieces: Sequence[Piece]) -> list[Span]:
    """The pieces with neighbours of equal verdict joined: the coarsest partition."""
    spans: list[Span] = []
    for piece in pieces:
        cell, point = piece.cell, piece.cell.is_point
        if spans and spans[-1].piece.verdict == piece.verdict:
            last = spans[-1]
            spans[-1] = replace(last, high=cell.high, closed_high=point,
                                piece=piece if last.piece.cell.is_point else last.piece)
        else:
            spans.append(Span(cell.low, cell.high, point, point, piece))
    return spans


def _shape(family: Family) -> AttentionDataset:
    """A dataset of the sizes of the family."""
    d = family.d
    return AttentionDataset.build([[[0] * d] * T for T in family.lengths], family.labels,
                                  [[0] * d] * family.n, [0] * d)


def _open_piece(problem: _Problem, left: Point, right: Point) -> Piece:
    """The largest cell in (left, right) around a rational θ where one set of polynomials rules."""
    position = 0
    while True:
        theta = between(left, right, position)
        found = _candidate(problem, theta)
        if found is not None:
            piece, critical = found
            roots = {root for q in critical for root in real_roots(q)}
            here = Point.of(theta)
            if here not in roots:
                low = max((r for r in roots if left < r < here), default=left)
                high = min((r for r in roots if here < r < right), default=right)
                return replace(piece, cell=Cell(low, high))
        # θ is special: a support or a dependency that holds at this value alone.
        position += 1


def _candidate(problem: _Problem, theta: fmpq) -> tuple[Piece, list[fmpq_poly]] | None:
    """The piece that the exact solution at θ suggests, and the polynomials that must not vanish."""
    phi = features(problem.family.at(theta), problem.selection)
    outcome = solve_exactly(phi)
    basis = [phi.rows[k] for k in outcome.multipliers]
    values, scale = _solved(problem, basis, isinstance(outcome, Infeasible))
    if values is None:
        return None
    sign = 1 if scale(theta) > 0 else -1
    # Multipliers are positive at θ whatever the sign of the determinant became.
    values, scale = [sign * a for a in values], sign * scale
    multipliers = tuple(zip(basis, values, strict=True))
    nowhere = Cell(Point.of(theta), Point.of(theta))
    if isinstance(outcome, Infeasible):
        if not _vanishes(problem, multipliers):
            return None
        return Piece(nowhere, multipliers), values
    excess = {row: sum((a * problem.product(row, k) for k, a in multipliers), fmpq_poly([0]))
              - scale for row in problem.rows}
    support = tuple(row for row in problem.rows if excess[row] == 0)
    if support != outcome.support:
        return None
    gaps = {row: problem.gap(row) for row in support}
    violating = next((row for row in support if gaps[row](theta) <= 0), None)
    critical = [scale, *values, *(q for q in (*excess.values(), *gaps.values()) if q != 0)]
    return Piece(nowhere, multipliers, scale, support, violating), critical


def _solved(problem: _Problem, basis: list[Row], lifted: bool
            ) -> tuple[list[fmpq_poly] | None, fmpq_poly]:
    """Coprime a and c with K a = c·1 on *basis*, by interpolation; K + 11ᵀ where *lifted*.

    (K + 11ᵀ)a = c·1 makes a a null vector of the features where they have one.
    """
    s = len(basis)
    # By Cramer's rule; so many products of exact matrices would take hours, too.
    check_degree("family", f"in the multipliers of {s} rows", s * problem.degree)
    gram = [[problem.product(k, j) + int(lifted) for j in basis] for k in basis]
    needed = s * problem.degree + 1
    points: list[fmpq] = []
    samples: list[list[fmpq]] = []
    theta = 0
    while len(points) < needed:
        K = fmpq_mat(s, s, [q(theta) for row in gram for q in row])
        determinant = K.det()
        if determinant != 0:
            solved = K.solve(fmpq_mat(s, 1, [1] * s)).entries()
            points.append(fmpq(theta))
            samples.append([determinant * x for x in solved] + [determinant])
        elif theta > 4 * needed + 8:
            # Singular at more points than its degree allows: singular everywhere.
            return None, fmpq_poly([0])
        theta = -theta if theta > 0 else 1 - theta
    columns = [_interpolated(points, [row[k] for row in samples]) for k in range(s + 1)]
    common = columns[-1]
    for q in columns:
        common = common.gcd(q)
    columns = [q // common for q in columns]
    top = max(abs(c) for q in columns for c in q.coeffs())
    columns = [q / top for q in columns]
    return columns[:-1], columns[-1]


def _interpolated(points: Sequence[fmpq], values: Sequence[fmpq]) -> fmpq_poly:
    """Newton's interpolation polynomial."""
    coefficients = list(values)
    for k in range(1, len(points)):
        for j in range(len(points) - 1, k - 1, -1):
            coefficients[j] = ((coefficients[j] - coefficients[j - 1])
                               / (points[j] - points[j - k]))
    result = fmpq_poly([0])
    for point, c in zip(reversed(points), reversed(coefficients), strict=True):
        result = result * fmpq_poly([-point, 1]) + c
    return result


def _vanishes(problem: _Problem, multipliers: Sequence[tuple[Row, fmpq_poly]],
              modulus: fmpq_poly | None = None) -> bool:
    """Whether Σ a_k φ_k is 0, for all θ or modulo a polynomial."""
    d = problem.family.d
    for a in range(d):
        for b in range(d):
            total = sum((q * problem.deltas[row][a] * problem.queries[row[0]][b]
                         for row, q in multipliers), fmpq_poly([0]))
            if (total if modulus is None else total % modulus) != 0:
                return False
    return True


def _at_point(problem: _Problem, point: Point, near: Piece, poles: set[Point]) -> Piece:
    """The piece at an end of the open cell of *near*, by continuity."""
    cell = Cell(point, point)
    if point in poles:
        return Piece(cell, ())
    reduced = tuple((row, a % point.polynomial) for row, a in near.multipliers)
    if near.scale is None or point.sign(near.scale) == 0:
        # Limits of null vectors, or of multipliers that tend to infinity.
        assert _vanishes(problem, reduced, point.polynomial), "a limit of infeasible data is so"
        return Piece(cell, reduced)
    scale = near.scale % point.polynomial
    support = tuple(row for row in problem.rows if point.sign(
        sum((a * problem.product(row, k) for k, a in reduced), fmpq_poly([0])) - scale) == 0)
    violating = next((row for row in support if point.sign(problem.gap(row)) <= 0), None)
    return Piece(cell, reduced, scale, support, violating)
