"""Certificates of limits that need no cone around W^mm."""

from __future__ import annotations

from dataclasses import dataclass

from flint import fmpq

from conditions.certificates.base import Certificate, Matrix, Row, Rows, SparseVector


@dataclass(frozen=True)
class LowNormLimit(Certificate):
    """An iterate whose loss no path to another selection can have, and a separator of opt.

    ``step`` 0 is gradient flow; ``beta`` bounds the Hessian of L.
    """

    kind = "low_norm_limit"
    evidence = "enclosed"
    W: Matrix
    step: fmpq
    beta: fmpq
    separator: Matrix
    precision: int


@dataclass(frozen=True)
class SelectionTrap(Certificate):
    """An iterate whose loss holds every optimal token above weight 1/2 for ever."""

    kind = "selection_trap"
    evidence = "enclosed"
    W: Matrix
    step: fmpq
    beta: fmpq
    precision: int


@dataclass(frozen=True)
class LargeFirstStep(Certificate):
    """A first step from W = 0 that meets the inequality of `LowNormLimit`."""

    kind = "large_first_step"
    evidence = "enclosed"
    first_step: fmpq
    step: fmpq
    beta: fmpq
    separator: Matrix
    precision: int


@dataclass(frozen=True)
class StalledDescent(Certificate):
    """W(1) = −η₀∇L(0) just before a zero of the score, which later steps do not pass.

    All W(k) stay within ``radius`` of W(1), where ‖∇f‖_F lies between the two slopes; ``solution``
    are the multipliers of W^mm_opt, whose line does not meet that ball.
    """

    kind = "stalled_descent"
    evidence = "enclosed"
    first_step: fmpq
    step: fmpq
    radius: fmpq
    least_slope: fmpq
    largest_slope: fmpq
    solution: SparseVector
    precision: int


@dataclass(frozen=True)
class NonnegativeProducts(Certificate):
    """Two score levels, no zero feature and no negative inner product of two features."""

    kind = "nonnegative_products"


@dataclass(frozen=True)
class NegativeProduct(Certificate):
    """Two features with a negative inner product."""

    kind = "negative_product"
    rows: Rows


@dataclass(frozen=True)
class ZeroFeature(Certificate):
    """A feature that is 0."""

    kind = "zero_feature"
    row: Row
