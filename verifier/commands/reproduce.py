"""``attsvm reproduce``."""

from __future__ import annotations

import textwrap
import time
from pathlib import Path
from typing import Annotated

import typer

from verifier.experiments.figures import check_folder, figure_numbered, reproduce, write


def reproduce_command(
        figure: Annotated[int, typer.Argument(
            help="1, 2, 4, 5, 6, 7, 8, 9, 10, 11 or 12.", show_default=False)],
        out: Annotated[Path, typer.Option(
            help="Write figure-N.png, .pdf, .svg, .csv and .json into this folder.",
            show_default=False)],
        trials: Annotated[int | None, typer.Option(
            help="Trials of each cell. Left out: as many as in the paper.")] = None,
        jobs: Annotated[int | None, typer.Option(
            help="Processes. Left out: one per CPU, or one in all where starting more takes "
            "longer.")] = None,
        cluster: Annotated[str | None, typer.Option(
            help="local, for a Dask cluster of --jobs processes, or the address of a "
            "scheduler.")] = None,
        seed: Annotated[int, typer.Option(help="Of all random numbers.")] = 0) -> None:
    """Compute a figure of the paper (v1), with what is proved about its trials beside it."""
    chosen = figure_numbered(figure)
    check_folder(out)
    began = time.perf_counter()
    result = reproduce(chosen, trials=trials, seed=seed, jobs=jobs, cluster=cluster,
                       progress=True)
    print(f"Figure {chosen.number}: {chosen.title}")
    print(textwrap.fill(result.caption, 100))
    print(f"{len(result.records)} records in {time.perf_counter() - began:.1f} s; written: "
          + ", ".join(map(str, write(result, out))))
