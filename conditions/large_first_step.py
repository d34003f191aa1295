"""Is this first step from W = 0 long enough to fix the limit?

Statement
    Gradient descent from W(0) = 0 with W(1) = −η₀∇L(0) and the constant step η from then on has
    ‖W(k)‖_F → ∞ and W(k)/‖W(k)‖_F → W^mm_opt/‖W^mm_opt‖_F.
Hypotheses
    Of the proof: opt unique, Att-SVM(opt) feasible, η < 2/β (`conditions.smoothness`), and W(1)
    meets the inequality of `conditions.low_norm_limit`. Any η₀ > 0 is allowed; β does not bound it.
    If −∇L(0) separates (`conditions.first_step_separates`), every η₀ above `sufficient_first_step`
    meets it.
Certificate
    `large_first_step` (holds).
Decision procedure
    The margins of W(1) are rational combinations of |ℓ'(f)| at the mean scores f, enclosed in balls
    of rising precision like the inequality. Undecided when a hypothesis is missing.
Reference
    docs/theory/global_limits.md: Theorem 6 of arXiv 2308.16898 v1, repaired.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from flint import arb, ctx, fmpq

from conditions import first_step_separates
from conditions.certificates import FirstStepMargins, LargeFirstStep
from conditions.dataset import AttentionDataset
from conditions.exact.numbers import positive, round_dyadic, to_float
from conditions.excess_loss import Margins, compare, excess, open_reason, premises, rise
from conditions.gradient_at_zero import gradient_terms
from conditions.losses import ALL_LOSSES, CUBIC, MAX_PRECISION, check_loss, largest_slopes
from conditions.low_norm_limit import INFEASIBLE, separator
from conditions.selection import features, optimal_selection, score_order
from conditions.smoothness import rational_above, slope, within_range
from conditions.verdict import Status, Verdict, proved, undecided

CONDITION = "large_first_step"

_BITS = 20
_LEAST = fmpq(1, 1 << 20)


def decide(dataset: AttentionDataset, first_step: Any, step: Any, loss: str) -> Verdict:
    """Decide the condition for η₀ = *first_step*, η = *step*, both taken exactly, and *loss*.

    Raises ``InvalidInput`` unless both are positive.
    """
    first = positive(first_step, "first_step")
    descent = premises(CONDITION, dataset, "plain", step, loss)
    if isinstance(descent, Verdict):
        return descent
    separating = separator(dataset)
    if separating is None:
        return undecided(CONDITION, INFEASIBLE, loss=loss)
    found = compare(dataset, loss, _margins(dataset, loss, first), fmpq(1))
    if not found.below:
        return undecided(CONDITION, f"at W(1): {open_reason(found)}", loss=loss,
                         number=str(found))
    certificate = LargeFirstStep(first, descent.step, descent.beta, separating.W, found.precision)
    return proved(CONDITION, Status.HOLDS, certificate,
                  f"after a first step of {to_float(first):.6g}, n(L − L_*) = {found.excess} "
                  f"is below the cost {found.gap} of a second best token", loss=loss,
                  number=str(found))


def sufficient_first_step(dataset: AttentionDataset, loss: str) -> fmpq | None:
    """A rational η₀ such that it and every larger first step meet the inequality.

    It is (1/μ) log(Σ_i M_i Σ_t (γ_i(1) − γ_it) / min_i [ℓ(γ_i(2)) − ℓ(γ_i(1))]) rounded up, at
    least 2⁻²⁰: μ > 0 is the least margin of −∇L(0) and M_i the largest |ℓ'| on sample i's scores.
    None if −∇L(0) is not shown to separate, or scores are out of range. Raises ``InvalidInput``
    for an unknown loss. Source: docs/theory/global_limits.md.
    """
    check_loss(loss, ALL_LOSSES)
    if not within_range(dataset, loss):
        return None
    separates = first_step_separates.decide(dataset, loss).certificate
    if not isinstance(separates, FirstStepMargins):
        return None
    opt = optimal_selection(dataset)
    margins = _margins(dataset, loss, fmpq(1))
    precision = 2 * separates.precision
    while precision <= MAX_PRECISION:
        with ctx.workprec(precision):
            least = min(m.lower() for m in margins())
            gaps = [_gap(loss, scores[a], runner_up).lower()
                    for scores, a, runner_up in zip(dataset.scores, opt, _second(dataset),
                                                    strict=True)]
            if least > 0 and min(gaps) > 0:
                cost = sum((_steepest(loss, scores) * arb(sum(scores[a] - s for s in scores))
                            for scores, a in zip(dataset.scores, opt, strict=True)), arb(0))
                needed = rational_above((cost / min(gaps)).log() / least)
                # Rounding to 20 bits loses less than the factor gains.
                return round_dyadic(max(needed, _LEAST) * (1 + 2 * _LEAST), _BITS)
        precision *= 2
    return None


def _gap(loss: str, top: fmpq, second: fmpq) -> arb:
    """ℓ(second) − ℓ(top)."""
    if loss == CUBIC:
        return arb(top**3 - second**3)
    return excess(loss, rise(loss, top, arb(top - second)))


def _steepest(loss: str, scores: Sequence[fmpq]) -> arb:
    """The largest |ℓ'| on the range of the scores of a sample."""
    exact = largest_slopes(loss, min(scores), max(scores))
    return slope(loss, min(scores)) if exact is None else arb(exact[0])


def _margins(dataset: AttentionDataset, loss: str, first: fmpq) -> Margins:
    """The margins of −first·∇L(0) under opt."""
    phi = features(dataset, optimal_selection(dataset))
    scale = first / dataset.n
    columns = [(f, [scale * m for m in phi.margins(matrix)])
               for f, matrix in gradient_terms(dataset).items()]

    def evaluate() -> list[arb]:
        slopes = [(slope(loss, f), column) for f, column in columns]
        return [sum((weight * arb(column[k]) for weight, column in slopes), arb(0))
                for k in range(len(phi))]

    return evaluate


def _second(dataset: AttentionDataset) -> list[fmpq]:
    """γ_i(2), the second largest score of each sample."""
    return [scores[score_order(dataset, i)[1]] for i, scores in enumerate(dataset.scores)]
