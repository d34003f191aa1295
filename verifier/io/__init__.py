"""Files in and out: exact datasets as ``.npz`` or ``.json``, starts of runs, atomic writing.

A data file holds ``X`` (n samples of T tokens of d numbers), ``Y`` (n labels, 1 or -1), ``z`` (n
queries of d numbers) and ``v`` (the head, d numbers). ``query_index`` (one integer, or n) instead
of ``z`` means self-attention: the query of sample i is its token of that index. ``causal``
instead of either means that every position predicts: a sample for each, its token the query;
true: it sees itself and the positions before it, false: the whole sequence. ``Y`` then has one
label per sequence or one per position. ``origins`` (n × 2) beside ``z`` says which position of
which sequence each query is; it changes no verdict. Ragged samples
are nested lists in JSON; in either format they may be padded, with ``lengths`` (n integers). A
leading trial axis on ``X`` makes a stack of datasets; the other fields may have it too, or are
shared. Further arrays (``W0``, ``K0``, ``Q0``, …) may ride along; those of `verifier.io.heads`
make the prediction head another than the linear one. A certificate is valid data.

JSON numbers are taken as the rationals they spell, in any of the spellings of
`conditions.exact.numbers.rational`; arrays are float16/32/64 or integers. Whatever a file holds,
it either loads or raises ``InvalidInput``.
"""

from __future__ import annotations

from conditions.dataset import AttentionDataset, FloatArray
from conditions.errors import Description, InvalidInput
from verifier.io.fields import DataFile, check_size, float_array, read_data_file
from verifier.io.files import Path, write_atomically
from verifier.io.heads import load_head
from verifier.io.npz import read_npy
from verifier.io.saving import save_dataset

__all__ = ["load_array", "load_dataset", "load_datasets", "load_factored_start", "load_head",
           "load_npy", "load_start", "save_dataset", "write_atomically"]


def load_dataset(path: Path, trial: int | None = None) -> AttentionDataset:
    """The dataset of a file, or one trial of a stack, counted from 0.

    *trial* may be left out for a stack of one, and must be for a file without trial axis. Raises
    ``InvalidInput``.
    """
    data = read_data_file(path)
    chosen = data.pick(trial)
    check_size(data, chosen)
    return data.dataset(chosen)


def load_datasets(path: Path) -> list[AttentionDataset]:
    """All trials of a stack; a single dataset is a list of one. Raises ``InvalidInput``."""
    data = read_data_file(path)
    check_size(data, None)
    if data.trials is None:
        return [data.dataset(None)]
    return [data.dataset(trial) for trial in range(data.trials)]


def load_array(path: Path, name: str, trial: int | None = None) -> FloatArray:
    """The array *name* of a data file, such as ``selected_W``, exactly in float64.

    With *trial*, its part for one trial: its leading axis must then be the trials of the stack.
    Raises ``InvalidInput``.
    """
    data = read_data_file(path, {name})
    array = float_array(_field(data, name), name)
    if trial is None:
        return array
    chosen = data.pick(trial)
    if chosen is None:
        return array
    if array.ndim == 0 or len(array) != data.trials:
        raise InvalidInput(name, _shape(array), f"must have a leading axis of {data.trials} trials",
                           "stack it as X is")
    part: FloatArray = array[chosen, ...]
    return part


def load_start(path: Path, trial: int | None = None) -> FloatArray:
    """The start ``W0`` that comes with a dataset, d × d. Raises ``InvalidInput``."""
    data = read_data_file(path, {"W0"})
    return _start(data, "W0", data.pick(trial), square=True)


def load_factored_start(path: Path, trial: int | None = None) -> tuple[FloatArray, FloatArray]:
    """The start ``(K0, Q0)`` that comes with a dataset, both d × m. Raises ``InvalidInput``."""
    data = read_data_file(path, {"K0", "Q0"})
    chosen = data.pick(trial)
    K, Q = (_start(data, name, chosen, square=False) for name in ("K0", "Q0"))
    if K.shape != Q.shape:
        raise InvalidInput("Q0", _shape(Q), f"must have the shape {K.shape} of K0", "correct one")
    return K, Q


def load_npy(path: Path, name: str = "array") -> FloatArray:
    """The array of a ``.npy`` file, exactly in float64; *name* is for errors.

    Raises ``InvalidInput``.
    """
    return float_array(read_npy(path, name), name)


def _shape(array: FloatArray) -> Description:
    return Description(f"shape {array.shape}")


def _field(data: DataFile, name: str) -> object:
    if name not in data.fields:
        raise InvalidInput(name, None, "must be in the file", "add it, or ask for something else")
    return data.fields[name]


def _start(data: DataFile, name: str, trial: int | None, *, square: bool) -> FloatArray:
    """A d × m matrix, shared by all trials or one per trial."""
    array = float_array(_field(data, name), name)
    head = data.fields["v"]
    d = len(head[0]) if "v" in data.stacked else len(head)
    stacked = data.trials is not None and array.ndim == 3 and len(array) == data.trials
    matrix: FloatArray = array[trial] if stacked and trial is not None else array
    if matrix.ndim != 2 or len(matrix) != d or (square and matrix.shape[1] != d):
        raise InvalidInput(name, _shape(array), f"must be a matrix of {d} rows"
                           + (f" and {d} columns" if square else "")
                           + ", or one for each trial of the stack", "correct the shape")
    return matrix
