"""A long first step that ends just before the zero of ℓ' of the cubic loss.

One sample, f = Σ_t s_t γ_t and L = -f³, so W' = W + 3ηf² ∇f(W). ∇f = Σ_t s_t (γ_t - f) x_t zᵀ is
H-Lipschitz with H = ‖z‖² D² R/4, D the largest distance of two tokens and R the range of the
scores. In the ball of radius r around W(1) g ≤ ‖∇f‖ ≤ G, so Hr ≤ G, and 2|f_1| ≤ gr ≤ G²/H. Let
W(k) be in the ball and f_1 ≤ f_k < 0. f_{k+1} - f_k differs from 3ηf_k²‖∇f‖² by at most 3ηf_k²H/2
times it, and 3ηf_k²H < 2|f_1|H/(3G²) ≤ 1/3. So f_{k+1} ≤ f_k (1 - (9/2)η|f_k|G²) < 0, and
‖W(k+1) - W(k)‖ ≤ (2/g)(f_{k+1} - f_k): all steps together are shorter than 2|f_1|/g ≤ r
(docs/theory/stalled_descent.md).
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from ..claim import ENCLOSED, Claim, Proved
from ..cubic import CUBIC
from ..data import Dataset
from ..intervals import Interval, total
from ..linear import dot
from ..numbers import common_denominator, integers
from ..reading import Node
from ..refusals import Code
from .descent import exact_text, read_positive
from .first_step import MAX_PRECISION, MIN_PRECISION, optimal_features
from .kkt import solution

Row = list[Fraction]


def stalled_descent(claim: Claim, node: Node) -> Proved:
    """W(k) stays in a ball around W(1) that does not meet the line of W^mm_opt."""
    fields = node.object("kind", "first_step", "step", "radius", "least_slope", "largest_slope",
                         "solution", "precision")
    data = claim.dataset
    if claim.loss != CUBIC or data.n != 1:
        raise node.refuse(Code.LOSS_UNFIT, "this is about the cubic loss and one sample")
    features = optimal_features(claim, node)
    first, step, r, g, G = (read_positive(fields[name]) for name in (
        "first_step", "step", "radius", "least_slope", "largest_slope"))
    bits = fields["precision"].integer(MIN_PRECISION, MAX_PRECISION)
    u, z = _first(data, first), data.queries[0]
    f, slope_squared = _scores(data, u, bits)
    if not f.below(0):
        raise fields["first_step"].refuse(Code.NOT_STALLED, "f(W(1)) is not shown to be negative")
    H = _curvature(data)
    if not Interval.of((g + H * r)**2, bits).at_most(slope_squared):
        raise fields["least_slope"].refuse(Code.NOT_STALLED, "‖∇f‖ may be smaller")
    if H * r > G or not slope_squared.at_most((G - H * r)**2):
        raise fields["largest_slope"].refuse(Code.NOT_STALLED, "‖∇f‖ may be larger")
    if not (2 * -f).at_most(g * r):
        raise fields["radius"].refuse(Code.NOT_STALLED, "descent may leave the ball")
    if not (9 * step * G**2 * -f).below(2):
        raise fields["step"].refuse(Code.NOT_STALLED, "a step may pass the zero of the score")
    _demand_off_line(replace(claim, selection=features.selection), u, z, r, fields)
    return Proved(f"opt = {features.selection}; exact gradient descent from W = 0, first step "
                  f"{exact_text(first)}, all later steps {exact_text(step)}, never leaves the ball "
                  f"of radius {exact_text(r)} around W(1)", ENCLOSED)


def _first(data: Dataset, first: Fraction) -> Row:
    """The u of W(1) = u zᵀ: first·3f(0)² times Σ_t (γ_t - f(0)) x_t / T."""
    scores, T = data.scores[0], data.lengths[0]
    mean = sum(scores, Fraction(0)) / T
    return [3 * first * mean**2 / T
            * sum(((score - mean) * x for score, x in zip(scores, column, strict=True)),
                  Fraction(0))
            for column in zip(*data.tokens[0], strict=True)]


def _scores(data: Dataset, u: Row, bits: int) -> tuple[Interval, Interval]:
    """The score f and ‖∇f‖² at W(1)."""
    z, tokens, scores = data.queries[0], data.tokens[0], data.scores[0]
    size = sum((x * x for x in z), Fraction(0))
    logits = [size * sum((a * b for a, b in zip(u, x, strict=True)), Fraction(0)) for x in tokens]
    largest = max(logits)
    weights = [Interval.of(h - largest, bits).exp() for h in logits]
    whole = total(weights, bits)
    f = total((w * score for w, score in zip(weights, scores, strict=True)), bits) / whole
    pull = [total((w * x * (score - f) for w, score, x in zip(weights, scores, column,
                                                              strict=True)), bits) / whole
            for column in zip(*tokens, strict=True)]
    return f, size * total((entry.square() for entry in pull), bits)


def _curvature(data: Dataset) -> Fraction:
    """H = ‖z‖² D² R/4."""
    tokens, query, scores = data.integer_tokens[0], data.integer_queries[0], data.scores[0]
    widest = max(dot(x, x) + dot(y, y) - 2 * dot(x, y) for x in tokens for y in tokens)
    return Fraction(dot(query, query) * widest, 4 * (data.token_scale * data.query_scale)**2) * (
        max(scores) - min(scores))


def _demand_off_line(claim: Claim, u: Row, z: tuple[Fraction, ...], r: Fraction,
                     fields: dict[str, Node]) -> None:
    """Refuse unless the distance of W(1) from the multiples of W^mm_opt exceeds r."""
    _, W = solution(claim, fields["solution"])
    first = [a * b for a in u for b in z]
    scale = common_denominator(first)
    entries, target = integers(first, scale), [x for row in W.matrix for x in row]
    size = dot(target, target)
    if not dot(entries, entries) * size - dot(entries, target)**2 > (r * scale)**2 * size:
        raise fields["radius"].refuse(Code.NOT_STALLED, "the ball may meet the line of W^mm_opt")
