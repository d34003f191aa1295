"""The tokens that a float matrix W, or K Qᵀ, selects, decided exactly."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from flint import fmpq, fmpq_mat, fmpz_mat

from conditions.dataset import AttentionDataset, FloatArray

_ROUNDING = 2.0**-53
_CONTESTED = -2


def selected_tokens(dataset: AttentionDataset, *factors: FloatArray) -> tuple[int, ...]:
    """argmax_t x_itᵀ W z_i per sample for the exact data and finite float matrices.

    factors: W, d × d, or K and Q, d × m, with W = K Qᵀ exactly. The lowest index wins exact ties.
    Floats decide where the largest logit exceeds all others of its sample by more than the
    rounding errors can be; the other samples are decided over the rationals. The data must be in
    the range of `verifier.descent.packing`, the factors in that of their parameterization.
    """
    view, d = dataset.floats, dataset.d
    X = np.concatenate(view.tokens)
    starts = np.concatenate(([0], np.cumsum(dataset.lengths)[:-1]))
    left, m = factors[0], factors[0].shape[1]
    z = np.repeat(_pulled(view.queries, factors), dataset.lengths, axis=0)
    logits = ((X @ left) * z).sum(axis=1)
    # |error| ≤ γ_r |x|ᵀ|K||Q|ᵀ|z| in any order of summation (Higham, section 3.1), with r = d + m,
    # d more where there is a Q, one or two more for the products and where the data are not
    # floats; the rest is for this bound's own rounding; the last term covers underflow.
    size = (np.abs(X) @ np.abs(left)
            * np.repeat(_pulled(np.abs(view.queries), [np.abs(F) for F in factors]),
                        dataset.lengths, axis=0)).sum(axis=1)
    roundings = d * len(factors) + m + 8
    error = roundings * _ROUNDING * 1.01 * size + d * m * 2.0**-450
    floor = np.repeat(np.maximum.reduceat(logits - error, starts), dataset.lengths)
    contenders = np.flatnonzero(logits + error >= floor)
    selection = [-1] * dataset.n
    owners = np.searchsorted(starts, contenders, side="right") - 1
    for i, k in zip(owners.tolist(), (contenders - starts[owners]).tolist(), strict=True):
        selection[i] = k if selection[i] == -1 else _CONTESTED
    if _CONTESTED in selection:
        numerator = _numerator(left)
        if len(factors) == 2:
            numerator = numerator * _numerator(factors[1]).transpose()
        integers = dataset.integers
        queries = integers.queries.tolist()
        for i in range(dataset.n):
            if selection[i] == _CONTESTED:
                exact = (integers.tokens[i] * (numerator * fmpz_mat(d, 1, queries[i]))).entries()
                # index gives the first of equals.
                selection[i] = exact.index(max(exact))
    return tuple(selection)


def _pulled(queries: FloatArray, factors: Sequence[FloatArray]) -> FloatArray:
    """The rows Qᵀz_i where there is a Q, else z_i."""
    return queries @ factors[1] if len(factors) == 2 else queries


def _numerator(A: FloatArray) -> fmpz_mat:
    """A positive multiple of *A* that is integral."""
    entries = [fmpq(*x.as_integer_ratio()) for x in A.ravel().tolist()]
    return fmpq_mat(*A.shape, entries).numer_denom()[0]
