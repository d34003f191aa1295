"""Samples of proportional queries, and the linear relations between their rows.

All features of a class are matrices w qᵀ of one primitive integer query q, so that relations
between them are relations between vectors w of length d. Features of different classes can depend
on each other only where the queries do. Source: docs/theory.md, section 8, Theorem 8.8.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from flint import fmpq_mat, fmpz, fmpz_mat

from conditions.exact.ranks import PRIMES, pivot_columns
from conditions.selection import Row
from conditions.separation.rows import signed_content
from conditions.separation.token_sets import Constraints

Query = tuple[fmpz, ...]
"""A primitive integer vector, its first nonzero entry positive."""

Vector = list[fmpz]


@dataclass(frozen=True)
class Span:
    """A space of rational vectors by its reduced row echelon form ``form``, times ``head`` > 0.

    ``pivots[k]`` is the column where row k has its first entry, ``head``.
    """

    form: list[Vector]
    head: fmpz
    pivots: tuple[int, ...]

    @classmethod
    def of(cls, vectors: list[Vector]) -> Span:
        """The span of integer *vectors*."""
        if not vectors:
            return cls([], fmpz(1), ())
        form, head, rank = fmpz_mat(vectors).rref()
        sign = -1 if head < 0 else 1
        table = [[sign * a for a in row] for row in form.tolist()[:rank]]
        return cls(table, sign * head, tuple(_leading(table)))

    def contains(self, vector: Vector) -> bool:
        """Whether *vector* is in it."""
        rest = [self.head * a for a in vector]
        for pivot, row in zip(self.pivots, self.form, strict=True):
            if vector[pivot] != 0:
                rest = [a - vector[pivot] * b for a, b in zip(rest, row, strict=True)]
        return not any(rest)

    def orthogonal(self, vector: Vector) -> Vector:
        """A multiple of the vector that is orthogonal to it and equals *vector* off the pivots."""
        free = [fmpz(0) if k in self.pivots else a for k, a in enumerate(vector)]
        found = [self.head * a for a in free]
        for pivot, row in zip(self.pivots, self.form, strict=True):
            found[pivot] = -sum((a * b for a, b in zip(row, free, strict=True)), fmpz(0))
        return found


def _leading(table: list[Vector]) -> list[int]:
    return [next(j for j, a in enumerate(row) if a != 0) for row in table]


def _independent(vectors: list[Vector]) -> list[int]:
    """The positions of the vectors that are no combination of earlier ones, exactly."""
    if not vectors:
        return []
    form, _, rank = fmpz_mat(vectors).transpose().rref()
    return _leading(form.tolist()[:rank])


@dataclass(frozen=True, eq=False)
class QueryClasses:
    """The samples of *constraints* with a nonzero query, by its direction."""

    constraints: Constraints

    @cached_property
    def contents(self) -> dict[int, fmpz]:
        """Per sample what its integer query is times the one of its class."""
        table = self.constraints.dataset.integers.queries.tolist()
        return {i: signed_content(table[i]) for i in self.constraints.samples if any(table[i])}

    @cached_property
    def queries(self) -> dict[int, Query]:
        """Per sample the query of its class."""
        table = self.constraints.dataset.integers.queries.tolist()
        return {i: tuple(a / g for a in table[i]) for i, g in self.contents.items()}

    def vectors(self, rows: Sequence[Row]) -> list[Vector]:
        """The w of *rows*, whose integer features are w qᵀ."""
        deltas = self.constraints.features(rows).differences.tolist()
        return [[self.contents[i] * a for a in delta]
                for (i, _), delta in zip(rows, deltas, strict=True)]

    def split(self, rows: Iterable[Row]) -> dict[Query, list[Row]]:
        """*rows* by class; those of zero queries are left out."""
        found: dict[Query, list[Row]] = {query: [] for query in self.queries.values()}
        for row in rows:
            if row[0] in self.queries:
                found[self.queries[row[0]]].append(row)
        return found

    @cached_property
    def tied(self) -> dict[Query, list[Row]]:
        """Per class independent tied rows that span all of them."""
        return {query: [rows[k] for k in _independent(self.vectors(rows))]
                for query, rows in self.split(self.constraints.tied).items()}

    @cached_property
    def ties(self) -> tuple[Row, ...]:
        """The rows of `tied`, increasing."""
        return tuple(sorted(row for rows in self.tied.values() for row in rows))

    def independent(self, rows: Iterable[Row]) -> list[Row]:
        """Rejected *rows* without those that combine earlier ones and ties of their class."""
        found = []
        for query, given in self.split(rows).items():
            ties = self.tied[query]
            found += [given[k - len(ties)] for k in _independent(self.vectors([*ties, *given]))
                      if k >= len(ties)]
        return found

    def determined(self, rows: Iterable[Row]) -> list[Row]:
        """The other rejected rows whose margin is 1 whenever it is on *rows* and 0 on the ties.

        They combine rows of their class, and ties, with weights of sum 1 on the former.
        """
        given = self.split(rows)
        found = []
        for query, others in self.split(self.constraints.rejected).items():
            if given[query]:
                known = [*([*w, fmpz(1)] for w in self.vectors(given[query])),
                         *([*w, fmpz(0)] for w in self.vectors(self.tied[query]))]
                span = Span.of(known)
                left = sorted(set(others) - set(given[query]))
                found += [row for row, w in zip(left, self.vectors(left), strict=True)
                          if span.contains([*w, fmpz(1)])]
        return found

    @cached_property
    def dual(self) -> dict[Query, Vector] | None:
        """Per class p with p·q > 0 for its own query q and 0 for all others.

        None where the queries of the classes are dependent, or not shown independent.
        """
        queries = list(self.tied)
        columns = pivot_columns(fmpz_mat([list(query) for query in queries]), PRIMES[0])
        if len(columns) < len(queries):
            return None
        inverse = fmpq_mat(fmpz_mat([[query[k] for k in columns] for query in queries])).inv()
        found = {}
        for c, query in enumerate(queries):
            entries, _ = fmpq_mat(1, len(columns), [inverse[k, c] for k in range(len(columns))]
                                  ).numer_denom()
            p = [fmpz(0)] * len(query)
            for k, a in zip(columns, entries.entries(), strict=True):
                p[k] = a
            found[query] = p
        return found
