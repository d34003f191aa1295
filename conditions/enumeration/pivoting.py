"""Nonnegative multipliers of small problems in compiled floats. They prove nothing.

Minimizes ½xᵀKx − 1ᵀx over x ≥ 0, the dual of least ‖W‖ with margins ≥ 1 (K the rows' Gram matrix).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from conditions.exact.compiled import compiled

_EXCHANGES = 60
_RIDGE = 1e-8


@compiled
def _block_pivoting(K: Any, kept: int, rows: Any, inside: Any, factor: Any, x: Any) -> bool:
    """Minimize ½xᵀKx − 1ᵀx over x ≥ 0 by block pivoting from *inside*; floats, unproved."""
    passive = np.empty(kept, np.intp)
    fewest, patience = kept + 1, 3
    for _ in range(_EXCHANGES):
        size = 0
        for k in range(kept):
            if inside[rows[k]]:
                passive[size] = k
                size += 1
        if not _solve(K, passive, size, factor, x):
            return False
        wrong, last = 0, -1
        for k in range(kept):
            if _is_wrong(K, k, passive, size, inside[rows[k]], x):
                wrong += 1
                last = k
        if wrong == 0:
            return size > 0
        every = True
        if wrong < fewest:
            fewest, patience = wrong, 3
        elif patience:
            patience -= 1
        else:
            # Murty's rule: only the last index, which cannot cycle.
            every = False
        for k in range(kept):
            if (every or k == last) and _is_wrong(K, k, passive, size, inside[rows[k]], x):
                # Marked by NaN, so that the test sees the old x to the end.
                factor[0, k] = np.nan
            else:
                factor[0, k] = 0.0
        for k in range(kept):
            if np.isnan(factor[0, k]):
                inside[rows[k]] = not inside[rows[k]]
    return False


@compiled
def _active_set(K: Any, kept: int, factor: Any, x: Any) -> bool:
    """Minimize ½xᵀKx − 1ᵀx over x ≥ 0 by Lawson and Hanson's method; floats, unproved."""
    within = np.zeros(kept, np.bool_)
    passive = np.empty(kept, np.intp)
    last = np.zeros(kept)
    for _ in range(6 * kept):
        size, shortest = 0, 1.0
        for k in range(kept):
            if within[k]:
                passive[size] = k
                size += 1
        if not _solve(K, passive, size, factor, x):
            return False
        for k in range(kept):
            if within[k] and x[k] <= 0.0:
                shortest = min(shortest, last[k] / (last[k] - x[k]) if last[k] > 0.0 else 0.0)
        for k in range(kept):
            blocked = x[k] <= 0.0
            last[k] += shortest * (x[k] - last[k])
            if within[k] and blocked and last[k] <= 1e-14 * abs(x[k]):
                within[k], last[k] = False, 0.0
        if shortest < 1.0:
            continue
        entering, least = -1, 1.0 - 1e-9
        for k in range(kept):
            if not within[k]:
                margin = 0.0
                for m in range(size):
                    margin += K[k, passive[m]] * x[passive[m]]
                if margin < least:
                    entering, least = k, margin
        if entering < 0:
            return size > 0
        within[entering] = True
    return False


@compiled
def _is_wrong(K: Any, k: int, passive: Any, size: int, within: bool, x: Any) -> bool:
    if within:
        return bool(x[k] <= 0)
    margin = 0.0
    for m in range(size):
        margin += K[k, passive[m]] * x[passive[m]]
    return margin < 1.0 - 1e-11


@compiled
def _solve(K: Any, passive: Any, size: int, factor: Any, x: Any) -> bool:
    """Set x on *passive* from K x = 1 by Cholesky, 0 elsewhere; False if K is nearly singular."""
    x[:] = 0.0
    for a in range(size):
        k = passive[a]
        for b in range(a + 1):
            total = K[k, passive[b]]
            for m in range(b):
                total -= factor[a, m] * factor[b, m]
            if b < a:
                factor[a, b] = total / factor[b, b]
            elif total <= 1e-13 * K[k, k]:
                return False
            else:
                factor[a, a] = np.sqrt(total)
        total = 1.0
        for m in range(a):
            total -= factor[a, m] * x[passive[m]]
        x[k] = total / factor[a, a]
    for a in range(size - 1, -1, -1):
        total = x[passive[a]]
        for m in range(a + 1, size):
            total -= factor[m, a] * x[passive[m]]
        x[passive[a]] = total / factor[a, a]
    return True


@compiled
def multipliers(K: Any, kept: int, rows: Any, inside: Any, factor: Any, x: Any) -> bool:
    """Fill x[:kept] with the minimizer, for K[:kept, :kept]; False if none was found.

    ``inside[rows[k]]`` is the guess that x_k > 0, and is left as the next guess: rows keep their
    names from one problem to its neighbour. ``factor`` is scratch of the shape of K. K is changed
    where its rows are dependent.
    """
    if _block_pivoting(K, kept, rows, inside, factor, x):
        return True
    # Dependent rows: a ridge makes every system definite, and the proof does not mind.
    for k in range(kept):
        K[k, k] *= 1.0 + _RIDGE
    return bool(_active_set(K, kept, factor, x))
