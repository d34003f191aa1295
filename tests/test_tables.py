"""The files of a sweep: the same values in every format, shares that add up, settings read back."""

import csv
import json
import sys
from collections import Counter

import pyarrow.parquet
import pytest
from rich.console import Console

from conditions import InvalidInput
from verifier.cli import app, main
from verifier.experiments.grid import Cell
from verifier.experiments.sweep import Settings, Sweep
from verifier.experiments.tables import (
    STATUSES,
    check_format,
    observed_rows,
    read_sweep,
    summary_rows,
    trial_rows,
    write_results,
    write_table,
)
from verifier.report.sweep import MAX_CELLS, print_sweep

SETTINGS = Settings(("feasible", "feasible(0, 1, 0, 0) >> unique_optimum"), data="integers",
                    observe=True, iterations=20)


@pytest.fixture(scope="module")
def done():
    sweep = Sweep((Cell(4, 2, 1), Cell(4, 2, 2, 1, loss="exponential")), 25, SETTINGS)
    return sweep, sweep.run(jobs=1)


def spelled(value):
    return "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def test_csv_and_parquet_hold_the_same(done, tmp_path):
    sweep, trials = done
    for form in ("csv", "parquet"):
        write_results(sweep, trials, tmp_path, form)
    rows = trial_rows(sweep, trials)
    with open(tmp_path / "trials.csv", newline="", encoding="utf-8") as file:
        read = list(csv.DictReader(file))
    table = pyarrow.parquet.read_table(tmp_path / "trials.parquet")
    assert table.to_pylist() == rows
    assert read == [{name: spelled(value) for name, value in row.items()} for row in rows]
    assert {str(t) for t in table.schema.types} == {"int64", "string", "bool", "double"}
    before = (tmp_path / "trials.parquet").read_bytes()
    write_results(sweep, trials, tmp_path, "parquet")
    assert (tmp_path / "trials.parquet").read_bytes() == before


def test_columns_that_are_empty_throughout_have_their_type(tmp_path):
    rows = [{"m": None, "observed: correlation": None, "x": None}]
    write_table(tmp_path / "t.parquet", rows)
    table = pyarrow.parquet.read_table(tmp_path / "t.parquet")
    assert [str(t) for t in table.schema.types] == ["int64", "double", "string"]


def test_hostile_texts_come_back_whole(tmp_path):
    texts = ['a,"b"\n\r\n;', "=1+1", "é\u2028 \t", "", "'", "\\"]
    rows = [{"name: a, b": text, "k": k} for k, text in enumerate(texts)]
    for name in ("t.csv", "t.parquet"):
        write_table(tmp_path / name, rows)
    with open(tmp_path / "t.csv", newline="", encoding="utf-8") as file:
        assert [row["name: a, b"] for row in csv.DictReader(file)] == texts
    assert pyarrow.parquet.read_table(tmp_path / "t.parquet").to_pylist() == rows


def test_shares_are_counted(done):
    sweep, trials = done
    rows = summary_rows(sweep, trials)
    assert len(rows) == 4
    for k, row in enumerate(rows):
        group, ask = trials[25 * (k // 2):25 * (k // 2) + 25], k % 2
        count = Counter(trial.answers[ask][0] for trial in group)
        assert [row[status] for status in STATUSES] == [count[status] for status in STATUSES]
        assert sum(row[f"share {status}"] for status in STATUSES) == pytest.approx(1)
        assert row["ask"] == sweep.asks[ask].text and row["trials"] == 25
    assert rows[0]["m"] is None and rows[2]["m"] == 1
    assert {row["holds"] for row in rows} != {25}
    seen = observed_rows(sweep, trials)
    assert [row["runs"] for row in seen] == [25, 25]
    for row, group in zip(seen, (trials[:25], trials[25:]), strict=True):
        values = [t.observed.correlation for t in group if t.observed.correlation is not None]
        assert row["with W^mm"] == len(values) < 25
        assert row["mean correlation"] == pytest.approx(sum(values) / len(values))
        assert row["share selecting opt"] == sum(t.observed.selects_opt for t in group) / 25


def test_settings_are_read_back(done, tmp_path):
    sweep, trials = done
    paths = write_results(sweep, trials, tmp_path, "csv")
    assert {path.name for path in paths} == {"trials.csv", "summary.csv", "timings.csv",
                                             "observed.csv", "sweep.json"}
    assert read_sweep(tmp_path) == sweep
    path = tmp_path / "sweep.json"
    good = json.loads(path.read_text())
    for change in ({"format": "x"}, {"version": 2}, {"cells": [{"n": 1}]}, {"cells": 1},
                   {"settings": {}}, {"settings": {"asks": [5]}}, {"settings": {"asks": 5}},
                   {"settings": {"asks": ["feasible"], "x": 1}}, {"trials": "2"},
                   {"settings": {"asks": ["feasible"], "seconds": "1"}}):
        path.write_text(json.dumps({**good, **change}))
        with pytest.raises(InvalidInput) as caught:
            read_sweep(tmp_path)
        assert "\n" not in str(caught.value)
    for text in ("", "[", "[]", "null", "[" * 10**5):
        path.write_text(text)
        with pytest.raises(InvalidInput):
            read_sweep(tmp_path)


def test_formats_are_checked(monkeypatch):
    check_format("csv")
    with pytest.raises(InvalidInput, match="format"):
        check_format("xls")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(InvalidInput, match=r"verifier\[parquet\]"):
        check_format("parquet")


def test_the_printed_table(done):
    sweep, trials = done
    console = Console(width=120, record=True, file=open("/dev/null", "w"))  # noqa: SIM115
    with console.file:
        print_sweep(sweep, trials, console)
    text = console.export_text()
    first = summary_rows(sweep, trials)[0]
    assert f"{first['holds']} / {first['fails']} / {first['undecided']}" in text
    assert text.splitlines()[0].split()[:3] == ["d", "m", "loss"]
    assert "observed: share of runs" in text


def test_long_tables_are_cut_and_errors_told(capsys, done):
    trial = done[1][0]
    many = Sweep(tuple(Cell(1, 2, d) for d in range(1, MAX_CELLS + 3)), 1,
                 Settings(("feasible", "unique_optimum")))
    trials = tuple(type(trial)(cell, 0, "", (("holds", "exact", ""),) * 2, (0.0,) * 2)
                   for cell in many.cells[:-1])
    trials += (type(trial)(many.cells[-1], 0, error="killed"),)
    print_sweep(many, trials, Console(width=120))
    out = capsys.readouterr().out
    assert "and 2 more cells" in out and "errors in 1 of 62 trials" in out
    assert sum(line.split()[:1] == [str(d)] for d, line in enumerate(out.splitlines())) == MAX_CELLS


def test_the_command(tmp_path, capsys):
    out = tmp_path / "new" / "folder"
    arguments = ["sweep", "--n", "2", "--d", "1..2", "--trials", "3", "--ask", "feasible",
                 "--ask", "thm1", "--jobs", "1", "--out", str(out)]
    app(arguments, standalone_mode=False)
    printed = capsys.readouterr().out
    assert "thm1" in printed and "6 trials written to" in printed
    before = (out / "trials.csv").read_bytes()
    app(arguments, standalone_mode=False)
    assert (out / "trials.csv").read_bytes() == before


@pytest.mark.parametrize("arguments", [
    ["--n", "0"], ["--n", "2..1"], ["--n", ""], ["--T", "1"], ["--m", "9"], ["--head", "x"],
    ["--head", "relu:3"], ["--loss", "x"], ["--rule", ","], ["--parameterization", "KQ"],
    ["--ask", "nope"], ["--ask", "feasible("], ["--ask", "lemma2"], ["--trials", "0"],
    ["--seed", "-1"], ["--data", "x"], ["--step", "-1"], ["--seconds", "nan"], ["--jobs", "0"],
    ["--cluster", "x"], ["--format", "x"], ["--out", "/dev/null"], ["--trial-data", "0,0"],
    ["--trial-data", "a"], ["--n", "1..9999", "--d", "1..9999"]])
def test_bad_grids_are_refused_in_one_line(arguments, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["attsvm", "sweep", "--out", str(tmp_path / "o"), "--ask",
                                      "feasible", "--trials", "1", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    out, err = capsys.readouterr()
    assert (ended.value.code, out) == (2, "")
    assert err.startswith("attsvm: ") and err.count("\n") == 1
