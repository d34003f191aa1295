"""The results of a sweep as files: trials, shares per cell, timings, settings."""

from __future__ import annotations

import csv
import io
import json
import os
import platform
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, fields
from importlib.metadata import version
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from conditions.errors import InvalidInput, unknown
from conditions.verdict import Status
from verifier.experiments.grid import Cell
from verifier.experiments.parallel import ERROR
from verifier.experiments.sweep import Settings, Sweep, Trial
from verifier.experiments.workers import PACKAGE
from verifier.io.files import read_bytes, shown, write_atomically

FORMATS = ("csv", "parquet")
STATUSES = (*map(str, Status), ERROR)
SETTINGS_FILE = "sweep.json"
_FORMAT, _VERSION = "attsvm-sweep", 1
_LARGEST_SETTINGS = 2**26
_COORDINATES = tuple(each.name for each in fields(Cell))

# The types of columns that may be empty throughout.
_OPTIONAL: dict[str, type] = {"m": int, "observed: steps": int, "observed: selects_opt": bool,
                              "observed: correlation": float}

Value = int | float | str | bool | None
Row = dict[str, Value]


def write_results(sweep: Sweep, trials: Sequence[Trial], folder: Path, form: str) -> list[Path]:
    """Write ``trials``, ``summary``, ``timings``, ``observed`` and the settings; the paths.

    *form*: one of `FORMATS`, that of ``trials``; the others are CSV, `SETTINGS_FILE` comes last.
    All but the timings depend on the sweep alone. Raises ``InvalidInput``.
    """
    tables = {f"trials.{form}": trial_rows(sweep, trials)}
    if sweep.asks:
        tables |= {"summary.csv": summary_rows(sweep, trials),
                   "timings.csv": _timing_rows(sweep, trials)}
    if sweep.settings.observe:
        tables["observed.csv"] = observed_rows(sweep, trials)
    for name, rows in tables.items():
        write_table(folder / name, rows)
    write_atomically(folder / SETTINGS_FILE, json.dumps(_settings(sweep), indent=1) + "\n")
    return [folder / name for name in (*tables, SETTINGS_FILE)]


def check_format(form: str) -> None:
    """Raise ``InvalidInput`` unless tables of this form can be written here."""
    if form not in FORMATS:
        raise unknown("format", form, FORMATS)
    if form == "parquet":
        _arrow()


def write_table(path: Path, rows: Sequence[Row]) -> None:
    """Rows of the same columns as ``.csv`` or ``.parquet``; raises ``InvalidInput``.

    In CSV None is empty, floats are the shortest decimals that read back, booleans true and false.
    """
    if path.suffix == ".csv":
        write_atomically(path, _csv(rows))
        return
    arrow, parquet = _arrow()
    columns = {}
    for name in rows[0]:
        values = [row[name] for row in rows]
        kind = next((type(value) for value in values if value is not None),
                    _OPTIONAL.get(name, str))
        columns[name] = arrow.array(values, {int: arrow.int64(), float: arrow.float64(),
                                             bool: arrow.bool_(), str: arrow.string()}[kind])

    def write(file: BinaryIO) -> None:
        parquet.write_table(arrow.table(columns), file)

    write_atomically(path, write)


def _csv(rows: Sequence[Row]) -> str:
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(rows[0])
    for row in rows:
        writer.writerow([str(v).lower() if isinstance(v, bool) else v for v in row.values()])
    return text.getvalue()


def _arrow() -> tuple[Any, Any]:
    try:
        import pyarrow
        import pyarrow.parquet
    except ModuleNotFoundError:
        raise InvalidInput("format", "parquet", "needs the package pyarrow, which is not installed",
                           "pip install 'attention-svm-verifier[parquet]', or choose csv") from None
    return pyarrow, pyarrow.parquet


# Rows ---------------------------------------------------------------------------------------


def trial_rows(sweep: Sweep, trials: Sequence[Trial]) -> list[Row]:
    """A row per trial: coordinates, seed, dataset, and status, evidence, number per question."""
    return [_place(trial.cell) | {"trial": trial.number, "seed": sweep.settings.seed,
                                  "dataset": trial.dataset}
            | _answers(sweep, trial) | _seen(sweep, trial) for trial in trials]


def _place(cell: Cell) -> Row:
    """The coordinates; m is None where none is chosen."""
    return {**dict(zip(_COORDINATES, cell.values, strict=True)), "m": cell.m or None}


def _answers(sweep: Sweep, trial: Trial) -> Row:
    row: Row = {}
    for k, ask in enumerate(sweep.asks):
        answer = (ERROR, "", trial.error) if trial.error else trial.answers[k]
        row |= {f"{name}: {ask.text}": value for name, value
                in zip(("status", "evidence", "number"), answer, strict=True)}
    return row


def _seen(sweep: Sweep, trial: Trial) -> Row:
    """What the run of a trial showed, where descent is observed."""
    if not sweep.settings.observe:
        return {}
    names = ("outcome", "steps", "selected", "selects_opt", "correlation")
    seen = trial.observed
    if seen is None:
        return {f"observed: {name}": None for name in names}
    values = (seen.outcome, seen.steps, " ".join(map(str, seen.selected)), seen.selects_opt,
              seen.correlation)
    return {f"observed: {name}": value for name, value in zip(names, values, strict=True)}


def summary_rows(sweep: Sweep, trials: Sequence[Trial]) -> list[Row]:
    """A row per cell and question: how many trials have each status, and the shares."""
    rows: list[Row] = []
    for cell, group in _by_cell(sweep, trials):
        for k, ask in enumerate(sweep.asks):
            count = Counter(ERROR if one.error else one.answers[k][0] for one in group)
            rows.append(_place(cell) | {"ask": ask.text, "trials": len(group)}
                        | {status: count[status] for status in STATUSES}
                        | {f"share {status}": count[status] / len(group) for status in STATUSES})
    return rows


def observed_rows(sweep: Sweep, trials: Sequence[Trial]) -> list[Row]:
    """A row per cell of what runs showed: the share that selects opt, correlations with W^mm.

    A share or a mean is over the trials that have the figure, which are counted beside it.
    """
    rows = []
    for cell, group in _by_cell(sweep, trials):
        seen = [one.observed for one in group if one.observed is not None]
        opt = [one.selects_opt for one in seen if one.selects_opt is not None]
        values = sorted(one.correlation for one in seen if one.correlation is not None)
        rows.append(_place(cell) | {
            "runs": len(seen), "with opt": len(opt),
            "share selecting opt": sum(opt) / len(opt) if opt else None,
            "with W^mm": len(values), "least correlation": values[0] if values else None,
            "mean correlation": float(np.mean(values)) if values else None})
    return rows


def _timing_rows(sweep: Sweep, trials: Sequence[Trial]) -> list[Row]:
    return [_place(trial.cell) | {"trial": trial.number} | {
        f"seconds: {ask.text}": None if trial.error else trial.seconds[k]
        for k, ask in enumerate(sweep.asks)} for trial in trials]


def _by_cell(sweep: Sweep, trials: Sequence[Trial]) -> Iterator[tuple[Cell, Sequence[Trial]]]:
    for k, cell in enumerate(sweep.cells):
        yield cell, trials[k * sweep.trials:(k + 1) * sweep.trials]


# Settings -----------------------------------------------------------------------------------


def _settings(sweep: Sweep) -> dict[str, Any]:
    return {"format": _FORMAT, "version": _VERSION,
            "versions": {PACKAGE: version(PACKAGE), "python": platform.python_version(),
                         "numpy": version("numpy"), "python-flint": version("python-flint")},
            "settings": asdict(sweep.settings), "trials": sweep.trials,
            "cells": [dict(zip(_COORDINATES, cell.values, strict=True)) for cell in sweep.cells]}


def read_sweep(folder: Path) -> Sweep:
    """The sweep whose settings are in *folder*. Raises ``InvalidInput``."""
    path = os.path.join(folder, SETTINGS_FILE)
    try:
        found = json.loads(read_bytes(path, _LARGEST_SETTINGS))
        if found["format"] != _FORMAT or found["version"] != _VERSION:
            raise KeyError("format")
        given = found["settings"]
        return Sweep(tuple(Cell(**cell) for cell in found["cells"]), found["trials"],
                     Settings(**{**given, "asks": tuple(given["asks"])}))
    except InvalidInput:
        raise
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise InvalidInput("settings of the sweep", shown(path), "must be written by attsvm sweep",
                           "give the folder of a sweep that was finished") from None
