"""The iterates of a report's run, replayed for its pictures: all of it observed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from conditions.dataset import AttentionDataset, FloatArray
from conditions.predicted_direction import correlation
from conditions.separation import nuclear
from conditions.separation.frobenius import Infeasible, solve
from verifier.certify import Report
from verifier.descent import FactoredRun, Run, descend

_KEPT = 60


@dataclass(frozen=True, eq=False)
class Trace:
    """K iterates of a run.

    ``steps`` (K,); ``W`` (K, d, d); ``attention``: per sample (K, T_i), the softmax weights;
    ``norms`` (K,), ‖W‖_F; ``direction`` (d, d): W^mm of the tokens selected (for a run on K and Q
    the nuclear optimum found), None where there is none; ``correlations`` (K,) with it.
    """

    steps: np.ndarray[tuple[int], np.dtype[np.int64]]
    W: FloatArray
    attention: tuple[FloatArray, ...]
    norms: FloatArray
    direction: FloatArray | None
    correlations: FloatArray | None


def trace(report: Report) -> Trace | None:
    """The trace of the report's run, at steps evenly spread in logarithm; None without a run."""
    run = report.run
    if run is None:
        return None
    last = run.iterations
    spread = {round(k) for k in np.geomspace(1, last, _KEPT)} if last else set[int]()
    replayed = _replay(report.dataset, run, sorted({0, *spread}))
    W = np.array([A for _, A in replayed.kept])
    direction = _direction(report.dataset, run)
    return Trace(
        np.array([k for k, _ in replayed.kept], dtype=np.int64), W,
        tuple(_weights(X, W, q) for X, q in zip(report.dataset.floats.tokens,
                                                report.dataset.floats.queries, strict=True)),
        np.linalg.norm(W, axis=(1, 2)), direction,
        None if direction is None else np.array([correlation(A, direction) for A in W]))


def _replay(dataset: AttentionDataset, run: Run, keep: list[int]) -> Run:
    start = (run.start_K, run.start_Q) if isinstance(run, FactoredRun) else run.start
    return descend(dataset, parameterization=run.parameterization, rule=run.rule, step=run.step,
                   penalty=run.penalty, loss=run.loss, iterations=run.iterations, start=start,
                   head=run.head, keep=keep)


def _direction(dataset: AttentionDataset, run: Run) -> FloatArray | None:
    if isinstance(run, FactoredRun):
        optimum = nuclear.solve(dataset, run.selected)
        return None if optimum is None or isinstance(optimum, Infeasible) else optimum.float_W
    outcome = solve(dataset, run.selected)
    return None if isinstance(outcome, Infeasible) else outcome.float_W


def _weights(X: FloatArray, W: FloatArray, query: FloatArray) -> FloatArray:
    logits = np.einsum("ta,kab,b->kt", X, W, query)
    weights = np.exp(logits - logits.max(axis=1, keepdims=True))
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))
