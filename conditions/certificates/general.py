"""Certificates about Gen-SVM, the separation of sets of tokens."""

from __future__ import annotations

from dataclasses import dataclass

from flint import fmpq

from conditions.certificates.base import (
    Certificate,
    Indices,
    Matrix,
    Rows,
    SparseVector,
    Vector,
)
from conditions.certificates.separation import ScaledInverse


@dataclass(frozen=True)
class GenSeparator(Certificate):
    """A W, shape (d, d), with equal logits inside every set and all margins at least 1."""

    kind = "gen_separator"
    sets: tuple[Indices, ...]
    W: Matrix


@dataclass(frozen=True)
class Motzkin(Certificate):
    """λ > 0 on tokens outside and μ on tokens inside the sets with Σ λ φ + Σ μ ψ = 0."""

    kind = "motzkin"
    sets: tuple[Indices, ...]
    multipliers: SparseVector
    equality_multipliers: SparseVector


@dataclass(frozen=True)
class GenKKT(Certificate):
    """W^mm = Σ λ φ + Σ μ ψ exactly, with all its support indices and its squared norm."""

    kind = "gen_kkt"
    sets: tuple[Indices, ...]
    multipliers: SparseVector
    equality_multipliers: SparseVector
    support: Rows
    norm_squared: fmpq


@dataclass(frozen=True)
class GenEnclosure(Certificate):
    """A verified solution of K (λ, μ) = (1, 0) that proves the support set and encloses W^mm.

    K is the Gram matrix of ``rows``, outside the sets, and ``ties``, inside; ``multipliers`` and
    ``inverse`` have them in this order.
    """

    kind = "gen_enclosure"
    evidence = "enclosed"
    sets: tuple[Indices, ...]
    rows: Rows
    ties: Rows
    multipliers: Vector
    inverse: ScaledInverse
    support: Rows
    norm_squared: Vector
