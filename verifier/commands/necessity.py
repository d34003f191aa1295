"""``attsvm necessity``."""

from __future__ import annotations

import json as json_text
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from verifier import io
from verifier.claims.registry import CLAIMS, find
from verifier.commands.options import check_seconds
from verifier.search.necessity import Entry, necessity, table


def necessity_command(
        claims: Annotated[list[str] | None, typer.Argument(
            help="Registered claims; all if none is named.", show_default=False)] = None,
        seconds: Annotated[float, typer.Option(help="Budget of all searches together.")] = 1500.0,
        seed: Annotated[int, typer.Option(help="Of everything random.")] = 0,
        json: Annotated[Path | None, typer.Option(help="Write the matrix here.")] = None) -> None:
    """For each hypothesis of each claim, a minimal counterexample without it, or the coverage."""
    check_seconds(seconds)
    chosen = [find(name) for name in claims] if claims else list(CLAIMS.values())
    with Console(stderr=True).status("searching …") as status:
        def done(entry: Entry) -> None:
            status.console.print(table([entry]), markup=False, highlight=False, soft_wrap=True)

        entries = necessity(chosen, seconds=seconds, seed=seed, progress=status.update, done=done)
    print(table(entries))
    left_out = [claim.name for claim in chosen if claim.conclusion is None]
    if left_out:
        print(f"only observed, nothing to certify: {', '.join(left_out)}")
    print("A search that finds nothing proves nothing: it says what it looked at.")
    if json is not None:
        matrix = {"seed": seed, "entries": [entry.to_json() for entry in entries]}
        io.write_atomically(json, json_text.dumps(matrix, ensure_ascii=False, indent=1) + "\n")
        print(f"matrix written to {json}")
