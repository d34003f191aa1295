"""Many trials of one pure function, over processes or a cluster, through any number of kills.

A record depends on the function and its coordinate alone: who computes it, when, and how often the
sweep was killed and continued change nothing.
"""

from __future__ import annotations

import functools
import inspect
import json
import math
import os
import pickle
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, wait
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from conditions.errors import InvalidInput
from verifier.experiments.journal import Journal, spelled
from verifier.experiments.workers import (
    PACKAGE,
    Coordinate,
    Finished,
    Function,
    InProcess,
    LocalProcesses,
    Record,
    Workers,
)
from verifier.io.files import Path

ERROR = "error"
"""The one key of the record of a trial that keeps ending its worker."""

DEATHS = 3
_CHUNK_SECONDS = 0.2
_LARGEST_CHUNK, _GROWTH = 1024, 8


def run_trials(function: Function, coordinates: Sequence[Coordinate], *, jobs: int | None = None,
               cluster: str | None = None, journal: Path | None = None,
               progress: bool = False) -> list[Record]:
    """``[function(c) for c in coordinates]``, computed anywhere, in the order of *coordinates*.

    function: pure and at module level, or a ``functools.partial`` of such a function with
    JSON-able arguments; of a coordinate, a tuple of integers, texts and finite floats, it gives a
    dict that JSON can spell (tuples come back as lists). What it raises ends the sweep.
    jobs: processes, one per CPU if left out; 1 is this process. Each has one BLAS thread.
    cluster: None; ``local`` for a Dask cluster of *jobs* processes; the address of a scheduler.
    journal: a file of finished trials, from which a sweep that was killed continues. It belongs
    to the function, its arguments and the version of this package; coordinates may be added.
    progress: show a bar on stderr, if that is a terminal.

    A trial whose worker dies is started again. One that ends its worker `DEATHS` times while
    nothing else runs has the record ``{"error": …}``, which the journal does not keep. Raises
    ``InvalidInput``.
    """
    keys = [_key(coordinate, k) for k, coordinate in enumerate(coordinates)]
    payload, sweep = _described(function)
    with ExitStack() as stack:
        book = None if journal is None else stack.enter_context(Journal(journal, sweep))
        known: Mapping[str, str] = {} if book is None else book.known
        texts = {key: known[key] for key in keys if key in known}
        missing = [key for key in dict.fromkeys(keys) if key not in texts]
        if missing:
            advance = stack.enter_context(_bar(len(texts), len(missing), progress))
            workers = stack.enter_context(_workers(jobs, cluster, len(missing)))
            for batch in _Sweep(workers, payload, missing).batches():
                if book is not None and not batch.failed:
                    book.add(batch.texts.items())
                texts.update(batch.texts)
                advance(len(batch.texts))
    return [json.loads(texts[key]) for key in keys]


@dataclass(frozen=True)
class _Batch:
    """Records by coordinate, as JSON texts; ``failed``: one that tells of an error."""

    texts: dict[str, str]
    failed: bool = False


class _Sweep:
    """Hands out trials in chunks, small enough to lose and large enough not to cost.

    The trials of a chunk whose worker died are suspects. They run in the end, each alone, so that a
    trial is charged with no death but its own.
    """

    def __init__(self, workers: Workers, payload: bytes, keys: Sequence[str]) -> None:
        self._workers, self._payload = workers, payload
        self._waiting, self._suspects = deque(keys), deque[str]()
        self._deaths: Counter[str] = Counter()
        self._under_way: dict[Future[Finished], list[str]] = {}
        self._size = 1

    def batches(self) -> Iterator[_Batch]:
        """What finishes, as it does. Raises what a trial raises, and ``InvalidInput``."""
        while self._waiting or self._suspects or self._under_way:
            alone = not self._waiting and not self._under_way
            if alone:
                self._start([self._suspects.popleft()])
            while self._waiting and len(self._under_way) < self._workers.capacity():
                share = math.ceil(len(self._waiting) / (2 * self._workers.capacity()))
                self._start([self._waiting.popleft() for _ in range(min(self._size, share))])
            for future in wait(self._under_way, return_when=FIRST_COMPLETED).done:
                yield from self._ended(future, self._under_way.pop(future), alone)

    def _start(self, chunk: list[str]) -> None:
        future = self._workers.submit(self._payload, [tuple(json.loads(key)) for key in chunk])
        self._under_way[future] = chunk

    def _ended(self, future: Future[Finished], chunk: list[str], alone: bool) -> Iterator[_Batch]:
        try:
            texts, seconds = future.result()
        except self._workers.lost:
            if alone:
                self._deaths[chunk[0]] += self._workers.deaths
                if self._deaths[chunk[0]] >= DEATHS:
                    message = f"the trial ended its worker {self._deaths[chunk[0]]} times"
                    yield _Batch({chunk[0]: spelled({ERROR: message})}, failed=True)
                    return
            self._suspects.extend(chunk)
        except CancelledError:
            raise InvalidInput("cluster", self._workers.name, "must stay reachable",
                               "start the sweep again; with a journal it continues") from None
        else:
            per_trial = max(seconds / len(chunk), 1e-9)
            self._size = max(1, min(int(_CHUNK_SECONDS / per_trial), _GROWTH * len(chunk),
                                    _LARGEST_CHUNK))
            yield _Batch(dict(zip(chunk, texts, strict=True)))


# Input --------------------------------------------------------------------------------------


def _key(coordinate: Coordinate, k: int) -> str:
    """*coordinate* as a JSON text. Raises ``InvalidInput``."""
    try:
        if isinstance(coordinate, tuple) and all(
                isinstance(c, int | str | float) and not isinstance(c, bool) for c in coordinate):
            return spelled(coordinate)
    except ValueError:  # no finite number, or one of too many digits
        pass
    raise InvalidInput(f"coordinates[{k}]", coordinate,
                       "must be a tuple of integers, texts and finite floats", "correct it")


def _described(function: Function) -> tuple[bytes, dict[str, Any]]:
    """The function, pickled, and what makes its records its own. Raises ``InvalidInput``."""
    inner: Callable[..., Record] = function
    arguments: tuple[Any, ...] = ()
    keywords: dict[str, Any] = {}
    if isinstance(function, functools.partial):
        inner, arguments, keywords = function.func, function.args, function.keywords
    try:
        if not inspect.isfunction(inner):
            raise TypeError("it is no function")
        sweep = {"function": f"{inner.__module__}.{inner.__qualname__}", "arguments": arguments,
                 "keywords": dict(sorted(keywords.items())), "package": version(PACKAGE)}
        spelled(sweep)
        return pickle.dumps(function), sweep
    except (TypeError, ValueError, AttributeError, pickle.PicklingError) as error:
        raise InvalidInput("function", function, "must be a function at module level, or a "
                           f"functools.partial of one with JSON-able arguments ({error})",
                           "move it to a module") from None


def _workers(jobs: int | None, cluster: str | None, trials: int) -> Workers:
    """Where to run that many *trials*. Raises ``InvalidInput``."""
    if jobs is not None and (isinstance(jobs, bool) or not isinstance(jobs, int) or jobs < 1):
        raise InvalidInput("jobs", jobs, "must be an integer ≥ 1", "leave it out for all CPUs")
    asked = _cpus() if jobs is None else jobs
    if cluster is None:
        return InProcess() if asked == 1 else LocalProcesses(min(asked, trials))
    from verifier.experiments.cluster import LOCAL, DaskCluster
    if cluster != LOCAL and jobs is not None:
        raise InvalidInput("jobs", jobs, "is for processes that the sweep starts itself",
                           "leave it out with the address of a cluster")
    return DaskCluster(cluster, min(asked, trials))


def _cpus() -> int:
    available = getattr(os, "sched_getaffinity", None)
    return os.cpu_count() or 1 if available is None else len(available(0))


@contextmanager
def _bar(known: int, missing: int, wanted: bool) -> Iterator[Callable[[int], None]]:
    """A progress bar on stderr; gives the function that moves it."""
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(),
               TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True,
                  disable=not (wanted and console.is_terminal)) as progress:
        task = progress.add_task("trials", completed=known, total=known + missing)
        yield lambda count: progress.advance(task, count)
