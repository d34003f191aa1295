"""S3: cells of score levels, each with a direction of descent, leave no stationary point.

Statement
    ∇L(W) ≠ 0 for every W.
Hypotheses
    ℓ' < 0 on the range of the scores; every cell of a partition of W-space by where the f_i(W) lie
    among the score levels of their samples has a direction D as S3 asks.
Certificate
    `decision_tree`.
Decision procedure
    From the root (S2) down: the cone of a cell is decided over Q; a cell without a direction is
    branched on the sample that weighs most in the cancelling combination. A cell in which nothing
    is left to branch on ends the search: S3 does not apply. Directions of earlier leaves are tried
    first.
Reference
    docs/theory/stationary.md, S3.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from flint import fmpq_mat

from conditions.certificates import DecisionTree
from conditions.dataset import AttentionDataset
from conditions.exact.numbers import to_float
from conditions.stationary.cone import Cancelling, Pair, decide_cone, rises
from conditions.stationary.monotone_direction import neighbours, score_levels
from conditions.stationary.outcome import NotExcluded

NODE_BUDGET = 2_000

Cells = dict[int, int]
"""The branched samples and the child taken, numbered as in docs/certificates.md."""


@dataclass
class _Search:
    dataset: AttentionDataset
    budget: int
    levels: list[list[list[int]]]
    directions: list[fmpq_mat] = field(default_factory=list)
    nodes: list[tuple[int, ...]] = field(default_factory=list)

    def pairs(self, cells: Cells) -> list[Pair]:
        """The comparisons that a direction of the cell must respect."""
        out: list[Pair] = []
        for i in range(self.dataset.n):
            if i not in cells:
                out += neighbours(self.dataset, i)
                continue
            # Child 2k is (l_k, l_{k+1}), child 2k + 1 is {l_{k+1}}.
            half, at_level = divmod(cells[i], 2)
            below, above = self.levels[i][:half + 1], self.levels[i][half + 1 + at_level:]
            out += [(i, t, s) for high in above for t in high for low in below for s in low]
        return out

    def grow(self, cells: Cells) -> NotExcluded | None:
        """Append the subtree of a cell to ``nodes``; None on success."""
        if len(self.nodes) >= self.budget:
            return NotExcluded(f"node budget {self.budget} used up")
        pairs = self.pairs(cells)
        for k, D in enumerate(self.directions):
            witness = rises(self.dataset, pairs, D)
            if witness is not None:
                self.nodes.append((k, *witness))
                return None
        found = decide_cone(self.dataset, pairs)
        if not isinstance(found, Cancelling):
            self.directions.append(found.D)
            self.nodes.append((len(self.directions) - 1, *found.witness))
            return None
        sample = self._heaviest(cells, pairs, found)
        if sample is None:
            return NotExcluded("a cell of score levels has no direction")
        self.nodes.append((sample,))
        for child in range(2 * len(self.levels[sample]) - 3):
            failure = self.grow({**cells, sample: child})
            if failure is not None:
                return failure
        return None

    def _heaviest(self, cells: Cells, pairs: list[Pair], found: Cancelling) -> int | None:
        """The sample to branch on; two levels make one cell, which asks for the same as none."""
        weight = {i: 0.0 for i in range(self.dataset.n)
                  if i not in cells and len(self.levels[i]) > 2}
        for (i, _, _), multiplier in zip(pairs, found.multipliers, strict=True):
            if i in weight:
                weight[i] += to_float(multiplier)
        return max(weight, key=weight.__getitem__, default=None)


def proof(dataset: AttentionDataset, budget: int = NODE_BUDGET) -> DecisionTree | NotExcluded:
    """The proof, or why there is none with at most *budget* nodes."""
    levels = [score_levels(dataset, i) for i in range(dataset.n)]
    if all(len(sample) == 1 for sample in levels):
        return NotExcluded("every sample is flat")
    search = _Search(dataset, budget, levels)
    failure = search.grow({})
    if failure is not None:
        return failure
    return DecisionTree(tuple(tuple(map(tuple, D.tolist())) for D in search.directions),
                        tuple(search.nodes))
