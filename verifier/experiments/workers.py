"""Where trials run: in this process, in local processes, or on a Dask cluster.

All three take chunks of trials and give futures of their records. A future that ends with one of
``lost`` says that the worker died before the chunk was finished.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import lru_cache
from importlib.metadata import version
from typing import Any, Self

from conditions.errors import Description, InvalidInput
from conditions.exact.threads import one_blas_thread
from verifier.experiments.journal import spelled

Coordinate = tuple[int | str | float, ...]
Record = dict[str, Any]
Function = Callable[[Coordinate], Record]
Finished = tuple[list[str], float]
"""The records of a chunk as JSON texts, and the seconds that they took."""

PACKAGE = "attention-svm-verifier"
_ONE_THREAD = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


def run_chunk(function: bytes, package: str, chunk: Sequence[Coordinate]) -> Finished:
    """The records of *chunk*, computed with one BLAS thread; what workers are asked for.

    *function* is pickled, *package* the version that it belongs to. Raises ``InvalidInput`` if
    that is not the version here, or a record is not JSON; and what the function raises.
    """
    if package != version(PACKAGE):
        raise InvalidInput("version of the worker", version(PACKAGE), f"must be {package}",
                           "install the same version everywhere")
    trial = _loaded(function)
    began = time.perf_counter()
    with one_blas_thread():
        texts = [_text(_record(trial, coordinate), coordinate) for coordinate in chunk]
    return texts, time.perf_counter() - began


@lru_cache(maxsize=4)
def _loaded(function: bytes) -> Function:
    try:
        loaded: Function = pickle.loads(function)
    except (ImportError, AttributeError) as error:
        raise InvalidInput("function", Description(error), "must be importable where trials run",
                           "move it to a module that is installed there") from None
    return loaded


def _record(trial: Function, coordinate: Coordinate) -> Record:
    try:
        return trial(coordinate)
    except Exception as error:
        error.add_note(f"in the trial {list(coordinate)}")
        raise


def _text(record: object, coordinate: Coordinate) -> str:
    try:
        if not isinstance(record, dict):
            raise TypeError
        return spelled(record)
    except (TypeError, ValueError):
        raise InvalidInput(f"record of {list(coordinate)}", repr(record),
                           "must be a dict that JSON can spell",
                           "return finite numbers, texts, lists and dicts") from None


class Workers(ABC):
    """Takes chunks; a context manager that lets go of its processes at the end."""

    name = "processes"
    """What a user calls them."""

    lost: tuple[type[BaseException], ...] = ()
    """How futures end whose worker died."""

    deaths = 1
    """How many deaths one such end stands for."""

    @abstractmethod
    def capacity(self) -> int:
        """How many chunks may be under way at once."""

    @abstractmethod
    def submit(self, function: bytes, chunk: Sequence[Coordinate]) -> Future[Finished]:
        """Start `run_chunk`; at most ``capacity`` may be under way."""

    def __enter__(self) -> Self:
        return self

    @abstractmethod
    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Let go of everything, at once if something went wrong."""


class InProcess(Workers):
    """The calling process: a chunk has ended when it is submitted."""

    def capacity(self) -> int:
        """One."""
        return 1

    def submit(self, function: bytes, chunk: Sequence[Coordinate]) -> Future[Finished]:
        """Run the chunk now. Raises what its function raises."""
        future: Future[Finished] = Future()
        future.set_result(run_chunk(function, version(PACKAGE), chunk))
        return future

    def __exit__(self, *_: object) -> None:
        """Nothing is held."""


class LocalProcesses(Workers):
    """*jobs* processes of one thread each; one that dies is replaced.

    Each is an executor of its own, so that a death breaks one chunk and not all of them.
    """

    lost = (BrokenProcessPool,)

    def __init__(self, jobs: int) -> None:
        self._slots = [_Slot() for _ in range(jobs)]

    def capacity(self) -> int:
        """One chunk a process."""
        return len(self._slots)

    def submit(self, function: bytes, chunk: Sequence[Coordinate]) -> Future[Finished]:
        """Give the chunk to an idle process."""
        slot = next(slot for slot in self._slots if slot.idle)
        return slot.submit(function, version(PACKAGE), chunk)

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """End the processes, at once if something went wrong."""
        for slot in self._slots:
            slot.close(at_once=kind is not None)


class _Slot:
    """A process, and the chunk that it was given last."""

    def __init__(self) -> None:
        self._start()

    def _start(self) -> None:
        # Spawned, not forked: threads and locks of this process stay out of it.
        self._executor: Executor = ProcessPoolExecutor(
            1, multiprocessing.get_context("spawn"), initializer=_begin_worker)
        with _one_thread_inherited():
            self._pid = self._executor.submit(os.getpid)
        self._last: Future[Finished] | None = None

    @property
    def idle(self) -> bool:
        return self._last is None or self._last.done()

    def submit(self, *call: Any) -> Future[Finished]:
        try:
            self._last = self._executor.submit(run_chunk, *call)
        except BrokenProcessPool:
            self.close(at_once=False)
            self._start()
            self._last = self._executor.submit(run_chunk, *call)
        return self._last

    def close(self, at_once: bool) -> None:
        if at_once and not self.idle and self._pid.done() and not self._pid.exception():
            os.kill(self._pid.result(), signal.SIGTERM)
        self._executor.shutdown(cancel_futures=True)


@contextmanager
def _one_thread_inherited() -> Iterator[None]:
    """Processes started inside the block get one BLAS and numba thread."""
    before = {name: os.environ.get(name) for name in _ONE_THREAD}
    os.environ.update(dict.fromkeys(_ONE_THREAD, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _begin_worker() -> None:
    """Leave interrupts to the parent, and end when it does, however it ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
