"""A dataset whose entries are rational functions of θ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from flint import fmpq, fmpq_poly

from conditions.dataset import AttentionDataset
from conditions.errors import Description, InvalidInput, counted
from conditions.family.parsing import Fraction, rational_function

Polys = tuple[fmpq_poly, ...]

MAX_DEGREE = 4096
"""Of the polynomials that a checker reads (docs/certificates.md)."""


@dataclass(frozen=True, eq=False)
class Part:
    """Vectors of polynomials over one common denominator, monic."""

    vectors: tuple[Polys, ...]
    denominator: fmpq_poly

    @cached_property
    def cleared(self) -> tuple[Polys, ...]:
        """The vectors times the square of the denominator, which is positive except at poles."""
        return tuple(tuple(a * self.denominator for a in vector) for vector in self.vectors)

    def at(self, theta: fmpq) -> list[tuple[fmpq, ...]]:
        """The vectors at θ."""
        below = self.denominator(theta)
        return [tuple(a(theta) / below for a in vector) for vector in self.vectors]


@dataclass(frozen=True, eq=False)
class Family:
    """A dataset for every θ at which no denominator is 0; ``tokens`` sample by sample."""

    parameter: str
    lengths: tuple[int, ...]
    labels: tuple[int, ...]
    tokens: Part
    queries: Part
    head: Part

    @classmethod
    def build(cls, X: Any, Y: Any, z: Any, v: Any, parameter: str = "theta") -> Family:
        """The family of entries that are numbers or texts such as ``"1 - theta^2"``.

        Shapes as in `AttentionDataset.build`. Raises ``InvalidInput``.
        """
        head = _vectors([v], parameter, "v")
        d = len(head[0])
        samples = [_vectors(sample, parameter, f"X[{i}]", d)
                   for i, sample in enumerate(_list(X, "X"))]
        queries = _vectors(z, parameter, "z", d)
        # Sizes and labels are checked where every dataset is.
        shape = AttentionDataset.build([[[0] * d for _ in s] for s in samples], Y,
                                       [[0] * d for _ in queries], [0] * d)
        return cls(parameter, shape.lengths, shape.labels,
                   _part([x for sample in samples for x in sample], "X"),
                   _part(queries, "z"), _part(head, "v"))

    @property
    def n(self) -> int:
        """The number of samples."""
        return len(self.lengths)

    @property
    def d(self) -> int:
        """The embedding dimension."""
        return len(self.head.vectors[0])

    def starts(self) -> list[int]:
        """The position of each sample's first token."""
        return [sum(self.lengths[:i]) for i in range(self.n)]

    def at(self, theta: fmpq) -> AttentionDataset:
        """The dataset at θ. Raises ``ZeroDivisionError`` at a pole."""
        tokens = self.tokens.at(theta)
        # Not by a constructor: values may be longer than entries of a file, no file holds them.
        return AttentionDataset(
            tuple(tuple(tokens[s:s + T]) for s, T in zip(self.starts(), self.lengths,
                                                         strict=True)),
            self.labels, tuple(self.queries.at(theta)), self.head.at(theta)[0])

    def delta(self, i: int, a: int, t: int) -> Polys:
        """x_ia − x_it, times a square."""
        start = self.starts()[i]
        return tuple(x - y for x, y in zip(self.tokens.cleared[start + a],
                                           self.tokens.cleared[start + t], strict=True))

    def gap(self, i: int, a: int, t: int) -> fmpq_poly:
        """γ_ia − γ_it, times a square."""
        return self.labels[i] * sum((x * y for x, y in zip(self.delta(i, a, t),
                                                           self.head.cleared[0], strict=True)),
                                    fmpq_poly([0]))

    @property
    def poles(self) -> fmpq_poly:
        """A polynomial that vanishes where an entry is not defined."""
        return self.tokens.denominator * self.queries.denominator * self.head.denominator


def _list(value: Any, name: str) -> Sequence[Any]:
    if isinstance(value, str | bytes | dict) or not hasattr(value, "__len__") or not len(value):
        raise InvalidInput(name, value, "must be a list with at least one entry", "fill it")
    return list(value)


def _vectors(value: Any, parameter: str, name: str, d: int | None = None
             ) -> list[list[Fraction]]:
    found = []
    for k, vector in enumerate(_list(value, name)):
        label = f"{name}[{k}]" if name != "v" else "v"
        entries = _list(vector, label)
        if d is not None and len(entries) != d:
            raise InvalidInput(label, counted(len(entries), "entry", "entries"),
                               f"must have the {d} entries of v", "give vectors of one dimension")
        found.append([rational_function(a, parameter, f"{label}[{j}]")
                      for j, a in enumerate(entries)])
    return found


def _part(vectors: list[list[Fraction]], name: str) -> Part:
    common = fmpq_poly([1])
    for vector in vectors:
        for _, below in vector:
            common = common * (below // common.gcd(below))
            check_degree(name, "over one denominator", common.degree())
    found = tuple(tuple(above * (common // below) for above, below in vector)
                  for vector in vectors)
    check_degree(name, "over one denominator",
                 max(a.degree() for vector in found for a in vector))
    return Part(found, common)


def check_degree(name: str, what: str, degree: int) -> None:
    """Refuse polynomials that a checker would not read. Raises ``InvalidInput``."""
    if degree > MAX_DEGREE:
        raise InvalidInput(name, Description(f"degree {degree:,} {what}"),
                           f"must be at most {MAX_DEGREE:,}, which a checker reads",
                           "give entries of lower degree, or with fewer different denominators")
