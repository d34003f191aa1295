"""What the drawings share: colours, bands, shares with their uncertainty."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas

from verifier.report.graph_picture import (
    BLACK,
    BLUE,
    GREEN,
    ORANGE,
    PURPLE,
    SKY,
    VERMILLION,
    Dashes,
)

__all__ = ["BLUE", "COLOURS", "GREEN", "MARKERS", "NUMERIC", "ORANGE", "SKY", "STYLE",
           "VERMILLION", "Dashes", "band", "mean_and_spread", "mean_curves", "panels",
           "share_interval"]

COLOURS = (BLUE, VERMILLION, GREEN, PURPLE, ORANGE, SKY)
"""Okabe and Ito's, for curves of one panel."""

MARKERS = ("o", "s", "^", "D", "v", "P")
NUMERIC = BLACK
"""Of what is decided by a tolerance, as in the paper."""

STYLE: dict[str, Any] = {
    "font.size": 9, "axes.titlesize": 9.5, "axes.labelsize": 9, "legend.fontsize": 8,
    "xtick.labelsize": 8, "ytick.labelsize": 8, "axes.grid": True, "grid.color": "#d9d9d9",
    "grid.linewidth": 0.6, "axes.axisbelow": True, "legend.framealpha": 0.9,
    "lines.linewidth": 1.4, "lines.markersize": 4, "axes.spines.top": False,
    "axes.spines.right": False}


def panels(canvas: Canvas, rows: int, columns: int, **options: Any) -> list[list[Axes]]:
    """A grid of axes, row by row."""
    return [list(row) for row in canvas.subplots(rows, columns, squeeze=False, **options)]


def band(axes: Axes, x: Sequence[float], mean: Sequence[float], spread: Sequence[float],
         colour: str, **options: Any) -> None:
    """A curve with a band of ± *spread*."""
    low, high = np.subtract(mean, spread), np.add(mean, spread)
    axes.fill_between(x, low, high, color=colour, alpha=0.15, linewidth=0)
    axes.plot(x, mean, color=colour, **options)


def share_interval(count: int, trials: int) -> tuple[float, float]:
    """Wilson's interval of 95% for a share, in 0..1."""
    if trials == 0:
        return 0.0, 1.0
    z, p = 1.959963984540054, count / trials
    centre = (p + z * z / (2 * trials)) / (1 + z * z / trials)
    half = z / (1 + z * z / trials) * np.sqrt(p * (1 - p) / trials + z * z / (4 * trials**2))
    # The end points of 0 and 1 are exact.
    return (0.0 if count == 0 else float(centre - half),
            1.0 if count == trials else float(centre + half))


def mean_and_spread(values: Sequence[float]) -> tuple[float | None, float | None]:
    """Mean and standard deviation; None of nothing."""
    if not values:
        return None, None
    return float(np.mean(values)), float(np.std(values))


def mean_curves(curves: Sequence[Sequence[float]], length: int
                ) -> tuple[list[float], list[float]]:
    """Mean and standard deviation at *length* steps.

    A curve that is shorter is that of a run which rests where it is: its last value is repeated.
    """
    table = np.array([[*curve, *[curve[-1]] * (length - len(curve))] for curve in curves])
    return table.mean(axis=0).tolist(), table.std(axis=0).tolist()
