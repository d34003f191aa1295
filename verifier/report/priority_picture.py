"""Pictures of token-priority graphs, condensed, above the curves of a run against prediction."""

from __future__ import annotations

import io
import os
from collections.abc import Sequence
from pathlib import Path as FilePath
from typing import Any

import matplotlib as mpl
import networkx as nx
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch
from matplotlib.path import Path

from conditions.errors import InvalidInput
from conditions.priority_graph import PriorityGraph
from verifier.io.files import write_atomically
from verifier.priority import PriorityReport
from verifier.report.graph_layout import BOX_HEIGHT, Layout, layout
from verifier.report.graph_picture import BLACK, BLUE, GREEN, VERMILLION, smooth, text_width
from verifier.report.priority import condensed

DRAWN_GRAPHS = 3
_SUFFIXES = (".svg", ".png", ".pdf")
_METADATA: dict[str, dict[str, Any]] = {
    ".svg": {"Date": None}, ".pdf": {"CreationDate": None}, ".png": {}}
_GREY, _PALE_YELLOW, _WHITE = "#8c8c8c", "#fbf6bf", "#ffffff"
_FONT_SIZE, _SHOWN_NAMES, _LONGEST_NAME = 9.0, 3, 24
_TITLE, _GAP, _CURVES, _LEAST_WIDTH, _PIXELS = 0.4, 0.25, 2.6, 7.5, 20_000


def check_suffix(path: str | os.PathLike[str]) -> None:
    """Raise ``InvalidInput`` unless *path* has the suffix of a picture that can be written."""
    if FilePath(path).suffix.lower() not in _SUFFIXES:
        raise InvalidInput("--out", str(path), f"must end in {', '.join(_SUFFIXES)}",
                           "choose one of these suffixes")


def export_priority(found: PriorityReport, path: str | os.PathLike[str],
                    graphs: Sequence[PriorityGraph]) -> None:
    """Draw *graphs* and, if there was a run, its comparison into *path*.

    Every box is a component, yellow if it has several tokens; an arrow leads to what has less
    priority, with transitive arrows left out. Raises ``InvalidInput`` for another suffix than .svg,
    .png and .pdf, and where the file cannot be written.
    """
    check_suffix(path)
    write_atomically(path, draw_priority(found, FilePath(path).suffix.lower(), graphs))


def draw_priority(found: PriorityReport, suffix: str, graphs: Sequence[PriorityGraph]) -> bytes:
    """The content of the picture file; see `export_priority`."""
    settings = {**mpl.rcParamsDefault, "svg.hashsalt": "attention-svm-verifier",
                "font.size": _FONT_SIZE, "pdf.fonttype": 42}
    settings.pop("backend")
    with mpl.rc_context(settings):
        labels = [[component_label(members, found.tokens.names) for members in graph.components]
                  for graph in graphs]
        plans = [_plan(graph, texts) for graph, texts in zip(graphs, labels, strict=True)]
        width = max([_LEAST_WIDTH, *(plan.width for plan in plans)]) + 2 * _GAP
        curves = _CURVES + 3 * _GAP if found.comparisons else 0.0
        height = sum(plan.height + _TITLE + _GAP for plan in plans) + curves
        figure = Figure(figsize=(width, height), facecolor="white")
        FigureCanvasAgg(figure)
        top = height
        for graph, plan, texts in zip(graphs, plans, labels, strict=True):
            top -= plan.height + _TITLE
            axes = figure.add_axes((_GAP / width, top / height, plan.width / width,
                                    plan.height / height))
            _draw_graph(axes, graph, plan, texts)
            figure.text(_GAP / width, (top + plan.height + 0.12) / height,
                        _title(found, graph), fontsize=_FONT_SIZE + 1)
            top -= _GAP
        if found.comparisons:
            _draw_curves(figure, found, width, height)
        buffer = io.BytesIO()
        figure.savefig(buffer, format=suffix[1:], dpi=min(120.0, _PIXELS / max(width, height)),
                       metadata=_METADATA[suffix])
    return buffer.getvalue()


def component_label(members: Sequence[int], names: Sequence[str]) -> str:
    """The names in a box: at most three, each cut to 24 characters, joined by =."""
    shown = [name if len(name) <= _LONGEST_NAME else name[:_LONGEST_NAME - 1] + "…"
             for name in (names[k] for k in members[:_SHOWN_NAMES])]
    hidden = len(members) - len(shown)
    text = " = ".join(shown) + (f" = … +{hidden}" if hidden else "")
    # Dollars would start a formula.
    return text.replace("$", r"\$")


def _title(found: PriorityReport, graph: PriorityGraph) -> str:
    name = found.tokens.names[graph.last].replace("$", r"\$")
    parts = len(graph.components)
    return (f"after “{name}”: {found.inputs_of[graph.last]} inputs, {len(graph.graph)} "
            f"{found.tokens.kind}, {parts} component{'s' if parts > 1 else ''}")


def _plan(graph: PriorityGraph, texts: Sequence[str]) -> Layout:
    edges = nx.MultiDiGraph(condensed(graph))
    return layout(edges, lambda c: text_width(texts[c]) + 0.22, lambda c: c)


def _draw_graph(axes: Axes, graph: PriorityGraph, plan: Layout, texts: Sequence[str]) -> None:
    axes.set_xlim(0, plan.width)
    axes.set_ylim(plan.height, 0)
    axes.set_axis_off()
    for points in plan.wires.values():
        path = smooth(points) if len(points) > 1 else Path(points)
        axes.add_patch(FancyArrowPatch(
            path=path, arrowstyle="-|>,head_length=4,head_width=2", color=BLUE, linewidth=0.9,
            shrinkA=0, shrinkB=0, clip_on=False, mutation_scale=1.0))
    for c, (left, top, width) in plan.boxes.items():
        several = len(graph.components[c]) > 1
        axes.add_patch(FancyBboxPatch(
            (left, top), width, BOX_HEIGHT, boxstyle="round,pad=0,rounding_size=0.05",
            facecolor=_PALE_YELLOW if several else _WHITE, edgecolor=BLACK if several else _GREY,
            linewidth=1.6 if several else 0.9, zorder=5, clip_on=False,
            gid=f"component-{graph.last}-{c}"))
        axes.text(left + width / 2, top + BOX_HEIGHT / 2, texts[c], ha="center",
                  va="center_baseline", zorder=6)


def _draw_curves(figure: Figure, found: PriorityReport, width: float, height: float) -> None:
    """1 − correlation with W^mm, and the distance from W^fin, over the steps."""
    kept = found.comparisons
    steps = [one.step for one in kept]
    left, gap = 0.8, 1.0
    each = (min(width, 11.0) - left - gap - _GAP) / 2
    bottom = 2.2 * _GAP

    def axes_at(k: int, label: str) -> Axes:
        axes = figure.add_axes(((left + k * (each + gap)) / width, bottom / height, each / width,
                                (_CURVES - 2 * _GAP) / height))
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xlabel("step of gradient descent (observed)")
        axes.set_title(label, fontsize=_FONT_SIZE + 1, loc="left")
        axes.grid(True, which="major", color="#e0e0e0", linewidth=0.6)
        return axes

    direction = axes_at(0, "direction: 1 − correlation with $W^{mm}$")
    if kept[-1].direction is None:
        direction.text(0.5, 0.5, "no direction is predicted", ha="center", va="center",
                       transform=direction.transAxes)
    else:
        for name, label, colour in (("direction", "W", BLUE),
                                    ("beyond", "W without its part in $S_{fin}$", GREEN)):
            values = np.array([getattr(one, name) for one in kept])
            direction.plot(steps, 1 - values, color=colour, label=label)
        direction.legend(frameon=False)
    finite = axes_at(1, r"finite part: $\|\Pi W - W^{fin}\|\,/\,\|W^{fin}\|$")
    if kept[-1].finite is None:
        reason = "no finite part is predicted" if found.finite is None else (
            "no ties: there is no finite part")
        finite.text(0.5, 0.5, reason, ha="center", va="center", transform=finite.transAxes)
    else:
        finite.plot(steps, np.array([one.finite for one in kept], dtype=float), color=VERMILLION)
