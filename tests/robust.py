"""Datasets near others, for the tests of conditions about balls of datasets."""

from __future__ import annotations

import numpy as np
from flint import fmpq

from conditions import AttentionDataset
from verifier import io


def sphere(n, T, d, seed):
    """Unit tokens, queries and head; labels of both signs."""
    rng = np.random.default_rng(seed)

    def unit(*shape):
        x = rng.normal(size=shape)
        return x / np.linalg.norm(x, axis=-1, keepdims=True)

    return AttentionDataset.build(unit(n, T, d), [1 - 2 * (i % 2) for i in range(n)], unit(n, d),
                                  unit(d))


def moved(dataset, radius, rng):
    """A random corner of the ball: every entry of X, z and v moved by ±radius."""
    def corner(vector):
        return [x + radius * int(s) for x, s in
                zip(vector, rng.choice([-1, 1], size=len(vector)), strict=True)]

    return AttentionDataset.build([[corner(x) for x in sample] for sample in dataset.tokens],
                                  dataset.labels, [corner(q) for q in dataset.queries],
                                  corner(dataset.head))


def corners(dataset, radius, count, seed=0):
    """Random datasets of the ball: corners, and half-way to them."""
    rng = np.random.default_rng(seed)
    for k in range(count):
        yield moved(dataset, radius * fmpq(1, 1 + k % 2), rng)


PLANE = io.load_dataset("examples/data/plane_3_tokens.npz")
DATASETS = [PLANE, sphere(2, 3, 3, 0), sphere(3, 4, 5, 1), sphere(4, 3, 4, 2), sphere(2, 2, 2, 3)]
UNITS = AttentionDataset.build([[[1, 0], [0, 0]], [[0, 1], [0, 0]]], [1, 1], [[1, 0], [0, 1]],
                               [1, 1])


def at_scale(tokens, queries):
    """UNITS with tokens and queries multiplied by these floats."""
    return AttentionDataset.build([[[tokens, 0], [0, 0]], [[0, tokens], [0, 0]]], [1, 1],
                                  [[queries, 0], [0, queries]], [1, 1])


AT_THE_EDGE = [at_scale(tokens, queries) for tokens, queries in [
    (1e200, 1e200), (1e308, 1), (1e-160, 1), (1, 1e-160), (5e-324, 1), (1e-160, 1e-160)]]
"""Data whose products, or their inverses, are no floats."""
