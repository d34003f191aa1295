"""Exact nonnegative least squares: one active-set method behind every decision over Q.

Minimizes ½ xᵀGx − fᵀx over x ≥ 0 with G positive semidefinite and f in its range, so that a
minimum exists. Lawson and Hanson's method in exact arithmetic: the objective falls strictly from
one passive set to the next, so it terminates, and its answer is a KKT point, not an approximation.
Floats choose where it starts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from flint import fmpq, fmpq_mat, fmpz, fmpz_mat

from conditions.exact.rank_one import RankOneRows
from conditions.exact.ranks import PRIMES, pivot_columns


class Problem(Protocol):
    """A nonnegative least-squares problem over rank-one rows."""

    def system(self, passive: Sequence[int]) -> tuple[fmpz_mat, fmpz_mat]:
        """(G, f) restricted to *passive*, in integers; f is a column."""

    def descent(self, passive: Sequence[int], x: Sequence[fmpq]) -> list[fmpz]:
        """F − Gx up to a positive factor, for all rows, where x lives on *passive*."""


def _solve(problem: Problem, passive: Sequence[int]) -> list[fmpq]:
    matrix, column = problem.system(passive)
    return list(matrix.solve(column).entries()) if passive else []


def _independent(problem: Problem, passive: Sequence[int]) -> list[int]:
    """A subset of *passive* on which G is nonsingular.

    Pivot columns modulo a prime are independent over Q, and independent columns of a positive
    semidefinite matrix have a nonsingular principal minor. A prime can only miss rows, which
    costs iterations, not truth.
    """
    matrix, _ = problem.system(passive)
    return [passive[k] for k in pivot_columns(matrix, PRIMES[0])]


def nonnegative_minimizer(problem: Problem, start: Sequence[int]) -> dict[int, fmpq]:
    """The minimizer as {row: x > 0}, found from the passive set *start*.

    Its support is independent: G is nonsingular on it.
    """
    passive = _independent(problem, sorted(set(start)))
    x = _solve(problem, passive)
    while any(value <= 0 for value in x):
        passive = [k for k, value in zip(passive, x, strict=True) if value > 0]
        x = _solve(problem, passive)
    while True:
        descent = problem.descent(passive, x)
        inside = set(passive)
        entering = max((k for k in range(len(descent)) if k not in inside),
                       key=lambda k: descent[k], default=None)
        if entering is None or descent[entering] <= 0:
            return dict(zip(passive, x, strict=True))
        passive, x = _enter(problem, passive, x, entering)


def _enter(problem: Problem, passive: list[int], x: list[fmpq],
           entering: int) -> tuple[list[int], list[fmpq]]:
    """The minimizer on the face that is reached when *entering* joins the passive set."""
    passive, x = [*passive, entering], [*x, fmpq(0)]
    while True:
        target = _solve(problem, passive)
        steps = [a / (a - b) for a, b in zip(x, target, strict=True) if b <= 0]
        if not steps:
            return passive, target
        step = min(steps)
        moved = [a + step * (b - a) for a, b in zip(x, target, strict=True)]
        kept = [(k, a) for k, a in zip(passive, moved, strict=True) if a > 0]
        passive, x = [k for k, _ in kept], [a for _, a in kept]


class SeparationProblem:
    """The dual of Att-SVM, bounded by an added constant: G = K + c·11ᵀ, f = 1.

    With x the minimizer and κ = 1 − c·1ᵀx ≥ 0: κ > 0 iff the rows can be separated, and then
    λ = x/κ solves max 1ᵀλ − ½‖Φᵀλ‖² over λ ≥ 0; κ = 0 iff not, and then Φᵀx = 0, 1ᵀx = 1/c
    (the least-distance problem of Lawson and Hanson).
    """

    def __init__(self, rows: RankOneRows) -> None:
        self.rows = rows
        deltas, queries = rows.differences, rows.queries
        largest = max((abs(a) for a in deltas.entries()), default=fmpz(1)) * max(
            (abs(a) for a in queries.entries()), default=fmpz(1))
        # Any c > 0 is right; one of the size of the Gram entries keeps the integers short.
        self.constant = largest * largest + 1

    def system(self, passive: Sequence[int]) -> tuple[fmpz_mat, fmpz_mat]:
        """See `Problem`."""
        size = len(passive)
        gram = self.rows.gram(passive).entries()
        matrix = fmpz_mat(size, size, [a + self.constant for a in gram])
        return matrix, fmpz_mat(size, 1, [1] * size)

    def slack(self, x: Sequence[fmpq]) -> fmpq:
        """κ = 1 − c·1ᵀx."""
        return 1 - self.constant * sum(x, fmpq(0))

    def descent(self, passive: Sequence[int], x: Sequence[fmpq]) -> list[fmpz]:
        """See `Problem`."""
        # κ − scale²·m_k with m_k = a_k/(c·scale²) for the integer margins a_k of c·scale·Φᵀx:
        # times c·(denominator of κ), so that no fraction is reduced.
        slack = self.slack(x)
        total, denominator = self.rows.integer_combination(passive, x)
        top = slack.p * denominator
        return [top - slack.q * a for a in self.rows.integer_margins(total)]


class ConeProblem:
    """min ½‖Aᵀ(1 + x)‖² over x ≥ 0: G = AAᵀ, f = −AAᵀ1.

    At the minimizer D = Aᵀ(1 + x) has AD ≥ 0 and 1ᵀAD = ‖D‖². Hence D ≠ 0 is a direction with
    AD ≥ 0, AD ≠ 0, and D = 0 proves that there is none (Stiemke: 1 + x > 0, Aᵀ(1 + x) = 0).
    """

    def __init__(self, rows: RankOneRows) -> None:
        self.rows = rows
        everything = range(len(rows))
        self.total = rows.combination(everything, [fmpq(1)] * len(rows))
        factor = rows.scale * rows.scale
        self.push = [-factor * m for m in rows.margins(self.total)]

    def system(self, passive: Sequence[int]) -> tuple[fmpz_mat, fmpz_mat]:
        """See `Problem`."""
        # The entries are integers: scale² times inner products of rows.
        return self.rows.gram(passive), fmpz_mat(len(passive), 1,
                                                 [self.push[k].p for k in passive])

    def direction(self, passive: Sequence[int], x: Sequence[fmpq]) -> fmpq_mat:
        """D = Aᵀ(1 + x)."""
        return self.total + self.rows.combination(passive, x)

    def descent(self, passive: Sequence[int], x: Sequence[fmpq]) -> list[fmpz]:
        """See `Problem`."""
        direction, _ = self.direction(passive, x).numer_denom()
        return [-a for a in self.rows.integer_margins(direction)]
