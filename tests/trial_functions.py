"""Functions of one coordinate for the tests of sweeps: workers import them by name."""

import os
import signal
import sys
import time
from pathlib import Path

from threadpoolctl import threadpool_info

from conditions import InvalidInput


def square(coordinate):
    return {"square": coordinate[0] ** 2, "of": coordinate}


def scaled(coordinate, *, factor):
    return {"value": coordinate[0] * factor}


def slow(coordinate):
    time.sleep(coordinate[1])
    return {"k": coordinate[0]}


def threads(coordinate):
    counts = [pool["num_threads"] for pool in threadpool_info()]
    return {"most": max(counts), "pid": os.getpid()}


def modules(coordinate):
    return {"modules": sorted(sys.modules)}


def kill_if_seven(coordinate):
    if coordinate[0] == 7:
        os.kill(os.getpid(), signal.SIGKILL)
    return {"k": coordinate[0]}


def kill_once(coordinate):
    """Kill the worker the first time that the trial is tried; the coordinate names a file."""
    path = Path(coordinate[1])
    if not path.exists():
        path.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return {"k": coordinate[0]}


def refuse_five(coordinate):
    if coordinate[0] == 5:
        raise InvalidInput("k", 5, "must not be 5", "choose another")
    return {"k": coordinate[0]}


def interrupt_at_five(coordinate):
    if coordinate[0] == 5:
        raise KeyboardInterrupt
    return {"k": coordinate[0]}


def not_a_number(coordinate):
    return {"k": float("nan")}


def no_dict(coordinate):
    return [1]


def counted(coordinate):
    """Leave a line in the file that the coordinate names for every time it is computed."""
    with open(coordinate[1], "a") as file:
        file.write(f"{coordinate[0]}\n")
    return {"k": coordinate[0]}
