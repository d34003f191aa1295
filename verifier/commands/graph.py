"""``attsvm graph``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from conditions.graphs import components, cycle_certificate, order_certificate, selection_graph
from conditions.selection import check_selection, optimal_selection
from verifier import io
from verifier.commands.options import (
    Chosen,
    Data,
    Headed,
    Trial,
    check_output,
    parse_selection,
    require_linear,
)
from verifier.descent import descend
from verifier.report.graph import check_suffix, export_graph
from verifier.report.plots import edge_solutions
from verifier.report.terminal import shown_selection


def graph_command(
        data: Data,
        out: Annotated[Path | None, typer.Option(
            help="Draw the graph: .svg, .png, .pdf, .dot or .graphml.")] = None,
        trial: Trial = None, selection: Chosen = "opt", head: Headed = None) -> None:
    """Build the token-selection graph: cycles, orders and components, drawn or exported."""
    if out is not None:
        check_suffix(out)
        check_output(out, "--out", data)
    dataset = io.load_dataset(data, trial)
    require_linear("selection graph", io.load_head(data, head, trial))
    named = parse_selection(selection)
    if named == "gd":
        alpha = descend(dataset, progress=True).selected
    elif isinstance(named, str):
        alpha = optimal_selection(dataset)
    else:
        alpha = check_selection(dataset, named)
    edges = edge_solutions(dataset, alpha)
    graph = selection_graph(dataset, alpha, edges)
    print(f"α = {shown_selection(alpha)}: {graph.number_of_nodes()} distinct tokens, "
          f"{graph.number_of_edges()} edges, {graph.graph['query_classes']} query classes")
    cycle, order = cycle_certificate(dataset, alpha), order_certificate(dataset, alpha)
    if cycle is not None:
        print(f"infeasible: a cycle of one query class through {list(cycle.edges)} (exact)")
    elif order is not None:
        print("feasible: tokens and queries are independent and every query class has a "
              "topological order (exact)")
    else:
        print(f"{'in' if edges is None else ''}feasible, though neither a cycle nor a topological "
              "order shows it: attsvm certify proves it")
    parts = [c for found in components(dataset, alpha) for c in found if len(c) > 1]
    print(f"{len(parts)} strongly connected components of more than one token")
    if out is not None:
        export_graph(graph, out)
        print(f"graph written to {out}")
