"""Where a search looks: integer lattices by growing size and entries, then rationals, then floats.

Integer datasets are listed up to what no claim of the paper sees. With U, V orthogonal, x → Ux,
v → Uv, z → Vz, W → UWVᵀ changes neither scores nor margins nor norms; so the head is sorted and ≥ 0
(U a signed permutation), and the first query too (V). (x, z, Y) → (−x, −z, −Y) in one sample
changes neither logits nor scores: all labels are 1. Samples and tokens may be reordered: the other
tokens of a sample are sorted, and samples are sorted by their tokens. A token x_i0 of largest
score is put to 0 by x_it → x_it − x_i0; this changes no feature, and shifts the scores of a sample
by a constant, which losses other than correlation notice: for them it is a restriction. For the
cubic loss, which asks where scores are 0, all tokens are then moved by 1, 2, … along e₁.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations_with_replacement, islice, product

import numpy as np

from conditions.dataset import FloatArray
from verifier.search.batch import Batch, IntArray, Size

CHUNK, DRAWN = 50_000, 2000
"""Places gone through at once, and random datasets."""
_NUMERATOR, _DENOMINATORS = 6, (2, 3, 4)


@dataclass(frozen=True)
class Grid:
    """The integer datasets of one size with tokens and head in −bound..bound.

    ``query_bound``: the entries of queries; 0 for queries ±e₁ alone. ``degenerate``: those with a
    token that occurs twice in its sample, or a query that is 0, and no others; else the others.
    ``lifted``: each dataset stands for ``bound`` others, all its tokens moved by 1..bound along e₁.
    """

    size: Size
    bound: int
    query_bound: int
    degenerate: bool = False
    lifted: bool = False

    def __str__(self) -> str:
        queries = ("±e₁" if self.query_bound == 0
                   else f"in {-self.query_bound}..{self.query_bound}")
        special = ", tokens repeated or queries 0" if self.degenerate else ""
        lifted = f" moved by 1..{self.bound}" if self.lifted else ""
        return (f"{self.size} tokens in {-self.bound}..{self.bound}{lifted}, queries "
                f"{queries}{special}")

    @property
    def complexity(self) -> int:
        """What lattices are ordered by: numbers of a dataset, and how large they may be."""
        return (self.size.numbers + 2 * self.bound + 3 * self.query_bound
                + 3 * self.degenerate)

    @cached_property
    def _tables(self) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Heads, tokens, first queries, other queries."""
        d = self.size.d
        heads = [v[::-1] for v in combinations_with_replacement(range(self.bound + 1), d) if any(v)]
        tokens = list(product(range(-self.bound, self.bound + 1), repeat=d))
        if self.query_bound == 0:
            axis = (1,) + (0,) * (d - 1)
            first, others = [axis], [axis, tuple(-x for x in axis)]
        else:
            q = self.query_bound
            first = [z[::-1] for z in combinations_with_replacement(range(q + 1), d)]
            others = list(product(range(-q, q + 1), repeat=d))
        return tuple(np.array(rows, dtype=float)  # type: ignore[return-value]
                     for rows in (heads, tokens, first, others))

    @cached_property
    def _radices(self) -> tuple[int, ...]:
        heads, tokens, first, others = map(len, self._tables)
        n, T, _ = self.size
        return (heads, first, *(others,) * (n - 1), *(tokens,) * (n * (T - 1)))

    @cached_property
    def count(self) -> int:
        """The places of the list, several for some datasets, and some empty."""
        return math.prod(self._radices)

    def at(self, places: IntArray) -> Batch:
        """The datasets at these places of the list, those that are listed elsewhere left out."""
        heads, tokens, first, others = self._tables
        n, T, d = self.size
        digits = np.empty((len(places), len(self._radices)), dtype=np.int64)
        rest = places.copy()
        for k in range(len(self._radices) - 1, -1, -1):
            rest, digits[:, k] = np.divmod(rest, self._radices[k])
        chosen = digits[:, 1 + n:].reshape(len(places), n, T - 1)
        keep = np.all(np.diff(chosen, axis=2) >= 0, axis=(1, 2))
        weights = len(tokens) ** np.arange(T - 2, -1, -1, dtype=float)
        keep &= np.all(np.diff(chosen @ weights, axis=1) >= 0, axis=1)
        digits, chosen = digits[keep], chosen[keep]
        head, lower = heads[digits[:, 0]], tokens[chosen]
        below = np.all(np.einsum("bntd,bd->bnt", lower, head) <= 0, axis=(1, 2))
        head, lower, digits = head[below], lower[below], digits[below]
        B = len(head)
        queries = np.concatenate([first[digits[:, 1:2]], others[digits[:, 2:1 + n]]], axis=1)
        return self._batch(np.concatenate([np.zeros((B, n, 1, d)), lower], axis=2), queries, head)

    def _batch(self, tokens: FloatArray, queries: FloatArray, head: FloatArray) -> Batch:
        """Those of the datasets that are as degenerate as the lattice."""
        # Tokens are sorted but for the first, which is 0.
        repeated = (np.diff(tokens[:, :, 1:], axis=2) == 0).all(axis=3).any(axis=(1, 2))
        repeated |= (tokens[:, :, 1:] == 0).all(axis=3).any(axis=(1, 2))
        special = repeated | (queries == 0).all(axis=2).any(axis=1)
        batch = Batch(tokens, queries, head, np.ones(tokens.shape[:2])).take(
            special == self.degenerate)
        return self._moved(batch) if self.lifted else batch

    def _moved(self, batch: Batch) -> Batch:
        """Every dataset once for every shift of its tokens."""
        shifts = np.zeros((self.bound, 1, 1, 1, self.size.d))
        shifts[..., 0] = np.arange(1, self.bound + 1)[:, None, None, None]
        tokens = (batch.tokens[None] + shifts).reshape(-1, *batch.tokens.shape[1:])
        return Batch(tokens, np.tile(batch.queries, (self.bound, 1, 1)),
                     np.tile(batch.head, (self.bound, 1)), np.tile(batch.labels, (self.bound, 1)))

    def listed(self, rng: np.random.Generator, limit: int) -> Iterator[tuple[int, Batch]]:
        """All datasets in chunks, or *limit*/8 of them at random where there are more places.

        With each chunk the number of places that it covers; 0 for random ones.
        """
        if self.count <= limit:
            for start in range(0, self.count, CHUNK):
                places = np.arange(start, min(start + CHUNK, self.count), dtype=np.int64)
                yield len(places), self.at(places)
            return
        for start in range(0, limit // 8, DRAWN):
            yield 0, self.draw(rng, min(DRAWN, limit // 8 - start))

    def draw(self, rng: np.random.Generator, count: int) -> Batch:
        """*count* random datasets, each brought into the order of the list."""
        heads, tokens, first, others = self._tables
        n, T, d = self.size
        head = heads[rng.integers(len(heads), size=count)]
        lower = tokens[rng.integers(len(tokens), size=(count, n, T - 1))]
        above = np.einsum("bntd,bd->bnt", lower, head) > 0
        lower = np.where(above[..., None], -lower, lower)
        keys = (lower + self.bound) @ (2.0 * self.bound + 1) ** np.arange(d - 1, -1, -1)
        order = keys.argsort(axis=2)
        lower = np.take_along_axis(lower, order[..., None], 2)
        weights = len(tokens) ** np.arange(T - 2, -1, -1, dtype=float)
        samples = (np.take_along_axis(keys, order, 2) @ weights).argsort(axis=1)
        lower = np.take_along_axis(lower, samples[..., None, None], 1)
        queries = others[rng.integers(len(others), size=(count, n))]
        queries[:, 0] = first[rng.integers(len(first), size=count)]
        return self._batch(np.concatenate([np.zeros((count, n, 1, d)), lower], axis=2), queries,
                           head)


@dataclass(frozen=True)
class OrthonormalGrid:
    """One sample of the T tokens e₁, …, e_T with query e₁ and an integer head, falling to 0.

    Every sample of orthonormal tokens is one of these after an orthogonal map, an order of the
    tokens and a shift of the head by a multiple of (1, …, 1), which adds to every value of a head
    v·x − λ‖x‖² on the simplex the same.
    """

    size: Size
    bound: int

    def __str__(self) -> str:
        return f"{self.size} tokens e₁..e_{self.size.T}, head in 0..{self.bound}"

    @property
    def complexity(self) -> int:
        """What lattices are ordered by."""
        return self.size.T + self.bound

    @property
    def count(self) -> int:
        """The places of the list, each a dataset."""
        return math.comb(self.size.T - 1 + self.bound, self.bound)

    def listed(self, rng: np.random.Generator, limit: int) -> Iterator[tuple[int, Batch]]:
        """Like `Grid.listed`."""
        T = self.size.T
        if self.count <= limit:
            heads = combinations_with_replacement(range(self.bound + 1), T - 1)
            while rows := list(islice(heads, DRAWN)):
                yield len(rows), self._batch(np.array(rows, dtype=float))
            return
        for start in range(0, limit // 8, DRAWN):
            shape = (min(DRAWN, limit // 8 - start), T - 1)
            yield 0, self._batch(np.sort(rng.integers(self.bound + 1, size=shape).astype(float)))

    def _batch(self, rows: FloatArray) -> Batch:
        B, T = len(rows), self.size.T
        head = np.hstack([rows[:, ::-1], np.zeros((B, 1))])
        return Batch(np.tile(np.eye(T), (B, 1, 1, 1)), np.tile(np.eye(T)[:1], (B, 1, 1)), head,
                     np.ones((B, 1)))


def sizes(largest: Size) -> list[Size]:
    """All (n, T, d) up to *largest*, few numbers first."""
    found = [Size(n, T, d) for n in range(1, largest.n + 1) for T in range(2, largest.T + 1)
             for d in range(1, largest.d + 1)]
    return sorted(found, key=lambda size: (size.numbers, size))


def grids(largest: Size, bound: int) -> list[Grid]:
    """Every lattice of sizes up to *largest*, simple ones first, whose places fit into int64.

    bound: of entries of tokens and head, at most.
    """
    found = []
    for size in sizes(largest):
        for b in range(1, bound + 1):
            # One sample, or one dimension, has one query up to its length: 0 or e₁ will do.
            for q in range(2 if min(size.n, size.d) == 1 else b + 1):
                found += [grid for grid in (Grid(size, b, q), Grid(size, b, q, degenerate=True))
                          if grid.count < 1 << 62]
    return sorted(found, key=lambda grid: (grid.complexity, grid.size, grid.bound))


def orthonormal_grids() -> list[OrthonormalGrid]:
    """Those of 2 to 6 tokens, simple ones first."""
    found = [OrthonormalGrid(Size(1, T, T), bound) for T in range(2, 7)
             for bound in (1, 2, 3, 4, 6, 8, 12, 16, 24, 32)]
    return sorted(found, key=lambda grid: (grid.complexity, grid.size))


def random_rationals(size: Size, rng: np.random.Generator, count: int) -> Batch:
    """Numerators up to 6 in size over one denominator of 2 to 4, random labels."""
    return _random(size, rng, count, lambda shape: rng.integers(
        -_NUMERATOR, _NUMERATOR + 1, size=shape).astype(float), int(rng.choice(_DENOMINATORS)))


def random_floats(size: Size, rng: np.random.Generator, count: int) -> Batch:
    """Standard normal numbers rounded to multiples of 2⁻¹⁰, random labels."""
    return _random(size, rng, count,
                   lambda shape: np.round(rng.standard_normal(shape) * 1024) / 1024, 1)


def _random(size: Size, rng: np.random.Generator, count: int, draw: object,
            denominator: int) -> Batch:
    n, T, d = size
    assert callable(draw)
    return Batch(draw((count, n, T, d)), draw((count, n, d)), draw((count, d)),
                 rng.choice([-1.0, 1.0], size=(count, n)), denominator)
