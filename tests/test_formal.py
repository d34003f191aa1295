"""Certificates that Coq checks: the theorems, instances of every kind, and what is exported."""

from __future__ import annotations

import itertools
import os
import re
import shutil
import sys

import formal_cases
import pytest
from formal_instances import HEADER, MODULES, Instance, coq, instances, needs_coq

from conditions import AttentionDataset
from conditions.errors import InvalidInput
from verifier import formal, io
from verifier.certify import Report, certify
from verifier.cli import main
from verifier.formal.claims import NotExportedError, Subject
from verifier.formal.library import AXIOMS, compilation_order, theories
from verifier.formal.table import TABLE, maker
from verifier.kernel.statements import CONDITIONS


def test_coq_is_there_in_continuous_integration():
    assert shutil.which("coqc") or os.environ.get("CI", "") in ("", "0", "false")


# ------------------------------------------------------------------------------- the theorems


@pytest.mark.parametrize("name", sorted(theories()))
def test_nothing_is_assumed(name):
    text = re.sub(r"\(\*.*?\*\)", "", theories()[name], flags=re.DOTALL)
    assert not re.search(r"\b(Admitted|admit|Axioms?|Parameters?|Conjecture|Abort|Unset|bypass)\b",
                         text)


@needs_coq
def test_theorems_rest_on_the_axioms_of_the_reals(tmp_path):
    names = [name for module in MODULES.split()
             for name in re.findall(r"^Theorem (\w+)", theories()[module], re.MULTILINE)]
    assert len(names) > 40
    printed = coq(tmp_path, f"{HEADER}Definition everything := ({', '.join(names)}).\n"
                            "Print Assumptions everything.")
    found = re.findall(r"^([\w.]+)\s*:", printed, re.MULTILINE)
    assert set(found) - {"Axioms"} <= set(AXIOMS)
    assert "ClassicalDedekindReals.sig_forall_dec" in found


def test_theories_compile_in_an_order_that_requirements_give():
    order = compilation_order(["Stationary"])
    assert order.index("Dataset") < order.index("Statements") < order.index("Ranks")
    assert "Enclosure" not in order and order[-1] == "Stationary"


# -------------------------------------------------------------------- instances of every kind


@needs_coq
@pytest.mark.parametrize(("shape", "floats"), formal_cases.SHAPES,
                         ids=list(formal_cases.SHAPES.values()))
def test_instances_of_every_kind(tmp_path, shape, floats):
    found = instances(shape, floats)
    text = HEADER + "".join(instance.module(k) for k, instance in enumerate(found))
    everything = ", ".join(f"C{k}.proof" for k in range(len(found)))
    printed = coq(tmp_path, f"{text}Definition everything := ({everything}).\n"
                            "Print Assumptions everything.")
    assert set(re.findall(r"^([\w.]+)\s*:", printed, re.MULTILINE)) - {"Axioms"} <= set(AXIOMS)
    kinds = {instance.kind for instance in found}
    wanted = {(condition, status, kind) for condition, sides in TABLE.items()
              for status, makers in zip(("holds", "fails"), sides, strict=True) for kind in makers}
    # What else there is differs in nothing but the condition it is about.
    missing = {kind for *_, kind in wanted} - {kind for *_, kind in kinds}
    assert missing <= ({"too_many_rows"} if floats else set())
    conditions = {(condition, status) for condition, status, _ in wanted}
    assert conditions <= {(condition, status) for condition, status, _ in kinds}


# -------------------------------------------------------------------------- what is exported


def test_table_lists_kinds_of_the_specification():
    for name, sides in TABLE.items():
        condition = CONDITIONS[name]
        for makers, allowed in zip(sides, (condition.holds_by, condition.fails_by), strict=True):
            assert set(makers) <= set(allowed)


def test_covered_and_omitted_verdicts():
    dataset = io.load_dataset("examples/data/plane_3_tokens.npz")
    report = certify(dataset, source="plane", iterations=0)
    export = formal.export(report.certificate_text(), dataset)
    covered = [k for k, verdict in enumerate(report.verdicts) if formal.covered(verdict)]
    assert list(export.claims) == covered
    assert len(covered) + len(export.omitted) == len(report.verdicts)
    assert any(line.startswith("9 rank_bound holds by exact_rank: no theorem")
               for line in export.omitted)
    assert "9 rank_bound" in export.files["README.txt"]


def test_long_numbers_are_enclosed_or_left_out(monkeypatch):
    # With a lower limit the exact solution is replaced by what short numbers prove of it.
    dataset, verdicts = next(formal_cases.verdicts(formal_cases.SMALL, True))
    by_condition = {v.condition: v for v in verdicts if v.certificate.kind == "exact_kkt"}
    monkeypatch.setattr("verifier.formal.claims.MAX_BITS", 300)
    claim = maker(by_condition["support_indices"])(
        Subject(dataset, by_condition["support_indices"], 0, "alpha_0"))
    assert claim.theorem == "support_enclosed_sound" and "enclosed" in claim.weaker
    monkeypatch.setattr("verifier.formal.claims.MAX_BITS", 20)
    with pytest.raises(NotExportedError, match="too long for Coq"):
        maker(by_condition["local_optimality"])(
            Subject(dataset, by_condition["local_optimality"], 0, "alpha_0"))


@needs_coq
def test_many_support_rows_are_bracketed_by_a_primal_dual_pair(tmp_path, monkeypatch):
    monkeypatch.setattr("verifier.formal.solutions._MOST_ROWS", 0)
    (dataset, verdicts), (_, not_local) = itertools.islice(
        formal_cases.verdicts(formal_cases.SMALL, True), 2)
    enclosed = [v for v in verdicts if v.certificate.kind == "kkt_enclosure"]
    found = [Instance(dataset, verdict) for verdict in enclosed]
    assert [instance.claim.theorem for instance in found] == [
        "near_sound", "not_all_support_pair_sound", "local_pair_sound"]
    assert found[0].claim.weaker
    coq(tmp_path, HEADER + "".join(instance.module(k) for k, instance in enumerate(found)))
    with pytest.raises(NotExportedError, match="bounds do not decide"):
        Instance(dataset, not_local[-1])


@needs_coq
def test_a_tie_in_long_numbers_is_enclosed_by_a_primal_dual_pair(tmp_path, monkeypatch):
    # Margin 1 with multiplier 0: no enclosure decides it, the solution is still bracketed.
    third = 1 / 3
    dataset = AttentionDataset.build([[[0, 0], [-third, 0], [-third, -1]]], [1], [[1, 0]], [1, 1])
    verdicts = formal_cases.about_support(dataset, (0,))
    exact = [v for v in verdicts if v.certificate.kind == "exact_kkt"]
    assert exact[0].condition == "support_indices" and len(exact[0].certificate.support) == 2
    monkeypatch.setattr("verifier.formal.solutions._exact", _too_long)
    found = [Instance(dataset, verdict) for verdict in exact[:1]]
    assert found[0].claim.theorem == "near_sound"
    printed = coq(tmp_path, HEADER + found[0].module(0) + "Check C0.proof.")
    assert "near_optimum" in printed


def _too_long(*_):
    raise NotExportedError("too long")


def test_refused_verdicts_are_not_exported():
    dataset = AttentionDataset.build([[[1, 0], [0, 0]]], [1], [[1, 0]], [1, 0])
    text = certify(dataset, source="one", iterations=0,
                   only=["feasibility", "full_rank"]).certificate_text()
    forged = re.sub(r'("kind":"separator","W":\[\[)\d+', r"\g<1>-1", text)
    export = formal.export(forged, dataset)
    assert len(export.claims) == 1 and "refused" in export.omitted[0]


def test_nothing_to_export_and_used_directories(tmp_path):
    dataset = AttentionDataset.build([[[1], [0]]], [1], [[1]], [1])
    report = Report(dataset, "", (), (), None)
    with pytest.raises(InvalidInput, match="must have a proved verdict"):
        formal.export(report.certificate_text(), dataset)
    with pytest.raises(InvalidInput, match="must be new or empty"):
        (tmp_path / "notes.txt").touch()
        formal.write(formal.Export({}, {}, ()), tmp_path)


def test_export_command(attsvm, tmp_path):
    target, folder = tmp_path / "c.json", tmp_path / "coq"
    code, out, _ = attsvm("certify", "examples/data/two_samples.json", "--iterations", "0",
                          "--json", target, "--coq", folder)
    assert code == 0 and "verdicts written for Coq to" in out
    assert (folder / "README.txt").is_file()
    again = tmp_path / "again"
    code, out, _ = attsvm("export", "--coq", target, again)
    assert code == 0 and "not exported" in out and "exported      " in out
    for name in ("Data.v", "Claims.v", "Check.v"):
        assert (again / name).read_text() == (folder / name).read_text()
    for arguments in (["export", target, tmp_path / "x"], ["export", "--coq", target, again],
                      ["export", "--coq", "examples/data/two_samples.json", tmp_path / "y"]):
        code, _, err = attsvm(*arguments)
        assert code == 2 and len(err.splitlines()) == 1


@pytest.fixture
def attsvm(capsys, monkeypatch):
    """Run the command in this process: (exit code, stdout, stderr)."""
    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["attsvm", *map(str, arguments)])
        code = 0
        try:
            main()
        except SystemExit as stop:
            code = stop.code or 0
        return code, *capsys.readouterr()
    return run
