"""Datasets of attention: ragged tokens, labels, queries and a linear head, all held exactly."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from flint import fmpq, fmpq_mat, fmpz, fmpz_mat

from conditions.errors import Description, InvalidInput, counted
from conditions.exact.numbers import rational, short, to_float

FloatArray = np.ndarray[Any, np.dtype[np.float64]]
Vector = tuple[fmpq, ...]


@dataclass(frozen=True)
class FloatView:
    """The dataset in float64, for suggestions.

    ``tokens[i]`` has shape (T_i, d), ``labels`` (n,), ``queries`` (n, d), ``head`` (d,).
    ``exact`` says that no entry was rounded; otherwise entries are the nearest floats.
    """

    tokens: tuple[FloatArray, ...]
    labels: FloatArray
    queries: FloatArray
    head: FloatArray
    exact: bool

    @cached_property
    def moderate(self) -> bool:
        """Whether all nonzero token and query entries lie in [2⁻⁶⁰, 2⁶⁰].

        Then no product of the verified linear algebra in `conditions.exact.verified` underflows:
        differences of such floats are multiples of 2⁻¹¹³; scaled to rows of norm near 1 they are
        at least 2⁻²⁴⁰, and their Gram entries 2⁻⁶⁰⁰.
        """
        sizes = np.abs(np.concatenate([*self.tokens, self.queries]))
        sizes = sizes[sizes > 0]
        return bool(np.all((sizes >= 2.0**-60) & (sizes <= 2.0**60)))


@dataclass(frozen=True)
class IntegerView:
    """Tokens and queries scaled to integers by one common factor each.

    ``tokens[i]`` (T_i × d) is ``token_scale`` times the tokens of sample i, ``queries`` (n × d)
    is ``query_scale`` times the queries.
    """

    tokens: tuple[fmpz_mat, ...]
    queries: fmpz_mat
    token_scale: fmpz
    query_scale: fmpz

    @cached_property
    def bits(self) -> int:
        """The bits of the largest token entry plus those of the largest query entry."""
        return sum(max(int(abs(a)).bit_length() for m in matrices for a in m.entries())
                   for matrices in (self.tokens, [self.queries]))


def _sequence(value: Any, name: str, of: str) -> list[Any]:
    if isinstance(value, np.ndarray):
        if value.dtype == object:
            raise InvalidInput(name, Description("dtype object"), "must not be an object array",
                               "store numbers, padded with `lengths`, or use JSON")
        if value.ndim == 0:
            raise InvalidInput(name, value, f"must be a list of {of}", "add the missing axis")
        return list(value)
    # A set has no order, a mapping no positions.
    if isinstance(value, Iterable) and not isinstance(value, str | bytes | Mapping | Set):
        return list(value)
    raise InvalidInput(name, value, f"must be a list of {of}", "correct the nesting")


def _vector(value: Any, name: str) -> Vector:
    entries = _sequence(value, name, "numbers")
    return tuple(short(rational(entry, f"{name}[{j}]"), f"{name}[{j}]")
                 for j, entry in enumerate(entries))


def _label(value: Any, name: str) -> int:
    label = rational(value, name)
    if label not in (1, -1):
        raise InvalidInput(name, value, "labels must be 1 or -1", "encode the two classes so")
    return 1 if label == 1 else -1


def _head(value: Any) -> Vector:
    head = _vector(value, "v")
    if not head:
        raise InvalidInput("v", value, "must have at least one entry", "give the linear head")
    return head


def _position_labels(Y: Any, lengths: Sequence[int]) -> list[tuple[int, ...]]:
    """T_i labels per sequence, from one label or one list of labels each."""
    given = _sequence(Y, "Y", "labels")
    if len(given) != len(lengths):
        raise InvalidInput("Y", counted(len(given), "entry", "entries"),
                           f"must have one entry per sequence of X ({len(lengths)})",
                           "drop or add labels")
    labels = []
    for i, (entry, T) in enumerate(zip(given, lengths, strict=True)):
        many = entry.ndim > 0 if isinstance(entry, np.ndarray) else isinstance(entry, list | tuple)
        if many and len(entry) != T:
            raise InvalidInput(f"Y[{i}]", counted(len(entry), "label"),
                               f"must be one label, or one for each of {T} positions",
                               "drop or add labels")
        labels.append(tuple(_label(y, f"Y[{i}][{k}]") for k, y in enumerate(entry)) if many
                      else (_label(entry, f"Y[{i}]"),) * T)
    return labels


@dataclass(frozen=True, eq=False)
class AttentionDataset:
    """n samples (Y_i, X_i, z_i) and a linear head v, exact over the rationals.

    ``tokens[i]`` is T_i × d, ``labels[i]`` is ±1, ``queries[i]`` and ``head`` have length d.
    Use the constructors, which check; equality is identity, so a dataset can key a cache.
    ``origins[i]`` is (sequence, position) of the query of sample i where it is a token of its
    sequence, both from 0, else None; it is for reports and enters neither fingerprint nor
    certificate. Source: arXiv 2308.16898 v1, section 2.

    >>> data = AttentionDataset.build([[[1, 0], [0, 0]]], [1], [["1/2", 0]], [1, 3])
    >>> data.n, data.d, data.lengths, data.scores[0]
    (1, 2, (2,), (1, 0))
    """

    tokens: tuple[tuple[Vector, ...], ...]
    labels: tuple[int, ...]
    queries: tuple[Vector, ...]
    head: Vector
    origins: tuple[tuple[int, int], ...] | None = None

    # Constructors ------------------------------------------------------------------------

    @classmethod
    def build(cls, X: Any, Y: Any, z: Any, v: Any) -> AttentionDataset:
        """Cross-attention data, checked.

        X: n ragged lists of T_i × d numbers; Y: n labels; z: n × d queries; v: head of length d.
        Numbers may be floats (taken as the dyadic rationals they are), integers, fractions,
        strings ("p/q", decimals, hex floats) or sympy numbers, of at most 100,000 characters as
        "p/q", so that a certificate can hold them. Raises ``InvalidInput``.
        """
        samples = _sequence(X, "X", "samples")
        if not samples:
            raise InvalidInput("X", X, "must hold at least one sample", "add a sample")
        head = _head(v)
        tokens = tuple(_tokens(sample, f"X[{i}]", len(head)) for i, sample in enumerate(samples))
        labels = _sequence(Y, "Y", "labels")
        queries = _sequence(z, "z", "queries")
        for name, given in (("Y", labels), ("z", queries)):
            if len(given) != len(tokens):
                raise InvalidInput(name, counted(len(given), "entry", "entries"),
                                   f"must have one entry per sample of X ({len(tokens)})",
                                   "drop or add entries")
        return cls(
            tokens,
            tuple(_label(y, f"Y[{i}]") for i, y in enumerate(labels)),
            tuple(_checked(_vector(q, f"z[{i}]"), f"z[{i}]", len(head))
                  for i, q in enumerate(queries)),
            head)

    @classmethod
    def self_attention(cls, X: Any, Y: Any, v: Any, query_index: Any = 0) -> AttentionDataset:
        """Self-attention: the query of sample i is its own token ``query_index[i]``.

        ``query_index`` is one index for all samples or one per sample; negative counts from
        the end. Raises ``InvalidInput``.
        """
        samples = [_sequence(sample, f"X[{i}]", "tokens")
                   for i, sample in enumerate(_sequence(X, "X", "samples"))]
        indices = ([query_index] * len(samples) if isinstance(query_index, int | np.integer)
                   else _sequence(query_index, "query_index", "indices"))
        if len(indices) != len(samples):
            raise InvalidInput("query_index", counted(len(indices), "entry", "entries"),
                               f"must have one entry per sample of X ({len(samples)})",
                               "give one index per sample, or one for all")
        origins = []
        for i, (sample, q) in enumerate(zip(samples, indices, strict=True)):
            integral = isinstance(q, int | np.integer) and not isinstance(q, bool)
            if not integral or not -len(sample) <= q < len(sample):
                raise InvalidInput(f"query_index[{i}]", q,
                                   f"must be an integer naming one of {len(sample)} tokens",
                                   "count tokens from 0")
            origins.append((i, int(q) % len(sample)))
        data = cls.build(samples, Y, [samples[i][q] for i, q in origins], v)
        return replace(data, origins=tuple(origins))

    @classmethod
    def causal(cls, X: Any, Y: Any, v: Any) -> AttentionDataset:
        """Causal self-attention: position k ≥ 1 sees x_0, …, x_k, a sample with the query x_k.

        ``X`` is a list of sequences, T_i × d each, ``Y`` one label per sequence, shared by its
        positions, or one list of T_i labels (position 0 sees one token, makes no sample and
        leaves its label unused), ``v`` the head. Raises ``InvalidInput``.
        """
        return cls._positions(X, Y, v, causal=True)

    @classmethod
    def every_position(cls, X: Any, Y: Any, v: Any) -> AttentionDataset:
        """The loss L_seq: every position k sees the whole sequence, a sample with the query x_k.

        Arguments as for `causal`. L is the mean over the samples. Raises ``InvalidInput``.
        """
        return cls._positions(X, Y, v, causal=False)

    @classmethod
    def _positions(cls, X: Any, Y: Any, v: Any, *, causal: bool) -> AttentionDataset:
        head = _head(v)
        sequences = [_tokens(s, f"X[{i}]", len(head))
                     for i, s in enumerate(_sequence(X, "X", "sequences"))]
        if not sequences:
            raise InvalidInput("X", X, "must hold at least one sequence", "add a sequence")
        labels = _position_labels(Y, [len(sequence) for sequence in sequences])
        origins = tuple((i, k) for i, sequence in enumerate(sequences)
                        for k in range(causal, len(sequence)))
        return cls(tuple(sequences[i][:k + 1] if causal else sequences[i] for i, k in origins),
                   tuple(labels[i][k] for i, k in origins),
                   tuple(sequences[i][k] for i, k in origins), head, origins)

    # Derived data ------------------------------------------------------------------------

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
        return tuple(len(sample) for sample in self.tokens)

    @cached_property
    def scores(self) -> tuple[Vector, ...]:
        """γ_it = Y_i v·x_it, exact; one tuple of length T_i per sample."""
        head = fmpq_mat(self.d, 1, list(self.head))
        return tuple(
            tuple((y * (fmpq_mat([list(x) for x in sample]) * head)).entries())
            for y, sample in zip(self.labels, self.tokens, strict=True))

    @cached_property
    def floats(self) -> FloatView:
        """The dataset in float64 (see `FloatView`)."""
        rows = [x for sample in self.tokens for x in sample] + [*self.queries, self.head]
        rounded = [[to_float(entry) for entry in row] for row in rows]
        exact = all(
            np.isfinite(value) and fmpq(*value.as_integer_ratio()) == entry
            for row, given in zip(rounded, rows, strict=True)
            for value, entry in zip(row, given, strict=True))
        flat = np.array(rounded)
        ends = np.cumsum(self.lengths)
        return FloatView(tuple(np.split(flat[:ends[-1]], ends[:-1])),
                         np.array(self.labels, dtype=float),
                         flat[ends[-1]:ends[-1] + self.n], flat[-1], exact)

    @cached_property
    def integers(self) -> IntegerView:
        """Tokens and queries as integers (see `IntegerView`)."""
        flat = fmpq_mat([list(x) for sample in self.tokens for x in sample])
        tokens, token_scale = flat.numer_denom()
        queries, query_scale = fmpq_mat([list(q) for q in self.queries]).numer_denom()
        table = tokens.tolist()
        ends = np.cumsum(self.lengths)
        parts = tuple(fmpz_mat(table[e - t:e]) for e, t in zip(ends, self.lengths, strict=True))
        return IntegerView(parts, queries, token_scale, query_scale)

    @cached_property
    def fingerprint(self) -> str:
        """The SHA-256 that docs/certificates.md defines; equal iff the data are."""
        digest = hashlib.sha256(f"{self.n} {self.d}\n".encode())

        def feed(values: Sequence[fmpq | int]) -> None:
            digest.update("".join(f"{fmpq(x).p}/{fmpq(x).q}\n" for x in values).encode())

        for sample, y, q in zip(self.tokens, self.labels, self.queries, strict=True):
            digest.update(f"{len(sample)}\n".encode())
            feed([y])
            for x in sample:
                feed(x)
            feed(q)
        feed(self.head)
        return digest.hexdigest()

    def __repr__(self) -> str:
        lengths = sorted(set(self.lengths))
        T = str(lengths[0]) if len(lengths) == 1 else f"{lengths[0]}..{lengths[-1]}"
        return f"AttentionDataset(n={self.n}, T={T}, d={self.d}, {self.fingerprint[:12]})"


def _tokens(sample: Any, name: str, d: int) -> tuple[Vector, ...]:
    rows = _sequence(sample, name, "tokens")
    if len(rows) < 2:
        raise InvalidInput(name, counted(len(rows), "token"),
                           "every sample needs at least 2 tokens",
                           "drop the sample: one token leaves nothing to select")
    return tuple(_checked(_vector(x, f"{name}[{t}]"), f"{name}[{t}]", d)
                 for t, x in enumerate(rows))


def _checked(vector: Vector, name: str, d: int) -> Vector:
    if len(vector) != d:
        raise InvalidInput(name, counted(len(vector), "number"),
                           f"must have d = {d} numbers, as the head v does",
                           "make all tokens, queries and the head the same length")
    return vector
