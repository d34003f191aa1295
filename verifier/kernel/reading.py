"""Strict JSON: limits first, then one typed look at every value, with its place for messages.

What JSON libraries let through is caught here: repeated keys, JSON floats, NaN and infinities
become `Malformed` values, which every accessor of `Node` refuses. Booleans are not integers.
"""

from __future__ import annotations

import json
import re
import stat
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from .numbers import MAX_CHARACTERS, parse_number
from .refusals import Code, Refusal, Unreadable, shown

MAX_BYTES = 256 * 1024 * 1024
MAX_DEPTH = 32
# Digits of the longest number that the limits allow: 100,000 hexadecimal digits and 2^±20,000.
MAX_DIGITS = 130_000

# A string, also an unterminated one, so that the scan stays linear on any input.
_STRING = re.compile(r'"(?:[^"\\]++|\\.)*+(?:"|\\?\Z)', re.DOTALL)
_NO_BRACKET = re.compile(r"[^\[\]{}]+")


@dataclass(frozen=True)
class Malformed:
    """A value that JSON allows and a certificate does not."""

    code: Code
    message: str


class Node:
    """A JSON value and its place; accessors return what they promise or raise `Refusal`."""

    __slots__ = ("key", "parent", "value")

    def __init__(self, value: Any, parent: Node | None = None, key: str | int = "file") -> None:
        self.value, self.parent, self.key = value, parent, key

    def __str__(self) -> str:
        if self.parent is None:
            return str(self.key)
        if isinstance(self.key, int):
            return f"{self.parent}[{self.key}]"
        return self.key if self.parent.parent is None else f"{self.parent}.{self.key}"

    def refuse(self, code: Code, message: str) -> Refusal:
        """The refusal of this value; to be raised by the caller."""
        return Refusal(code, self, message)

    def _typed(self, kind: type, what: str) -> Any:
        value = self.value
        if isinstance(value, Malformed):
            raise self.refuse(value.code, value.message)
        if type(value) is not kind:
            raise self.refuse(Code.WRONG_TYPE, f"{shown(value)} is not {what}")
        return value

    @property
    def is_null(self) -> bool:
        """Whether the value is null."""
        return self.value is None

    def object(self, *names: str) -> dict[str, Node]:
        """The fields of an object that has exactly *names*."""
        value = self._typed(dict, "an object")
        for name in value:
            if name not in names:
                raise self.refuse(Code.UNKNOWN_FIELD, f"there is no field {shown(name)} here")
        for name in names:
            if name not in value:
                raise self.refuse(Code.MISSING_FIELD, f"the field {name!r} is missing")
        return {name: Node(value[name], self, name) for name in names}

    def field(self, name: str) -> Node:
        """One field of an object, whatever the others are."""
        value = self._typed(dict, "an object")
        if name not in value:
            raise self.refuse(Code.MISSING_FIELD, f"the field {name!r} is missing")
        return Node(value[name], self, name)

    def items(self, length: int | None = None) -> list[Node]:
        """The entries of a list, of *length* entries if given."""
        value = self._typed(list, "a list")
        if length is not None and len(value) != length:
            raise self.refuse(Code.WRONG_LENGTH, f"{len(value)} entries instead of {length}")
        return [Node(entry, self, k) for k, entry in enumerate(value)]

    def text(self) -> str:
        """A string."""
        return str(self._typed(str, "a string"))

    def choice(self, names: Sequence[str]) -> str:
        """A string that is one of *names*."""
        name = self.text()
        if name not in names:
            raise self.refuse(Code.UNKNOWN_NAME, f"{shown(name)} is none of {', '.join(names)}")
        return name

    def integer(self, low: int | None = None, high: int | None = None) -> int:
        """A JSON integer, low ≤ it ≤ high."""
        value = int(self._typed(int, "an integer"))
        if (low is not None and value < low) or (high is not None and value > high):
            raise self.refuse(Code.OUT_OF_RANGE,
                              f"{shown(value)} is not within {low} and {high}")
        return value

    def index(self, bound: int) -> int:
        """A JSON integer from 0 to bound - 1."""
        return self.integer(0, bound - 1)

    def number(self) -> Fraction:
        """A number of the specification."""
        if isinstance(self.value, Malformed):
            raise self.refuse(self.value.code, self.value.message)
        return parse_number(self.value, self)

    def vector(self, length: int) -> tuple[Fraction, ...]:
        """A list of *length* numbers."""
        return tuple(entry.number() for entry in self.items(length))

    def matrix(self, rows: int, columns: int) -> tuple[tuple[Fraction, ...], ...]:
        """A list of *rows* lists of *columns* numbers."""
        return tuple(row.vector(columns) for row in self.items(rows))

    def selection(self, lengths: Sequence[int]) -> tuple[int, ...]:
        """One token index for each sample of these lengths."""
        return tuple(entry.index(T)
                     for entry, T in zip(self.items(len(lengths)), lengths, strict=True))

    def increasing(self, values: Sequence[Any]) -> None:
        """Refuse this list unless *values*, read from it, increase strictly."""
        for k in range(1, len(values)):
            if not values[k - 1] < values[k]:
                raise self.refuse(Code.NOT_INCREASING, f"entry {k} is not above entry {k - 1}")


def read_file(path: str | Path) -> str:
    """The text of a regular file of at most 256 MiB. Raises `Unreadable`."""
    try:
        if not stat.S_ISREG(Path(path).stat().st_mode):
            raise Unreadable("not a regular file")
        with Path(path).open("rb") as stream:
            data = stream.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:  # ValueError: a null character in the name
        raise Unreadable(f"cannot be read: {error}") from None
    if len(data) > MAX_BYTES:
        raise Unreadable(f"larger than {MAX_BYTES} bytes")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Unreadable(f"not UTF-8: {error.reason} at byte {error.start}") from None


def parse(text: str) -> Node:
    """The value that *text* spells in JSON, limits checked. Raises `Unreadable`."""
    if len(text) > MAX_BYTES:
        raise Unreadable(f"larger than {MAX_BYTES} bytes")
    depth = 0
    for bracket in _NO_BRACKET.sub("", _STRING.sub("", text)):
        depth += 1 if bracket in "[{" else -1
        if depth > MAX_DEPTH:
            raise Unreadable(f"nested deeper than {MAX_DEPTH}")
    try:
        value = json.loads(text, object_pairs_hook=_object, parse_int=_integer,
                           parse_float=_float, parse_constant=_float)
    except json.JSONDecodeError as error:
        raise Unreadable(f"not JSON: {error.msg} at line {error.lineno}, "
                         f"column {error.colno}") from None
    return Node(value)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any] | Malformed:
    fields: dict[str, Any] = {}
    for key, value in pairs:
        if key in fields:
            return Malformed(Code.DUPLICATE_KEY, f"the key {shown(key)} occurs twice")
        fields[key] = value
    return fields


def _integer(text: str) -> int | Malformed:
    if len(text) > MAX_CHARACTERS:
        return Malformed(Code.NUMBER_LIMIT, f"an integer of {len(text)} characters")
    return int(text)


def _float(text: str) -> Malformed:
    return Malformed(Code.NOT_A_NUMBER, f"{shown(text)} is a JSON float, which is not exact")


@contextmanager
def long_integers() -> Iterator[None]:
    """Let Python convert decimal integers as long as the limits allow, and no longer.

    The interpreter's own limit (4300 digits by default) is put back afterwards.
    """
    before = sys.get_int_max_str_digits()
    if 0 < before < MAX_DIGITS:
        sys.set_int_max_str_digits(MAX_DIGITS)
    try:
        yield
    finally:
        sys.set_int_max_str_digits(before)
