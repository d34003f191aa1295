"""Exported selection graphs, read back."""

from __future__ import annotations

import random
import re
import xml.etree.ElementTree as ET

import networkx as nx
import pydot
import pytest
from flint import fmpq

from conditions.dataset import AttentionDataset
from conditions.errors import InvalidInput
from conditions.graphs import EdgeSolution, selection_graph
from verifier.report.graph import export_graph, plain_graph
from verifier.report.graph_layout import BOX_HEIGHT, layout
from verifier.report.graph_picture import edge_style, node_style

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def graph():
    """Two samples on one ray and one with a zero query; a loop, a tie and a better token."""
    data = AttentionDataset.build(
        [[[1, 0], [0, 1], [1, 0]], [[0, 1], ["1/3", 0]], [[2, 2], [1, 0]]], [1, -1, 1],
        [[1, 2], ["1/2", 1], [0, 0]], [2, 1])
    solution = {(0, 1): EdgeSolution("1", 0.5, True), (0, 2): EdgeSolution("0", 0.0, False),
                (1, 1): EdgeSolution(1.25, 0.0, False), (2, 1): EdgeSolution("0", 0.0, False)}
    return selection_graph(data, (0, 0, 0), solution)


def random_graph(rng, n, T, d, values, solved=False):
    """A selection graph of a dataset whose tokens come from a small or a large set."""
    draw = lambda: [rng.choice(values) for _ in range(d)]  # noqa: E731
    data = AttentionDataset.build([[draw() for _ in range(T)] for _ in range(n)],
                                  rng.choices([1, -1], k=n), [draw() for _ in range(n)], draw())
    selection = tuple(rng.randrange(T) for _ in range(n))
    solution = {(i, t): EdgeSolution(1.0, 0.1, rng.random() < 0.5)
                for i in range(n) for t in range(T)} if solved else None
    return selection_graph(data, selection, solution)


def test_graphml_round_trip(graph, tmp_path):
    path = tmp_path / "g.graphml"
    export_graph(graph, path)
    back = nx.read_graphml(path, force_multigraph=True)
    assert dict(back.nodes(data=True)) == dict(plain_graph(graph).nodes(data=True))
    assert back.nodes["x_0_0"] == {
        "label": "x_{0,0} = x_{0,2} = x_{2,1}", "vector": "1 0", "members": "0,0 0,2 2,1",
        "selected_by": "0", "selected": True}
    edges = {key: (a, b, data) for a, b, key, data in back.edges(keys=True, data=True)}
    assert set(edges) == {"0,1", "0,2", "1,1", "2,1"}
    assert edges["1,1"][:2] == ("x_0_1", "x_1_1")
    assert edges["1,1"][2] == {
        "sample": 1, "token": 1, "query_class": 0, "weight": "1/2", "score_gap": "-1/3",
        "score_gap_float": -1 / 3, "better": True, "tied": False, "margin": "1.25",
        "multiplier": 0.0, "support": False, "zero_query": False}
    assert edges["0,2"][:2] == ("x_0_0", "x_0_0") and edges["0,2"][2]["tied"] is True
    assert edges["2,1"][2]["zero_query"] is True
    assert back.graph["selection"] == "0 0 0" and back.graph["query_classes"] == 2


@pytest.mark.filterwarnings("ignore:.*deprecated:DeprecationWarning")  # in pydot's parser
def test_dot_round_trip(graph, tmp_path):
    path = tmp_path / "g.dot"
    export_graph(graph, path)
    (back,) = pydot.graph_from_dot_data(path.read_text())
    assert back.get_type() == "digraph" and back.get("selection") == '"0 0 0"'
    nodes = {node.get_name(): node.get_attributes() for node in back.get_nodes()}
    assert {name for name in nodes if name.startswith("x_")} == {"x_0_0", "x_0_1", "x_1_1", "x_2_0"}
    assert nodes["x_1_1"]["vector"].strip('"') == "1/3 0"
    edges = {edge.get("key").strip('"'): edge for edge in back.get_edges()}
    assert set(edges) == {"0,1", "0,2", "1,1", "2,1"}
    assert edges["1,1"].get_source() == "x_0_1" and edges["1,1"].get_destination() == "x_1_1"
    assert edges["1,1"].get("score_gap").strip('"') == "-1/3"
    assert float(edges["0,1"].get("penwidth")) > float(edges["1,1"].get("penwidth"))
    assert edges["0,2"].get("style") == "dashed" and edges["0,1"].get("style") == "solid"


def ids(path, kind):
    found = [element.get("id") for element in ET.parse(path).iter(f"{SVG}g")]
    return sorted(name for name in found if name and name.startswith(f"{kind}-"))


def test_svg_has_every_node_and_edge(graph, tmp_path):
    path = tmp_path / "g.svg"
    export_graph(graph, path)
    assert ids(path, "node") == ["node-0-0", "node-0-1", "node-1-1", "node-2-0"]
    assert ids(path, "edge") == ["edge-0-1", "edge-0-2", "edge-1-1", "edge-2-1"]
    styles = {group.get("id"): group.find(f"{SVG}path").get("style")
              for group in ET.parse(path).iter(f"{SVG}g")
              if (group.get("id") or "").startswith(("edge-", "node-"))}
    width = {name: float(re.search(r"stroke-width: ([\d.]+)", style)[1])
             for name, style in styles.items()}
    assert width["edge-0-1"] > width["edge-1-1"]
    assert width["node-0-0"] > width["node-1-1"]
    assert "stroke-dasharray" in styles["edge-0-2"]
    assert "stroke-dasharray" not in styles["edge-0-1"]
    text = path.read_text()
    for label in ("selected token", "better than the selected one", "equal scores",
                  "support index", "not a support index", "query $z_{0}$, $z_{1}$ = 1/2 $z_{0}$",
                  "query $z_{2}$ = 0"):
        assert f"<!-- {label} -->" in text


def test_pictures_are_reproducible_and_undated(graph, tmp_path):
    for suffix in ("svg", "pdf", "png"):
        first, second = tmp_path / f"a.{suffix}", tmp_path / f"b.{suffix}"
        export_graph(graph, first)
        export_graph(graph, second)
        assert first.read_bytes() == second.read_bytes()
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "a.pdf").read_bytes().startswith(b"%PDF")
    assert "<dc:date>" not in (tmp_path / "a.svg").read_text()
    assert b"CreationDate" not in (tmp_path / "a.pdf").read_bytes()


def test_only_what_occurs_is_in_the_legend(tmp_path):
    data = AttentionDataset.build([[[1, 0], [0, 0]]], [1], [[1, 0]], [1, 0])
    export_graph(selection_graph(data, [0]), tmp_path / "g.svg")
    text = (tmp_path / "g.svg").read_text()
    assert "selected token" in text and "query $z_{0}$" in text
    assert not any(word in text for word in ("better", "equal scores", "support"))


def test_many_queries_share_styles(tmp_path):
    graph = random_graph(random.Random(3), 21, 2, 3, range(-50, 50))
    assert graph.graph["query_classes"] == 21
    export_graph(graph, tmp_path / "g.svg")
    assert "and 3 more queries in these styles" in (tmp_path / "g.svg").read_text()
    styles = {(s.colour, s.dashes) for s in (edge_style({"query_class": c, "tied": False})
                                             for c in range(21))}
    assert len(styles) == 18


def test_styles_tell_selected_and_better_tokens_apart(graph):
    selected, better, both = (node_style(graph, node) for node in [(2, 0), (1, 1), (0, 0)])
    assert selected == both
    assert selected.width > better.width
    assert selected.fill != better.fill and selected.border != better.border
    graph.edges[(0, 1), (1, 1), (1, 1)]["better"] = False
    graph.edges[(2, 0), (0, 0), (2, 1)]["better"] = True
    plain, both = node_style(graph, (1, 1)), node_style(graph, (0, 0))
    assert (both.fill, both.border) == (better.fill, selected.border)
    assert len({plain.fill, selected.fill, both.fill}) == 3


@pytest.mark.parametrize("suffix", [".txt", "", ".svgz"])
def test_other_suffixes_are_refused(graph, tmp_path, suffix):
    with pytest.raises(InvalidInput, match="must end in"):
        export_graph(graph, tmp_path / f"g{suffix}")
    assert list(tmp_path.iterdir()) == []


def test_files_are_replaced(graph, tmp_path):
    path = tmp_path / "g.DOT"
    path.write_text("old")
    export_graph(graph, str(path))
    assert path.read_text().startswith("digraph")
    assert [p.name for p in tmp_path.iterdir()] == ["g.DOT"]
    with pytest.raises(InvalidInput, match="must be writable"):
        export_graph(graph, tmp_path / "missing" / "g.dot")


CASES = [(2, 3, 2, range(-9, 10)), (6, 8, 10, range(-9, 10)), (4, 16, 64, range(17)),
         (6, 3, 2, (0, 1)), (8, 4, 2, (-1, 0, 1)), (5, 6, 1, (0, 1, 2, 3)), (2, 9, 1, (0, 1))]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_layout_is_legible(case):
    """Boxes stay on the page and apart, wires end on their boxes and run around the others."""
    rng = random.Random(str(case))
    graph = random_graph(rng, *case)
    plan = layout(graph, lambda node: 0.3 + 0.2 * min(3, len(graph.nodes[node]["members"])),
                  lambda node: node)
    boxes = {node: (left, top, left + width, top + BOX_HEIGHT)
             for node, (left, top, width) in plan.boxes.items()}
    assert set(boxes) == set(graph)
    loops = set(nx.selfloop_edges(graph, keys=True))
    assert set(plan.loops) == loops
    assert set(plan.wires) == set(graph.edges(keys=True)) - loops
    for a, (left, top, right, bottom) in boxes.items():
        assert min(left, top) >= 0 and right <= plan.width and bottom <= plan.height
        assert not any(left < r and x < right and top < s and y < bottom
                       for b, (x, y, r, s) in boxes.items() if b != a)
    for (source, target, _), points in plan.wires.items():
        for node, (x, y) in ((source, points[0]), (target, points[-1])):
            left, top, right, bottom = boxes[node]
            assert x in (left, right) and top < y < bottom
        for left, top, right, bottom in boxes.values():
            assert not any(left <= x <= right and top < y < bottom for x, y in points[1:-1])
    for (node, _, _), (x, y, height) in plan.loops.items():
        assert boxes[node][0] < x < boxes[node][2] and y == boxes[node][1] and y - height >= 0
        assert not any(left < x < right and y - height < s < y
                       for left, _, right, s in boxes.values())


@pytest.mark.parametrize("case", CASES, ids=str)
def test_pictures_of_every_size_are_drawn_whole(case, tmp_path):
    graph = random_graph(random.Random(str(case)), *case, solved=True)
    path = tmp_path / "g.svg"
    export_graph(graph, path)
    assert len(ids(path, "node")) == graph.number_of_nodes()
    assert len(ids(path, "edge")) == graph.number_of_edges()


def test_huge_weights_are_not_spelled_out(tmp_path):
    weight = fmpq(10**30 + 1, 10**30)
    data = AttentionDataset.build([[[1], [0]], [[2], [0]]], [1, 1], [[1], [weight]], [1])
    export_graph(selection_graph(data, (0, 0)), tmp_path / "g.svg")
    assert "query $z_{0}$, $z_{1}$ ∝ $z_{0}$" in (tmp_path / "g.svg").read_text()
    export_graph(selection_graph(data, (0, 0)), tmp_path / "g.graphml")
    assert str(weight) in (tmp_path / "g.graphml").read_text()
