"""Certificates about stationary points that a search found: trees of directions, and boxes."""

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
    Vector,
)


@dataclass(frozen=True)
class Inertia(Json):
    """A congruence that makes the Hessian diagonally dominant, and its negative eigenvalues."""

    congruence: Matrix
    negative: int


@dataclass(frozen=True)
class DecisionTree(Certificate):
    """Branches ``[sample]`` and leaves ``[direction, i, t, τ]`` in preorder (S3)."""

    kind = "decision_tree"
    directions: tuple[Matrix, ...]
    nodes: tuple[Indices, ...]


@dataclass(frozen=True)
class Krawczyk(Certificate):
    """A box of the row space of the features that holds exactly one zero of the gradient (S4)."""

    kind = "krawczyk"
    evidence = "enclosed"
    basis: Rows
    center: Vector
    radius: fmpq
    preconditioner: Matrix
    precision: int
    inertia: Inertia | None


@dataclass(frozen=True)
class SimplexCover(Certificate):
    """Cells that cover the row space, each with a direction along which the loss falls."""

    kind = "simplex_cover"
    evidence = "enclosed"
    basis: Rows
    directions: Matrix
    nodes: tuple[Indices, ...]
    precision: int


DECODERS["tuple[Matrix, ...]"] = lambda value: tuple(map(DECODERS["Matrix"], value))
DECODERS["Inertia | None"] = lambda value: None if value is None else Inertia.from_json(value)
