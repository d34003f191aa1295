"""The terminal rendering of a `PriorityReport`."""

from __future__ import annotations

from collections.abc import Sequence

import networkx as nx
import numpy as np
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from conditions.priority_graph import PriorityGraph
from verifier.next_token import ordered_pairs
from verifier.priority import PriorityReport

SHOWN_GRAPHS = 12
_SHOWN_NAMES = 4
_SHOWN_LEVELS = 5
_SHOWN_STEPS = 8


def shown_component(members: Sequence[int], names: Sequence[str], count: int = _SHOWN_NAMES) -> str:
    """The names of a component, joined by =, at most *count* of them."""
    text = " = ".join(names[k] for k in members[:count])
    return text if len(members) <= count else f"{text} = … ({len(members)})"


def condensed(graph: PriorityGraph) -> nx.DiGraph:
    """The components by their places, with an edge to each that they cover."""
    found = nx.DiGraph()
    found.add_nodes_from(range(len(graph.components)))
    found.add_edges_from((c, other) for c, covered in enumerate(graph.covers) for other in covered)
    return found


def shown_order(graph: PriorityGraph, names: Sequence[str]) -> str:
    """The components by levels, the highest first; those of one level are not compared."""
    levels = ["; ".join(shown_component(graph.components[c], names) for c in level[:_SHOWN_NAMES])
              + (f"; … ({len(level)})" if len(level) > _SHOWN_NAMES else "")
              for level in nx.topological_generations(condensed(graph))]
    hidden = len(levels) - _SHOWN_LEVELS
    return " > ".join(levels[:_SHOWN_LEVELS]) + (f" > … ({hidden} more)" if hidden > 0 else "")


def _head(found: PriorityReport) -> list[Text]:
    tokens, data = found.tokens, found.data
    count = sum(map(len, tokens.sequences))
    lines = [Text.assemble(
        (found.source or "tokens", "bold"),
        f"  {_count(len(tokens.sequences), 'sequence')}, {count:,} {tokens.kind}, "
        f"{len(tokens.names)} different; {found.embeddings} embeddings, d = {data.d}")]
    others = found.given - found.inside
    made = f"{_count(found.given, 'input')}, {found.inside:,} of which hold their label"
    if others:
        dropped = len(data.inputs) < found.given
        made += (f"; the other {others:,} are left out" if dropped else
                 f"; it was added to the other {others:,}")
    cyclic = len(found.cyclic)
    edges = sum(graph.graph.number_of_edges() for graph in data.graphs)
    return [*lines, Text(made), *(Text(note) for note in found.tokens.notes),
            Text(f"{len(data.graphs)} token-priority graphs, one per last token, with {edges:,} "
                 f"edges: {cyclic} cyclic, {len(data.graphs) - cyclic} acyclic")]


def _count(number: int, thing: str) -> str:
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def graph_table(found: PriorityReport, graphs: Sequence[PriorityGraph]) -> Table:
    """One row per graph: sizes, and its components in order."""
    table = _table(("last token", "inputs", "tokens", "edges", "parts", "largest",
                    "components by priority"))
    for graph in graphs:
        sizes = [len(members) for members in graph.components]
        table.add_row(found.tokens.names[graph.last], str(found.inputs_of[graph.last]),
                      str(len(graph.graph)), str(graph.graph.number_of_edges()), str(len(sizes)),
                      str(max(sizes)), shown_order(graph, found.tokens.names))
    return table


def _table(names: Sequence[str]) -> Table:
    table = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False, header_style="bold")
    for name in names:
        table.add_column(name, overflow="fold")
    return table


def _verdicts(found: PriorityReport) -> list[RenderableType]:
    dataset = found.svm.dataset
    constraints = sum(dataset.lengths) - dataset.n
    table = _table(("condition", "status", "evidence", "figure", "witness"))
    for verdict in found.verdicts:
        kind = "–" if verdict.certificate is None else verdict.certificate.kind
        table.add_row(verdict.condition, str(verdict.status), str(verdict.evidence or "–"),
                      verdict.number, kind)
    return [Text(f"Graph-SVM: {dataset.n} samples, one per last token and component, "
                 f"{constraints} constraints; sha256 {dataset.fingerprint[:16]}…", style="italic"),
            table, *(Text(f"{v.condition}: {v.reason}") for v in found.verdicts)]


def comparison_table(found: PriorityReport, count: int = _SHOWN_STEPS) -> Table:
    """The run against the prediction at *count* of the steps kept, the last among them."""
    table = _table(("step", "loss", "‖W‖", "corr(W, W^mm)", "beyond S_fin",
                    "‖ΠW − W^fin‖/‖W^fin‖", "in order"))
    kept = found.comparisons
    chosen = sorted({round(k * (len(kept) - 1) / max(count - 1, 1)) for k in range(count)})
    for one in (kept[k] for k in chosen):
        table.add_row(f"{one.step:,}", f"{one.loss:.6g}", f"{one.norm:.5g}",
                      _number(one.direction), _number(one.beyond), _number(one.finite),
                      f"{one.ordered:,}")
    return table


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.5g}"


def _observed(found: PriorityReport) -> list[RenderableType]:
    if found.run is None:
        return [Text("no run", style="dim")]
    finite = found.finite
    predicted = "Graph-SVM is infeasible, so that nothing is predicted"
    if finite is not None:
        ties = sum(len(members) - 1 for graph in found.data.graphs for members in graph.components)
        predicted = (f"S_fin is spanned by {ties} differences, W^fin has norm "
                     f"{np.linalg.norm(finite.W):.4g} and restricted loss {finite.loss:.6g}"
                     + ("" if finite.converged else ", NOT converged: there may be no minimizer"))
    return [Text(f"trained layer (observed): plain GD on the log-loss from W(0) = 0, η = "
                 f"{found.run.step:.4g}; {predicted}", style="italic"), comparison_table(found),
            Text(f"in order: of {len(ordered_pairs(found.data)):,} pairs of tokens, one in a "
                 "component, one in a component that it covers, those with the logits so ordered")]


def render(found: PriorityReport, graphs: Sequence[PriorityGraph]) -> RenderableType:
    """The whole report, with a row for each of *graphs*."""
    hidden = len(found.data.graphs) - len(graphs)
    more = [Text(f"and {_count(hidden, 'more graph')}", style="dim")] if hidden else []
    return Group(*_head(found), Text(), graph_table(found, graphs), *more, Text(),
                 *_verdicts(found), Text(), *_observed(found))


def print_priority(found: PriorityReport, graphs: Sequence[PriorityGraph] | None = None,
                   console: Console | None = None) -> None:
    """Print *found*; *graphs* None: those of most interest."""
    console = console or Console()
    console.print(render(found, found.of_interest(SHOWN_GRAPHS) if graphs is None else graphs))
