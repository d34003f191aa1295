"""Small datasets with their local directions, and float descent that does not stall."""

from __future__ import annotations

import numpy as np

from conditions.dataset import AttentionDataset
from conditions.local_optimality import decide as local_optimality
from conditions.selection import optimal_selection
from verifier.descent.gradient import gradient

TWO = AttentionDataset.build([[[1, 0], [0, 0]], [[-2, 1], [0, 0]]], [1, 1], [[1, 0], [1, 0]],
                             [1, 3])
"""α = (0, 0) has W^mm = e₁e₁ᵀ + 3e₂e₁ᵀ, both rows supported; α = (0, 1) has e₁e₁ᵀ and a rival."""


def random_dataset(seed: int, n: int = 3, T: int = 4, d: int = 4) -> AttentionDataset:
    rng = np.random.default_rng(seed)
    return AttentionDataset.build(
        rng.integers(-4, 5, (n, T, d)) / 4, rng.choice([-1, 1], n),
        rng.integers(-4, 5, (n, d)) / 4, rng.integers(-3, 4, d))


def locally_optimal(count: int, **shape: int):
    """(dataset, α) with α = opt locally optimal, *count* of them by rising seeds."""
    found, seed = [], 0
    while len(found) < count:
        dataset = random_dataset(seed, **shape)
        alpha = optimal_selection(dataset)
        if local_optimality(dataset, alpha).holds:
            found.append((dataset, alpha))
        seed += 1
    return found


def step_along(dataset, W, rule, eta, loss):
    """One float step; a flow is imitated by a normalized step of 10⁻³."""
    g = gradient(dataset, W, loss)
    norm = np.linalg.norm(g.M)
    if rule == "plain":
        return W + eta * np.exp(g.log_scale) / dataset.n * g.M
    return W + (eta if rule == "normalized" else 1e-3) / norm * g.M
