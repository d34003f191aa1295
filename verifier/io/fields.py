"""From the fields of a data file to exact datasets, one per trial."""

from __future__ import annotations

import difflib
import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from conditions.dataset import AttentionDataset, FloatArray
from conditions.errors import Description, InvalidInput, counted
from conditions.exact.numbers import rational, to_float
from verifier.io.files import Path, shown
from verifier.io.json_data import read_json
from verifier.io.npz import Array, read_npz

MAX_NUMBERS = 1 << 24
MAX_FIELDS = 1000

# Axes of one trial. X decides whether the file is a stack; the others may then be shared.
AXES = {"X": ("n", "T", "d"), "Y": ("n",), "z": ("n", "d"), "v": ("d",),
        "lengths": ("n",), "query_index": ("n",), "causal": (), "origins": ("n", "2")}
_OPTIONAL = ("lengths", "query_index", "causal", "origins")


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
        if self.trials is None:
            if trial is not None:
                raise InvalidInput("trial", trial, "must be left out, as the file holds one "
                                   "dataset and no stack of trials",
                                   "leave it out, or give X, Y, z and v a leading trial axis")
            return None
        count = self.trials
        if trial is None and count == 1:
            return 0
        if (not isinstance(trial, int | np.integer) or isinstance(trial, bool)
                or not 0 <= trial < count):
            raise InvalidInput("trial", trial, f"must be in 0..{count - 1}, as the file holds a "
                               f"stack of {count}", "name one trial, counted from 0")
        return int(trial)

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
        X, Y, z, v, lengths, query_index, causal, origins = (
            self.of_trial(name, trial) for name in AXES)
        if lengths is not None:
            sizes = _integers(lengths, "lengths")
            if "causal" in self.fields:
                Y = _cut_labels(X, Y, sizes)
            X = _cut(X, sizes)
        if "causal" in self.fields:
            return _positions(X, Y, v, causal)
        if query_index is None:
            data = AttentionDataset.build(X, Y, z, v)
            return data if origins is None else replace(data, origins=_origins(origins, data.n))
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
    trial_axis = "X" in fields and axes(fields["X"]) == 4
    stacked = frozenset(name for name in AXES if name in fields and _stacked(
        name, fields[name], per_position="causal" in names, trial_axis=trial_axis))
    if "X" not in stacked and stacked:
        name = min(stacked)
        raise InvalidInput(name, counted(len(AXES[name]) + 1, "axis", "axes"),
                           "must have no trial axis, as X has none",
                           "stack X too: trials, samples, tokens, numbers")
    lengths = {name: len(fields[name]) for name in sorted(stacked)}
    trials = lengths.get("X")
    for name, length in lengths.items():
        if length != trials:
            raise InvalidInput(name, counted(length, "trial"), "must have one entry for each of "
                               f"the {trials} trials of X", "drop or add trials")
    return DataFile(fields, stacked, trials)


def _check_names(names: Collection[str]) -> None:
    for name in ("X", "Y", "v"):
        if name not in names:
            raise InvalidInput(name, None, "must be in the file", "add it: X, Y, z and v")
    if len(names) > MAX_FIELDS:
        raise InvalidInput("fields", len(names), f"must be at most {MAX_FIELDS}", "drop some")
    # A misspelled optional field would change the data silently.
    for name in names:
        optional = difflib.get_close_matches(name[:20].lower(), _OPTIONAL, 1, 0.8)
        if optional and name not in AXES:
            raise InvalidInput("field", name, f"must be spelled {optional[0]!r}, if meant so",
                               "rename it")
    queries = [name for name in ("z", "query_index", "causal") if name in names]
    if len(queries) != 1:
        raise InvalidInput("z", queries or None, "must be in the file, or else one of "
                           "query_index and causal", "keep or add exactly one of the three")
    if "origins" in names and "z" not in names:
        raise InvalidInput("origins", None, "must not be given without z, as it follows from "
                           "query_index or causal", "leave it out")


def axes(value: Any) -> int:
    """The number of axes of an array, or of nested lists by their first entries."""
    if isinstance(value, np.ndarray):
        return value.ndim
    count = 0
    while isinstance(value, list):
        count, value = count + 1, value[0] if value else None
    return count


def _stacked(name: str, value: Any, *, per_position: bool, trial_axis: bool) -> bool:
    """Whether a field has a trial axis; refuses what has neither number of axes."""
    found, single = axes(value), AXES[name]
    if name == "Y" and per_position and found == 2 + trial_axis:
        return trial_axis
    if found == len(single) + 1:
        return True
    if found == len(single) or (name == "query_index" and found == 0):
        return False
    shown = (Description(f"shape {value.shape}") if isinstance(value, np.ndarray)
             else Description(f"nested {found} deep") if found else value)
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
        raise InvalidInput("lengths", counted(len(lengths), "entry", "entries"),
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


def _cut_labels(samples: list[Any], labels: Any, lengths: list[int]) -> Any:
    """Lists of labels that are padded as their sequences are, without the padding."""
    if not isinstance(labels, list) or not len(labels) == len(samples) == len(lengths):
        return labels
    return [y[:T] if isinstance(y, list) and isinstance(x, list) and len(y) == len(x) else y
            for x, y, T in zip(samples, labels, lengths, strict=True)]


def _positions(X: Any, Y: Any, v: Any, causal: Any) -> AttentionDataset:
    """The dataset in which every position predicts."""
    if not isinstance(causal, bool) and causal not in (0, 1, "0", "1"):
        raise InvalidInput("causal", causal, "must be true or false, or 1 or 0",
                           "true: a position sees itself and those before it; false: all")
    masked = causal in (True, "1")
    size = sum(len(x) ** 2 for x in X if isinstance(x, list)) * (len(v) if v else 1)
    if size // (1 + masked) > MAX_NUMBERS:
        raise InvalidInput("data", counted(size // (1 + masked), "number"), "must have at most "
                           f"{MAX_NUMBERS:,} with every position as a sample", "split the data")
    build = AttentionDataset.causal if masked else AttentionDataset.every_position
    return build(X, Y, v)


def _origins(values: Any, n: int) -> tuple[tuple[int, int], ...]:
    if len(values) != n:
        raise InvalidInput("origins", counted(len(values), "entry", "entries"),
                           f"must have one entry per sample of X ({n})", "drop or add entries")
    found = []
    for i, pair in enumerate(values):
        numbers = _integers(pair, f"origins[{i}]") if isinstance(pair, list) else []
        if len(numbers) != 2 or min(numbers) < 0:
            raise InvalidInput(f"origins[{i}]", pair, "must be a sequence and a position, from 0",
                               "give two integers")
        found.append((numbers[0], numbers[1]))
    return tuple(found)


def check_size(data: DataFile, trial: int | None) -> None:
    """Refuse what would take minutes and gigabytes to hold exactly."""
    size = sum(array.size // (1 if trial is None or name not in data.stacked else len(array))
               for name, array in data.fields.items()
               if name in AXES and isinstance(array, np.ndarray))
    if size > MAX_NUMBERS:
        raise InvalidInput("data", counted(size, "number"), f"must have at most {MAX_NUMBERS:,}",
                           "split the data")


def float_array(value: Any, name: str) -> FloatArray:
    """*value*, an array or nested lists, in float64, exactly. Raises ``InvalidInput``."""
    array: Array = value if isinstance(value, np.ndarray) else _rectangular(value, name)
    if array.dtype.kind in "iu" and ((array > 1 << 53) | (array < -1 << 53)).any():
        raise InvalidInput(name, Description(f"{array.dtype} array"), "must be within ±2^53",
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
