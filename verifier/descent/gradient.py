"""The gradient in log scale, sample by sample: the reference for the fast engines.

With α the argmax token of sample i under W (lowest index on ties), Δ_t = γ_α − γ_t,
Δ̄ = Σ_t s_t Δ_t = γ_α − f and φ_t = (x_α − x_t) zᵀ,

    −n ∇L(W) = Σ_i Σ_{t≠α} w_it φ_it,    w_it = |ℓ'(f_i)| s_it (Δ_it − Δ̄_i),
    log|w_it| = log|ℓ'(f_i)| + log s_it + log|Δ_it − Δ̄_i|.

The largest log|w_it| over all (i, t) is taken out before exponentiating, so nothing underflows
at any norm of W; what is left is the rounding of the logits, about u‖W‖‖x‖‖z‖, u = 2⁻⁵³.
Relative to the argmax nothing cancels as the softmax saturates; relative to another token
Δ_t − Δ̄ would round to 0. Where Δ_t = 0 the factor is |Δ̄| itself, a sum of exponentially small
terms, and its logarithm is taken of the scaled sum: with s_α ≈ s_t ≈ 1/2 and equal scores this is
as large as any other weight. Rows with φ = 0 have no weight: a zero query would otherwise set
the scale and hide all other samples.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from conditions.dataset import AttentionDataset, FloatArray
from conditions.exact.numbers import to_float
from verifier.descent.heads import LINEAR, LINEAR_HEAD, Head, tangent_scores
from verifier.descent.loss import loss_named


@dataclass(frozen=True, eq=False)
class LogGradient:
    """−n∇L(W) = e^{log_scale} · M.

    ``M`` is d × d, its largest |w_it| is 1 (M = 0 and ``log_scale`` = −inf if every weight is
    0); ``logits[i]`` holds the T_i logits x_itᵀ W z_i; ``n`` is the number of samples.
    """

    M: FloatArray
    log_scale: float
    logits: tuple[FloatArray, ...]
    n: int

    @property
    def value(self) -> FloatArray:
        """∇L(W), d × d; rounds to 0 where float64 underflows, ±inf where it overflows."""
        with np.errstate(over="ignore"):
            return np.asarray(-np.exp(self.log_scale) / self.n * self.M)

    @property
    def log_norm(self) -> float:
        """log‖∇L(W)‖_F; −inf if M = 0."""
        norm = float(np.linalg.norm(self.M))
        return self.log_scale + math.log(norm / self.n) if norm > 0 else -math.inf


def score_floats(dataset: AttentionDataset) -> tuple[FloatArray, ...]:
    """γ_it rounded once from the exact scores: equal scores are equal floats."""
    return tuple(np.array([to_float(score) for score in row]) for row in dataset.scores)


def gradient(dataset: AttentionDataset, W: FloatArray, loss: str = "logistic",
             head: Head = LINEAR_HEAD) -> LogGradient:
    """The gradient of L at W (d × d, finite) in log scale; see the module for the formula.

    With another head than the linear one the scores are its tangent scores at W. Raises
    ``InvalidInput`` for an unknown loss. Source: arXiv 2308.16898 v1, section 2.
    """
    slope = loss_named(loss).log_slope
    view = dataset.floats
    logits, logs, signs, features = [], [], [], []
    given = score_floats(dataset) if head.code == LINEAR else _tangents(dataset, W, head)
    for X, scores, z in zip(view.tokens, given, view.queries, strict=True):
        h = X @ (W @ z)
        log_weights, sign, alpha = _weights(h, scores, slope)
        differences = X[alpha] - X
        log_weights[~differences.any(axis=1) | ~z.any()] = -math.inf
        logits.append(h)
        logs.append(log_weights)
        signs.append(sign)
        features.append((differences, z))
    largest = max(float(part.max()) for part in logs)
    M = np.zeros((dataset.d, dataset.d))
    if largest > -math.inf:
        for log_weights, sign, (differences, z) in zip(logs, signs, features, strict=True):
            M += np.outer((sign * np.exp(log_weights - largest)) @ differences, z)
    return LogGradient(M, largest, tuple(logits), dataset.n)


def _tangents(dataset: AttentionDataset, W: FloatArray, head: Head) -> Iterator[FloatArray]:
    """The tangent scores of each sample at W."""
    outputs, view = head.outputs(dataset), dataset.floats
    for i, (X, z) in enumerate(zip(view.tokens, view.queries, strict=True)):
        h = X @ (W @ z)
        s = np.exp(h - h.max())
        yield tangent_scores(outputs, X[:1], (X - X[0])[None], (s / s.sum())[None], [i])[0]


def _weights(h: FloatArray, scores: FloatArray, slope: Callable[[FloatArray], FloatArray]
             ) -> tuple[FloatArray, FloatArray, int]:
    """log|w_t| (−inf at α), sign w_t and α, of one sample with logits *h*."""
    alpha = int(np.argmax(h))
    shifted = h - h[alpha]
    log_s = shifted - math.log(np.exp(shifted).sum())
    delta = scores[alpha] - scores
    differs = delta != 0
    if not differs.any():
        return np.full_like(h, -math.inf), np.zeros_like(h), alpha
    top = log_s[differs].max()
    scaled = float((np.exp(log_s[differs] - top) * delta[differs]).sum())
    shortfall = math.exp(top) * scaled
    factor = np.where(differs, delta - shortfall, -scaled)
    with np.errstate(divide="ignore"):
        log_factor = np.log(np.abs(factor)) + np.where(differs, 0.0, top)
    log_weights = slope(np.asarray(scores[alpha] - shortfall)) + log_s + log_factor
    log_weights[alpha] = -math.inf
    return log_weights, np.sign(factor), alpha
