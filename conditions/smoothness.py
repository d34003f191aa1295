"""How fast the gradient of L can turn: a certified smoothness constant, and that of Lemma 4.

`smoothness` gives a rational β with ‖∇L(W) − ∇L(W')‖_F ≤ β‖W − W'‖_F for all W, W':

    β = (1/n) Σ_i ‖z_i‖² d_i²/4 · (R_i M_i + R_i² N_i/4),

d_i the largest distance of two tokens, R_i the range of the scores of sample i, and M_i, N_i the
largest |ℓ'|, |ℓ''| on it. `lemma4_constant` encloses the constant L_W of the paper; β ≤ L_W/4.
Source: docs/theory/global_limits.md; arXiv 2308.16898 v1, Lemma 4.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
from flint import arb, arb_mat, ctx, fmpq, fmpq_mat, fmpz

from conditions.dataset import AttentionDataset, Vector
from conditions.errors import InvalidInput
from conditions.exact.numbers import to_float
from conditions.losses import (
    ALL_LOSSES,
    MAX_SCORE,
    check_loss,
    exact_slope,
    largest_slopes,
)

_PRECISION = 128
_SLACK = fmpq(1, fmpz(1) << 60)
"""Relative, on every rounded M_i and N_i, so that a checker with other rounding agrees."""


def rational_above(value: arb) -> fmpq:
    """The upper end of the ball *value*, exact. Raises ``ValueError`` if it is not finite."""
    mantissa, exponent = value.upper().man_exp()
    return _dyadic(mantissa, exponent)


def rational_below(value: arb) -> fmpq:
    """The lower end of the ball *value*, exact. Raises ``ValueError`` if it is not finite."""
    mantissa, exponent = value.lower().man_exp()
    return _dyadic(mantissa, exponent)


def _dyadic(mantissa: fmpz, exponent: fmpz) -> fmpq:
    shift = int(exponent)
    return fmpq(mantissa << shift) if shift >= 0 else fmpq(mantissa, fmpz(1) << -shift)


def within_range(dataset: AttentionDataset, loss: str) -> bool:
    """Whether no score is too large for e^score to be evaluated, if it has to be."""
    return exact_slope(loss, fmpq(0)) is not None or all(
        abs(score) <= MAX_SCORE for scores in dataset.scores for score in scores)


def slope(loss: str, score: fmpq) -> arb:
    """|ℓ'(score)|, enclosed at the current precision of python-flint's context."""
    exact = exact_slope(loss, score)
    if exact is not None:
        return arb(exact)
    return (-arb(score)).exp() if loss == "exponential" else 1 / (1 + arb(score).exp())


def smoothness(dataset: AttentionDataset, loss: str) -> fmpq:
    """A rational β ≥ every Hessian of L, exactly the formula above where |ℓ'| is rational.

    For the logistic and the exponential loss |ℓ'| and |ℓ''| are rounded up, by less than 2⁻⁵⁹ of
    their size. Gradient descent with a constant step below 2/β never increases L. Raises
    ``InvalidInput`` if, for these two, a score exceeds 100,000 in size, and for an unknown loss.

    >>> smoothness(AttentionDataset.build([[[1], [0]]], [1], [[2]], [1]), "correlation")
    1
    """
    _check(dataset, loss)
    total = fmpq(0)
    for i, (query, scores) in enumerate(zip(dataset.queries, dataset.scores, strict=True)):
        low, high = min(scores), max(scores)
        spread = high - low
        if spread == 0:
            continue
        M, N = _rounded_bounds(loss, low, high)
        reach = _diameter_squared(dataset, i) * _square(query)
        total += reach / 4 * (spread * M + spread * spread / 4 * N)
    return total / dataset.n


def score_curvature(dataset: AttentionDataset, i: int) -> fmpq:
    """R_i d_i² ‖z_i‖²/4, a Lipschitz constant of the gradient of f_i in W."""
    scores = dataset.scores[i]
    return (_diameter_squared(dataset, i) * _square(dataset.queries[i])
            * (max(scores) - min(scores)) / 4)


def lemma4_constant(dataset: AttentionDataset, loss: str) -> tuple[fmpq, fmpq]:
    """Rational bounds lower ≤ L_W ≤ upper of the smoothness constant of Lemma 4.

    L_W = (1/n) Σ_i ‖v‖ ‖z_i‖² ‖X_i‖³ (M₀‖v‖‖X_i‖ + 3M₁), spectral norms, M₁ and M₀ the largest |ℓ'|
    and |ℓ''| on the range of all scores of the dataset. The bounds agree to about ten digits.
    Raises like `smoothness`. Source: arXiv 2308.16898 v1, Lemma 4.
    """
    _check(dataset, loss)
    low = min(min(scores) for scores in dataset.scores)
    high = max(max(scores) for scores in dataset.scores)
    with ctx.workprec(_PRECISION):
        M1, M0 = _bounds(loss, low, high)
        head = arb(_square(dataset.head)).sqrt()
        total = arb(0)
        for tokens, query in zip(dataset.tokens, dataset.queries, strict=True):
            size = spectral_norm(tokens)
            total += arb(_square(query)) * size**3 * (M0 * head * size + 3 * M1)
        total *= head / dataset.n
        return max(rational_below(total), fmpq(0)), rational_above(total)


def spectral_norm(rows: Sequence[Vector]) -> arb:
    """An enclosure of the spectral norm of the matrix with these rational rows.

    With G its Gram matrix and V any square matrix with e = ‖VᵀV − I‖_∞ < 1, V is invertible and
    max_k (VᵀGV)_kk/(VᵀV)_kk ≤ λ_max(G) ≤ ‖VᵀGV‖_∞/(1 − e). Floats suggest V, balls do the rest.
    """
    matrix = fmpq_mat([list(row) for row in rows])
    tall = matrix.nrows() > matrix.ncols()
    gram = matrix.transpose() * matrix if tall else matrix * matrix.transpose()
    size = gram.nrows()
    trace = sum((gram[k, k] for k in range(size)), fmpq(0))
    if trace == 0:
        return arb(0)
    gram /= trace
    floats = np.array([to_float(x) for x in gram.entries()]).reshape(size, size)
    V = arb_mat(np.linalg.eigh(floats)[1].tolist())
    with ctx.workprec(_PRECISION):
        turned = V.transpose() * arb_mat(gram) * V
        square = V.transpose() * V
        lower = max((turned[k, k] / square[k, k]).lower() for k in range(size))
        error = _row_sum_norm(square - arb_mat(size, size, 1))
        upper = (_row_sum_norm(turned) / (1 - error)).upper()
        return arb((arb(trace) * lower.union(upper)).sqrt())


def _row_sum_norm(matrix: arb_mat) -> arb:
    """An upper bound of ‖matrix‖_∞, exact as a number."""
    return max(sum((abs(x) for x in row), arb(0)).upper() for row in matrix.tolist())


def _check(dataset: AttentionDataset, loss: str) -> None:
    check_loss(loss, ALL_LOSSES)
    if not within_range(dataset, loss):
        raise InvalidInput("scores", max((s for row in dataset.scores for s in row), key=abs),
                           f"must lie within ±{MAX_SCORE:,} for the {loss} loss",
                           "rescale the head, or use the correlation loss")


def _bounds(loss: str, low: fmpq, high: fmpq) -> tuple[arb, arb]:
    """The largest |ℓ'| and |ℓ''| on [low, high], enclosed."""
    exact = largest_slopes(loss, low, high)
    if exact is not None:
        return arb(exact[0]), arb(exact[1])
    steepest = slope(loss, low)
    if loss == "exponential":
        return steepest, steepest
    # ℓ'' = σ(1 − σ) is even and falls away from 0.
    if low <= 0 <= high:
        return steepest, arb(1) / 4
    nearest = min(abs(low), abs(high))
    return steepest, slope(loss, nearest) * slope(loss, -nearest)


def _rounded_bounds(loss: str, low: fmpq, high: fmpq) -> tuple[fmpq, fmpq]:
    """Rationals at least as large as `_bounds`, equal to them where those are rational."""
    exact = largest_slopes(loss, low, high)
    if exact is not None:
        return exact
    with ctx.workprec(_PRECISION):
        M, N = (rational_above(bound) * (1 + _SLACK) for bound in _bounds(loss, low, high))
    if loss == "logistic" and low <= 0 <= high:
        N = fmpq(1, 4)
    return M, N


def _square(vector: Vector) -> fmpq:
    return sum((a * a for a in vector), fmpq(0))


def _diameter_squared(dataset: AttentionDataset, i: int) -> fmpq:
    """The largest squared distance of two tokens of sample i."""
    tokens = dataset.integers.tokens[i]
    gram = (tokens * tokens.transpose()).tolist()
    largest = max(gram[t][t] + gram[s][s] - 2 * gram[t][s]
                  for t, s in combinations(range(len(gram)), 2))
    return fmpq(largest, dataset.integers.token_scale**2)
