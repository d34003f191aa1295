"""``attsvm path``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from conditions.errors import InvalidInput
from conditions.selection import optimal_selection
from verifier import io
from verifier.commands.options import (
    Chosen,
    Data,
    Loss,
    Parameterized,
    Trial,
    check_output,
    parse_selection,
    source_name,
)
from verifier.descent import descend
from verifier.path import regularization_path
from verifier.path.run import RADII, STARTS
from verifier.report.path import (
    check_numbers,
    export_figure,
    export_numbers,
    path_json,
    print_path,
)

_AUTOMATIC = "auto"


def path_command(
        data: Data, trial: Trial = None, selection: Chosen = "opt",
        parameterization: Parameterized = "W", loss: Loss = "logistic",
        cone: Annotated[str | None, typer.Option(
            help="ε of the local path in cone_ε(α); auto: half the largest that admits W^mm.",
            )] = None,
        radii: Annotated[int, typer.Option(help="Radii, in geometric progression.")] = RADII,
        max_radius: Annotated[float | None, typer.Option(help="The largest radius.")] = None,
        starts: Annotated[int, typer.Option(
            help="Random starts, and as many that descent leads to.")] = STARTS,
        seed: Annotated[int, typer.Option(help="Of the random starts.")] = 0,
        json: Annotated[Path | None, typer.Option(help="Write all numbers here.")] = None,
        out: Annotated[Path | None, typer.Option(
            help="Write the points here, .npz (with every W) or .csv.")] = None,
        plots: Annotated[Path | None, typer.Option(help="Draw path.svg into this folder.")] = None,
        ) -> None:
    """Follow the minimisers of the loss over growing balls. What it shows is observed."""
    check_output(json, "--json", data)
    check_output(out, "--out", data)
    if out is not None:
        check_numbers(out)
    dataset = io.load_dataset(data, trial)
    named = parse_selection(selection)
    if named == "gd":
        alpha = descend(dataset, loss=loss).selected
    else:
        alpha = optimal_selection(dataset) if isinstance(named, str) else named
    source = source_name(data, trial)
    with Console(stderr=True).status("minimising …") as status:
        path = regularization_path(
            dataset, parameterization=parameterization, selection=alpha, cone=_epsilon(cone),
            loss=loss, radii=radii, max_radius=max_radius, starts=starts, seed=seed,
            progress=lambda done, total: status.update(f"radius {done} of {total} …"))
    print_path(path, source)
    if json is not None:
        io.write_atomically(json, path_json(path, source))
        print(f"numbers written to {json}")
    if out is not None:
        export_numbers(path, out)
        print(f"points written to {out}")
    if plots is not None:
        folder = _folder(plots)
        export_figure(path, folder / "path.svg")
        print(f"drawn: {folder / 'path.svg'}")


def _epsilon(text: str | None) -> float | None:
    """ε, 0 for ``auto``."""
    if text is None:
        return None
    if text == _AUTOMATIC:
        return 0.0
    try:
        epsilon = float(text)
    except ValueError:
        epsilon = 0.0
    if not 0 < epsilon < float("inf"):
        raise InvalidInput("--cone", text, "must be auto or a number ε > 0", "try auto")
    return epsilon


def _folder(path: Path) -> Path:
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidInput("--plots", str(path), f"must be a folder ({error.strerror})",
                           "choose another") from None
    return path
