"""All locally optimal selections with their cones, as one report."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from verifier import io
from verifier.cli import main
from verifier.directions import explore
from verifier.kernel import check_text

EXAMPLES = Path(__file__).parent.parent / "examples" / "data"


def test_two_samples_have_two_directions():
    explored = explore(io.load_dataset(EXAMPLES / "two_samples.json"))
    assert [d.selection for d in explored.enumeration.directions] == [(0, 1), (0, 0)]
    verdict = {(v.condition, v.selection): v for v in explored.report.verdicts}
    assert verdict["directions", None].holds
    assert verdict["only_local_optimum", None].fails
    assert verdict["assumption_d", None].fails
    for alpha in ((0, 0), (0, 1)):
        assert verdict["local_optimality", alpha].holds
        assert verdict["basin_cone", alpha].holds
    assert check_text(explored.report.certificate_text()).accepted


@pytest.mark.parametrize("name", ["plane_3_tokens.npz", "plane_5_tokens.npz"])
def test_plane(name):
    explored = explore(io.load_dataset(EXAMPLES / name))
    assert explored.enumeration.complete
    assert check_text(explored.report.certificate_text()).accepted


def test_a_budget_that_ends_says_how_much_is_closed():
    explored = explore(io.load_dataset(EXAMPLES / "digits_patches.json"), seconds=0.0)
    assert not explored.enumeration.complete
    verdict = explored.report.verdicts[0]
    assert verdict.undecided
    assert "65536 selections" in verdict.reason


def test_command(capsys, monkeypatch, tmp_path):
    target = tmp_path / "d.json"
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setattr(sys, "argv", ["attsvm", "directions", str(EXAMPLES / "two_samples.json"),
                                      "--json", str(target)])
    with pytest.raises(SystemExit, match="0"):
        main()
    out = capsys.readouterr().out
    rows = [line.split()[0] for line in out.splitlines() if line[:3] in ("0,0", "0,1")]
    assert rows == ["0,1", "0,0"]
    assert "2 of 4 selections are locally optimal" in out
    assert check_text(target.read_text()).accepted
