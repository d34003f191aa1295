"""Gen-SVM: sets O_i of tokens with equal logits, each at least 1 above every other token.

With base token r_i = min O_i the constraints are m_it(W) = 0 for t ∈ O_i, t ≠ r_i, and m_it(W) ≥ 1
for t ∉ O_i, where m_it(W) = ⟨φ_it, W⟩, φ_it = (x_{ir_i} - x_it) z_iᵀ: all pairs follow from those.
The sets are part of the statement, so every detail begins with them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from ..claim import Claim, Proved, number_text, rows_text
from ..data import Features, Index, read_rows, read_sparse
from ..numbers import common_denominator, integers
from ..reading import Node
from ..refusals import Code
from .feasibility import scaled_matrix


@dataclass(frozen=True)
class Sets:
    """O_1, …, O_n, and the features of all their tokens but the first, and of all others."""

    tokens: tuple[tuple[int, ...], ...]
    features: Features

    @classmethod
    def read(cls, claim: Claim, node: Node) -> Sets:
        """One nonempty increasing list of tokens per sample. Raises `Refusal`."""
        data = claim.dataset
        tokens = []
        for entry, T in zip(node.items(data.n), data.lengths, strict=True):
            chosen = tuple(token.index(T) for token in entry.items())
            if not chosen:
                raise entry.refuse(Code.EMPTY, "a set has at least one token")
            entry.increasing(chosen)
            tokens.append(chosen)
        return cls(tuple(tokens), Features(data, tuple(chosen[0] for chosen in tokens)))

    def __str__(self) -> str:
        inside = (", ".join(map(str, chosen)) for chosen in self.tokens)
        return f"O = ({', '.join(f'{{{tokens}}}' for tokens in inside)})"

    def holds(self, row: Index) -> bool:
        """Whether the token of a row is in the set of its sample."""
        return row[1] in self.tokens[row[0]]

    def weights(self, inequalities: Node, equalities: Node
                ) -> tuple[dict[Index, Fraction], dict[Index, Fraction]]:
        """λ > 0 on tokens outside the sets, and μ ≠ 0 on tokens inside. Raises `Refusal`."""
        outer = read_sparse(inequalities, self.features)
        inner = read_sparse(equalities, self.features, positive=False)
        self.expect(inequalities, outer, inside=False)
        self.expect(equalities, inner, inside=True)
        return outer, inner

    def expect(self, node: Node, rows: Sequence[Index] | dict[Index, Fraction], *,
               inside: bool) -> None:
        """Refuse rows whose tokens are not all inside, or all outside, the sets."""
        for row in rows:
            if self.holds(row) != inside:
                raise node.refuse(Code.WRONG_SIDE, f"token {row[1]} of sample {row[0]} is "
                                  f"{'in' if self.holds(row) else 'not in'} its set")

    def combination(self, outer: dict[Index, Fraction],
                    inner: dict[Index, Fraction]) -> tuple[list[list[int]], int]:
        """Σ λ φ + Σ μ φ in integers, and what it was multiplied by."""
        # No row is in both.
        weights = {**outer, **inner}
        factor = common_denominator(weights.values())
        scaled = integers(list(weights.values()), factor)
        return (self.features.combination(dict(zip(weights, scaled, strict=True))),
                factor * self.features.scale)

    def margins(self, node: Node, W: list[list[int]], scale: int) -> tuple[dict[Index, int], int]:
        """The margins of the rejected tokens under W/scale, and 1, both times a common factor.

        Refuses unless they are all ≥ 1 and those inside the sets are all 0.
        """
        one = scale * self.features.scale
        outside: dict[Index, int] = {}
        for row, margin in self.features.margins(W).items():
            if self.holds(row):
                if margin:
                    raise node.refuse(Code.UNEQUAL_LOGITS, f"token {row[1]} of sample {row[0]} "
                                      "does not have the logit of the others of its set")
            elif margin < one:
                raise node.refuse(Code.MARGIN_TOO_SMALL, f"the margin of row {row} is below 1")
            else:
                outside[row] = margin
        return outside, one


def gen_separator(claim: Claim, node: Node) -> Proved:
    """A W that meets every constraint."""
    fields = node.object("kind", "sets", "W")
    sets = Sets.read(claim, fields["sets"])
    entries, scale = scaled_matrix(fields["W"].matrix(claim.dataset.d, claim.dataset.d))
    margins, _ = sets.margins(fields["W"], entries, scale)
    return Proved(f"{sets}; {len(margins)} rejected tokens")


def motzkin(claim: Claim, node: Node) -> Proved:
    """λ > 0 and μ with Σ λ φ + Σ μ φ = 0: no W meets every constraint.

    For such a W, 0 = ⟨Σ λ φ + Σ μ φ, W⟩ = Σ λ m(W) ≥ Σ λ > 0 would follow.
    """
    fields = node.object("kind", "sets", "multipliers", "equality_multipliers")
    sets = Sets.read(claim, fields["sets"])
    outer, inner = sets.weights(fields["multipliers"], fields["equality_multipliers"])
    if not outer:
        raise fields["multipliers"].refuse(Code.EMPTY, "at least one multiplier is needed")
    W, _ = sets.combination(outer, inner)
    if any(map(any, W)):
        raise node.refuse(Code.NOT_CANCELLING, "Σ λ φ + Σ μ φ is not zero")
    return Proved(f"{sets}; Gen-SVM is infeasible")


def gen_kkt(claim: Claim, node: Node) -> Proved:
    """W = Σ λ φ + Σ μ φ meets every constraint, with margin 1 where λ > 0: it is W^mm.

    ‖W‖² = ⟨Σ λ φ + Σ μ φ, W⟩ = Σ λ. For any W' that meets them, ⟨W' - W, W⟩ = Σ λ (m(W') - 1) ≥ 0.
    """
    fields = node.object("kind", "sets", "multipliers", "equality_multipliers", "support",
                         "norm_squared")
    sets = Sets.read(claim, fields["sets"])
    outer, inner = sets.weights(fields["multipliers"], fields["equality_multipliers"])
    W, scale = sets.combination(outer, inner)
    margins, one = sets.margins(node, W, scale)
    for row in outer:
        if margins[row] != one:
            raise fields["multipliers"].refuse(Code.NOT_COMPLEMENTARY,
                                               f"the margin of row {row} is above 1")
    support = read_rows(fields["support"], sets.features)
    sets.expect(fields["support"], support, inside=False)
    if support != [row for row, margin in margins.items() if margin == one]:
        raise fields["support"].refuse(Code.WRONG_SUPPORT, "not the rejected rows of margin 1")
    norm = fields["norm_squared"].number()
    if norm != sum(outer.values()):
        raise fields["norm_squared"].refuse(Code.WRONG_NORM, "not the sum of the multipliers")
    if not margins:
        return Proved(f"{sets}; no token is rejected, W^mm = 0: there is no direction")
    return Proved(f"{sets}; support indices {rows_text(support)}; ‖W^mm‖² = {number_text(norm)}")
