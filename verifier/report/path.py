"""Renderings of a `RegularizationPath`: a table, numbers in files, a figure. All of it observed."""

from __future__ import annotations

import csv
import io
import json
import math
import os
from dataclasses import fields
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from conditions.errors import InvalidInput
from verifier.io.files import write_atomically
from verifier.path import PathPoint, RegularizationPath
from verifier.report.terminal import shown_selection

_BLUE, _ORANGE = "#0072b2", "#d55e00"
_SUFFIXES = (".npz", ".csv")


# Terminal -----------------------------------------------------------------------------------


def print_path(path: RegularizationPath, source: str, console: Console | None = None) -> None:
    """Print *path*: what was minimised, a row per radius, what it was compared to."""
    console = console or Console()
    console.print(Group(_head(path, source), Text(), _table(path), Text(), *_notes(path)))


def _bound(path: RegularizationPath) -> str:
    return "‖W‖_F ≤ R" if path.parameterization == "W" else "½(‖K‖² + ‖Q‖²) ≤ R"


def _head(path: RegularizationPath, source: str) -> Text:
    cone = "" if path.cone is None else (
        f" within cone_ε(α), ε = {path.cone.epsilon:.4g}, norm ≥ {path.cone.radius:.4g}")
    return Text.assemble(
        (f"{source}  ", "bold"), f"minimisers of the {path.loss} loss over {_bound(path)}{cone}; "
        f"α = {shown_selection(path.selection)}")


def _table(path: RegularizationPath) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="bold")
    names = ["R", "log(L − L_α)", "1 − corr", "distance", "selects α", "starts"]
    if path.parameterization != "W":
        names.insert(4, "excess")
    for name in names:
        table.add_column(name, justify="right")
    for point in path.points:
        cells = [f"{point.R:.5g}", f"{point.excess_log:.7g}",
                 _shown(point.correlation, complement=True),
                 _shown(point.distance), "yes" if point.selected == path.selection else "no",
                 f"{point.agreeing}/{path.seeded}"]
        if path.parameterization != "W":
            cells.insert(4, _shown(point.set_excess))
        table.add_row(*cells)
    return table


def _shown(value: float | None, *, complement: bool = False) -> str:
    return "–" if value is None else f"{1 - value if complement else value:.3g}"


def _notes(path: RegularizationPath) -> list[Text]:
    notes = [f"starts: how many of {path.seeded} seeded ones reach the value shown; residual of "
             f"the minimisers ≤ {max(point.residual for point in path.points):.0e}, their norm ≥ "
             f"{min(point.norm / point.R for point in path.points):.6f} R"]
    if path.predicted is None:
        notes.append("no direction is predicted: no W separates α, or it lies beyond floats")
    elif path.parameterization == "W":
        notes.append("distance: ‖W/R − W^mm/‖W^mm‖_F‖_F")
    else:
        notes.append("distance: ‖W/R − W⋆/‖W⋆‖_*‖_F, W⋆ "
                     + ("the optimum (proved unique)" if path.unique else
                        "one optimum, not proved to be the only one")
                     + "; excess: ‖W‖_* over its least margin, against the certified optimum")
    if path.cone is not None:
        notes.append(_cone_note(path))
    notes.append("observed: the best of finitely many local searches; nothing here is proved")
    return [Text(note) for note in notes]


def _cone_note(path: RegularizationPath) -> str:
    cone = path.cone
    assert cone is not None, "asked for by local paths"
    if cone.largest == math.inf:
        return "no token has a higher score than α: the cone is the whole space"
    note = f"W^mm is in cone_ε(α) for ε ≤ {cone.largest:.4g}"
    if not cone.printed > 0:
        return note + "; in v1's Definition 3 as printed it is in none (a sample without demand)"
    return note + f"; in v1's Definition 3 as printed for ε ≤ {cone.printed:.4g}"


# Files --------------------------------------------------------------------------------------


def check_numbers(out: Path) -> None:
    """Refuse a name for `export_numbers` that ends otherwise. Raises ``InvalidInput``."""
    if out.suffix.lower() not in _SUFFIXES:
        raise InvalidInput("--out", str(out), f"must end in {' or '.join(_SUFFIXES)}",
                           "choose such a name")


_COLUMNS = tuple(field.name for field in fields(PathPoint) if field.name not in ("W", "selected"))


def export_numbers(path: RegularizationPath, out: Path) -> None:
    """Write the points: ``.npz`` arrays with every W, or ``.csv`` without.

    Numbers that do not exist are nan or empty. Raises ``InvalidInput``.
    """
    check_numbers(out)
    if out.suffix.lower() == ".csv":
        stream = io.StringIO()
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow([*_COLUMNS, "selected"])
        for point in path.points:
            cells = [getattr(point, name) for name in _COLUMNS]
            writer.writerow([*("" if cell is None else repr(cell) for cell in cells),
                             " ".join(map(str, point.selected))])
        write_atomically(out, stream.getvalue())
        return
    # As floats None becomes nan.
    arrays: dict[str, Any] = {
        name: np.array([getattr(point, name) for point in path.points], dtype=float)
        for name in _COLUMNS}
    arrays |= {"W": np.array([point.W for point in path.points]),
               "selected": np.array([point.selected for point in path.points]),
               "selection": np.array(path.selection), "limit": np.array(path.limit)}
    if path.predicted is not None:
        arrays["predicted"] = path.predicted
    write_atomically(out, lambda file: np.savez(file, **arrays))


def path_json(path: RegularizationPath, source: str) -> str:
    """The whole path as JSON text; what does not exist or is infinite is null."""
    cone = None if path.cone is None else {
        field.name: _plain(getattr(path.cone, field.name)) for field in fields(path.cone)}
    return json.dumps({
        "format": "attsvm-path", "version": 1, "evidence": "observed", "source": source,
        "dataset": path.dataset.fingerprint, "parameterization": path.parameterization,
        "loss": path.loss, "selection": list(path.selection), "limit": path.limit,
        "predicted": _plain(path.predicted), "unique": path.unique, "cone": cone,
        "seed": path.seed, "seeded": path.seeded,
        "points": [{field.name: _plain(getattr(point, field.name)) for field in fields(point)}
                   for point in path.points]}, indent=1) + "\n"


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


# Figure -------------------------------------------------------------------------------------


def export_figure(path: RegularizationPath, out: str | os.PathLike[str]) -> None:
    """Draw distance and objective against R, as ``.svg``, ``.png`` or ``.pdf``."""
    with mpl.rc_context({"svg.hashsalt": path.dataset.fingerprint}):
        figure = Figure(figsize=(8.0, 3.6), layout="constrained")
        FigureCanvasAgg(figure)
        left, right = figure.subplots(1, 2)
        R = np.array([point.R for point in path.points])
        _nearness(left, path, R)
        right.plot(R, [-point.excess_log for point in path.points], "o-", color=_BLUE,
                   markersize=4, label="observed")
        if path.predicted is not None:
            size = np.linalg.norm(path.predicted, "fro" if path.parameterization == "W" else "nuc")
            right.plot(R, R / size, "--", color=_ORANGE, label="R/‖W^mm‖")
        right.set(xscale="log", yscale="log", xlabel="R", ylabel="−log(L − L_α)")
        right.legend(loc="best")
        figure.suptitle(f"Regularization path over {_bound(path)} (observed)")
        buffer, kind = io.BytesIO(), Path(out).suffix[1:].lower()
        metadata: dict[str, Any] = {} if kind == "png" else {
            "Date" if kind == "svg" else "CreationDate": None}
        figure.savefig(buffer, format=kind, dpi=150, metadata=metadata)
    write_atomically(Path(out), buffer.getvalue())


def _nearness(axes: Axes, path: RegularizationPath, R: np.ndarray[Any, Any]) -> None:
    axes.set(xscale="log", xlabel="R", ylabel="distance of W/R to W^mm/‖W^mm‖")
    if path.predicted is None:
        axes.text(0.5, 0.5, "no direction is predicted", ha="center", transform=axes.transAxes)
        return
    distances = np.array([point.distance for point in path.points], dtype=float)
    axes.plot(R, distances, "o-", color=_BLUE, markersize=4, label="observed")
    axes.plot(R, distances[-1] * R[-1] / R, ":", color="black", linewidth=1, label="slope −1")
    axes.set_yscale("log")
    axes.legend(loc="best")
