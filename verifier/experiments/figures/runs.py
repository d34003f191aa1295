"""Descent on blocks of trials, as in the paper's experiments with a linear head."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from conditions.dataset import AttentionDataset, FloatArray
from conditions.selection import Features
from verifier.descent import Run, descend
from verifier.experiments.figures.figure import Settings
from verifier.experiments.samples import uniform_start

PARAMETERIZATIONS = ("W", "KQ")

PENALTY = 2.0**-52
"""λ of the published code for K and Q, whose loss is L + λ(‖K‖² + ‖Q‖²). For W there is none."""

DESCENT = {"step": 0.1, "iterations": 2000, "penalty": PENALTY}
"""Settings of normalized descent on the logistic loss; the penalty is for K and Q."""

_START = 1


def runs(datasets: Sequence[AttentionDataset], coordinates: Sequence[Sequence[int]],
         parameterization: str, settings: Settings, *, m: int | None = None,
         keep: Sequence[int] = ()) -> list[Run]:
    """One run a dataset, from a start that belongs to its *coordinates*, d or *m* columns wide."""
    starts = [uniform_start(data.d, data.d if m is None else m, (*each, _START))
              for data, each in zip(datasets, coordinates, strict=True)]
    whole = parameterization == "W"
    return descend(datasets, parameterization=parameterization, step=settings["step"],
                   penalty=0.0 if whole else settings["penalty"], keep=keep, threads=1,
                   start=[W for W, _ in starts] if whole else starts,
                   iterations=settings["iterations"])


def largest_softmax(dataset: AttentionDataset, W: FloatArray) -> float:
    """The mean over the samples of max_t softmax(X_i W z_i)_t."""
    view = dataset.floats
    logits = [X @ (W @ z) for X, z in zip(view.tokens, view.queries, strict=True)]
    return float(np.mean([1 / np.exp(each - each.max()).sum() for each in logits]))


def float_margins(phi: Features, W: FloatArray) -> FloatArray:
    """⟨φ_it, W⟩ of the rejected tokens, in float64."""
    return np.asarray(((phi.float_differences @ W) * phi.float_queries).sum(axis=1))
