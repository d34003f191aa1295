"""The gradients of a batch of datasets, in floats, and short descents along them."""

from __future__ import annotations

import numpy as np

from conditions.dataset import FloatArray
from conditions.losses import CUBIC
from verifier.search.batch import Batch, BoolArray, IntArray


class Field:
    """−n∇L of a batch as a function of W, whose columns of zeros are left out.

    ``rows`` (B × n × T × m) are the matrices x_it z_iᵀ, flattened; W and gradients are B × m.
    """

    def __init__(self, batch: Batch, loss: str) -> None:
        B, (n, T, d) = len(batch), batch.size
        scale = float(batch.denominator) ** 2
        rows = np.einsum("bntd,bne->bntde", batch.tokens, batch.queries) / scale
        rows = rows.reshape(B, n, T, d * d)
        used = np.abs(rows).max(axis=(0, 1, 2), initial=0.0) > 0
        self.rows, self.loss = np.ascontiguousarray(rows[..., used]), loss
        self.scores = batch.scores / scale
        self.gaps = self.scores[:, :, :, None] - self.scores[:, :, None, :]

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def width(self) -> int:
        """m, the numbers of W that matter."""
        return int(self.rows.shape[3])

    def take(self, chosen: BoolArray | IntArray) -> Field:
        """The field of the datasets at *chosen*."""
        part = object.__new__(Field)
        part.rows, part.loss = self.rows[chosen], self.loss
        part.scores, part.gaps = self.scores[chosen], self.gaps[chosen]
        return part

    @property
    def spread(self) -> FloatArray:
        """About the largest ‖(x_it − x_iτ) z_iᵀ‖, B."""
        width = self.rows.max(axis=2, initial=-np.inf) - self.rows.min(axis=2, initial=np.inf)
        return np.asarray(np.linalg.norm(width, axis=2).max(axis=1, initial=0.0))

    def logits(self, W: FloatArray) -> FloatArray:
        """x_itᵀ W z_i, B × n × T."""
        return np.asarray(np.einsum("bntm,bm->bnt", self.rows, W))

    def pull(self, W: FloatArray) -> FloatArray:
        """−n∇L(W), B × m."""
        return np.asarray(np.einsum("bnt,bntm->bm", self._weights(W), self.rows))

    def pull_size(self, W: FloatArray) -> FloatArray:
        """How large −n∇L(W) would be if its terms did not cancel, B."""
        return np.asarray(np.abs(self._weights(W)).sum(axis=(1, 2)) * self.spread)

    def _weights(self, W: FloatArray) -> FloatArray:
        logits = self.logits(W)
        weights = np.exp(logits - logits.max(axis=2, keepdims=True))
        weights /= weights.sum(axis=2, keepdims=True)
        f = (weights * self.scores).sum(axis=2, keepdims=True)
        # γ_t − f from differences, so that a saturated token keeps its small pull.
        lead = np.einsum("bntu,bnu->bnt", self.gaps, weights)
        return np.asarray(weights * lead * _slope(self.loss, f))


def _slope(loss: str, f: FloatArray) -> FloatArray | float:
    if loss == "correlation":
        return 1.0
    if loss == CUBIC:
        return 3 * f * f
    return np.exp(-f) if loss == "exponential" else 1 / (1 + np.exp(np.minimum(f, 700.0)))


def follow(field: Field, W: FloatArray, steps: int, step: float = 0.15) -> FloatArray:
    """W after *steps* steps along −∇L, none of which moves a margin by more than about *step*."""
    length = (step / np.maximum(field.spread, 1e-30))[:, None]
    for _ in range(steps):
        pull = field.pull(W)
        W = W + length * pull / np.maximum(np.linalg.norm(pull, axis=1, keepdims=True), 1e-300)
    return W


def settled(field: Field, W: FloatArray) -> BoolArray:
    """The loss is so low that descent must converge to W^mm_opt (low-norm limit)."""
    logits = field.logits(W)
    weights = np.exp(logits - logits.max(axis=2, keepdims=True))
    weights /= weights.sum(axis=2, keepdims=True)
    best, second = np.sort(field.scores, axis=2)[:, :, [-1, -2]].transpose(2, 0, 1)
    deficit = best - (weights * field.scores).sum(axis=2)

    def excess(D: FloatArray) -> FloatArray:
        if field.loss == "correlation":
            return D
        rise = np.exp(np.minimum(-best, 700.0)) * np.expm1(np.minimum(D, 700.0))
        if field.loss == "exponential":
            return np.asarray(rise)
        return np.asarray(np.log1p(rise / (1 + np.exp(np.minimum(-best, 700.0)))))

    return np.asarray(excess(deficit).sum(axis=1) < excess(best - second).min(axis=1))
