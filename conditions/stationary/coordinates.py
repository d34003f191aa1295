"""Coordinates y of the row space of the features: W = Σ y_k B_k, with B independent features.

The loss depends on W only through the margins, and the gradient lies in the row space, so nothing
is lost: ∇L vanishes somewhere iff it vanishes at some y. Logit differences are linear in y:
x_itᵀWz_i − x_iτᵀWz_i = F_{i,tτ}·y.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from flint import fmpq

from conditions.dataset import AttentionDataset, FloatArray
from conditions.exact.numbers import to_float
from conditions.exact.ranks import PRIMES, pivot_columns, rank
from conditions.selection import Row, features

Point = tuple[fmpq, ...]


@dataclass(frozen=True, eq=False)
class RowSpace:
    """A basis of r features with base token 0, and F_{i,t0} for every token.

    ``logits[i][t]`` has length r: the logit of token t is ``logits[i][t]``·y up to a constant of
    the sample.
    """

    dataset: AttentionDataset
    basis: tuple[Row, ...]
    logits: tuple[tuple[Point, ...], ...]

    @property
    def rank(self) -> int:
        """r, the dimension."""
        return len(self.basis)

    def difference(self, i: int, t: int, s: int) -> Point:
        """F_{i,ts}, exact, length r."""
        return tuple(a - b for a, b in zip(self.logits[i][t], self.logits[i][s], strict=True))

    @cached_property
    def float_logits(self) -> FloatArray:
        """F_{i,t0} in float64, shape (n, max T, r), 0 beyond T_i."""
        out = np.zeros((self.dataset.n, max(self.dataset.lengths), self.rank))
        for i, sample in enumerate(self.logits):
            out[i, :len(sample)] = [[to_float(a) for a in row] for row in sample]
        return out

    @cached_property
    def float_scores(self) -> FloatArray:
        """γ in float64, shape (n, max T), 0 beyond T_i."""
        out = np.zeros(self.float_logits.shape[:2])
        for i, sample in enumerate(self.dataset.scores):
            out[i, :len(sample)] = [to_float(a) for a in sample]
        return out

    @cached_property
    def present(self) -> np.ndarray[tuple[int, int], np.dtype[np.bool_]]:
        """Which tokens exist, shape (n, max T)."""
        lengths = np.array(self.dataset.lengths)
        return np.arange(lengths.max())[None, :] < lengths[:, None]


@lru_cache(maxsize=16)
def row_space(dataset: AttentionDataset) -> RowSpace:
    """The coordinates of a dataset; its features must have rank ≥ 1 to be of use."""
    phi = features(dataset, (0,) * dataset.n)
    gram = phi.gram()
    # Independent modulo a prime is independent over Q; the rank says whether some are missed.
    positions = pivot_columns(gram, PRIMES[0])
    if len(positions) < rank(gram):
        form, _, size = gram.rref()
        table = form.tolist()
        positions = [next(j for j, a in enumerate(table[k]) if a != 0) for k in range(size)]
    table = gram.tolist()
    square = phi.scale * phi.scale
    zero = tuple(fmpq(0) for _ in positions)
    logits: list[tuple[Point, ...]] = []
    for i, T in enumerate(dataset.lengths):
        # The inner products of φ_it = (x_i0 − x_it) z_iᵀ with the basis are −F_{i,t0}.
        rows = [table[phi.index[i, t]] for t in range(1, T)]
        logits.append((zero, *(tuple(fmpq(-row[k], square) for k in positions)
                               for row in rows)))
    return RowSpace(dataset, tuple(phi.rows[k] for k in positions), tuple(logits))
