"""``attsvm certify``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from verifier import io
from verifier.certify import certify
from verifier.commands.appendix import check_latex, write_appendix
from verifier.commands.options import (
    Data,
    Headed,
    Iterations,
    Loss,
    Parameterized,
    Rule,
    Start,
    Step,
    Trial,
    check_distinct,
    check_output,
    check_seconds,
    parse_selection,
    parse_start,
    require_linear,
    source_name,
)
from verifier.report.terminal import print_report


def certify_command(
        data: Data, trial: Trial = None,
        selection: Annotated[str | None, typer.Option(
            help="opt, gd (what the run selects) or token indices I,J,… from 0. Left out: opt, and "
            "gd for a head that is not linear.")] = None,
        head: Headed = None, parameterization: Parameterized = "W", loss: Loss = "logistic",
        rule: Rule = "normalized", step: Step = 0.1, iterations: Iterations = 2000,
        start: Start = "zero",
        seconds: Annotated[float, typer.Option(
            help="How long the run may be continued until its limit is proved.")] = 30.0,
        from_start: Annotated[bool, typer.Option(
            "--from-start", help="Also prove the limit of exact descent from W(0), for small "
            "data, by repeating the run in enclosures.")] = False,
        robust: Annotated[bool, typer.Option(
            "--robust", help="Also find how far every entry of the data may move before the "
            "verdicts are in doubt.")] = False,
        only: Annotated[str | None, typer.Option(
            help="Decide only the conditions named, NAME,NAME,….")] = None,
        json: Annotated[Path | None, typer.Option(help="Write the certificate here.")] = None,
        html: Annotated[Path | None, typer.Option(
            help="Write the report as one self-contained web page here.")] = None,
        latex: Annotated[Path | None, typer.Option(
            help="Write the report as an appendix for a paper here, .tex, and the certificate "
            "beside it unless --json does.")] = None,
        coq: Annotated[Path | None, typer.Option(
            help="Write the verdicts as theorems for the proof assistant Coq into this "
            "directory, new or empty.")] = None,
        plots: Annotated[Path | None, typer.Option(
            help="Draw the selection graph and, in the plane, the loss landscape here.")] = None,
        ) -> None:
    """Decide every condition of a dataset, run descent on it, report and certify."""
    check_seconds(seconds)
    check_output(json, "--json", data, start)
    check_output(html, "--html", data, start)
    check_distinct(json=json, html=html, latex=latex, coq=coq, plots=plots)
    check_latex(latex)
    dataset, chosen = io.load_dataset(data, trial), io.load_head(data, head, trial)
    if plots is not None:
        require_linear("--plots", chosen)
    report = certify(dataset, source=source_name(data, trial), head=chosen,
                     selection=None if selection is None else parse_selection(selection),
                     only=None if only is None else only.split(","),
                     parameterization=parameterization, loss=loss, rule=rule, step=step,
                     iterations=iterations, start=parse_start(start, data, trial, parameterization),
                     seconds=seconds, from_start=from_start, robust=robust, progress=True)
    print_report(report)
    # Renderings are imported when they are asked for: matplotlib alone takes half a second.
    if json is not None:
        io.write_atomically(json, report.certificate_text())
        print(f"certificate written to {json}; check it with: attsvm check {json}")
    if html is not None:
        from verifier.report.html import render as render_page
        io.write_atomically(html, render_page(report))
        print(f"page written to {html}")
    if latex is not None:
        print(write_appendix(latex, report, json))
    if coq is not None:
        from verifier.commands.export import write_export
        print(write_export(report, coq))
    if plots is not None:
        from verifier.report.plots import export_plots
        print("drawn: " + ", ".join(map(str, export_plots(report, plots, loss))))
