"""A line through 0 that descent does not leave, to a direction of no locally optimal selection.

-n∇L(W) = Σ |ℓ'(f_i)| s_it s_iτ (γ_it - γ_iτ)(x_it - x_iτ)z_iᵀ over the pairs t, τ of tokens of a
sample with γ_it > γ_iτ. At W = rD the weight |ℓ'(f_i)| s_it s_iτ of a pair depends on r and on its
profile alone: the numbers 2h_p - h_t - h_τ over all tokens p of the sample, h = x_ipᵀ D z_i, each
with its score γ_ip unless |ℓ'| = 1. For s_t s_τ = 1/(Σ_p e^{r(h_p - (h_t + h_τ)/2)})². Relative to
their largest, 2h_max - h_t - h_τ, these numbers are the same for all pairs of a sample.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

from ..claim import Claim, Proved
from ..data import Dataset, Features
from ..linear import dot
from ..numbers import common_denominator, integers
from ..reading import Node
from ..refusals import Code
from .feasibility import demand_separator, scaled_matrix
from .kkt import exact_support

Logits = list[list[int]]


def invariant_ray(claim: Claim, node: Node) -> Proved:
    """-∇L is a positive multiple of D on the line of D, and D is W^mm_α of no locally optimal α.

    So W = rD goes to rD + η'D with η' > 0, whatever the rule and the step, and r grows beyond all
    bounds: while it is bounded, a step is bounded below.
    """
    data, d = claim.dataset, claim.dataset.d
    fields = node.object("kind", "direction", "exclusion")
    D, _ = scaled_matrix(fields["direction"].matrix(d, d))
    if not any(map(any, D)):
        raise fields["direction"].refuse(Code.RAY_LEFT, "the direction is zero")
    logits = [[dot(token, [dot(row, query) for row in D]) for token in tokens]
              for tokens, query in zip(data.integer_tokens, data.integer_queries, strict=True)]
    _demand_invariance(claim, D, logits, fields["direction"])
    return Proved("descent (normalized or plain with any constant step, or the flow) from every "
                  "multiple rD of the stated D, W = 0 included, stays on its line and converges in "
                  f"direction to D; {_exclusion(claim, D, logits, fields['exclusion'])}")


def _demand_invariance(claim: Claim, D: list[list[int]], logits: Logits, node: Node) -> None:
    """Refuse unless the pairs of every profile pull along D, forwards or not at all."""
    target = [x for row in D for x in row]
    lead = next(k for k, x in enumerate(target) if x)
    moving = False
    for pull in _pulls(claim, logits).values():
        c = pull[lead] * target[lead]
        if c < 0 or any(x * target[lead] != pull[lead] * y
                        for x, y in zip(pull, target, strict=True)):
            raise node.refuse(Code.RAY_LEFT, "the pairs of some profile do not pull along it")
        moving = moving or c > 0
    if not moving:
        raise node.refuse(Code.RAY_LEFT, "the gradient vanishes along it")


def _pulls(claim: Claim, logits: Logits) -> dict[tuple[int, int], list[int]]:
    """For each profile Σ (γ_it - γ_iτ)(x_it - x_iτ) z_iᵀ over its pairs, flattened, in integers.

    A profile is named by the number of its sample's shape and its largest entry.
    """
    data = claim.dataset
    unit = common_denominator(x for scores in data.scores for x in scores)
    shapes: dict[tuple[object, ...], int] = {}
    pulls: dict[tuple[int, int], list[int]] = {}
    for tokens, query, exact, h in zip(data.integer_tokens, data.integer_queries, data.scores,
                                       logits, strict=True):
        scores = integers(exact, unit)
        number = shapes.setdefault(_shape(claim.loss, scores, h), len(shapes))
        sums: dict[int, list[int]] = {}
        for top, gap, t, tau in _pairs(scores, h):
            u = sums.setdefault(top, [0] * data.d)
            for a in range(data.d):
                u[a] += gap * (tokens[t][a] - tokens[tau][a])
        for top, u in sums.items():
            total = pulls.setdefault((number, top), [0] * data.d**2)
            for a, x in enumerate(u):
                for b, y in enumerate(query):
                    total[a * data.d + b] += x * y
    return pulls


def _shape(loss: str | None, scores: Sequence[int], h: Sequence[int]) -> tuple[object, ...]:
    """The logits relative to the largest, sorted, each with its score unless |ℓ'| = 1."""
    top = max(h)
    below = [x - top for x in h]
    return tuple(sorted(below if loss == "correlation" else zip(below, scores, strict=True)))


def _pairs(scores: Sequence[int], h: Sequence[int]) -> Iterator[tuple[int, int, int, int]]:
    """(2h_max - h_t - h_τ, γ_t - γ_τ, t, τ) of every pair with γ_t > γ_τ."""
    top = 2 * max(h)
    for t, high in enumerate(scores):
        for tau, low in enumerate(scores):
            if high > low:
                yield top - h[t] - h[tau], high - low, t, tau


def _exclusion(claim: Claim, D: list[list[int]], logits: Logits, node: Node) -> str:
    """Why D is W^mm_α for no locally optimal α.

    The margins of W^mm_α are ≥ 1, so D has W^mm_α for a multiple only if α takes in every sample
    the one token of largest logit under D. Then W^mm_α is D divided by its least margin, unless a
    shorter matrix has all margins ≥ 1.
    """
    kind = node.field("kind").choice(["tied_logits", "shorter_separator", "exact_kkt"])
    if kind == "tied_logits":
        return _tied(claim.dataset, logits, node)
    best = [[t for t, x in enumerate(h) if x == max(h)] for h in logits]
    if tied := [i for i, tokens in enumerate(best) if len(tokens) > 1]:
        raise node.refuse(Code.NOT_STRAY, f"D selects no single token of sample {tied[0]}")
    alpha = tuple(tokens[0] for tokens in best)
    if kind == "exact_kkt":
        about = replace(claim, selection=alpha)
        support, _ = exact_support(about, node)
        if not any(map(about.features.outscores, support)):
            raise node.refuse(Code.NOT_STRAY, f"α = {alpha} is locally optimal")
        return f"D selects α = {alpha}, which is not locally optimal"
    features = Features(claim.dataset, alpha)
    place = node.object("kind", "W")["W"]
    demand_separator(features, place)
    margin = Fraction(min(features.margins(D).values()), features.scale)
    W = place.matrix(claim.dataset.d, claim.dataset.d)
    if not sum(x * x for row in W for x in row) * margin**2 < sum(x * x for row in D for x in row):
        raise place.refuse(Code.NOT_STRAY, "W is not shorter than D divided by its least margin")
    return f"D selects α = {alpha} and is no multiple of W^mm_α"


def _tied(data: Dataset, logits: Logits, node: Node) -> str:
    fields = node.object("kind", "sample", "tokens")
    i = fields["sample"].index(data.n)
    tokens = [entry.index(data.lengths[i]) for entry in fields["tokens"].items(2)]
    fields["tokens"].increasing(tokens)
    if any(logits[i][t] != max(logits[i]) for t in tokens):
        raise fields["tokens"].refuse(Code.NOT_STRAY, "they do not share the largest logit")
    return (f"D ties tokens {tokens[0]} and {tokens[1]} of sample {i}, so it is a multiple of no "
            "W^mm_α")
