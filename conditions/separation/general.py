"""Gen-SVM: the separation of sets of tokens, decided over Q.

For sets O_i ⊂ [T_i]: min ‖W‖_F subject to (x_it − x_iτ)ᵀ W z_i = 0 for t, τ ∈ O_i, and ≥ 1 for
t ∈ O_i, τ ∉ O_i. With r_i = min O_i the constraints are ⟨ψ_it, W⟩ = 0 for the *tied* tokens
t ∈ O_i, t ≠ r_i, and ⟨φ_it, W⟩ ≥ 1 for the *rejected* ones t ∉ O_i, where
φ_it, ψ_it = (x_{ir_i} − x_it) z_iᵀ. On the orthogonal complement of the ψ it is Att-SVM with the
projected features Pφ, of which only the Gram matrix is needed: a Schur complement.

Source: arXiv 2308.16898 v1, section 6; proofs in docs/theory/general.md.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from flint import fmpq, fmpq_mat, fmpz, fmpz_mat

from conditions.certificates import GenKKT, GenSeparator, Motzkin, SparseVector
from conditions.dataset import AttentionDataset
from conditions.errors import InvalidInput
from conditions.exact.nonnegative import nonnegative_minimizer
from conditions.exact.numbers import to_float
from conditions.exact.rank_one import TokenRows
from conditions.exact.threads import one_blas_thread
from conditions.selection import Row
from conditions.separation.suggestion import suggest

Sets = tuple[tuple[int, ...], ...]
"""One nonempty increasing tuple of tokens per sample: O_1, …, O_n."""

Weights = dict[int, fmpq]


def check_sets(dataset: AttentionDataset, sets: Iterable[Iterable[object]]) -> Sets:
    """*sets* as n increasing tuples of token indices, 0-based. Raises ``InvalidInput``.

    >>> data = AttentionDataset.build([[[1], [2], [3]]], [1], [[1]], [1])
    >>> check_sets(data, [{2, 0}])
    ((0, 2),)
    """
    given = [sorted(_indices(one, f"sets[{i}]")) for i, one in enumerate(sets)]
    if len(given) != dataset.n:
        raise InvalidInput("sets", f"{len(given)} sets",
                           f"must have one set for each of the {dataset.n} samples",
                           "give one list of tokens per sample")
    for i, (tokens, T) in enumerate(zip(given, dataset.lengths, strict=True)):
        if not tokens:
            raise InvalidInput(f"sets[{i}]", tokens, "must hold at least one token",
                               "give the tokens that sample i selects")
        if not 0 <= tokens[0] <= tokens[-1] < T or len(set(tokens)) < len(tokens):
            raise InvalidInput(f"sets[{i}]", tokens, f"must be distinct tokens in 0..{T - 1}",
                               "count tokens from 0")
    return tuple(map(tuple, given))


def _indices(tokens: Iterable[object], name: str) -> list[int]:
    if isinstance(tokens, str | bytes) or not isinstance(tokens, Iterable):
        raise InvalidInput(name, tokens, "must be a list of token indices", "correct the nesting")
    found = []
    for t in tokens:
        if isinstance(t, bool) or not isinstance(t, int | np.integer):
            raise InvalidInput(name, t, "must hold integers", "count tokens from 0")
        found.append(operator.index(t))
    return found


@dataclass(frozen=True, eq=False)
class Constraints:
    """The constraints of Gen-SVM: rows (i, t) and their features, rejected and tied."""

    dataset: AttentionDataset
    sets: Sets

    @cached_property
    def rejected(self) -> tuple[Row, ...]:
        """The rows (i, t), t ∉ O_i, increasing."""
        return tuple((i, t) for i, (chosen, T) in enumerate(
            zip(map(set, self.sets), self.dataset.lengths, strict=True))
            for t in range(T) if t not in chosen)

    @cached_property
    def tied(self) -> tuple[Row, ...]:
        """The rows (i, t), t ∈ O_i but not its first token, increasing."""
        return tuple((i, t) for i, chosen in enumerate(self.sets) for t in chosen[1:])

    @cached_property
    def phi(self) -> TokenRows:
        """The features φ of the rejected rows."""
        return self._features(self.rejected)

    @cached_property
    def psi(self) -> TokenRows:
        """The features ψ of the tied rows."""
        return self._features(self.tied)

    def _features(self, rows: Sequence[Row]) -> TokenRows:
        return TokenRows(self.dataset, tuple((i, self.sets[i][0], t) for i, t in rows))

    @cached_property
    def gram(self) -> fmpz_mat:
        """The Gram matrix of all ψ and then all φ, times scale²."""
        return TokenRows(self.dataset, self.psi.pairs + self.phi.pairs).gram()

    def combination(self, multipliers: Weights, equality_multipliers: Weights) -> fmpq_mat:
        """Σ λ φ + Σ μ ψ, weights by position."""
        return (self.phi.combination(list(multipliers), list(multipliers.values()))
                + self.psi.combination(list(equality_multipliers),
                                       list(equality_multipliers.values())))


class ProjectedProblem:
    """The dual of Gen-SVM, a `conditions.exact.nonnegative.Problem`.

    As `SeparationProblem` with the Gram matrix of the Pφ: ``gram`` is ``scale`` times it, in
    integers. ``basis`` are independent ψ that span all; Pφ_k = φ_k − Σ_b C_bk ψ_{basis[b]}.
    """

    def __init__(self, constraints: Constraints) -> None:
        M, N = len(constraints.tied), len(constraints.rejected)
        table = constraints.gram.tolist()
        self.basis = _independent([row[:M] for row in table[:M]])
        inner = fmpq_mat([[table[M + a][M + b] for b in range(N)] for a in range(N)])
        self.coefficients = fmpq_mat(0, N)
        if self.basis:
            cross = fmpq_mat([[table[a][M + k] for k in range(N)] for a in self.basis])
            self.coefficients = fmpq_mat([[table[a][b] for b in self.basis]
                                          for a in self.basis]).solve(cross)
            inner -= cross.transpose() * self.coefficients
        self.gram, denominator = inner.numer_denom()
        self.scale = denominator * constraints.phi.scale * constraints.phi.scale
        self.diagonal = [self.gram[k, k] for k in range(N)]
        # Any positive constant is right; one of the size of the Gram entries is short.
        self.constant = max(self.diagonal) + 1

    def system(self, passive: Sequence[int]) -> tuple[fmpz_mat, fmpz_mat]:
        """See `Problem`."""
        size = len(passive)
        matrix = fmpz_mat(size, size,
                          [self.gram[a, b] + self.constant for a in passive for b in passive])
        return matrix, fmpz_mat(size, 1, [1] * size)

    def slack(self, x: Sequence[fmpq]) -> fmpq:
        """κ = 1 − c·1ᵀx."""
        return 1 - self.constant * sum(x, fmpq(0))

    def descent(self, passive: Sequence[int], x: Sequence[fmpq]) -> list[fmpq]:
        """See `Problem`."""
        slack, N = self.slack(x), len(self.diagonal)
        if not passive:
            return [slack] * N
        columns = fmpq_mat([[self.gram[k, a] for a in passive] for k in range(N)])
        return [slack - m for m in (columns * fmpq_mat(len(x), 1, list(x))).entries()]

    def lifted(self, multipliers: Weights) -> Weights:
        """μ with Σ λ Pφ = Σ λ φ + Σ μ ψ, zeros left out."""
        found = {}
        for place, position in enumerate(self.basis):
            value = -sum((x * self.coefficients[place, k] for k, x in multipliers.items()), fmpq(0))
            if value != 0:
                found[position] = value
        return found

    def suggestion(self) -> list[int]:
        """A float guess of where to start; empty beyond the range of floats."""
        table = np.array([[to_float(fmpq(a)) for a in row] for row in self.gram.tolist()])
        with np.errstate(all="ignore"), one_blas_thread():
            targets = 1 / np.sqrt(table.diagonal())
            table = table * np.outer(targets, targets)
            if not np.isfinite(table).all() or not targets.all():
                return []
            values, vectors = np.linalg.eigh(table)
            factor = vectors * np.sqrt(np.maximum(values, 0.0))
            found = suggest(factor, np.ones((len(table), 1)), targets)
        return [int(k) for k in found.passive]


def _independent(gram: list[list[fmpz]]) -> list[int]:
    """Positions of a basis of the row space, from the Gram matrix, exactly."""
    if not gram:
        return []
    form, _, rank = fmpz_mat(gram).rref()
    table = form.tolist()[:rank]
    return [next(j for j, a in enumerate(row) if a != 0) for row in table]


@dataclass(frozen=True)
class GenInfeasible:
    """Gen-SVM has no solution: λ > 0 and μ, by row position, with Σ λ φ + Σ μ ψ = 0."""

    constraints: Constraints
    multipliers: Weights
    equality_multipliers: Weights

    @cached_property
    def certificate(self) -> Motzkin:
        """The multipliers, scaled to coprime integers."""
        content = _content([*self.multipliers.values(), *self.equality_multipliers.values()])
        return Motzkin(self.constraints.sets, *_sparse_pair(self, content))


@dataclass(frozen=True)
class GenSolution:
    """W^mm = Σ λ φ + Σ μ ψ over Q; 0, without direction, if no token is rejected.

    ``multipliers`` and ``equality_multipliers`` are λ > 0 and μ ≠ 0 by row position; ``margins``
    are ⟨φ, W^mm⟩ of the rejected rows.
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

    @cached_property
    def certificate(self) -> GenKKT:
        """Everything above as a certificate."""
        return GenKKT(self.constraints.sets, *_sparse_pair(self, fmpq(1)), self.support,
                      self.norm_squared)

    @cached_property
    def separator(self) -> GenSeparator:
        """A multiple of W^mm with coprime integer entries, or the least with margins ≥ 1."""
        W = self.W
        if self.margins:
            W = W / _content(W.entries())
            least = min(self.margins) / _content(self.W.entries())
            W = W * max(fmpq(1), (1 / least).ceil())
        return GenSeparator(self.constraints.sets, tuple(map(tuple, W.tolist())))


@lru_cache(maxsize=64)
def solve(dataset: AttentionDataset, sets: Sets) -> GenSolution | GenInfeasible:
    """Decide Gen-SVM for checked *sets* over Q: its solution, or a proof that there is none."""
    constraints = Constraints(dataset, sets)
    if not constraints.rejected:
        return GenSolution(constraints, {}, {}, fmpq_mat(dataset.d, dataset.d), ())
    problem = ProjectedProblem(constraints)
    zero = next((k for k, a in enumerate(problem.diagonal) if a == 0), None)
    x = ({zero: 1 / fmpq(problem.constant)} if zero is not None
         else dict(sorted(nonnegative_minimizer(problem, problem.suggestion()).items())))
    slack = problem.slack(list(x.values()))
    if slack == 0:
        return GenInfeasible(constraints, x, problem.lifted(x))
    multipliers = {k: a * problem.scale / slack for k, a in x.items()}
    equality_multipliers = problem.lifted(multipliers)
    W = constraints.combination(multipliers, equality_multipliers)
    return GenSolution(constraints, multipliers, equality_multipliers, W,
                       tuple(constraints.phi.margins(W)))


def _content(numbers: Sequence[fmpq]) -> fmpq:
    """The positive rational that divides *numbers*, not all 0, to coprime integers."""
    integers, denominator = fmpq_mat(1, len(numbers), list(numbers)).numer_denom()
    common = fmpz(0)
    for a in integers.entries():
        common = common.gcd(a)
    return fmpq(common, denominator)


def _sparse_pair(outcome: GenSolution | GenInfeasible,
                 unit: fmpq) -> tuple[SparseVector, SparseVector]:
    """λ and μ in units of *unit*, as certificates spell them."""
    of = outcome.constraints
    first, second = (tuple((*rows[k], x / unit) for k, x in sorted(weights.items()))
                     for rows, weights in ((of.rejected, outcome.multipliers),
                                           (of.tied, outcome.equality_multipliers)))
    return first, second
