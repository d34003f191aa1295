"""``attsvm family``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from conditions.errors import Description, InvalidInput
from conditions.family import Span
from verifier import io
from verifier.commands.options import check_output, parse_selection
from verifier.families import Partitioned, partition_file, point_text
from verifier.kernel import check_text
from verifier.report.terminal import shown_selection


def family_command(
        data: Annotated[Path, typer.Argument(
            help="Family of datasets, .json, entries such as \"1 - theta^2\".",
            show_default=False)],
        selection: Annotated[str, typer.Option(
            help="opt (the optimal tokens in the middle of the interval) or token indices "
            "I,J,… from 0.")] = "opt",
        interval: Annotated[tuple[str, str] | None, typer.Option(
            help="The ends of the interval, rational; else those of the file.")] = None,
        json: Annotated[Path | None, typer.Option(help="Write the certificate here.")] = None,
        ) -> None:
    """Partition an interval of a parameter exactly by feasibility, support and local optimality."""
    check_output(json, "--json", data)
    named = parse_selection(selection)
    if named == "gd":
        raise InvalidInput("--selection", selection, "must be opt or token indices",
                           "a run selects at one value of the parameter only")
    found = partition_file(data, named, interval)
    text = None if json is None else _accepted(found)
    Console().print(_table(found))
    print("all pieces exact: polynomial multipliers, signs by root isolation")
    if json is not None and text is not None:
        io.write_atomically(json, text)
        print(f"certificate written to {json}; check it with: attsvm check {json}")


def _accepted(found: Partitioned) -> str:
    """The certificate, which the checker accepts: its work is limited. Raises ``InvalidInput``."""
    text = found.certificate_text()
    refusals = check_text(text).refusals
    if refusals:
        raise InvalidInput("certificate of the family", Description(refusals[0]),
                           "must be accepted by the checker",
                           "narrow the interval or simplify the entries")
    return text


def _table(found: Partitioned) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="bold",
                  title=f"α = {shown_selection(found.selection)}", title_justify="left")
    for name in (found.family.parameter, "Att-SVM(α)", "support indices", "α locally optimal"):
        table.add_column(name, overflow="fold")
    for span in found.spans:
        piece = span.piece
        feasible = piece.scale is not None
        table.add_row(_span_text(span), piece.status,
                      Text(", ".join(f"({i},{t})" for i, t in piece.support) if feasible else "–"),
                      "–" if piece.status == "undefined"
                      else "holds" if piece.locally_optimal else "fails")
    return table


def _span_text(span: Span) -> Text:
    low, high = point_text(span.low), point_text(span.high)
    if span.low == span.high:
        return Text(low)
    return Text(f"{'[' if span.closed_low else '('}{low}, {high}{']' if span.closed_high else ')'}")
