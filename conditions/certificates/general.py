"""Certificates about Gen-SVM, the separation of sets of tokens."""

from __future__ import annotations

from dataclasses import dataclass

from flint import fmpq

from conditions.certificates.base import Certificate, Indices, Matrix, Rows, SparseVector


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
