"""Sweeps: answers agree with asking each dataset alone, and no run changes the table."""

import csv
import json
import os
import subprocess
import sys
import time
from collections import Counter

import numpy as np
import psutil
import pytest

from conditions import InvalidInput, feasibility, local_optimality
from conditions.selection import optimal_selection
from conditions.separation.frobenius import solve
from verifier import io
from verifier.descent import descend
from verifier.experiments import sweep as module
from verifier.experiments.grid import Cell, cells
from verifier.experiments.parallel import ERROR
from verifier.experiments.sweep import Settings, Sweep, sweep_batch
from verifier.experiments.tables import trial_rows

WAIT = 300


def test_answers_are_those_of_each_dataset_alone():
    grid = cells(n=(2, 4), T=(3,), d=(2,))
    sweep = Sweep(grid, 6, Settings(("feasible", "local_optimal(opt)"), data="integers", seed=3))
    found = sweep.run(jobs=1)
    assert [(one.cell, one.number) for one in found] == [(c, k) for c in grid for k in range(6)]
    for one in found:
        data = one.cell.dataset("integers", 3, one.number)
        assert data.fingerprint.startswith(one.dataset) and len(one.dataset) == 16
        alpha = optimal_selection(data)
        alone = feasibility.decide(data, alpha), local_optimality.decide(data, alpha)
        assert one.answers == tuple((str(v.status), str(v.evidence), v.number) for v in alone)
        assert one.observed is None and not one.error
    assert {answer[0] for one in found for answer in one.answers} == {"holds", "fails"}


@pytest.mark.parametrize("setting", [{}, {"parameterization": "KQ", "m": 2}, {"rule": "plain"},
                                     {"head": "quadratic:1/2"}, {"head": "relu:3"},
                                     {"head": "multiclass:3"}])
def test_a_run_does_not_depend_on_its_batch(setting):
    settings = Settings(("feasible", "gen_feasible"), selection="gd", observe=True, iterations=200)
    cell = Cell(2, 3, 4, **setting)
    few = Sweep((cell,), 5, settings).run(jobs=1)
    many = Sweep((cell,), 19, settings).run(jobs=1)
    assert [(t.answers, t.observed) for t in few] == [(t.answers, t.observed) for t in many[:5]]
    assert {t.observed.outcome for t in many} <= {"completed", "stationary"}
    assert all((t.observed.selects_opt is None) == (cell.head != "linear") for t in many)


def test_what_is_observed_is_what_a_run_shows():
    cell = Cell(3, 4, 5)
    (first, *_) = Sweep((cell,), 2, Settings(observe=True, iterations=300)).run(jobs=1)
    data = cell.dataset("sphere", 0, 0)
    run = descend(data, iterations=300, engine="lanes")
    seen = first.observed
    assert (seen.selected, seen.steps) == (run.selected, 300)
    assert seen.selects_opt == (run.selected == optimal_selection(data))
    W = solve(data, run.selected).float_W
    expected = np.sum(W * run.final) / np.linalg.norm(W) / np.linalg.norm(run.final)
    assert seen.correlation == pytest.approx(expected, abs=1e-9)


def test_alpha_is_what_the_run_selects():
    settings = Settings(("feasible", "selects_opt"), selection="gd", observe=True)
    found = Sweep((Cell(4, 3, 2),), 20, settings).run(jobs=1)
    for one in found:
        data = one.cell.dataset("sphere", 0, one.number)
        assert one.answers[0][0] == str(feasibility.decide(data, one.observed.selected).status)
        assert (one.answers[1][0] == "holds") == one.observed.selects_opt
    assert Counter(one.answers[1][0] for one in found).keys() == {"holds", "fails"}


def test_a_trial_that_kills_its_worker_is_told_apart_from_its_batch(monkeypatch):
    def records(function, coordinates, **_):
        return [{ERROR: "killed"} if place[-2] <= 17 < place[-1] else function(place)
                for place in coordinates]

    monkeypatch.setattr(module, "run_trials", records)
    sweep = Sweep((Cell(2, 3, 2), Cell(2, 3, 3)), 20,
                  Settings(("feasible",), observe=True, iterations=10))
    found = sweep.run()
    assert [one.number for one in found] == [*range(20)] * 2
    assert [k for k, one in enumerate(found) if one.error] == [17, 37]
    rows = trial_rows(sweep, found)
    assert rows[17]["status: feasible"] == ERROR and rows[17]["number: feasible"] == "killed"
    assert rows[17]["observed: steps"] is None and rows[16]["observed: steps"] == 10


def test_a_sweep_can_be_continued_with_more_of_everything(tmp_path):
    settings, journal = Settings(("feasible",)), tmp_path / "j"
    Sweep((Cell(2, 3, 2),), 3, settings).run(jobs=1, journal=journal)
    lines = journal.read_bytes().splitlines()
    more = Sweep((Cell(3, 3, 2), Cell(2, 3, 2)), 5, settings)
    found = more.run(jobs=1, journal=journal)
    assert journal.read_bytes().splitlines()[:4] == lines
    assert [t.answers for t in found] == [t.answers for t in more.run(jobs=1)]
    with pytest.raises(InvalidInput, match=r"another sweep \(seed differ"):
        Sweep((Cell(2, 3, 2),), 3, Settings(("feasible",), seed=1)).run(jobs=1, journal=journal)


@pytest.mark.parametrize(("change", "named"), [
    ({"asks": ()}, "ask"), ({"asks": ("feasible", "feasible")}, "ask"), ({"data": "x"}, "data"),
    ({"selection": "0,1"}, "selection"), ({"seed": -1}, "seed"), ({"seed": 0.5}, "seed"),
    ({"seed": 2**64}, "seed"), ({"step": "0"}, "step"), ({"step": "x"}, "step"),
    ({"seconds": float("nan")}, "seconds"), ({"seconds": -1}, "seconds"),
    ({"iterations": 0}, "iterations")])
def test_bad_settings_are_refused(change, named):
    with pytest.raises(InvalidInput, match=named):
        Settings(**{"asks": ("feasible",), **change})


@pytest.mark.parametrize(("cell", "change", "named"), [
    ({"head": "relu:3"}, {}, "selection"), ({"parameterization": "KQ"}, {}, "parameterization"),
    ({"rule": "flow"}, {"observe": True}, "rule"),
    ({"rule": "flow"}, {"asks": ("gen_feasible",)}, "rule"),
    ({}, {"asks": ("low_rank_feasible",)}, "needs m"),
    ({"head": "relu:3"}, {"selection": "gd", "asks": ("unique_optimum",)}, "ask")])
def test_settings_without_meaning_in_a_cell_are_refused(cell, change, named):
    with pytest.raises(InvalidInput, match=named):
        Sweep((Cell(2, 3, 4), Cell(2, 3, 4, **cell)), 2,
              Settings(**{"asks": ("feasible",), **change}))


def test_trials_are_counted_and_drawn_again():
    for trials in (0, True, 2.0, 10**8):
        with pytest.raises(InvalidInput, match="trials"):
            Sweep((Cell(2, 3, 4),), trials, Settings(("feasible",)))
    sweep = Sweep((Cell(2, 3, 4), Cell(2, 3, 5)), 4, Settings(("feasible",), data="gaussian"))
    data, head, start = sweep.dataset(1, 3)
    assert data.fingerprint == Cell(2, 3, 5).dataset("gaussian", 0, 3).fingerprint
    assert head.name == "linear" and start is None
    for place in ((2, 0), (-1, 0), (0, 4)):
        with pytest.raises(InvalidInput, match=r"cell|trial"):
            sweep.dataset(*place)


def test_a_batch_is_json_of_its_place():
    place = (*Cell(2, 3, 2).values, 4, 6)
    settings = {"asks": ["feasible"], "seed": 1}
    record = json.loads(json.dumps(sweep_batch(place, **settings)))
    assert [len(one["answers"]) for one in record["trials"]] == [1, 1]
    assert record["trials"][0]["dataset"] == Cell(2, 3, 2).dataset("sphere", 1, 4).fingerprint[:16]


# A worker and the command are killed --------------------------------------------------------

GRID = ["--n", "2", "--T", "2,3", "--d", "2..6", "--trials", "200", "--data", "integers",
        "--ask", "feasible"]


def command(folder, *options):
    return subprocess.Popen(
        [sys.executable, "-m", "verifier", "sweep", *GRID, "--out", str(folder), *options],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=dict(os.environ))


@pytest.mark.slow
def test_2000_trials_on_a_cluster_that_is_killed_twice_give_the_table_of_one_process(tmp_path):
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    one = command(whole, "--jobs", "1")

    def finished():
        journal = killed / "journal.jsonl"
        return journal.read_bytes().count(b"\n") - 1 if journal.exists() else 0

    def until(count, process):
        limit = time.monotonic() + WAIT
        while finished() < count:
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < limit
            time.sleep(0.02)

    first = command(killed, "--cluster", "local", "--jobs", "2")
    until(300, first)
    processes = psutil.Process(first.pid).children(recursive=True)
    worker = next(p for p in processes if "resource_tracker" not in " ".join(p.cmdline()))
    worker.kill()
    until(800, first)
    first.kill()
    first.communicate()
    assert first.returncode == -9 and 800 <= finished() < 2000
    assert psutil.wait_procs(processes, timeout=WAIT)[1] == []
    before = (killed / "journal.jsonl").read_bytes()
    assert not (killed / "trials.csv").exists()
    second = command(killed, "--cluster", "local", "--jobs", "2")
    for process in (second, one):
        out, err = process.communicate(timeout=WAIT)
        assert (process.returncode, err) == (0, ""), err
        assert "2000 trials written" in out
    assert (killed / "journal.jsonl").read_bytes().startswith(before)
    for name in ("trials.csv", "summary.csv", "sweep.json"):
        assert (killed / name).read_bytes() == (whole / name).read_bytes()
    with open(whole / "trials.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 2000
    assert {row["status: feasible"] for row in rows} == {"holds", "fails"}


def test_the_dataset_of_a_trial_is_written(tmp_path):
    from verifier.cli import app
    out = str(tmp_path / "o")
    app(["sweep", "--n", "2", "--T", "3", "--d", "4", "--head", "quadratic:1/3,relu:2,multiclass:3",
         "--parameterization", "KQ", "--m", "2", "--selection", "gd", "--iterations", "5",
         "--ask", "feasible", "--trials", "2", "--jobs", "1", "--out", out], standalone_mode=False)
    for k, head in enumerate(("quadratic:1/3", "relu:2", "multiclass:3")):
        app(["sweep", "--out", out, "--trial-data", f"{k},1"], standalone_mode=False)
        path = tmp_path / "o" / f"cell{k}_trial1.json"
        cell = Cell(2, 3, 4, 2, head, parameterization="KQ")
        assert io.load_dataset(path).fingerprint == cell.dataset("sphere", 0, 1).fingerprint
        loaded, drawn = io.load_head(path), cell.prediction_head(0, 1)
        assert loaded.name == drawn.name
        for name, value in drawn.parameters().items():
            assert np.array_equal(np.array(loaded.parameters()[name]), np.array(value))
        for loaded, drawn in zip(io.load_factored_start(path), cell.start(0, 1), strict=True):
            assert np.array_equal(loaded, drawn)
