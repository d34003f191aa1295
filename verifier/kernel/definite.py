"""Symmetric matrices in fixed point: positive definite ones shown to be so, and solved with.

Integers stand for multiples of 2^-unit. A = L D Lᵀ + E with a computed unit lower triangular L and
diagonal D > 0 shows A to be positive definite if E = A - L D Lᵀ, taken exactly, has E_kk >
Σ_m |E_km| in every row: whatever the rounding errors of L and D were, they are in E.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .linear import Matrix, product, transpose


@dataclass(frozen=True)
class Factor:
    """L (rows, without the unit diagonal) and D of A ≈ L D Lᵀ, in units of 2^-unit."""

    lower: list[list[int]]
    diagonal: list[int]
    unit: int

    def solve(self, b: Sequence[int]) -> list[int]:
        """An approximate solution of A x = b."""
        x = list(b)
        for k, row in enumerate(self.lower):
            x[k] -= sum(a * y for a, y in zip(row, x[:k], strict=True)) >> self.unit
        x = [(y << self.unit) // d for y, d in zip(x, self.diagonal, strict=True)]
        for k in reversed(range(len(x))):
            for m, a in enumerate(self.lower[k]):
                x[m] -= a * x[k] >> self.unit
        return x


def factor(A: Matrix, unit: int) -> Factor | None:
    """L and D of a symmetric A, rounded; None if a diagonal entry is not positive."""
    lower: list[list[int]] = []
    diagonal: list[int] = []
    for k, row in enumerate(A):
        scaled: list[int] = []
        entries: list[int] = []
        for m in range(k):
            c = row[m] - (sum(x * y for x, y in zip(scaled, lower[m], strict=True)) >> unit)
            scaled.append(c)
            entries.append((c << unit) // diagonal[m])
        d = row[k] - (sum(x * y for x, y in zip(scaled, entries, strict=True)) >> unit)
        if d <= 0:
            return None
        lower.append(entries)
        diagonal.append(d)
    return Factor(lower, diagonal, unit)


def positive_definite(low: Matrix, high: Matrix, unit: int) -> bool:
    """Whether every symmetric A with low ≤ A·2^unit ≤ high is shown to be positive definite.

    A multiple of the identity is left out of the factors, for the errors to hide in.
    """
    size = len(low)
    largest = max(max(map(abs, row)) for row in high)
    spread = max(y - x for a, b in zip(low, high, strict=True) for x, y in zip(a, b, strict=True))
    spare = size * (spread + 4 * size * ((largest >> unit) + 1))
    reduced = [[(x + y >> 1) - (spare if k == m else 0)
                for m, (x, y) in enumerate(zip(a, b, strict=True))]
               for k, (a, b) in enumerate(zip(low, high, strict=True))]
    found = factor(reduced, unit)
    if found is None:
        return False
    one = 1 << unit
    L = [[*row, one, *[0] * (size - k - 1)] for k, row in enumerate(found.lower)]
    scaled = [[x * d for x, d in zip(row, found.diagonal, strict=True)] for row in L]
    for k, row in enumerate(product(scaled, transpose(L))):
        errors = [((x << 2 * unit) - z, (y << 2 * unit) - z)
                  for x, y, z in zip(low[k], high[k], row, strict=True)]
        others = sum(max(-x, y) for m, (x, y) in enumerate(errors) if m != k)
        if errors[k][0] <= others:
            return False
    return True
