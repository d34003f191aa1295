"""Files that partition an interval of a parameter θ, checked piece by piece.

The entries of the data are polynomials in θ over common denominators. With denominators cleared
by their squares, which are positive except at poles, features and score gaps are polynomials. On
each piece, an open interval between two points or a point, the file states polynomials a_k and c:
if c > 0, a_k ≥ 0 and the margins of Σ a_k φ_k are c where a_k > 0 and ≥ c elsewhere, these are the
KKT conditions of W^mm = Σ a_k φ_k / c at every θ of the piece; if a_k ≥ 0, not all 0, and Σ a_k φ_k
= 0, there is no solution (Gordan). The sign on an open interval is the one at a rational inside it,
once Sturm's theorem has shown that there is no root.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_DOWN, Context, Decimal
from functools import cached_property
from itertools import accumulate, pairwise

from .claim import rows_text
from .data import Index
from .polynomials import (
    ZERO,
    Polynomial,
    Work,
    add,
    cleared,
    combine,
    multiply,
    read_polynomial,
    scale,
)
from .reading import Node
from .refusals import Code
from .signs import Point, Sturm, demand_increasing, sign_between

Vector = tuple[Polynomial, ...]

FAMILY_FORMAT, FAMILY_VERSION = "attsvm-family", 1
_SHOWN_BITS = 24


@dataclass(frozen=True)
class Family:
    """Tokens, queries and head, denominators cleared; ``poles`` is 0 where the data have one.

    Coefficients are integers: features are those of the specification times ``unit``.
    """

    tokens: tuple[tuple[Vector, ...], ...]
    labels: tuple[int, ...]
    queries: tuple[Vector, ...]
    head: Vector
    poles: Polynomial
    unit: int

    @classmethod
    def read(cls, node: Node, work: Work) -> Family:
        """The family that *node* spells. Raises `Refusal`."""
        fields = node.object("X", "Y", "z", "v")
        parts = {name: fields[name].object("denominator", "vectors") for name in "Xzv"}
        (head,) = parts["v"]["vectors"].items(1)
        d = len(head.items())
        samples = parts["X"]["vectors"].items()
        for part, size in ((head, d), (parts["X"]["vectors"], len(samples))):
            if not size:
                raise part.refuse(Code.EMPTY, "at least one entry is needed")

        lengths = []
        for sample in samples:
            lengths.append(len(sample.items()))
            if lengths[-1] < 2:
                raise sample.refuse(Code.WRONG_LENGTH, "a sample has at least two tokens")
        rows, pole_x, unit_x = _part(parts["X"]["denominator"],
                                     [row for sample in samples for row in sample.items()], d, work)
        labels = []
        for y in fields["Y"].items(len(samples)):
            if y.number() not in (1, -1):
                raise y.refuse(Code.BAD_LABEL, "a label is 1 or -1")
            labels.append(int(y.number()))
        queries, pole_z, unit_z = _part(parts["z"]["denominator"],
                                        parts["z"]["vectors"].items(len(samples)), d, work)
        (v,), pole_v, _ = _part(parts["v"]["denominator"], [head], d, work)
        starts = list(accumulate(lengths, initial=0))
        return cls(tuple(tuple(rows[a:b]) for a, b in pairwise(starts)), tuple(labels),
                   tuple(queries), v, multiply(multiply(pole_x, pole_z, work), pole_v, work),
                   unit_x * unit_z)

    @property
    def lengths(self) -> tuple[int, ...]:
        """T_i."""
        return tuple(map(len, self.tokens))

    def __str__(self) -> str:
        low, high = min(self.lengths), max(self.lengths)
        return (f"family of datasets n={len(self.tokens)} "
                f"T={low if low == high else f'{low}..{high}'} d={len(self.head)}")


def _part(denominator: Node, rows: Sequence[Node], d: int, work: Work
          ) -> tuple[list[Vector], Polynomial, int]:
    """The vectors times the square of their denominator and a unit, the denominator, the unit."""
    (below,), factor = cleared([read_polynomial(denominator)])
    if not below:
        raise denominator.refuse(Code.EMPTY, "a denominator that is 0")
    entries, unit = cleared([read_polynomial(x) for row in rows for x in row.items(d)])
    products = [multiply(x, below, work) for x in entries]
    return ([tuple(products[k:k + d]) for k in range(0, len(products), d)], below, factor * unit)


@dataclass(frozen=True)
class Selected:
    """A family with a selection: features as polynomials."""

    family: Family
    selection: tuple[int, ...]
    work: Work

    @cached_property
    def deltas(self) -> dict[Index, Vector]:
        """x_{iα_i} - x_it of every row."""
        return {(i, t): tuple(add(x, scale(y, -1)) for x, y in
                              zip(sample[self.selection[i]], token, strict=True))
                for i, sample in enumerate(self.family.tokens)
                for t, token in enumerate(sample) if t != self.selection[i]}

    def matrix(self, weights: Mapping[Index, Polynomial]) -> list[Vector]:
        """Σ a_k φ_k."""
        d = len(self.family.head)
        W = [[ZERO] * d for _ in range(d)]
        for row, a in weights.items():
            for j, x in enumerate(self.deltas[row]):
                y = multiply(a, x, self.work)
                W[j] = [add(w, multiply(y, q, self.work)) for w, q in
                        zip(W[j], self.family.queries[row[0]], strict=True)]
        return [tuple(row) for row in W]

    def margins(self, W: Sequence[Vector]) -> dict[Index, Polynomial]:
        """δᵀ W z."""
        pulls = [tuple(combine(row, query, self.work) for row in W)
                 for query in self.family.queries]
        return {row: combine(delta, pulls[row[0]], self.work)
                for row, delta in self.deltas.items()}

    def gap(self, row: Index) -> Polynomial:
        """γ_{iα_i} - γ_it."""
        return scale(combine(self.deltas[row], self.family.head, self.work),
                     self.family.labels[row[0]])


def check_family(top: Node, characters: int) -> tuple[str, list[str]]:
    """A line about the family and one a piece: all are proved. Raises `Refusal`.

    characters: the length of the file, which limits the work.
    """
    fields = top.object("format", "version", "parameter", "family", "selection", "points",
                        "pieces")
    fields["parameter"].text()
    work = Work.allowed(top, characters)
    family = Family.read(fields["family"], work)
    selected = Selected(family, fields["selection"].selection(family.lengths), work)
    nodes = fields["points"].items()
    if len(nodes) < 2:
        raise fields["points"].refuse(Code.EMPTY, "an interval has two ends")
    sturm = Sturm(work)
    points = [Point.read(node, sturm) for node in nodes]
    for left, right in pairwise(points):
        demand_increasing(left, right, fields["points"])
    for point in points:
        point.shrink(fields["points"], _SHOWN_BITS)
    lines = []
    for k, piece in enumerate(fields["pieces"].items(2 * len(points) - 1)):
        ends = points[k // 2], points[(k + 1) // 2]
        lines.append(f"{_place(*ends)}: {_check_piece(piece, selected, *ends)}")
    alpha = ", ".join(map(str, selected.selection))
    return f"{family}, α = ({alpha}), {len(points)} points", lines


def _place(left: Point, right: Point) -> str:
    def text(point: Point) -> str:
        if point.is_exact:
            return str(point.low)
        context = Context(prec=6, rounding=ROUND_DOWN, Emin=-10**9, Emax=10**9)
        return f"{context.divide(Decimal(point.low.numerator), Decimal(point.low.denominator))}…"

    return f"θ = {text(left)}" if left is right else f"{text(left)} < θ < {text(right)}"


def _check_piece(node: Node, selected: Selected, left: Point, right: Point) -> str:
    """What is proved on the point, or on the open interval."""
    def sign(a: Polynomial) -> int | None:
        return left.sign(a, node) if left is right else sign_between(a, left, right, node)

    fields = node.object("status", "multipliers", "scale", "support", "violating")
    status = fields["status"].choice(["feasible", "infeasible", "undefined"])
    weights, c = _weights(fields["multipliers"], fields["scale"], selected)
    for name in ("scale", "support", "violating"):
        needed = status == "feasible" and name != "violating"
        if fields[name].is_null if needed else (status != "feasible" and not fields[name].is_null):
            raise fields[name].refuse(Code.CERTIFICATE_UNFIT, f"{name} does not fit {status}")
    if status == "undefined":
        if weights or sign(selected.family.poles) != 0:
            raise fields["status"].refuse(Code.SIGN_UNPROVED, "not shown to be a pole of the data")
        return "the data have a pole"
    if sign(selected.family.poles) not in (1, -1):
        raise fields["status"].refuse(Code.SIGN_UNPROVED, "the data may have a pole")
    signs = [sign(a) for a in weights.values()]
    if not all(s in (0, 1) for s in signs):
        raise fields["multipliers"].refuse(Code.SIGN_UNPROVED, "a multiplier may be negative")
    if status == "feasible":
        return _feasible(fields, selected, weights, c, sign)
    if 1 not in signs:
        raise fields["multipliers"].refuse(Code.SIGN_UNPROVED, "no multiplier is positive")
    if any(sign(entry) != 0 for line in selected.matrix(weights) for entry in line):
        raise fields["multipliers"].refuse(Code.NOT_CANCELLING, "Σ a φ is not zero")
    return "Att-SVM(α) is infeasible"


def _feasible(fields: dict[str, Node], selected: Selected, weights: dict[Index, Polynomial],
              c: Polynomial, sign: Callable[[Polynomial], int | None]) -> str:
    if sign(c) != 1:
        raise fields["scale"].refuse(Code.SIGN_UNPROVED, "the scale is not shown to be positive")
    support = [_row(entry.items(2), entry, selected) for entry in fields["support"].items()]
    fields["support"].increasing(support)
    inside = set(support)
    # Margins are products of two features, each times the unit.
    level = scale(c, -selected.family.unit**2)
    for row, margin in selected.margins(selected.matrix(weights)).items():
        excess = sign(add(margin, level))
        if excess != (0 if row in inside else 1):
            raise fields["support"].refuse(Code.WRONG_SUPPORT, f"row {row} is not shown to be "
                                           f"{'in' if row in inside else 'off'} the support")
        if row in weights and row not in inside and sign(weights[row]) != 0:
            raise fields["multipliers"].refuse(Code.NOT_COMPLEMENTARY,
                                               f"a multiplier of row {row}, off the support")
    said = f"support indices {rows_text(support)}"
    if fields["violating"].is_null:
        for row in support:
            if sign(selected.gap(row)) != 1:
                raise fields["violating"].refuse(Code.NOT_LOCALLY_OPTIMAL,
                                                 f"row {row} is not shown to score below")
        return f"feasible, {said}, α is locally optimal"
    row = _row(fields["violating"].items(2), fields["violating"], selected)
    if row not in inside or sign(selected.gap(row)) not in (0, -1):
        raise fields["violating"].refuse(Code.STATUS_UNPROVED, f"row {row} is not shown to be a "
                                         "support index that scores no less")
    return f"feasible, {said}, α is not locally optimal"


def _weights(node: Node, level: Node, selected: Selected
             ) -> tuple[dict[Index, Polynomial], Polynomial]:
    """The multipliers and the scale, 0 where there is none, times one common factor."""
    rows, polynomials = [], []
    for entry in node.items():
        i, t, a = entry.items(3)
        rows.append(_row([i, t], entry, selected))
        polynomials.append(read_polynomial(a))
    node.increasing(rows)
    *weights, c = cleared([*polynomials, () if level.is_null else read_polynomial(level)])[0]
    return dict(zip(rows, weights, strict=True)), c


def _row(entry: list[Node], node: Node, selected: Selected) -> Index:
    i = entry[0].index(len(selected.selection))
    t = entry[1].index(selected.family.lengths[i])
    if t == selected.selection[i]:
        raise node.refuse(Code.SELECTED_ROW, f"token {t} is the selected one of sample {i}")
    return i, t
