"""Directions that no given row opposes, or a positive combination of the rows that is 0."""

from __future__ import annotations

import oracle
import pytest
from acceptance import stationary
from flint import fmpq, fmpq_mat

from conditions import AttentionDataset
from conditions.certificates import MonotoneDirection
from conditions.exact.rank_one import TokenRows
from conditions.stationary.cone import Cancelling, Rise, decide_cone, primitive, rises

# z = e1: the row (0, t, τ) is the difference of tokens t and τ on the first column of D.
STAR = AttentionDataset.build([[[0, 0], [1, 0], [0, 1], [-1, 0], [-1, -1]]], [1], [[1, 0]], [1, 0])
EAST, NORTH, WEST, SOUTHWEST = ((0, t, 0) for t in range(1, 5))


def test_two_rows_that_both_rise():
    found = decide_cone(STAR, [EAST, NORTH])
    assert isinstance(found, Rise)
    margins = TokenRows(STAR, (EAST, NORTH)).margins(found.D)
    assert min(margins) >= 0 and max(margins) > 0


def test_one_strict_row_is_enough():
    # East and west allow only w_1 = 0; north then rises.
    found = decide_cone(STAR, [EAST, WEST, NORTH])
    assert found.D[0, 0] == 0 and found.D[1, 0] > 0 and found.witness == NORTH


@pytest.mark.parametrize("rows", [
    [EAST, WEST],                # (1, 0) + (-1, 0) = 0
    [EAST, NORTH, SOUTHWEST],    # (1, 0) + (0, 1) + (-1, -1) = 0
])
def test_rows_that_cancel(rows):
    found = decide_cone(STAR, rows)
    assert isinstance(found, Cancelling)
    assert found.multipliers == (found.multipliers[0],) * len(rows)
    assert found.multipliers[0] >= 1


def test_rises_names_the_steepest_row():
    # w = (1, 2): margins 1, 2, -1.
    D = fmpq_mat([[1, 0], [2, 0]])
    assert rises(STAR, [EAST, NORTH], D) == NORTH
    assert rises(STAR, [EAST, NORTH, WEST], D) is None
    # w = 0 raises nothing.
    assert rises(STAR, [EAST], fmpq_mat(2, 2)) is None


def test_primitive_integers_keep_the_direction():
    # (2/3, -4/3) = (2/3) (1, -2).
    assert primitive(fmpq_mat([[fmpq(2, 3), fmpq(-4, 3)]])) == (1, -2)
    assert primitive(fmpq_mat([[0, -6], [9, 0]])) == (0, -2, 3, 0)


def test_long_directions_are_shortened():
    # Rows (2^70 + 1, 1) and (1, 2^70 + 1): (1, 1) does as well as any direction of 70 bits.
    big = 2**70 + 1
    dataset = AttentionDataset.build([[[0, 0], [big, 1], [1, big]]], [1], [[1, 0]], [1, 1])
    found = decide_cone(dataset, [(0, 1, 0), (0, 2, 0)])
    assert max(int(abs(a.p)) for a in found.D.entries()) <= 64
    # v = (1, 1): the scores rise along both rows, so this is S2.
    certificate = MonotoneDirection(tuple(map(tuple, found.D.tolist())), found.witness)
    stationary(dataset, certificate)


def test_agrees_with_brute_force():
    counts = {True: 0, False: 0}
    for data in oracle.integer_datasets(2, 3, 2, count=70, seed=18):
        X, _, z, _ = data
        dataset = AttentionDataset.build(*data)
        pairs = [(i, t, s) for i in range(2) for t, s in ((0, 1), (1, 2))]
        rows = [oracle.outer(oracle.minus(X[i][t], X[i][s]), z[i]) for i, t, s in pairs]
        found = decide_cone(dataset, pairs)
        expected = oracle.weakly_solvable(rows)
        assert isinstance(found, Rise) == expected
        counts[expected] += 1
        stack = TokenRows(dataset, tuple(pairs))
        if isinstance(found, Cancelling):
            assert min(found.multipliers) > 0
            total = stack.combination(range(len(pairs)), found.multipliers)
            assert all(a == 0 for a in total.entries())
        else:
            assert rises(dataset, pairs, found.D) is not None
    assert min(counts.values()) > 10
