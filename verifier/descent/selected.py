"""The tokens that a float matrix W selects, decided exactly."""

from __future__ import annotations

import numpy as np
from flint import fmpq, fmpq_mat, fmpz_mat

from conditions.dataset import AttentionDataset, FloatArray

_ROUNDING = 2.0**-53
_CONTESTED = -2


def selected_tokens(dataset: AttentionDataset, W: FloatArray) -> tuple[int, ...]:
    """argmax_t x_itᵀ W z_i per sample for the exact data and the float matrix W (d × d, finite).

    The lowest index wins exact ties. Floats decide where the largest logit exceeds all others of
    its sample by more than the rounding errors can be; the other samples are decided over Q.
    ‖W‖_F and the data must be in the range of `verifier.descent.packing`.
    """
    view, d = dataset.floats, dataset.d
    X = np.concatenate(view.tokens)
    starts = np.concatenate(([0], np.cumsum(dataset.lengths)[:-1]))
    z = np.repeat(view.queries, dataset.lengths, axis=0)
    logits = ((X @ W) * z).sum(axis=1)
    # |error| ≤ γ_{2d+2} |x|ᵀ|W||z| in any order of summation (Higham, section 3.1), two more
    # roundings where the data are not floats, the rest for this bound's own rounding; the last
    # term covers underflow.
    size = ((np.abs(X) @ np.abs(W)) * np.abs(z)).sum(axis=1)
    error = (2 * d + 8) * _ROUNDING * 1.01 * size + d * d * 2.0**-450
    floor = np.repeat(np.maximum.reduceat(logits - error, starts), dataset.lengths)
    contenders = np.flatnonzero(logits + error >= floor)
    selection = [-1] * dataset.n
    owners = np.searchsorted(starts, contenders, side="right") - 1
    for i, k in zip(owners.tolist(), (contenders - starts[owners]).tolist(), strict=True):
        selection[i] = k if selection[i] == -1 else _CONTESTED
    if _CONTESTED in selection:
        numerator, _ = fmpq_mat(d, d, [fmpq(*x.as_integer_ratio())
                                       for x in W.ravel().tolist()]).numer_denom()
        integers = dataset.integers
        queries = integers.queries.tolist()
        for i in range(dataset.n):
            if selection[i] == _CONTESTED:
                exact = (integers.tokens[i] * (numerator * fmpz_mat(d, 1, queries[i]))).entries()
                # index gives the first of equals.
                selection[i] = exact.index(max(exact))
    return tuple(selection)
