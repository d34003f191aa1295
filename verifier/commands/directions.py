"""``attsvm directions``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from verifier import io
from verifier.commands.appendix import check_latex, write_appendix
from verifier.commands.options import (
    Data,
    Headed,
    Loss,
    Rule,
    Step,
    Trial,
    check_output,
    check_seconds,
    require_linear,
    source_name,
)
from verifier.directions import explore
from verifier.report.terminal import print_directions


def directions_command(
        data: Data, trial: Trial = None, head: Headed = None, loss: Loss = "logistic",
        rule: Rule = "normalized", step: Step = 0.1,
        seconds: Annotated[float | None, typer.Option(help="Budget; none: to the end.")] = None,
        json: Annotated[Path | None, typer.Option(help="Write the certificate here.")] = None,
        latex: Annotated[Path | None, typer.Option(
            help="Write the report as an appendix for a paper here, .tex, and the certificate "
            "beside it unless --json does.")] = None,
        ) -> None:
    """List every locally optimal selection with its margin, support and a cone of proved starts."""
    if seconds is not None:
        check_seconds(seconds)
    check_output(json, "--json", data)
    check_latex(latex)
    dataset = io.load_dataset(data, trial)
    require_linear("directions", io.load_head(data, head, trial))
    with Console(stderr=True).status("walking the tree of selections …") as status:
        explored = explore(dataset, source=source_name(data, trial), loss=loss, rule=rule,
                           step=step, seconds=seconds,
                           progress=lambda reached: status.update(f"decided {reached} …"))
    print_directions(explored)
    if json is not None:
        io.write_atomically(json, explored.report.certificate_text())
        print(f"certificate written to {json}; check it with: attsvm check {json}")
    if latex is not None:
        print(write_appendix(latex, explored.report, json))
