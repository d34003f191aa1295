"""Pictures beside a `Report`: its selection graph and, in the plane, the loss landscape."""

from __future__ import annotations

from pathlib import Path

from conditions.dataset import AttentionDataset
from conditions.errors import InvalidInput
from conditions.graphs import EdgeSolution, selection_graph
from conditions.selection import Row, Selection
from conditions.separation.frobenius import Infeasible, solve
from conditions.stationary.coordinates import row_space
from conditions.stationary.krawczyk import stationary_points
from verifier.certify import Report
from verifier.report.graph import export_graph
from verifier.report.landscape import export_landscape


def edge_solutions(dataset: AttentionDataset, alpha: Selection) -> dict[Row, EdgeSolution] | None:
    """Margins, multipliers and support flags for a drawing, None where W^mm_α does not exist."""
    outcome = solve(dataset, alpha)
    if isinstance(outcome, Infeasible):
        return None
    phi = outcome.features
    margins = ((phi.float_differences @ outcome.float_W) * phi.float_queries).sum(axis=1)
    support = set(outcome.support)
    return {row: EdgeSolution(margin=float(m), support=row in support,
                              multiplier=outcome.float_multipliers.get(row, 0.0))
            for row, m in zip(phi.rows, margins, strict=True)}


def export_plots(report: Report, folder: Path, loss: str) -> list[Path]:
    """Write the pictures of *report* into *folder*, which is made if need be; their paths.

    ``graph.svg``: the selection graph of the first selection. ``landscape.png``: the loss on the
    row space with its proved stationary points, where that space has one or two dimensions.
    Raises ``InvalidInput`` where nothing can be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidInput("--plots", str(folder), f"must be a folder ({error.strerror})",
                           "choose another") from None
    dataset, alpha = report.dataset, report.selections[0][1]
    written = [folder / "graph.svg"]
    export_graph(selection_graph(dataset, alpha, edge_solutions(dataset, alpha)), written[0])
    if row_space(dataset).rank in (1, 2):
        written.append(folder / "landscape.png")
        export_landscape(dataset, loss, stationary_points(dataset, loss), written[1])
    return written
