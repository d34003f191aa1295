"""The command ``attsvm``. Exit codes: 0 done, 1 a certificate refused, 2 bad input or misuse."""

from __future__ import annotations

import io as io_streams
import sys
from importlib.metadata import version
from typing import Annotated

import typer

from conditions.errors import InvalidInput
from verifier.commands.certify import certify_command
from verifier.commands.check import check_command
from verifier.commands.claims import claims_command
from verifier.commands.counterexample import counterexample_command
from verifier.commands.descend import descend_command
from verifier.commands.directions import directions_command
from verifier.commands.export import export_command
from verifier.commands.family import family_command
from verifier.commands.graph import graph_command
from verifier.commands.latex import latex_command
from verifier.commands.necessity import necessity_command
from verifier.commands.path import path_command
from verifier.commands.priority import priority_command
from verifier.commands.reproduce import reproduce_command
from verifier.commands.sweep import sweep_command

app = typer.Typer(
    no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help='Decide, with proof, the geometric conditions of "Transformers as Support Vector '
         'Machines" (arXiv 2308.16898, v1).')


def _show_version(wanted: bool) -> None:
    if wanted:
        print(f"attsvm {version('attention-svm-verifier')}")
        raise typer.Exit


@app.callback()
def attsvm(show_version: Annotated[bool, typer.Option(
        "--version", callback=_show_version, is_eager=True, help="Show the version.")] = False,
        ) -> None:
    """Only what all commands share."""


app.command("certify")(certify_command)
app.command("directions")(directions_command)
app.command("check")(check_command)
app.command("export")(export_command)
app.command("descend")(descend_command)
app.command("family")(family_command)
app.command("graph")(graph_command)
app.command("latex")(latex_command)
app.command("priority")(priority_command)
app.command("path")(path_command)
app.command("claims")(claims_command)
app.command("counterexample")(counterexample_command)
app.command("necessity")(necessity_command)
app.command("reproduce")(reproduce_command)
app.command("sweep")(sweep_command)


def main() -> None:
    """Entry point: bad input ends in one line on stderr and exit code 2, as misuse does."""
    if isinstance(sys.stdout, io_streams.TextIOWrapper):
        # Greek letters become escapes where the terminal has none.
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        app()
    except InvalidInput as error:
        print(f"attsvm: {error}", file=sys.stderr)
        sys.exit(2)
