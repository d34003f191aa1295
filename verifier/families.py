"""Families of datasets: read from files, partitioned, written as certificates."""

from __future__ import annotations

import json
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

from flint import fmpq, fmpq_poly

from conditions.errors import InvalidInput, unknown
from conditions.exact.numbers import number_to_json, rational, short
from conditions.family import Family, Piece, Point, Span, merged, partition
from conditions.family.family import check_degree
from conditions.selection import Selection, optimal_selection
from verifier.certify import readable
from verifier.io.files import Path
from verifier.io.json_data import read_json

_FIELDS = {"parameter", "interval", "X", "Y", "z", "v"}
_SHOWN = 60
"""Characters of the longest number in a table."""


@dataclass(frozen=True)
class Partitioned:
    """A family, the selection, and the pieces of the interval."""

    family: Family
    selection: Selection
    pieces: tuple[Piece, ...]

    @property
    def spans(self) -> list[Span]:
        """The coarsest partition by verdict."""
        return merged(self.pieces)

    def certificate_text(self) -> str:
        """The certificate file, as docs/certificates.md specifies it; one piece a line.

        Raises ``InvalidInput`` if it holds what a checker does not read.
        """
        family = self.family
        points = [piece.cell.low for piece in self.pieces[::2]]
        starts = [*family.starts(), len(family.tokens.vectors)]
        tokens = [[list(map(_polynomial, x)) for x in family.tokens.vectors[a:b]]
                  for a, b in pairwise(starts)]
        head = {
            "format": "attsvm-family", "version": 1, "parameter": family.parameter,
            "family": {
                "X": {"denominator": _polynomial(family.tokens.denominator), "vectors": tokens},
                "Y": list(family.labels),
                "z": _part(family.queries.denominator, family.queries.vectors),
                "v": _part(family.head.denominator, family.head.vectors)},
            "selection": list(self.selection), "points": [_point(point) for point in points]}
        text = json.dumps(head, separators=(",", ":"), ensure_ascii=False)
        lines = ",\n".join(json.dumps(_piece(piece), separators=(",", ":"))
                           for piece in self.pieces)
        return readable(f'{text[:-1]},"pieces":[\n{lines}\n]}}\n')


def partition_file(path: Path, selection: str | Selection, interval: tuple[str, str] | None
                   ) -> Partitioned:
    """Partition the family in a JSON file: X, Y, z, v, and optionally parameter and interval.

    selection: token indices, or ``"opt"`` for the optimal tokens in the middle of the interval.
    interval: its two ends, over those of the file. Raises ``InvalidInput``, also for a partition
    with numbers or degrees that no checker reads.
    """
    fields = read_json(path)
    for name in fields:
        if name not in _FIELDS:
            raise unknown("field", name, sorted(_FIELDS))
    for name in ("X", "Y", "z", "v"):
        if name not in fields:
            raise InvalidInput(name, None, "must be in the file", "add it to the family")
    parameter = fields.get("parameter", "theta")
    if not isinstance(parameter, str) or not parameter.isidentifier():
        raise InvalidInput("parameter", parameter, "must be a name", 'write "theta"')
    low, high = _interval(interval if interval is not None else fields.get("interval"))
    family = Family.build(fields["X"], fields["Y"], fields["z"], fields["v"], parameter)
    if isinstance(selection, str):
        middle = (low + high) / 2
        if family.poles(middle) == 0:
            raise InvalidInput("--selection", selection, "must be token indices where the data "
                               f"have a pole in the middle of the interval, {middle}",
                               "give indices")
        selection = optimal_selection(family.at(middle))
    found = Partitioned(family, selection, tuple(partition(family, selection, low, high)))
    # What cannot be written cannot be checked, and is not claimed.
    found.certificate_text()
    return found


def _interval(value: Any) -> tuple[fmpq, fmpq]:
    if not isinstance(value, list | tuple) or len(value) != 2:
        raise InvalidInput("interval", value, "must be two rational numbers",
                           'give --interval LOW HIGH, or "interval": [low, high] in the file')
    low, high = (rational(end, "interval") for end in value)
    return low, high


def _polynomial(a: fmpq_poly) -> list[int | str]:
    check_degree("partition", "of a polynomial", a.degree())
    return [_number(c) for c in a.coeffs()]


def _number(value: fmpq) -> int | str:
    return number_to_json(short(value, "partition"))


def _part(denominator: fmpq_poly, vectors: tuple[tuple[fmpq_poly, ...], ...]) -> dict[str, Any]:
    return {"denominator": _polynomial(denominator),
            "vectors": [list(map(_polynomial, vector)) for vector in vectors]}


def _point(point: Point) -> Any:
    if point.rational is not None:
        return _number(point.rational)
    return {"polynomial": _polynomial(point.polynomial),
            "interval": [_number(end) for end in point.enclosure(16)]}


def _piece(piece: Piece) -> dict[str, Any]:
    feasible = piece.scale is not None
    return {"status": piece.status,
            "multipliers": [[*row, _polynomial(a)] for row, a in piece.multipliers],
            "scale": None if piece.scale is None else _polynomial(piece.scale),
            "support": [list(row) for row in piece.support] if feasible else None,
            "violating": None if piece.violating is None else list(piece.violating)}


def point_text(point: Point) -> str:
    """The point for people: exact if rational or quadratic, else the root it is.

    Numbers of many digits are left out.
    """
    value = point.rational
    if value is not None:
        text = str(value)
        return text if len(text) <= _SHOWN else f"a rational number near {float(point):.9g}"
    degree = len(point.coefficients) - 1
    if max(map(abs, point.coefficients)) >= 10**_SHOWN:
        return f"root of a polynomial of degree {degree} near {float(point):.9g}"
    if degree == 2:
        return _quadratic(point)
    return f"root of {_spelled(point)} near {float(point):.9g}"


def _quadratic(point: Point) -> str:
    c, b, a = point.coefficients
    discriminant, square = b * b - 4 * a * c, 1
    for p in range(2, 1000):
        while discriminant % (p * p) == 0:
            discriminant, square = discriminant // (p * p), square * p
    sign = "−" if point.index == 0 else "+"
    shift, factor = Fraction(-b, 2 * a), Fraction(square, 2 * a)
    root = f"√{discriminant}"
    if factor.numerator != 1:
        root = f"{factor.numerator}{root}"
    if factor.denominator != 1:
        root = f"{root}/{factor.denominator}"
    if shift == 0:
        return f"−{root}" if sign == "−" else root
    return f"{shift} {sign} {root}"


def _spelled(point: Point) -> str:
    terms = []
    for k, c in reversed(list(enumerate(point.coefficients))):
        if c:
            size = "" if abs(c) == 1 and k else str(abs(c))
            power = "" if k == 0 else "θ" if k == 1 else f"θ^{k}"
            terms.append(f"{'−' if c < 0 else '+'} {size}{power}")
    return " ".join(terms).removeprefix("+ ")
