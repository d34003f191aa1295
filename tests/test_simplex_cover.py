"""S5: covers of the row space by cells with directions."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pytest
import stationary_replay

from conditions import AttentionDataset, no_stationary_point
from conditions.certificates import Certificate, SimplexCover
from conditions.losses import LOSSES
from conditions.stationary import decision_tree, krawczyk, monotone_direction, simplex_cover
from conditions.stationary.cells import extent, orthants, split
from conditions.stationary.coordinates import row_space
from conditions.stationary.newton import random_starts, zeros
from conditions.stationary.outcome import NotExcluded


def random_data(rng):
    shared = rng.integers(-2, 3, 2).tolist()
    return (rng.integers(-2, 3, (2, 3, 2)).tolist(), [1, -1], [shared] * 2,
            rng.integers(-2, 3, 2).tolist())


def covered(count=5, largest=150):
    """Datasets that neither S2 nor S3 excludes, with small covers."""
    rng = np.random.default_rng(0)
    while count:
        data = random_data(rng)
        dataset = AttentionDataset.build(*data)
        if (row_space(dataset).rank == 0 or monotone_direction.proof(dataset) is not None
                or no_stationary_point.decide(dataset, "logistic", 0).fails):
            continue
        cover = simplex_cover.proof(dataset, "logistic", largest)
        if isinstance(cover, SimplexCover):
            count -= 1
            yield data, cover


COVERS = list(covered())


def replay(data, loss, certificate):
    stationary_replay.simplex_cover(data, loss, json.loads(json.dumps(certificate.to_json())))


def test_covers_replay_and_round_trip():
    for data, cover in COVERS:
        replay(data, "logistic", cover)
        assert Certificate.from_json(json.loads(json.dumps(cover.to_json()))) == cover
        assert isinstance(decision_tree.proof(AttentionDataset.build(*data)), NotExcluded)


@pytest.mark.parametrize("loss", LOSSES)
def test_every_loss(loss):
    proved = 0
    for data, _ in COVERS:
        cover = simplex_cover.proof(AttentionDataset.build(*data), loss, 400)
        if isinstance(cover, SimplexCover):
            replay(data, loss, cover)
            proved += 1
    assert proved


def test_no_zero_is_found_where_a_cover_excludes_it():
    for data, _ in COVERS:
        dataset = AttentionDataset.build(*data)
        space = row_space(dataset)
        for y in zeros(space, "logistic", random_starts(space, 300, 5)):
            assert krawczyk.verify(space, "logistic", y) is None


def test_no_cover_where_a_zero_is_proved():
    rng = np.random.default_rng(11)
    seen = 0
    while seen < 6:
        dataset = AttentionDataset.build(*random_data(rng))
        if row_space(dataset).rank == 2 and krawczyk.proof(dataset, "logistic") is not None:
            seen += 1
            outcome = simplex_cover.proof(dataset, "logistic", 300)
            assert isinstance(outcome, NotExcluded) and outcome.suspects


def test_the_gradient_points_along_the_direction_of_a_cell():
    rng = np.random.default_rng(2)
    for data, cover in COVERS:
        space = row_space(AttentionDataset.build(*data))
        for cell, node in walk(cover, space.rank):
            weights = rng.exponential(size=len(cell)) * 10.0 ** rng.uniform(-1, 1, len(cell))
            g = weights @ np.array(cell, dtype=float)
            y = g[1:] / g[0]
            if np.abs(space.float_logits @ y).max() > 30:
                continue
            c = np.array([int(a.p) / int(a.q) for a in cover.directions[node[0]]])
            assert pulled(data, space, y) @ c > 0


def walk(cover, r):
    """(cell, leaf node) of a cover."""
    nodes = iter(cover.nodes)
    for root in orthants(r):
        pending = [root]
        while pending:
            cell, node = pending.pop(), next(nodes)
            if len(node) == 4:
                pending += reversed(split(cell, *node))
            else:
                yield cell, node


def pulled(data, space, y):
    """−n∇L in the coordinates, by the definition, for the logistic loss."""
    X, Y, _, v = map(np.array, data)
    total = np.zeros(space.rank)
    for i in range(len(Y)):
        F = space.float_logits[i]
        s = np.exp(F @ y - (F @ y).max())
        s /= s.sum()
        gamma = Y[i] * X[i] @ v
        f = s @ gamma
        total += (s * (gamma - f)) @ (F - F[0]) / (1 + np.exp(f))
    return total


def test_random_points_lie_in_a_leaf():
    _, cover = COVERS[0]
    cells = [np.array(cell, dtype=float) for cell, _ in walk(cover, 2)]
    rng = np.random.default_rng(0)
    for _ in range(200):
        y = rng.standard_normal(2) * 10.0 ** rng.uniform(-3, 6)
        inside = [np.linalg.solve(cell.T, [1.0, *y]) for cell in cells]
        assert any(w.min() > -1e-9 * np.abs(w).max() for w in inside)


def test_extents_of_cells():
    (cell, *_) = orthants(2)
    assert extent(cell, (1, 0)) == (0, None)
    assert extent(cell, (-1, -1)) == (None, 0)
    assert extent(cell, (1, -1)) == (None, None)
    first, second = split(cell, 0, 1, 1, 3)
    assert extent(first, (1, 0)) == (3, None)
    assert extent(second, (1, 0)) == (0, 3)


@pytest.mark.parametrize("change", ["direction", "missing", "extra", "swap", "reference"])
def test_the_replay_refuses_a_changed_cover(change):
    data, cover = COVERS[0]
    nodes = list(cover.nodes)
    directions = cover.directions
    if change == "direction":
        directions = tuple(tuple(-a for a in c) for c in directions)
    elif change == "missing":
        nodes.pop()
    elif change == "extra":
        nodes.append(nodes[-1])
    elif change == "swap":
        k = next(k for k, node in enumerate(nodes) if len(node) == 4)
        nodes[k] = (nodes[k][0], nodes[k][1], nodes[k][2], -nodes[k][3])
    else:
        nodes[-1] = (*nodes[-1][:2], 0, 0, *nodes[-1][4:])
    with pytest.raises((AssertionError, StopIteration)):
        replay(data, "logistic", dataclasses.replace(cover, nodes=tuple(nodes),
                                                     directions=directions))


def test_one_and_three_dimensions():
    line = ([[[1, 0], [0, 0], [2, 0]], [[0, 1], [1, 1], [3, 1]]], [1, -1], [[1, 0]] * 2, [1, 0])
    dataset = AttentionDataset.build(*line)
    assert row_space(dataset).rank == 1
    outcome = simplex_cover.proof(dataset, "logistic", 400)
    assert isinstance(outcome, SimplexCover) == (krawczyk.proof(dataset, "logistic") is None)
    solid = ([[[1, 0, 0], [0, 0, 0]], [[0, 1, 0], [0, 0, 0]], [[0, 0, 1], [0, 0, 0]]],
             [1, 1, -1], [[1, 1, 1]] * 3, [1, 2, 3])
    dataset = AttentionDataset.build(*solid)
    assert row_space(dataset).rank == 3
    cover = simplex_cover.proof(dataset, "logistic")
    assert isinstance(cover, SimplexCover)
    replay(solid, "logistic", cover)


def test_what_ran_out_is_named():
    data, _ = COVERS[0]
    outcome = simplex_cover.proof(AttentionDataset.build(*data), "logistic", 5)
    assert outcome.reason == "node budget 5 used up"
    rng = np.random.default_rng(0)
    wide = AttentionDataset.build(rng.integers(-2, 3, (2, 5, 4)).tolist(), [1, -1],
                                  rng.integers(-2, 3, (2, 4)).tolist(), [1, 0, 0, 1])
    assert "row space of dimension" in simplex_cover.proof(wide, "logistic").reason


def test_cells_too_narrow_for_floats_end_the_search():
    # The leading terms cancel along a ray, and splitting once ran into a division by zero.
    data = AttentionDataset.build(
        [[[1, 0, 0], [-1, 1, 1], [0, -1, 1]], [[-1, 0, 0], [1, -1, 1], [-1, 1, 1]]], [-1, 1],
        [[-1, -1, 1], [-1, -1, 1]], [0, -1, 0])
    assert "too narrow for floats" in simplex_cover.proof(data, "logistic", 3000).reason


@pytest.mark.slow
def test_random_integer_datasets_are_decided():
    rng = np.random.default_rng(0)
    decided = 0
    for _ in range(60):
        data = random_data(rng)
        verdict = no_stationary_point.decide(AttentionDataset.build(*data), "logistic", 1500)
        decided += not verdict.undecided
        if verdict.undecided:
            assert all(name in verdict.reason for name in ("S1", "S2", "S3", "S4", "S5"))
    assert decided >= 57


def test_flat_data_is_not_covered():
    data = AttentionDataset.build([[[1, 0], [0, 0]]], [1], [[1, 0]], [0, 1])
    assert simplex_cover.proof(data, "logistic").reason == "every sample is flat"


def test_ragged_samples_are_covered():
    # An absent token once made the bounds of unbounded cells NaN.
    data = AttentionDataset.build(
        [[[-2, -2], [2, 2]], [[0, -2], [2, 0], [-2, -3], [-1, 1]], [[-1, 2], [-3, -1], [0, 3]]],
        [-1, 1, -1], [[2, 3]] * 3, [-1, 2])
    assert no_stationary_point.decide(data, "logistic").certificate.kind == "simplex_cover"
