"""``attsvm counterexample`` and ``attsvm necessity`` as users run them."""

from __future__ import annotations

import json
import sys

import pytest

from verifier.cli import main
from verifier.commands.counterexample import parse_size


@pytest.fixture
def attsvm(capsys, monkeypatch):
    """Run the command in this process: (exit code, stdout, stderr)."""
    def run(*arguments: str):
        monkeypatch.setattr(sys, "argv", ["attsvm", *map(str, arguments)])
        monkeypatch.setenv("COLUMNS", "100")
        code = 0
        try:
            main()
        except SystemExit as stop:
            code = stop.code or 0
        captured = capsys.readouterr()
        return code, captured.out, captured.err
    return run


def test_a_registered_claim_and_its_bundle(attsvm, tmp_path):
    code, out, _ = attsvm("counterexample", "thm3", "--seconds", "60", "--out", tmp_path / "b")
    assert code == 0
    assert "A counterexample to thm3" in out and "the checker accepts" in out
    for name in ("dataset.json", "certificate.json", "explanation.txt"):
        assert (tmp_path / "b" / name).stat().st_size > 50
    code, out, _ = attsvm("check", tmp_path / "b" / "certificate.json",
                          "--data", tmp_path / "b" / "dataset.json")
    assert code == 0 and "0 refused" in out and "is about the dataset" in out


def test_a_dropped_hypothesis(attsvm):
    code, out, _ = attsvm("counterexample", "thm3_repaired", "--without", "feasible",
                          "--seconds", "60")
    assert code == 0 and "Dropped: feasible" in out and "Locally minimal" in out


def test_an_expression_of_ones_own_at_a_size(attsvm):
    code, out, _ = attsvm("counterexample", "--expression", "feasible(opt) >> all_support(opt)",
                          "--size", "1,3,1", "--seconds", "60")
    assert code == 0 and "n = 1 samples, tokens in R^1" in out
    assert "all_support for α" in out and "fails" in out


def test_nothing_found_says_what_was_covered(attsvm):
    code, out, _ = attsvm("counterexample", "rank_m_feasible", "--seconds", "3", "--seed", "7")
    assert code == 0
    assert "which proves nothing" in out and "seed 7" in out and "datasets" in out
    assert "true" not in out


@pytest.mark.parametrize(("arguments", "says"), [
    (("thm44",), "is not known"),
    (("thm2",), "only observed"),
    (("thm4", "--without", "luck"), "hypothesis of thm4"),
    ((), "must be given"),
    (("thm4", "--expression", "feasible"), "give one of the two"),
    (("--expression", "feasible >> nonsense"), "is not known"),
    (("thm4", "--size", "2,1,2"), "must be three integers"),
    (("thm4", "--seconds", "-1"), "must be a finite number"),
])
def test_misuse_ends_in_one_line(attsvm, arguments, says):
    code, out, err = attsvm("counterexample", *arguments)
    assert code == 2 and out == ""
    assert err.startswith("attsvm: ") and err.count("\n") == 1 and says in err


def test_sizes():
    assert parse_size("2,3,2") == (2, 3, 2)


def test_the_matrix_as_table_and_json(attsvm, tmp_path):
    target = tmp_path / "m.json"
    code, out, _ = attsvm("necessity", "small_d_feasible", "thm2", "--seconds", "40",
                          "--json", target)
    assert code == 0
    rows = [line.split() for line in out.splitlines()[:3]]
    assert rows[0][:5] == ["small_d_feasible", "(2,", "2,", "1)", "counterexample,"]
    assert [row[:2] for row in rows[1:]] == [["without", "small_dimension"],
                                             ["without", "unique_optimum"]]
    assert "only observed, nothing to certify: thm2" in out and "proves nothing" in out
    matrix = json.loads(target.read_text("utf-8"))
    assert [e["dropped"] for e in matrix["entries"]] == [None, "small_dimension", "unique_optimum"]
    assert matrix["entries"][0]["counterexample"]["refuted_by"] == ["feasibility"]
    assert {"dataset", "minimal", "moves"} <= set(matrix["entries"][0]["counterexample"])
