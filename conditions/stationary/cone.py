"""Directions D with δᵀDq ≥ 0 on given rows and > 0 on one, decided over Q and kept short."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from flint import fmpq, fmpq_mat
from scipy.optimize import nnls

from conditions.dataset import AttentionDataset
from conditions.exact.nonnegative import ConeProblem, nonnegative_minimizer
from conditions.exact.rank_one import TokenRows

Pair = tuple[int, int, int]


@dataclass(frozen=True)
class Rise:
    """D (d × d) along which no row (i, t, τ) falls, and the row that rises most."""

    D: fmpq_mat
    witness: Pair


@dataclass(frozen=True)
class Cancelling:
    """Positive multipliers of the rows, one each, whose combination is 0: there is no `Rise`."""

    multipliers: tuple[fmpq, ...]


def decide_cone(dataset: AttentionDataset, pairs: Sequence[Pair]) -> Rise | Cancelling:
    """Decide whether some D has (x_it − x_iτ)ᵀ D z_i ≥ 0 for all (i, t, τ), > 0 for one.

    The least-norm Aᵀν, ν ≥ 1, is such a D, or 0, and then there is none (Stiemke).
    """
    rows = TokenRows(dataset, tuple(pairs))
    problem = ConeProblem(rows)
    x = nonnegative_minimizer(problem, _start(rows))
    D = problem.direction(list(x), list(x.values()))
    if all(a == 0 for a in D.entries()):
        return Cancelling(tuple(1 + x.get(k, fmpq(0)) for k in range(len(rows))))
    short = _rounded(rows, D)
    margins = rows.margins(short)
    return Rise(short, pairs[max(range(len(pairs)), key=margins.__getitem__)])


def rises(dataset: AttentionDataset, pairs: Sequence[Pair], D: fmpq_mat) -> Pair | None:
    """The row that rises most along *D* if none falls and one rises, else None."""
    margins = TokenRows(dataset, tuple(pairs)).margins(D)
    best = max(range(len(pairs)), key=margins.__getitem__)
    return pairs[best] if min(margins) >= 0 and margins[best] > 0 else None


def primitive(direction: fmpq_mat) -> tuple[fmpq, ...]:
    """The coprime integers proportional to *direction*, by a positive factor."""
    numerator, _ = direction.numer_denom()
    content = numerator.entries()[0] * 0
    for a in numerator.entries():
        content = content.gcd(a)
    return tuple(fmpq(a, content) for a in numerator.entries())


def _start(rows: TokenRows) -> list[int]:
    """A float guess of the active rows; it only saves steps."""
    with np.errstate(over="ignore", invalid="ignore"):
        deltas, queries = rows.float_differences, rows.float_queries
        matrix = (deltas[:, :, None] * queries[:, None, :]).reshape(len(rows), -1)
    if not np.all(np.isfinite(matrix)):
        return []
    try:
        x, _ = nnls(matrix.T, -matrix.sum(axis=0))
    except RuntimeError:
        # It ran out of iterations.
        return []
    return [int(k) for k in np.flatnonzero(x > 0)]


def _rounded(rows: TokenRows, D: fmpq_mat) -> fmpq_mat:
    """A shorter direction that keeps every comparison, or *D* in coprime integers."""
    d = D.nrows()
    exact = fmpq_mat(d, d, list(primitive(D)))
    largest = max(int(abs(a.p)).bit_length() for a in exact.entries())
    for bits in (6, 12, 24, 50):
        if bits >= largest:
            break
        short = fmpq_mat(d, d, [_shift(int(a.p), largest - bits) for a in exact.entries()])
        margins = rows.margins(short)
        if min(margins) >= 0 and max(margins) > 0:
            return short
    return exact


def _shift(value: int, bits: int) -> int:
    """*value*/2^bits rounded to nearest."""
    return (value + (1 << (bits - 1))) >> bits
