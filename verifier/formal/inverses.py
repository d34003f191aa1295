"""Approximate inverses of integer Gram matrices, with the bound that Coq checks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from flint import fmpq, fmpq_mat, fmpz_mat

from verifier.formal.claims import Definition, demand_bits, matrix_definition
from verifier.formal.spelling import integer, positive

# ‖I − A K‖_∞ is at most 2^-9 where the inverse is rounded here.
_ACCURACY = 9


@dataclass(frozen=True)
class Inverse:
    """A = 2^exponent · entries, near the inverse of K = gram / scale.

    ``factor`` / ``over`` is the power of two; ``bound`` / (over · scale) is the largest row sum
    of |I − A K|.
    """

    entries: list[list[int]]
    factor: int
    over: int
    bound: int

    @classmethod
    def of(cls, entries: Sequence[Sequence[int]], exponent: int, gram: fmpz_mat,
           scale: int) -> Inverse:
        """The inverse 2^exponent · *entries* of *gram* / *scale*, with its bound."""
        factor, over = 1 << max(exponent, 0), 1 << max(-exponent, 0)
        product = (fmpz_mat([list(row) for row in entries]) * gram.transpose()).tolist()
        bound = max((sum(abs(factor * int(x) - (over * scale if j == k else 0))
                         for j, x in enumerate(row)) for k, row in enumerate(product)), default=0)
        return cls([list(map(int, row)) for row in entries], factor, over, bound)

    @classmethod
    def rounded(cls, gram: fmpz_mat, scale: int) -> Inverse:
        """A short inverse of a nonsingular Gram matrix / *scale*."""
        size = gram.nrows()
        total = sum(abs(x) for x in gram.entries()) // scale + 1
        exponent = -_ACCURACY - int(total).bit_length()
        power = fmpq(scale << max(-exponent, 0), 1 << max(exponent, 0))
        exact = fmpq_mat(gram).inv().tolist()
        entries = [[int((x * power + fmpq(1, 2)).floor()) for x in row] for row in exact]
        return cls.of(entries, exponent, gram, scale) if size else cls([], 1, 1, 0)

    def definitions(self, name: str) -> tuple[Definition, ...]:
        """The definition of the inverse as *name*, and of its entries."""
        demand_bits(self.entries)
        term = (f"Inverse {name}_entries {_argument(self.factor)} {positive(self.over)} "
                f"{_argument(self.bound)}")
        return matrix_definition(f"{name}_entries", self.entries), Definition(name, "inverse", term)


def _argument(x: int) -> str:
    text = integer(x)
    return f"({text})" if x < 0 else text


