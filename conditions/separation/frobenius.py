"""Att-SVM(α): min ‖W‖_F subject to ⟨φ_it, W⟩ ≥ 1 for every rejected token, solved to a proof.

A float active-set method suggests the support. Then, in this order: verified floating-point KKT;
exact arithmetic over Q, which decides everything else (infeasible data, margins of exactly 1 with
zero multiplier, extreme scales). Small data goes to exact arithmetic at once.
Source: arXiv 2308.16898 v1, (Att-SVM); proofs in docs/theory.md, section 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from flint import fmpq, fmpq_mat, fmpz

from conditions.certificates import ExactKKT, Farkas, KKTEnclosure, SparseVector
from conditions.dataset import AttentionDataset, FloatArray
from conditions.exact.nonnegative import SeparationProblem, nonnegative_minimizer
from conditions.exact.numbers import to_float
from conditions.exact.rank_one import TokenRows
from conditions.exact.threads import one_blas_thread
from conditions.exact.verified import Positions, VerifiedSolution, verify_support
from conditions.selection import Features, Row, Selection, features
from conditions.separation.enclosure import enclosure_certificate
from conditions.separation.rows import balanced_rows, equal_rows, equal_tokens, float_rows
from conditions.separation.suggestion import Suggestion, suggest

SMALL = 600
"""Rows × bits of the Gram entries up to which exact arithmetic comes first."""


@dataclass(frozen=True)
class Infeasible:
    """Att-SVM(α) has no solution: λ > 0 (by row position) with Σ λ φ = 0."""

    features: Features
    multipliers: dict[int, fmpq]

    @cached_property
    def certificate(self) -> Farkas:
        """The Farkas vector, scaled to coprime integers."""
        return Farkas(_sparse(self.features, _primitive(self.multipliers)))


@dataclass(frozen=True)
class ExactSolution:
    """W^mm_α = Σ λ φ over Q; ``support`` lists every row of margin exactly 1."""

    features: Features
    multipliers: dict[int, fmpq]
    W: fmpq_mat
    margins: tuple[fmpq, ...]

    @cached_property
    def support(self) -> tuple[Row, ...]:
        """The support indices (i, t)."""
        return tuple(row for row, m in zip(self.features.rows, self.margins, strict=True)
                     if m == 1)

    @cached_property
    def norm_squared(self) -> tuple[fmpq, fmpq]:
        """‖W^mm‖²_F as an interval; here a point."""
        total = sum(self.multipliers.values(), fmpq(0))
        return total, total

    @cached_property
    def float_W(self) -> FloatArray:
        """W^mm rounded to float64, (d, d)."""
        return np.array([[to_float(a) for a in row] for row in self.W.tolist()])

    @cached_property
    def float_multipliers(self) -> dict[Row, float]:
        """λ rounded to float64, by row."""
        return {self.features.rows[k]: to_float(x) for k, x in self.multipliers.items()}

    @cached_property
    def certificate(self) -> ExactKKT:
        """Everything above as a certificate."""
        return ExactKKT(_sparse(self.features, self.multipliers), self.support,
                        self.norm_squared[0])


@dataclass(frozen=True)
class EnclosedSolution:
    """W^mm_α enclosed by verified floats; ``support`` is proved to be the support set."""

    features: Features
    verified: VerifiedSolution
    support: tuple[Row, ...]

    @property
    def norm_squared(self) -> tuple[fmpq, fmpq]:
        """An enclosure of ‖W^mm‖²_F."""
        lo, hi = self.verified.norm_squared
        return fmpq(*lo.as_integer_ratio()), fmpq(*hi.as_integer_ratio())

    @property
    def float_W(self) -> FloatArray:
        """An approximation of W^mm in float64, (d, d)."""
        return self.verified.W

    @cached_property
    def float_multipliers(self) -> dict[Row, float]:
        """λ in float64, by row."""
        return {self.features.rows[k]: float(x) for k, x in
                zip(self.verified.positions, self.verified.multipliers, strict=True)}

    @cached_property
    def enclosure(self) -> KKTEnclosure | None:
        """The enclosure in the form that a checker re-derives, if its plain norms suffice."""
        return enclosure_certificate(self.features, self.verified, self.support)

    @cached_property
    def certificate(self) -> KKTEnclosure | ExactKKT:
        """The enclosure or, where row norms differ too wildly for it, the exact solution."""
        if self.enclosure is not None:
            return self.enclosure
        exact = solve_exactly(self.features)
        assert isinstance(exact, ExactSolution), "a verified solution is a solution"
        return exact.certificate


Solution = ExactSolution | EnclosedSolution
Outcome = Solution | Infeasible


def solve(dataset: AttentionDataset, selection: Selection) -> Outcome:
    """Decide Att-SVM(α): its solution, or a proof that there is none. Cached."""
    return _solve(features(dataset, selection))


@lru_cache(maxsize=64)
def _solve(phi: Features) -> Outcome:
    return solve_features(phi)


def solve_features(phi: Features) -> Outcome:
    """`solve` without its cache."""
    if not _is_small(phi):
        with one_blas_thread():
            suggestion = suggest_support(phi)
            solution = None if suggestion is None else _verified(phi, suggestion)
        if solution is not None:
            return solution
    return solve_exactly(phi)


@lru_cache(maxsize=64)
def solve_exactly(phi: Features) -> ExactSolution | Infeasible:
    """Decide Att-SVM(α) over Q. Cached."""
    zero = _zero_rows(phi)
    if zero:
        return Infeasible(phi, {zero[0]: fmpq(1)})
    problem = SeparationProblem(phi)
    suggestion = suggest_support(phi)
    start = [] if suggestion is None else suggestion.passive.tolist()
    x = nonnegative_minimizer(problem, start)
    slack = problem.slack(list(x.values()))
    if slack == 0:
        return Infeasible(phi, x)
    factor = phi.scale * phi.scale / slack
    multipliers = {k: a * factor for k, a in sorted(x.items())}
    W = phi.combination(list(multipliers), list(multipliers.values()))
    return ExactSolution(phi, multipliers, W, tuple(phi.margins(W)))


@lru_cache(maxsize=64)
def suggest_support(phi: TokenRows) -> Suggestion | None:
    """A float guess of the support, or None where a row is zero. It proves nothing."""
    deltas, queries, targets = balanced_rows(phi)
    if not targets.all():
        return None
    with np.errstate(all="ignore"), one_blas_thread():
        return suggest(deltas, queries, targets)


def _is_small(phi: Features) -> bool:
    return len(phi) * 2 * phi.dataset.integers.bits <= SMALL


def _zero_rows(phi: Features) -> list[int]:
    queries = phi.queries.tolist()
    return [k for k, row in enumerate(phi.differences.tolist())
            if not any(row) or not any(queries[k])]


def _verified(phi: Features, suggestion: Suggestion) -> EnclosedSolution | None:
    """The verified solution on the suggested support, equal rows merged."""
    tried: Positions | None = None
    for equal in (equal_tokens, equal_rows) if phi.dataset.floats.exact else (equal_rows,):
        first = equal(phi)
        if tried is not None and np.array_equal(first, tried):
            break
        found = _verified_on(phi, np.unique(first[suggestion.passive]), first)
        if found is not None:
            return found
        tried = first
    return None


def _verified_on(phi: Features, support: Positions, first: Positions) -> EnclosedSolution | None:
    """The verified solution on *support*, whose equals are given by their *first* equal row."""
    twins = np.flatnonzero(np.isin(first, support) & (first != np.arange(len(first))))
    verified = verify_support(float_rows(phi), support, twins)
    if verified is None:
        return None
    return EnclosedSolution(phi, verified,
                            tuple(sorted(phi.rows[k] for k in [*support, *twins])))


def _sparse(phi: Features, multipliers: dict[int, fmpq]) -> SparseVector:
    return tuple((*phi.rows[k], x) for k, x in sorted(multipliers.items()))


def _primitive(multipliers: dict[int, fmpq]) -> dict[int, fmpq]:
    integers, _ = fmpq_mat(1, len(multipliers), list(multipliers.values())).numer_denom()
    entries = integers.entries()
    common = fmpz(0)
    for a in entries:
        common = common.gcd(a)
    return {k: fmpq(a, common) for k, a in zip(multipliers, entries, strict=True)}
