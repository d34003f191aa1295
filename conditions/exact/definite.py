"""Exact positive semidefiniteness of rational symmetric matrices."""

from __future__ import annotations

from flint import fmpq, fmpq_mat, fmpz


def is_semidefinite(matrix: fmpq_mat) -> bool:
    """Whether the symmetric *matrix* is positive semidefinite, by fraction-free LDLᵀ.

    A pivot 0 is allowed if its whole row of the Schur complement is 0: a semidefinite matrix has
    no other. So no exchange of rows is needed.

    >>> is_semidefinite(fmpq_mat([[1, 1], [1, 1]])), is_semidefinite(fmpq_mat([[0, 1], [1, 1]]))
    (True, False)
    """
    integers, _ = matrix.numer_denom()
    rows = integers.tolist()
    last = fmpz(1)
    # Only the upper triangle is kept up to date.
    for k in range(len(rows)):
        pivot = rows[k][k]
        if pivot < 0:
            return False
        tail = rows[k][k:]
        if pivot == 0:
            if any(tail):
                return False
            continue
        for i in range(k + 1, len(rows)):
            factor = tail[i - k]
            row = rows[i]
            for j in range(i, len(rows)):
                row[j] = (pivot * row[j] - factor * tail[j - k]) / last
        last = pivot
    return True


def is_contraction(M: fmpq_mat) -> bool:
    """Whether ‖M‖_op ≤ 1: I − MᵀM, or I − MMᵀ if that is smaller, is semidefinite."""
    narrow = M if M.ncols() <= M.nrows() else M.transpose()
    size = narrow.ncols()
    identity = fmpq_mat(size, size, [fmpq(int(a == b)) for a in range(size) for b in range(size)])
    return is_semidefinite(identity - narrow.transpose() * narrow)
