"""Certificates about the limit of gradient descent: basins, and runs that end in one."""

from __future__ import annotations

from dataclasses import dataclass

from flint import fmpq

from conditions.certificates.base import DECODERS, Certificate, Matrix, Vector
from conditions.certificates.separation import ExactKKT, KKTEnclosure


@dataclass(frozen=True)
class BasinIsotropic(Certificate):
    """Starts near ``iterate`` lie in a cone around W^mm that descent does not leave.

    ``radius`` is Frobenius; ``step`` is η, 0 for the flow; ``slope`` bounds ‖W_⊥‖ over the clock.
    """

    kind = "basin_isotropic"
    evidence = "enclosed"
    solution: ExactKKT | KKTEnclosure
    iterate: Matrix
    radius: fmpq
    rule: str
    step: fmpq
    clock: fmpq
    slope: fmpq
    precision: int


@dataclass(frozen=True)
class BasinCone(Certificate):
    """All W with ‖W‖ ≥ ``radius`` and correlation ≥ 1 − ``aperture`` converge."""

    kind = "basin_cone"
    evidence = "enclosed"
    solution: ExactKKT | KKTEnclosure
    aperture: fmpq
    radius: fmpq
    rule: str
    step: fmpq
    clock: fmpq
    slope: fmpq
    precision: int


@dataclass(frozen=True)
class BasinResidual(Certificate):
    """Starts near ``iterate`` stay close to an explicit curve along W^mm.

    ``ball`` bounds the residual in the span of the support features, ``drift`` its movement across
    it; ``eigenvalues`` are bounds (μ, μ') of the scaled Gram matrix.
    """

    kind = "basin_residual"
    evidence = "enclosed"
    solution: ExactKKT | KKTEnclosure
    iterate: Matrix
    radius: fmpq
    rule: str
    step: fmpq
    clock: fmpq
    ball: fmpq
    drift: fmpq
    eigenvalues: Vector
    precision: int


@dataclass(frozen=True)
class VerifiedRun(Certificate):
    """Exact descent from ``start`` is in the ball of ``basin`` after ``steps`` steps.

    ``rule`` and ``step`` are those of ``basin``; ``precision`` is in bits, of the replay.
    """

    kind = "verified_run"
    evidence = "enclosed"
    start: Matrix
    rule: str
    step: fmpq
    steps: int
    precision: int
    basin: BasinIsotropic | BasinResidual


DECODERS["str"] = str
DECODERS["ExactKKT | KKTEnclosure"] = Certificate.from_json
DECODERS["BasinIsotropic | BasinResidual"] = Certificate.from_json
