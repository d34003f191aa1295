"""``attsvm directions``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from verifier import io
from verifier.commands.options import (
    Data,
    Loss,
    Rule,
    Step,
    Trial,
    check_output,
    check_seconds,
    source_name,
)
from verifier.directions import explore
from verifier.report.terminal import print_directions


def directions_command(
        data: Data, trial: Trial = None, loss: Loss = "logistic", rule: Rule = "normalized",
        step: Step = 0.1,
        seconds: Annotated[float | None, typer.Option(help="Budget; none: to the end.")] = None,
        json: Annotated[Path | None, typer.Option(help="Write the certificate here.")] = None,
        ) -> None:
    """List every locally optimal selection with its margin, support and a cone of proved starts."""
    if seconds is not None:
        check_seconds(seconds)
    check_output(json, "--json", data)
    dataset = io.load_dataset(data, trial)
    with Console(stderr=True).status("walking the tree of selections …") as status:
        explored = explore(dataset, source=source_name(data, trial), loss=loss, rule=rule,
                           step=step, seconds=seconds,
                           progress=lambda reached: status.update(f"decided {reached} …"))
    print_directions(explored)
    if json is not None:
        io.write_atomically(json, explored.report.certificate_text())
        print(f"certificate written to {json}; check it with: attsvm check {json}")
