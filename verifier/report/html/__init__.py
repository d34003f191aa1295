"""A report as one page that needs no network: verdicts that unfold, pictures, the certificate."""

from __future__ import annotations

import base64
import json
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import version
from importlib.resources import files
from itertools import groupby
from typing import Any

import jinja2
from markupsafe import Markup

from conditions.verdict import Verdict
from verifier.certify import Report, verdict_to_json
from verifier.formal import covered
from verifier.kernel.statements import CONDITIONS
from verifier.report.html.figures import (
    Figure,
    attention_figure,
    basin_figure,
    convergence_figure,
    graph_figure,
    trajectory_figure,
)
from verifier.report.terminal import origin_lines, run_line, shown_selection, subject_line
from verifier.report.trace import trace

_SHOWN_CHARACTERS = 6000
_LARGEST_DOWNLOAD = 1_000_000


@dataclass(frozen=True)
class _Page:
    """What the template shows."""

    title: str
    facts: list[tuple[str, str]]
    counts: list[tuple[str, int, str]]
    groups: list[dict[str, Any]]
    figures: list[Figure]
    run: str
    download: str | None
    size: str
    fingerprint: str
    version: str


def render(report: Report) -> str:
    """The page of *report* as text, the same for equal reports. It decides nothing."""
    return _template().render(page=_page(report), style=_resource("style.css"))


@lru_cache(maxsize=1)
def _template() -> jinja2.Template:
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined)
    return environment.from_string(_resource("page.html.jinja"))


def _resource(name: str) -> str:
    text = (files("verifier.report.html") / name).read_text(encoding="utf-8")
    # The style is part of the package, not of the data.
    return Markup(text) if name.endswith(".css") else text


def _page(report: Report) -> _Page:
    dataset = report.dataset
    short, long = min(dataset.lengths), max(dataset.lengths)
    positive = sum(y == 1 for y in dataset.labels)
    facts = [("n", str(dataset.n)), ("T", str(short) if short == long else f"{short}–{long}"),
             ("d", str(dataset.d)), ("labels", f"+{positive} −{dataset.n - positive}"),
             ("constraints", str(sum(dataset.lengths) - dataset.n)),
             *(("samples", line.plain) for line in origin_lines(dataset)),
             *((f"{name} tokens", shown_selection(alpha)) for name, alpha in report.selections)]
    proved = Counter(str(v.evidence) for v in report.verdicts if not v.undecided)
    observed = sum(v.undecided and v.evidence is not None for v in report.verdicts)
    counts = [("proved exactly", proved["exact"], "exact"),
              ("proved by enclosures", proved["enclosed"], "enclosed"),
              ("observed only", observed, "observed"),
              ("undecided", sum(v.undecided and v.evidence is None for v in report.verdicts),
               "open")]
    certificate = report.certificate_text().encode()
    download = None
    if len(certificate) <= _LARGEST_DOWNLOAD:
        download = "data:application/json;base64," + base64.b64encode(certificate).decode()
    return _Page(report.source or "dataset", facts, counts, _groups(report), _figures(report),
                 run_line(report).plain, download, f"{len(certificate):,}", dataset.fingerprint,
                 version("attention-svm-verifier"))


def _groups(report: Report) -> list[dict[str, Any]]:
    return [{"about": about, "verdicts": [_shown(v) for v in verdicts]}
            for about, verdicts in groupby(report.verdicts,
                                           key=lambda v: subject_line(v, report))]


def _shown(verdict: Verdict) -> dict[str, Any]:
    statement = CONDITIONS[verdict.condition]
    sentence = {"holds": f"Proved: {statement.holds}.", "fails": f"Proved: {statement.fails}.",
                "undecided": f"Not decided: {statement.holds}."}[str(verdict.status)]
    spelled = ""
    if verdict.certificate is not None:
        spelled = _spelled(verdict_to_json(verdict)["certificate"])
    return {"condition": verdict.condition, "status": str(verdict.status),
            "evidence": None if verdict.evidence is None else str(verdict.evidence),
            "number": verdict.number, "reason": verdict.reason, "sentence": sentence,
            "kind": None if verdict.certificate is None else verdict.certificate.kind,
            "coq": covered(verdict),
            "characters": f"{len(spelled):,}", "cut": len(spelled) > _SHOWN_CHARACTERS,
            "certificate": spelled[:_SHOWN_CHARACTERS]}


def _spelled(certificate: dict[str, Any]) -> str:
    """One field a line."""
    return "\n".join(f"{name}: {json.dumps(value, ensure_ascii=False)}"
                     for name, value in certificate.items())


def _figures(report: Report) -> list[Figure]:
    followed = trace(report)
    found = [graph_figure(report)]
    if followed is not None:
        found += [trajectory_figure(followed, report), attention_figure(followed, report),
                  convergence_figure(followed, report)]
    found.append(basin_figure(report, followed))
    return [figure for figure in found if figure is not None]
