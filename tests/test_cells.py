"""Cells of the row space: splits, extents, and what a direction excludes."""

from __future__ import annotations

import itertools

import pytest
from acceptance import stationary
from flint import fmpq, fmpq_mat

from conditions import AttentionDataset
from conditions.certificates import SimplexCover
from conditions.losses import LOSSES
from conditions.stationary.cells import (
    PRECISION,
    Leaf,
    excludes,
    extent,
    orthants,
    points_and_rays,
    split,
)
from conditions.stationary.coordinates import row_space

# d = 1, tokens 1 and 0 of scores 1 and 0: y = W, and L falls as y rises, everywhere.
FALLING = AttentionDataset.build([[[1], [0]]], [1], [[1]], [1])
RIGHT, LEFT = ((1, 0), (0, 1)), ((1, 0), (0, -1))
"""The half-lines y ≥ 0 and y ≤ 0."""


def leaf(direction, base):
    return Leaf((fmpq(direction),), (0, 0, 1), (base,))


def test_orthants():
    assert orthants(1) == [RIGHT, LEFT]
    assert orthants(2)[2] == ((1, 0, 0), (0, 1, 0), (0, 0, -1))
    assert len(set(orthants(3))) == 8


def test_splits():
    # (1, 0) + 2 (0, 1) = (1, 2): y ≥ 2 and 0 ≤ y ≤ 2.
    far, near = split(RIGHT, 0, 1, 1, 2)
    assert far == ((1, 2), (0, 1)) and near == ((1, 0), (1, 2))
    # Between two points 0/1 and 2/1: weights 1, 1 give 2/2 = 1.
    assert split(near, 0, 1, 1, 1) == (((2, 2), (1, 2)), ((1, 0), (2, 2)))
    assert points_and_rays(far) == ([0], [1]) and points_and_rays(near) == ([0, 1], [])


def test_extents():
    far, near = split(RIGHT, 0, 1, 1, 2)
    assert extent(near, (fmpq(3),)) == (0, 6)
    assert extent(far, (fmpq(3),)) == (6, None)
    assert extent(far, (fmpq(-1, 2),)) == (None, -1)
    # A constant function is bounded on any cell; so is one along which no ray moves.
    assert extent(far, (fmpq(0),)) == (0, 0)
    strip = ((1, 0, 0), (2, 1, 0), (0, 0, 1))
    assert extent(strip, (fmpq(1), fmpq(0))) == (0, fmpq(1, 2))
    assert extent(strip, (fmpq(1), fmpq(1))) == (0, None)


def barycentric(cell, point):
    """The coefficients of (1, point) in the generators."""
    size = len(cell)
    matrix = fmpq_mat([[cell[k][j] for k in range(size)] for j in range(size)])
    return matrix.solve(fmpq_mat(size, 1, [1, *point])).entries()


def test_the_parts_of_a_split_cover_the_cell():
    cell = ((1, 0, 0), (3, 1, 2), (0, 1, 1))
    for a, b in itertools.combinations(range(3), 2):
        parts = split(cell, a, b, 2, 5)
        seen = [0, 0]
        for x, y in itertools.product(range(-4, 9), repeat=2):
            point = (fmpq(x, 3), fmpq(y, 3))
            inside = min(barycentric(cell, point)) >= 0
            within = [min(barycentric(part, point)) >= 0 for part in parts]
            assert any(within) == inside
            seen = [n + w for n, w in zip(seen, within, strict=True)]
        assert min(seen) > 0


@pytest.mark.parametrize("loss", LOSSES)
def test_one_direction_excludes_a_half_line_with_the_leading_base(loss):
    space = row_space(FALLING)
    # Token 0 leads to the right, its weight stays above 1/2; token 1 to the left.
    assert excludes(space, loss, RIGHT, leaf(1, 0))
    assert excludes(space, loss, LEFT, leaf(1, 1))
    # Along -1 the loss rises; the other base's weight tends to 0.
    assert not excludes(space, loss, RIGHT, leaf(-1, 0))
    assert not excludes(space, loss, RIGHT, leaf(1, 1))
    assert not excludes(space, loss, LEFT, leaf(1, 0))
    # These two leaves cover the line.
    cover = SimplexCover(space.basis, ((fmpq(1),),), ((0, 0, 0, 1, 0), (0, 0, 0, 1, 1)), PRECISION)
    stationary(FALLING, cover, loss=loss)


@pytest.mark.parametrize("loss", ["logistic", "exponential"])
def test_no_leaf_excludes_a_zero(loss):
    # z = 1 and -1, scores (1, 0) and (3/2, 1/2): ∇L = 0 at y = log 3 in [1, 2] alone.
    dataset = AttentionDataset.build([[[1], [0]], [["3/2"], ["1/2"]]], [1, 1], [[1], [-1]], [1])
    space = row_space(dataset)
    leaves = [Leaf((fmpq(c),), (j, 0, 1), bases) for c in (1, -1) for j in (0, 1)
              for bases in itertools.product((0, 1), repeat=2)]
    assert not any(excludes(space, loss, ((1, 1), (1, 2)), each) for each in leaves)
    # Away from it a narrow cell is excluded: [2, 9/4].
    assert any(excludes(space, loss, ((1, 2), (4, 9)), each) for each in leaves)
