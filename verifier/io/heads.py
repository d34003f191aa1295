"""The prediction head that a data file carries beside X, Y, z and v.

`quadratic` needs ``lambda`` (one number ≥ 0, exact); `relu` needs ``V`` (m × d) and takes ``a`` (m,
ones if absent); `multiclass` needs ``class_heads`` (C × d) and ``class_labels`` (n integers from
0). In a stack each may have a leading trial axis or be shared. A file carries the head whose
leading field it has, and the linear one if it has none of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from conditions.errors import InvalidInput, counted, unknown
from conditions.exact.numbers import rational, to_float
from verifier.descent.heads import (
    HEADS,
    LINEAR_HEAD,
    Head,
    MulticlassHead,
    QuadraticHead,
    ReluHead,
)
from verifier.io.fields import DataFile, axes, read_data_file
from verifier.io.files import Path

FIELDS = {"lambda": 0, "V": 2, "a": 1, "class_heads": 2, "class_labels": 1}
"""The fields of heads, and their axes in one trial."""

_LEADING = {"quadratic": "lambda", "relu": "V", "multiclass": "class_heads"}
_READ: dict[str, Callable[[DataFile, int | None], Head]] = {
    "linear": lambda data, trial: LINEAR_HEAD,
    "quadratic": lambda data, trial: QuadraticHead.of(_field(data, "lambda", trial)),
    "relu": lambda data, trial: ReluHead.of(
        _floats(_field(data, "V", trial), "V"),
        _floats(_field(data, "a", trial), "a") if "a" in data.fields else None),
    "multiclass": lambda data, trial: MulticlassHead.of(
        _floats(_field(data, "class_heads", trial), "class_heads"),
        _floats(_field(data, "class_labels", trial), "class_labels")),
}


def load_head(path: Path, name: str | None = None, trial: int | None = None) -> Head:
    """The head called *name*, its parameters from the file; None: the one that the file carries.

    Raises ``InvalidInput`` for an unknown name, a parameter that is missing or does not fit, and
    for None where the file carries several heads.
    """
    if name is not None and name not in HEADS:
        raise unknown("head", name, HEADS)
    if name == "linear":
        return LINEAR_HEAD
    data = read_data_file(path, FIELDS)
    if name is None:
        carried = [head for head, field in _LEADING.items() if field in data.fields]
        if len(carried) > 1:
            raise InvalidInput("head", None, f"must be given, as the file carries the heads "
                               f"{' and '.join(carried)}", "choose one, or linear")
        name = carried[0] if carried else "linear"
    return _READ[name](data, data.pick(trial))


def _field(data: DataFile, name: str, trial: int | None) -> Any:
    """The part of a field that belongs to *trial*."""
    if name not in data.fields:
        raise InvalidInput(name, None, "must be in the data file for this head", "add it")
    value, found = data.fields[name], axes(data.fields[name])
    if found == FIELDS[name] + 1 and data.trials is not None and len(value) == data.trials:
        value = value[trial or 0]
    elif found != FIELDS[name]:
        raise InvalidInput(name, counted(found, "axis", "axes"), f"must have {FIELDS[name]}, or "
                           "one more for a stack of trials", "correct the shape or nesting")
    return value.item() if isinstance(value, np.ndarray) and value.ndim == 0 else value


def _floats(value: Any, name: str) -> Any:
    """Numbers of any spelling, nested, each rounded once to float64."""
    if isinstance(value, np.ndarray):
        return value
    if isinstance(value, list):
        return [_floats(item, f"{name}[{i}]") for i, item in enumerate(value)]
    return to_float(rational(value, name))
