"""Integer linear algebra: products, exact rank over the rationals, elimination modulo p."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import gcd

Row = Sequence[int]
Matrix = Sequence[Row]


def dot(a: Row, b: Row) -> int:
    """Σ a_j b_j."""
    return sum(x * y for x, y in zip(a, b, strict=True))


def transpose(A: Matrix) -> list[list[int]]:
    """The transpose of a matrix with at least one row."""
    return [list(column) for column in zip(*A, strict=True)]


def _largest(A: Matrix) -> int:
    return max((max(map(abs, row), default=0) for row in A), default=0)


def product(A: Matrix, B: Matrix) -> Iterator[list[int]]:
    """The rows of A B, one at a time (Kronecker substitution).

    Row j of B is packed into one integer Σ_c B_jc 2^(w c), so that row i of the product is
    Σ_j A_ij·packed_j: few multiplications of long integers instead of many of short ones. Every
    entry of the product is below `bound` in size; w is wide enough for it with its sign, and
    adding 2^(w-1) to each slot makes the slots nonnegative, so that they can be cut apart.
    """
    columns = len(B[0]) if B else 0
    bound = max(len(B) * _largest(A) * _largest(B), 1)
    size = bound.bit_length() // 8 + 1  # bytes a slot: 2^(8 size - 1) > bound
    half = 1 << (8 * size - 1)
    offset = int.from_bytes(half.to_bytes(size, "little") * columns, "little")
    packed = [
        int.from_bytes(b"".join((x + half).to_bytes(size, "little") for x in row), "little")
        - offset for row in B]
    for row in A:
        slots = (dot(row, packed) + offset).to_bytes(size * columns, "little")
        yield [int.from_bytes(slots[k:k + size], "little") - half
               for k in range(0, size * columns, size)]


def rank(A: Matrix) -> int:
    """The rank over the rationals, by fraction-free elimination (Bareiss).

    After k pivots every entry is a minor of order k + 1, so the divisions are exact.
    """
    rows = [list(row) for row in A if any(row)]
    found, last = 0, 1
    for column in range(len(rows[0]) if rows else 0):
        at = next((r for r in range(found, len(rows)) if rows[r][column]), None)
        if at is None:
            continue
        rows[found], rows[at] = rows[at], rows[found]
        pivot = rows[found]
        head = pivot[column]
        for r in range(found + 1, len(rows)):
            factor = rows[r][column]
            rows[r] = [(head * x - factor * y) // last
                       for x, y in zip(rows[r], pivot, strict=True)]
        found, last = found + 1, head
    return found


def _unit_row(rows: list[list[int]], start: int, column: int, p: int) -> int | None:
    return next((r for r in range(start, len(rows)) if gcd(rows[r][column], p) == 1), None)


def unit_pivots(A: Matrix, p: int) -> int:
    """The number of pivots that elimination modulo p finds, all of them units modulo p.

    Columns without a unit are passed over. The chosen rows and columns carry a minor that is the
    product of the pivots modulo p up to sign: a unit, hence not zero. So the rank over the
    rationals is at least this number, whether p is prime or not.
    """
    rows = [[x % p for x in row] for row in A]
    found = 0
    for column in range(len(rows[0]) if rows else 0):
        at = _unit_row(rows, found, column, p)
        if at is None:
            continue
        rows[found], rows[at] = rows[at], rows[found]
        inverse = pow(rows[found][column], -1, p)
        pivot = [x * inverse % p for x in rows[found]]
        found += 1
        for r in range(found, len(rows)):
            if factor := rows[r][column]:
                rows[r] = [(x - factor * y) % p for x, y in zip(rows[r], pivot, strict=True)]
    return found


def solve_modulo(A: Matrix, b: Row, p: int) -> list[int] | None:
    """The x with A x ≡ b modulo p for a square A, or None unless det A is found to be a unit."""
    rows = [[*(x % p for x in row), y % p] for row, y in zip(A, b, strict=True)]
    for column in range(len(rows)):
        at = _unit_row(rows, column, column, p)
        if at is None:
            return None
        rows[column], rows[at] = rows[at], rows[column]
        inverse = pow(rows[column][column], -1, p)
        pivot = [x * inverse % p for x in rows[column]]
        rows[column] = pivot
        for r, row in enumerate(rows):
            if r != column and (factor := row[column]):
                rows[r] = [(x - factor * y) % p for x, y in zip(row, pivot, strict=True)]
    return [row[-1] for row in rows]
