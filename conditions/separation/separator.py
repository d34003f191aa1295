"""Short rational separators: float directions rounded, then checked exactly."""

from __future__ import annotations

import numpy as np
from flint import fmpq, fmpq_mat, fmpz

from conditions.dataset import FloatArray
from conditions.exact.rank_one import RankOneRows, TokenRows
from conditions.separation.frobenius import suggest_support
from conditions.separation.rows import balanced_rows

_BITS = (6, 12, 24, 50)


def rounded(W: FloatArray, bits: int) -> fmpq_mat:
    """*W* on the dyadic grid 2^−bits of its largest entry, exact."""
    top = int(np.frexp(np.abs(W).max())[1])
    shift = bits - top
    entries = [int(a) for a in np.rint(np.ldexp(W, shift)).ravel()]
    power = fmpq(1, fmpz(1) << shift) if shift >= 0 else fmpq(fmpz(1) << -shift)
    return fmpq_mat(*W.shape, entries) * power


def separating(rows: RankOneRows, W: FloatArray) -> fmpq_mat | None:
    """A short rational matrix near a multiple of *W* with every product at least 1, or None."""
    if not np.all(np.isfinite(W)) or not W.any():
        return None
    for bits in _BITS:
        short = rounded(W, bits)
        least = min(rows.margins(short))
        if least > 0:
            # A power of two keeps the entries dyadic.
            return short * power_above(1 / least)
    return None


def power_above(value: fmpq) -> fmpq:
    """The least power of two that is at least *value* > 0."""
    exponent = int(value.p).bit_length() - int(value.q).bit_length() - 1
    power = fmpq(fmpz(1) << exponent) if exponent >= 0 else fmpq(1, fmpz(1) << -exponent)
    while power < value:
        power *= 2
    return power


def short_separator(phi: TokenRows) -> fmpq_mat | None:
    """A short rational W with every margin at least 1, if floats can suggest one."""
    suggestion = suggest_support(phi)
    if suggestion is None:
        return None
    deltas, queries, _ = balanced_rows(phi)
    chosen = suggestion.passive
    return separating(phi, deltas[chosen].T @ (suggestion.x[:, None] * queries[chosen]))
