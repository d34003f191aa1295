"""Certificates about every dataset within ``radius`` of the given one, entry by entry."""

from __future__ import annotations

from dataclasses import dataclass

from flint import fmpq

from conditions.certificates.base import DECODERS, Certificate, Matrix, Rows, Vector
from conditions.certificates.separation import ScaledInverse


@dataclass(frozen=True)
class BallSeparator(Certificate):
    """A W whose margins stay positive, shape (d, d)."""

    kind = "ball_separator"
    evidence = "enclosed"
    radius: fmpq
    W: Matrix


@dataclass(frozen=True)
class BallKKT(Certificate):
    """Rows whose multipliers stay positive while all other margins stay above 1."""

    kind = "ball_kkt"
    evidence = "enclosed"
    radius: fmpq
    rows: Rows
    multipliers: Vector
    inverse: ScaledInverse


@dataclass(frozen=True)
class BallFactors(Certificate):
    """Right inverses of each sample's token differences and of the queries."""

    kind = "ball_factors"
    evidence = "enclosed"
    radius: fmpq
    differences: tuple[ScaledInverse, ...]
    queries: ScaledInverse


@dataclass(frozen=True)
class BallRows(Certificate):
    """A right inverse of all features, shape (d², N)."""

    kind = "ball_rows"
    evidence = "enclosed"
    radius: fmpq
    inverse: ScaledInverse


DECODERS["tuple[ScaledInverse, ...]"] = lambda value: tuple(map(ScaledInverse.from_json, value))
