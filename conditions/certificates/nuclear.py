"""Certificates about the nuclear norm problem and about factors of a given width."""

from __future__ import annotations

from dataclasses import dataclass

from flint import fmpq

from conditions.certificates.base import DECODERS, Certificate, Matrix, Rows, SparseVector


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
