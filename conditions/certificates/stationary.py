"""Certificates about the first step and stationary points."""

from __future__ import annotations

from dataclasses import dataclass

from conditions.certificates.base import DECODERS, Certificate, Matrix, Row, Triple, Vector
from conditions.certificates.ranks import IndependentFactors, IndependentRows


@dataclass(frozen=True)
class FirstStepMargins(Certificate):
    """Every margin of −∇L(0) is positive at this working precision, in bits."""

    kind = "first_step_margins"
    precision: int


@dataclass(frozen=True)
class FirstStepViolation(Certificate):
    """A margin of −∇L(0) that is negative, or exactly 0."""

    kind = "first_step_violation"
    row: Row
    sign: int
    precision: int


@dataclass(frozen=True)
class InjectiveFeatures(Certificate):
    """Independent features and a sample that is not flat (S1)."""

    kind = "injective_features"
    rank: IndependentRows | IndependentFactors
    sample: int


@dataclass(frozen=True)
class MonotoneDirection(Certificate):
    """D along which every sample's logits rise with its scores, one strictly (S2)."""

    kind = "monotone_direction"
    D: Matrix
    witness: Triple


@dataclass(frozen=True)
class SeparableQueries(Certificate):
    """u on the right side of every Y_i z_i that pulls, strictly of one (S2a)."""

    kind = "separable_queries"
    u: Vector


@dataclass(frozen=True)
class AllFlat(Certificate):
    """Every sample is flat."""

    kind = "all_flat"


@dataclass(frozen=True)
class StationaryAtZero(Certificate):
    """The gradient at W = 0 is exactly zero."""

    kind = "stationary_at_zero"


DECODERS["IndependentRows | IndependentFactors"] = Certificate.from_json
