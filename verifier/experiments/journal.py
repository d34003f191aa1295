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
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from conditions.errors import InvalidInput
from verifier.io.files import shown

FORMAT, VERSION = "attsvm-journal", 1
_DIGITS = 16


def spelled(value: object) -> str:
    """*value* as JSON on one ASCII line, the same for equal values.

    Raises ``ValueError`` or ``TypeError`` for what JSON cannot spell: NaN, infinities, objects.
    """
    return json.dumps(value, separators=(",", ":"), allow_nan=False)


class Journal:
    """The finished trials of one sweep. ``known``: coordinate ↦ record, both as JSON texts."""

    def __init__(self, path: Path, file: BinaryIO, known: dict[str, str]) -> None:
        self.known = known
        self._path, self._file = path, file

    def add(self, finished: Iterable[tuple[str, str]]) -> None:
        """Append trials, (coordinate, record) as JSON texts. Raises ``InvalidInput``."""
        try:
            for coordinate, record in finished:
                self._file.write(_line(f"[{coordinate},{record}]"))
            self._file.flush()
        except OSError as error:
            raise _unusable(self._path, error) from None


@contextmanager
def open_journal(path: str | os.PathLike[str], sweep: Mapping[str, Any]) -> Iterator[Journal]:
    """The journal of *sweep* at *path*, created if there is none.

    *sweep*: what the records depend on beside their coordinates, JSON-able. A file that is not a
    journal, or is one of another sweep, is refused and left as it is: raises ``InvalidInput``.
    """
    where = Path(path)
    header = spelled({"format": FORMAT, "version": VERSION, **sweep}).encode() + b"\n"
    try:
        known, torn = _read(where, header)
        with open(where, "ab") as file:
            # A kill while the header was written leaves a part of it; one in a later line leaves
            # a part that a line end closes off.
            if torn is not None and torn < len(header):
                file.truncate(0)
                torn = None
            if torn is None:
                file.write(header)
            elif torn:
                file.write(b"\n")
            file.flush()
            yield Journal(where, file, known)
    except OSError as error:
        raise _unusable(where, error) from None
