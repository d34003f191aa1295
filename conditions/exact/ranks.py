"""Exact ranks: lower bounds modulo a prime, equality over the rationals."""

from __future__ import annotations

from flint import fmpq_mat, fmpz, fmpz_mat, nmod_mat

PRIMES = (2**61 - 1, 2**62 - 57, 2**63 - 25)
"""Word-size primes; a determinant that is not 0 vanishes modulo all of them by accident only."""


def reduced(matrix: fmpz_mat, modulus: int) -> nmod_mat:
    """*matrix* modulo *modulus*."""
    entries = [int(a % modulus) for a in matrix.entries()]
    return nmod_mat(matrix.nrows(), matrix.ncols(), entries, modulus)


def pivot_columns(matrix: fmpz_mat, modulus: int) -> list[int]:
    """The pivot columns of the reduced row echelon form modulo a prime."""
    if not matrix.nrows() or not matrix.ncols():
        return []
    form, rank = reduced(matrix, modulus).rref()
    table = form.tolist()
    return [next(j for j, a in enumerate(table[r]) if a != 0) for r in range(rank)]


def circuits_modulo(matrix: fmpz_mat, modulus: int) -> tuple[list[int], dict[int, list[int]]]:
    """The pivot columns modulo a prime, and per other column the pivots that it combines."""
    form, rank = reduced(matrix, modulus).rref()
    table = form.tolist()
    pivots = [next(j for j, a in enumerate(table[r]) if a != 0) for r in range(rank)]
    free = sorted(set(range(matrix.ncols())) - set(pivots))
    return pivots, {j: [p for p, row in zip(pivots, table, strict=False) if row[j] != 0]
                    for j in free}


def null_space(matrix: nmod_mat, modulus: int) -> nmod_mat | None:
    """Columns that span {x : matrix x = 0} modulo a prime, or None if that is 0."""
    form, rank = matrix.rref()
    table = form.tolist()[:rank]
    pivots = [next(j for j, a in enumerate(row) if a != 0) for row in table]
    free = sorted(set(range(matrix.ncols())) - set(pivots))
    if not free:
        return None
    columns = []
    for j in free:
        column = [0] * matrix.ncols()
        column[j] = 1
        for pivot, row in zip(pivots, table, strict=True):
            column[pivot] = -int(row[j]) % modulus
        columns.append(column)
    return nmod_mat(columns, modulus).transpose()


def gcd(*numbers: fmpz) -> fmpz:
    """The greatest common divisor, 0 for zeros alone."""
    common = fmpz(0)
    for a in numbers:
        common = common.gcd(a)
    return common


def modular_rank(matrix: fmpz_mat) -> tuple[int, int]:
    """(rank modulo p, p) for the prime of `PRIMES` that shows the largest rank.

    A lower bound of the rank over Q for any integer matrix.
    """
    best = (-1, PRIMES[0])
    full = min(matrix.nrows(), matrix.ncols())
    for prime in PRIMES:
        rank = reduced(matrix, prime).rank() if full else 0
        if rank > best[0]:
            best = (rank, prime)
        if best[0] == full:
            break
    return best


def integer_rows(matrix: fmpq_mat) -> fmpz_mat:
    """*matrix* scaled to integers by one common factor."""
    return matrix.numer_denom()[0]


def rank(matrix: fmpz_mat) -> int:
    """The exact rank over Q."""
    lower, _ = modular_rank(matrix)
    if lower == min(matrix.nrows(), matrix.ncols()):
        return lower
    return int(matrix.rank())
