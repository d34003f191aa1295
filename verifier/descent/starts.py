"""The starts of runs as callers give them, checked: W(0), or the pair K(0), Q(0)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from conditions.dataset import AttentionDataset, FloatArray
from conditions.errors import Description, InvalidInput, counted
from verifier.descent.parameterization import PARAMETERIZATIONS, Factors, Parameterization


def starts(given: Any, batch: Sequence[AttentionDataset],
           parameterization: Parameterization) -> list[Factors]:
    """The factors that each dataset starts from, each its own copy. Raises ``InvalidInput``."""
    if parameterization is PARAMETERIZATIONS["W"]:
        return _whole(given, batch, parameterization)
    return _factored(given, batch, parameterization)


def _whole(given: Any, batch: Sequence[AttentionDataset],
           parameterization: Parameterization) -> list[Factors]:
    if given is None:
        return [(np.zeros((dataset.d, dataset.d)),) for dataset in batch]
    shared = isinstance(given, np.ndarray) and given.ndim == 2
    each = [given] * len(batch) if shared else _one_each(
        given, batch, "one d × d array, or one matrix per dataset",
        "give an array of shape (d, d) or (B, d, d)")
    return [(_matrix(W, dataset.d, dataset.d, f"start[{k}]", parameterization),)
            for k, (W, dataset) in enumerate(zip(each, batch, strict=True))]


def _factored(given: Any, batch: Sequence[AttentionDataset],
              parameterization: Parameterization) -> list[Factors]:
    rule, remedy = "a tuple (K0, Q0), or a list of one such tuple per dataset", "give K0 and Q0"
    if given is None:
        raise InvalidInput("start", given, f"must be {rule}", "K = Q = 0 is stationary: " + remedy)
    each = [given] * len(batch) if isinstance(given, tuple) else _one_each(
        given, batch, rule, remedy)
    result: list[Factors] = []
    for k, (pair, dataset) in enumerate(zip(each, batch, strict=True)):
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise InvalidInput(f"start[{k}]", pair, "must be a tuple (K0, Q0)", remedy)
        K = _matrix(pair[0], dataset.d, None, f"start[{k}].K", parameterization)
        Q = _matrix(pair[1], dataset.d, K.shape[1], f"start[{k}].Q", parameterization)
        result.append((K, Q))
    return result


def _one_each(given: Any, batch: Sequence[AttentionDataset], rule: str, remedy: str) -> list[Any]:
    try:
        each = list(given)
    except TypeError:
        raise InvalidInput("start", given, f"must be {rule}", remedy) from None
    if len(each) != len(batch):
        raise InvalidInput("start", counted(len(each), "entry", "entries"),
                           f"must be {rule} ({len(batch)})", remedy)
    return each


def _matrix(given: Any, d: int, columns: int | None, name: str,
            parameterization: Parameterization) -> FloatArray:
    """*given* as a new d × *columns* array; of any number m ≥ 1 of columns if that is None."""
    size = f"{d} × {columns or 'm'}"
    try:
        matrix = np.array(given, dtype=float, order="C")
    except (TypeError, ValueError):
        raise InvalidInput(name, given, f"must be a {size} matrix of numbers",
                           "correct it") from None
    m = columns or (matrix.shape[1] if matrix.ndim == 2 else 0)
    if m == 0 or matrix.shape != (d, m):
        raise InvalidInput(name, Description(f"shape {matrix.shape}"), f"must be {size}",
                           "correct it")
    largest = float(np.abs(matrix).max())
    if not largest < parameterization.largest_norm / (d + m):  # so also NaN
        raise InvalidInput(name, given, "must be finite, with entries below "
                           f"{parameterization.largest_norm:.3g}/{d + m}",
                           "choose a start of smaller norm")
    if 0 < largest < parameterization.smallest_start:
        raise InvalidInput(name, given, "must be 0 or have an entry of size "
                           f"{parameterization.smallest_start:.3g} or more", "scale it up")
    return matrix
