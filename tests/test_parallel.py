"""Trials over processes: the same records wherever they run, through deaths and kills."""

import functools
import json
import os
import random
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest
import trial_functions as trials
from rich.console import Console

from conditions import InvalidInput
from verifier.experiments import parallel
from verifier.experiments.parallel import ERROR, run_trials

TESTS = Path(__file__).parent
TEN = [(k,) for k in range(10)]


def test_records_are_in_the_order_of_the_coordinates_whatever_runs_them():
    coordinates = [(k, "é", 0.5) for k in range(300)]
    random.Random(0).shuffle(coordinates)
    expected = [{"square": k**2, "of": [k, "é", 0.5]} for k, _, _ in coordinates]
    for jobs in (1, 2):
        assert run_trials(trials.square, coordinates, jobs=jobs) == expected


def test_equal_coordinates_are_computed_once(tmp_path):
    log = str(tmp_path / "log")
    found = run_trials(trials.counted, [(2, log), (1, log), (2, log)], jobs=1)
    assert [record["k"] for record in found] == [2, 1, 2]
    assert (tmp_path / "log").read_text() == "2\n1\n"


def test_no_trials():
    assert run_trials(trials.square, []) == []


def test_arguments_of_a_partial_reach_the_trial():
    assert run_trials(functools.partial(trials.scaled, factor=3), [(2,)], jobs=1) == [{"value": 6}]


def test_processes_have_one_thread_and_leave_the_environment_alone():
    before = dict(os.environ)
    found = run_trials(trials.threads, TEN, jobs=2)
    assert {record["most"] for record in found} == {1}
    assert os.getpid() not in {record["pid"] for record in found}
    assert dict(os.environ) == before
    assert {record["pid"] for record in run_trials(trials.threads, TEN, jobs=1)} == {os.getpid()}


@pytest.mark.slow
def test_a_trial_that_keeps_killing_its_worker_is_named_and_the_others_are_not(tmp_path):
    journal = tmp_path / "j"
    found = run_trials(trials.kill_if_seven, [(k,) for k in range(30)], jobs=2, journal=journal)
    assert found.pop(7) == {ERROR: "the trial ended its worker 3 times"}
    assert [record["k"] for record in found] == [k for k in range(30) if k != 7]
    # The next run tries it again.
    assert journal.read_bytes().count(b"\n") == 30


@pytest.mark.slow
def test_a_worker_that_dies_loses_nothing(tmp_path):
    coordinates = [(k, str(tmp_path / f"{k}" if k in (0, 4) else TESTS)) for k in range(8)]
    assert run_trials(trials.kill_once, coordinates, jobs=2) == [{"k": k} for k in range(8)]


@pytest.mark.parametrize("jobs", [1, 2])
def test_what_a_trial_raises_ends_the_sweep_and_names_it(tmp_path, jobs):
    journal = tmp_path / "j"
    with pytest.raises(InvalidInput, match="must not be 5") as caught:
        run_trials(trials.refuse_five, TEN, jobs=jobs, journal=journal)
    assert "in the trial [5]" in caught.value.__notes__
    assert run_trials(trials.refuse_five, TEN[:1], jobs=1, journal=journal) == [{"k": 0}]


def test_an_interrupt_leaves_a_journal_that_is_continued(tmp_path, monkeypatch):
    monkeypatch.setattr(parallel, "_CHUNK_SECONDS", 0)  # one trial a chunk
    journal = tmp_path / "j"
    with pytest.raises(KeyboardInterrupt):
        run_trials(trials.interrupt_at_five, TEN, jobs=1, journal=journal)
    assert journal.read_bytes().count(b"\n") == 6
    found = run_trials(trials.interrupt_at_five, TEN[:5], jobs=1, journal=journal)
    assert found == [{"k": k} for k in range(5)]


def test_a_journal_is_continued_and_extended(tmp_path):
    journal, log = tmp_path / "j", tmp_path / "log"
    coordinates = [(k, str(log)) for k in range(6)]
    run_trials(trials.counted, coordinates[:4], jobs=1, journal=journal)
    whole = journal.read_bytes()
    journal.write_bytes(whole[:-3])  # the last line is torn
    assert run_trials(trials.counted, coordinates, jobs=1, journal=journal) == [
        {"k": k} for k in range(6)]
    assert log.read_text().split() == list("0123345")


def test_the_journal_of_another_sweep_is_refused(tmp_path):
    journal = tmp_path / "j"
    run_trials(functools.partial(trials.scaled, factor=3), TEN, jobs=1, journal=journal)
    for other in (trials.square, functools.partial(trials.scaled, factor=4)):
        with pytest.raises(InvalidInput, match="another sweep"):
            run_trials(other, TEN, jobs=1, journal=journal)


@pytest.mark.parametrize(("function", "named"), [
    (lambda c: {}, "module level"), (print, "no function"), (None, "no function"),
    (trials.square.__call__, "no function"),
    (functools.partial(trials.scaled, factor=object()), "JSON-able"),
    (functools.partial(trials.scaled, factor=float("nan")), "JSON-able")])
def test_functions_that_cannot_travel_are_refused(function, named):
    with pytest.raises(InvalidInput, match=named):
        run_trials(function, TEN)


@pytest.mark.parametrize("coordinate", [
    5, [1], (None,), (True,), ((1,),), (float("nan"),), (float("inf"),), (b"x",), (1j,),
    (10**5000,)])
def test_coordinates_are_checked(coordinate):
    with pytest.raises(InvalidInput, match=r"coordinates\[1\]") as caught:
        run_trials(trials.square, [(1,), coordinate], jobs=1)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("function", [trials.not_a_number, trials.no_dict])
def test_records_that_json_cannot_spell_are_refused(function):
    with pytest.raises(InvalidInput, match=r"record of \[0\]"):
        run_trials(function, TEN, jobs=1)


@pytest.mark.parametrize(("settings", "named"), [
    ({"jobs": 0}, "jobs"), ({"jobs": True}, "jobs"), ({"jobs": 1.5}, "jobs"),
    ({"cluster": "host"}, "cluster"), ({"cluster": "tcp://h:1", "jobs": 2}, "jobs")])
def test_bad_places_are_refused(settings, named):
    with pytest.raises(InvalidInput, match=named):
        run_trials(trials.square, TEN, **settings)


def test_a_bar_is_shown_on_a_terminal_only(capsys, monkeypatch):
    run_trials(trials.square, TEN, jobs=1, progress=True)
    assert capsys.readouterr() == ("", "")
    monkeypatch.setattr(parallel, "Console", functools.partial(Console, force_terminal=True))
    run_trials(trials.square, TEN, jobs=1, progress=True)
    out, err = capsys.readouterr()
    assert out == "" and "10/10" in err


SCRIPT = """
import sys
import trial_functions
from verifier.experiments.parallel import run_trials

if __name__ == "__main__":
    run_trials(trial_functions.slow, [(k, 0.02) for k in range(400)], jobs=2, journal=sys.argv[1])
"""


COMMAND = """
import trial_functions
from verifier.experiments.parallel import run_trials
from verifier.cli import main

if __name__ == "__main__":
    print(*run_trials(trial_functions.modules, [(0,), (1,)], jobs=2)[1]["modules"], sep="\\n")
"""


def test_workers_of_a_command_do_not_import_the_commands(tmp_path):
    """A spawned process imports the main module again, and that is the script ``attsvm``."""
    script = tmp_path / "attsvm"
    script.write_text(COMMAND)
    found = subprocess.run([sys.executable, str(script)], cwd=tmp_path, capture_output=True,
                           text=True, check=True, env={**os.environ, "PYTHONPATH": str(TESTS)})
    modules = set(found.stdout.split())
    assert "verifier.cli" in modules
    assert not {name for name in modules if name.startswith(("verifier.commands", "matplotlib"))}


@pytest.mark.slow
def test_after_a_kill_no_process_is_left_and_the_sweep_continues(tmp_path):
    psutil = pytest.importorskip("psutil")
    journal, script = tmp_path / "j", tmp_path / "script.py"
    script.write_text(textwrap.dedent(SCRIPT))
    command = subprocess.Popen([sys.executable, str(script), str(journal)], cwd=tmp_path,
                               stderr=subprocess.PIPE,
                               env={**os.environ, "PYTHONPATH": str(TESTS)})
    try:
        while not journal.exists() or journal.read_bytes().count(b"\n") < 100:
            assert command.poll() is None, command.stderr.read()
            time.sleep(0.05)
        workers = psutil.Process(command.pid).children(recursive=True)
        assert len(workers) >= 2
    finally:
        command.kill()
        command.communicate()
    assert psutil.wait_procs(workers, timeout=20)[1] == []
    done = journal.read_bytes().count(b"\n") - 1
    assert 99 <= done < 400
    found = run_trials(trials.slow, [(k, 0.02) for k in range(done)], jobs=1, journal=journal)
    assert [record["k"] for record in found] == list(range(done))
    # Only the chunks that were under way are computed again.
    assert journal.read_bytes().count(b"\n") - 1 - done < 50
    assert json.loads(journal.read_text().splitlines()[0])["function"] == "trial_functions.slow"
