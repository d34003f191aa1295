"""``attsvm sweep``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from conditions.errors import InvalidInput
from conditions.exact.numbers import number_to_json, rational
from verifier import io
from verifier.certify import dataset_to_json
from verifier.commands.options import Iterations
from verifier.experiments.grid import cells, parse_integers
from verifier.experiments.sweep import Settings, Sweep
from verifier.experiments.tables import check_format, read_sweep, write_results
from verifier.report.sweep import print_sweep

JOURNAL = "journal.jsonl"


def sweep_command(
        out: Annotated[Path, typer.Option(
            help="The folder of the results; a sweep that was killed continues from it.",
            show_default=False)],
        ask: Annotated[list[str] | None, typer.Option(
            help="What to decide: an expression over the predicates of attsvm claims "
            "--predicates, or a registered claim. May be repeated.", show_default=False)] = None,
        n: Annotated[str, typer.Option("--n", help="Samples: 2,4,6 or 2..10.")] = "2",
        T: Annotated[str, typer.Option("--T", help="Tokens per sample.")] = "3",
        d: Annotated[str, typer.Option("--d", help="Dimension.")] = "2",
        m: Annotated[str, typer.Option(
            "--m", help="Columns of K and Q; 0: none chosen, K and Q are d × d.")] = "0",
        head: Annotated[str, typer.Option(
            help="linear, quadratic:λ, relu:UNITS, multiclass:CLASSES, separated by commas.",
            )] = "linear",
        loss: Annotated[str, typer.Option(help="logistic, exponential, correlation.")] = "logistic",
        parameterization: Annotated[str, typer.Option(help="W, KQ.")] = "W",
        rule: Annotated[str, typer.Option(help="normalized, plain, flow.")] = "normalized",
        trials: Annotated[int, typer.Option(help="Trials of every cell.")] = 100,
        data: Annotated[str, typer.Option(
            help="sphere, gaussian or integers (−2..2, with many ties).")] = "sphere",
        seed: Annotated[int, typer.Option(help="Of everything random.")] = 0,
        selection: Annotated[str, typer.Option(
            help="α: opt, or gd (what descent selects).")] = "opt",
        step: Annotated[str | None, typer.Option(
            help="η, exact: a decimal or p/q. By default 1/10, and for plain descent on W "
            "2^−k ≤ 1/L_W (Lemma 4).")] = None,
        seconds: Annotated[float, typer.Option(
            help="Budget of each search for a proof; what it cuts short is undecided.")] = 10.0,
        observe: Annotated[bool, typer.Option(
            "--observe", help="Run descent: which tokens it selects, correlation with W^mm.",
            )] = False,
        iterations: Iterations = 2000,
        jobs: Annotated[int | None, typer.Option(
            help="Local processes, one per CPU by default; 1 is this process.",
            show_default=False)] = None,
        cluster: Annotated[str | None, typer.Option(
            help="Run on Dask: local, or the address of a scheduler, tcp://….")] = None,
        form: Annotated[str, typer.Option(
            "--format", help="Of the table of trials: csv or parquet.")] = "csv",
        trial_data: Annotated[str | None, typer.Option(
            "--trial-data", metavar="CELL,TRIAL", help="Only write the dataset of this trial of "
            "the sweep in --out, counted from 0, to a file there.")] = None) -> None:
    """Decide conditions and claims on random datasets over a grid of sizes and settings."""
    if trial_data is not None:
        _write_trial(out, trial_data)
        return
    check_format(form)
    sweep = Sweep(
        cells(n=parse_integers(n, "--n"), T=parse_integers(T, "--T"), d=parse_integers(d, "--d"),
              m=parse_integers(m, "--m"), head=_names(head), loss=_names(loss),
              parameterization=_names(parameterization), rule=_names(rule)),
        trials, Settings(tuple(text.strip() for text in ask or ()), data, seed, selection, step,
                         seconds, observe, iterations))
    _make(out)
    found = sweep.run(jobs=jobs, cluster=cluster, journal=out / JOURNAL, progress=True)
    written = write_results(sweep, found, out, form)
    print_sweep(sweep, found)
    print(f"{len(found)} trials written to {', '.join(map(str, written))}")


def _names(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(","))


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise InvalidInput("--out", str(folder), f"must be a folder ({why})",
                           "choose another") from None


def _write_trial(folder: Path, place: str) -> None:
    """Write the dataset of one trial, with what its head and its run start from."""
    try:
        cell, trial = (int(part) for part in place.split(","))
    except ValueError:
        raise InvalidInput("--trial-data", place, "must be CELL,TRIAL", "e.g. 0,17") from None
    dataset, head, start = read_sweep(folder).dataset(cell, trial)
    path = folder / f"cell{cell}_trial{trial}.json"
    fields = {**dataset_to_json(dataset),
              **{name: _spelled(value) for name, value in head.parameters().items()}}
    if start is not None:
        fields |= {"K0": _spelled(start[0]), "Q0": _spelled(start[1])}
    io.write_atomically(path, json.dumps(fields) + "\n")
    print(f"dataset {dataset.fingerprint[:16]} written to {path}")


def _spelled(value: Any) -> Any:
    """Numbers, or arrays of them, as a data file spells them: exactly."""
    if isinstance(value, np.ndarray | tuple):
        return [_spelled(item) for item in value]
    return number_to_json(rational(value))
