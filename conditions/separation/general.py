"""Gen-SVM: the separation of sets of tokens, solved to a proof.

For sets O_i ⊂ [T_i]: min ‖W‖_F subject to (x_it − x_iτ)ᵀ W z_i = 0 for t, τ ∈ O_i, and ≥ 1 for
t ∈ O_i, τ ∉ O_i. Verified floats enclose the solution of large problems; exact arithmetic decides
whatever they leave open, and small problems. Floats choose where it starts.
Source: arXiv 2308.16898 v1, section 6; proofs in docs/theory.md, section 8.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from flint import fmpq, fmpq_mat, fmpz

from conditions.certificates import GenKKT, GenSeparator, Motzkin, SparseVector
from conditions.dataset import AttentionDataset, FloatArray
from conditions.exact.nonnegative import nonnegative_minimizer
from conditions.exact.numbers import to_float
from conditions.selection import Row
from conditions.separation.frobenius import SMALL
from conditions.separation.general_enclosure import EnclosedGenSolution, enclosed
from conditions.separation.token_sets import (
    Constraints,
    ProjectedProblem,
    Sets,
    Weights,
    blocks,
)


@dataclass(frozen=True)
class GenInfeasible:
    """Gen-SVM has no solution: λ > 0 and μ ≠ 0, by row, with Σ λ φ + Σ μ ψ = 0."""

    constraints: Constraints
    multipliers: Weights
    equality_multipliers: Weights

    @cached_property
    def certificate(self) -> Motzkin:
        """The multipliers, scaled to coprime integers."""
        content = _content([*self.multipliers.values(), *self.equality_multipliers.values()])
        return Motzkin(self.constraints.sets, _sparse(self.multipliers, content),
                       _sparse(self.equality_multipliers, content))


@dataclass(frozen=True)
class GenSolution:
    """W^mm = Σ λ φ + Σ μ ψ over Q; 0, without direction, if no token is rejected.

    ``multipliers`` and ``equality_multipliers`` are λ > 0 and μ ≠ 0, by row; ``margins`` are
    ⟨φ, W^mm⟩ of the rejected rows.
    """

    constraints: Constraints
    multipliers: Weights
    equality_multipliers: Weights
    W: fmpq_mat
    margins: tuple[fmpq, ...]

    @cached_property
    def support(self) -> tuple[Row, ...]:
        """The rejected rows (i, t) of margin exactly 1."""
        return tuple(row for row, m in zip(self.constraints.rejected, self.margins, strict=True)
                     if m == 1)

    @cached_property
    def norm_squared(self) -> fmpq:
        """‖W^mm‖²_F = Σ λ; 0 iff no token is rejected."""
        return sum(self.multipliers.values(), fmpq(0))

    @property
    def norm_bounds(self) -> tuple[fmpq, fmpq]:
        """‖W^mm‖²_F as an interval; here a point."""
        return self.norm_squared, self.norm_squared

    @cached_property
    def float_W(self) -> FloatArray:
        """W^mm rounded to float64, (d, d)."""
        return np.array([[to_float(a) for a in row] for row in self.W.tolist()])

    @cached_property
    def certificate(self) -> GenKKT:
        """Everything above as a certificate."""
        return GenKKT(self.constraints.sets, _sparse(self.multipliers, fmpq(1)),
                      _sparse(self.equality_multipliers, fmpq(1)), self.support, self.norm_squared)

    @cached_property
    def separator(self) -> GenSeparator:
        """The least multiple of W^mm with integer entries and margins ≥ 1."""
        W = self.W
        if self.margins:
            # In units of the content the entries are coprime integers.
            content = _content(W.entries())
            W = W * (fmpq((content / min(self.margins)).ceil()) / content)
        return GenSeparator(self.constraints.sets, tuple(map(tuple, W.tolist())))


GenOutcome = GenSolution | EnclosedGenSolution | GenInfeasible


@lru_cache(maxsize=64)
def solve(dataset: AttentionDataset, sets: Sets) -> GenOutcome:
    """Decide Gen-SVM for checked *sets*: its solution, or a proof that there is none. Cached."""
    constraints = Constraints(dataset, sets, range(dataset.n))
    if constraints.rejected and not _is_small(constraints):
        found = enclosed(constraints)
        if found is not None:
            return found
    return solve_exactly(dataset, sets)


@lru_cache(maxsize=64)
def solve_exactly(dataset: AttentionDataset, sets: Sets) -> GenSolution | GenInfeasible:
    """Decide Gen-SVM over Q. Cached."""
    constraints = Constraints(dataset, sets, range(dataset.n))
    multipliers: dict[Row, fmpq] = {}
    equality_multipliers: dict[Row, fmpq] = {}
    for samples in blocks(dataset):
        part = Constraints(dataset, sets, samples)
        if not part.rejected:
            continue
        feasible, outer, inner = _solve_block(part)
        if not feasible:
            return GenInfeasible(constraints, outer, inner)
        multipliers |= outer
        equality_multipliers |= inner
    W = constraints.combination(multipliers, equality_multipliers)
    margins = constraints.features(constraints.rejected).margins(W)
    return GenSolution(constraints, multipliers, equality_multipliers, W, tuple(margins))


def _is_small(constraints: Constraints) -> bool:
    """Whether every block is: exact arithmetic solves them one by one."""
    lengths, bits = constraints.dataset.lengths, constraints.dataset.integers.bits
    rows = (sum(lengths[i] - 1 for i in samples) for samples in blocks(constraints.dataset))
    return max(rows) * 2 * bits <= SMALL


def _solve_block(constraints: Constraints) -> tuple[bool, dict[Row, fmpq], dict[Row, fmpq]]:
    """(True, λ, μ) of the solution, or (False, λ, μ) that prove that there is none."""
    problem = ProjectedProblem(constraints)
    zero = next((k for k, a in enumerate(problem.diagonal) if a == 0), None)
    if zero is not None:
        x, slack = {zero: fmpq(1)}, fmpq(0)
    else:
        x = nonnegative_minimizer(problem, problem.suggestion())
        slack = problem.slack(list(x.values()))
        if slack != 0:
            x = {k: a * problem.scale / slack for k, a in x.items()}
    return slack != 0, {problem.rows[k]: a for k, a in x.items()}, problem.lifted(x)


def _content(numbers: Iterable[fmpq]) -> fmpq:
    """The positive rational that divides *numbers*, not all 0, to coprime integers."""
    row = list(numbers)
    integers, denominator = fmpq_mat(1, len(row), row).numer_denom()
    common = fmpz(0)
    for a in integers.entries():
        common = common.gcd(a)
    return fmpq(common, denominator)


def _sparse(weights: Weights, unit: fmpq) -> SparseVector:
    """*weights* in units of *unit*, as certificates spell them."""
    return tuple((*row, x / unit) for row, x in sorted(weights.items()))
