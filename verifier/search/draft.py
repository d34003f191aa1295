"""A counterexample as plain numbers, to be changed: the moves of shrinking."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import product
from math import gcd
from typing import Self, TypeVar

from flint import fmpq

from conditions.dataset import AttentionDataset
from verifier.claims.case import Case
from verifier.search.choices import SEARCH_LOSSES

Vector = tuple[fmpq, ...]
Rows = tuple[Vector, ...]
Change = Callable[[Vector], Iterable[fmpq]]

_Item = TypeVar("_Item")


@dataclass(frozen=True)
class Draft:
    """The numbers of a case. ``case`` is where its other choices are taken from."""

    tokens: tuple[Rows, ...]
    labels: tuple[int, ...]
    queries: Rows
    head: Vector
    start: Rows
    selection: tuple[int, ...]
    case: Case

    @classmethod
    def of(cls, case: Case) -> Self:
        """The draft of *case*."""
        data = case.dataset
        return cls(data.tokens, data.labels, data.queries, data.head, case.start, case.selection,
                   case)

    def built(self) -> Case:
        """The case that it spells."""
        dataset = AttentionDataset.build(self.tokens, self.labels, self.queries, self.head)
        rank = None if self.case.rank is None else min(self.case.rank, dataset.d)
        return replace(self.case, dataset=dataset, selection=self.selection, start=self.start,
                       rank=rank, token_sets=None if self.case.token_sets is None
                       or len(self.case.token_sets) != dataset.n else self.case.token_sets)

    @property
    def measure(self) -> tuple[object, ...]:
        """What shrinking makes smaller: samples, tokens, coordinates, then numbers, then order."""
        numbers = [x for sample in self.tokens for token in sample for x in token]
        numbers += [x for row in (*self.queries, self.head, *self.start) for x in row]
        # The last entries only order: large entries of head, queries and tokens first.
        falling = [tuple(-x for x in row)
                   for row in (self.head, *self.queries, *(x for s in self.tokens for x in s))]
        degenerate = (sum(not any(z) for z in self.queries)
                      + sum(len(s) - len(set(s)) for s in self.tokens))
        return (len(self.tokens), sum(map(len, self.tokens)), len(self.head), degenerate,
                SEARCH_LOSSES.index(self.case.loss), self.case.rank or 0,
                sum(map(_size, numbers)), -sum(self.labels), sum(x < 0 for x in numbers),
                tuple(falling))

    def moves(self) -> Iterator[tuple[str, Draft]]:
        """Changes by their names, the ones that remove most first."""
        n, d = len(self.tokens), len(self.head)
        for i in range(n if n > 1 else 0):
            yield "drop a sample", self._samples([k for k in range(n) if k != i])
        for i, sample in enumerate(self.tokens):
            for t in range(len(sample)):
                if t != self.selection[i] and len(sample) > 2:
                    yield "drop a token", self._sample(i, [k for k in range(len(sample)) if k != t])
        for j, k in product(range(d), repeat=2) if d > 1 else ():
            yield "drop a coordinate", self._coordinates(
                [a for a in range(d) if a != j], [b for b in range(d) if b != k])
        for loss in SEARCH_LOSSES[:SEARCH_LOSSES.index(self.case.loss)]:
            yield "a simpler loss", replace(self, case=replace(self.case, loss=loss))
        if any(x for row in self.start for x in row):
            yield "W(0) = 0", replace(self, start=tuple((fmpq(0),) * d for _ in range(d)))
        if self.case.rank is not None and self.case.rank > 1:
            yield "a smaller rank", replace(self, case=self.case.with_rank(self.case.rank - 1))
        yield from self._simpler_whole()
        yield from self._simpler_numbers()
        yield from self._reordered()

    # Parts ----------------------------------------------------------------------------------------

    def _samples(self, kept: list[int]) -> Draft:
        return replace(self, tokens=tuple(self.tokens[i] for i in kept),
                       labels=tuple(self.labels[i] for i in kept),
                       queries=tuple(self.queries[i] for i in kept),
                       selection=tuple(self.selection[i] for i in kept))

    def _sample(self, i: int, kept: list[int]) -> Draft:
        sample = tuple(self.tokens[i][t] for t in kept)
        chosen = kept.index(self.selection[i])
        return replace(self, tokens=_put(self.tokens, i, sample),
                       selection=_put(self.selection, i, chosen))

    def _coordinates(self, rows: list[int], columns: list[int]) -> Draft:
        return replace(
            self, tokens=tuple(tuple(tuple(x[a] for a in rows) for x in s) for s in self.tokens),
            queries=tuple(tuple(z[b] for b in columns) for z in self.queries),
            head=tuple(self.head[a] for a in rows),
            start=tuple(tuple(self.start[a][b] for b in columns) for a in rows))

    def _map(self, *, token: Change = list, query: Change = list, head: Change = list,
             start: Callable[[Rows], Iterable[Iterable[fmpq]]] = list) -> Draft:
        """Every token, every query, the head and W(0) through a function each."""
        return replace(
            self, tokens=tuple(tuple(tuple(token(x)) for x in s) for s in self.tokens),
            queries=tuple(tuple(query(z)) for z in self.queries), head=tuple(head(self.head)),
            start=tuple(map(tuple, start(self.start))))

    def _of_group(self, name: str, change: Change) -> Draft:
        """All tokens, all queries or the head through a function."""
        if name == "token":
            return self._map(token=change)
        return self._map(query=change) if name == "query" else self._map(head=change)

    # Numbers --------------------------------------------------------------------------------------

    def _simpler_whole(self) -> Iterator[tuple[str, Draft]]:
        """Divide by common factors, clear denominators, halve W(0), move a token to 0."""
        groups = {"token": [x for s in self.tokens for x in s], "query": list(self.queries),
                  "head": [self.head]}
        for name, rows in groups.items():
            factor = _common(x for row in rows for x in row)
            if factor not in (0, 1):
                yield "divide by a common factor", self._of_group(name, _divided(factor))
            if any(x.q != 1 for row in rows for x in row):
                yield "round to integers", self._of_group(name, lambda row: map(_rounded, row))
        if any(x for row in self.start for x in row):
            yield "halve W(0)", self._map(start=lambda W: [[_rounded(x / 2) for x in r] for r in W])
        for i, sample in enumerate(self.tokens):
            for origin in sample:
                moved = tuple(tuple(a - b for a, b in zip(x, origin, strict=True)) for x in sample)
                yield "put a token to 0", replace(self, tokens=_put(self.tokens, i, moved))
            for j, other in enumerate(self.queries):
                if j != i:
                    yield "share a query", replace(self, queries=_put(self.queries, i, other))

    def _simpler_numbers(self) -> Iterator[tuple[str, Draft]]:
        for i, sample in enumerate(self.tokens):
            for t, token in enumerate(sample):
                for j, x in enumerate(token):
                    for y in _simpler(x):
                        changed = _put(self.tokens, i, _put(sample, t, _put(token, j, y)))
                        yield "a simpler number", replace(self, tokens=changed)
        for rows in _simpler_rows(self.queries):
            yield "a simpler number", replace(self, queries=rows)
        for rows in _simpler_rows(self.start):
            yield "a simpler number", replace(self, start=rows)
        for j, x in enumerate(self.head):
            for y in _simpler(x):
                yield "a simpler number", replace(self, head=_put(self.head, j, y))

    def _reordered(self) -> Iterator[tuple[str, Draft]]:
        """Signs and orders that change nothing but the spelling."""
        n, d = len(self.tokens), len(self.head)
        for i in range(n):
            yield "canonical signs", replace(
                self, tokens=_put(self.tokens, i, tuple(tuple(-a for a in x)
                                                        for x in self.tokens[i])),
                queries=_put(self.queries, i, tuple(-a for a in self.queries[i])),
                labels=_put(self.labels, i, -self.labels[i]))
        yield "canonical signs", replace(self, labels=tuple(-y for y in self.labels),
                                         head=tuple(-a for a in self.head))
        for j in range(d):
            flip = _negated(j)
            rows = tuple(tuple(-x for x in row) if k == j else row
                         for k, row in enumerate(self.start))
            yield "canonical signs", replace(self._map(token=flip, head=flip), start=rows)
            columns = tuple(tuple(flip(row)) for row in self.start)
            yield "canonical signs", replace(self._map(query=flip), start=columns)
        for j in range(d - 1):
            order = [*range(j), j + 1, j, *range(j + 2, d)]
            yield "canonical order", self._coordinates(order, list(range(d)))
            yield "canonical order", self._coordinates(list(range(d)), order)
        for i, sample in enumerate(self.tokens):
            for t in range(len(sample) - 1):
                yield "canonical order", self._sample(
                    i, [*range(t), t + 1, t, *range(t + 2, len(sample))])
        for i in range(n - 1):
            yield "canonical order", self._samples([*range(i), i + 1, i, *range(i + 2, n)])


def _put(items: tuple[_Item, ...], k: int, new: _Item) -> tuple[_Item, ...]:
    return (*items[:k], new, *items[k + 1:])


def _divided(factor: fmpq) -> Change:
    return lambda row: [x / factor for x in row]


def _negated(j: int) -> Change:
    return lambda row: [-x if k == j else x for k, x in enumerate(row)]


def _simpler_rows(rows: Rows) -> Iterator[Rows]:
    for i, row in enumerate(rows):
        for j, x in enumerate(row):
            for y in _simpler(x):
                yield _put(rows, i, _put(row, j, y))


def _size(x: fmpq) -> int:
    return abs(int(x.p)) + 4 * (int(x.q) - 1)


def _rounded(x: fmpq) -> fmpq:
    """The nearest integer, halves towards 0."""
    whole = (abs(x) + fmpq(1, 2)).ceil() - 1
    return fmpq(whole if x > 0 else -whole)


def _simpler(x: fmpq) -> Iterator[fmpq]:
    """0, half, one closer to 0, the opposite of a negative number; integers near a fraction."""
    if x == 0:
        return
    yield fmpq(0)
    if x.q != 1:
        yield fmpq(x.floor())
        yield fmpq(x.ceil())
        return
    if abs(x) > 2:
        yield _rounded(x / 2)
    yield x - 1 if x > 0 else x + 1
    if x < 0:
        yield -x


def _common(numbers: Iterator[fmpq]) -> fmpq:
    """The greatest common divisor of the numerators over the least denominators' one."""
    p = q = 0
    for x in numbers:
        p = gcd(p, int(x.p))
        q = q * int(x.q) // gcd(q, int(x.q)) if q else int(x.q)
    return fmpq(p, q or 1)
