"""Layered layouts of selection graphs: where the boxes and the wires go, in inches.

Each weakly connected component is laid out on its own, left to right by longest path, after
turning round the edges that close cycles (Sugiyama); the components are then packed in shelves.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import networkx as nx

Point = tuple[float, float]
Item = Hashable
"""A node of the graph, or ``(edge, layer)`` where an edge passes a layer."""

BOX_HEIGHT = 0.25
_ROW_GAP, _LANE, _LOOP, _MARGIN, _ASPECT, _SWEEPS = 0.09, 0.11, 0.13, 0.3, 1.5, 4


@dataclass
class Layout:
    """Boxes and wires of a graph; y grows downwards.

    ``boxes[node]`` is (left, top, width); the height is `BOX_HEIGHT`. ``wires[edge]`` lists the
    points a wire runs through, from its source to its target, horizontal at each; ``loops[edge]``
    is (x, y, height): a self-loop stands on (x, y), the middle of the top of its box.
    """

    width: float = 0.0
    height: float = 0.0
    boxes: dict[Any, tuple[float, float, float]] = field(default_factory=dict)
    wires: dict[Any, list[Point]] = field(default_factory=dict)
    loops: dict[Any, tuple[float, float, float]] = field(default_factory=dict)

    def add(self, other: Layout, x: float, y: float) -> None:
        """Place *other* with its corner at (x, y)."""
        self.boxes |= {n: (left + x, top + y, w) for n, (left, top, w) in other.boxes.items()}
        self.wires |= {e: [(a + x, b + y) for a, b in points]
                       for e, points in other.wires.items()}
        self.loops |= {e: (a + x, b + y, h) for e, (a, b, h) in other.loops.items()}
        self.width = max(self.width, x + other.width)
        self.height = max(self.height, y + other.height)


def layout(graph: nx.MultiDiGraph, width: Callable[[Any], float],
           rank: Callable[[Any], Any]) -> Layout:
    """The layout of *graph*.

    ``width`` gives the width of a node's box in inches; ``rank`` orders the nodes of a layer
    where its neighbours leave a choice. Edges are named by (source, target, key).
    """
    parts = [_component(graph.subgraph(nodes), width, rank)
             for nodes in sorted(map(sorted, nx.weakly_connected_components(graph)))]
    column = max(part.width for part in parts) + _MARGIN
    limits = [k * column for k in range(1, min(len(parts), 40) + 1)]
    # The smallest page of the wanted shape that holds everything.
    return min((_shelves(parts, limit) for limit in limits),
               key=lambda packed: max(packed.width / _ASPECT, packed.height))


def _shelves(parts: Iterable[Layout], limit: float) -> Layout:
    packed = Layout()
    x = y = shelf = 0.0
    for part in parts:
        if x and x + part.width > limit:
            x, y = 0.0, y + shelf + _MARGIN
            shelf = 0.0
        packed.add(part, x, y)
        x += part.width + _MARGIN
        shelf = max(shelf, part.height)
    return packed


def _sequence(graph: nx.MultiDiGraph) -> dict[Any, int]:
    """A position for each node such that few edges point backwards, none outside of cycles."""
    condensed = nx.condensation(nx.DiGraph(graph))
    members = nx.get_node_attributes(condensed, "members")
    order = []
    for component in nx.lexicographical_topological_sort(condensed, key=lambda c: min(members[c])):
        inside = graph.subgraph(members[component])
        order += list(nx.bfs_tree(inside, min(members[component]), sort_neighbors=sorted))
    return {node: position for position, node in enumerate(order)}


def _layers(graph: nx.MultiDiGraph, rank: Callable[[Any], Any]
            ) -> tuple[list[list[Item]], dict[Any, list[Item]]]:
    """The items of each layer, and for each edge that is no loop the items from left to right."""
    position = _sequence(graph)
    edges = [edge for edge in graph.edges(keys=True) if edge[0] != edge[1]]
    acyclic = nx.DiGraph()
    acyclic.add_nodes_from(position)
    ends = {edge: tuple(sorted(edge[:2], key=position.__getitem__)) for edge in edges}
    acyclic.add_edges_from(ends.values())
    layers: list[list[Item]] = [sorted(generation, key=rank)
                                for generation in nx.topological_generations(acyclic)]
    depth = {node: k for k, layer in enumerate(layers) for node in layer}
    chains: dict[Any, list[Item]] = {}
    for edge, (left, right) in ends.items():
        passed: list[Item] = [(edge, k) for k in range(depth[left] + 1, depth[right])]
        for k, item in enumerate(passed, depth[left] + 1):
            layers[k].append(item)
        chains[edge] = [left, *passed, right]
    return layers, chains


def _untangle(layers: list[list[Item]], chains: Mapping[Any, list[Item]]) -> None:
    """Sort the layers in place by the mean place of each item's neighbours, to and fro."""
    before, after = defaultdict(list), defaultdict(list)
    for chain in chains.values():
        for a, b in itertools.pairwise(chain):
            after[a].append(b)
            before[b].append(a)
    for sweep in range(_SWEEPS):
        neighbours = after if sweep % 2 else before
        order = layers[::-1] if sweep % 2 else layers
        for known, layer in itertools.pairwise(order):
            place = {item: k / len(known) for k, item in enumerate(known)}
            own = {item: k / len(layer) for k, item in enumerate(layer)}
            means = {}
            for item in layer:
                near = [place[a] for a in neighbours[item] if a in place]
                means[item] = sum(near) / len(near) if near else own[item]
            layer.sort(key=means.__getitem__)


def _component(graph: nx.MultiDiGraph, width: Callable[[Any], float],
               rank: Callable[[Any], Any]) -> Layout:
    layers, chains = _layers(graph, rank)
    _untangle(layers, chains)
    loops: dict[Any, list[Any]] = defaultdict(list)
    for edge in nx.selfloop_edges(graph, keys=True):
        loops[edge[0]].append(edge)

    def height(item: Item) -> float:
        if item not in graph:
            return _LANE
        return BOX_HEIGHT + _ROW_GAP + (_LOOP * (len(loops[item]) + 1) if loops[item] else 0)

    heights = [sum(map(height, layer)) for layer in layers]
    out = Layout(height=max(heights))
    middle: dict[Item, Point] = {}
    span: dict[Item, Point] = {}
    for k, layer in enumerate(layers):
        breadth = max((width(item) for item in layer if item in graph), default=0.0)
        y = (out.height - heights[k]) / 2
        for item in layer:
            y += height(item)
            if item in graph:
                top = y - BOX_HEIGHT - _ROW_GAP / 2
                out.boxes[item] = (out.width, top, breadth)
                for index, edge in enumerate(loops[item], 1):
                    out.loops[edge] = (out.width + breadth / 2, top, _LOOP * (index + 0.5))
            middle[item] = (out.width, y - (BOX_HEIGHT + _ROW_GAP if item in graph else _LANE) / 2)
            span[item] = (out.width, out.width + breadth)
        out.width += breadth
        if k + 1 < len(layers):
            out.width += min(2.0, 0.7 + 0.16 * max(heights[k], heights[k + 1]))
    _wire(out, chains, middle, span)
    return out


def _wire(out: Layout, chains: Mapping[Any, list[Item]], middle: Mapping[Item, Point],
          span: Mapping[Item, Point]) -> None:
    """Run the wires; those that meet one side of a box share it out in the order they come."""
    ports: dict[tuple[Item, int], list[tuple[float, Any]]] = defaultdict(list)
    for edge, chain in chains.items():
        ports[chain[0], 1].append((middle[chain[1]][1], edge))
        ports[chain[-1], 0].append((middle[chain[-2]][1], edge))
    at: dict[tuple[Any, int], float] = {}
    for (item, side), ends in ports.items():
        for k, (_, edge) in enumerate(sorted(ends), 1):
            spread = (k / (len(ends) + 1) - 0.5) * 0.8 * BOX_HEIGHT
            at[edge, side] = middle[item][1] + spread
    for edge, chain in chains.items():
        points = [(span[chain[0]][1], at[edge, 1])]
        for item in chain[1:-1]:
            points += [(x, middle[item][1]) for x in span[item]]
        points.append((span[chain[-1]][0], at[edge, 0]))
        out.wires[edge] = points if chain[0] == edge[0] else points[::-1]
