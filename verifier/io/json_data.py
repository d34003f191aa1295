"""Exact data from JSON text: every number keeps the digits that spell it."""

from __future__ import annotations

import json
import re
from typing import Any, NoReturn

from conditions.errors import InvalidInput
from verifier.io.files import Path, read_bytes, shown

MAX_BYTES = 1 << 28
MAX_VALUES = 1 << 24
MAX_DEPTH = 32
MAX_HUGE = 10_000

# Seven characters such as 1e20000 cost eight kilobytes as a rational.
_HUGE = re.compile(rb"[eE][+-]?[0-9]{4,}(?=[\s,\]}\"])|[pP][+-]?[0-9]{5,}")


def read_json(path: Path) -> dict[str, Any]:
    """The fields of a data file, or of the dataset of a certificate file.

    Numbers, integers included, come as the text that spells them, to be read by
    `conditions.exact.numbers.rational`. UTF-8, with or without byte order mark. Raises
    ``InvalidInput`` for anything that is not a JSON object without duplicate keys, NaN or
    infinities, of at most 256 MiB, 16,777,216 values and depth 32.
    """
    name = shown(path)
    data = read_bytes(path, MAX_BYTES)
    if sum(data.count(mark) for mark in b",[{") > MAX_VALUES:
        raise InvalidInput("data file", name, f"must hold at most {MAX_VALUES:,} values",
                           "split the data, or use .npz")
    if sum(1 for _ in _HUGE.finditer(data)) > MAX_HUGE:
        raise InvalidInput("data file", name,
                           f"must hold at most {MAX_HUGE:,} numbers with large exponents",
                           "rescale the data")
    try:
        document = json.loads(data.decode("utf-8-sig"), parse_int=str, parse_float=str,
                              parse_constant=_refuse_constant, object_pairs_hook=_unique)
    except json.JSONDecodeError as error:
        raise InvalidInput("data file", name, f"must be JSON ({error.msg}, line {error.lineno}, "
                           f"column {error.colno})", "correct the text") from None
    except UnicodeDecodeError as error:
        raise InvalidInput("data file", name, f"must be UTF-8 (byte {error.start} is not)",
                           "save it as UTF-8") from None
    except RecursionError:
        raise InvalidInput("data file", name, f"must not nest deeper than {MAX_DEPTH}",
                           "correct the nesting") from None
    if not isinstance(document, dict):
        raise InvalidInput("data file", name, "must hold one JSON object with X, Y, z and v",
                           "wrap the data in an object")
    _check_depth(document, name)
    return _dataset(document)


def _refuse_constant(token: str) -> NoReturn:
    raise InvalidInput("data file", token, "must hold finite numbers only",
                       "remove NaN and infinite entries")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise InvalidInput("data file", twice, "must not occur twice in an object", "remove one")
    return members


def _check_depth(document: dict[str, Any], name: str) -> None:
    level: list[Any] = [document]
    for _ in range(MAX_DEPTH):
        level = [child for node in level
                 for child in (node.values() if type(node) is dict else node)
                 if type(child) in (list, dict)]
        if not level:
            return
    raise InvalidInput("data file", name, f"must not nest deeper than {MAX_DEPTH}",
                       "correct the nesting")


def _dataset(document: dict[str, Any]) -> dict[str, Any]:
    """*document* itself, or what it certifies."""
    if "format" not in document:
        return document
    for key, expected in (("format", "attsvm-certificate"), ("version", "1")):
        if document.get(key) != expected:
            raise InvalidInput(key, document.get(key), f"must be {expected} where given",
                               "give a data file without it, or a certificate of this version")
    dataset = document.get("dataset")
    if not isinstance(dataset, dict) or dataset.keys() != {"X", "Y", "z", "v"}:
        raise InvalidInput("dataset", dataset, "must be an object with exactly X, Y, z and v",
                           "restore the certificate's dataset")
    return dataset
