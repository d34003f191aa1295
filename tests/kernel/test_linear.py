"""Products, ranks and modular elimination against schoolbook computations."""

import itertools
import random
from fractions import Fraction
from math import gcd

import pytest

from verifier.kernel.linear import dot, product, rank, solve_modulo, transpose, unit_pivots


def matrix(generator, rows, columns, size):
    return [[generator.randint(-size, size) for _ in range(columns)] for _ in range(rows)]


def gauss_rank(A):
    rows, found = [[Fraction(x) for x in row] for row in A], 0
    for column in range(len(A[0])):
        at = next((r for r in range(found, len(rows)) if rows[r][column]), None)
        if at is not None:
            rows[found], rows[at] = rows[at], rows[found]
            for r in range(found + 1, len(rows)):
                factor = rows[r][column] / rows[found][column]
                rows[r] = [x - factor * y for x, y in zip(rows[r], rows[found], strict=True)]
            found += 1
    return found


def determinant(A):
    if not A:
        return 1
    return sum((-1)**c * x * determinant([row[:c] + row[c + 1:] for row in A[1:]])
               for c, x in enumerate(A[0]))


@pytest.mark.parametrize("size", [0, 1, 127, 128, 255, 256, 10**6, 2**64, 10**60])
def test_product(size):
    generator = random.Random(size)
    for rows, inner, columns in ((1, 1, 1), (2, 3, 4), (7, 5, 3), (3, 8, 1)):
        A, B = matrix(generator, rows, inner, size), matrix(generator, inner, columns, size)
        extreme = [[-size] * inner, [size] * inner]
        for left in (A, extreme):
            assert list(product(left, B)) == [
                [dot(row, column) for column in transpose(B)] for row in left]
        full = [[size] * columns for _ in range(inner)]
        assert list(product(extreme, full)) == [[-inner * size**2] * columns,
                                                [inner * size**2] * columns]
        # The left factor may be zero while the right one is large.
        assert list(product([[0] * inner], full)) == [[0] * columns]


def test_ranks_agree_with_gaussian_elimination():
    generator = random.Random(5)
    primes = (2**61 - 1, 1_000_003)
    for _ in range(200):
        rows, columns, inner = (generator.randint(1, 6) for _ in range(3))
        A = list(product(matrix(generator, rows, inner, 5), matrix(generator, inner, columns, 5)))
        expected = gauss_rank(A)
        assert rank(A) == expected
        # These primes divide none of the small minors.
        assert {unit_pivots(A, p) for p in primes} == {expected}


@pytest.mark.parametrize("p", [2, 3, 4, 6, 12, 35, 2**64 - 1])
def test_unit_pivots_never_exceed_the_rank(p):
    generator = random.Random(p)
    full = 0
    for _ in range(200):
        rows, columns = generator.randint(1, 4), generator.randint(1, 4)
        A = matrix(generator, rows, columns, 6)
        found = unit_pivots(A, p)
        assert found <= gauss_rank(A)
        units = [minor for r in itertools.combinations(range(rows), found)
                 for c in itertools.combinations(range(columns), found)
                 if gcd(minor := determinant([[A[i][j] for j in c] for i in r]), p) == 1]
        assert units, "no minor is a unit"
        full += found == min(rows, columns)
    assert full > 20


def test_pivots_modulo_a_composite_number_are_units():
    assert unit_pivots([[2]], 6) == unit_pivots([[3]], 6) == 0
    assert unit_pivots([[5]], 6) == 1
    assert unit_pivots([[2, 3], [0, 5]], 6) == 1
    assert unit_pivots([[2, 3, 1], [3, 2, 5]], 6) == 2


@pytest.mark.parametrize("p", [2, 15, 101, 2**61 - 1])
def test_solve_modulo(p):
    generator = random.Random(p)
    solved = 0
    for _ in range(100):
        n = generator.randint(1, 5)
        A, b = matrix(generator, n, n, 9), [generator.randint(-9, 9) for _ in range(n)]
        x = solve_modulo(A, b, p)
        if x is None:
            assert p < 2**60 or determinant(A) == 0
        else:
            solved += 1
            assert gcd(determinant(A), p) == 1
            assert all((dot(row, x) - y) % p == 0 for row, y in zip(A, b, strict=True))
    assert solved > 5


def test_empty_matrices():
    assert (rank([]), rank([[0, 0]]), unit_pivots([], 5), unit_pivots([[0]], 5)) == (0, 0, 0, 0)
