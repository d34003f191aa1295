"""Datasets as padded float arrays, ready for an engine."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from conditions.dataset import AttentionDataset, FloatArray
from conditions.errors import Description, InvalidInput
from verifier.descent.gradient import score_floats

BoolArray = np.ndarray[Any, np.dtype[np.bool_]]

# Magnitudes within 2^±100 keep every product of the run inside float64, squares included.
_LARGEST = 2.0**100
LARGEST_NORM = 2.0**500
"""‖W‖_F up to which no logit overflows; a run stops before it would pass this."""


@dataclass(frozen=True, eq=False)
class PaddedDataset:
    """n samples of T tokens, padded.

    ``tokens`` (n, T, d) holds x_it − x_i0: only differences of logits and tokens matter, and
    an offset common to a sample's tokens would cost digits. ``scores`` (n, T) is γ_it,
    ``mask`` (n, T) is 0 for tokens and −inf for padding, ``queries`` (n, d), ``bases`` (n, d) the
    x_i0. Samples with a zero query never pull; their scores are set to 0, which says so, and
    ``live`` (n,) is False there.
    """

    tokens: FloatArray
    scores: FloatArray
    mask: FloatArray
    queries: FloatArray
    bases: FloatArray
    live: BoolArray

    @classmethod
    def of(cls, dataset: AttentionDataset) -> PaddedDataset:
        """*dataset* in floats, padded to its largest T_i."""
        view = dataset.floats
        n, T, d = dataset.n, max(dataset.lengths), dataset.d
        tokens, scores = np.zeros((n, T, d)), np.zeros((n, T))
        mask = np.full((n, T), -np.inf)
        for i, (X, gamma) in enumerate(zip(view.tokens, score_floats(dataset), strict=True)):
            tokens[i, :len(X)] = X - X[0]
            mask[i, :len(X)] = 0.0
            if view.queries[i].any():
                scores[i, :len(X)] = gamma
        return cls(tokens, scores, mask, view.queries, np.array([X[0] for X in view.tokens]),
                   np.asarray(view.queries.any(axis=1)))


def check_magnitudes(dataset: AttentionDataset, name: str) -> None:
    """Raise ``InvalidInput`` if the data are too large or too small for float64 products.

    name: of the dataset, empty where there is only one.
    """
    view = dataset.floats
    for part, values in (("X", np.concatenate(view.tokens)), ("z", view.queries),
                         ("v", view.head)):
        largest = float(np.abs(values).max())
        if largest != 0 and not 1 / _LARGEST <= largest <= _LARGEST:
            size = f"{largest:.3g}" if largest < math.inf else "beyond the range of floats"
            raise InvalidInput(f"{name}.{part}" if name else part,
                               Description(f"largest entry {size}"), "must have its largest entry "
                               "within 2^-100..2^100 for a run, or be 0",
                               "rescale the data: directions do not depend on it")
