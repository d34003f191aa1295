"""Certificates about what a prediction head does with the tokens."""

from __future__ import annotations

from dataclasses import dataclass

from flint import fmpq

from conditions.certificates.base import Certificate, Matrix, Rows


@dataclass(frozen=True)
class TopScoreGap(Certificate):
    """The largest c of Assumption E and a row (i, t) whose gap is c; c = 1, no row, if all do."""

    kind = "top_score_gap"
    constant: fmpq
    rows: Rows


@dataclass(frozen=True)
class SimplexMaximizer(Certificate):
    """Per sample the weights s of the largest Y h(Xᵀs), h(x) = v·x − λ‖x‖², λ = ``lam``.

    ``normals`` has, where Y = 1, a w whose w·x_t is largest at the tokens with s_t > 0, and nowhere
    else; () where Y = −1.
    """

    kind = "simplex_maximizer"
    lam: fmpq
    weights: Matrix
    normals: Matrix


@dataclass(frozen=True)
class SimplexTie(Certificate):
    """Two different weights of one sample, both of the largest Y h(Xᵀs)."""

    kind = "simplex_tie"
    lam: fmpq
    sample: int
    weights: Matrix
