"""Certificates about Att-SVM(α) and its solution."""

from __future__ import annotations

from dataclasses import dataclass

from flint import fmpq

from conditions.certificates.base import (
    DECODERS,
    Certificate,
    Indices,
    Json,
    Matrix,
    Rows,
    SparseVector,
    Vector,
)


@dataclass(frozen=True)
class QueryClass(Json):
    """The samples of one query and their distinct tokens, best potential first."""

    samples: Indices
    order: Rows


@dataclass(frozen=True)
class ScaledInverse(Json):
    """The matrix 2^exponent · entries, an approximate inverse in few digits."""

    exponent: int
    entries: tuple[Indices, ...]


@dataclass(frozen=True)
class Separator(Certificate):
    """A W with every margin at least 1; shape (d, d)."""

    kind = "separator"
    W: Matrix


@dataclass(frozen=True)
class Farkas(Certificate):
    """λ > 0 with Σ λ φ = 0."""

    kind = "farkas"
    multipliers: SparseVector


@dataclass(frozen=True)
class QueryCycle(Certificate):
    """A directed cycle of selected → rejected edges within one query class."""

    kind = "query_cycle"
    edges: Rows


@dataclass(frozen=True)
class TopologicalOrder(Certificate):
    """Independent tokens and queries, and per query class an order that selections lead."""

    kind = "topological_order"
    modulus: int
    classes: tuple[QueryClass, ...]


@dataclass(frozen=True)
class ExactKKT(Certificate):
    """W^mm = Σ λ φ exactly, with all its support indices and its squared norm."""

    kind = "exact_kkt"
    multipliers: SparseVector
    support: Rows
    norm_squared: fmpq


@dataclass(frozen=True)
class KKTEnclosure(Certificate):
    """A verified solution of K_SS λ = 1 that proves the support set and encloses W^mm."""

    kind = "kkt_enclosure"
    evidence = "enclosed"
    rows: Rows
    multipliers: Vector
    inverse: ScaledInverse
    support: Rows
    norm_squared: Vector


@dataclass(frozen=True)
class PrimalDual(Certificate):
    """A feasible W and multipliers λ whose gap excludes rows from the support."""

    kind = "primal_dual"
    evidence = "enclosed"
    W: Matrix
    multipliers: SparseVector
    excluded: Rows


DECODERS["ScaledInverse"] = ScaledInverse.from_json
DECODERS["tuple[QueryClass, ...]"] = lambda value: tuple(map(QueryClass.from_json, value))
