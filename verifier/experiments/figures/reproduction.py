"""Compute a figure of the paper, and write it as pictures, as a table and as JSON."""

from __future__ import annotations

import csv
import io
import json
import os
import platform
import textwrap
from collections import Counter
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure as Canvas

from conditions.errors import InvalidInput, counted, unknown
from verifier.experiments.figures.drawing import STYLE
from verifier.experiments.figures.figure import Figure, Summary
from verifier.experiments.parallel import ERROR, run_trials
from verifier.experiments.workers import PACKAGE, Record
from verifier.io.files import shown, write_atomically

FORMAT, VERSION = "attsvm-figure", 1
PICTURES = ("png", "pdf", "svg")
_PACKAGES = (PACKAGE, "numpy", "scipy", "python-flint", "numba", "cvxpy", "matplotlib")
_DATES = {"png": {}, "pdf": {"CreationDate": None}, "svg": {"Date": None}}
_LINE, _POINTS = 0.143, 17.0
"""Inches a line of the caption is high; characters an inch of it holds."""


@dataclass(frozen=True)
class Reproduction:
    """The trials of a figure, and the numbers drawn. A record is a dict that JSON can spell.

    ``rejected`` counts the draws that were replaced, by reason.
    """

    figure: Figure
    trials: int
    seed: int
    settings: dict[str, Any]
    records: list[Record]
    rejected: dict[str, int]
    summary: Summary

    @property
    def caption(self) -> str:
        """What is shown, what of it is proved and what observed."""
        return self.figure.caption(self.summary, self.settings)


def reproduce(figure: Figure, *, trials: int | None = None, seed: int = 0,
              jobs: int | None = None, cluster: str | None = None, progress: bool = False,
              **settings: Any) -> Reproduction:
    """Compute *figure*. The result depends on *trials*, *seed* and *settings* alone.

    trials: of each cell, by default as many as in the paper; settings: instead of the paper's.
    jobs, cluster, progress: as of `verifier.experiments.parallel.run_trials`; without *jobs* a
    quick figure is computed in this process.
    Raises ``InvalidInput``.
    """
    count = figure.trials if trials is None else _integer(trials, "trials", 1)
    seed = _integer(seed, "seed", 0)
    for name in settings:
        if name not in figure.settings:
            raise unknown(f"setting of figure {figure.number}", name, figure.settings)
    chosen = {**figure.settings, **settings}
    if jobs is None and cluster is None and figure.quick and count <= figure.trials:
        jobs = 1
    blocks = run_trials(figure.function(chosen, seed), figure.blocks(chosen, count), jobs=jobs,
                        cluster=cluster, progress=progress)
    lost = [block[ERROR] for block in blocks if ERROR in block]
    if lost:
        raise InvalidInput("trials", counted(len(lost), "block"), f"must be computed ({lost[0]})",
                           "use fewer processes, or more memory")
    records = [record for block in blocks for record in block["records"]]
    rejected = Counter[str]()
    for block in blocks:
        rejected.update(block.get("rejected", {}))
    return Reproduction(figure, count, seed, chosen, records, dict(sorted(rejected.items())),
                        figure.summary(records, chosen))


def recompute(reproduction: Reproduction, record: Record) -> list[Record]:
    """The records of the trial that *record* is about, computed again from its coordinates."""
    figure = reproduction.figure
    function = figure.function(reproduction.settings, reproduction.seed)
    (block,) = run_trials(function, [figure.coordinate(record)], jobs=1)
    found: list[Record] = block["records"]
    return found


def check_folder(folder: Path) -> None:
    """Refuse what `write` could not write to, and make nothing. Raises ``InvalidInput``."""
    nearest = next(path for path in (folder.absolute(), *folder.absolute().parents)
                   if path.exists())
    if not (nearest.is_dir() and os.access(nearest, os.W_OK | os.X_OK)):
        raise InvalidInput("--out", shown(folder), "must be a folder, or a new one in a folder, "
                           "that may be written", "choose another")


def write(reproduction: Reproduction, folder: Path) -> list[Path]:
    """Write figure-N as .png, .pdf, .svg, .csv and .json into *folder*, which is made if need be.

    Raises ``InvalidInput`` where nothing can be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidInput("--out", shown(folder), f"must be a folder ({error.strerror})",
                           "choose another") from None
    stem = folder / f"figure-{reproduction.figure.number}"
    contents: dict[str, bytes | str] = {"json": to_json(reproduction),
                                        "csv": to_csv(reproduction.records),
                                        **pictures(reproduction)}
    written = []
    for suffix, content in contents.items():
        written.append(stem.with_suffix(f".{suffix}"))
        write_atomically(written[-1], content)
    return written


# Numbers ------------------------------------------------------------------------------------


def to_json(reproduction: Reproduction) -> str:
    """Everything: settings, versions, caption, the numbers drawn, and the record of each trial."""
    figure = reproduction.figure
    head = {"format": FORMAT, "version": VERSION, "figure": figure.number, "title": figure.title,
            "source": "arXiv 2308.16898 v1", "trials": reproduction.trials,
            "seed": reproduction.seed, "settings": reproduction.settings,
            "versions": {"python": platform.python_version(),
                         **{name: version(name) for name in _PACKAGES}},
            "caption": reproduction.caption, "rejected": reproduction.rejected,
            "summary": reproduction.summary}
    records = ",\n".join(json.dumps(record, ensure_ascii=False) for record in reproduction.records)
    text = json.dumps(head, ensure_ascii=False, indent=1, allow_nan=False)
    return f'{text[:-2]},\n "records": [\n{records}\n]\n}}\n'


def to_csv(records: list[Record]) -> str:
    """A line a record, cells as `cell` spells them."""
    columns = list(dict.fromkeys(name for record in records for name in record))
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([cell(record.get(name)) for name in columns] for record in records)
    return stream.getvalue()


def cell(value: object) -> str:
    """Numbers as Python and JSON spell them, lists with spaces (lists in them with slashes)."""
    if isinstance(value, list):
        inner = "/" if any(isinstance(item, list) for item in value) else " "
        return " ".join(inner.join(map(cell, item)) if isinstance(item, list) else cell(item)
                        for item in value)
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


# Pictures -----------------------------------------------------------------------------------


def pictures(reproduction: Reproduction) -> dict[str, bytes]:
    """The figure with its caption, by file suffix."""
    figure = reproduction.figure
    width, height = figure.size
    lines = textwrap.wrap(reproduction.caption, int(width * _POINTS))
    below = (len(lines) + 0.7) * _LINE
    style: Any = {**STYLE, "svg.hashsalt": f"figure {figure.number}"}
    with mpl.rc_context(style):
        canvas = Canvas(figsize=(width, height + below), layout="constrained")
        FigureCanvasAgg(canvas)
        share = below / (height + below)
        engine = canvas.get_layout_engine()
        assert engine is not None, "asked for"
        engine.set(rect=(0, share, 1, 1 - share))  # type: ignore[call-arg]
        figure.draw(canvas, reproduction.records, reproduction.summary, reproduction.settings)
        canvas.text(0.012, share - 0.3 * _LINE / (height + below), "\n".join(lines),
                    va="top", ha="left", fontsize=7.5, linespacing=1.35)
        return {kind: _encoded(canvas, kind) for kind in PICTURES}


def _encoded(canvas: Canvas, kind: str) -> bytes:
    buffer = io.BytesIO()
    canvas.savefig(buffer, format=kind, dpi=110, metadata=_DATES[kind])
    return buffer.getvalue()


def _integer(value: object, name: str, least: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise InvalidInput(name, value, f"must be an integer ≥ {least}", "correct it")
    return value
