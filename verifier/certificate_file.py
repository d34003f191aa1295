"""A certificate file back into the `Report` that it holds, once the checker has accepted it."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from conditions.certificates import Certificate
from conditions.dataset import AttentionDataset, FloatArray
from conditions.errors import Description, InvalidInput
from conditions.exact.numbers import rational, to_float
from conditions.selection import Selection, optimal_selection
from conditions.verdict import Evidence, Status, Verdict
from verifier.certify import Report
from verifier.descent import LINEAR_HEAD, FactoredRun, Head, QuadraticHead, Run
from verifier.descent.heads import CallableHead, MulticlassHead, ReluHead
from verifier.descent.schedule import Outcome
from verifier.kernel import Refusal, Unreadable, check_text
from verifier.kernel.checking import FORMAT
from verifier.kernel.reading import long_integers, read_file


class RefusedError(Exception):
    """The checker refuses the file; ``refusals`` say why."""

    def __init__(self, refusals: tuple[Refusal, ...]) -> None:
        self.refusals = refusals
        super().__init__("; ".join(map(str, refusals)))


@dataclass(frozen=True)
class Accepted:
    """A report whose verdicts the checker has proved again, and the SHA-256 of its file."""

    report: Report
    sha256: str


def load_accepted(path: Path) -> Accepted:
    """The report in a certificate file.

    Raises `RefusedError` unless the checker accepts every verdict, and ``InvalidInput`` for what is
    no certificate file.
    """
    try:
        text = read_file(path)
        result = check_text(text)
    except Unreadable as error:
        raise InvalidInput("certificate file", path.name, f"must be readable ({error})",
                           "give what --json wrote") from None
    if not result.accepted:
        raise RefusedError(result.refusals)
    with long_integers():
        document = json.loads(text)
    if document["format"] != FORMAT:
        raise InvalidInput("certificate file", path.name, f"must be of the format {FORMAT}",
                           "give what attsvm certify or attsvm directions wrote")
    return Accepted(_report(document, path.name),
                    hashlib.sha256(path.read_bytes()).hexdigest())


def _report(document: dict[str, Any], source: str) -> Report:
    data = document["dataset"]
    dataset = AttentionDataset.build(data["X"], data["Y"], data["z"], data["v"])
    run = None if document["run"] is None else _run(document["run"])
    verdicts = tuple(map(_verdict, document["verdicts"]))
    return Report(dataset, source, verdicts, tuple(_named(dataset, verdicts, run)), run,
                  LINEAR_HEAD if run is None else run.head)


def _verdict(data: dict[str, Any]) -> Verdict:
    certificate = data["certificate"]
    return Verdict(
        data["condition"], Status(data["status"]),
        None if data["evidence"] is None else Evidence(data["evidence"]),
        None if certificate is None else Certificate.from_json(certificate), data["reason"],
        None if data["selection"] is None else tuple(data["selection"]), data["loss"])


def _named(dataset: AttentionDataset, verdicts: tuple[Verdict, ...], run: Run | None
           ) -> list[tuple[str, Selection]]:
    """The selections that verdicts are about, with what they are."""
    opt = optimal_selection(dataset)
    found = dict.fromkeys(v.selection for v in verdicts if v.selection is not None)
    return [("optimal" if each == opt else "selected by the run"
             if run is not None and each == run.selected else "given", each) for each in found]


# The run ----------------------------------------------------------------------------------------


def _run(data: dict[str, Any]) -> Run:
    common = (data["rule"], _float(data["step"]), data["loss"], data["iterations"])
    ended = tuple(data["selected"]), Outcome(data["outcome"]), (), _float(data["penalty"])
    head = _head(data.get("head"))
    if data["parameterization"] == Run.parameterization:
        return Run(*common, _floats(data["start"]), _floats(data["final"]), *ended, head)
    K0, Q0, K, Q = (_floats(data[when][name]) for when in ("start", "final") for name in "KQ")
    return FactoredRun(*common, K0 @ Q0.T, K @ Q.T, *ended, head, start_K=K0, start_Q=Q0,
                       final_K=K, final_Q=Q)


def _float(value: Any) -> float:
    """The nearest float64: runs are floats, and prove nothing."""
    return to_float(rational(value))


def _floats(table: list[list[Any]]) -> FloatArray:
    return np.array([[_float(x) for x in row] for row in table])


def _head(data: dict[str, Any] | None) -> Head:
    if data is None:
        return LINEAR_HEAD
    if data["name"] == "quadratic":
        return QuadraticHead.of(rational(data["lambda"]))
    if data["name"] == "relu":
        return ReluHead.of(_floats(data["V"]), np.array([_float(x) for x in data["a"]]))
    if data["name"] == "multiclass":
        return MulticlassHead.of(_floats(data["class_heads"]), np.array(data["class_labels"]))
    return CallableHead(_not_held, "the head of a certificate file")


def _not_held(o: FloatArray) -> NoReturn:
    raise InvalidInput("head", Description("callable"), "is a function that a certificate file "
                       "does not hold", "give the function")
