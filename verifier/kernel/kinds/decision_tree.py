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
from ..linear import Matrix, dot
from ..reading import Node
from ..refusals import Code
from .feasibility import scaled_matrix

Cut = tuple[int, int]
"""Levels (a, b), a < b: below are the levels ≤ a, above those ≥ b."""


@dataclass(frozen=True)
class _Directions:
    """The logits h_it along each direction, times a positive factor."""

    dataset: Dataset
    matrices: list[Matrix]
    levels: list[list[int]]
    _logits: dict[tuple[int, int], list[int]] = field(default_factory=dict)
    _rises: dict[tuple[int, int, Cut | None], bool] = field(default_factory=dict)

    def logits(self, k: int, i: int) -> list[int]:
        """The h_it of direction k."""
        if (k, i) not in self._logits:
            query = self.dataset.integer_queries[i]
            pull = [dot(row, query) for row in self.matrices[k]]
            self._logits[k, i] = [dot(token, pull) for token in self.dataset.integer_tokens[i]]
        return self._logits[k, i]

    def rises(self, k: int, i: int, cut: Cut | None) -> bool:
        """Whether no h_it below exceeds one above; None asks it of every cut between levels."""
        key = k, i, cut
        if key not in self._rises:
            ranked = list(zip(self.levels[i], self.logits(k, i), strict=True))
            cuts = [cut] if cut else [(a, a + 1) for a in range(max(self.levels[i]))]
            self._rises[key] = all(max(h for level, h in ranked if level <= a)
                                   <= min(h for level, h in ranked if level >= b)
                                   for a, b in cuts)
        return self._rises[key]


def decision_tree(claim: Claim, node: Node) -> Proved:
    """The tree in preorder: every branch with all its cells, every leaf with its direction."""
    data = claim.dataset
    fields = node.object("kind", "directions", "nodes")
    directions = _Directions(
        data, [scaled_matrix(entry.matrix(data.d, data.d))[0]
               for entry in fields["directions"].items()],
        [[sorted(set(scores)).index(x) for x in scores] for scores in data.scores])
    entries = iter(fields["nodes"].items())
    pending: list[dict[int, Cut]] = [{}]
    leaves, branched = 0, set[int]()
    while pending:
        cell = pending.pop()
        entry = next(entries, None)
        if entry is None:
            raise fields["nodes"].refuse(Code.BROKEN_TREE, "the nodes end before the tree")
        parts = entry.items()
        if len(parts) == 1:
            i = parts[0].index(data.n)
            pending += reversed(_children(directions, cell, i, entry))
            branched.add(i)
        else:
            _check_leaf(directions, cell, entry)
            leaves += 1
    if (rest := next(entries, None)) is not None:
        raise rest.refuse(Code.BROKEN_TREE, "the tree ends before the nodes")
    return Proved(f"a direction D with ⟨∇L(W), D⟩ < 0 for each of {leaves} cells that cover all "
                  f"W; branched on samples {sorted(branched)}")


def _children(directions: _Directions, cell: dict[int, Cut], i: int,
              entry: Node) -> list[dict[int, Cut]]:
    """The cells of a branch on sample i: an interval, a level, an interval, …, an interval."""
    if directions.dataset.is_flat(i):
        raise entry.refuse(Code.WRONG_FLATNESS, f"sample {i} is flat")
    if i in cell:
        raise entry.refuse(Code.REPEATED_BRANCH, f"sample {i} is branched on above")
    top = max(directions.levels[i])
    return [cell | {i: (k, above)} for k in range(top) for above in (k + 1, k + 2) if above <= top]


def _check_leaf(directions: _Directions, cell: dict[int, Cut], entry: Node) -> None:
    """A direction that fits the cell, strictly at the witness."""
    data = directions.dataset
    number, sample, *pair = entry.items(4)
    k = number.index(len(directions.matrices))
    w = sample.index(data.n)
    t, u = (token.index(data.lengths[w]) for token in pair)
    for i in range(data.n):
        if not directions.rises(k, i, cell.get(i)):
            raise entry.refuse(Code.NOT_MONOTONE, f"direction {k} does not fit sample {i}")
    high, low = directions.levels[w][t], directions.levels[w][u]
    rise = directions.logits(k, w)[t] - directions.logits(k, w)[u]
    strict = (rise > 0 and low <= cell[w][0] and high >= cell[w][1] if w in cell
              else (high - low) * rise > 0)
    if not strict:
        raise entry.refuse(Code.NO_WITNESS, "no strict rise at the witness")
