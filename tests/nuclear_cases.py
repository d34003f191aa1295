"""Datasets for the tests about the nuclear norm."""

from __future__ import annotations

import json

import numpy as np

from conditions import AttentionDataset, Verdict
from verifier.certify import dataset_to_json, verdict_to_json
from verifier.kernel import check_text


def unit(rng, *shape):
    x = rng.normal(size=shape)
    return x / np.linalg.norm(x, axis=-1, keepdims=True)


def sphere(n, T, d, seed):
    """Tokens, queries and head uniform on the sphere."""
    rng = np.random.default_rng([n, T, d, seed])
    return AttentionDataset.build(unit(rng, n, T, d), rng.choice([-1.0, 1.0], n),
                                  unit(rng, n, d), unit(rng, d))


def integers(rng, n, T, d, size=2):
    return AttentionDataset.build(
        rng.integers(-size, size + 1, (n, T, d)), rng.choice([-1, 1], n),
        rng.integers(-size, size + 1, (n, d)), rng.integers(-size, size + 1, d))


def shape(rng):
    """n, d in 1..3 and T in 2..4."""
    n, T, d = (int(x) for x in rng.integers(1, 4, 3))
    return n, T + 1, d


def of_differences(differences, queries):
    """Sample i has the selected token 0 and the rejected tokens −δ; the selection is all 0."""
    d = len(queries[0])
    X = [[[0] * d, *[[-a for a in delta] for delta in sample]] for sample in differences]
    return AttentionDataset.build(X, [1] * len(X), queries, [1] + [0] * (d - 1))


# Feasible, and not by a matrix of rank one.
TWISTED = of_differences([[[1, 0], [0, 1]], [[1, 0], [0, -1]]], [[1, 0], [0, 1]])
# Features E11 and E22: optima I and the matrix of ones.
UNITS = of_differences([[[1, 0]], [[0, 1]]], [[1, 0], [0, 1]])


def accepted(data, verdict: Verdict) -> bool:
    """Whether the independent checker accepts the verdict."""
    document = {"format": "attsvm-certificate", "version": 1, "dataset": dataset_to_json(data),
                "run": None, "verdicts": [verdict_to_json(verdict)]}
    result = check_text(json.dumps(document))
    return bool(result.accepted and result.counts["proved"] == 1)
