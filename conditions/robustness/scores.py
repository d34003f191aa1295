"""Score gaps in a ball of datasets."""

from __future__ import annotations

from typing import Any

from flint import fmpq

from conditions.exact.numbers import to_float
from conditions.selection import Features, Row


def score_slack(phi: Features, row: Row, radius: Any) -> Any:
    """A lower bound of γ_{iα_i} − γ_it over the ball; of the type of *radius*.

    (δ + e)·(v + h) ≥ δ·v − 2ε‖v‖₁ − ε‖δ‖₁ − 2ε²d, entries of e at most 2ε and of h at most ε.
    """
    i, t = row
    dataset, a = phi.dataset, phi.selection[i]
    gap = dataset.scores[i][a] - dataset.scores[i][t]
    head = sum((abs(x) for x in dataset.head), fmpq(0))
    delta = sum((abs(x - y) for x, y in zip(dataset.tokens[i][a], dataset.tokens[i][t],
                                            strict=True)), fmpq(0))
    linear = 2 * head + delta
    if isinstance(radius, fmpq):
        return gap - radius * linear - 2 * radius * radius * dataset.d
    return to_float(gap) - radius * to_float(linear) - 2 * radius * radius * dataset.d
