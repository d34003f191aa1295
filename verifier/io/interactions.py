"""Who chose what, when: the history of every user from a table of interactions.

The table is comma- or tab-separated text with a header. Its columns of user, item and time may have
any place and any company; they are found by their names, or named by the caller. A name ends where
a colon starts, as in ``user_id:token``. Times are numbers, compared exactly.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from conditions.errors import Description, InvalidInput, counted
from conditions.exact.numbers import rational
from verifier.io.files import Path, read_bytes, shown

MAX_BYTES = 1 << 28

Columns = tuple[str, str, str]
"""The names of the columns of user, item and time."""

_ROLES = {"user": ("user", "user_id", "userid"), "item": ("item", "item_id", "itemid"),
          "time": ("time", "timestamp")}


@dataclass(frozen=True)
class Histories:
    """The items of each user in order of time; users in the order of their first row in time.

    ``notes`` says in full sentences what the order rests on and what was left out.
    """

    users: tuple[str, ...]
    sequences: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...]


def read_histories(path: Path, columns: Columns | None = None) -> Histories:
    """The histories in a file. Raises ``InvalidInput``, naming the line at fault."""
    return histories(read_bytes(path, MAX_BYTES), shown(path), columns)


def histories(content: bytes, name: str, columns: Columns | None = None) -> Histories:
    """The histories in *content*, the bytes of a file; *name* is for errors.

    Rows of one user with equal times keep the order of the file; of equal rows one is kept.
    Raises ``InvalidInput``.
    """
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidInput("data file", name, f"must be UTF-8 (byte {error.start} is not)",
                           "save it as UTF-8") from None
    rows = list(_rows(text, name, columns))
    unique = list(dict.fromkeys(rows))
    if not unique:
        raise InvalidInput("data file", name, "must hold rows below its header", "add some")
    # Sorting is stable: equal times stay as they come.
    of_user: dict[str, list[str]] = {}
    for user, item, _ in sorted(unique, key=lambda row: row[2]):
        of_user.setdefault(user, []).append(item)
    times = Counter((user, time) for user, _, time in unique)
    tied = sum(count for count in times.values() if count > 1)
    notes = []
    if tied:
        notes.append(f"{tied:,} of {len(unique):,} rows share their time with another row of "
                     "their user; these keep the order of the file.")
    if len(unique) < len(rows):
        notes.append(f"{len(rows) - len(unique):,} rows repeat another row and were left out.")
    return Histories(tuple(of_user), tuple(map(tuple, of_user.values())), tuple(notes))


def _rows(text: str, name: str, columns: Columns | None) -> Iterator[tuple[str, str, Any]]:
    """(user, item, time) of every row."""
    lines = io.StringIO(text, newline="")
    tabs = "\t" in text.partition("\n")[0]
    # Tab-separated tables do not quote; a title may hold a quotation mark.
    reader = (csv.reader(lines, delimiter="\t", quoting=csv.QUOTE_NONE) if tabs
              else csv.reader(lines, strict=True))
    header: list[str] | None = None
    places = (0, 0, 0)
    try:
        for row in reader:
            if not any(cell.strip() for cell in row):
                continue
            if header is None:
                header = [cell.partition(":")[0].strip() for cell in row]
                places = _places(header, columns)
                continue
            line = f"line {reader.line_num}"
            if len(row) != len(header):
                raise InvalidInput(line, counted(len(row), "cell"),
                                   f"must have the {len(header)} cells of the header",
                                   "correct the row")
            user, item, time = (row[place].strip() for place in places)
            if not user or not item:
                raise InvalidInput(line, Description(f"user {user!r}, item {item!r}"),
                                   "must not be empty",
                                   "fill or drop the row")
            yield user, item, rational(time, f"time in {line}")
    except csv.Error as error:
        raise InvalidInput("data file", name, f"must be a table ({error}, line {reader.line_num})",
                           "save it as CSV or TSV") from None
    if header is None:
        raise InvalidInput("data file", name, "must have a header", "name the columns")


def _places(header: list[str], columns: Columns | None) -> tuple[int, int, int]:
    """Where the columns of user, item and time are."""
    found = []
    for role, wanted in zip(_ROLES, columns or (None,) * 3, strict=True):
        matches = [place for place, cell in enumerate(header)
                   if (cell == wanted if wanted else cell.lower() in _ROLES[role])]
        if len(matches) != 1:
            rule = f"must name one column {wanted or ' or '.join(_ROLES[role])}"
            raise InvalidInput("header", ", ".join(header), f"{rule} for the {role}, not "
                               f"{len(matches)}", "rename it, or use --columns USER,ITEM,TIME")
        found.append(matches[0])
    if len(set(found)) < 3:
        raise InvalidInput("--columns", columns, "must name three different columns", "correct it")
    return found[0], found[1], found[2]
