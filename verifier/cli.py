"""The command ``attsvm``. Exit codes: 0 done, 1 a certificate refused, 2 bad input or misuse."""

from __future__ import annotations

import io as io_streams
import sys
from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

COMMANDS = {
    "certify": "Decide every condition of a dataset, run descent on it, report and certify.",
    "directions": "List every locally optimal selection with its margin, support and a cone of "
                  "proved starts.",
    "check": "Re-verify certificates from their files alone, with the standard library.",
    "export": "Write the verdicts of a certificate file as theorems for a proof assistant.",
    "descend": "Run gradient descent and keep the run. What it shows is observed, not proved.",
    "family": "Partition an interval of a parameter exactly by feasibility, support and local "
              "optimality.",
    "graph": "Build the token-selection graph: cycles, orders and components, drawn or exported.",
    "latex": "Render certificates as an appendix for a paper, after checking every one of them "
             "again.",
    "priority": "Build token-priority graphs, decide Graph-SVM, and compare a trained layer with "
                "it.",
    "path": "Follow the minimisers of the loss over growing balls. What it shows is observed.",
    "claims": "List claims, state one, or check one on a dataset: what holds, what follows, what "
              "is false.",
    "counterexample": "Search for data on which the hypotheses hold and the conclusion fails, with "
                      "proof.",
    "necessity": "For each hypothesis of each claim, a minimal counterexample without it, or the "
                 "coverage.",
    "reproduce": "Compute a figure of the paper (v1), with what is proved about its trials beside "
                 "it.",
    "sweep": "Decide conditions and claims on random datasets over a grid of sizes and settings.",
}
"""The commands and what they do: ``NAME_command`` of `verifier.commands`.NAME, and the first line
of its docstring, so that ``--help`` need not import it."""


class _Imported(Mapping[str, Any]):
    """The commands by name; one is imported when it is asked for.

    Most commands need numba, scipy or cvxpy, and ``check`` needs none of them.
    """

    def __getitem__(self, name: str) -> Any:
        if name not in COMMANDS:
            raise KeyError(name)
        module = import_module(f"verifier.commands.{name}")
        alone = typer.Typer(add_completion=False, rich_markup_mode=None)
        alone.command(name)(getattr(module, f"{name}_command"))
        return typer.main.get_command(alone)

    def __iter__(self) -> Iterator[str]:
        return iter(COMMANDS)

    def __len__(self) -> int:
        return len(COMMANDS)


class _Group(TyperGroup):
    """Knows the commands, and lists them without importing any."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self.commands: Any = _Imported()

    def list_commands(self, ctx: Any) -> list[str]:
        """The names, in the order of the help."""
        return list(COMMANDS)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """The part of the help that lists the commands."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


app = typer.Typer(
    cls=_Group, no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help='Decide, with proof, the geometric conditions of "Transformers as Support Vector '
         'Machines" (arXiv 2308.16898, v1).')


def _show_version(wanted: bool) -> None:
    if wanted:
        # Only this option needs it, and it takes as long to import as the rest of this module.
        from importlib.metadata import version
        print(f"attsvm {version('attention-svm-verifier')}")
        raise typer.Exit


@app.callback()
def attsvm(show_version: Annotated[bool, typer.Option(
        "--version", callback=_show_version, is_eager=True, help="Show the version.")] = False,
        ) -> None:
    """Only what all commands share."""


def main() -> None:
    """Entry point: bad input ends in one line on stderr and exit code 2, as misuse does."""
    if isinstance(sys.stdout, io_streams.TextIOWrapper):
        # Greek letters become escapes where the terminal has none.
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        app()
    except ValueError as error:
        # Imported only now: it brings numpy and python-flint, which --help and check do without.
        from conditions.errors import InvalidInput
        if not isinstance(error, InvalidInput):
            raise
        print(f"attsvm: {error}", file=sys.stderr)
        sys.exit(2)
