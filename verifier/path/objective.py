"""log(L − L_α) as a function of the margins, with two derivatives, at any norm.

L_α = (1/n) Σ ℓ(γ_{iα_i}) is what the loss tends to where α is separated; on the scale of L it is
soon indistinguishable from L. With m_t the margins of a sample, Δ_t = γ_α − γ_t and
s_t = e^{−m_t}/(1 + Σ e^{−m}),

    δ = Σ_t s_t Δ_t = γ_α − f,    n (L − L_α) = Σ_i ψ_i(δ_i),    ψ(δ) = ℓ(γ_α − δ) − ℓ(γ_α),

no term of which cancels as the margins grow. The largest log s_t, a, is taken out of all: in s̃ = s
e^{−a}, δ̃ = δ e^{−a} and ψ/e^a = δ̃·ψ(δ)/δ nothing underflows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from conditions.dataset import AttentionDataset, FloatArray
from conditions.exact.numbers import to_float
from conditions.selection import Selection, features
from verifier.descent.loss import loss_named

_TINY = 1e-150
"""|δ| below which ψ(δ)/δ is ψ'(0), to rounding."""

_RISE: dict[str, Callable[[FloatArray, FloatArray], FloatArray]] = {
    "logistic": lambda gamma, delta: np.log1p(
        np.expm1(delta) * np.exp(-np.logaddexp(0.0, gamma))),
    "exponential": lambda gamma, delta: np.exp(-gamma) * np.expm1(delta),
    "correlation": lambda gamma, delta: delta,
}
"""ψ(δ) = ℓ(γ − δ) − ℓ(γ)."""

_CURVATURE: dict[str, Callable[[FloatArray], FloatArray]] = {
    "logistic": lambda slope: slope * (1 - slope),
    "exponential": lambda slope: slope,
    "correlation": lambda slope: 0 * slope,
}
"""ℓ'' from |ℓ'|."""


@dataclass(frozen=True, eq=False)
class Jet:
    """log(L − L_α) with its gradient (N,) and Hessian (N, N) in the margins."""

    value: float
    gradient: FloatArray
    hessian: FloatArray


class Objective:
    """log(L − L_α) by the margins m_it = ⟨φ_it, W⟩, in the order of ``features(…).rows``.

    Infinite where L ≤ L_α to rounding. The scores of samples with a zero query do not matter:
    their softmax never moves.
    """

    def __init__(self, dataset: AttentionDataset, selection: Selection, loss: str) -> None:
        rows = features(dataset, selection).rows
        self._n = dataset.n
        self._slope, self._loss = loss_named(loss).log_slope, loss
        self._owner = np.array([i for i, _ in rows])
        self._first = np.flatnonzero(np.diff(self._owner, prepend=-1))
        chosen = [dataset.scores[i][a] for i, a in enumerate(selection)]
        self._gamma = np.array([to_float(g) for g in chosen])
        self._gaps = np.array([to_float(chosen[i] - dataset.scores[i][t]) for i, t in rows])
        self._same = self._owner[:, None] == self._owner[None, :]

    @property
    def gaps(self) -> FloatArray:
        """Δ_it = γ_{iα_i} − γ_it, (N,)."""
        return self._gaps

    @property
    def flat(self) -> bool:
        """Whether every score equals that of the selected token of its sample: L is constant."""
        return not self._gaps.any()

    def limit(self) -> float:
        """L_α."""
        return float(loss_named(self._loss).value(self._gamma).mean())

    def value(self, margins: FloatArray) -> float:
        """log(L − L_α) at *margins* (N,)."""
        return self._parts(margins).value

    def jet(self, margins: FloatArray) -> Jet:
        """Value, gradient and Hessian at *margins* (N,), where the value is finite."""
        at = self._parts(margins)
        slope, curvature = at.slope[self._owner], at.curvature[self._owner]
        # x = Σψ/e^a: ∂δ̃/∂m = −s̃(Δ − δ), ∂²δ̃ = s̃(Δ − δ) on the diagonal, less s_t s̃_u(Δ_u − δ)
        # and its mirror image within a sample.
        pairs = np.outer(at.softmax, at.pull)
        hessian = -slope * (pairs + pairs.T)
        hessian += at.unit * np.outer(curvature * at.pull, at.pull)
        hessian[~self._same] = 0.0
        hessian[np.diag_indices_from(hessian)] += slope * at.pull
        gradient = -slope * at.pull / at.total
        return Jet(at.value, gradient, hessian / at.total - np.outer(gradient, gradient))

    def _parts(self, margins: FloatArray) -> _Parts:
        rivals = np.maximum(0.0, np.maximum.reduceat(-margins, self._first))
        weights = np.exp(-margins - rivals[self._owner])
        log_total = rivals + np.log(np.exp(-rivals) + np.add.reduceat(weights, self._first))
        logs = -margins - log_total[self._owner]
        top = float(np.max(logs, where=self._gaps != 0, initial=-np.inf))
        counts = self._gaps != 0
        share, unit = np.where(counts, np.exp(np.minimum(logs - top, 0.0)), 0.0), np.exp(top)
        scaled = np.add.reduceat(share * self._gaps, self._first)
        delta, softmax = unit * scaled, np.exp(logs)
        # Where Δ = 0, s̃(Δ − δ) = −s δ̃; s̃ alone could overflow there.
        pull = np.where(counts, share * (self._gaps - delta[self._owner]),
                        -softmax * scaled[self._owner])
        slope = np.exp(self._slope(self._gamma - delta))
        tiny = np.abs(delta) < _TINY
        rise = np.where(tiny, slope, _RISE[self._loss](self._gamma, delta)
                        / np.where(tiny, 1.0, delta))
        total = float((scaled * rise).sum())
        value = top + float(np.log(total / self._n)) if total > 0 else np.inf
        return _Parts(value, total, float(unit), softmax, pull, slope,
                      _CURVATURE[self._loss](slope))


@dataclass(frozen=True, eq=False)
class _Parts:
    """e^a, Σψ/e^a; by token s and s̃(Δ − δ), (N,); by sample |ℓ'| and ℓ'' at f."""

    value: float
    total: float
    unit: float
    softmax: FloatArray
    pull: FloatArray
    slope: FloatArray
    curvature: FloatArray
