"""``attsvm priority``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import Progress

from conditions.errors import InvalidInput
from verifier import io
from verifier.commands.options import check_output
from verifier.io.interactions import Columns
from verifier.io.sequences import KINDS, read_sequences
from verifier.priority import EMBEDDINGS, prioritize
from verifier.report.priority import print_priority
from verifier.report.priority_picture import DRAWN_GRAPHS, check_suffix, export_priority


def priority_command(
        file: Annotated[Path, typer.Argument(
            help="A text, integer sequences, or a CSV/TSV of user, item, time.",
            show_default=False)],
        tokens: Annotated[str | None, typer.Option(
            help=f"{', '.join(KINDS)}; by default told from the suffix.")] = None,
        columns: Annotated[str | None, typer.Option(
            help="USER,ITEM,TIME: the columns of a CSV/TSV, if not so named.")] = None,
        top: Annotated[int, typer.Option(help="Keep the most frequent tokens only.")] = 50,
        sequences: Annotated[int | None, typer.Option(
            help="Keep the first sequences only, before --top.")] = None,
        context: Annotated[int, typer.Option(help="Tokens of an input, at most.")] = 8,
        missing: Annotated[str, typer.Option(
            help="add: put the label into inputs without it; drop: leave these out.")] = "add",
        embeddings: Annotated[str | None, typer.Option(
            help=f"{', '.join(EMBEDDINGS)}; by default those of the file, else one-hot.")] = None,
        dim: Annotated[int | None, typer.Option(help="d of --embeddings signs.")] = None,
        seed: Annotated[int, typer.Option(help="Of --embeddings signs.")] = 0,
        iterations: Annotated[int, typer.Option(help="Steps of the run; 0 for none.")] = 2000,
        step: Annotated[float | None, typer.Option(
            help="η > 0; by default the inverse of a bound of the smoothness.")] = None,
        last: Annotated[list[str] | None, typer.Option(
            help="A last token whose graph to show; may be repeated.")] = None,
        json: Annotated[Path | None, typer.Option(help="Write the certificate here.")] = None,
        out: Annotated[Path | None, typer.Option(
            help="Draw graphs and comparison: .svg, .png or .pdf.")] = None) -> None:
    """Build token-priority graphs, decide Graph-SVM, and compare a trained layer with it."""
    check_output(json, "--json", file)
    check_output(out, "--out", file)
    if out is not None:
        check_suffix(out)
    read = read_sequences(file, tokens, _columns(columns))
    if sequences is not None:
        read = read.first(sequences)
    with Progress(console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("training", total=iterations)
        found = prioritize(read.most_frequent(top), source=file.name, embeddings=embeddings,
                           dim=dim, seed=seed, context=context, missing=missing,
                           iterations=iterations, step=step,
                           advance=lambda: progress.advance(task))
    graphs = [found.after(name) for name in last] if last else None
    print_priority(found, graphs)
    if json is not None:
        io.write_atomically(json, found.report.certificate_text())
        print(f"certificate written to {json}; check it with: attsvm check {json}")
    if out is not None:
        export_priority(found, out, graphs or found.of_interest(DRAWN_GRAPHS))
        print(f"drawn: {out}")


def _columns(text: str | None) -> Columns | None:
    if text is None:
        return None
    names = tuple(name.strip() for name in text.split(","))
    if len(names) != 3 or not all(names):
        raise InvalidInput("--columns", text, "must be three names USER,ITEM,TIME", "correct it")
    return names[0], names[1], names[2]
