"""Float zeros of the gradient, suggested by Newton's method from seeded starts."""

from __future__ import annotations

import numpy as np

from conditions.dataset import FloatArray
from conditions.stationary.coordinates import RowSpace
from conditions.stationary.gradient import float_gradient

_STEP = 3.0
"""The largest Newton step, in logits."""
_ITERATIONS = 80
_SMALLEST, _LARGEST = 0.05, 40.0
"""The range of the largest logit at a start, drawn log-uniformly."""


def random_starts(space: RowSpace, count: int, seed: int) -> FloatArray:
    """0 and points of isotropic direction in the space of logits, (count, r)."""
    F = space.float_logits
    rng = np.random.default_rng(seed)
    _, singular, right = np.linalg.svd(F.reshape(-1, space.rank), full_matrices=False)
    # Logits out of the range of floats give starts that lead nowhere.
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        root = right.T / np.maximum(singular, singular.max() * 1e-9)
        y = np.asarray(rng.standard_normal((count, space.rank)) @ root.T)
        sizes = _logit_size(space, y)
        radii = np.exp(rng.uniform(np.log(_SMALLEST), np.log(_LARGEST), count))
        y *= (radii / np.maximum(sizes, 1e-300))[:, None]
    y[0] = 0.0
    return y


def zeros(space: RowSpace, loss: str, starts: FloatArray) -> FloatArray:
    """The float zeros of G that Newton's method reaches from *starts* (S, r), merged.

    Steps are limited in logits and shortened until ‖G‖ relative to the size of its terms falls.
    Most runs that escape to infinity, where G decays but the Newton step does not, are dropped.
    """
    with np.errstate(over="ignore", invalid="ignore", divide="ignore", under="ignore"):
        y, merit = _descend(space, loss, starts)
    good = np.isfinite(merit) & (merit < 1e-7) & np.all(np.isfinite(y), axis=1)
    return _distinct(space, y[good], merit[good])


def _descend(space: RowSpace, loss: str, starts: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The last points (S, r) and ‖G‖ relative to the size of its terms (S,)."""
    y = starts.copy()
    G, J, size = float_gradient(space, loss, y)
    running = np.ones(len(y), dtype=bool)
    for _ in range(_ITERATIONS):
        step = newton_steps(G, J)
        step *= np.minimum(1.0, _STEP / np.maximum(_logit_size(space, step), 1e-300))[:, None]
        merit = np.linalg.norm(G, axis=1) / size
        moving = running & (merit > 1e-14)
        running = np.zeros_like(running)
        for _ in range(6):
            k = np.flatnonzero(moving)
            if not len(k):
                break
            trial = y[k] + step[k]
            G_trial, J_trial, size_trial = float_gradient(space, loss, trial)
            better = np.linalg.norm(G_trial, axis=1) / size_trial < merit[k]
            k, accepted = k[better], np.flatnonzero(better)
            y[k], G[k], J[k], size[k] = (trial[accepted], G_trial[accepted], J_trial[accepted],
                                         size_trial[accepted])
            running[k], moving[k] = True, False
            step *= 0.3
        if not running.any():
            break
    return y, np.linalg.norm(G, axis=1) / size


def newton_steps(G: FloatArray, J: FloatArray) -> FloatArray:
    """−J⁺G for each point, by a pseudoinverse where J is nearly singular; (S, r)."""
    scale = np.abs(J).max(axis=(1, 2))
    usable = np.isfinite(scale) & (scale > 0) & np.all(np.isfinite(G), axis=1)
    step = np.zeros_like(G)
    if usable.any():
        inverse = np.linalg.pinv(J[usable] / scale[usable, None, None], rcond=1e-12,
                                 hermitian=True)
        step[usable] = -np.einsum("skm,sm->sk", inverse, G[usable]) / scale[usable, None]
    return step


def _logit_size(space: RowSpace, y: FloatArray) -> FloatArray:
    """The largest |F·y| over tokens, (S,)."""
    return np.asarray(np.abs(np.einsum("itr,sr->sit", space.float_logits, y)).max(axis=(1, 2)))


def _distinct(space: RowSpace, y: FloatArray, merit: FloatArray) -> FloatArray:
    """The best of each cluster, within 10⁻³ in logits; nearest to 0 first."""
    kept = np.zeros((0, space.rank))
    for k in np.argsort(merit, kind="stable"):
        if not len(kept) or _logit_size(space, kept - y[k]).min() > 1e-3:
            kept = np.vstack([kept, y[k]])
    return kept[np.argsort(_logit_size(space, kept), kind="stable")]
