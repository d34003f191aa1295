"""The cone of Definition 3, where a selection that is only locally optimal is the best one.

For α, low_i holds the tokens of smaller score than α_i, high_i the others. With b_i the least
margin of low_i, h_i that of high_i (∞ for none), v1 asks, for every i,

    max_{t ∈ low_i} min_{τ ∈ high_i} (x_it − x_iτ)ᵀ W z_i  =  h_i − b_i  ≥  ε‖W‖_F .

Where sample i puts no demand (𝒯_i empty) W^mm need not satisfy this for any ε, whatever v1's
Lemma 5 says: the least of its margins may be that of a high token, and low_i may even be empty. The
theorem needs less: high tokens must matter less than *some* low one. So the cone here is

    cone_ε(α) = {W : h_i ≥ min(b_i, max(0, min_j b_j)) + ε‖W‖_F for all i with high_i not empty}.

It contains v1's, and W^mm_α lies in it for small ε exactly if α is locally optimal; for opt, if
unique, it is the whole space. Proofs: docs/theory/path.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from conditions.dataset import AttentionDataset, FloatArray
from conditions.exact.numbers import to_float
from conditions.selection import Selection, features
from verifier.descent.loss import loss_named


@dataclass(frozen=True, eq=False)
class Cone:
    """cone_ε(α) by the margins of W, in the order of ``features(dataset, selection).rows``.

    ``low`` and ``high``, (N,), say what the tokens are; ``owner`` names the sample of each.
    """

    low: np.ndarray[tuple[int], np.dtype[np.bool_]]
    high: np.ndarray[tuple[int], np.dtype[np.bool_]]
    owner: np.ndarray[tuple[int], np.dtype[np.intp]]

    @classmethod
    def of(cls, dataset: AttentionDataset, selection: Selection) -> Cone:
        """The cone of α = *selection*; scores are compared exactly."""
        rows = features(dataset, selection).rows
        low = np.array([dataset.scores[i][t] < dataset.scores[i][selection[i]] for i, t in rows])
        return cls(low, ~low, np.array([i for i, _ in rows]))

    def _least(self, margins: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Of every sample b and h."""
        b, h = np.full((2, int(self.owner[-1]) + 1), math.inf)
        np.minimum.at(b, self.owner[self.low], margins[self.low])
        np.minimum.at(h, self.owner[self.high], margins[self.high])
        return b, h

    def slack(self, margins: FloatArray) -> float:
        """The largest ε‖W‖_F for which a W with these *margins* is in the cone; ±inf possible."""
        b, h = self._least(margins)
        barrier = np.minimum(b, max(0.0, float(b.min())))
        return _least_difference(h, barrier)

    def printed_slack(self, margins: FloatArray) -> float:
        """The same for the cone as v1 prints it."""
        b, h = self._least(margins)
        return _least_difference(h, b)


def _least_difference(h: FloatArray, barrier: FloatArray) -> float:
    demanding = h < math.inf
    return float((h[demanding] - barrier[demanding]).min()) if demanding.any() else math.inf


def inner_radius(dataset: AttentionDataset, selection: Selection, epsilon: float,
                 loss: str) -> float:
    """An R₀ with L > L_α at every W of cone_ε(α) with ‖W‖_F ≥ R₀; 0 where no token is high.

    R₀ = (1/ε) log(4nT(T+1)·(B/c)·(g⁺/g⁻)): B the largest Δ over high tokens in size, c the least
    over low ones, g^± the extremes of |ℓ'| over the range of the scores. Source: v1, Theorem 9
    (R₀ = O(1/ε)); proof in docs/theory/path.md.
    """
    gaps = _gaps(dataset, selection)
    low, high = gaps[gaps > 0], -gaps[gaps <= 0]
    if not high.size or not high.max() > 0:
        return 0.0
    if not low.size:
        return math.inf
    T = max(dataset.lengths)
    scores = np.array([to_float(g) for row in dataset.scores for g in row])
    slopes = loss_named(loss).log_slope(scores)
    return float(np.log(4 * dataset.n * T * (T + 1)) + np.log(high.max() / low.min())
                 + np.ptp(slopes)) / epsilon


def _gaps(dataset: AttentionDataset, selection: Selection) -> FloatArray:
    """Δ_it = γ_{iα_i} − γ_it of the rejected tokens."""
    return np.array([to_float(dataset.scores[i][selection[i]] - dataset.scores[i][t])
                     for i, t in features(dataset, selection).rows])
