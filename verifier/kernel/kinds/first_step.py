"""The first gradient step from W = 0: G = -n ∇L(0), its margins and its zeros.

At W = 0 all softmax weights are 1/T_i, so with f_i the mean score of sample i
G = Σ_i |ℓ'(f_i)| g_i z_iᵀ, g_i = Σ_t (γ_it - f_i) x_it / T_i. Everything asked of G is a
combination Σ c_i |ℓ'(f_i)| with rational c_i at rational f_i. Its sign is shown by enclosures of
|ℓ'|. It is zero only if it is so formally:

- correlation, |ℓ'| = 1, and cubic, |ℓ'(f)| = 3f²: rational arithmetic;
- exponential, |ℓ'(f)| = e^-f: powers of e with distinct rational exponents are linearly independent
  over the rationals (Lindemann-Weierstrass);
- logistic, |ℓ'(f)| = 1/(1+e^f): with 1/(1+e^-k) = 1 - 1/(1+e^k) only k > 0 and a constant remain
  (1/2 at k = 0). With t a root of e, all k = a_j are integer exponents of t; 1 and the functions
  1/(1+t^a_j) are independent, because the largest a_j has a pole at exp(πi/a_j) alone; and t is
  transcendental.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import lcm

from ..claim import ENCLOSED, EXACT, Claim, Proved
from ..cubic import CUBIC
from ..data import Features, Index, read_row
from ..linear import dot
from ..numbers import (
    Enclosure,
    combination_enclosure,
    common_denominator,
    exp_enclosure,
    integers,
    logistic_enclosure,
)
from ..reading import Node
from ..refusals import Code

MIN_PRECISION, MAX_PRECISION = 8, 65536
_MAX_SPREAD = 4096
"""Binary orders between the |ℓ'| of different samples that still go into one matrix."""

Terms = dict[Fraction, int]
"""Coefficients of |ℓ'(f)| by f; a common positive factor does not matter."""


@dataclass(frozen=True)
class FirstStep:
    """G of a claim's dataset and loss."""

    claim: Claim

    @cached_property
    def means(self) -> list[Fraction]:
        """f_i, the mean score of each sample."""
        return [sum(scores, Fraction(0)) / len(scores) for scores in self.claim.dataset.scores]

    @cached_property
    def pulls(self) -> list[list[int]]:
        """The vectors g_i times one common positive factor."""
        data = self.claim.dataset
        weights = [[(score - mean) / len(scores) for score in scores]
                   for scores, mean in zip(data.scores, self.means, strict=True)]
        scale = lcm(*(common_denominator(row) for row in weights))
        return [[dot(integers(row, scale), column) for column in zip(*tokens, strict=True)]
                for row, tokens in zip(weights, data.integer_tokens, strict=True)]

    def terms(self, coefficients: Iterable[int]) -> Terms:
        """Σ_i c_i |ℓ'(f_i)|, collected by f."""
        found: Terms = {}
        for mean, c in zip(self.means, coefficients, strict=True):
            found[mean] = found.get(mean, 0) + c
        return found

    def margin(self, features: Features, row: Index) -> Terms:
        """⟨φ_it, G⟩ = Σ_j |ℓ'(f_j)| ((x_{iα_i} - x_it)·g_j)(z_j·z_i)."""
        delta, query = features.delta(row), features.query(row)
        return self.terms(dot(delta, g) * dot(query, z) for g, z in zip(
            self.pulls, self.claim.dataset.integer_queries, strict=True))

    @cached_property
    def exact_slopes(self) -> dict[Fraction, int] | None:
        """The |ℓ'(f_i)| times one common positive factor, where they are rational."""
        if self.claim.loss == "correlation":
            return dict.fromkeys(self.means, 1)
        if self.claim.loss == CUBIC:
            unit = common_denominator(self.means)
            return {f: x * x for f, x in zip(self.means, integers(self.means, unit), strict=True)}
        return None

    def vanishes(self, terms: Terms) -> bool:
        """Whether the combination is zero, decided as an identity."""
        if self.exact_slopes is not None:
            return not sum(c * self.exact_slopes[f] for f, c in terms.items())
        if self.claim.loss == "exponential":
            return not any(terms.values())
        # Logistic; the constant is kept doubled, for the halves at f = 0.
        constant, rest = 0, dict.fromkeys(map(abs, terms), 0)
        for f, c in terms.items():
            if f > 0:
                rest[f] += c
            elif f < 0:
                rest[-f] -= c
                constant += 2 * c
            else:
                constant += c
        rest.pop(Fraction(0), None)
        return not constant and not any(rest.values())

    def sign(self, terms: Terms, bits: int) -> int:
        """The sign of the combination; 0 if it is zero or not shown at this precision."""
        if self.exact_slopes is not None:
            lo = hi = sum(c * self.exact_slopes[f] for f, c in terms.items())
        elif parts := [(c, self._slope(f, bits)) for f, c in terms.items() if c]:
            lo, hi = combination_enclosure(parts, bits)
        else:
            lo = hi = 0
        return 1 if lo > 0 else -1 if hi < 0 else 0

    def shown_positive(self, features: Features, bits: int) -> set[Index]:
        """Rows of positive margin, by one matrix for all: not all such rows, but most, and fast.

        With |ℓ'(f_j)| in [lo_j, hi_j] and M = Σ lo_j g_j z_jᵀ a margin is at least δᵀ M z_i -
        Σ (hi_j - lo_j) |δ·g_j| |z_j·z_i|, and |a·b| ≤ ‖a‖_1 ‖b‖_∞.
        """
        if self.exact_slopes is not None:
            lows = highs = [self.exact_slopes[f] for f in self.means]
        else:
            slopes = [self._slope(f, bits) for f in self.means]
            least = min(slope.exponent for slope in slopes)
            if max(slope.exponent for slope in slopes) - least > _MAX_SPREAD:
                return set()
            lows = [slope.lo << slope.exponent - least for slope in slopes]
            highs = [slope.hi << slope.exponent - least for slope in slopes]
        data = self.claim.dataset
        M, slack = [[0] * data.d for _ in range(data.d)], 0
        for low, high, g, z in zip(lows, highs, self.pulls, data.integer_queries, strict=True):
            slack += (high - low) * max(map(abs, g)) * max(map(abs, z))
            for a, x in enumerate(g):
                M[a] = [w + low * x * y for w, y in zip(M[a], z, strict=True)]
        found = set()
        for row, margin in features.margins(M).items():
            reach = sum(map(abs, features.delta(row))) * sum(map(abs, features.query(row)))
            if margin > slack * reach:
                found.add(row)
        return found

    @cached_property
    def _slopes(self) -> dict[Fraction, Enclosure]:
        return {}

    def _slope(self, f: Fraction, bits: int) -> Enclosure:
        """|ℓ'(f)|, enclosed once; a claim has one precision."""
        if f not in self._slopes:
            self._slopes[f] = (exp_enclosure(-f, bits) if self.claim.loss == "exponential"
                               else logistic_enclosure(f, bits))
        return self._slopes[f]


def optimal_features(claim: Claim, node: Node) -> Features:
    """The features of the optimal selection, which must be unique."""
    optimal = [claim.dataset.optimal(i) for i in range(claim.dataset.n)]
    for i, tokens in enumerate(optimal):
        if len(tokens) > 1:
            raise node.refuse(Code.OPTIMUM_NOT_UNIQUE, f"sample {i} has tied optimal tokens")
    return Features(claim.dataset, tuple(tokens[0] for tokens in optimal))


def first_step_margins(claim: Claim, node: Node) -> Proved:
    """Every margin of G under the optimal selection is positive."""
    precision = node.object("kind", "precision")["precision"]
    bits = precision.integer(MIN_PRECISION, MAX_PRECISION)
    features, step = optimal_features(claim, node), FirstStep(claim)
    exact = step.exact_slopes is not None
    shown = step.shown_positive(features, bits)
    for row in features.rows:
        if row not in shown and step.sign(step.margin(features, row), bits) <= 0:
            raise precision.refuse(Code.SIGN_NOT_SHOWN, f"row {row} is not shown positive")
    return Proved(f"optimal tokens {features.selection}",
                  EXACT if exact else ENCLOSED)


def first_step_violation(claim: Claim, node: Node) -> Proved:
    """One margin of G under the optimal selection is negative, or exactly zero."""
    fields = node.object("kind", "row", "sign", "precision")
    bits = fields["precision"].integer(MIN_PRECISION, MAX_PRECISION)
    sign = fields["sign"].integer(-1, 0)
    features, step = optimal_features(claim, node), FirstStep(claim)
    row = read_row(fields["row"], claim.dataset, features.selection)
    terms = step.margin(features, row)
    if not (step.sign(terms, bits) < 0 if sign else step.vanishes(terms)):
        raise fields["sign"].refuse(Code.SIGN_NOT_SHOWN, f"the margin is not shown to be "
                                    f"{'negative' if sign else 'zero'}")
    exact = sign == 0 or step.exact_slopes is not None
    return Proved(f"the margin of row {row} is {'negative' if sign else 'zero'}; optimal tokens "
                  f"{features.selection}", EXACT if exact else ENCLOSED)


def stationary_at_zero(claim: Claim, node: Node) -> Proved:
    """Every entry of G is zero, decided as an identity: ∇L(0) = 0."""
    node.object("kind")
    d, step = claim.dataset.d, FirstStep(claim)
    for a in range(d):
        for b in range(d):
            entry = step.terms(g[a] * z[b] for g, z in zip(
                step.pulls, claim.dataset.integer_queries, strict=True))
            if not step.vanishes(entry):
                raise node.refuse(Code.NOT_STATIONARY, f"entry ({a}, {b}) of ∇L(0) is not zero")
    return Proved("∇L(0) = 0")
