"""Does gradient descent from this iterate keep the optimal tokens selected for ever?

Statement
    Gradient descent with constant step η, or gradient flow, started at the iterate W keeps, for
    every k and every sample, s_{i opt_i} > 1/2 and every margin ⟨φ_it, W_k⟩ under opt > 0, and
    ‖W_k‖_F never decreases.
Hypotheses
    Of the proof: opt unique, η < 2/β (`conditions.smoothness`), and
    L(W) < L_* + (1/n) min_i [ℓ((γ_i(1) + γ_i(2))/2) − ℓ(γ_i(1))]. Feasibility follows: W separates.
Certificate
    `selection_trap` (holds).
Decision procedure
    Margins of W are exact; the inequality is decided in balls of rising precision. Undecided when
    a hypothesis is missing; the condition is never shown to fail.
Reference
    docs/theory/global_limits.md.
"""

from __future__ import annotations

from typing import Any

from flint import fmpq

from conditions.certificates import SelectionTrap
from conditions.dataset import AttentionDataset
from conditions.excess_loss import compare, exact_matrix, matrix_margins, open_reason, premises
from conditions.verdict import Status, Verdict, proved, undecided

CONDITION = "selection_trap"


def decide(dataset: AttentionDataset, W: Any, rule: str, step: Any, loss: str) -> Verdict:
    """Decide the condition for the iterate *W* (d × d), *rule*, *step* and *loss*.

    rule: ``"plain"``, or ``"flow"`` with step 0; undecided for ``"normalized"``. W and the step are
    taken exactly. Raises ``InvalidInput``.
    """
    iterate = exact_matrix(W, dataset.d)
    descent = premises(CONDITION, dataset, rule, step, loss)
    if isinstance(descent, Verdict):
        return descent
    found = compare(dataset, loss, matrix_margins(dataset, iterate), fmpq(1, 2))
    if not found.below:
        return undecided(CONDITION, open_reason(found), loss=loss, number=str(found))
    certificate = SelectionTrap(tuple(map(tuple, iterate.tolist())), descent.step, descent.beta,
                                found.precision)
    return proved(CONDITION, Status.HOLDS, certificate,
                  f"n(L(W) − L_*) = {found.excess} is below the cost {found.gap} of half a "
                  "score gap, and the loss never increases", loss=loss, number=str(found))
