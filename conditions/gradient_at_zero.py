"""−n∇L(0) as an exact combination of the loss weights |ℓ'(f)|.

At W = 0 the softmax is uniform, so f_i is the mean score of sample i, rational, and
−n∇L(0) = Σ_f |ℓ'(f)| M_f with M_f = Σ_{i: f_i = f} Σ_t (γ_it − f_i)/T_i x_it z_iᵀ, rational.
Source: docs/theory.md, (G) at W = 0.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from flint import fmpq, fmpq_mat, fmpz_mat

from conditions.dataset import AttentionDataset
from conditions.selection import Features


@lru_cache(maxsize=64)
def gradient_terms(dataset: AttentionDataset) -> dict[fmpq, fmpq_mat]:
    """{f: M_f}, exact, each M_f of shape (d, d)."""
    terms: dict[fmpq, fmpq_mat] = {}
    for (mean, pull), query in zip(_pulls(dataset), dataset.queries, strict=True):
        matrix = pull.transpose() * fmpq_mat(1, dataset.d, list(query))
        terms[mean] = terms[mean] + matrix if mean in terms else matrix
    return terms


def margin_terms(phi: Features) -> Iterator[dict[fmpq, fmpq]]:
    """{f: ⟨φ, M_f⟩} for one row φ of *phi* after the other, exact.

    ⟨δqᵀ, g zᵀ⟩ = (δ·g)(q·z): d-vectors suffice, no d × d matrix is formed.
    """
    pulls = _pulls(phi.dataset)
    pull, denominator = fmpq_mat([g.entries() for _, g in pulls]).numer_denom()
    integers = phi.dataset.integers
    right = (integers.queries * integers.queries.transpose()).tolist()
    scale = phi.scale * integers.query_scale * denominator
    for (i, _), delta in zip(phi.rows, phi.differences.tolist(), strict=True):
        terms: dict[fmpq, fmpq] = {}
        left = (pull * fmpz_mat(len(delta), 1, delta)).entries()
        for (f, _), a, b in zip(pulls, left, right[i], strict=True):
            terms[f] = terms.get(f, fmpq(0)) + fmpq(a * b, scale)
        yield terms


def _pulls(dataset: AttentionDataset) -> list[tuple[fmpq, fmpq_mat]]:
    """(f_i, Σ_t (γ_it − f_i)/T_i x_itᵀ) for every sample."""
    found = []
    for tokens, scores in zip(dataset.tokens, dataset.scores, strict=True):
        T = len(scores)
        mean = sum(scores, fmpq(0)) / T
        weights = fmpq_mat(1, T, [(score - mean) / T for score in scores])
        found.append((mean, weights * fmpq_mat([list(x) for x in tokens])))
    return found
