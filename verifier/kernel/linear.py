"""Integer linear algebra: products, exact rank over the rationals, elimination modulo p."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
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


def _pack(row: Iterable[int], size: int) -> int:
    """Σ_c row_c 2^(8 size c), for entries that fit into *size* bytes without sign."""
    return int.from_bytes(b"".join(x.to_bytes(size, "little") for x in row), "little")


def _unpack(packed: int, size: int, count: int) -> list[int]:
    slots = packed.to_bytes(size * count, "little")
    return [int.from_bytes(slots[k:k + size], "little") for k in range(0, size * count, size)]


def product(A: Matrix, B: Matrix) -> Iterator[list[int]]:
    """The rows of A B, one at a time (Kronecker substitution).

    Row j of B is packed into one integer Σ_c B_jc 2^(w c), so that row i of the product is
    Σ_j A_ij·packed_j: few multiplications of long integers instead of many of short ones. Every
    entry of the product is at most `bound` in size; w is wide enough for it with its sign, and
    adding 2^(w-1) to each slot makes the slots nonnegative, so that they can be cut apart.
    """
    columns = len(B[0]) if B else 0
    bound = max(len(B) * _largest(A) * _largest(B), _largest(B), 1)
    size = bound.bit_length() // 8 + 1  # bytes of a slot: 2^(8 size - 1) > bound
    half = 1 << (8 * size - 1)
    offset = _pack([half] * columns, size)
    packed = [_pack((x + half for x in row), size) - offset for row in B]
    for row in A:
        yield [x - half for x in _unpack(dot(row, packed) + offset, size, columns)]


def rank(A: Iterable[Row]) -> int:
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


def _eliminate(A: Matrix, p: int, columns: int) -> list[tuple[int, list[int]]]:
    """Elimination modulo p, row by row: pivots (column, row with 1 there), columns 0..columns-1.

    Each row loses its entries in the earlier pivots' columns, in their order; then its first
    unit among the columns is the next pivot, and a row without a unit is dropped. Rows are packed
    as in `product` and reduced modulo p at the end only: an entry starts below p and grows by less
    than p² a step.
    """
    size = ((len(A) + 1) * p * p).bit_length() // 8 + 1
    mask = (1 << 8 * size) - 1
    pivots: list[tuple[int, list[int]]] = []
    packed_pivots: list[tuple[int, int]] = []
    for row in A:
        packed = _pack((x % p for x in row), size)
        for shift, pivot in packed_pivots:
            if factor := (packed >> shift & mask) % p:
                packed += (p - factor) * pivot
        entries = [x % p for x in _unpack(packed, size, len(row))]
        column = next((c for c in range(columns) if gcd(entries[c], p) == 1), None)
        if column is not None:
            inverse = pow(entries[column], -1, p)
            entries = [x * inverse % p for x in entries]
            pivots.append((column, entries))
            packed_pivots.append((8 * size * column, _pack(entries, size)))
    return pivots


def unit_pivots(A: Matrix, p: int) -> int:
    """The number of pivots that elimination modulo p finds, all of them units modulo p.

    The rows and columns of the pivots carry a minor that is, modulo p and up to sign, the product
    of the pivots: a unit, hence not zero. So the rank over the rationals is at least this number,
    whether p is prime or not.
    """
    return len(_eliminate(A, p, len(A[0]) if A else 0))


def solve_modulo(A: Matrix, b: Row, p: int) -> list[int] | None:
    """The x with A x ≡ b modulo p for a square A, or None unless det A is found to be a unit."""
    pivots = _eliminate([[*row, y] for row, y in zip(A, b, strict=True)], p, len(A))
    if len(pivots) < len(A):
        return None
    x = [0] * len(A)
    for column, row in reversed(pivots):
        x[column] = (row[-1] - dot(row[:-1], x)) % p
    return x
