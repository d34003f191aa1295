"""Balls around W^mm_α, its multipliers and margins, and what the basin conditions build on them.

Notation of docs/theory/basin.md: M = W^mm_α = Σ_S λ_σ φ_σ, a = ⟨φ, M⟩, κ = a − 1, u = ‖φ‖_F,
v = ‖φ − (a/‖M‖²)M‖_F, Δ_it = γ_{iα_i} − γ_it. Rows are numbered as in `Features.rows`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Protocol

from flint import arb, arb_mat, ctx, fmpq, fmpz, fmpz_mat

from conditions.certificates import ExactKKT, KKTEnclosure
from conditions.dataset import AttentionDataset
from conditions.errors import InvalidInput, unknown
from conditions.exact.numbers import rational
from conditions.exact.rank_one import take
from conditions.losses import MAX_SCORE
from conditions.selection import Features
from conditions.separation.frobenius import ExactSolution, Infeasible, Solution, solve

RULES = ("normalized", "plain", "flow")
WORKING_BITS = 128
"""Precision of the balls; doubled where a linear system asks for more, up to 1024."""
STATED_BITS = 160
"""The precision that a certificate asks of its checker: more than what decided here."""
MAX_CLOCK = 1 << 40


def check_rule(rule: object, step: object) -> tuple[str, fmpq]:
    """(*rule*, *step* as a rational): η > 0, or 0 for the flow. Raises ``InvalidInput``."""
    if rule not in RULES:
        raise unknown("rule", rule, RULES)
    eta = rational(step, "step")
    if (eta != 0) if rule == "flow" else (eta <= 0):
        raise InvalidInput("step", step, "must be 0 for the flow and positive otherwise",
                           "correct it")
    return str(rule), eta


def scores_in_range(dataset: AttentionDataset, loss: str) -> bool:
    """Whether e^γ may be enclosed at every score γ; the correlation loss does not ask."""
    return loss == "correlation" or all(abs(x) <= MAX_SCORE for row in dataset.scores
                                        for x in row)


def score_gaps(phi: Features) -> list[fmpq]:
    """Δ_it = γ_{iα_i} − γ_it of every row, exact."""
    scores = phi.dataset.scores
    return [scores[i][phi.selection[i]] - scores[i][t] for i, t in phi.rows]


def support_rivals(solution: Solution) -> list[tuple[int, int]]:
    """Support indices with Δ ≤ 0; α is locally optimal iff there are none."""
    phi = solution.features
    gaps = score_gaps(phi)
    return [row for row in solution.support if gaps[phi.index[row]] <= 0]


def positive_positions(solution: Solution) -> list[int]:
    """The positions of S, the rows of positive multiplier."""
    if isinstance(solution, ExactSolution):
        return sorted(solution.multipliers)
    return sorted(int(k) for k in solution.verified.positions)


@dataclass(frozen=True)
class Weights:
    """e^−(lower margin) by row; D_i, S_i, g_i^−, g_i^+ by sample (docs/theory/basin.md)."""

    e: list[arb]
    D: list[arb]
    S: list[arb]
    least: list[arb]
    most: list[arb]


class Solved(Protocol):
    """A solution, or what a certificate states of one."""

    @property
    def features(self) -> Features:
        """The features of the selection."""

    @property
    def support(self) -> tuple[tuple[int, int], ...]:
        """The support indices (i, t)."""

    @property
    def certificate(self) -> ExactKKT | KKTEnclosure:
        """The proof."""


@dataclass(frozen=True)
class Stated:
    """The solution that a certificate states."""

    features: Features
    certificate: ExactKKT | KKTEnclosure

    @property
    def support(self) -> tuple[tuple[int, int], ...]:
        """The support indices (i, t)."""
        return self.certificate.support


@dataclass(frozen=True, eq=False)
class Enclosure:
    """W^mm_α in balls of ``bits`` bits. ``multipliers`` are the λ of ``positions``."""

    solution: Solved
    bits: int
    positions: list[int]
    multipliers: list[arb]

    @property
    def phi(self) -> Features:
        """The features of the selection."""
        return self.solution.features

    @cached_property
    def gaps(self) -> list[fmpq]:
        """Δ of every row, exact."""
        return score_gaps(self.phi)

    @cached_property
    def selected_scores(self) -> list[fmpq]:
        """γ_{iα_i} of every sample."""
        scores = self.phi.dataset.scores
        return [scores[i][a] for i, a in enumerate(self.phi.selection)]

    @cached_property
    def support(self) -> frozenset[int]:
        """The positions of the support indices."""
        return frozenset(self.phi.index[row] for row in self.solution.support)

    @cached_property
    def norm_squared(self) -> arb:
        """‖M‖² = Σλ."""
        with ctx.workprec(self.bits):
            return sum(self.multipliers, arb(0))

    @cached_property
    def norm(self) -> arb:
        """‖M‖."""
        with ctx.workprec(self.bits):
            return self.norm_squared.sqrt()

    @cached_property
    def cross(self) -> arb_mat:
        """⟨φ_k, φ_σ⟩ for every row k and σ ∈ S, N × s."""
        with ctx.workprec(self.bits):
            return _cross_gram(self.phi, self.positions)

    @cached_property
    def gram(self) -> arb_mat:
        """Γ, the Gram matrix of S."""
        table = self.cross.tolist()
        return arb_mat([table[k] for k in self.positions])

    @cached_property
    def reach(self) -> list[arb]:
        """The margins a of M, exactly 1 on the support."""
        with ctx.workprec(self.bits):
            column = self.cross * arb_mat(len(self.multipliers), 1, self.multipliers)
            return [arb(1) if k in self.support else a for k, a in enumerate(column.entries())]

    @cached_property
    def excess(self) -> list[arb]:
        """κ = a − 1 of every row, exactly 0 on the support."""
        with ctx.workprec(self.bits):
            return [a - 1 for a in self.reach]

    @cached_property
    def sizes(self) -> list[arb]:
        """The norms u of all features."""
        with ctx.workprec(self.bits):
            return [x.sqrt() for x in self._squares]

    @cached_property
    def across(self) -> list[arb]:
        """Upper bounds of v for every row."""
        with ctx.workprec(self.bits):
            return [max(x - a * a / self.norm_squared, arb(0)).upper().sqrt().upper()
                    for x, a in zip(self._squares, self.reach, strict=True)]

    @cached_property
    def W(self) -> arb_mat:
        """M, d × d."""
        phi = self.phi
        with ctx.workprec(self.bits):
            left = take(phi.differences, self.positions).transpose()
            weights = arb_mat(len(self.positions), len(self.positions))
            for k, x in enumerate(self.multipliers):
                weights[k, k] = x / arb(phi.scale)
            return arb_mat(left) * weights * arb_mat(take(phi.queries, self.positions))

    @cached_property
    def _squares(self) -> list[arb]:
        phi = self.phi
        factor = arb(fmpq(1, phi.scale * phi.scale))
        return [_square(p) * _square(q) * factor for p, q in
                zip(phi.differences.tolist(), phi.queries.tolist(), strict=True)]

    def weights(self, loss: str, lower_margins: Sequence[arb]) -> Weights:
        """What lower bounds of all margins say about softmax weights and |ℓ'|."""
        rows, n = self.phi.rows, self.phi.dataset.n
        e = [(-m).exp() for m in lower_margins]
        D, total = [arb(0)] * n, [arb(1)] * n
        for (i, _), x, gap in zip(rows, e, self.gaps, strict=True):
            D[i] = D[i] + abs(gap) * x
            total[i] = total[i] + x
        return Weights(
            e, D, [1 / x for x in total],
            [slope(loss, f + x) for f, x in zip(self.selected_scores, D, strict=True)],
            [slope(loss, f - x) for f, x in zip(self.selected_scores, D, strict=True)])


def slope(loss: str, f: arb | fmpq) -> arb:
    """|ℓ'(f)|."""
    if loss == "correlation":
        return arb(1)
    return (-arb(f)).exp() if loss == "exponential" else 1 / (1 + arb(f).exp())


@lru_cache(maxsize=16)
def enclose(phi: Features) -> Enclosure | None:
    """Balls around W^mm_α; cached. None where Att-SVM(α) is infeasible, or where 1024 bits do not
    separate its Gram matrix from singular ones.
    """
    solution = solve(phi.dataset, phi.selection)
    if isinstance(solution, Infeasible):
        return None
    exact = list(solution.multipliers.values()) if isinstance(solution, ExactSolution) else None
    return _enclosure(phi, solution, positive_positions(solution), exact)


def enclose_stated(phi: Features, certificate: ExactKKT | KKTEnclosure) -> Enclosure | None:
    """`enclose` for the rows and, where exact, the multipliers that a certificate states."""
    stated = Stated(phi, certificate)
    if isinstance(certificate, ExactKKT):
        return _enclosure(phi, stated, [phi.index[i, t] for i, t, _ in certificate.multipliers],
                          [x for _, _, x in certificate.multipliers])
    return _enclosure(phi, stated, [phi.index[row] for row in certificate.rows], None)


def _enclosure(phi: Features, solution: Solved, positions: list[int],
               exact: Sequence[fmpq] | None) -> Enclosure | None:
    """Balls for the multipliers of *positions*: *exact* ones, or the solution of K_SS λ = 1."""
    if exact is not None:
        with ctx.workprec(WORKING_BITS):
            return Enclosure(solution, WORKING_BITS, positions, [arb(x) for x in exact])
    bits = WORKING_BITS
    while bits <= 1024:
        with ctx.workprec(bits):
            gram = _cross_gram(phi, positions, square=True)
            try:
                x = gram.solve(arb_mat(len(positions), 1, [1] * len(positions)))
            except ZeroDivisionError:
                bits *= 2
                continue
            multipliers = x.entries()
            if all(a > 0 and a.rel_accuracy_bits() > WORKING_BITS // 2 for a in multipliers):
                return Enclosure(solution, bits, positions, multipliers)
        bits *= 2
    return None


def _cross_gram(phi: Features, positions: Sequence[int], *, square: bool = False) -> arb_mat:
    """⟨φ_k, φ_σ⟩ for σ in *positions* and every row k, or those in *positions* too."""
    deltas, queries = take(phi.differences, positions), take(phi.queries, positions)
    lines = (deltas, queries) if square else (phi.differences, phi.queries)
    left, right = (a * b.transpose() for a, b in
                   zip(lines, (deltas, queries), strict=True))
    product = fmpz_mat(left.nrows(), left.ncols(),
                       [a * b for a, b in zip(left.entries(), right.entries(), strict=True)])
    return arb_mat(product) * arb(fmpq(1, phi.scale * phi.scale))


def _square(row: Sequence[fmpz]) -> fmpz:
    return sum((a * a for a in row), fmpz(0))
