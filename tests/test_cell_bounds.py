"""Float suggestions for cells: which directions, and that what they promise is accepted."""

from __future__ import annotations

import numpy as np
import pytest
from acceptance import stationary
from flint import fmpq

from conditions import AttentionDataset
from conditions.losses import LOSSES
from conditions.stationary import simplex_cover
from conditions.stationary.cell_bounds import MOST_DIRECTIONS, Bounds, primitive_integers
from conditions.stationary.cells import excludes, orthants
from conditions.stationary.coordinates import row_space

LINE = AttentionDataset.build([[[1], [0]]], [1], [[1]], [1])
# z = e1: the differences of sample 0 are e1 and e2, of scores 0 against (1, 2).
PLANE = AttentionDataset.build([[[0, 0], [1, 0], [0, 1]]], [1], [[1, 0]], [1, 2])


def test_primitive_integers():
    # (2/3, -4/3) = (2/3)(1, -2); a positive factor keeps the sign.
    assert primitive_integers((fmpq(2, 3), fmpq(-4, 3))) == (1, -2)
    assert primitive_integers((fmpq(-6), fmpq(0))) == (-1, 0)


def test_directions_of_a_line():
    bounds = Bounds(row_space(LINE), "logistic")
    assert bounds.pairs == [(0, 0, 1)]
    assert set(bounds.directions) == {(1,), (-1,)}
    # p = (γ_0 - γ_1) F_01·c = c.
    assert dict(zip(bounds.directions, bounds.p[:, 0], strict=True)) == {(1,): 1.0, (-1,): -1.0}


def test_directions_of_a_plane_are_normal_to_pairs():
    # Basis φ_01 = -e1, φ_02 = -e2: F_01 = (1, 0), F_02 = (0, 1), F_12 = (-1, 1); the lines normal
    # to them are (0, 1), (1, 0) and (1, 1).
    bounds = Bounds(row_space(PLANE), "logistic")
    lines = {(0, 1), (1, 0), (1, 1)}
    assert {tuple(int(a.p) for a in c) for c in bounds.directions} == lines | {
        (-x, -y) for x, y in lines}
    # What a direction is normal to is exactly 0.
    assert np.count_nonzero(bounds.p == 0) == 6
    assert len(bounds.directions) <= MOST_DIRECTIONS


def test_pairs_of_equal_scores_are_left_out():
    dataset = AttentionDataset.build([[[1, 0], [0, 1], [0, 0]]], [1], [[1, 0]], [1, 1])
    assert Bounds(row_space(dataset), "logistic").pairs == [(0, 0, 2), (0, 1, 2)]


def test_the_view_of_a_half_line():
    # y ≥ 0: token 0 leads along the ray, logits (0, -1)·ray; at the point 0 all logits are 0.
    right, left = orthants(1)
    bounds = Bounds(row_space(LINE), "logistic")
    view = bounds.view(right)
    assert view.points.tolist() == [[[0], [0]]] and view.rays.tolist() == [[[0], [-1]]]
    assert view.bases.tolist() == [0] and bounds.view(left).bases.tolist() == [1]


@pytest.mark.parametrize("loss", LOSSES)
def test_a_suggested_leaf_of_positive_bound_is_accepted(loss):
    for dataset in (LINE, PLANE):
        space = row_space(dataset)
        bounds = Bounds(space, loss)
        accepted = 0
        for cell in orthants(space.rank):
            ratio, leaf = bounds.suggest(bounds.view(cell))
            assert ratio <= 1
            if ratio > 1e-6:
                assert excludes(space, loss, cell, leaf)
                accepted += 1
        assert accepted
        cover = simplex_cover.proof(dataset, loss, 200)
        stationary(dataset, cover, loss=loss)


def test_half_lines_are_settled():
    # One pair leads along the ray, and the loss falls along +1.
    bounds = Bounds(row_space(LINE), "logistic")
    for cell in orthants(1):
        assert bounds.settled(bounds.view(cell))
