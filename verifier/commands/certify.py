"""``attsvm certify``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from verifier import io
from verifier.certify import certify
from verifier.commands.options import (
    Chosen,
    Data,
    Iterations,
    Loss,
    Parameterized,
    Rule,
    Start,
    Step,
    Trial,
    check_output,
    check_seconds,
    parse_selection,
    parse_start,
    source_name,
)
from verifier.report.plots import export_plots
from verifier.report.terminal import print_report


def certify_command(
        data: Data, trial: Trial = None, selection: Chosen = "opt",
        parameterization: Parameterized = "W", loss: Loss = "logistic",
        rule: Rule = "normalized", step: Step = 0.1, iterations: Iterations = 2000,
        start: Start = "zero",
        seconds: Annotated[float, typer.Option(
            help="How long the run may be continued until its limit is proved.")] = 30.0,
        from_start: Annotated[bool, typer.Option(
            "--from-start", help="Also prove the limit of exact descent from W(0), for small "
            "data, by repeating the run in enclosures.")] = False,
        json: Annotated[Path | None, typer.Option(help="Write the certificate here.")] = None,
        plots: Annotated[Path | None, typer.Option(
            help="Draw the selection graph and, in the plane, the loss landscape here.")] = None,
        ) -> None:
    """Decide every condition of a dataset, run descent on it, report and certify."""
    check_seconds(seconds)
    check_output(json, "--json", data, start)
    dataset = io.load_dataset(data, trial)
    report = certify(dataset, source=source_name(data, trial), selection=parse_selection(selection),
                     parameterization=parameterization, loss=loss, rule=rule, step=step,
                     iterations=iterations, start=parse_start(start, data, trial, parameterization),
                     seconds=seconds, from_start=from_start, progress=True)
    print_report(report)
    if json is not None:
        io.write_atomically(json, report.certificate_text())
        print(f"certificate written to {json}; check it with: attsvm check {json}")
    if plots is not None:
        print("drawn: " + ", ".join(map(str, export_plots(report, plots, loss))))
