"""The appendix: every kind has a proof, nothing observed is proved, text is escaped."""

from __future__ import annotations

import hashlib
import json
import re
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from basin_cases import TWO
from latex_claims import NUMBER, number

from conditions import AttentionDataset
from conditions.certificates import Certificate, OptimalTokens
from conditions.certificates.base import Json
from conditions.errors import InvalidInput
from conditions.verdict import Status, proved, undecided
from verifier.certificate_file import load_accepted
from verifier.certify import Report, certify
from verifier.cli import main
from verifier.kernel.checking import FORMAT
from verifier.kernel.statements import CONDITIONS
from verifier.report.latex import File, file_of, render
from verifier.report.latex.facts import FACTS
from verifier.report.latex.proofs import PROOFS
from verifier.report.latex.statements import STATEMENTS
from verifier.report.latex.text import code, escape

ROOT = Path(__file__).parent.parent
EXAMPLES = ROOT / "examples" / "data"
CORPUS = [path for path in sorted((Path(__file__).parent / "corpus" / "valid").glob("*.json"))
          if json.loads(path.read_text())["format"] == FORMAT]
OBSERVED = {name for name, condition in CONDITIONS.items()
            if not condition.holds_by and not condition.fails_by}


@pytest.fixture(scope="module")
def appendices():
    """Each valid certificate file of the corpus with its report and its appendix."""
    found = {}
    for path in CORPUS:
        accepted = load_accepted(path)
        found[path.stem] = accepted.report, render(
            accepted.report, files=[File(path.name, accepted.sha256)])
    return found


@pytest.fixture
def attsvm(capsys, monkeypatch):
    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["attsvm", *map(str, arguments)])
        try:
            main()
            code_ = 0
        except SystemExit as stop:
            code_ = stop.code or 0
        captured = capsys.readouterr()
        return code_, captured.out, captured.err
    return run


def body(tex):
    """What is printed of an appendix."""
    return tex[tex.index(r"\attsvmheading[Cert"):tex.index(r"\par\endgroup")]


def test_every_kind_has_a_proof_and_every_condition_a_statement():
    assert set(PROOFS) == set(Certificate.registry)
    assert set(STATEMENTS) == set(CONDITIONS) - OBSERVED
    assert {"predicted_direction"} == OBSERVED


def test_every_kind_is_rendered(appendices):
    def kinds(part):
        if isinstance(part, Json):
            if isinstance(part, Certificate):
                yield part.kind
            for value in vars(part).values():
                yield from kinds(value)
        elif isinstance(part, tuple):
            for value in part:
                yield from kinds(value)

    seen = {kind for report, _ in appendices.values() for verdict in report.verdicts
            for kind in kinds(verdict.certificate)}
    assert seen == set(Certificate.registry)


def test_every_fact_is_used_and_cited_ones_are_listed(appendices):
    used = set()
    for name, (_, tex) in appendices.items():
        text = body(tex)
        listed = {int(k): fact for k, fact in re.findall(
            r"\\item \\textbf\{Fact (\d+)\} \(([^;]*);", text)}
        cited = {int(k) for k in re.findall(r"Fact~(\d+)", text)}
        assert cited == set(listed), name
        used |= set(listed.values())
    assert used == {fact.name for fact in FACTS.values()}


def test_the_places_of_facts_are_in_the_theory():
    for fact in FACTS.values():
        page, _, place = fact.proof.partition(", ")
        text = (ROOT / "docs" / "theory" / f"{page.replace(' ', '_')}.md").read_text()
        for words in re.split(" and |, ", place):
            number = re.search(r"[\dFRS][\d.]*[a-z]?$", words)
            assert (number[0] if number else words.removeprefix("section ")) in text, fact


def test_statuses_and_evidence_are_those_of_the_verdicts(appendices):
    for name, (report, tex) in appendices.items():
        for verdict in report.verdicts:
            if not verdict.undecided:
                word = "holds" if verdict.holds else "fails"
                assert f" {word}; {verdict.evidence}" in body(tex), name


def test_no_value_is_left_unwritten(appendices):
    for name, (_, tex) in appendices.items():
        text = body(tex)
        assert not re.search(r"None(?! of)|fmpq|\barb\b|<object|\{\}\{|approx", text), name
        assert "≈" not in tex, name
        assert tex.isascii(), name
        assert text.count("{") == text.count("}"), name
        assert len(re.findall(r"(?<!\\)\$", text)) % 2 == 0, name


def test_printed_comparisons_are_true(appendices):
    compared = 0
    for name, (_, tex) in appendices.items():
        found = [(a, relation, b) for a, relation, b in re.findall(
            rf"(?<![\^_{{\d.])({NUMBER})(<|>|\\le |\\ge )({NUMBER})", body(tex))]
        found += [(a, "<", b) for a, b in re.findall(
            rf"\\le ({NUMBER})<[^$]*\$, which is \$\\ge ({NUMBER})", body(tex))]
        for a, relation, b in found:
            x, y = number(a), number(b)
            assert {"<": x < y, ">": x > y, r"\le ": x <= y, r"\ge ": x >= y}[relation], (
                name, a, relation, b)
        compared += len(found)
    assert compared > 100


@pytest.fixture
def document(tmp_path, monkeypatch):
    """docs/appendix.md, to be followed in a folder with ``mine.npz`` and the examples."""
    rng = np.random.default_rng(0)
    np.savez(tmp_path / "mine.npz", X=rng.normal(size=(2, 3, 3)), Y=np.array([1.0, -1.0]),
             z=rng.normal(size=(2, 3)), v=rng.normal(size=3))
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    return (ROOT / "docs" / "appendix.md").read_text()


def test_the_document_is_followed(document, attsvm, capsys, tmp_path):
    commands = [line.split()[1:] for line in document.splitlines()
                if line.startswith("    attsvm")]
    assert [words[0] for words in commands] == ["certify", "directions", "latex"]
    for words in commands[:2]:
        assert attsvm(*words)[0] == 0
    for name in ("first", "second"):
        (tmp_path / f"{name}.json").write_bytes((tmp_path / "mine.certificate.json").read_bytes())
    assert attsvm(*commands[2])[0] == 0
    assert {p.name for p in tmp_path.glob("*.tex")} == {"mine.tex", "directions.tex", "both.tex"}
    block = re.search(r"```python\n(.*?)```", document, re.DOTALL)[1]
    exec(compile(block, "docs/appendix.md", "exec"), {})
    assert capsys.readouterr().out.startswith("% An appendix")


def made(*verdicts, source="made", dataset=TWO, run=None):
    return Report(dataset, source, verdicts, (), run)


PROVED = proved("unique_optimum", Status.HOLDS, OptimalTokens((0, 0)), "strict maxima")
SEEN = undecided("predicted_direction", "observed: correlation 1 − 1e-05 with W^mm",
                 observed=True, selection=(0, 0), loss="logistic")
OPEN = undecided("basin", "nothing_was found & 100% of it", selection=(0, 0), loss="logistic")


def test_only_proved_verdicts_are_propositions():
    text = body(render(made(PROVED, SEEN, OPEN)))
    assert text.count(r"\begin{attsvmproposition}") == 1
    assert r"\begin{attsvmremark}[observed, not proved]" in text
    assert r"correlation 1 $-$ 1$\cdot10^{-5}$ with $W^{\mathrm{mm}}$" in text
    undecided_ = text[text.index(r"\begin{attsvmremark}[undecided]"):]
    assert r"nothing\_was found \& 100\% of it" in undecided_
    assert "strict maxima" not in text


def test_the_run_is_observed():
    report = certify(TWO, iterations=30, seconds=0)
    text = body(render(report))
    remark = text[text.index("[observed, not proved]"):]
    assert r"Observed in floating point: normalized gradient descent on $W$, " in remark
    assert "30 steps (completed)" in remark


def test_the_certificate_is_named_with_its_hash():
    report = made(PROVED)
    digest = hashlib.sha256(report.certificate_text().encode()).hexdigest()
    text = render(report).replace(r"\allowbreak ", "").replace(r"\allowbreak{}", "")
    assert rf"\texttt{{certificate.json}}, sha256 \texttt{{{digest}}}" in text
    assert file_of(report, "c.json") == File("c.json", digest)


def test_commands_and_versions_are_named():
    text = render(made(PROVED), command="attsvm certify a_b.npz").replace(r"\allowbreak{}", "")
    for words in (r"Made by \texttt{attsvm certify a\char95{}b.npz}", "Python 3.", "python-{}flint",
                  r"\texttt{attsvm check certificate.json}",
                  r"\texttt{python -{}m verifier.kernel certificate.json}",
                  "@article{attsvm:theory"):
        assert words in text
    assert "Made by" not in render(made(PROVED))


def test_small_data_is_written_out_and_large_data_filed():
    small = body(render(made(PROVED)))
    assert r"X_{1}=\bigl(\begin{smallmatrix}-2&1\\0&0\end{smallmatrix}\bigr)" in small
    wide = AttentionDataset.build([[[k, 1] * 8 for k in range(4)]] * 3, [1, -1, 1],
                                  [[1] * 16] * 3, [1] * 16)
    large = body(render(made(proved("unique_optimum", Status.HOLDS, OptimalTokens((3, 0, 3)), ""),
                             dataset=wide)))
    assert "X_{0}" not in large
    assert r"\texttt{dataset} of the certificate file" in large
    assert wide.fingerprint in large.replace(r"\allowbreak ", "")


def test_verdicts_of_several_reports_appear_once():
    first, second = made(PROVED, OPEN), made(PROVED, SEEN)
    text = body(render(first, second))
    assert text.count("unique optimum holds") == 1
    assert "A: " in text
    assert "B: " in text
    with pytest.raises(InvalidInput, match="one dataset"):
        render(first, made(PROVED, dataset=AttentionDataset.build(
            [[[1], [0]]], [1], [[1]], [1])))
    with pytest.raises(InvalidInput):
        render()


@pytest.mark.parametrize(("text", "tex"), [
    ("a_b%c&d#e$f", r"a\_b\%c\&d\#e\$f"), ("{~^\\}", r"\{\textasciitilde{}\textasciicircum{}"
                                           r"\textbackslash{}\}"),
    ("‖W‖_F ≤ 1", r"$\|W\|_F$ $\le$ 1"), ("é ñ ß ø", r"\'{e} \~{n} \ss{} \o{}"),
    ("中\u0007", "[U+4E2D][U+0007]"), ("x²", r"x$^{2}$"),
    ("W^mm_opt, L_*", r"$W^{\mathrm{mm}}_{\mathrm{opt}}$, $L_*$")])
def test_escaping(text, tex):
    assert escape(text) == tex
    assert code("a_b/c.d") == r"\texttt{a\char95{}\allowbreak{}b/\allowbreak{}c.\allowbreak{}d}"


def test_hostile_names_and_reasons_are_escaped():
    hostile = r"da%ta_{x}\input{/etc/passwd}$&#~^é中.npz"
    tex = render(made(PROVED, replace(OPEN, reason=hostile), source=hostile), command=hostile)
    assert r"\input{/etc" not in tex
    assert tex.isascii()


# Commands -------------------------------------------------------------------------------------


def test_certify_writes_the_appendix_and_its_certificate(attsvm, tmp_path):
    out = tmp_path / "a.tex"
    arguments = ["certify", EXAMPLES / "two_samples.json", "--iterations", "20", "--seconds", "0"]
    code_, shown, _ = attsvm(*arguments, "--latex", out)
    assert code_ == 0
    filed = tmp_path / "a.certificate.json"
    assert shown.splitlines()[-1] == f"appendix written to {out}, about the certificate {filed}"
    digest = hashlib.sha256(filed.read_bytes()).hexdigest()
    text = out.read_text().replace(r"\allowbreak ", "").replace(r"\allowbreak{}", "")
    assert digest in text
    assert "a.certificate.json" in text
    assert "attsvm certify" in text
    assert attsvm("check", filed)[0] == 0
    named = tmp_path / "c.json"
    code_, _, _ = attsvm(*arguments, "--latex", tmp_path / "b.tex", "--json", named)
    assert code_ == 0
    assert not (tmp_path / "b.certificate.json").exists()
    assert hashlib.sha256(named.read_bytes()).hexdigest() in (
        tmp_path / "b.tex").read_text().replace(r"\allowbreak ", "")


def test_directions_write_an_appendix(attsvm, tmp_path):
    out = tmp_path / "d.tex"
    assert attsvm("directions", EXAMPLES / "two_samples.json", "--latex", out)[0] == 0
    assert r"exactly 2 are locally optimal" in out.read_text()


def test_latex_renders_accepted_certificates_alone(attsvm, tmp_path):
    filed, out = tmp_path / "c.json", tmp_path / "a.tex"
    filed.write_text(made(PROVED).certificate_text())
    code_, shown, _ = attsvm("latex", filed, "--out", out)
    assert (code_, shown.strip()) == (0, f"appendix written to {out}")
    assert "unique optimum holds; exact" in out.read_text()
    out.unlink()
    document = json.loads(filed.read_text())
    document["verdicts"][0]["certificate"]["tokens"] = [1, 0]
    filed.write_text(json.dumps(document))
    code_, shown, err = attsvm("latex", filed, "--out", out)
    assert code_ == 1
    assert "refused" in err
    assert "NOT_OPTIMAL" in err
    assert not out.exists()


@pytest.mark.parametrize("arguments", [
    ["latex", "{none}", "--out", "{out}.tex"], ["latex", "{text}", "--out", "{out}.tex"],
    ["latex", "{good}", "--out", "{out}.pdf"],
    ["certify", EXAMPLES / "two_samples.json", "--latex", "{out}.txt"]])
def test_bad_input_is_one_line(attsvm, tmp_path, arguments):
    (tmp_path / "text.json").write_text("no certificate")
    (tmp_path / "good.json").write_text(made(PROVED).certificate_text())
    places = {name: tmp_path / f"{name}.json" for name in ("none", "text", "good")}
    code_, _, err = attsvm(*(str(a).format(**places, out=tmp_path / "a") for a in arguments))
    assert code_ == 2
    assert len(err.strip().splitlines()) == 1
    assert not (tmp_path / "a.tex").exists()
