"""Features as floats of norm near 1, with their scales kept apart: for suggestions and for
verified floats alike, whatever the size of the data and whether or not it is dyadic.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from flint import fmpz

from conditions.dataset import FloatArray
from conditions.exact.rank_one import TokenRows
from conditions.exact.verified import FloatRows, Positions
from conditions.selection import Features

_BITS = 100
"""Entries are cut off this far below the largest of their vector: products stay normal."""

_REACH = 200
"""Powers of 2 over which targets may range in a suggestion."""


@lru_cache(maxsize=64)
def float_rows(phi: TokenRows) -> FloatRows:
    """The rows of *phi* as `FloatRows`. Cached."""
    view = phi.dataset.floats
    if view.exact and view.moderate:
        return FloatRows(phi.float_differences, phi.float_queries,
                         np.zeros(len(phi), dtype=np.int64))
    deltas, left = _scaled(phi.differences.tolist())
    queries, right = _scaled(phi.dataset.integers.queries.tolist())
    # 1/scale = factor·2^−shift, factor in [1, 2].
    shift = int(phi.scale).bit_length()
    factor = (1 << shift) / int(phi.scale)
    owners = phi.owners
    return FloatRows(deltas, (queries * factor)[owners], left + right[owners] - shift)


def _scaled(table: list[list[fmpz]]) -> tuple[FloatArray, Positions]:
    """Integer vectors v_k as floats f_k of largest entry near 1 and e_k: v_k ≈ 2^e_k f_k."""
    out = np.zeros((len(table), len(table[0])))
    exponents = np.zeros(len(table), dtype=np.int64)
    for k, row in enumerate(table):
        entries = [int(a) for a in row]
        top = max(abs(a) for a in entries).bit_length()
        cut = max(top - _BITS, 0)
        out[k] = np.ldexp([float(a >> cut) for a in entries], cut - top)
        exponents[k] = top
    return out, exponents


def balanced_rows(phi: TokenRows) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Float rows of norm about 1 and their targets; targets are 0 at zero rows.

    The targets carry the scale, so that the problem stays Att-SVM up to a factor. Where they
    range too far for floats every target is 1, which keeps feasibility but not W^mm: a worse
    start, never a wrong answer.
    """
    rows = float_rows(phi)
    norms = np.sqrt((rows.deltas ** 2).sum(axis=1) * (rows.queries ** 2).sum(axis=1))
    inverse = np.divide(1.0, norms, out=np.zeros_like(norms), where=norms > 0)
    exponents = int(np.median(rows.exponents)) - rows.exponents
    if np.abs(exponents).max() > _REACH:
        exponents = np.zeros_like(exponents)
        targets = (norms > 0).astype(float)
    else:
        targets = np.ldexp(inverse, exponents)
    return rows.deltas * inverse[:, None], rows.queries, targets


def equal_rows(phi: Features) -> Positions:
    """Per row the first row of the same nonzero feature, by exact arithmetic, shape (N,).

    δqᵀ is written (gδ)(q/g)ᵀ with q/g primitive and its first nonzero entry positive.
    """
    signed = [signed_content(row) for row in phi.dataset.integers.queries.tolist()]
    primitive = [tuple(a // g for a in row) for g, row in
                 zip(signed, phi.dataset.integers.queries.tolist(), strict=True)]
    seen: dict[tuple[object, ...], int] = {}
    return np.array([
        seen.setdefault((primitive[i], *(signed[i] * a for a in row)), k)
        for k, ((i, _), row) in enumerate(zip(phi.rows, phi.differences.tolist(), strict=True))],
        dtype=np.intp)


def signed_content(row: list[fmpz]) -> fmpz:
    """The greatest common divisor, with the sign of the first nonzero entry; 1 for zero rows.

    Rows divided by theirs are equal iff they are proportional.
    """
    content = fmpz(0)
    for a in row:
        content = content.gcd(a)
    if content == 0:
        return fmpz(1)
    return content if next(a for a in row if a != 0) > 0 else -content


def equal_tokens(phi: Features) -> Positions:
    """`equal_rows` as far as equal floats of selected token, rejected token and query show it.

    Cheap, and exact where the float view of the dataset is.
    """
    view = phi.dataset.floats
    heads = [view.tokens[i][a].tobytes() + view.queries[i].tobytes()
             for i, a in enumerate(phi.selection)]
    seen: dict[bytes, int] = {}
    return np.array([seen.setdefault(view.tokens[i][t].tobytes() + heads[i], k)
                     for k, (i, t) in enumerate(phi.rows)], dtype=np.intp)
