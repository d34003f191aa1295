"""``attsvm latex``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from verifier import io
from verifier.certificate_file import Accepted, RefusedError, load_accepted
from verifier.commands.appendix import check_latex
from verifier.commands.options import check_output
from verifier.report.latex import File, render


def latex_command(
        files: Annotated[list[Path], typer.Argument(
            help="Certificate files about one dataset.", show_default=False)],
        out: Annotated[Path, typer.Option(help="Write the appendix here, .tex.",
                                          show_default=False)]) -> None:
    """Render certificates as an appendix for a paper, after checking every one of them again."""
    check_latex(out)
    check_output(out, "--out", *files)
    accepted = [_accepted(file) for file in files]
    io.write_atomically(out, render(
        *(each.report for each in accepted),
        files=[File(file.name, each.sha256) for file, each in zip(files, accepted, strict=True)]))
    print(f"appendix written to {out}")


def _accepted(file: Path) -> Accepted:
    """The report of *file*; ends the command if the checker refuses it."""
    try:
        return load_accepted(file)
    except RefusedError as error:
        for refusal in error.refusals:
            print(f"{file}: refused  {refusal}", file=sys.stderr)
        raise typer.Exit(1) from None
