"""Why ∇L(W) ≠ 0 for every W, or ∇L ≡ 0, for a loss with ℓ' < 0.

⟨∇L(W), D⟩ = (1/n) Σ_i ℓ'(f_i) Cov_s(h_i, γ_i) with h_it = x_itᵀ D z_i and s_i the softmax weights,
all positive; and Cov_s(h, γ) = ½ Σ_{t,τ} s_t s_τ (h_t - h_τ)(γ_t - γ_τ).
"""

from __future__ import annotations

from itertools import pairwise

from ..claim import Claim, Proved
from ..linear import dot
from ..reading import Node
from ..refusals import Code
from .feasibility import scaled_matrix
from .ranks import independent_factors, independent_rows


def injective_features(claim: Claim, node: Node) -> Proved:
    """Independent features and a sample that is not flat (S1).

    ∇L(W) = 0 reads Σ g_it x_it z_iᵀ = 0, g_it = |ℓ'(f_i)| s_it (γ_it - f_i), Σ_t g_it = 0: a
    combination of the features φ_it (base token 0). Independence forces every g_it = 0, so
    γ_it = f_i: all flat.
    """
    fields = node.object("kind", "rank", "sample")
    i = fields["sample"].index(claim.dataset.n)
    if claim.dataset.is_flat(i):
        raise fields["sample"].refuse(Code.WRONG_FLATNESS, f"sample {i} is flat")
    ways = {"independent_rows": independent_rows, "independent_factors": independent_factors}
    ways[fields["rank"].field("kind").choice(list(ways))](claim, fields["rank"])
    return Proved(f"the features are independent and sample {i} is not flat")


def monotone_direction(claim: Claim, node: Node) -> Proved:
    """(γ_it - γ_iτ)(h_it - h_iτ) ≥ 0 for all i, t, τ, > 0 at the witness: ⟨∇L, D⟩ < 0 (S2).

    Sorted by (score, logit), each group of equal scores ends with its largest logit and begins with
    its smallest, so comparing neighbours of different scores compares all pairs.
    """
    data = claim.dataset
    fields = node.object("kind", "D", "witness")
    D, _ = scaled_matrix(fields["D"].matrix(data.d, data.d))
    sample, *pair = fields["witness"].items(3)
    w = sample.index(data.n)
    t, u = (entry.index(data.lengths[w]) for entry in pair)
    for i, (scores, query) in enumerate(zip(data.scores, data.integer_queries, strict=True)):
        pull = [dot(row, query) for row in D]
        logits = [dot(token, pull) for token in data.integer_tokens[i]]
        ranked = sorted(zip(scores, logits, strict=True))
        for (low, below), (high, above) in pairwise(ranked):
            if low < high and above < below:
                raise fields["D"].refuse(Code.NOT_MONOTONE, f"sample {i} is not monotone")
        if i == w and not (scores[t] - scores[u]) * (logits[t] - logits[u]) > 0:
            raise fields["witness"].refuse(Code.NO_WITNESS, "no strict rise at the witness")
    return Proved(f"⟨∇L(W), D⟩ < 0 for every W; strict in sample {w}")


def separable_queries(claim: Claim, node: Node) -> Proved:
    """Y_i u·z_i ≥ 0 for every sample that is not flat, > 0 for one of them (S2a).

    D = v uᵀ has h_it = (u·z_i) x_it·v = Y_i (u·z_i) γ_it, as `monotone_direction` asks.
    """
    data = claim.dataset
    u = node.object("kind", "u")["u"]
    (entries,), _ = scaled_matrix((u.vector(data.d),))
    sides = [y * dot(entries, z) for i, (y, z) in enumerate(
        zip(data.labels, data.integer_queries, strict=True)) if not data.is_flat(i)]
    if min(sides, default=0) < 0 or not any(sides):
        raise u.refuse(Code.NOT_SEPARATING, "Y_i u·z_i is negative, or nowhere positive")
    return Proved("⟨∇L(W), v uᵀ⟩ < 0 for every W")


def all_flat(claim: Claim, node: Node) -> Proved:
    """Every sample is flat: its softmax output scores the same for all W, so ∇L ≡ 0."""
    node.object("kind")
    for i in range(claim.dataset.n):
        if not claim.dataset.is_flat(i):
            raise node.refuse(Code.WRONG_FLATNESS, f"sample {i} is not flat")
    return Proved("every sample is flat, ∇L vanishes identically")
