"""The gradient and Hessian of nL in coordinates of the row space: in floats, and in balls.

With h^k_it = F_{i,t0,k}, under the weights s_i(y) = softmax(F_{i,t0}·y):
G_k = Σ_i |ℓ'(f_i)| Cov(h^k, γ) = −∂(nL)/∂y_k, and
J_km = Σ_i |ℓ'(f_i)| κ₃(h^k, h^m, γ) − ℓ''(f_i) Cov(h^k, γ) Cov(h^m, γ) = ∂G_k/∂y_m.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from flint import arb, arb_mat

from conditions.dataset import FloatArray
from conditions.stationary.coordinates import RowSpace


def float_slopes(loss: str, f: FloatArray) -> tuple[FloatArray, FloatArray]:
    """(|ℓ'(f)|, ℓ''(f)), elementwise."""
    if loss == "correlation":
        return np.ones_like(f), np.zeros_like(f)
    with np.errstate(over="ignore"):
        e = np.exp(-f)
        if loss == "exponential":
            return e, e
        s = 1.0 / (1.0 + np.exp(f))
    return s, s * (1.0 - s)


def float_gradient(space: RowSpace, loss: str,
                   y: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """(G, J, size) at points *y* (S, r): shapes (S, r), (S, r, r), (S,).

    ``size`` is Σ_i |ℓ'(f_i)| Σ_t s_it |γ_it − f_i| max |F|, a scale for G that decays with it.
    """
    logits = np.where(space.present, np.einsum("itr,sr->sit", space.float_logits, y), -np.inf)
    # Relative to the leading token nothing cancels where the others have little weight.
    lead = logits.argmax(axis=2)[:, :, None]
    logits -= np.take_along_axis(logits, lead, axis=2)
    s = np.exp(logits)
    s /= s.sum(axis=2, keepdims=True)
    n = np.arange(len(space.float_logits))[None, :, None]
    F = space.float_logits[None] - space.float_logits[n, lead]
    base = space.float_scores[n, lead]
    gamma = space.float_scores[None] - base
    f = (s * gamma).sum(axis=2)
    pull = s * (gamma - f[:, :, None])
    slope, curve = float_slopes(loss, f + base[:, :, 0])
    mean = np.einsum("sit,sitr->sir", s, F)
    cov = np.einsum("sit,sitr->sir", pull, F)
    G = np.einsum("si,sir->sr", slope, cov)
    centred = F - mean[:, :, None, :]
    weighted = centred * (slope[:, :, None] * pull)[..., None]
    J = np.einsum("sitk,sitm->skm", weighted, centred)
    J -= np.einsum("si,sik,sim->skm", curve, cov, cov)
    size = np.einsum("si,sit->s", slope, np.abs(pull)) * np.abs(space.float_logits).max()
    return G, J, size


def ball_slopes(loss: str, f: arb) -> tuple[arb, arb]:
    """(|ℓ'(f)|, ℓ''(f)) for a ball."""
    if loss == "correlation":
        return arb(1), arb(0)
    if loss == "exponential":
        e = (-f).exp()
        return e, e
    s = 1 / (1 + f.exp())
    return s, 1 / (2 + f.exp() + (-f).exp())


def ball_gradient(space: RowSpace, loss: str, y: Sequence[arb]) -> tuple[arb_mat, arb_mat]:
    """Enclosures of G (r × 1) and J (r × r) over the box *y*."""
    r = space.rank
    G = [arb(0)] * r
    J = [[arb(0)] * r for _ in range(r)]
    for sample, scores in zip(space.logits, space.dataset.scores, strict=True):
        if min(scores) == max(scores):
            continue
        F = [[arb(a) for a in row] for row in sample]
        gamma = [arb(a) for a in scores]
        s = ball_softmax([sum((a * b for a, b in zip(row, y, strict=True)), arb(0))
                          for row in F])
        f = _dot(s, gamma)
        slope, curve = ball_slopes(loss, f)
        pull = [a * (g - f) for a, g in zip(s, gamma, strict=True)]
        columns = list(zip(*F, strict=True))
        mean = [_dot(s, h) for h in columns]
        cov = [_dot(pull, h) for h in columns]
        centred = [[a - m for a in h] for h, m in zip(columns, mean, strict=True)]
        for k in range(r):
            G[k] += slope * cov[k]
            weighted = [a * b for a, b in zip(pull, centred[k], strict=True)]
            for m in range(k, r):
                J[k][m] += slope * _dot(weighted, centred[m]) - curve * cov[k] * cov[m]
    for k in range(r):
        for m in range(k):
            J[k][m] = J[m][k]
    return arb_mat(r, 1, G), arb_mat(J)


def ball_softmax(logits: Sequence[arb]) -> list[arb]:
    """The softmax of balls, 1/Σ_τ e^{a_τ − a_t}, so that no size overflows."""
    return [1 / sum(((b - a).exp() for b in logits), arb(0)) for a in logits]


def _dot(a: Sequence[arb], b: Sequence[arb]) -> arb:
    return sum((x * y for x, y in zip(a, b, strict=True)), arb(0))
