"""Trials on Dask, with real schedulers and workers as processes on the loopback interface."""

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
import trial_functions as trials

from conditions import InvalidInput
from verifier.experiments.parallel import ERROR, run_trials

TESTS = Path(__file__).parent
WAIT = 60

pytestmark = pytest.mark.slow


def until(condition, process):
    """Wait for *condition*, as long as *process* runs."""
    limit = time.monotonic() + WAIT
    while not condition():
        assert process.poll() is None and time.monotonic() < limit
        time.sleep(0.05)


def workers_of(pid):
    return [each for each in psutil.Process(pid).children(recursive=True)
            if "resource_tracker" not in " ".join(each.cmdline())]


@pytest.fixture
def cluster(tmp_path):
    """A scheduler and two workers with nannies: its address and the two processes."""
    environment = {**os.environ, "PYTHONPATH": str(TESTS)}
    file = tmp_path / "scheduler.json"

    def start(name, *arguments):
        return subprocess.Popen([sys.executable, "-m", f"distributed.cli.dask_{name}", *arguments,
                                 "--no-dashboard"], env=environment, cwd=tmp_path,
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    scheduler = start("scheduler", "--host", "127.0.0.1", "--port", "0", "--scheduler-file",
                      str(file))
    workers = None
    try:
        until(file.exists, scheduler)
        address = json.loads(file.read_text())["address"]
        workers = start("worker", address, "--nworkers", "2", "--nthreads", "1",
                        "--local-directory", str(tmp_path))
        yield address, scheduler, workers
    finally:
        for process in filter(None, (workers, scheduler)):
            process.terminate()
            process.wait(WAIT)


def test_a_running_cluster_loses_a_worker_and_then_its_scheduler(cluster, tmp_path):
    address, scheduler, workers = cluster
    journal = tmp_path / "j"
    script = ("import sys, trial_functions; from verifier.experiments.parallel import run_trials\n"
              "run_trials(trial_functions.slow, [(k, 0.02) for k in range(int(sys.argv[3]))],\n"
              "           cluster=sys.argv[1], journal=sys.argv[2])\n")

    def lines():
        return journal.read_bytes().count(b"\n") if journal.exists() else 0

    def sweep(count):
        return subprocess.Popen([sys.executable, "-c", script, address, str(journal), str(count)],
                                env={**os.environ, "PYTHONPATH": str(TESTS)}, text=True,
                                stderr=subprocess.PIPE)

    first = sweep(200)
    until(lambda: lines() > 40, first)
    workers_of(workers.pid)[0].kill()
    assert first.communicate(timeout=WAIT)[1] == "" and first.returncode == 0
    assert lines() == 201
    with pytest.raises(InvalidInput, match="must not be 5") as caught:
        run_trials(trials.refuse_five, [(k,) for k in range(12)], cluster=address)
    assert caught.value.__notes__ == ["in the trial [5]"]
    second = sweep(2000)
    until(lambda: lines() > 220, second)
    scheduler.kill()
    errors = second.communicate(timeout=WAIT)[1]
    assert second.returncode == 1
    assert "must stay reachable" in errors.splitlines()[-1]
    known = range(200)
    assert run_trials(trials.slow, [(k, 0.02) for k in known], jobs=1, journal=journal) == [
        {"k": k} for k in known]
    assert lines() < 2001


def test_a_local_cluster_does_what_processes_do(tmp_path, capfd):
    expected = [{"k": k} for k in range(12)]
    expected[7] = {ERROR: "the trial ended its worker 3 times"}
    journal = tmp_path / "j"
    assert run_trials(trials.kill_if_seven, [(k,) for k in range(12)], jobs=2, cluster="local",
                      journal=journal) == expected
    assert journal.read_bytes().count(b"\n") == 12
    # A worker that dies in the last trial is replaced while the cluster is closed.
    assert run_trials(trials.kill_if_seven, [(7,)], jobs=2, cluster="local") == [expected[7]]
    assert capfd.readouterr().err == ""


def test_addresses_without_a_scheduler_are_refused(monkeypatch):
    module = pytest.importorskip("verifier.experiments.cluster")
    monkeypatch.setattr(module, "_CONNECT_SECONDS", 1)
    for address in ("", "loca", "tcp://", "http://127.0.0.1:1", "tcp://127.0.0.1:1"):
        with pytest.raises(InvalidInput, match="cluster") as caught:
            run_trials(trials.square, [(1,)], cluster=address)
        assert re.search(r"dask scheduler|tcp://127\.0\.0\.1:8786", str(caught.value))


def test_without_distributed_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    monkeypatch.delitem(sys.modules, "verifier.experiments.cluster", raising=False)
    with pytest.raises(InvalidInput, match=r"verifier\[cluster\]"):
        run_trials(trials.square, [(1,)], cluster="local")
