"""``attsvm counterexample``."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from conditions.errors import InvalidInput
from verifier.claims.claim import Claim, claim_of
from verifier.claims.parsing import parse
from verifier.claims.registry import find
from verifier.commands.options import check_seconds
from verifier.search.batch import Size
from verifier.search.bundle import NAMES, bundle, write
from verifier.search.engine import search
from verifier.search.problem import Problem
from verifier.search.shrink import shrink

_SHRINKING = 0.5
"""The share of the seconds that shrinking may take beside those of the search."""


def counterexample_command(
        claim: Annotated[str | None, typer.Argument(
            help="A registered claim (attsvm claims lists them).", show_default=False)] = None,
        expression: Annotated[str | None, typer.Option(
            help="A claim of your own instead, e.g. 'feasible(opt) >> no_stationary_point'.")
            ] = None,
        without: Annotated[list[str] | None, typer.Option(
            help="A hypothesis to drop; may be repeated.")] = None,
        seconds: Annotated[float, typer.Option(
            help="Budget of the search; shrinking may take half as long again.")] = 60.0,
        seed: Annotated[int, typer.Option(help="Of everything random.")] = 0,
        size: Annotated[str | None, typer.Option(
            help="Datasets of this size n,T,d alone; else sizes grow.")] = None,
        out: Annotated[Path | None, typer.Option(
            help=f"Write {', '.join(NAMES)} into this directory.")] = None) -> None:
    """Search for data on which the hypotheses hold and the conclusion fails, with proof."""
    check_seconds(seconds)
    problem = Problem.of(_claim(claim, expression), *(without or ()))
    shape = None if size is None else parse_size(size)
    with Console(stderr=True).status("searching …") as status:
        def progress(line: str) -> None:
            status.update(line)

        result = search(problem, seconds=seconds, seed=seed, size=shape, progress=progress)
        if result.found is None:
            shrunk = made = None
        else:
            began = time.monotonic()
            shrunk = shrink(problem, result.found, seconds=max(seconds * _SHRINKING, 5.0),
                            keep_size=shape is not None, progress=progress)
            made = bundle(problem, shrunk)
            taken = time.monotonic() - began
    if made is None or shrunk is None:
        print(f"no counterexample to {problem.title} found in {result.seconds:.1f} s (seed {seed}),"
              f" which proves nothing; looked at {result.coverage.summary()}:")
        print("\n".join(f"  {line}" for line in result.coverage.lines()))
        return
    print(made.explanation)
    print(f"found in {result.seconds:.1f} s (seed {seed}), shrunk in {taken:.1f} s and "
          f"{shrunk.steps} moves; the checker accepts {made.checked.counts['proved']} verdicts")
    if out is not None:
        write(made, out)
        print(f"written to {out}; check it with: attsvm check {out / NAMES[1]}")


def _claim(name: str | None, expression: str | None) -> Claim:
    if (name is None) == (expression is None):
        raise InvalidInput("claim", name, "must be given, or else --expression",
                           "give one of the two")
    return find(name) if name is not None else claim_of(parse(str(expression)))


def parse_size(text: str) -> Size:
    """The n, T, d that *text* lists. Raises ``InvalidInput``."""
    try:
        size = Size(*(int(part) for part in text.split(",")))
    except (ValueError, TypeError):
        size = Size(0, 0, 0)
    if size.n < 1 or size.T < 2 or size.d < 1:
        raise InvalidInput("--size", text, "must be three integers n,T,d with n ≥ 1, T ≥ 2, d ≥ 1",
                           "give e.g. 2,3,2")
    return size
