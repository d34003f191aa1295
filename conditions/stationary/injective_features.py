"""S1: independent features leave no stationary point.

Statement
    ∇L(W) ≠ 0 for every W.
Hypotheses
    ℓ' < 0 on the range of the scores; the features are independent; some sample is not flat.
Certificate
    `injective_features`.
Decision procedure
    Exact ranks (`conditions.full_rank`) and exact scores.
Reference
    docs/theory.md, section 5, S1.
"""

from __future__ import annotations

from conditions.certificates import InjectiveFeatures
from conditions.dataset import AttentionDataset
from conditions.full_rank import independence
from conditions.no_flat_sample import flat_samples


def proof(dataset: AttentionDataset) -> InjectiveFeatures | None:
    """The proof, or None where S1 does not apply."""
    flat = set(flat_samples(dataset))
    pulling = next((i for i in range(dataset.n) if i not in flat), None)
    if pulling is None:
        return None
    rank = independence(dataset)
    return None if rank is None else InjectiveFeatures(rank, pulling)
