"""Pictures of selection graphs, drawn with matplotlib on a light background."""

from __future__ import annotations

import io
import itertools
from dataclasses import dataclass
from typing import Any, Literal

import matplotlib as mpl
import networkx as nx
import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.lines import Line2D
from matplotlib.patches import FancyBboxPatch, Patch, PathPatch, Polygon
from matplotlib.path import Path
from matplotlib.textpath import TextPath
from matplotlib.transforms import Affine2D

from conditions.graphs import QueryRay
from verifier.report.graph_layout import BOX_HEIGHT, Layout, Point, layout

Dashes = Literal["-", "--", "-.", ":"]

# Okabe and Ito's colours, which readers with any colour vision can tell apart.
BLUE, GREEN, ORANGE, PURPLE, SKY, BLACK = (
    "#0072b2", "#009e73", "#e69f00", "#cc79a7", "#56b4e9", "#000000")
VERMILLION = "#d55e00"
_CLASS_COLOURS = (BLUE, GREEN, PURPLE, ORANGE, SKY, BLACK)
_CLASS_DASHES: tuple[tuple[Dashes, str], ...] = (("-", "solid"), (":", "dotted"), ("-.", "dashed"))
_GREY, _PALE_YELLOW, _PALE_VERMILLION, _WHITE = "#8c8c8c", "#fbf6bf", "#f7d9c4", "#ffffff"
_STYLES = len(_CLASS_COLOURS) * len(_CLASS_DASHES)

_FONT_SIZE, _SHOWN_MEMBERS, _SHOWN_SAMPLES, _LONGEST_WEIGHT = 9.0, 3, 4, 8
_ARROW, _PIXELS = 0.075, 20_000
_METADATA: dict[str, dict[str, Any]] = {
    "svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {}}


@dataclass(frozen=True)
class NodeStyle:
    """Fill and border colour, border width in points."""

    fill: str
    border: str
    width: float


@dataclass(frozen=True)
class EdgeStyle:
    """Colour, width in points, and line style as matplotlib and as Graphviz spell it."""

    colour: str
    width: float
    dashes: Dashes
    graphviz: str


def node_style(graph: nx.MultiDiGraph, node: Any) -> NodeStyle:
    """Selected tokens are framed in black; tokens that beat a selected one are vermillion."""
    better = any(flag for _, _, flag in graph.in_edges(node, data="better"))
    selected = bool(graph.nodes[node]["selected_by"])
    fill = _PALE_VERMILLION if better else _PALE_YELLOW if selected else _WHITE
    border = BLACK if selected else VERMILLION if better else _GREY
    return NodeStyle(fill, border, 1.8 if selected else 0.9)


def edge_style(data: dict[str, Any]) -> EdgeStyle:
    """The query class gives the colour; support edges are thick, others thin and greyish."""
    index = data["query_class"] % _STYLES
    colour = _CLASS_COLOURS[index % len(_CLASS_COLOURS)]
    dashes, graphviz = _CLASS_DASHES[index // len(_CLASS_COLOURS)]
    if data["tied"]:
        dashes, graphviz = "--", "dashed"
    if "support" not in data:
        return EdgeStyle(colour, 1.2, dashes, graphviz)
    if data["support"]:
        return EdgeStyle(colour, 2.2, dashes, graphviz)
    return EdgeStyle(_greyish(colour), 0.8, dashes, graphviz)


def _greyish(colour: str) -> str:
    mixed = (0.35 * int(colour[k:k + 2], 16) + 0.65 * 0xB4 for k in (1, 3, 5))
    return "#" + "".join(f"{round(part):02x}" for part in mixed)


def draw(graph: nx.MultiDiGraph, suffix: str) -> bytes:
    """The picture of a selection graph as the content of an SVG, PDF or PNG file.

    ``suffix`` is ``"svg"``, ``"pdf"`` or ``"png"``. In an SVG the box of node (i, t) has the
    id ``node-i-t`` and the arrow of rejected token (i, t) the id ``edge-i-t``.
    """
    settings = {**mpl.rcParamsDefault, "svg.hashsalt": "attention-svm-verifier",
                "font.size": _FONT_SIZE, "pdf.fonttype": 42}
    settings.pop("backend")
    with mpl.rc_context(settings):
        labels = {node: _node_label(graph, node) for node in graph}
        plan = layout(graph, lambda node: _right_end(labels[node]) / 72 + 0.18,
                      lambda node: _rank(graph, node))
        figure = Figure(figsize=(plan.width, plan.height), facecolor="white")
        FigureCanvasAgg(figure)
        axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
        axes.set_xlim(0, plan.width)
        axes.set_ylim(plan.height, 0)
        axes.set_axis_off()
        _draw_edges(axes, graph, plan)
        _draw_nodes(axes, graph, plan, labels)
        _draw_texts(axes, graph, plan)
        buffer = io.BytesIO()
        dpi = min(150.0, _PIXELS / max(plan.width, plan.height))
        figure.savefig(buffer, format=suffix, dpi=dpi, bbox_inches="tight", pad_inches=0.15,
                       metadata=_METADATA[suffix])
    return buffer.getvalue()


def _rank(graph: nx.MultiDiGraph, node: Any) -> tuple[Any, ...]:
    """Best scores first, seen from the token that rejects the node."""
    gaps = [gap for _, _, gap in graph.in_edges(node, data="score_gap")]
    return (min(gaps, default=0), node)


def text_width(text: str) -> float:
    """In inches."""
    return float(TextPath((0, 0), text, size=_FONT_SIZE).get_extents().width) / 72


def _right_end(outline: Path) -> float:
    return float(np.max(outline.vertices[:, 0]))  # type: ignore[index]


def _add(axes: Axes, patch: Patch) -> None:
    """Add a patch without asking for its extent: the layout knows that all fit the axes."""
    patch.set_in_layout(False)
    patch.set_clip_on(False)
    axes.add_artist(patch)


def _node_label(graph: nx.MultiDiGraph, node: Any) -> Path:
    """x_{i,t} for the members of a node, as outlines in points, the baseline at height 0.

    Set from plain glyphs, since matplotlib's TeX notation is slow to parse.
    """
    members = graph.nodes[node]["members"]
    letter, plain = FontProperties(style="italic"), FontProperties()
    parts: list[Path] = []

    def put(text: str, font: FontProperties, size: float, space: float, drop: float = 0.0) -> None:
        end = _right_end(parts[-1]) + space if parts else 0.0
        parts.append(TextPath((end, -drop), text, size=size, prop=font))

    for k, (i, t) in enumerate(members[:_SHOWN_MEMBERS]):
        if k:
            put(",", plain, _FONT_SIZE, 1.0)
        put("x", letter, _FONT_SIZE, 3.5)
        put(f"{i},{t}", plain, 0.75 * _FONT_SIZE, 0.8, 0.2 * _FONT_SIZE)
    if len(members) > _SHOWN_MEMBERS:
        put(f"+{len(members) - _SHOWN_MEMBERS}", plain, 0.9 * _FONT_SIZE, 4.0)
    return Path.make_compound_path(*parts)


def _ray_label(ray: QueryRay) -> str:
    first = f"$z_{{{ray.samples[0]}}}$"
    names = [first]
    for i, weight in list(zip(ray.samples, ray.weights, strict=True))[1:_SHOWN_SAMPLES]:
        if weight == 1:
            names.append(f"$z_{{{i}}}$")
        elif len(str(weight)) <= _LONGEST_WEIGHT:
            names.append(f"$z_{{{i}}}$ = {weight} {first}")
        else:
            names.append(f"$z_{{{i}}}$ ∝ {first}")
    hidden = len(ray.samples) - _SHOWN_SAMPLES
    label = ", ".join(names) + (f" +{hidden}" if hidden > 0 else "")
    return f"{label} = 0" if ray.zero else label


def _draw_edges(axes: Axes, graph: nx.MultiDiGraph, plan: Layout) -> None:
    def stroke(path: Path, style: EdgeStyle, tip: Point, direction: Point, gid: str) -> None:
        _add(axes, PathPatch(path, fill=False, edgecolor=style.colour, linewidth=style.width,
                             linestyle=style.dashes, zorder=style.width, gid=gid))
        size = _ARROW * (0.8 + 0.25 * style.width)
        (x, y), (dx, dy) = tip, direction
        x, y = x - size * dx, y - size * dy
        half = 0.4 * size
        _add(axes, Polygon([tip, (x - half * dy, y + half * dx), (x + half * dy, y - half * dx)],
                           closed=True, facecolor=style.colour, linewidth=0, zorder=style.width))

    for edge, points in plan.wires.items():
        style = edge_style(graph.edges[edge])
        direction = (1.0 if points[-1][0] > points[0][0] else -1.0, 0.0)
        (x, y) = tip = points[-1]
        stroke(smooth([*points[:-1], (x - direction[0] * _ARROW / 2, y)]), style, tip, direction,
               _gid("edge", edge[2]))
    for edge, (x, y, height) in plan.loops.items():
        half = 0.12 + 0.15 * height
        path = Path([(x - half, y), (x - half, y - 4 / 3 * height), (x + half, y - 4 / 3 * height),
                     (x + half, y - _ARROW / 2)],
                    [Path.MOVETO, Path.CURVE4, Path.CURVE4, Path.CURVE4])
        stroke(path, edge_style(graph.edges[edge]), (x + half, y), (0.0, 1.0),
               _gid("edge", edge[2]))


def smooth(points: list[Point]) -> Path:
    """Through *points*, horizontal at each."""
    vertices, codes = [points[0]], [Path.MOVETO]
    for (x, y), (u, v) in itertools.pairwise(points):
        vertices += [(x + 0.45 * (u - x), y), (u - 0.45 * (u - x), v), (u, v)]
        codes += [Path.CURVE4] * 3
    return Path(vertices, codes)


def _gid(kind: str, row: tuple[int, int]) -> str:
    return f"{kind}-{row[0]}-{row[1]}"


def _draw_nodes(axes: Axes, graph: nx.MultiDiGraph, plan: Layout,
                labels: dict[Any, Path]) -> None:
    for node, (left, top, width) in plan.boxes.items():
        style = node_style(graph, node)
        _add(axes, FancyBboxPatch(
            (left, top), width, BOX_HEIGHT, boxstyle="round,pad=0,rounding_size=0.05",
            facecolor=style.fill, edgecolor=style.border, linewidth=style.width, zorder=5,
            gid=_gid("node", node)))
        indent = (width - _right_end(labels[node]) / 72) / 2
        to_page = Affine2D().scale(1 / 72, -1 / 72).translate(left + indent,
                                                              top + 0.62 * BOX_HEIGHT)
        _add(axes, PathPatch(labels[node].transformed(to_page), facecolor=BLACK, linewidth=0,
                             zorder=6))


def _draw_texts(axes: Axes, graph: nx.MultiDiGraph, plan: Layout) -> None:
    """Title and legend, outside of the drawing."""
    selection = graph.graph["selection"]
    shown = ", ".join(map(str, selection[:12])) + (", …" if len(selection) > 12 else "")
    axes.annotate(f"Selection graph of α = ({shown})", (0, 1), (0, 8), xycoords="axes fraction",
                  textcoords="offset points", ha="left", va="bottom", fontsize=_FONT_SIZE + 1)
    handles = _legend(graph)
    widest = max(text_width(str(handle.get_label())) for handle in handles) + 0.6
    axes.legend(handles=handles, loc="upper left", bbox_to_anchor=(0.0, 0.0),
                ncols=max(1, int(plan.width / widest)), frameon=False, borderaxespad=0.8,
                handlelength=2.4, columnspacing=1.2)


def _legend(graph: nx.MultiDiGraph) -> list[Artist]:
    handles: list[Artist] = [Patch(facecolor=_PALE_YELLOW, edgecolor=BLACK, linewidth=1.8,
                                   label="selected token")]
    edges = [data for _, _, data in graph.edges(data=True)]
    if any(data["better"] for data in edges):
        handles.append(Patch(facecolor=_PALE_VERMILLION, edgecolor=VERMILLION,
                             label="better than the selected one"))
    if any(data["tied"] for data in edges):
        handles.append(Line2D([], [], color=_GREY, linestyle="--", linewidth=1.2,
                              label="equal scores"))
    for support, width, colour, label in ((True, 2.2, "#404040", "support index"),
                                          (False, 0.8, "#a6a6a6", "not a support index")):
        if any(data.get("support") is support for data in edges):
            handles.append(Line2D([], [], color=colour, linewidth=width, label=label))
    rays = graph.graph["rays"]
    for c, ray in enumerate(rays[:_STYLES]):
        style = edge_style({"query_class": c, "tied": False})
        handles.append(Line2D([], [], color=style.colour, linestyle=style.dashes, linewidth=1.6,
                              label=f"query {_ray_label(ray)}"))
    if len(rays) > _STYLES:
        handles.append(Line2D([], [], linestyle="none",
                              label=f"and {len(rays) - _STYLES} more queries in these styles"))
    return handles
