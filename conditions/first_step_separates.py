"""Does the first gradient step from W = 0 separate the optimal tokens?

Statement
    The optimal token is unique in every sample, and (x_{i opt_i} − x_it)ᵀ(−∇L(0)) z_i > 0 for every
    t ≠ opt_i.
Hypotheses
    None; fails when the optimum is not unique.
Certificate
    `first_step_margins` (holds), `first_step_violation` or `optimum_tie` (fails).
Decision procedure
    Each margin is a rational combination of |ℓ'(f)| at rational scores f. Zero is decided as an
    identity, every other sign by balls of rising precision: exact for the correlation loss, and
    never undecided unless 65,536 bits do not show a sign.
Reference
    arXiv 2308.16898 v1, Assumption C (section 3.2).
"""

from __future__ import annotations

from flint import fmpq

from conditions.certificates import FirstStepMargins, FirstStepViolation
from conditions.dataset import AttentionDataset
from conditions.gradient_at_zero import margin_signs
from conditions.losses import ALL_LOSSES, MAX_PRECISION, check_loss, exact_slope
from conditions.selection import features, optimal_selection
from conditions.unique_optimum import tie
from conditions.verdict import Evidence, Status, Verdict, proved, undecided

CONDITION = "first_step_separates"


def decide(dataset: AttentionDataset, loss: str) -> Verdict:
    """Decide the condition for *loss*."""
    check_loss(loss, ALL_LOSSES)
    tied = tie(dataset)
    if tied is not None:
        return proved(CONDITION, Status.FAILS, tied,
                      f"the optimal token of sample {tied.sample} is not unique", loss=loss,
                      number=f"tie in sample {tied.sample}")
    phi = features(dataset, optimal_selection(dataset))
    exact = exact_slope(loss, fmpq(0)) is not None
    most = 64
    open_rows = []
    for row, shown in zip(phi.rows, margin_signs(phi, loss), strict=True):
        if shown is None:
            open_rows.append(row)
            continue
        direction, precision = shown
        most = max(most, precision)
        if direction <= 0:
            word = "0" if direction == 0 else "negative"
            firm = Evidence.EXACT if exact or direction == 0 else Evidence.ENCLOSED
            return proved(CONDITION, Status.FAILS, FirstStepViolation(row, direction, precision),
                          f"the margin of −∇L(0) at row {row} is {word}", evidence=firm, loss=loss,
                          number=f"margin {word}")
    if open_rows:
        return undecided(CONDITION, f"{len(open_rows)} margins are not 0 but their signs did not "
                         f"show within {MAX_PRECISION:,} bits", loss=loss)
    return proved(CONDITION, Status.HOLDS, FirstStepMargins(most),
                  f"all {len(phi)} margins of −∇L(0) are positive",
                  evidence=Evidence.EXACT if exact else Evidence.ENCLOSED, loss=loss,
                  number=f"{len(phi)} margins > 0")
