"""Limits without a cone: `low_norm_limit`, `selection_trap`, `large_first_step`.

The loss never rises along descent with η < 2/B, B a bound of its second derivatives. Each sample
adds e_i = ℓ(f_i) - ℓ(γ_i(1)) ≥ 0 to the excess n(L - L_*), so if the excess at the start is below
e_j(G_j) = ℓ(γ_j(1) - G_j) - ℓ(γ_j(1)) for every j, every f_j stays above γ_j(1) - G_j, by a fixed
amount. With G_j = γ_j(1) - γ_j(2) all rejected tokens under opt keep pulling the right way, and
descent converges in direction to W^mm_opt if opt is feasible; with half of that every optimal token
keeps more than half of its sample's weight, so all margins are positive and ‖W‖ rises
(docs/theory/global_limits.md).
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from ..claim import ENCLOSED, Claim, Proved
from ..data import Features, Index, Vector
from ..intervals import Interval, Undetermined, total
from ..linear import dot
from ..numbers import common_denominator, integers
from ..reading import Node
from ..refusals import Code
from .descent import (
    Descent,
    demand_moderate_scores,
    exact_text,
    iterate_text,
    read_positive,
    slope,
)
from .feasibility import demand_separator
from .first_step import MAX_PRECISION, MIN_PRECISION, optimal_features

_SPARE_BITS = 64
_NEGLIGIBLE = 100_000


def low_norm_limit(claim: Claim, node: Node) -> Proved:
    """The excess is below the gaps G_j = γ_j(1) - γ_j(2), and opt is feasible."""
    fields = node.object("kind", "W", "step", "beta", "separator", "precision")
    W = fields["W"].matrix(claim.dataset.d, claim.dataset.d)
    demand_separator(optimal_features(claim, node), fields["separator"])
    text = _kept(claim, node, fields, W, Fraction(1))
    return Proved(f"{text}, converges in direction to W^mm_opt", ENCLOSED)


def selection_trap(claim: Claim, node: Node) -> Proved:
    """The excess is below the gaps G_j = (γ_j(1) - γ_j(2))/2."""
    fields = node.object("kind", "W", "step", "beta", "precision")
    W = fields["W"].matrix(claim.dataset.d, claim.dataset.d)
    return Proved(_kept(claim, node, fields, W, Fraction(1, 2)), ENCLOSED)


def large_first_step(claim: Claim, node: Node) -> Proved:
    """W(1) = -η₀∇L(0) has an excess below the gaps G_j = γ_j(1) - γ_j(2), and opt is feasible."""
    fields = node.object("kind", "first_step", "step", "beta", "separator", "precision")
    features = optimal_features(claim, node)
    bits = fields["precision"].integer(MIN_PRECISION, MAX_PRECISION) + _SPARE_BITS
    first, step = read_positive(fields["first_step"]), read_positive(fields["step"])
    demand_moderate_scores(claim, node)
    demand_separator(features, fields["separator"])
    _demand_step(claim, step, fields, bits)
    _demand_excess(claim, features, _first_margins(claim, features, first, bits), Fraction(1),
                   bits, node)
    return Proved(f"opt = {features.selection}; exact gradient descent from W = 0, first step "
                  f"{exact_text(first)}, all later steps {exact_text(step)}, converges in "
                  "direction to W^mm_opt", ENCLOSED)


def _kept(claim: Claim, node: Node, fields: dict[str, Node], W: tuple[Vector, ...],
          share: Fraction) -> str:
    """Check an iterate and its step; G_j is *share* of the gap of sample j. The path, in words."""
    features = optimal_features(claim, node)
    bits = fields["precision"].integer(MIN_PRECISION, MAX_PRECISION) + _SPARE_BITS
    step = fields["step"].number()
    if step < 0:
        raise fields["step"].refuse(Code.STEP_UNFIT, "a step is not negative")
    demand_moderate_scores(claim, node)
    _demand_step(claim, step, fields, bits)
    scale = common_denominator(x for row in W for x in row)
    found = features.margins([integers(row, scale) for row in W])
    margins = {row: Interval.of(Fraction(m, scale * features.scale), bits)
               for row, m in found.items()}
    _demand_excess(claim, features, margins, share, bits, node)
    path = Descent("plain" if step else "flow", step)
    return f"opt = {features.selection}; exact {path} from {iterate_text(claim, W)}"


def _demand_step(claim: Claim, step: Fraction, fields: dict[str, Node], bits: int) -> None:
    """Refuse unless beta ≥ B and η·beta < 2."""
    beta = fields["beta"].number()
    if not _smoothness(claim, bits, beta):
        raise fields["beta"].refuse(Code.BETA_TOO_SMALL, "not shown to bound the Hessian")
    if step * beta >= 2:
        raise fields["step"].refuse(Code.STEP_TOO_LARGE, "η·beta is not below 2")


def _smoothness(claim: Claim, bits: int, beta: Fraction) -> bool:
    """Whether B ≤ beta for B = (1/n) Σ_i ‖z_i‖² d_i²/4 (R_i M_i + R_i² N_i/4).

    Along V with ‖V‖ = 1 the logits h of sample i have a variance of at most (d_i‖z_i‖)²/4 and the
    scores of at most R_i²/4, so f' = Cov(h, γ) and f'' = E[(h - Eh)²(γ - Eγ)] have f'² ≤
    R_i² d_i²‖z_i‖²/16 and |f''| ≤ R_i d_i²‖z_i‖²/4; (ℓ(f))'' = ℓ''f'² + ℓ'f''.
    """
    data = claim.dataset
    exact, terms = Fraction(0), []
    for tokens, scores, query in zip(data.integer_tokens, data.scores, data.integer_queries,
                                     strict=True):
        low, high = min(scores), max(scores)
        reach = high - low
        widest = max(dot(x, x) + dot(y, y) - 2 * dot(x, y) for x in tokens for y in tokens)
        weight = Fraction(dot(query, query) * widest,
                          4 * data.n * (data.token_scale * data.query_scale)**2) * reach
        if claim.loss == "correlation":
            exact += weight
        elif weight:
            M = slope(claim.loss, Interval.of(low, bits))
            if claim.loss == "exponential":
                N = M
            elif low <= 0 <= high:
                N = Interval.of(Fraction(1, 4), bits)
            else:
                sigma = slope("logistic", Interval.of(min(abs(low), abs(high)), bits))
                N = sigma * (1 - sigma)
            terms.append(weight * (M + reach / 4 * N))
    return exact <= beta and total(terms, bits).at_most(beta - exact)


def _first_margins(claim: Claim, features: Features, first: Fraction,
                   bits: int) -> dict[Index, Interval]:
    """(η₀/n) ⟨φ_it, G⟩, G = Σ_j |ℓ'(f_j)| g_j z_jᵀ, g_j = Σ_t (γ_jt - f_j) x_jt / T_j."""
    data = claim.dataset
    slopes, pulls = [], []
    for scores, tokens in zip(data.scores, data.tokens, strict=True):
        mean = sum(scores, Fraction(0)) / len(scores)
        slopes.append(slope(claim.loss, Interval.of(mean, bits)))
        pulls.append([sum(((score - mean) * x for score, x in zip(scores, column, strict=True)),
                          Fraction(0)) / len(scores) for column in zip(*tokens, strict=True)])
    found = {}
    for row in features.rows:
        delta, query = features.delta(row), features.query(row)
        parts = []
        for steep, pull, other in zip(slopes, pulls, data.integer_queries, strict=True):
            along = sum((x * y for x, y in zip(delta, pull, strict=True)), Fraction(0))
            turn = Fraction(dot(query, other), features.scale * data.query_scale)
            parts.append(first / data.n * along * turn * steep)
        found[row] = total(parts, bits)
    return found


def _demand_excess(claim: Claim, features: Features, margins: Mapping[Index, Interval],
                   share: Fraction, bits: int, node: Node) -> None:
    """Refuse unless Σ_i e_i(D_i) < e_j(G_j) for every j, D_i = γ_i(1) - f_i.

    e(D) is a(D) = |ℓ'(γ(1))|(e^D - 1) for exponential, log(1 + a(D)) for logistic, and D for
    correlation, where a(D) stands for D; log Π(1 + a_i) < log(1 + a_j) is compared without the
    logarithm.
    """
    weighted, limits = Interval.of(0, bits), []
    for i, scores in enumerate(claim.dataset.scores):
        best = features.selection[i]
        gaps = {(i, t): scores[best] - score for t, score in enumerate(scores) if t != best}
        try:
            e = {row: _decay(margins[row]) for row in gaps}
        except Undetermined:
            raise node.refuse(Code.EXCESS_TOO_LARGE, f"sample {i} is far from opt") from None
        deficit = (total((e[row] * gap for row, gap in gaps.items()), bits)
                   / (1 + total(e.values(), bits))).top
        steep = slope(claim.loss, Interval.of(scores[best], bits))
        a = _most(claim, steep, deficit)
        weighted += a + weighted * a if claim.loss == "logistic" else a
        limits.append(_least(claim, steep, Interval.of(share * min(gaps.values()), bits)))
    for j, limit in enumerate(limits):
        if not weighted.below(limit):
            raise node.refuse(Code.EXCESS_TOO_LARGE,
                              f"the loss is not shown to hold sample {j} above its threshold")


def _most(claim: Claim, steep: Interval, deficit: Interval) -> Interval:
    """A number whose upper end is above a(D), D ≥ 0; e^D - 1 ≤ D + D² for D ≤ 1."""
    if claim.loss == "correlation":
        return deficit
    rise, short = deficit.exp() - 1, deficit + deficit.square()
    return steep * (short if deficit.at_most(1) and short.top.below(rise.top) else rise)


def _least(claim: Claim, steep: Interval, gap: Interval) -> Interval:
    """A number whose lower end is below a(G), G > 0; e^G - 1 ≥ G."""
    if claim.loss == "correlation":
        return gap
    rise = gap.exp() - 1
    return steep * (gap if rise.bottom.below(gap.bottom) else rise)


def _decay(margin: Interval) -> Interval:
    """e^-m; below 2^-144,000 where m > 100,000."""
    if Interval.of(_NEGLIGIBLE, margin.bits).below(margin):
        return Interval(0, 1, -144_000, margin.bits)
    return (-margin).exp()
