"""Certificates about the nuclear norm problem, and about factors K, Q of a given width."""

from __future__ import annotations

from dataclasses import dataclass

from flint import fmpq

from conditions.certificates.base import (
    DECODERS,
    Certificate,
    Json,
    Matrix,
    Rows,
    SparseVector,
    Vector,
)
from conditions.exact.numbers import rational


@dataclass(frozen=True)
class NuclearInterval(Certificate):
    """lower ≤ Σλ ≤ min ‖W‖_* ≤ ½(‖K‖² + ‖Q‖²) ≤ upper; K and Q are (d, rank)."""

    kind = "nuclear_interval"
    evidence = "enclosed"
    K: Matrix
    Q: Matrix
    multipliers: SparseVector
    lower: fmpq
    upper: fmpq
    rank: int


@dataclass(frozen=True)
class NuclearUniqueness(Certificate):
    """A pair so good that no other optimum fits.

    ``near`` lists the distinct features whose margins may be 1; ``least_values`` are (a, κ, ρ, b).
    """

    kind = "nuclear_uniqueness"
    evidence = "enclosed"
    K: Matrix
    Q: Matrix
    multipliers: SparseVector
    near: Rows
    least_values: Vector
    rank: int


@dataclass(frozen=True)
class NuclearOptima(Certificate):
    """Two optima M·first and M·second, M = Σλφ; both factors are (d, d), semidefinite."""

    kind = "nuclear_optima"
    multipliers: SparseVector
    first: Matrix
    second: Matrix


@dataclass(frozen=True)
class LowRankPair(Certificate):
    """K, Q (d, m) with every margin of KQᵀ at least 1."""

    kind = "low_rank_pair"
    K: Matrix
    Q: Matrix


@dataclass(frozen=True)
class OppositeQueries(Json):
    """y > 0 by sample with Σ y_i s_i z_i = 0: no q has the signs s."""

    queries: tuple[tuple[int, fmpq], ...]


@dataclass(frozen=True)
class OppositeRows(Json):
    """λ > 0 by row with Σ λ_it s_i (x_{iα_i} − x_it) = 0: no k has the signs s."""

    rows: SparseVector


SignNode = int | OppositeQueries | OppositeRows


@dataclass(frozen=True)
class RankOneInfeasible(Certificate):
    """The tree of the samples' signs in preorder; a branching entry is its sample."""

    kind = "rank_one_infeasible"
    nodes: tuple[SignNode, ...]


def _sign_node(value: object) -> SignNode:
    if isinstance(value, dict):
        return (OppositeQueries if "queries" in value else OppositeRows).from_json(value)  # type: ignore[no-any-return]
    assert isinstance(value, int)
    return value


DECODERS["tuple[tuple[int, fmpq], ...]"] = lambda value: tuple(
    (int(i), rational(x, "certificate number")) for i, x in value)
DECODERS["tuple[SignNode, ...]"] = lambda value: tuple(map(_sign_node, value))
