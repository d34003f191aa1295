"""Is there no stationary point?

Statement
    ∇L(W) ≠ 0 for every W ∈ R^{d×d}.
Hypotheses
    None where it fails. Where it holds, ℓ' < 0 on the range of the scores of every sample that is
    not flat; the three losses of `conditions.losses.LOSSES` meet that on every range.
Certificate
    `injective_features`, `separable_queries`, `monotone_direction`, `decision_tree`,
    `simplex_cover` (holds); `all_flat`, `stationary_at_zero`, `krawczyk` (fails).
Decision procedure
    The two plain reasons for a stationary point; then S1 (exact rank), S2a and S2 (exact cones), in
    the order of their cost; then, within a budget, S3 (a tree of cones), S4 (a proved zero of the
    gradient), S5 (a cover of the row space by cells) and S4 again where S5 came to a halt.
    Undecided when none applies, with what was tried.
Reference
    arXiv 2308.16898 v1, Theorem 3; docs/theory/stationary.md.
"""

from __future__ import annotations

from conditions.certificates import Certificate, Krawczyk
from conditions.dataset import AttentionDataset
from conditions.losses import ALL_LOSSES, CUBIC, check_loss, decreasing
from conditions.stationary import (
    decision_tree,
    injective_features,
    krawczyk,
    monotone_direction,
    separable_queries,
    simplex_cover,
    vanishing_gradient,
)
from conditions.stationary.outcome import NotExcluded
from conditions.verdict import Status, Verdict, proved, undecided

CONDITION = "no_stationary_point"

BUDGET = 6_000
"""Nodes of a decision tree or of a cover: seconds for a few samples in two dimensions."""


def decide(dataset: AttentionDataset, loss: str, budget: int = BUDGET) -> Verdict:
    """Decide the condition for *loss*; undecided where no proof is found.

    *budget* bounds the nodes of S3 and of S5 each; 0 leaves S3 to S5 out.
    """
    check_loss(loss, ALL_LOSSES)
    vanishing = vanishing_gradient.proof(dataset, loss)
    if vanishing is not None:
        flat = vanishing.kind == "all_flat"
        return proved(CONDITION, Status.FAILS, vanishing,
                      "every sample is flat, so ∇L ≡ 0" if flat else "∇L(0) = 0 exactly",
                      loss=loss, number="∇L ≡ 0" if flat else "∇L(0) = 0")
    if not all(decreasing(loss, min(scores), max(scores)) for scores in dataset.scores
               if min(scores) < max(scores)):
        return undecided(CONDITION, "∇L(0) ≠ 0, and ℓ' vanishes on the range of some scores, which "
                         "S1 to S5 do not cover", loss=loss)
    injective = injective_features.proof(dataset)
    if injective is not None:
        return _holds(injective, "independent features and a sample that is not flat", "S1", loss)
    queries = separable_queries.proof(dataset)
    if queries is not None:
        return _holds(queries, "some u has Y_i u·z_i ≥ 0 for all samples that pull", "S2a", loss)
    direction = monotone_direction.proof(dataset)
    if direction is not None:
        return _holds(direction, "logits rise with scores along D, so ⟨∇L(W), D⟩ < 0", "S2", loss)
    plain = ("features dependent (no S1), no u for the queries (no S2a), no monotone direction "
             "(no S2): each decided exactly; ∇L(0) ≠ 0")
    if budget <= 0:
        return undecided(CONDITION, f"{plain}; S3 to S5 not tried", loss=loss)
    return _searched(dataset, loss, budget, plain)


def _searched(dataset: AttentionDataset, loss: str, budget: int, plain: str) -> Verdict:
    """S3 to S5; S3 alone for the cubic loss, of whose curvature the others know nothing."""
    tree = decision_tree.proof(dataset, budget)
    if not isinstance(tree, NotExcluded):
        return _holds(tree, f"a direction for each of {len(tree.nodes)} cells of score levels "
                      "or their branches", "S3", loss)
    if loss == CUBIC:
        return undecided(CONDITION, f"{plain}; S3: {tree.reason}", loss=loss)
    zero = krawczyk.proof(dataset, loss)
    if zero is not None:
        return refuted(zero, loss)
    cover = simplex_cover.proof(dataset, loss, budget)
    if not isinstance(cover, NotExcluded):
        return _holds(cover, f"a direction for each cell of a cover, {len(cover.nodes)} nodes",
                      "S5", loss)
    zero = krawczyk.proof_near(dataset, loss, cover.suspects)
    if zero is not None:
        return refuted(zero, loss)
    return undecided(CONDITION, f"{plain}; S3: {tree.reason}; S4: no zero of the gradient found "
                     f"and proved; S5: {cover.reason}", loss=loss)


def _holds(certificate: Certificate, reason: str, name: str, loss: str) -> Verdict:
    return proved(CONDITION, Status.HOLDS, certificate, f"{reason} ({name})", loss=loss,
                  number=name)


def refuted(certificate: Krawczyk, loss: str) -> Verdict:
    """The verdict that a proved zero of the gradient gives."""
    kind = krawczyk.classify(certificate)
    return proved(CONDITION, Status.FAILS, certificate,
                  f"a {kind} in a box of the row space, by the Krawczyk test (S4)", loss=loss,
                  number=f"S4: {kind}")
