"""Is there no stationary point?

Statement
    ∇L(W) ≠ 0 for every W ∈ R^{d×d}.
Hypotheses
    ℓ' < 0 on the range of the scores, which all three losses meet.
Certificate
    `injective_features`, `separable_queries`, `monotone_direction` (holds); `all_flat`,
    `stationary_at_zero` (fails).
Decision procedure
    The two plain reasons for a stationary point; then S1 (exact rank), S2a and S2 (exact cones), in
    the order of their cost. Undecided when none applies.
Reference
    arXiv 2308.16898 v1, Theorem 3; docs/theory.md, section 5.
"""

from __future__ import annotations

from conditions.dataset import AttentionDataset
from conditions.losses import check_loss
from conditions.stationary import (
    injective_features,
    monotone_direction,
    separable_queries,
    vanishing_gradient,
)
from conditions.verdict import Status, Verdict, proved, undecided

CONDITION = "no_stationary_point"


def decide(dataset: AttentionDataset, loss: str) -> Verdict:
    """Decide the condition for *loss*; undecided where neither proof applies."""
    check_loss(loss)
    vanishing = vanishing_gradient.proof(dataset, loss)
    if vanishing is not None:
        flat = vanishing.kind == "all_flat"
        return proved(CONDITION, Status.FAILS, vanishing,
                      "every sample is flat, so ∇L ≡ 0" if flat else "∇L(0) = 0 exactly",
                      loss=loss, number="∇L ≡ 0" if flat else "∇L(0) = 0")
    injective = injective_features.proof(dataset)
    if injective is not None:
        return proved(CONDITION, Status.HOLDS, injective,
                      "independent features and a sample that is not flat (S1)", loss=loss,
                      number="S1")
    queries = separable_queries.proof(dataset)
    if queries is not None:
        return proved(CONDITION, Status.HOLDS, queries,
                      "some u has Y_i u·z_i ≥ 0 for all samples that pull (S2a)", loss=loss,
                      number="S2a")
    direction = monotone_direction.proof(dataset)
    if direction is not None:
        return proved(CONDITION, Status.HOLDS, direction,
                      "logits rise with scores along D, so ⟨∇L(W), D⟩ < 0 (S2)", loss=loss,
                      number="S2")
    return undecided(CONDITION, "features dependent (no S1), no u for the queries (no S2a), no "
                     "monotone direction (no S2): each decided exactly; ∇L(0) ≠ 0", loss=loss)
