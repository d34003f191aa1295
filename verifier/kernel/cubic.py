"""What may be proved of the cubic loss ℓ(u) = −u³, whose derivative −3u² vanishes at 0.

Everything else in this package is about losses with ℓ' < 0.
"""

from __future__ import annotations

from .claim import Claim
from .reading import Node
from .refusals import Code

CUBIC = "cubic"

_ANY_LOSS = {"all_flat", "optimum_tie", "stationary_at_zero", "first_step_margins",
             "first_step_violation", "stalled_descent"}
"""Kinds that read |ℓ'| itself, if they are about ℓ at all."""

_DECREASING = {"injective_features", "separable_queries", "monotone_direction", "decision_tree"}
"""Kinds that ask for ℓ' < 0 on the range of the scores of samples that are not flat."""


def demand_fit(claim: Claim, kind: str, node: Node) -> None:
    """Refuse a certificate of a *kind* that does not hold for the cubic loss on this dataset."""
    if claim.loss != CUBIC or kind in _ANY_LOSS:
        return
    if kind not in _DECREASING:
        raise node.refuse(Code.LOSS_UNFIT, f"{kind} is for losses with ℓ' < 0")
    for i, scores in enumerate(claim.dataset.scores):
        if min(scores) < max(scores) and min(scores) <= 0 <= max(scores):
            raise node.refuse(Code.LOSS_UNFIT, f"ℓ' vanishes on the range of sample {i}'s scores")
