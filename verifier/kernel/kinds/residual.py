"""Basins by a bounded residual: `basin_residual`.

S are the rows of the multipliers, V the span of their features, M = W^mm_α = Σ_S λ φ. The class [σ]
of σ is the rows with the feature φ_σ; the classes are the support, and its rows score below the
selected tokens; O is the other rows, where κ > 0. If W̃ in V has ⟨φ_σ, W̃⟩ = l_σ = log(c_σ/λ_σ),
c_σ = (1/n) Σ_[σ] g^∞Δ, then W = sM + W̃ + E with E ⊥ M has a clock s = Σ_S λ(m - l)/‖M‖². With
E_∥ the part of the residual E in V, E_⊥ the rest and e_σ = ⟨φ_σ, E⟩ = m_σ - s - l_σ, it is shown
that descent keeps ‖E_∥‖ ≤ B, and E_⊥ within Z of its start, while the clock rises to infinity:

    e^s(-∇L) = Σ_S λ_σ e^-e_σ (1 + ν_σ) φ_σ + Σ_O ω_o φ_o,  |ω_o| ≤ A_o e^(-κ_o (s - s_start)),

with -ν⁻ ≤ ν_σ ≤ ν⁺. The first sum contracts E_∥ (the operator Σ λ φ φᵀ has its eigenvalues on V
across M in [μ, μ']), up to P; the second moves E_⊥ by less than Z in all (docs/theory/basin.md).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from ..claim import ENCLOSED, Claim, Proved
from ..data import Index, Vector
from ..definite import factor, positive_definite
from ..intervals import Interval, Undetermined, total, upper_bound
from ..linear import dot
from ..reading import Node
from ..refusals import Code
from .descent import (
    Descent,
    Weights,
    demand_moderate_scores,
    exact_text,
    iterate_text,
    read_clock,
    read_descent,
    read_positive,
    read_precision,
    read_radius,
    slope,
)
from .solution import Solution, matrix_margins, read_solution

_REFINEMENTS = 3


def basin_residual(claim: Claim, node: Node) -> Proved:
    """The residual of every start near an iterate stays bounded for ever."""
    fields = node.object("kind", "solution", "iterate", "radius", "rule", "step", "clock", "ball",
                         "drift", "eigenvalues", "precision")
    bits = read_precision(fields["precision"])
    iterate = fields["iterate"].matrix(claim.dataset.d, claim.dataset.d)
    radius, clock = read_radius(fields["radius"]), read_clock(fields["clock"])
    descent = read_descent(fields["rule"], fields["step"])
    ball, drift = read_positive(fields["ball"]), read_positive(fields["drift"])
    low, high = (read_positive(entry) for entry in fields["eigenvalues"].items(2))
    demand_moderate_scores(claim, node)
    solution = read_solution(claim, fields["solution"], bits)
    classes = _classes(solution, fields["solution"])
    try:
        _demand_eigenvalues(solution, low, high, fields["eigenvalues"])
        start = _Start(solution, classes, iterate, low)
        if not (clock + radius / solution.norm).at_most(start.clock):
            raise fields["clock"].refuse(Code.CLOCK_NOT_SHOWN, "the starts may have smaller clocks")
        if not (start.size + radius).at_most(ball):
            raise fields["ball"].refuse(Code.BALL_LEFT, "a start's residual may lie outside")
        motion = _Motion(start, descent, radius, clock, ball, drift, (low, high))
        motion.demand(node)
    except Undetermined as error:
        raise node.refuse(Code.BALL_LEFT, f"at this precision {error}") from None
    near = f"every W within {exact_text(radius)} of " if radius else ""
    return Proved(f"exact {descent} from {near}{iterate_text(claim, iterate)}", ENCLOSED)


def _classes(solution: Solution, node: Node) -> dict[Index, list[Index]]:
    """The support by the row of S that has the same feature. Raises `Refusal`."""
    features = solution.claim.features
    by_key = {features.key(row): row for row in solution.rows}
    found: dict[Index, list[Index]] = {row: [] for row in solution.rows}
    for row in sorted(solution.support):
        if solution.gaps[row] <= 0:
            raise node.refuse(Code.NOT_LOCALLY_OPTIMAL, f"support index {row} does not score below")
        owner = by_key.get(features.key(row))
        if owner is None:
            raise node.refuse(Code.DEGENERATE, f"support index {row} has a multiplier of 0")
        found[owner].append(row)
    if len(by_key) < len(solution.rows):
        raise node.refuse(Code.DEGENERATE, "two rows with multipliers have the same feature")
    return found


def _demand_eigenvalues(solution: Solution, low: Fraction, high: Fraction, node: Node) -> None:
    """Γ + (μ/‖M‖²)J - μ diag(1/λ) and μ' diag(1/λ) - Γ + (1/‖M‖²)J are positive definite.

    With x = diag(√λ) y, H = diag(√λ) Γ diag(√λ) has H √λ = √λ. Across √λ the first says H > μ and
    the second H < μ'; along √λ they say 1 > 0 and μ' > 0. The first makes Γ nonsingular: Γ y = 0
    would give (Σy)²/‖M‖² > Σ y²/λ, against Cauchy and Schwarz with Σλ = ‖M‖².
    """
    bits, norm = solution.bits, solution.norm_squared
    gram = solution.gram
    inverses = [1 / solution.multipliers[row] for row in solution.rows]
    for sign, factor_, mean in ((1, low, low / norm), (-1, high, 1 / norm)):
        matrix = [[sign * (x - factor_ * inverses[k] if k == m else Interval.of(x, bits)) + mean
                   for m, x in enumerate(row)] for k, row in enumerate(gram)]
        largest = upper_bound(x for row in matrix for x in row)
        unit = bits - (largest.exponent + largest.hi.bit_length())
        ends = [[x.ends(unit) for x in row] for row in matrix]
        lows, highs = ([[end[side] for end in row] for row in ends] for side in (0, 1))
        if unit < 0:
            raise Undetermined("the Gram matrix is too large")
        if not positive_definite(lows, highs, unit):
            bound = "μ is not shown to be a lower" if sign > 0 else "μ' is not shown to be an upper"
            raise node.refuse(Code.NOT_DEFINITE, f"{bound} bound of the eigenvalues")


class _Start:
    """The iterate: its margins, clock and residual.

    ŷ solves Γ y = e approximately. With r = e - Γ ŷ the error Σ (y - ŷ) φ has norm² rᵀΓ⁻¹r ≤
    Σ λ r²/min(1, μ), for diag(√λ) Γ diag(√λ) has no eigenvalue below min(1, μ).
    """

    def __init__(self, solution: Solution, classes: dict[Index, list[Index]],
                 iterate: tuple[Vector, ...], low: Fraction) -> None:
        self.solution, self.classes = solution, classes
        self.margins = matrix_margins(solution, iterate)
        bits, n = solution.bits, solution.claim.dataset.n
        self.limits = {}
        for row, members in classes.items():
            pull = total((self.final_slope(i) * solution.gaps[i, t] for i, t in members), bits)
            self.limits[row] = (pull * Fraction(1, n) / solution.multipliers[row]).log()
        offsets = [self.margins[row] - self.limits[row] for row in solution.rows]
        self.clock = solution.clock(offsets)
        residual = [x - self.clock for x in offsets]
        self._guess = guess = _approximate(solution, residual)
        gram = solution.gram
        rest = [x - dot_exact(row, guess) for x, row in zip(residual, gram, strict=True)]
        self._error = (total((x.square() * solution.multipliers[row] for x, row in
                              zip(rest, solution.rows, strict=True)), bits)
                       / min(Fraction(1), low)).sqrt()
        square = sum((y * dot_exact(row, guess) for y, row in zip(guess, gram, strict=True)),
                     Fraction(0))
        self.size = Interval.of(square, bits).sqrt() + self._error

    def final_slope(self, i: int) -> Interval:
        """g^∞ = |ℓ'(γ_{iα_i})|."""
        claim = self.solution.claim
        score = claim.dataset.scores[i][claim.features.selection[i]]
        return slope(claim.loss, Interval.of(score, self.solution.bits))

    def pull(self, row: Index) -> Interval:
        """An upper bound of ⟨φ, E_∥⟩."""
        found = total((x * y for x, y in zip(self.solution.products[row], self._guess,
                                             strict=True)), self.solution.bits)
        return found + self._error * self.solution.u[row]


def dot_exact(a: list[Fraction], b: list[Fraction]) -> Fraction:
    """Σ a_j b_j over the rationals."""
    return sum((x * y for x, y in zip(a, b, strict=True)), Fraction(0))


def _approximate(solution: Solution, residual: list[Interval]) -> list[Fraction]:
    """About Γ⁻¹e, in multiples of a small power of two."""
    unit = 2 * solution.bits
    gram = [[(x.numerator << unit) // x.denominator for x in row] for row in solution.gram]
    solver = factor(gram, unit)
    if solver is None:
        raise Undetermined("the Gram matrix of the support cannot be factored")
    wanted = [x.ends(unit)[0] for x in residual]
    found = [0] * len(wanted)
    for _ in range(_REFINEMENTS):
        left = [x - (dot(row, found) >> unit) for x, row in zip(wanted, gram, strict=True)]
        found = [x + y for x, y in zip(found, solver.solve(left), strict=True)]
    return [Fraction(x, 1 << unit) for x in found]


@dataclass(frozen=True)
class _Motion:
    """What keeps the residual bounded, for the stated B (`ball`) and Z (`drift`)."""

    start: _Start
    descent: Descent
    radius: Fraction
    clock: Fraction
    ball: Fraction
    drift: Fraction
    eigenvalues: tuple[Fraction, Fraction]

    def demand(self, node: Node) -> None:
        """The last inequalities of the specification. Raises `Refusal`, `Undetermined`."""
        solution, S = self.start.solution, self.start.solution.rows
        bits, kappa, v = solution.bits, solution.kappa, solution.v
        above, under = upper_bound(self._above.values()), upper_bound(self._under.values())
        A = self._others
        for row in A:
            if not kappa[row].is_positive():
                raise node.refuse(Code.BALL_LEFT, f"row {row} is not shown to have κ > 0")
        rise = 1 - under - total((x * solution.a[row] for row, x in A.items()),
                                 bits) / solution.norm_squared
        # The middle of the errors may be any number: the clock absorbs it, for Σ λ φ_⊥ = 0.
        middle = ((above - under) * Fraction(1, 2)).top
        if not (rise.is_positive() and (middle + 1).is_positive()):
            raise node.refuse(Code.BALL_LEFT, "the clock may fall")
        widest = upper_bound(v[row] for row in S) * self.ball
        least = self.eigenvalues[0] * (-widest * Fraction(1, 2)).exp()
        most = self.eigenvalues[1] * (1 + widest.exp()) * Fraction(1, 2)
        push = total((solution.multipliers[row] * (v[row] * self.ball).exp() * v[row] * upper_bound(
            (self._above[row] - middle, self._under[row] + middle)) for row in S), bits)
        push += total((x * v[row] for row, x in A.items()), bits)
        if not push.below((1 + middle) * least * self.ball):
            raise node.refuse(Code.BALL_LEFT, "the residual may leave its ball")
        step = self._step(rise)
        moved = total((x * v[row] * (1 / (rise * kappa[row]) + step) for row, x in A.items()), bits)
        if not moved.below(self.drift):
            raise node.refuse(Code.DRIFT_LEFT, "the residual may drift farther")
        if not (step * (1 + middle) * (least + most)).below(2):
            raise node.refuse(Code.STEP_TOO_LARGE, "a step may overshoot")

    def _step(self, rise: Interval) -> Interval:
        """A bound h of η_k e^-s."""
        solution, eta = self.start.solution, self.descent.step
        if self.descent.rule == "normalized":
            return eta / (solution.norm * rise)
        return eta * Interval.of(-self.clock, solution.bits).exp()

    @cached_property
    def _lags(self) -> dict[Index, Interval]:
        """t_o for every row of O: its margin is at least s + t_o."""
        start, solution = self.start, self.start.solution
        reach = self.ball + self.drift
        return {row: margin - start.pull(row) - start.clock - solution.u[row] * self.radius
                - solution.v[row] * reach
                for row, margin in start.margins.items() if row not in solution.support}

    @cached_property
    def _weights(self) -> Weights:
        solution = self.start.solution
        lowest = {row: lag + self.clock for row, lag in self._lags.items()}
        for row, members in self.start.classes.items():
            x = self.start.limits[row] + self.clock - solution.v[row] * self.ball
            lowest.update(dict.fromkeys(members, x))
        return Weights(solution, lowest)

    @cached_property
    def _others(self) -> dict[Index, Interval]:
        """A_o = (1/n) g⁺(|Δ| + D) e^-t_o."""
        n = self.start.solution.claim.dataset.n
        return {row: self._weights.strongest(row) * (-lag).exp() * Fraction(1, n)
                for row, lag in self._lags.items()}

    def _final(self, row: Index) -> Interval:
        return self.start.final_slope(row[0]) * self.start.solution.gaps[row]

    @cached_property
    def _above(self) -> dict[Index, Interval]:
        """ν⁺ for every row of S."""
        return {row: upper_bound(self._weights.strongest(r) / self._final(r) - 1 for r in members)
                for row, members in self.start.classes.items()}

    @cached_property
    def _under(self) -> dict[Index, Interval]:
        """ν⁻ for every row of S."""
        return {row: upper_bound(1 - self._weights.weakest(r) / self._final(r) for r in members)
                for row, members in self.start.classes.items()}
