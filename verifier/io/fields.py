"""From the fields of a data file to exact datasets, one per trial."""

from __future__ import annotations

import difflib
import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from conditions.dataset import AttentionDataset, FloatArray
from conditions.errors import InvalidInput
from conditions.exact.numbers import rational, to_float
from verifier.io.files import Path, shown
from verifier.io.json_data import read_json
from verifier.io.npz import Array, read_npz

MAX_NUMBERS = 1 << 24
MAX_FIELDS = 1000

# Axes of one trial. X decides whether the file is a stack; the others may then be shared.
AXES = {"X": ("n", "T", "d"), "Y": ("n",), "z": ("n", "d"), "v": ("d",),
        "lengths": ("n",), "query_index": ("n",)}


@dataclass(frozen=True)
class DataFile:
    """What a file holds: arrays or nested lists by name, and which of them have a trial axis.

    ``trials`` is None for a single dataset.
    """

    fields: Mapping[str, Any]
    stacked: frozenset[str]
    trials: int | None

    def pick(self, trial: int | None) -> int | None:
        """The trial to take, checked; None for a single dataset. Raises ``InvalidInput``."""
        if trial is None and self.trials in (None, 1):
            return None if self.trials is None else 0
        count = self.trials or 1
        if (not isinstance(trial, int | np.integer) or isinstance(trial, bool)
                or not 0 <= trial < count):
            raise InvalidInput("trial", trial, f"must be in 0..{count - 1}, as the file holds "
                               + ("one dataset" if count == 1 else f"a stack of {count}"),
                               "name one trial, counted from 0")
        return None if self.trials is None else int(trial)

    def of_trial(self, name: str, trial: int | None) -> Any:
        """The part of a field that belongs to *trial*, arrays as lists; None if absent."""
        value = self.fields.get(name)
        if trial is not None and name in self.stacked:
            value = value[trial]  # type: ignore[index]
        return value.tolist() if isinstance(value, np.ndarray) else value

    def dataset(self, trial: int | None) -> AttentionDataset:
        """The dataset of a trial that `pick` has checked. Raises ``InvalidInput``."""
        try:
            return self._dataset(trial)
        except InvalidInput as error:
            field, bracket, rest = error.name.partition("[")
            if trial is None or field not in self.stacked:
                raise
            name = f"{field}[{trial}]{bracket}{rest}"
            raise InvalidInput(name, error.value, error.rule, error.remedy) from None

    def _dataset(self, trial: int | None) -> AttentionDataset:
        X, Y, z, v, lengths, query_index = (self.of_trial(name, trial) for name in AXES)
        if lengths is not None:
            X = _cut(X, _integers(lengths, "lengths"))
        if query_index is None:
            return AttentionDataset.build(X, Y, z, v)
        indices = (_integers(query_index, "query_index") if isinstance(query_index, list)
                   else _integer(query_index, "query_index"))
        return AttentionDataset.self_attention(X, Y, v, indices)


def read_data_file(path: Path, extra: Collection[str] = ()) -> DataFile:
    """The dataset fields of *path* and the arrays named *extra*. Raises ``InvalidInput``."""
    suffix = os.path.splitext(os.fspath(path))[1].lower()
    try:
        if suffix == ".npz":
            fields, names = read_npz(path, {*AXES, *extra})
        elif suffix == ".json":
            fields = read_json(path)
            names = list(fields)
        else:
            raise InvalidInput("data file", shown(path), "must end in .npz or .json",
                               "rename or convert it")
    except MemoryError:
        raise InvalidInput("data file", shown(path), "must fit in memory",
                           "split the data") from None
    _check_names(names)
    stacked = frozenset(name for name in AXES if name in fields and _stacked(name, fields[name]))
    if "X" not in stacked and stacked:
        name = min(stacked)
        raise InvalidInput(name, f"{len(AXES[name]) + 1} axes", "must have no trial axis, as X "
                           "has none", "stack X too: trials, samples, tokens, numbers")
    lengths = {name: len(fields[name]) for name in sorted(stacked)}
    trials = lengths.get("X")
    for name, length in lengths.items():
        if length != trials:
            raise InvalidInput(name, f"{length} trials", f"must have one entry for each of the "
                               f"{trials} trials of X", "drop or add trials")
    return DataFile(fields, stacked, trials)


def _check_names(names: Collection[str]) -> None:
    for name in ("X", "Y", "v"):
        if name not in names:
            raise InvalidInput(name, None, "must be in the file", "add it: X, Y, z and v")
    if ("z" in names) == ("query_index" in names):
        raise InvalidInput("z", None, "must be in the file exactly when query_index is not",
                           "give z, or query_index for self-attention")
    if len(names) > MAX_FIELDS:
        raise InvalidInput("fields", len(names), f"must be at most {MAX_FIELDS}", "drop some")
    # A misspelled optional field would change the data silently.
    for name in names:
        optional = difflib.get_close_matches(name[:20].lower(), ("lengths", "query_index"), 1, 0.8)
        if optional and name not in AXES:
            raise InvalidInput("field", name, f"must be spelled {optional[0]!r}, if meant so",
                               "rename it")


def _axes(value: Any) -> int:
    if isinstance(value, np.ndarray):
        return value.ndim
    axes = 0
    while isinstance(value, list):
        axes, value = axes + 1, value[0] if value else None
    return axes


def _stacked(name: str, value: Any) -> bool:
    """Whether a field has a trial axis; refuses what has neither number of axes."""
    axes, single = _axes(value), AXES[name]
    if axes == len(single) + 1:
        return True
    if axes == len(single) or (name == "query_index" and axes == 0):
        return False
    shown = value.shape if isinstance(value, np.ndarray) else value
    shape = f"({', '.join(single)}{',' if len(single) == 1 else ''})"
    raise InvalidInput(name, shown, f"must have axes {shape}, or one more for a stack of trials",
                       "correct the shape or nesting")


def _integer(value: Any, name: str) -> int:
    number = rational(value, name)
    if number.q != 1:
        raise InvalidInput(name, value, "must be an integer", "correct it")
    return int(number.p)


def _integers(values: list[Any], name: str) -> list[int]:
    return [_integer(value, f"{name}[{i}]") for i, value in enumerate(values)]


def _cut(samples: list[Any], lengths: list[int]) -> list[Any]:
    """The samples without their padding."""
    if len(samples) != len(lengths):
        raise InvalidInput("lengths", f"{len(lengths)} entries",
                           f"must have one entry per sample of X ({len(samples)})",
                           "drop or add entries")
    for i, (sample, T) in enumerate(zip(samples, lengths, strict=True)):
        if not isinstance(sample, list):
            raise InvalidInput(f"X[{i}]", sample, "must be a list of tokens",
                               "correct the nesting")
        if not 2 <= T <= len(sample):
            raise InvalidInput(f"lengths[{i}]", T, f"must be in 2..{len(sample)}, as X[{i}] "
                               f"has {len(sample)} tokens", "correct it")
    return [sample[:T] for sample, T in zip(samples, lengths, strict=True)]


def check_size(data: DataFile, trial: int | None) -> None:
    """Refuse what would take minutes and gigabytes to hold exactly."""
    size = sum(array.size // (1 if trial is None or name not in data.stacked else len(array))
               for name, array in data.fields.items()
               if name in AXES and isinstance(array, np.ndarray))
    if size > MAX_NUMBERS:
        raise InvalidInput("data", f"{size:,} numbers", f"must have at most {MAX_NUMBERS:,}",
                           "split the data")


def float_array(value: Any, name: str) -> FloatArray:
    """*value*, an array or nested lists, in float64, exactly. Raises ``InvalidInput``."""
    array: Array = value if isinstance(value, np.ndarray) else _rectangular(value, name)
    if array.dtype.kind in "iu" and ((array > 1 << 53) | (array < -1 << 53)).any():
        raise InvalidInput(name, f"{array.dtype} array", "must be within ±2^53",
                           "store float64 numbers")
    wrong = np.argwhere(~np.isfinite(array))
    if len(wrong):
        where = tuple(wrong[0])
        raise InvalidInput(name + "".join(f"[{i}]" for i in where), float(array[where]),
                           "must be finite", "remove NaN and infinite entries")
    return np.array(array, dtype=np.float64)


def _rectangular(value: Any, name: str) -> FloatArray:
    try:
        return np.array(_floats(value, name), dtype=np.float64)
    except ValueError as error:
        if isinstance(error, InvalidInput):
            raise
        raise InvalidInput(name, value, "must be rectangular",
                           "give rows of equal length") from None


def _floats(value: Any, name: str) -> Any:
    if isinstance(value, list):
        return [_floats(item, f"{name}[{i}]") for i, item in enumerate(value)]
    number = rational(value, name)
    rounded = to_float(number)
    if not np.isfinite(rounded) or rational(rounded) != number:
        raise InvalidInput(name, value, "must be exactly a float64", "round it to one")
    return rounded
