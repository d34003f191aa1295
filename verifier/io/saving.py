"""Datasets into files, exactly."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import Any, BinaryIO

import numpy as np
from flint import fmpq

from conditions.dataset import AttentionDataset
from conditions.errors import InvalidInput
from conditions.exact.numbers import number_to_json, rational, short, to_float
from verifier.io.files import Path, shown, write_atomically
from verifier.io.npz import Array


def save_dataset(data: AttentionDataset | Sequence[AttentionDataset], path: Path) -> None:
    """Write a dataset, or several as a stack of trials, so that loading gives equal fingerprints.

    ``.json`` holds every rational. ``.npz`` needs entries that are float64 numbers, and for
    a stack equal n and d; ragged samples are padded with zeros, with ``lengths``. ``origins`` is
    written where all datasets have it. Raises ``InvalidInput`` where the format cannot hold the
    data or the file cannot be written.
    """
    single = isinstance(data, AttentionDataset)
    trials: list[AttentionDataset] = [data] if single else list(data)  # type: ignore[list-item, arg-type]
    if not trials:
        raise InvalidInput("datasets", data, "must hold at least one dataset", "give one")
    suffix = os.path.splitext(os.fspath(path))[1].lower()
    if suffix == ".json":
        write_atomically(path, _json(trials, single))
    elif suffix == ".npz":
        arrays = _arrays(trials, single)

        def write(file: BinaryIO) -> None:
            np.savez_compressed(file, allow_pickle=False, **arrays)

        write_atomically(path, write)
    else:
        raise InvalidInput("output file", shown(path), "must end in .npz or .json",
                           "choose one of the two")


def _json(trials: list[AttentionDataset], single: bool) -> str:
    stack: dict[str, list[Any]] = {"X": [], "Y": [], "z": [], "v": []}
    for k, trial in enumerate(trials):
        place = "" if single else f"[{k}]"
        stack["X"].append(_spell(trial.tokens, f"X{place}"))
        stack["Y"].append(list(trial.labels))
        stack["z"].append(_spell(trial.queries, f"z{place}"))
        stack["v"].append(_spell(trial.head, f"v{place}"))
    if all(trial.origins is not None for trial in trials):
        stack["origins"] = [trial.origins for trial in trials]
    document = {name: values[0] for name, values in stack.items()} if single else stack
    return json.dumps(document) + "\n"


def _spell(value: Any, name: str) -> Any:
    if isinstance(value, tuple):
        return [_spell(item, f"{name}[{i}]") for i, item in enumerate(value)]
    return number_to_json(short(value, name))


def _arrays(trials: list[AttentionDataset], single: bool) -> dict[str, Array]:
    """The padded arrays of a stack, or of its single dataset."""
    n, d = trials[0].n, trials[0].d
    for k, trial in enumerate(trials):
        if (trial.n, trial.d) != (n, d):
            raise InvalidInput(f"datasets[{k}]", trial, f"must have n = {n} and d = {d}, as the "
                               "first one has", "save to .json")
        if not trial.floats.exact:
            place = "" if single else f"[{k}]"
            for name, value in (("X", trial.tokens), ("z", trial.queries), ("v", trial.head)):
                _check_floats(value, f"{name}{place}")
    T = max(max(trial.lengths) for trial in trials)
    X = np.zeros((len(trials), n, T, d))
    for k, trial in enumerate(trials):
        for i, tokens in enumerate(trial.floats.tokens):
            X[k, i, :len(tokens)] = tokens
    arrays = {"X": X, "Y": np.array([trial.labels for trial in trials], dtype=np.int64),
              "z": np.array([trial.floats.queries for trial in trials]),
              "v": np.array([trial.floats.head for trial in trials])}
    lengths = np.array([trial.lengths for trial in trials], dtype=np.int64)
    if (lengths != T).any():
        arrays["lengths"] = lengths
    if all(trial.origins is not None for trial in trials):
        arrays["origins"] = np.array([trial.origins for trial in trials], dtype=np.int64)
    return {name: array[0] for name, array in arrays.items()} if single else arrays


def _check_floats(value: Any, name: str) -> None:
    if isinstance(value, tuple):
        for i, item in enumerate(value):
            _check_floats(item, f"{name}[{i}]")
    elif not _is_float(value):
        raise InvalidInput(name, value, "must be a float64 number to be stored in .npz",
                           "save to .json")


def _is_float(value: fmpq) -> bool:
    rounded = to_float(value)
    return bool(np.isfinite(rounded)) and rational(rounded) == value
