"""Selection graphs in files: pictures (SVG, PDF, PNG), DOT and GraphML.

A rendering of what `conditions.graphs.selection_graph` returns; nothing is decided here. Files
are written whole or not at all, and equal graphs give equal files.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import networkx as nx

from conditions.errors import InvalidInput
from conditions.exact.numbers import to_float
from verifier.io.files import write_atomically
from verifier.report.graph_picture import draw, edge_style, node_style


def export_graph(graph: nx.MultiDiGraph, path: str | os.PathLike[str]) -> None:
    """Write a selection graph in the format that the suffix of *path* names.

    ``.svg``, ``.pdf`` and ``.png`` are pictures, ``.dot`` is for Graphviz, ``.graphml`` for
    graph software; exact numbers are strings in the last two, the score gap also a float.
    Raises ``InvalidInput`` for another suffix and where the file cannot be written.
    """
    check_suffix(path)
    write_atomically(path, _RENDERERS[Path(path).suffix.lower()](graph))


def check_suffix(path: str | os.PathLike[str]) -> None:
    """Raise ``InvalidInput`` unless *path* has the suffix of a format that can be written."""
    if Path(path).suffix.lower() not in _RENDERERS:
        raise InvalidInput("output file", str(path), f"must end in {', '.join(_RENDERERS)}",
                           "choose one of these suffixes")


def _name(node: tuple[int, int]) -> str:
    return f"x_{node[0]}_{node[1]}"


def plain_graph(graph: nx.MultiDiGraph) -> nx.MultiDiGraph:
    """The selection graph with strings, numbers and booleans only, nodes named ``x_i_t``."""
    plain = nx.MultiDiGraph(selection=" ".join(map(str, graph.graph["selection"])),
                            query_classes=graph.graph["query_classes"])
    for node, data in graph.nodes(data=True):
        plain.add_node(_name(node), label=" = ".join(f"x_{{{i},{t}}}" for i, t in data["members"]),
                       vector=" ".join(data["vector"]),
                       members=" ".join(f"{i},{t}" for i, t in data["members"]),
                       selected_by=" ".join(map(str, data["selected_by"])),
                       selected=bool(data["selected_by"]))
    for source, target, (i, t), data in graph.edges(keys=True, data=True):
        zero = graph.graph["rays"][data["query_class"]].zero
        gap = data["score_gap"]
        attributes = dict(data, weight=str(data["weight"]), score_gap=str(gap),
                          score_gap_float=to_float(gap), zero_query=zero)
        if "margin" in data:
            attributes["margin"] = str(data["margin"])
        plain.add_edge(_name(source), _name(target), key=f"{i},{t}", **attributes)
    return plain


def _picture(suffix: str) -> Callable[[nx.MultiDiGraph], bytes]:
    return lambda graph: draw(graph, suffix)


def _graphml(graph: nx.MultiDiGraph) -> bytes:
    return ("\n".join(nx.generate_graphml(plain_graph(graph))) + "\n").encode()


def _dot(graph: nx.MultiDiGraph) -> bytes:
    plain = plain_graph(graph)
    plain.graph["graph"] = {name: plain.graph.pop(name) for name in list(plain.graph)}
    plain.graph["graph"]["rankdir"] = "LR"
    plain.graph["node"] = {"shape": "box"}
    for node in graph:
        box = node_style(graph, node)
        plain.nodes[_name(node)].update(style="filled", fillcolor=box.fill, color=box.border,
                                        penwidth=box.width)
    for source, target, (i, t), data in graph.edges(keys=True, data=True):
        wire = edge_style(data)
        plain.edges[_name(source), _name(target), f"{i},{t}"].update(
            color=wire.colour, penwidth=wire.width, style=wire.graphviz)
    text: str = nx.nx_pydot.to_pydot(plain).to_string()
    return text.encode()


_RENDERERS: dict[str, Callable[[nx.MultiDiGraph], bytes]] = {
    ".svg": _picture("svg"), ".pdf": _picture("pdf"), ".png": _picture("png"),
    ".dot": _dot, ".graphml": _graphml,
}
