"""``attsvm claims`` as users run it: listing, stating, checking, refuting, and bad input."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from verifier.claims.predicates import PREDICATES
from verifier.claims.registry import CLAIMS
from verifier.cli import main
from verifier.io import load_dataset
from verifier.kernel import check_file

ROOT = Path(__file__).parent.parent
EXAMPLES = ROOT / "examples" / "data"
TWO, PLANE = str(EXAMPLES / "two_samples.json"), str(EXAMPLES / "plane_3_tokens.npz")


@pytest.fixture
def claims(capsys, monkeypatch):
    """Run ``attsvm claims …`` in this process: (exit code, stdout, stderr)."""
    def run(*arguments: str):
        monkeypatch.setattr(sys, "argv", ["attsvm", "claims", *map(str, arguments)])
        monkeypatch.setenv("COLUMNS", "160")
        code = 0
        try:
            main()
        except SystemExit as stop:
            code = stop.code or 0
        captured = capsys.readouterr()
        return code, captured.out, captured.err
    return run


def statuses(out: str) -> dict[str, str]:
    """Status by the name at the start of a row."""
    found = {}
    for line in out.splitlines():
        for status in ("holds", "fails", "undecided"):
            name, gap, _ = line.partition(f"  {status}  ")
            if gap and name.strip():
                found[name.strip()] = status
    return found


def test_all_rows_are_listed(claims):
    code, out, err = claims()
    assert (code, err) == (0, "")
    named = [line.split()[0] for line in out.splitlines() if line and not line.startswith(" ")]
    assert [name for name in named if name in CLAIMS] == list(CLAIMS)
    assert "thm4_repaired  v1 Theorem 4, repaired, proved here" in out
    code, out, err = claims("--predicates")
    assert (code, err) == (0, "")
    assert all(f"\n{name} " in out for name in PREDICATES)


@pytest.mark.parametrize("name", list(CLAIMS))
def test_one_row_in_full(claims, name):
    code, out, err = claims(name)
    assert (code, err) == (0, "")
    for hypothesis in CLAIMS[name].hypotheses:
        assert f"  {hypothesis.name} = {hypothesis.expression}" in out
    assert f"source: {CLAIMS[name].source}" in out
    assert ("observed" in out) == (CLAIMS[name].conclusion is None)


def test_theorem_4_as_printed_is_refuted_and_the_bundle_is_accepted(claims, tmp_path):
    target = tmp_path / "bundle.json"
    code, out, err = claims("thm4", TWO, "--start", "20,0;0,0", "--json", target)
    assert (code, err) == (0, "")
    assert "REFUTED: all hypotheses are certified, and the conclusion is certified to be" in out
    assert statuses(out) == dict.fromkeys(
        ("unique_optimum", "equal_scores", "feasible", "plain_descent", "constant_step", "step"),
        "holds") | {"⇒ limit_is_opt": "fails"}
    assert "W(0) = [20, 0; 0, 0]" in out and "η = 1/64" in out
    assert "L_W between 61.388" in out
    checked = check_file(target)
    assert checked.refusals == ()
    assert checked.counts["proved"] == checked.counts["claimed"] == 4
    assert load_dataset(target).fingerprint == load_dataset(TWO).fingerprint
    run = json.loads(target.read_text())["verdicts"][-1]
    assert run["condition"] == "limit_from_start" and run["selection"] == [0, 1]
    assert run["certificate"]["start"] == [[20, 0], [0, 0]]


def test_from_zero_the_same_dataset_confirms_it(claims):
    code, out, _ = claims("thm4_zero", TWO)
    assert code == 0
    assert "confirmed here" in out and "REFUTED" not in out
    _, out, _ = claims("thm4_repaired", TWO)
    assert statuses(out)["nonnegative_products"] == "fails"
    assert "not applicable" in out


def test_a_claim_of_ones_own(claims, tmp_path):
    target = tmp_path / "c.json"
    text = "feasible & unique_optimum >> no_stationary_point"
    code, out, err = claims("--expression", text, PLANE, "--json", target)
    assert (code, err) == (0, "")
    assert statuses(out) == {"feasible": "holds", "unique_optimum": "holds",
                             "⇒ no_stationary_point": "holds"}
    assert check_file(target).counts["proved"] == 3
    code, out, _ = claims("--expression", "local_optimal(alpha) >> selects_opt", TWO,
                          "--selection", "0,1")
    assert code == 0 and "REFUTED" in out
    code, out, _ = claims("--expression", text)
    assert code == 0 and "hypotheses" in out


@pytest.mark.parametrize(("arguments", "shown"), [
    (["--rule", "normalized"], "normalized descent, η = 1/10"),
    (["--rule", "flow"], "flow descent, W(0) = 0"),
    (["--step", "0.01", "--first-step", "1/3"], "η = 1/100, η₀ = 1/3"),
    (["--rank", "2"], "m = 2"),
    (["--sets", "0,1;0"], "O = 0,1; 0"),
    (["--lambda", "3/4"], "λ = 3/4"),
    (["--selection", "1,0"], "α = 1,0,"),
    (["--selection", "gd", "--rule", "normalized"], "α = 0,0 (opt)"),
    (["--loss", "correlation"], "correlation loss"),
    (["--start", "1/3,0;0,-2"], "W(0) = [1/3, 0; 0, -2]"),
])
def test_options_make_the_case(claims, arguments, shown):
    code, out, err = claims("lemma4", TWO, *arguments)
    assert (code, err) == (0, "")
    assert shown in out


def test_starts_from_files(claims, tmp_path):
    np.save(tmp_path / "W.npy", np.array([[20.0, 0], [0, 0]]))
    _, out, _ = claims("thm4", TWO, "--start", tmp_path / "W.npy")
    assert "REFUTED" in out
    stack = EXAMPLES / "local_convergence.npz"
    code, out, _ = claims("thm7", stack, "--trial", "3", "--start", "data")
    assert code == 0 and "W(0) 10 × 10" in out
    line = {"X": [[[1], [0]]], "Y": [1], "z": [[1]], "v": [1]}
    (tmp_path / "line.json").write_text(json.dumps(line))
    _, out, _ = claims("thm4", tmp_path / "line.json", "--start", "-3/2")
    assert "W(0) = [-3/2]" in out and "confirmed here" in out


def test_observed_only_claims_say_observed(claims):
    code, out, _ = claims("thm2", TWO)
    assert code == 0 and "observed: path at R = " in out and "predicted: " in out
    code, out, _ = claims("gen_svm", TWO, "--sets", "0;0", "--rule", "normalized")
    assert code == 0 and "observed: sets [[0], [0]], correlation of W with W^mm" in out
    code, out, _ = claims("next_token", TWO)
    assert code == 0 and "observed by: examples/zen.py" in out


@pytest.mark.parametrize(("arguments", "said"), [
    (["thm44"], "did you mean thm4"),
    (["thm4", "nowhere.json"], "nowhere.json"),
    (["thm4", TWO, "--start", "1,2;3"], "2 × 2 matrix"),
    (["thm4", TWO, "--start", "1,a;3,4"], r"start[0][1]"),
    (["thm4", TWO, "--start", "middle"], "--start"),
    (["thm4", TWO, "--step", "0"], "must be positive"),
    (["thm4", TWO, "--step", "abc"], "--step"),
    (["thm4", TWO, "--first-step", "-1"], "must be positive"),
    (["thm4", TWO, "--rule", "flow", "--step", "1"], "must be 0"),
    (["thm4", TWO, "--rule", "adam"], "rule"),
    (["thm4", TWO, "--loss", "hinge"], "loss"),
    (["thm4", TWO, "--rank", "5"], "1..2"),
    (["thm4", TWO, "--sets", "0;x"], "--sets"),
    (["thm4", TWO, "--sets", "0;9"], "sets[1]"),
    (["thm4", TWO, "--lambda", "0"], "lambda"),
    (["thm4", TWO, "--seconds", "nan"], "--seconds"),
    (["thm4", TWO, "--selection", "0,5"], "selection[1]"),
    (["thm4", TWO, "--selection", "gd", "--rule", "flow"], "--selection"),
    (["thm4", TWO, "--trial", "7"], "trial"),
    (["thm4", TWO, "--json", TWO], "must not be a file that is read"),
    (["thm4", TWO, "--expression", "feasible"], "takes the place of NAME"),
    (["--expression", "feasible >> "], "name of a predicate"),
    (["--expression", "__import__('os').system('true')"], "'"),
    (["--expression", "feasible(0,0,0) >> full_rank", TWO], "must name one token"),
])
def test_bad_input_ends_in_one_line_and_exit_2(claims, arguments, said):
    code, out, err = claims(*arguments)
    assert code == 2
    assert out == ""
    assert err.startswith("attsvm: ") and err.count("\n") == 1
    assert said in err


def test_no_bundle_ships_inside_the_packages():
    shipped = [path for package in ("conditions", "verifier")
               for path in (ROOT / package).rglob("*") if path.suffix in (".json", ".npz")]
    assert shipped == []
