"""W^mm_α as the kinds about basins use it: multipliers, margins and norms, enclosed.

M = W^mm_α = Σ_S λ φ with λ > 0 on S, so ‖M‖² = Σ_S λ m = Σ_S λ. For every row u = ‖φ‖, a = ⟨φ, M⟩,
κ = a - 1 ≥ 0 (exactly 0 on the support), v = √(u² - a²/‖M‖²), the norm of the part of φ that is
orthogonal to M, and Δ = γ_{iα_i} - γ_it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from ..claim import Claim
from ..data import Index, read_sparse
from ..definite import factor
from ..intervals import Interval, total
from ..linear import dot, product, transpose
from ..numbers import common_denominator, integers
from ..reading import Node
from .enclosure import Enclosed, enclose
from .kkt import combine, exact_support

_REFINEMENTS = 8


@dataclass(frozen=True)
class Solution:
    """W^mm_α with S = `rows`, and its exact support; numbers are kept to `bits` bits."""

    claim: Claim
    bits: int
    rows: list[Index]
    support: frozenset[Index]
    multipliers: dict[Index, Interval]
    exact: tuple[Mapping[Index, Fraction], Fraction] | None
    """The margins a and ‖M‖², where λ is known exactly."""

    @cached_property
    def norm_squared(self) -> Interval:
        """‖M‖²."""
        return total(self.multipliers.values(), self.bits)

    @cached_property
    def norm_high(self) -> Fraction:
        """‖M‖², or an upper bound where it is not known exactly."""
        if self.exact is not None:
            return self.exact[1]
        top = self.norm_squared.top
        return top.hi * Fraction(2)**top.exponent

    @cached_property
    def norm(self) -> Interval:
        """‖M‖."""
        return self.norm_squared.sqrt()

    @cached_property
    def products(self) -> dict[Index, list[Interval]]:
        """⟨φ_it, φ_σ⟩ for every row and all σ of S, exact up to rounding."""
        features = self.claim.features
        scale = features.scale**2
        columns = transpose([features.delta(row) for row in self.rows])
        turns = list(product(self.claim.dataset.integer_queries,
                             transpose([features.query(row) for row in self.rows])))
        rows = features.rows
        return {row: [Interval.of(Fraction(x * y, scale), self.bits)
                      for x, y in zip(dots, turns[row[0]], strict=True)]
                for row, dots in zip(rows, product([features.delta(row) for row in rows], columns),
                                     strict=True)}

    @cached_property
    def gram(self) -> list[list[Fraction]]:
        """Γ, the Gram matrix of S."""
        features = self.claim.features
        deltas = [features.delta(row) for row in self.rows]
        queries = [features.query(row) for row in self.rows]
        return [[Fraction(dot(d, e) * dot(p, q), features.scale**2)
                 for e, q in zip(deltas, queries, strict=True)]
                for d, p in zip(deltas, queries, strict=True)]

    @cached_property
    def a(self) -> dict[Index, Interval]:
        """⟨φ, M⟩ for every row."""
        if self.exact is not None:
            return {row: Interval.of(a, self.bits) for row, a in self.exact[0].items()}
        one = Interval.of(1, self.bits)
        weights = [self.multipliers[row] for row in self.rows]
        return {row: one if row in self.support else
                total((x * y for x, y in zip(weights, self.products[row], strict=True)), self.bits)
                for row in self.claim.features.rows}

    @cached_property
    def kappa(self) -> dict[Index, Interval]:
        """κ = a - 1 for every row."""
        if self.exact is not None:
            return {row: Interval.of(a - 1, self.bits) for row, a in self.exact[0].items()}
        return {row: a - 1 for row, a in self.a.items()}

    @cached_property
    def u_squared(self) -> dict[Index, Fraction]:
        """‖φ‖² for every row."""
        features = self.claim.features
        return {row: Fraction(dot(d, d) * dot(q, q), features.scale**2)
                for row in features.rows
                for d, q in [(features.delta(row), features.query(row))]}

    @cached_property
    def u(self) -> dict[Index, Interval]:
        """‖φ‖ for every row."""
        return {row: Interval.of(x, self.bits).sqrt() for row, x in self.u_squared.items()}

    @cached_property
    def v(self) -> dict[Index, Interval]:
        """√(u² - a²/‖M‖²) for every row."""
        if self.exact is not None:
            margins, norm = self.exact
            return {row: Interval.of(self.u_squared[row] - a * a / norm, self.bits).sqrt()
                    for row, a in margins.items()}
        return {row: (x - self.a[row].square() / self.norm_squared).sqrt()
                for row, x in self.u_squared.items()}

    @cached_property
    def gaps(self) -> dict[Index, Fraction]:
        """Δ for every row."""
        scores, selection = self.claim.dataset.scores, self.claim.features.selection
        return {(i, t): scores[i][selection[i]] - scores[i][t]
                for i, t in self.claim.features.rows}

    def clock(self, margins: Sequence[Interval]) -> Interval:
        """Σ_S λ m / ‖M‖²; for the margins of W it is ⟨W, M⟩/‖M‖²."""
        return total((self.multipliers[row] * m for row, m in zip(self.rows, margins, strict=True)),
                     self.bits) / self.norm_squared


def read_solution(claim: Claim, node: Node, bits: int) -> Solution:
    """Check the solution object of a certificate but for the demand of a condition."""
    if node.field("kind").choice(["exact_kkt", "kkt_enclosure"]) == "exact_kkt":
        support, norm = exact_support(claim, node)
        vector = read_sparse(node.field("multipliers"), claim.features)
        W = combine(claim.features, vector)
        return Solution(claim, bits, list(vector), frozenset(support),
                        {row: Interval.of(x, bits) for row, x in vector.items()},
                        ({row: Fraction(m, W.one) for row, m in W.margins.items()}, norm))
    found = enclose(claim, node)
    multipliers = dict(zip(found.rows, _refined(claim, found, bits), strict=True))
    return Solution(claim, bits, found.rows, frozenset(found.support), multipliers, None)


def _refined(claim: Claim, found: Enclosed, bits: int) -> list[Interval]:
    """Enclosures of λ* = K⁻¹1, as narrow as *bits* allow.

    K (λ* - λ) = 1 - K λ, so |λ* - λ|_∞ ≤ ‖K⁻¹‖_∞ ‖1 - K λ‖_∞ for any λ, here stated ones refined by
    approximate solutions. What was proved of the stated ones stays in force.
    """
    scale = claim.features.scale**2
    size = -min(x.numerator.bit_length() - x.denominator.bit_length() for x in found.multipliers)
    unit = bits + max(size, 0) + 32
    gram = found.gram
    solver = factor([[(x << unit) // scale for x in row] for row in gram], unit)
    weights = [(x.numerator << unit) // x.denominator for x in found.multipliers]
    for left in reversed(range(_REFINEMENTS)):
        residual = [(scale << unit) - dot(row, weights) for row in gram]
        error = found.inverse_norm * Fraction(max(map(abs, residual)), scale << unit)
        if solver is None or not left or error * 2**(unit - 16) < 1:
            break
        change = solver.solve([r // scale for r in residual])
        weights = [x + y for x, y in zip(weights, change, strict=True)]
    enclosed = []
    for x, stated in zip(weights, found.multipliers, strict=True):
        middle = Fraction(x, 1 << unit)
        low = max(middle - error, stated - found.error)
        high = min(middle + error, stated + found.error)
        scaled = Interval.of(low, bits), Interval.of(high, bits)
        enclosed.append(scaled[0] + _from_zero(scaled[1] - scaled[0]))
    return enclosed


def _from_zero(x: Interval) -> Interval:
    """From 0 to the upper end of a number that is not negative."""
    return Interval(0, max(x.hi, 0), x.exponent, x.bits)


def matrix_margins(solution: Solution, W: Sequence[Sequence[Fraction]]) -> dict[Index, Fraction]:
    """The margins of a rational matrix."""
    features = solution.claim.features
    scale = common_denominator(x for row in W for x in row)
    found = features.margins([integers(row, scale) for row in W])
    return {row: Fraction(m, scale * features.scale) for row, m in found.items()}
