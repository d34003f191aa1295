"""A direction for each cell of score levels (S3).

Let l_0 < … < l_{K-1} be the distinct scores of a sample that is not flat. For every W, f_i(W) lies
in one of the K - 1 open intervals between neighbours or on one of the K - 2 inner levels: a branch
on sample i has these 2K - 3 children, so the leaves of a tree of branches cover all W.

In a leaf call the tokens of a branched sample above or below if their scores lie there; both exist.
-n⟨∇L(W), D⟩ = Σ_i Σ_t g_it h_it with g_it = |ℓ'(f_i)| s_it (γ_it - f_i), Σ_t g_it = 0. If h ≥ c
above and h ≤ c below, Σ_t g_it (h_it - c) has no negative term, and a positive one if some h above
exceeds some h below. A sample that is monotone as in `monotone_direction` adds ≥ 0 for every W.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ..claim import Claim, Proved
from ..data import Dataset
from ..linear import dot
from ..reading import Node
from ..refusals import Code
from .feasibility import scaled_matrix

Cell = dict[int, tuple[int, int]]
"""For each branched sample the levels (a, b): below are the levels ≤ a, above those ≥ b."""


@dataclass
class _Directions:
    """The logits h_it of each direction, times a positive factor, and what they compare to."""

    dataset: Dataset
    matrices: list[list[list[int]]]
    levels: list[list[int]]
    _logits: dict[tuple[int, int], list[int]] = field(default_factory=dict)
    _rises: dict[tuple[int, int, tuple[int, int] | None], bool] = field(default_factory=dict)

    def logits(self, k: int, i: int) -> list[int]:
        """h_it of direction k."""
        if (k, i) not in self._logits:
            query = self.dataset.integer_queries[i]
            pull = [dot(row, query) for row in self.matrices[k]]
            self._logits[k, i] = [dot(token, pull) for token in self.dataset.integer_tokens[i]]
        return self._logits[k, i]

    def rises(self, k: int, i: int, cell: tuple[int, int] | None) -> bool:
        """Whether h of sample i is as its cell asks, or monotone in the score without a cell."""
        key = k, i, cell
        if key not in self._rises:
            ranked = list(zip(self.levels[i], self.logits(k, i), strict=True))
            cuts = [cell] if cell else [(a, a + 1) for a in range(max(self.levels[i]))]
            # Neighbouring levels compare all levels: a chain from high to low.
            self._rises[key] = all(
                max(h for level, h in ranked if a_low(level, cut, cell))
                <= min(h for level, h in ranked if a_high(level, cut, cell)) for cut in cuts)
        return self._rises[key]


def a_low(level: int, cut: tuple[int, int], cell: tuple[int, int] | None) -> bool:
    """Whether a level is on the low side of a cut: one level, or all of a cell's below."""
    return level <= cut[0] if cell else level == cut[0]


def a_high(level: int, cut: tuple[int, int], cell: tuple[int, int] | None) -> bool:
    """Whether a level is on the high side of a cut."""
    return level >= cut[1] if cell else level == cut[1]
