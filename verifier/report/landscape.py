"""Pictures of the loss over the row space of the features, with its proved stationary points.

For datasets whose features span one or two dimensions: samples of one shared query in the plane,
for instance. A rendering; what is proved comes from `conditions.stationary.krawczyk`.
"""

from __future__ import annotations

import io
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from conditions.dataset import AttentionDataset, FloatArray
from conditions.errors import InvalidInput
from conditions.losses import check_loss
from conditions.stationary.coordinates import RowSpace, row_space
from conditions.stationary.krawczyk import StationaryPoint
from verifier.io.files import write_atomically

# Okabe and Ito's colours; shapes differ too.
_MARKS = {"local minimum": ("v", "#009e73"), "local maximum": ("^", "#d55e00"),
          "saddle": ("X", "#cc79a7"), "stationary point": ("o", "#000000")}
_METADATA: dict[str, dict[str, Any]] = {".svg": {"Date": None}, ".png": {}}
_GRID = 161


def export_landscape(dataset: AttentionDataset, loss: str, points: Sequence[StationaryPoint],
                     path: str | os.PathLike[str]) -> None:
    """Write the loss around 0 and *points* to a ``.png`` or ``.svg`` file.

    The axes are orthonormal coordinates of W in the row space, so distances are those of ‖·‖_F.
    Raises ``InvalidInput`` for another suffix, for a row space of dimension other than 1 or 2, and
    where the file cannot be written.
    """
    check_loss(loss)
    suffix = Path(path).suffix.lower()
    if suffix not in _METADATA:
        raise InvalidInput("output file", str(path), "must end in .png or .svg",
                           "choose one of these suffixes")
    space = row_space(dataset)
    if space.rank not in (1, 2):
        raise InvalidInput("dataset", dataset,
                           f"its features span {space.rank} dimensions; a picture shows 1 or 2",
                           "choose samples that share a query, or fewer tokens")
    with mpl.rc_context({"svg.hashsalt": dataset.fingerprint}):
        figure = Figure(figsize=(5.6, 4.4), layout="constrained")
        FigureCanvasAgg(figure)
        axes = figure.add_subplot()
        axis = _axes(space)
        marked = [(axis @ point.W.reshape(-1), point.kind) for point in points]
        half = 1.5 * max((float(np.abs(at).max()) for at, _ in marked), default=0.0)
        half = half or 6.0 / float(np.abs(_rates(dataset, axis)).max())
        (_curve if space.rank == 1 else _contours)(axes, dataset, loss, axis, half, marked)
        axes.set_title(f"{loss} loss on the row space of the features")
        buffer = io.BytesIO()
        figure.savefig(buffer, format=suffix[1:], dpi=150, metadata=_METADATA[suffix])
    write_atomically(path, buffer.getvalue())


def _axes(space: RowSpace) -> FloatArray:
    """An orthonormal basis of the row space, (r, d²)."""
    view = space.dataset.floats
    stack = np.array([np.outer(view.tokens[i][0] - view.tokens[i][t], view.queries[i]).reshape(-1)
                      for i, t in space.basis])
    q, _ = np.linalg.qr(stack.T)
    # The sign of a column is the library's choice; this one is ours.
    lead = q[np.abs(q).argmax(axis=0), np.arange(q.shape[1])]
    return np.asarray((q * np.sign(lead)).T)


def _rates(dataset: AttentionDataset, axis: FloatArray) -> FloatArray:
    """The logits of all tokens along each axis, (tokens, r)."""
    view = dataset.floats
    rows = [np.outer(x - tokens[0], z).reshape(-1)
            for tokens, z in zip(view.tokens, view.queries, strict=True) for x in tokens]
    return np.array(rows) @ axis.T


def loss_values(dataset: AttentionDataset, loss: str, axis: FloatArray,
                at: FloatArray) -> FloatArray:
    """L at W = Σ at_k axis_k, for *at* of shape (S, r), in float64."""
    view = dataset.floats
    rates = np.split(_rates(dataset, axis), np.cumsum(dataset.lengths)[:-1])
    total = np.zeros(len(at))
    for tokens, label, F in zip(view.tokens, view.labels, rates, strict=True):
        logits = at @ F.T
        s = np.exp(logits - logits.max(axis=1, keepdims=True))
        f = label * (s @ (tokens @ view.head)) / s.sum(axis=1)
        total += {"logistic": np.logaddexp(0.0, -f), "exponential": np.exp(-f),
                  "correlation": -f}[loss]
    return np.asarray(total / dataset.n)


Marked = Sequence[tuple[FloatArray, str]]


def _curve(axes: Axes, dataset: AttentionDataset, loss: str, axis: FloatArray, half: float,
           marked: Marked) -> None:
    """The loss on a line."""
    x = np.linspace(-half, half, 4 * _GRID)
    axes.plot(x, loss_values(dataset, loss, axis, x[:, None]), color="#0072b2")
    heights = [float(loss_values(dataset, loss, axis, at[None])[0]) for at, _ in marked]
    _mark(axes, [(np.array([at[0], y]), kind)
                 for (at, kind), y in zip(marked, heights, strict=True)])
    axes.set_xlabel("W along the features")
    axes.set_ylabel("L(W)")


def _contours(axes: Axes, dataset: AttentionDataset, loss: str, axis: FloatArray, half: float,
              marked: Marked) -> None:
    """Level lines of the loss in a plane."""
    x = np.linspace(-half, half, _GRID)
    grid = np.stack(np.meshgrid(x, x), axis=-1)
    values = loss_values(dataset, loss, axis, grid.reshape(-1, 2)).reshape(_GRID, _GRID)
    # Levels by rank: the interesting part of a saturating loss is flat.
    levels = np.unique(np.quantile(values, np.linspace(0.01, 0.99, 25)))
    if len(levels) > 1:
        filled = axes.contourf(x, x, values, levels=levels, cmap="cividis", extend="both")
        axes.contour(x, x, values, levels=levels, colors="white", linewidths=0.4)
        axes.figure.colorbar(filled, ax=axes, label="L(W)")
    _mark(axes, marked)
    axes.set_aspect("equal")
    axes.set_xlabel("first coordinate of W")
    axes.set_ylabel("second coordinate of W")


def _mark(axes: Axes, marked: Marked) -> None:
    """One series per kind of point."""
    for kind, (shape, colour) in _MARKS.items():
        places = [at for at, other in marked if other == kind]
        if places:
            axes.scatter([p[0] for p in places], [p[1] for p in places], marker=shape, s=70,
                         color=colour, edgecolors="white", label=f"{kind} (proved)", zorder=3)
    if marked:
        axes.legend(loc="best")
