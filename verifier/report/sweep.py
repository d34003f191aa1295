"""The table of a sweep on the terminal: shares per cell, and what runs showed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields

from rich.console import Console
from rich.table import Table
from rich.text import Text

from verifier.experiments.grid import Cell
from verifier.experiments.parallel import ERROR
from verifier.experiments.sweep import Sweep, Trial
from verifier.experiments.tables import Row, observed_rows, summary_rows

MAX_CELLS = 60
"""Rows that are printed; summary.csv has all."""


def print_sweep(sweep: Sweep, trials: Sequence[Trial], console: Console | None = None) -> None:
    """A row per cell: for every question the trials in which it holds, fails, is undecided."""
    console = console or Console()
    varying = [each.name for each in fields(Cell)
               if len({getattr(cell, each.name) for cell in sweep.cells}) > 1] or ["n", "T", "d"]
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="bold")
    for name in varying:
        table.add_column(name, justify="right")
    for ask in sweep.asks:
        table.add_column(Text(ask.text), overflow="fold")
    if sweep.settings.observe:
        table.add_column("selects opt", justify="right")
        table.add_column("correlation", justify="right")
    summary = summary_rows(sweep, trials)
    seen = observed_rows(sweep, trials) if sweep.settings.observe else []
    for k, cell in enumerate(sweep.cells[:MAX_CELLS]):
        asked = summary[k * len(sweep.asks):(k + 1) * len(sweep.asks)]
        table.add_row(*(str(getattr(cell, name)) for name in varying), *map(_counts, asked),
                      *(_observed(seen[k]) if seen else ()))
    console.print(table)
    if len(sweep.cells) > MAX_CELLS:
        console.print(f"… and {len(sweep.cells) - MAX_CELLS} more cells in the files")
    if sweep.asks:
        console.print(f"of {sweep.trials} trials each: holds / fails / undecided, + errors",
                      highlight=False)
    if sweep.settings.observe:
        console.print("observed: share of runs that select opt, mean correlation with W^mm of the "
                      "tokens selected", highlight=False)
    errors = [trial for trial in trials if trial.error]
    if errors:
        console.print(f"errors in {len(errors)} of {len(trials)} trials; trial {errors[0].number} "
                      f"of {errors[0].cell.values}: {errors[0].error}", highlight=False)


def _counts(row: Row) -> str:
    text = " / ".join(str(row[status]) for status in ("holds", "fails", "undecided"))
    return f"{text} + {row[ERROR]}" if row[ERROR] else text


def _observed(row: Row) -> tuple[str, str]:
    share, mean = row["share selecting opt"], row["mean correlation"]
    return ("–" if share is None else f"{share:.3g}", "–" if mean is None else f"{mean:.6g}")
