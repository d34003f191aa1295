"""Does gradient descent from this iterate converge in direction to W^mm_opt?

Statement
    Gradient descent W_{k+1} = W_k − η∇L(W_k) with constant step η, or gradient flow, started at the
    iterate W has ‖W_k‖_F → ∞ and W_k/‖W_k‖_F → W^mm_opt/‖W^mm_opt‖_F.
Hypotheses
    Of the proof: opt unique, Att-SVM(opt) feasible, η < 2/β (`conditions.smoothness`), and
    L(W) < L_* + (1/n) min_i [ℓ(γ_i(2)) − ℓ(γ_i(1))] with the two largest scores of each sample.
    No sample is flat then, for T_i ≥ 2.
Certificate
    `low_norm_limit` (holds).
Decision procedure
    Margins of W and the separator are exact; the inequality is decided in balls of rising
    precision. Undecided when a hypothesis is missing; the condition is never shown to fail.
Reference
    docs/theory/global_limits.md; repairs arXiv 2308.16898 v1, Theorems 4 to 6.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from flint import fmpq

from conditions import feasibility
from conditions.certificates import LowNormLimit, Separator
from conditions.dataset import AttentionDataset
from conditions.excess_loss import compare, exact_matrix, matrix_margins, open_reason, premises
from conditions.selection import optimal_selection
from conditions.verdict import Status, Verdict, proved, undecided

CONDITION = "low_norm_limit"

INFEASIBLE = "Att-SVM(opt) is infeasible: there is no W^mm_opt"


@lru_cache(maxsize=64)
def separator(dataset: AttentionDataset) -> Separator | None:
    """A rational matrix with every margin under opt at least 1, or None if there is none."""
    certificate = feasibility.decide(dataset, optimal_selection(dataset)).certificate
    return certificate if isinstance(certificate, Separator) else None


def decide(dataset: AttentionDataset, W: Any, rule: str, step: Any, loss: str) -> Verdict:
    """Decide the condition for the iterate *W* (d × d), *rule*, *step* and *loss*.

    rule: ``"plain"``, or ``"flow"`` with step 0; undecided for ``"normalized"``. W and the step are
    taken exactly. Raises ``InvalidInput``.
    """
    iterate = exact_matrix(W, dataset.d)
    descent = premises(CONDITION, dataset, rule, step, loss)
    if isinstance(descent, Verdict):
        return descent
    separating = separator(dataset)
    if separating is None:
        return undecided(CONDITION, INFEASIBLE, loss=loss)
    found = compare(dataset, loss, matrix_margins(dataset, iterate), fmpq(1))
    if not found.below:
        return undecided(CONDITION, open_reason(found), loss=loss, number=str(found))
    certificate = LowNormLimit(tuple(map(tuple, iterate.tolist())), descent.step, descent.beta,
                               separating.W, found.precision)
    return proved(CONDITION, Status.HOLDS, certificate,
                  f"n(L(W) − L_*) = {found.excess} is below the cost {found.gap} of a "
                  "second best token, and the loss never increases", loss=loss,
                  number=str(found))
