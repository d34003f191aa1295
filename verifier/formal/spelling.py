"""Numbers, lists and datasets as Coq spells them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import lcm

from flint import fmpq

from conditions.dataset import AttentionDataset

# Larger numbers are parsed faster, and no less readable, in hexadecimal.
_DECIMAL = 1 << 32

IntegerMatrix = Sequence[Sequence[int]]


def integer(x: int) -> str:
    """An integer of Z_scope."""
    if abs(x) < _DECIMAL:
        return str(x)
    return f"{'-' if x < 0 else ''}{abs(x):#x}"


def vector(entries: Iterable[int]) -> str:
    """A list of integers."""
    return f"[{'; '.join(map(integer, entries))}]"


def matrix(rows: IntegerMatrix) -> str:
    """A list of lists of integers, one row a line."""
    return "[" + ";\n  ".join(map(vector, rows)) + "]"


def positive(x: int) -> str:
    """A positive number, for a denominator."""
    return f"{integer(x)}%positive"


def natural(x: int) -> str:
    """A natural number, for an index or a size."""
    return f"{x}%nat"


def naturals(entries: Iterable[int]) -> str:
    """A list of natural numbers."""
    return f"[{'; '.join(map(str, entries))}]%nat"


def pairs(rows: Iterable[tuple[int, int]]) -> str:
    """A list of rows (i, t)."""
    return f"[{'; '.join(f'({i}, {t})' for i, t in rows)}]%nat"


def scaled(numbers: Iterable[fmpq]) -> tuple[list[int], int]:
    """The numbers times their least common denominator, and that denominator."""
    given = list(numbers)
    scale = lcm(*(int(x.q) for x in given)) if given else 1
    return [int(x.p) * (scale // int(x.q)) for x in given], scale


def scaled_matrix(rows: Sequence[Sequence[fmpq]]) -> tuple[list[list[int]], int]:
    """The matrix times its least common denominator, and that denominator."""
    flat, scale = scaled(x for row in rows for x in row)
    width = len(rows[0])
    return [flat[k:k + width] for k in range(0, len(flat), width)], scale


def dataset_literal(dataset: AttentionDataset) -> str:
    """The dataset as a term of the type `dataset` of theories/Dataset.v."""
    view = dataset.integers
    head, head_scale = scaled(dataset.head)
    samples = []
    for tokens, query, label in zip(view.tokens, view.queries.tolist(), dataset.labels,
                                    strict=True):
        rows = ";\n    ".join(vector(map(int, row)) for row in tokens.tolist())
        samples.append(f"  Sample\n   [{rows}]\n   {vector(map(int, query))} ({label})")
    scales = " ".join(positive(int(x)) for x in (view.token_scale, view.query_scale, head_scale))
    listed = ";\n".join(samples)
    return f"Dataset {natural(dataset.d)} {scales}\n [{listed.lstrip()}]\n {vector(head)}"
