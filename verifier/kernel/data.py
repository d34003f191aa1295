"""The dataset, its scores, and the features of a selection, all in integers.

Tokens and queries are held twice: as the rationals that were read, and as integers, each scaled
by one common factor. A feature is then an integer matrix δ qᵀ, `scale` times the true one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import chain
from math import gcd

from .linear import Matrix, dot
from .numbers import common_denominator, integers
from .reading import Node
from .refusals import Code

Vector = tuple[Fraction, ...]
Index = tuple[int, int]
"""A row (i, t): token t of sample i, rejected."""


@dataclass(frozen=True)
class Dataset:
    """n samples (tokens T_i × d, label ±1, query of length d) and a head of length d."""

    tokens: tuple[tuple[Vector, ...], ...]
    labels: tuple[int, ...]
    queries: tuple[Vector, ...]
    head: Vector

    @classmethod
    def read(cls, node: Node) -> Dataset:
        """The dataset that *node* spells. Raises `Refusal`."""
        fields = node.object("X", "Y", "z", "v")
        d = len(fields["v"].items())
        samples = fields["X"].items()
        for part, size in ((fields["v"], d), (fields["X"], len(samples))):
            if not size:
                raise part.refuse(Code.EMPTY, "at least one entry is needed")
        tokens = []
        for sample in samples:
            rows = sample.items()
            if len(rows) < 2:
                raise sample.refuse(Code.WRONG_LENGTH, "a sample has at least two tokens")
            tokens.append(tuple(row.vector(d) for row in rows))
        labels = []
        for node_y in fields["Y"].items(len(tokens)):
            if (y := node_y.number()) not in (1, -1):
                raise node_y.refuse(Code.BAD_LABEL, "a label is 1 or -1")
            labels.append(int(y))
        return cls(tuple(tokens), tuple(labels), fields["z"].matrix(len(tokens), d),
                   fields["v"].vector(d))

    @property
    def n(self) -> int:
        """The number of samples."""
        return len(self.tokens)

    @property
    def d(self) -> int:
        """The embedding dimension."""
        return len(self.head)

    @cached_property
    def lengths(self) -> tuple[int, ...]:
        """T_i, the number of tokens of each sample."""
        return tuple(map(len, self.tokens))

    @cached_property
    def token_scale(self) -> int:
        """The common factor of `integer_tokens`."""
        return common_denominator(x for sample in self.tokens for token in sample for x in token)

    @cached_property
    def query_scale(self) -> int:
        """The common factor of `integer_queries`."""
        return common_denominator(x for query in self.queries for x in query)

    @cached_property
    def integer_tokens(self) -> list[list[list[int]]]:
        """The tokens times `token_scale`."""
        return [[integers(token, self.token_scale) for token in sample] for sample in self.tokens]

    @cached_property
    def integer_queries(self) -> list[list[int]]:
        """The queries times `query_scale`."""
        return [integers(query, self.query_scale) for query in self.queries]

    @cached_property
    def scores(self) -> list[list[Fraction]]:
        """γ_it = Y_i v·x_it."""
        scale = common_denominator(self.head)
        head = integers(self.head, scale)
        return [[Fraction(y * dot(head, token), scale * self.token_scale) for token in sample]
                for y, sample in zip(self.labels, self.integer_tokens, strict=True)]

    def optimal(self, i: int) -> list[int]:
        """The tokens of the largest score in sample i."""
        largest = max(self.scores[i])
        return [t for t, score in enumerate(self.scores[i]) if score == largest]

    def is_flat(self, i: int) -> bool:
        """Whether all scores of sample i are equal."""
        return len(self.optimal(i)) == self.lengths[i]

    @cached_property
    def fingerprint(self) -> str:
        """The SHA-256 of the canonical text that the specification defines."""
        digest = hashlib.sha256(f"{self.n} {self.d}\n".encode())

        def feed(*numbers: Fraction) -> None:
            for x in numbers:
                digest.update(f"{x.numerator}/{x.denominator}\n".encode())

        for sample, y, query in zip(self.tokens, self.labels, self.queries, strict=True):
            digest.update(f"{len(sample)}\n".encode())
            feed(Fraction(y), *chain.from_iterable(sample), *query)
        feed(*self.head)
        return digest.hexdigest()

    def __str__(self) -> str:
        low, high = min(self.lengths), max(self.lengths)
        T = str(low) if low == high else f"{low}..{high}"
        return f"dataset n={self.n} T={T} d={self.d} sha256={self.fingerprint}"


@dataclass(frozen=True)
class Features:
    """The features φ_it = (x_{iα_i} - x_it) z_iᵀ of a selection α, for all rejected tokens."""

    dataset: Dataset
    selection: tuple[int, ...]

    @cached_property
    def rows(self) -> list[Index]:
        """All rows (i, t), t ≠ α_i, in increasing order."""
        return [(i, t) for i, T in enumerate(self.dataset.lengths)
                for t in range(T) if t != self.selection[i]]

    @property
    def scale(self) -> int:
        """What the integer features are multiplied by."""
        return self.dataset.token_scale * self.dataset.query_scale

    def delta(self, row: Index) -> list[int]:
        """x_{iα_i} - x_it times the token scale."""
        sample = self.dataset.integer_tokens[row[0]]
        return [a - b for a, b in zip(sample[self.selection[row[0]]], sample[row[1]], strict=True)]

    def query(self, row: Index) -> list[int]:
        """z_i times the query scale."""
        return self.dataset.integer_queries[row[0]]

    def combination(self, weights: Mapping[Index, int]) -> list[list[int]]:
        """Σ weight·(integer feature), d × d."""
        d = self.dataset.d
        by_sample: dict[int, list[int]] = {}
        for row, weight in weights.items():
            u = by_sample.setdefault(row[0], [0] * d)
            for a, x in enumerate(self.delta(row)):
                u[a] += weight * x
        W = [[0] * d for _ in range(d)]
        for i, u in by_sample.items():
            q = self.dataset.integer_queries[i]
            for a, x in enumerate(u):
                W[a] = [w + x * y for w, y in zip(W[a], q, strict=True)]
        return W

    def margins(self, W: Matrix) -> dict[Index, int]:
        """⟨integer feature, W⟩ for every row: `scale` times the margin."""
        found: dict[Index, int] = {}
        for i, query in enumerate(self.dataset.integer_queries):
            pull = [dot(row, query) for row in W]
            logits = [dot(token, pull) for token in self.dataset.integer_tokens[i]]
            for t, logit in enumerate(logits):
                if t != self.selection[i]:
                    found[i, t] = logits[self.selection[i]] - logit
        return found

    def key(self, row: Index) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
        """Equal for two rows iff their features are equal matrices; None for the zero matrix."""
        delta, query = self.factors(row)
        return (delta, query) if any(delta) else None

    def factors(self, row: Index) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """δ qᵀ as (g δ)(q/g)ᵀ with q/g primitive and its first nonzero entry positive.

        That form is unique unless the matrix is 0; of a zero query both factors are 0.
        """
        delta, query = self.delta(row), self.query(row)
        g = gcd(*query)
        if g == 0:
            return (0,) * len(delta), (0,) * len(query)
        if next(x for x in query if x) < 0:
            g = -g
        return tuple(g * x for x in delta), tuple(x // g for x in query)

    def outscores(self, row: Index) -> bool:
        """Whether γ_it ≥ γ_{iα_i}: this row must not be a support index of a local optimum."""
        scores = self.dataset.scores[row[0]]
        return scores[row[1]] >= scores[self.selection[row[0]]]


def read_row(node: Node, dataset: Dataset, selection: tuple[int, ...]) -> Index:
    """A row [i, t], t ≠ α_i. Raises `Refusal`."""
    sample, token = node.items(2)
    i = sample.index(dataset.n)
    t = token.index(dataset.lengths[i])
    if t == selection[i]:
        raise node.refuse(Code.SELECTED_ROW, f"token {t} is the selected one of sample {i}")
    return i, t


def read_rows(node: Node, features: Features, *, increasing: bool = True) -> list[Index]:
    """A list of rows, strictly increasing unless said otherwise. Raises `Refusal`."""
    rows = [read_row(entry, features.dataset, features.selection) for entry in node.items()]
    if increasing:
        node.increasing(rows)
    return rows


def read_sparse(node: Node, features: Features, *, positive: bool = True) -> dict[Index, Fraction]:
    """A sparse vector [[i, t, number], …] of increasing rows, in order. Raises `Refusal`."""
    vector: dict[Index, Fraction] = {}
    rows = []
    for entry in node.items():
        *_, number = entry.items(3)
        row = read_row(Node(entry.value[:2], entry.parent, entry.key), features.dataset,
                       features.selection)
        x = number.number()
        if x == 0:
            raise number.refuse(Code.ZERO_ENTRY, "a sparse vector lists nonzero entries only")
        if positive and x < 0:
            raise number.refuse(Code.NOT_POSITIVE, "a multiplier must be positive")
        vector[row] = x
        rows.append(row)
    node.increasing(rows)
    return vector
