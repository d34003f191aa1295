"""Trials on a Dask cluster: a local one of processes, or one that runs already.

Needs the package `distributed`, the optional extra ``cluster``.
"""

from __future__ import annotations

import logging
import os
import re
import signal
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from contextlib import ExitStack, contextmanager, suppress
from importlib.metadata import version

from conditions.errors import InvalidInput
from verifier.experiments.workers import PACKAGE, Coordinate, Finished, Workers, run_chunk

try:
    import dask
    import distributed
except ModuleNotFoundError:
    raise InvalidInput("cluster", "dask", "needs the package distributed, which is not installed",
                       "pip install 'attention-svm-verifier[cluster]'") from None

LOCAL = "local"
_ADDRESS = re.compile(r"(tcp|tls)://\S+:\d{1,5}")
_CONNECT_SECONDS = 15
_COUNTED_SECONDS = 1.0


class DaskCluster(Workers):
    """The workers of the scheduler at *address*, or *jobs* new local processes for ``local``.

    The scheduler gives a chunk up after some deaths of workers: one in a local cluster, elsewhere
    one more than its setting ``distributed.scheduler.allowed-failures``, 3 by default. Raises
    ``InvalidInput`` if no scheduler or no worker answers.
    """

    lost = (distributed.KilledWorker,)
    deaths = 3

    def __init__(self, address: str, jobs: int) -> None:
        self.name = address
        self._own = 0
        if address == LOCAL:
            self.deaths, self._own = 1, jobs
        elif not _ADDRESS.fullmatch(address):
            raise InvalidInput("cluster", address, "must be local or the address of a scheduler",
                               "e.g. tcp://127.0.0.1:8786")
        with ExitStack() as stack:
            # A lost scheduler is told once, by the sweep.
            stack.enter_context(_silent("distributed.client"))
            if address == LOCAL:
                stack.enter_context(dask.config.set(
                    {"distributed.scheduler.allowed-failures": 0}))
                address = stack.enter_context(distributed.LocalCluster(
                    n_workers=jobs, threads_per_worker=1, processes=True, host="127.0.0.1",
                    dashboard_address=None, memory_limit=None,
                    silence_logs=logging.CRITICAL)).scheduler_address
            try:
                self._client = stack.enter_context(
                    distributed.Client(address, timeout=_CONNECT_SECONDS, set_as_default=False))
                self._client.wait_for_workers(1, timeout=_CONNECT_SECONDS)
            except (OSError, ValueError) as error:
                raise InvalidInput("cluster", self.name, "must be the address of a running "
                                   f"scheduler with workers ({error})",
                                   "start dask scheduler and dask worker") from None
            if self.name == LOCAL:
                self._client.register_plugin(_LeaveInterrupts())
            # With pure=True a chunk that was given up would not be started anew.
            self._executor = self._client.get_executor(pure=False)
            self._stack = stack.pop_all()
        self._counted, self._threads = -_COUNTED_SECONDS, 1

    def capacity(self) -> int:
        """The threads of all workers, asked for once a second: workers come and go."""
        if time.monotonic() - self._counted > _COUNTED_SECONDS:
            with suppress(OSError):  # a lost scheduler shows in the chunks under way
                self._threads = max(1, sum(self._client.nthreads().values()))
            self._counted = time.monotonic()
        return self._threads

    def submit(self, function: bytes, chunk: Sequence[Coordinate]) -> Future[Finished]:
        """Give the chunk to the scheduler."""
        submitted: Future[Finished] = self._executor.submit(
            run_chunk, function, version(PACKAGE), chunk)
        return submitted

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Drop what is under way, disconnect, and end a local cluster."""
        self._executor.shutdown(wait=False)
        if self._own:
            self._let_start()
        self._stack.close()

    def _let_start(self) -> None:
        """Wait for workers in place of dead ones: one that is closed early ends with a traceback.

        A worker answers once it has started.
        """
        with suppress(OSError):  # TimeoutError is one: then it is closed as it is
            self._client.wait_for_workers(self._own, timeout=_CONNECT_SECONDS)
            self._client.run(os.getpid, on_error="ignore")


class _LeaveInterrupts(distributed.WorkerPlugin):
    """An interrupt from the keyboard reaches every process; the one that started them ends them."""

    def setup(self, worker: distributed.Worker) -> None:
        """Called in the main thread of each worker process."""
        signal.signal(signal.SIGINT, signal.SIG_IGN)


@contextmanager
def _silent(name: str) -> Iterator[None]:
    logger = logging.getLogger(name)
    before = logger.level
    logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        logger.setLevel(before)
