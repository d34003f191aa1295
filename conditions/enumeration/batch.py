"""Many small Att-SVMs at once, compiled: multipliers that prove a tested token's margin ≤ 1.

Everything about a selection α is in the matrix B of all tokens, B_(it),(jτ) = (x_it·x_jτ)(z_i·z_j):
with V = Σ μ_it φ_it the logits x_jτᵀVz_j are Bc, c_it = −μ_it and c_iα = Σ_t μ_it, and ‖V‖² = cᵀBc.
The kept rows' problem is solved in floats and its multipliers are rounded to hexadecimal integers,
for which the inequality that a checker will see is proved with error bounds. What is not proved
here is left open, whatever the reason. Source: docs/theory/directions.md, section 2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from flint import fmpq, fmpz_mat

from conditions.dataset import AttentionDataset, FloatArray
from conditions.enumeration.pivoting import multipliers
from conditions.exact.compiled import compiled
from conditions.exact.numbers import to_float
from conditions.selection import Selection

WIDTHS = (1, 2, 3, 4, 5, 6, 8, 10)
"""Hexadecimal digits a multiplier, tried in turn."""

_RANGE = 2.0**200
_U = 2.0**-53


@dataclass(frozen=True)
class Batch:
    """The tables of one dataset. ``tested[k, l]``: with token k selected, row l is tested.

    ``gram`` is B correctly rounded, (M, M) for M = ΣT_i tokens; ``starts`` (n + 1,) the first
    token of each sample.
    """

    gram: FloatArray
    starts: np.ndarray[Any, np.dtype[np.intp]]
    tested: np.ndarray[Any, np.dtype[np.bool_]]

    def close(self, selections: Sequence[Selection]) -> list[str | None]:
        """Per selection the multipliers as certificate text, or None if it stays open."""
        chosen = np.array(selections, dtype=np.intp) + self.starts[:-1]
        # One digit for the width, and at most WIDTHS[-1] for each rejected token.
        text = np.zeros((len(chosen), 1 + WIDTHS[-1] * len(self.gram)), dtype=np.uint8)
        lengths = _close(self.gram, self.starts, self.tested, chosen, np.array(WIDTHS), text)
        return [row[:size].tobytes().decode() if size else None
                for row, size in zip(text, lengths.tolist(), strict=True)]


def batch(dataset: AttentionDataset, tested: list[tuple[int, int, int]]) -> Batch | None:
    """The tables for rows *tested* ((i, a, t): row (i, t) where a is selected).

    None where the entries of B leave the range in which floats neither over- nor underflow.
    """
    view = dataset.integers
    tokens = fmpz_mat([row for sample in view.tokens for row in sample.tolist()])
    owners = [i for i, T in enumerate(dataset.lengths) for _ in range(T)]
    left = (tokens * tokens.transpose()).tolist()
    right = (view.queries * view.queries.transpose()).tolist()
    scale = (view.token_scale * view.query_scale) ** 2
    M = len(owners)
    exact = [[fmpq(left[k][m] * right[owners[k]][owners[m]], scale) for m in range(M)]
             for k in range(M)]
    B = np.array([[to_float(entry) for entry in row] for row in exact])
    # A zero must be a true zero, not an underflow.
    zero = np.array([[entry == 0 for entry in row] for row in exact])
    if zero.all() or not np.all(zero | ((np.abs(B) >= 1 / _RANGE) & (np.abs(B) <= _RANGE))):
        return None
    starts = np.concatenate([[0], np.cumsum(dataset.lengths)]).astype(np.intp)
    table = np.zeros((M, M), dtype=bool)
    for i, a, t in tested:
        table[starts[i] + a, starts[i] + t] = True
    return Batch(B, starts, table)


@compiled
def _close(gram: Any, starts: Any, tested: Any, chosen: Any, widths: Any, text: Any) -> Any:
    """Fill *text*; the result has the length of each text, 0 for open selections."""
    M, n = len(gram), len(starts) - 1
    lengths = np.zeros(len(chosen), np.intp)
    largest = np.abs(gram).max()
    inside = np.ones(M, np.bool_)
    rows, heads = np.empty(M, np.intp), np.empty(M, np.intp)
    rivals, winners = np.empty(M, np.intp), np.empty(M, np.intp)
    K, factor, x = np.empty((M, M)), np.empty((M, M)), np.empty(M)
    c, logits, rounded = np.empty(M), np.empty(M), np.empty(M)
    for index in range(len(chosen)):
        kept = others = 0
        for i in range(n):
            a = chosen[index, i]
            for t in range(starts[i], starts[i + 1]):
                if t != a and tested[a, t]:
                    rivals[others], winners[others] = t, a
                    others += 1
                elif t != a:
                    rows[kept], heads[kept] = t, a
                    kept += 1
        if others == 0:
            continue
        if kept == 0:
            text[index, 0] = 49
            lengths[index] = 1
            continue
        for k in range(kept):
            for m in range(k + 1):
                K[k, m] = K[m, k] = (
                    gram[heads[k], heads[m]] - gram[heads[k], rows[m]]
                    - gram[rows[k], heads[m]] + gram[rows[k], rows[m]])
        if not multipliers(K, kept, rows, inside, factor, x):
            continue
        top = x[:kept].max()
        for width in widths:
            unit = (16.0**width - 1.0) / top
            for k in range(kept):
                rounded[k] = np.rint(x[k] * unit)
            if _excludes(gram, largest, rows, heads, kept, rivals, winners, others, rounded,
                         c, logits):
                lengths[index] = _spell(rounded, kept, width, text[index])
                break
    return lengths


@compiled
def _excludes(gram: Any, largest: float, rows: Any, heads: Any, kept: int, rivals: Any,
              winners: Any, others: int, mu: Any, c: Any, logits: Any) -> bool:
    """Whether the integers *mu* prove that a tested row has margin at most 1 (rigorous).

    m and p are replaced by a lower and an upper bound, q by an upper one: the inequality
    (m − p)² ≥ ‖φ‖²(q − L²m²/q) is monotone in all three (0 < m, p < m).
    """
    M = len(gram)
    c[:] = 0.0
    total = 0.0
    for k in range(kept):
        c[rows[k]] -= mu[k]
        c[heads[k]] += mu[k]
        total += mu[k]
    q = 0.0
    for k in range(M):
        value = 0.0
        for m in range(M):
            value += gram[k, m] * c[m]
        logits[k] = value
        q += value * c[k]
    # Σ|c| ≤ 2L, integers below 2^53; M products, M sums, and the rounding of B.
    error = (M + 4) * _U * 2.0 * total * largest * (1.0 + 1e-9)
    q = (q + 4.0 * total * error) * (1.0 + 1e-15)
    least = np.inf
    for k in range(kept):
        least = min(least, logits[heads[k]] - logits[rows[k]])
    least -= 3.0 * error
    if least <= 0.0 or q <= 0.0:
        return False
    product = total * least
    gap = q - product / q * product + 1e-14 * q
    for k in range(others):
        a, t = winners[k], rivals[k]
        room = least - (logits[a] - logits[t] + 3.0 * error)
        size = (gram[a, a] - 2.0 * gram[a, t] + gram[t, t]
                + 8.0 * _U * (gram[a, a] + 2.0 * abs(gram[a, t]) + gram[t, t]))
        if room > 0.0 and room * room * (1.0 - 1e-14) >= size * gap * (1.0 + 1e-14):
            return True
    return False


@compiled
def _spell(mu: Any, kept: int, width: int, text: Any) -> int:
    """Write the width and the integers in lower-case hexadecimal ASCII; the length written."""
    at = 0
    for k in range(-1, kept):
        value, digits = (width, 1) if k < 0 else (np.int64(mu[k]), width)
        for place in range(digits - 1, -1, -1):
            digit = (value >> (4 * place)) & 15
            text[at] = 48 + digit if digit < 10 else 87 + digit
            at += 1
    return at
