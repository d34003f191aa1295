"""Does descent from W(0) = 0 come to a halt just before a zero of ℓ', off the line of W^mm_opt?

Statement
    Gradient descent on the cubic loss from W(0) = 0 with W(1) = −η₀∇L(0) and the constant step η
    from then on stays bounded and does not converge in direction to W^mm_opt.
Hypotheses
    One sample, opt unique and feasible, f(W(1)) < 0. In a ball around W(1) that the line of
    W^mm_opt misses, ‖∇f‖_F lies between two rationals for which no later step can leave the ball.
Certificate
    `stalled_descent` (holds); never fails.
Decision procedure
    W(1) and W^mm_opt are rational, softmax weights at W(1) are enclosed in balls; ∇f is Lipschitz
    with the constant of `conditions.smoothness`. Undecided when an inequality does not hold.
Reference
    docs/theory/stalled_descent.md: what Theorem 6 of arXiv 2308.16898 v1 needs ℓ' < 0 for.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from flint import arb, ctx, fmpq, fmpq_mat, fmpz

from conditions.certificates import StalledDescent
from conditions.dataset import AttentionDataset
from conditions.exact.numbers import positive, round_dyadic, to_float
from conditions.gradient_at_zero import exact_pull
from conditions.losses import ALL_LOSSES, CUBIC, check_loss
from conditions.selection import features, optimal_selection
from conditions.separation.frobenius import ExactSolution, solve_exactly
from conditions.smoothness import rational_above, rational_below, score_curvature
from conditions.unique_optimum import tie
from conditions.verdict import Status, Verdict, proved, undecided

CONDITION = "stalled_descent"

_PRECISION = 128
_BITS = 40
_SLACK = fmpq(1, fmpz(1) << 20)
_LENGTHS = (6, 8, 10, 12, 16, 20, 24, 32)
_DOUBLINGS, _HALVINGS = 40, 60


def decide(dataset: AttentionDataset, first_step: Any, step: Any, loss: str) -> Verdict:
    """Decide the condition for η₀ = *first_step*, η = *step*, both taken exactly, and *loss*.

    Raises ``InvalidInput`` unless both are positive.
    """
    check_loss(loss, ALL_LOSSES)
    eta_0, eta = (positive(x, name) for x, name in ((first_step, "first_step"), (step, "step")))
    if loss != CUBIC or dataset.n != 1:
        return undecided(CONDITION, "only the cubic loss of one sample is looked at", loss=loss)
    if tie(dataset) is not None:
        return undecided(CONDITION, "the optimal token is not unique", loss=loss)
    solution = solve_exactly(features(dataset, optimal_selection(dataset)))
    if not isinstance(solution, ExactSolution):
        return undecided(CONDITION, "Att-SVM(opt) is infeasible", loss=loss)
    first = _pull(dataset) * eta_0
    with ctx.workprec(_PRECISION):
        score, slope = score_and_slope(dataset, first)
        if not score < 0:
            return undecided(CONDITION, "f(W(1)) is not shown to be negative", loss=loss)
        # The root of a ball that reaches below 0 is NaN, and no comparison holds for it.
        if not slope > 0:
            return undecided(CONDITION, "∇f(W(1)) is not told from 0", loss=loss)
        size, low, high = rational_above(-score), rational_below(slope), rational_above(slope)
    H = score_curvature(dataset, 0)
    if not low * low > 8 * H * size:
        return undecided(CONDITION, "f(W(1)) is too far below 0 for the curvature of f", loss=loss)
    # ‖∇f‖ ≥ low/2 where H r ≤ low/2, and then 4|f|/low is far enough.
    radius = _rounded(4 * size / low * (1 + _SLACK))
    least = _rounded((low - H * radius) * (1 - _SLACK))
    largest = _rounded((high + H * radius) * (1 + _SLACK))
    if not (least > 0 and 2 * size <= least * radius and 9 * eta * size * largest * largest < 2):
        return undecided(CONDITION, "a later step may leave the ball, or pass the zero of the "
                         "score", loss=loss)
    line, entries = solution.W.entries(), first.entries()
    along = _dot(entries, line)
    if not _dot(entries, entries) - along * along / _dot(line, line) > radius * radius:
        return undecided(CONDITION, "the ball around W(1) may meet the line of W^mm_opt", loss=loss)
    certificate = StalledDescent(
        eta_0, eta, radius, least, largest, solution.certificate.multipliers, _PRECISION)
    return proved(CONDITION, Status.HOLDS, certificate,
                  f"W(k) stays within {to_float(radius):.3g} of W(1), where f = "
                  f"{to_float(-size):.3g} is just below the zero of ℓ'", loss=loss,
                  number=f"f(W(1)) = {to_float(-size):.3g}")


def stalling_first_step(dataset: AttentionDataset, least: fmpq, step: fmpq) -> fmpq | None:
    """A short η₀ ≥ *least* for which `decide` holds with η = *step*, or None where none is found.

    Floats look for the η₀ at which f(W(1)) rises to 0; it is cut off to more and more bits.
    """
    if dataset.n != 1:
        return None
    logits = [to_float(x) for x in _logits(dataset, _pull(dataset))]
    scores = [to_float(x) for x in dataset.scores[0]]

    def score(eta_0: float) -> float:
        weights = [math.exp(eta_0 * (h - max(logits))) for h in logits]
        return sum(w * s for w, s in zip(weights, scores, strict=True)) / sum(weights)

    low = to_float(least)
    high = next((low * 2.0**k for k in range(_DOUBLINGS) if score(low * 2.0**k) > 0), None)
    if high is None or score(low) >= 0:
        return None
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if score(middle) < 0 else (low, middle)
    for bits in _LENGTHS:
        mantissa, exponent = math.frexp(low)
        eta_0 = fmpq(*math.ldexp(math.floor(math.ldexp(mantissa, bits)),
                                 exponent - bits).as_integer_ratio())
        if eta_0 >= least and decide(dataset, eta_0, step, CUBIC).holds:
            return eta_0
    return None


def _rounded(x: fmpq) -> fmpq:
    """*x* to a relative 2^−`_BITS`, less than `_SLACK`."""
    return round_dyadic(x, _BITS)


def _pull(dataset: AttentionDataset) -> fmpq_mat:
    """−∇L(0) of one sample."""
    pull = exact_pull(dataset, CUBIC)
    assert pull is not None, "|ℓ'| is rational"
    return pull


def _logits(dataset: AttentionDataset, W: fmpq_mat) -> list[fmpq]:
    """x_tᵀ W z of the one sample."""
    pulled = W * fmpq_mat(dataset.d, 1, list(dataset.queries[0]))
    logits: list[fmpq] = (fmpq_mat([list(x) for x in dataset.tokens[0]]) * pulled).entries()
    return logits


def score_and_slope(dataset: AttentionDataset, W: fmpq_mat) -> tuple[arb, arb]:
    """f(W) and ‖∇f(W)‖_F of the one sample, in balls; ∇f = Σ_t s_t (γ_t − f) x_t zᵀ."""
    scores, tokens, query = dataset.scores[0], dataset.tokens[0], dataset.queries[0]
    logits = _logits(dataset, W)
    weights = [arb(h - max(logits)).exp() for h in logits]
    whole = sum(weights, arb(0))
    f = sum((w * arb(s) for w, s in zip(weights, scores, strict=True)), arb(0)) / whole
    pull = [sum((w * arb(x[a]) * (arb(s) - f) for w, s, x in zip(weights, scores, tokens,
                                                                 strict=True)), arb(0)) / whole
            for a in range(dataset.d)]
    square = sum((entry * entry for entry in pull), arb(0)) * arb(_dot(query, query))
    return f, square.sqrt()


def _dot(a: Sequence[fmpq], b: Sequence[fmpq]) -> fmpq:
    return sum((x * y for x, y in zip(a, b, strict=True)), fmpq(0))
