"""Sequences of tokens from files: words of a text, integers, or the items that users chose.

``.csv``, ``.tsv`` and ``.inter`` files hold items (`verifier.io.interactions`), ``.json`` files
integers, all others words. Words are runs of letters, with apostrophes inside, in lower case; a
blank line starts another sequence. Integers are tokens numbered from 0: in JSON an object with
``sequences`` and, where wanted, ``names`` and ``embeddings`` (a row of exact numbers per token); in
any other file one sequence a line. Whatever a file holds, it loads or raises ``InvalidInput``.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from conditions.dataset import Vector
from conditions.errors import InvalidInput, counted, unknown
from conditions.exact.numbers import rational
from verifier.io.files import Path, read_bytes, shown
from verifier.io.interactions import Columns, Histories, read_histories
from verifier.io.json_data import read_json

MAX_BYTES = 1 << 28
MAX_TOKEN = 1 << 20

KINDS = ("words", "integers", "items")

_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_PARAGRAPH = re.compile(r"\n\s*\n")


@dataclass(frozen=True)
class TokenSequences:
    """Sequences over the tokens 0, 1, …, which stand for *names*.

    ``kind`` is one of `KINDS`, ``notes`` says in full sentences what reading them changed,
    ``embeddings`` has one exact row per token, where the file gave any.
    """

    kind: str
    names: tuple[str, ...]
    sequences: tuple[tuple[int, ...], ...]
    notes: tuple[str, ...] = ()
    embeddings: tuple[Vector, ...] | None = None

    def first(self, count: int) -> TokenSequences:
        """The first *count* sequences. Raises ``InvalidInput`` for a count below 1."""
        _positive(count, "--sequences")
        return self._with(self.names, self.sequences[:count], self.embeddings)

    def most_frequent(self, count: int) -> TokenSequences:
        """The sequences without all but the *count* most frequent tokens.

        Of equally frequent ones the first met stay. Tokens keep their order; those that do not
        occur go. Raises ``InvalidInput`` for a count below 1.
        """
        _positive(count, "--top")
        counts = Counter(token for sequence in self.sequences for token in sequence)
        kept = sorted(token for token, _ in counts.most_common(count))
        place = {token: k for k, token in enumerate(kept)}
        table = None if self.embeddings is None else tuple(self.embeddings[k] for k in kept)
        return self._with(tuple(self.names[k] for k in kept),
                          tuple(tuple(place[t] for t in sequence if t in place)
                                for sequence in self.sequences), table)

    def renamed(self, names: Mapping[str, str]) -> TokenSequences:
        """The same tokens under the names that *names* has for theirs, if it has any."""
        return self._with(tuple(names.get(name, name) for name in self.names), self.sequences,
                          self.embeddings)

    def _with(self, names: tuple[str, ...], sequences: tuple[tuple[int, ...], ...],
              embeddings: tuple[Vector, ...] | None) -> TokenSequences:
        return TokenSequences(self.kind, names, sequences, self.notes, embeddings)


def _positive(count: int, name: str) -> None:
    if count < 1:
        raise InvalidInput(name, count, "must be at least 1", "give a larger number")


def read_sequences(path: Path, kind: str | None = None,
                   columns: Columns | None = None) -> TokenSequences:
    """The sequences of *path*; *kind* None is told from its suffix.

    *columns* names the columns of user, item and time where they are items. Raises
    ``InvalidInput``.
    """
    suffix = os.path.splitext(os.fspath(path))[1].lower()
    if kind is None:
        kind = {".csv": "items", ".tsv": "items", ".inter": "items",
                ".json": "integers"}.get(suffix, "words")
    if kind not in KINDS:
        raise unknown("--tokens", kind, KINDS)
    if columns is not None and kind != "items":
        raise InvalidInput("--columns", ",".join(columns), "must not be given for " + kind,
                           "leave it out, or use --tokens items")
    if kind == "items":
        return from_histories(read_histories(path, columns))
    if kind == "integers" and suffix == ".json":
        return from_fields(read_json(path))
    text = read_text(path)
    return words(text) if kind == "words" else from_lines(text)


def read_text(path: Path) -> str:
    """The text of a UTF-8 file, with or without byte order mark. Raises ``InvalidInput``."""
    try:
        return read_bytes(path, MAX_BYTES).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidInput("data file", shown(path), f"must be UTF-8 (byte {error.start} is not)",
                           "save it as UTF-8") from None


def words(text: str) -> TokenSequences:
    """The words of *text*, the vocabulary in alphabetical order. Raises ``InvalidInput``.

    >>> words("So, so.\\n\\nIt's not.").names
    ("it's", 'not', 'so')
    """
    lower = text.replace("\r\n", "\n").lower().replace("’", "'")
    parts = [found for part in _PARAGRAPH.split(lower) if (found := _WORD.findall(part))]
    if not parts:
        raise InvalidInput("text", text.strip(), "must hold words", "give another file")
    names = tuple(sorted({word for part in parts for word in part}))
    return TokenSequences("words", names, _numbered(parts, names))


def from_lines(text: str) -> TokenSequences:
    """Integers from 0, separated by blanks or commas, a sequence a line."""
    lines = [[_token(token, f"line {k}") for token in line.replace(",", " ").split()]
             for k, line in enumerate(text.splitlines(), 1)]
    return _integers([line for line in lines if line], None, None)


def from_fields(fields: dict[str, Any]) -> TokenSequences:
    """The object of a JSON file; see the module."""
    known = ("sequences", "embeddings", "names")
    for name in fields:
        if name not in known:
            raise unknown("field", name, known)
    given = _list(fields.get("sequences"), "sequences")
    sequences = [[_token(token, f"sequences[{i}]") for token in _list(s, f"sequences[{i}]")]
                 for i, s in enumerate(given)]
    table = names = None
    if "embeddings" in fields:
        table = [[rational(x, f"embeddings[{k}][{j}]")
                  for j, x in enumerate(_list(row, f"embeddings[{k}]"))]
                 for k, row in enumerate(_list(fields["embeddings"], "embeddings"))]
    if "names" in fields:
        names = _list(fields["names"], "names")
        for k, name in enumerate(names):
            if not isinstance(name, str):
                raise InvalidInput(f"names[{k}]", name, "must be a text", "quote it")
    return _integers(sequences, table, names)


def from_histories(histories: Histories) -> TokenSequences:
    """Items in order of frequency, of equally frequent ones the first met first."""
    counts = Counter(item for sequence in histories.sequences for item in sequence)
    names = tuple(item for item, _ in counts.most_common())
    return TokenSequences("items", names, _numbered(histories.sequences, names), histories.notes)


def _integers(sequences: list[list[int]], table: list[list[Any]] | None,
              names: list[str] | None) -> TokenSequences:
    largest = max((token for sequence in sequences for token in sequence), default=-1)
    if largest < 0:
        raise InvalidInput("sequences", counted(len(sequences), "sequence"), "must hold a token",
                           "add one")
    for name, given in (("embeddings", table), ("names", names)):
        if given is not None and len(given) <= largest:
            raise InvalidInput(name, counted(len(given), "entry", "entries"),
                               f"must have one entry for each token 0..{largest}", "add them")
    return TokenSequences(
        "integers", tuple(names or map(str, range(largest + 1)))[:largest + 1],
        tuple(map(tuple, sequences)),
        embeddings=None if table is None else tuple(map(tuple, table[:largest + 1])))


def _numbered(parts: Sequence[Sequence[str]], names: Sequence[str]) -> tuple[tuple[int, ...], ...]:
    index = {name: k for k, name in enumerate(names)}
    return tuple(tuple(index[name] for name in part) for part in parts)


def _list(value: Any, name: str) -> list[Any]:
    if not isinstance(value, list):
        raise InvalidInput(name, value, "must be a list", "correct the nesting")
    return value


def _token(value: Any, name: str) -> int:
    number = rational(value, name)
    if number.q != 1 or not 0 <= number < MAX_TOKEN:
        raise InvalidInput(name, value, f"must hold integers from 0 to {MAX_TOKEN - 1:,}",
                           "number the tokens from 0")
    return int(number.p)
