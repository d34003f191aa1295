"""Gradients that vanish for a plain reason: everywhere, or at W = 0.

Statement
    ∇L(W) = 0 for some W.
Hypotheses
    Every sample is flat (then ∇L ≡ 0), or ∇L(0) = 0.
Certificate
    `all_flat`, `stationary_at_zero`.
Decision procedure
    Exact: ∇L(0) is a combination of rational matrices with the weights |ℓ'(f)|, and each entry
    vanishes as an identity or not at all (`conditions.losses.is_zero`).
Reference
    docs/theory.md, section 5.
"""

from __future__ import annotations

from conditions.certificates import AllFlat, StationaryAtZero
from conditions.dataset import AttentionDataset
from conditions.gradient_at_zero import gradient_terms
from conditions.losses import is_zero
from conditions.no_flat_sample import flat_samples


def proof(dataset: AttentionDataset, loss: str) -> AllFlat | StationaryAtZero | None:
    """The proof that a stationary point exists, or None where neither reason applies."""
    if len(flat_samples(dataset)) == dataset.n:
        return AllFlat()
    terms = gradient_terms(dataset)
    entries = {f: matrix.entries() for f, matrix in terms.items()}
    size = dataset.d * dataset.d
    if all(is_zero(loss, {f: e[k] for f, e in entries.items()}) for k in range(size)):
        return StationaryAtZero()
    return None
