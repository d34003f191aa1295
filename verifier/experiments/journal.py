"""What a sweep has finished, kept in a file that survives being killed at any moment.

A header line says which function, with which parameters, the records are of; every further line is
a checksum and ``[coordinate, record]``. Lines are only ever appended. One that was torn or damaged
fails its checksum, is passed over, and its trial is computed again.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from io import FileIO
from typing import Any, Self

from conditions.errors import InvalidInput
from verifier.io.files import Path, shown

FORMAT, VERSION = "attsvm-journal", 1
_DIGITS = 16


def spelled(value: object) -> str:
    """*value* as JSON on one ASCII line, the same for equal values.

    Raises ``ValueError`` or ``TypeError`` for what JSON cannot spell: NaN, infinities, objects.
    """
    return json.dumps(value, separators=(",", ":"), allow_nan=False)


class Journal:
    """The finished trials of one sweep, in the file at *path*, which is created if there is none.

    *sweep* is what records depend on beside their coordinates, JSON-able. ``known`` maps
    coordinates to records, both as JSON texts. A file that is no journal, or that of another sweep,
    is refused and left as it is: raises ``InvalidInput``. A context manager.
    """

    def __init__(self, path: Path, sweep: Mapping[str, Any]) -> None:
        self.known: dict[str, str] = {}
        self._path = path
        header = spelled({"format": FORMAT, "version": VERSION, **sweep}).encode() + b"\n"
        try:
            missing = self._taken_over(header)
            # Unbuffered: nothing is left to write when it is closed, after a full disk either.
            with ExitStack() as stack:
                self._file = stack.enter_context(FileIO(os.fspath(path), "a"))
                _write(self._file, missing)
                self._stack = stack.pop_all()
        except (OSError, ValueError) as error:
            raise self._unusable(error) from None

    def add(self, finished: Iterable[tuple[str, str]]) -> None:
        """Append trials, (coordinate, record) as JSON texts. Raises ``InvalidInput``."""
        lines = [_line(f"[{coordinate},{record}]") for coordinate, record in finished]
        try:
            _write(self._file, b"".join(lines))
        except OSError as error:
            raise self._unusable(error) from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def _taken_over(self, header: bytes) -> bytes:
        """Put what the file holds into ``known``; what it lacks before further lines."""
        if not os.path.exists(self._path):
            return header
        if not stat.S_ISREG(os.stat(self._path).st_mode):
            raise InvalidInput("journal", shown(self._path), "must be a regular file",
                               "choose another path")
        with open(self._path, "rb") as file:
            first = file.readline(len(header) + 1)
            if first == header:
                return b"" if self._read(file) else b"\n"
            if header.startswith(first):
                # Nothing, or what a kill left of the header.
                return header[len(first):]
            file.seek(0)
            raise InvalidInput("journal", shown(self._path), _other(file.readline(), header),
                               "give another path, or remove it")

    def _read(self, lines: Iterable[bytes]) -> bool:
        """Take over the undamaged *lines*; whether the last one was ended."""
        ended = True
        for line in lines:
            ended = line.endswith(b"\n")
            _, _, payload = line.partition(b" ")
            if ended and line == _line(payload[:-1].decode("ascii", "replace")):
                coordinate, record = json.loads(payload)
                self.known[spelled(coordinate)] = spelled(record)
        return ended

    def _unusable(self, error: Exception) -> InvalidInput:
        if isinstance(error, InvalidInput):
            return error
        why = error.strerror if isinstance(error, OSError) else error
        return InvalidInput("journal", shown(self._path), f"must be readable and writable ({why})",
                            "check that the directory exists and may be written")


def _write(file: FileIO, content: bytes) -> None:
    """Write all of *content*; a file may take less at a time."""
    view = memoryview(content)
    while view:
        view = view[file.write(view):]


def _line(payload: str) -> bytes:
    content = payload.encode()
    return hashlib.sha256(content).hexdigest()[:_DIGITS].encode() + b" " + content + b"\n"


def _other(first: bytes, header: bytes) -> str:
    """Why a file that starts with the line *first* is not the journal of this *header*."""
    try:
        found = json.loads(first)
    except ValueError:
        found = None
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        return "is not a journal"
    wanted = json.loads(header)
    differing = [name for name in wanted if found.get(name) != wanted[name]]
    if differing == ["keywords"]:
        differing = [name for name in wanted["keywords"]
                     if found["keywords"].get(name) != wanted["keywords"][name]]
    return f"is the journal of another sweep ({', '.join(differing)} differ)"
