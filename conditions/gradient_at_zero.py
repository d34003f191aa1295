"""−n∇L(0) as an exact combination of the loss weights |ℓ'(f)|.

At W = 0 the softmax is uniform, so f_i is the mean score of sample i, rational, and
−n∇L(0) = Σ_f |ℓ'(f)| M_f with M_f = Σ_{i: f_i = f} Σ_t (γ_it − f_i)/T_i x_it z_iᵀ, rational.
Source: docs/theory.md, (G) at W = 0.
"""

from __future__ import annotations

from functools import lru_cache

from flint import fmpq, fmpq_mat

from conditions.dataset import AttentionDataset


@lru_cache(maxsize=64)
def gradient_terms(dataset: AttentionDataset) -> dict[fmpq, fmpq_mat]:
    """{f: M_f}, exact, each M_f of shape (d, d)."""
    d = dataset.d
    terms: dict[fmpq, fmpq_mat] = {}
    for tokens, query, scores in zip(dataset.tokens, dataset.queries, dataset.scores,
                                     strict=True):
        T = len(scores)
        mean = sum(scores, fmpq(0)) / T
        weights = fmpq_mat(1, T, [(score - mean) / T for score in scores])
        pull = weights * fmpq_mat([list(x) for x in tokens])
        matrix = pull.transpose() * fmpq_mat(1, d, list(query))
        terms[mean] = terms[mean] + matrix if mean in terms else matrix
    return terms
