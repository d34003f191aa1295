"""S2: a direction along which logits rise with scores leaves no stationary point.

Statement
    ∇L(W) ≠ 0 for every W.
Hypotheses
    ℓ' < 0 on the range of the scores; some D has (γ_it − γ_iτ)(h_it − h_iτ) ≥ 0 for all i, t, τ,
    with h_it = x_itᵀ D z_i, and > 0 for one of them.
Certificate
    `monotone_direction`.
Decision procedure
    It is enough to compare neighbouring score levels. The least-norm Aᵀν, ν ≥ 1, over the rows of
    those comparisons is found over Q: it is such a D, or 0, and then there is none (Stiemke). It
    is rounded as far as it stays one.
Reference
    docs/theory.md, section 5, S2.
"""

from __future__ import annotations

import itertools

import numpy as np
from flint import fmpq_mat
from scipy.optimize import nnls

from conditions.certificates import Matrix, MonotoneDirection
from conditions.dataset import AttentionDataset
from conditions.exact.nonnegative import ConeProblem, nonnegative_minimizer
from conditions.exact.rank_one import TokenRows
from conditions.selection import score_order
from conditions.stationary.separable_queries import primitive


def comparisons(dataset: AttentionDataset) -> tuple[tuple[int, int, int], ...]:
    """(i, t, τ) with γ_it > γ_iτ on neighbouring score levels of sample i."""
    pairs = []
    for i, scores in enumerate(dataset.scores):
        levels: dict[object, list[int]] = {}
        for t in score_order(dataset, i):
            levels.setdefault(scores[t], []).append(t)
        ordered = list(levels.values())
        pairs += [(i, t, s) for high, low in itertools.pairwise(ordered)
                  for t in high for s in low]
    return tuple(pairs)


def proof(dataset: AttentionDataset) -> MonotoneDirection | None:
    """The proof, or None where no such D exists."""
    pairs = comparisons(dataset)
    if not pairs:
        return None
    rows = TokenRows(dataset, pairs)
    problem = ConeProblem(rows)
    x = nonnegative_minimizer(problem, _start(rows))
    D = problem.direction(list(x), list(x.values()))
    if all(a == 0 for a in D.entries()):
        return None
    short = _rounded(rows, D)
    margins = rows.margins(short)
    witness = pairs[max(range(len(pairs)), key=margins.__getitem__)]
    return MonotoneDirection(_table(short), witness)


def _start(rows: TokenRows) -> list[int]:
    """A float guess of the active rows; it only saves steps."""
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


def _table(D: fmpq_mat) -> Matrix:
    return tuple(map(tuple, D.tolist()))
