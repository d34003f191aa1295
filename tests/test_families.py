"""Families from files to certificates: the command, the checker, and what it refuses."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from flint import fmpq, fmpq_poly, fmpz

from conditions.errors import InvalidInput
from conditions.family import Cell, Piece, Point
from verifier.cli import main
from verifier.families import partition_file, point_text
from verifier.kernel import polynomials
from verifier.kernel.reading import long_integers

FAMILY = {"parameter": "t", "interval": [0, 2], "Y": [1], "z": [[1, 0]], "v": [1, 0],
          "X": [[[0, 0], [-1, 0], ["1 - t^2", -1]]]}


@pytest.fixture
def path(tmp_path):
    file = tmp_path / "family.json"
    file.write_text(json.dumps(FAMILY))
    return file


def run(monkeypatch, *arguments):
    monkeypatch.setattr("sys.argv", ["attsvm", *map(str, arguments)])
    with pytest.raises(SystemExit) as stopped:
        main()
    return stopped.value.code or 0


def test_command_writes_what_the_checker_accepts(path, tmp_path, monkeypatch, capsys):
    certificate = tmp_path / "c.json"
    assert run(monkeypatch, "family", path, "--json", certificate) == 0
    text = capsys.readouterr().out
    assert "[0, 1]" in text and "(1, √2]" in text and "(√2, 2]" in text
    assert run(monkeypatch, "check", certificate) == 0
    lines = capsys.readouterr().out
    assert "accepted 7 of 7 proved verdicts" in lines
    assert "θ = 1.41421…: feasible, support indices (0, 1), (0, 2), α is locally optimal" in lines


@pytest.mark.parametrize(("change", "named"), [
    ({"X": [[[0, 0], ["y", 0]]]}, "y"), ({"interval": [2, 0]}, "lower end first"),
    ({"interval": [0]}, "two rational numbers"), ({"W0": 1}, "W0"), ({"Y": [2]}, "labels"),
    ({"parameter": "a b"}, "name"), ({"z": [[1]]}, "z[0]"), ({"X": []}, "X"),
    ({"X": [[[0, 0]]]}, "X[0]"), ({"v": []}, "v"), ({"z": [["1/(t - 1)", 0]]}, "pole")])
def test_bad_families_are_refused_in_one_line(path, change, named, monkeypatch, capsys):
    path.write_text(json.dumps({**FAMILY, **change}))
    assert run(monkeypatch, "family", path) == 2
    error = capsys.readouterr().err
    assert named in error and error.count("\n") == 1


@pytest.mark.parametrize("arguments", [("--selection", "gd"), ("--selection", "5"),
                                       ("--interval", "1", "x")])
def test_bad_options_are_refused(path, arguments, monkeypatch, capsys):
    assert run(monkeypatch, "family", path, *arguments) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_points_with_long_coefficients_are_written(path):
    # Python spells no integers of more than 4,300 digits unasked.
    low, high = "3" * 4399 + "1", "7" * 4400
    with long_integers():
        point = Point((-int(low), 0, int(high)), 1)
    found = partition_file(path, "opt", None)
    text = replace(found, pieces=(Piece(Cell(point, point), ()),)).certificate_text()
    assert json.loads(text)["points"][0]["polynomial"] == ["-" + low, 0, high]
    # √(3/7)
    assert point_text(point) == "root of a polynomial of degree 2 near 0.654653671"


def test_what_the_checker_would_refuse_is_not_written(path, tmp_path, monkeypatch, capsys):
    certificate = tmp_path / "c.json"
    denominators = [f"1/(t^64 + {k + 1})" for k in range(65)]
    path.write_text(json.dumps({**FAMILY, "z": [[0] * 65], "X": [[[0] * 65] * 2],
                                "v": denominators}))
    assert run(monkeypatch, "family", path, "--json", certificate) == 2
    assert "4,096" in capsys.readouterr().err
    # No file is worth its signs, says this checker.
    monkeypatch.setattr(polynomials, "_LEAST_WORK", 0)
    monkeypatch.setattr(polynomials, "_WORK_PER_CHARACTER", 0)
    path.write_text(json.dumps(FAMILY))
    assert run(monkeypatch, "family", path, "--json", certificate) == 2
    said = capsys.readouterr()
    assert "must be accepted by the checker" in said.err and said.err.count("\n") == 1
    assert said.out == ""
    assert not certificate.exists()


def test_numbers_that_no_checker_reads_are_refused(path, monkeypatch, capsys):
    path.write_text(json.dumps({**FAMILY, "interval": [0, "1." + "0" * 59_999 + "1"]}))
    assert run(monkeypatch, "family", path) == 2
    error = capsys.readouterr().err
    assert error.startswith("attsvm: interval (120,003 characters") and error.count("\n") == 1
    path.write_text(json.dumps(FAMILY))
    found = partition_file(path, "opt", None)
    row, multiplier = found.pieces[1].multipliers[0]
    longer = replace(found.pieces[1], multipliers=((row, multiplier / fmpz(3)**210_000),))
    for pieces in ((found.pieces[0], longer), (found.pieces[0], replace(
            longer, multipliers=((row, fmpq_poly([0] * 4097 + [1])),)))):
        with pytest.raises(InvalidInput, match=r"partition \(.*\): .* which a checker"):
            replace(found, pieces=pieces).certificate_text()


@pytest.mark.parametrize(("point", "text"), [
    (Point.of(fmpq(-3, 2)), "-3/2"), (Point((-2, 0, 1), 0), "−√2"), (Point((-8, 0, 1), 1), "2√2"),
    (Point((-1, -1, 1), 1), "1/2 + √5/2"), (Point((-2, 0, 9), 1), "√2/3"),
    (Point((-2, 0, 0, 1), 0), "root of θ^3 − 2 near 1.25992105"),
    (Point.of(fmpq(fmpz(10)**5000 + 1, 2 * fmpz(10)**5000)), "a rational number near 0.5"),
    (Point((-2 * 10**5000, 0, 10**5000 + 1), 1),
     "root of a polynomial of degree 2 near 1.41421356")])
def test_points_are_written_exactly(point, text):
    assert point_text(point) == text
