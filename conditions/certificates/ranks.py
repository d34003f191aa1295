"""Certificates about ranks."""

from __future__ import annotations

from dataclasses import dataclass

from conditions.certificates.base import DECODERS, Certificate, Rows, SparseVector
from conditions.certificates.separation import KKTEnclosure


@dataclass(frozen=True)
class IndependentRows(Certificate):
    """All features are independent modulo ``modulus``."""

    kind = "independent_rows"
    modulus: int


@dataclass(frozen=True)
class IndependentFactors(Certificate):
    """Queries, and each sample's token differences, are independent modulo ``modulus``."""

    kind = "independent_factors"
    modulus: int


@dataclass(frozen=True)
class RowDependency(Certificate):
    """Coefficients, not all 0, with Σ c φ = 0 (base token 0)."""

    kind = "row_dependency"
    coefficients: SparseVector


@dataclass(frozen=True)
class TooManyRows(Certificate):
    """More features than the d² dimensions of their space."""

    kind = "too_many_rows"


@dataclass(frozen=True)
class ExactRank(Certificate):
    """W^mm = Σ λ φ exactly, and its rank."""

    kind = "exact_rank"
    multipliers: SparseVector
    rank: int


@dataclass(frozen=True)
class ModularRank(Certificate):
    """The rank of W^mm, met from below modulo a prime and from above by its factors.

    It is at most the rank of the ``differences`` of the rows so named, plus that of the queries of
    the other rows of ``enclosure``.
    """

    kind = "modular_rank"
    evidence = "enclosed"
    enclosure: KKTEnclosure
    modulus: int
    differences: Rows
    rank: int


DECODERS["KKTEnclosure"] = Certificate.from_json
