"""The command line as users run it: a process, its output and its exit code."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from verifier.cli import COMMANDS, main

ROOT = Path(__file__).parent.parent
EXAMPLES = ROOT / "examples" / "data"
PLANE = str(EXAMPLES / "plane_3_tokens.npz")


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


def test_certify_and_check_as_processes(tmp_path):
    target = tmp_path / "c.json"
    for arguments in (["certify", PLANE, "--json", str(target)], ["check", str(target)]):
        done = subprocess.run([sys.executable, "-m", "verifier", *arguments], cwd=ROOT,
                              capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        assert "Traceback" not in done.stderr
    assert done.stdout.splitlines()[-1].startswith("accepted 16 of 16 proved verdicts")


def test_report_names_every_condition_with_status_and_evidence(attsvm):
    code, out, err = attsvm("certify", PLANE)
    assert code == 0
    assert err == ""
    rows = {line.split()[0]: line.split()[1:3] for line in out.splitlines()
            if len(line.split()) > 3}
    assert rows["feasibility"] == ["holds", "exact"]
    assert rows["all_support"] == ["fails", "exact"]
    assert rows["first_step_separates"] == ["fails", "enclosed"]
    assert rows["predicted_direction"] == ["undecided", "observed"]
    assert "observed only: 1" in out


def test_certify_a_trial_of_a_stack_from_its_own_start(attsvm, tmp_path):
    target = tmp_path / "c.json"
    code, out, _ = attsvm("certify", EXAMPLES / "local_convergence.npz", "--trial", "3", "--start",
                          "data", "--selection", "gd", "--json", target)
    assert code == 0
    assert "selected by the run" in out
    assert json.loads(target.read_text())["run"]["iterations"] == 2000


def test_refused_certificates_exit_1(attsvm, tmp_path):
    target = tmp_path / "c.json"
    attsvm("certify", PLANE, "--json", target)
    document = json.loads(target.read_text())
    document["dataset"]["X"][0][0][0] = 5
    target.write_text(json.dumps(document))
    code, out, _ = attsvm("check", target)
    assert code == 1
    assert "refused" in out


def test_check_demands_the_dataset_that_is_named(attsvm, tmp_path):
    target = tmp_path / "c.json"
    attsvm("certify", PLANE, "--json", target)
    assert attsvm("check", target, "--data", PLANE)[0] == 0
    code, out, _ = attsvm("check", target, "--data", EXAMPLES / "plane_5_tokens.npz")
    assert code == 1
    assert "is NOT about the dataset" in out


def test_unreadable_certificate_exits_2(attsvm, tmp_path):
    target = tmp_path / "c.json"
    target.write_text("{")
    assert attsvm("check", target)[0] == 2
    assert attsvm("check", tmp_path / "none.json")[0] == 2


@pytest.mark.parametrize(("arguments", "words"), [
    (["certify", PLANE, "--json", "one", "--html", "./one"], "must not be the file of --json"),
    (["certify", "none.npz"], "none.npz"),
    (["certify", PLANE, "--selection", "1,x"], "--selection"),
    (["certify", PLANE, "--selection", "0,9"], "selection[1]"),
    (["certify", PLANE, "--loss", "hinge"], "loss"),
    (["certify", PLANE, "--rule", "adam"], "rule"),
    (["certify", PLANE, "--step", "nan"], "step"),
    (["certify", PLANE, "--iterations", "-1"], "iterations"),
    (["certify", PLANE, "--start", "one"], "--start"),
    (["certify", PLANE, "--start", "data"], "W0"),
    (["certify", PLANE, "--trial", "1"], "trial"),
    (["certify", PLANE, "--trial", "0"], "one dataset and no stack of trials; leave it out"),
    (["check", "c.json", "--trial", "0"], "--data"),
    (["certify", EXAMPLES / "local_convergence.npz"], "trial"),
    (["certify", EXAMPLES / "local_convergence.npz", "--trial", "50"], "trial"),
    (["certify", PLANE, "--json", "no/such/folder/c.json"], "c.json"),
    (["graph", PLANE, "--out", "graph.txt"], "graph.txt"),
    (["descend", PLANE, "--out", "run.txt"], "run.txt"),
    (["descend", PLANE, "--out", "run.npz", "--keep", "-1"], "--keep"),
    (["graph", PLANE, "--selection", "0,0,0"], "selection"),
    (["graph", PLANE, "--selection", "0,9"], "selection[1]"),
    (["certify", PLANE, "--seconds", "nan"], "--seconds"),
    (["certify", PLANE, "--seconds", "-1"], "--seconds"),
    (["certify", PLANE, "--json", PLANE], "--json"),
    (["directions", PLANE, "--json", PLANE], "--json"),
    (["descend", PLANE, "--out", PLANE], "--out"),
])
def test_bad_input_is_one_line_and_exit_2(attsvm, monkeypatch, tmp_path, arguments, words):
    monkeypatch.chdir(tmp_path)
    code, _, err = attsvm(*arguments)
    assert code == 2
    assert len(err.strip().splitlines()) == 1
    assert err.startswith("attsvm: ")
    assert words in err
    assert ";" in err
    assert list(tmp_path.iterdir()) == []


def test_entries_longer_than_a_checker_reads_are_refused(attsvm, tmp_path):
    # 60,001 digits over 10^60,000.
    (tmp_path / "d.json").write_text(json.dumps(
        {"X": [[["1." + "0" * 59_999 + "1"], [0]]], "Y": [1], "z": [[1]], "v": [1]}))
    for command in (["certify"], ["directions"], ["claims", "thm1"]):
        code, out, err = attsvm(*command, tmp_path / "d.json", "--json", tmp_path / "c.json")
        assert (code, out) == (2, "")
        assert err.startswith("attsvm: X[0][0][0] (120,003 characters as p/q)") and "100,000" in err
    assert not (tmp_path / "c.json").exists()


@pytest.mark.parametrize("arguments", [[], ["certify"], ["certify", PLANE, "--nonsense"],
                                       ["certify", PLANE, "--step", "x"], ["frobnicate"]])
def test_misuse_exits_2(attsvm, arguments):
    code, _, err = attsvm(*arguments)
    assert code == 2
    assert "Traceback" not in err


def test_descend_keeps_the_run(attsvm, tmp_path):
    target = tmp_path / "run.npz"
    code, out, _ = attsvm("descend", PLANE, "--out", target, "--iterations", "40", "--keep", "5")
    assert code == 0
    assert "observed" in out
    run = np.load(target)
    assert run["kept_steps"].tolist() == [0, 10, 20, 30, 40]
    assert np.array_equal(run["kept_W"][-1], run["W"])
    data = np.load(PLANE)
    logits = np.einsum("ita,ab,ib->it", data["X"], run["W"], data["z"])
    assert run["selected"].tolist() == logits.argmax(axis=1).tolist()


@pytest.mark.parametrize("suffix", ["svg", "png", "dot", "graphml"])
def test_graph_is_drawn(attsvm, tmp_path, suffix):
    target = tmp_path / f"graph.{suffix}"
    code, out, _ = attsvm("graph", PLANE, "--out", target)
    assert code == 0
    assert "6 distinct tokens, 4 edges" in out
    assert target.stat().st_size > 500


def test_graph_names_the_cycle_that_makes_a_selection_infeasible(attsvm):
    code, out, _ = attsvm("graph", EXAMPLES / "digits_patches.json")
    assert code == 0
    assert "infeasible: a cycle" in out


def test_a_terminal_without_greek_letters_shows_escapes():
    done = subprocess.run([sys.executable, "-m", "verifier", "certify", PLANE, "--seconds", "0"],
                          cwd=ROOT, capture_output=True, check=False,
                          env={"PATH": "/usr/bin:/bin", "PYTHONIOENCODING": "ascii"})
    assert done.returncode == 0, done.stderr
    assert b"\\u03b1 = 0,2" in done.stdout


def test_help_lists_every_command_with_the_first_line_of_its_docstring(attsvm):
    code, out, _ = attsvm("--help")
    assert code == 0
    listed = " ".join(out.partition("Commands:")[2].split())
    assert listed == " ".join(f"{name} {line}" for name, line in COMMANDS.items())
    for name, line in COMMANDS.items():
        command = getattr(import_module(f"verifier.commands.{name}"), f"{name}_command")
        assert command.__doc__.splitlines()[0] == line
        code, out, _ = attsvm(name, "--help")
        assert code == 0
        assert f"attsvm {name} [OPTIONS]" in out
    modules = {path.stem for path in (ROOT / "verifier" / "commands").glob("*.py")}
    assert modules - set(COMMANDS) == {"__init__", "appendix", "options"}


def test_a_misspelled_command_is_guessed(attsvm):
    code, _, err = attsvm("chek", "c.json")
    assert code == 2
    assert "No such command 'chek'" in err


@pytest.mark.parametrize("arguments", [["--help"], ["check", "c.json"]])
def test_help_and_check_import_no_library_of_the_prover(attsvm, tmp_path, arguments):
    attsvm("certify", PLANE, "--seconds", "0", "--json", tmp_path / "c.json")
    script = ("import sys\nfrom verifier.cli import COMMANDS, main\ntry:\n    main()\n"
              "except SystemExit as stop:\n    assert not stop.code\n"
              "print(*sys.modules, file=sys.stderr)")
    done = subprocess.run([sys.executable, "-c", script, *arguments], cwd=tmp_path, text=True,
                          capture_output=True, check=True)
    modules = set(done.stderr.split())
    assert "verifier.cli" in modules
    assert not modules & {"numpy", "flint", "scipy", "numba", "cvxpy", "matplotlib", "conditions"}


def test_version(attsvm):
    code, out, _ = attsvm("--version")
    assert code == 0
    assert out.startswith("attsvm ")


def test_plots(attsvm, tmp_path):
    code, out, _ = attsvm("certify", EXAMPLES / "two_samples.json", "--seconds", "0", "--plots",
                          tmp_path / "plots")
    assert code == 0
    assert out.splitlines()[-1].startswith("drawn: ")
    assert sorted(p.name for p in (tmp_path / "plots").iterdir()) == ["graph.svg", "landscape.png"]
    code, _, err = attsvm("certify", PLANE, "--seconds", "0", "--plots", PLANE)
    assert code == 2
    assert "--plots" in err
