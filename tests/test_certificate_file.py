"""Certificate files become the reports they hold, once the checker has accepted them."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest
from basin_cases import TWO

from conditions.errors import InvalidInput
from verifier.certificate_file import RefusedError, load_accepted
from verifier.certify import certify
from verifier.descent import FactoredRun, QuadraticHead
from verifier.kernel.checking import FORMAT

CORPUS = sorted((Path(__file__).parent / "corpus" / "valid").glob("*.json"))


def filed(report, path):
    path.write_text(report.certificate_text(), encoding="utf-8")
    return load_accepted(path)


@pytest.mark.parametrize("arguments", [
    {"iterations": 20, "seconds": 0.0}, {"iterations": 0},
    {"iterations": 5, "parameterization": "KQ", "start": (np.eye(2), np.eye(2))},
    {"iterations": 5, "head": QuadraticHead.of("1/2")}])
def test_reports_survive_their_file(tmp_path, arguments):
    report = certify(TWO, **arguments)
    accepted = filed(report, tmp_path / "c.json")
    assert accepted.report.certificate_text() == report.certificate_text()
    assert accepted.sha256 == hashlib.sha256((tmp_path / "c.json").read_bytes()).hexdigest()
    assert accepted.report.source == "c.json"
    assert isinstance(accepted.report.run, FactoredRun) == ("parameterization" in arguments)


@pytest.mark.parametrize("path", CORPUS, ids=lambda p: p.stem)
def test_verdicts_of_the_corpus_survive(path):
    document = json.loads(path.read_text())
    if document["format"] != FORMAT:
        with pytest.raises(InvalidInput, match="format"):
            load_accepted(path)
        return
    report = load_accepted(path).report
    assert [v.condition for v in report.verdicts] == [v["condition"] for v in document["verdicts"]]
    for verdict, data in zip(report.verdicts, document["verdicts"], strict=True):
        kind = None if verdict.certificate is None else verdict.certificate.kind
        assert kind == (None if data["certificate"] is None else data["certificate"]["kind"])
        assert (str(verdict.status), verdict.loss) == (data["status"], data["loss"])


def test_selections_are_named(tmp_path):
    far = np.array([[20.0, 0.0], [0.0, 0.0]])
    accepted = filed(certify(TWO, start=far, iterations=50, seconds=0.0), tmp_path / "c.json")
    assert accepted.report.selections == (("optimal", (0, 0)), ("selected by the run", (0, 1)))


def test_refused_and_unreadable_files_are_told_apart(tmp_path):
    path = tmp_path / "c.json"
    document = json.loads(certify(TWO, iterations=0).certificate_text())
    document["verdicts"][0]["certificate"]["tokens"] = [0, 1]
    path.write_text(json.dumps(document))
    with pytest.raises(RefusedError, match="NOT_OPTIMAL") as error:
        load_accepted(path)
    assert len(error.value.refusals) == 1
    for text in ("{", "[]", '{"format": "other", "version": 1}'):
        path.write_text(text)
        with pytest.raises(InvalidInput, match="certificate file"):
            load_accepted(path)
    with pytest.raises(InvalidInput, match="certificate file"):
        load_accepted(tmp_path / "none.json")
