"""Random datasets, each a pure function of where it stands in an experiment."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from conditions.dataset import AttentionDataset, FloatArray
from conditions.errors import InvalidInput


def unit_sphere_dataset(n: int, T: int, d: int, coordinates: Iterable[int]) -> AttentionDataset:
    """Data of n samples of T tokens; tokens, queries and head uniform on the unit sphere of R^d.

    Labels are 1 or −1 with equal chance. *coordinates*, integers ≥ 0, are the seed: the same
    numbers give the same dataset, whatever else was drawn before. Raises ``InvalidInput``. Source:
    arXiv 2308.16898 v1, section 3.
    """
    seed = list(coordinates)
    if any(c < 0 for c in seed):
        raise InvalidInput("coordinates", seed, "must be integers ≥ 0", "choose another seed")
    rng = np.random.default_rng(seed)

    def unit(*shape: int) -> FloatArray:
        x = rng.normal(size=shape)
        return np.asarray(x / np.linalg.norm(x, axis=-1, keepdims=True))

    return AttentionDataset.build(unit(n, T, d), rng.choice([-1.0, 1.0], n), unit(n, d), unit(d))
