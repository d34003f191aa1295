"""Coordinates of the space that the features span, base token 0.

L depends on W only through ⟨φ_it, W⟩, so ∇L lies in the span of the features, and ∇L(W) = ∇L(P W)
with P the projector on it. With a basis B_1, …, B_r, W = Σ y_k B_k, ∇L vanishes somewhere iff it
does at such a W, and there iff all ⟨∇L, B_k⟩ do.
"""

from __future__ import annotations

from dataclasses import dataclass

from .claim import Claim
from .data import Features, Index, read_rows
from .linear import dot, rank
from .reading import Node
from .refusals import Code


@dataclass(frozen=True)
class RowSpace:
    """The logits of all tokens as linear functions of y, relative to token 0 of their sample.

    x_itᵀ W z_i - x_i0ᵀ W z_i = F_it·y; `logits[i][t]` is the vector F_it times `scale`.
    """

    rows: list[Index]
    logits: list[list[list[int]]]
    scale: int

    @property
    def dimension(self) -> int:
        """The number r of coordinates."""
        return len(self.rows)

    def coordinates(self, i: int) -> list[tuple[int, ...]]:
        """The r vectors (F_it·e_k)_t of sample i, times `scale`."""
        return list(zip(*self.logits[i], strict=True))


def read_basis(node: Node, claim: Claim) -> RowSpace:
    """The coordinates that the rows of a basis give. Raises `Refusal`."""
    features = claim.features
    rows = read_rows(node, features)
    if not rows:
        raise node.refuse(Code.EMPTY, "a basis has at least one row")
    size = len(rows)
    if (rank([_flat(features, row) for row in rows]) < size
            or rank([_flat(features, row) for row in features.rows]) > size):
        raise node.refuse(Code.NOT_A_BASIS, "the rows are dependent, or do not span all features")
    basis = [(features.delta(row), features.query(row)) for row in rows]
    logits = [[[0] * size] for _ in claim.dataset.lengths]
    for row in features.rows:
        delta, query = features.delta(row), features.query(row)
        logits[row[0]].append([-dot(delta, a) * dot(query, q) for a, q in basis])
    return RowSpace(rows, logits, features.scale**2)


def _flat(features: Features, row: Index) -> list[int]:
    return [x * y for x in features.delta(row) for y in features.query(row)]
