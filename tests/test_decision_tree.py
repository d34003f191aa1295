"""S3: trees of directions over the cells of score levels."""

from __future__ import annotations

import json
from itertools import pairwise

import numpy as np
import oracle
import pytest
import stationary_replay
from flint import fmpq

from conditions import AttentionDataset
from conditions.certificates import Certificate, DecisionTree
from conditions.stationary import decision_tree, monotone_direction
from conditions.stationary.outcome import NotExcluded

TWO_DEEP = ([[[2, -2, 1], [1, 0, 1], [0, 2, 1], [1, -1, 1]],
             [[0, 0, -1], [-2, -2, 1], [1, -2, -1], [1, 1, 2]]],
            [1, -1], [[0, 2, -1], [0, 2, -1]], [-1, 0, 1])


def random_data(n, T, d, rng):
    shared = rng.integers(-2, 3, d)
    return (rng.integers(-2, 3, (n, T, d)).tolist(), rng.choice([-1, 1], n).tolist(),
            [shared.tolist()] * n, rng.integers(-2, 3, d).tolist())


def replay(data, certificate):
    stationary_replay.decision_tree(data, json.loads(json.dumps(certificate.to_json())))


def test_a_tree_where_one_direction_does_not_do():
    dataset = AttentionDataset.build(*TWO_DEEP)
    assert monotone_direction.proof(dataset) is None
    tree = decision_tree.proof(dataset)
    assert isinstance(tree, DecisionTree)
    assert [node for node in tree.nodes if len(node) == 1] == [(0,), (1,)]
    replay(TWO_DEEP, tree)
    assert Certificate.from_json(json.loads(json.dumps(tree.to_json()))) == tree


def test_the_root_is_s2_and_every_tree_replays():
    rng = np.random.default_rng(128)
    leaves = branches = 0
    for _ in range(250):
        data = random_data(2, 4, 3, rng)
        if len(oracle.flat_samples(data)) == 2:
            continue
        dataset = AttentionDataset.build(*data)
        tree = decision_tree.proof(dataset)
        if monotone_direction.proof(dataset) is not None:
            assert len(tree.nodes) == 1
        if isinstance(tree, DecisionTree):
            replay(data, tree)
            leaves += 1
            branches += len(tree.nodes) > 1
    assert leaves > 40 and branches > 0


def test_a_refused_search_ends_in_a_finest_cell_without_direction():
    rng = np.random.default_rng(3)
    refused = 0
    for _ in range(120):
        data = random_data(2, 3, 2, rng)
        if len(oracle.flat_samples(data)) == 2:
            continue
        outcome = decision_tree.proof(AttentionDataset.build(*data))
        if isinstance(outcome, NotExcluded):
            assert any(not finest(data, cells) for cells in finest_cells(data))
            refused += 1
    assert refused > 20


def finest_cells(data):
    """(low, high) per sample that is not flat; low = high for a level."""
    def cells(scores):
        levels = sorted(set(scores))
        if len(levels) == 1:
            return [None]
        return [*pairwise(levels), *((x, x) for x in levels[1:-1])]
    first, second = (cells(scores) for scores in oracle.scores(data))
    return [(a, b) for a in first for b in second]


def finest(data, cells):
    X, _, z, _ = data
    rows = []
    for i, (cell, scores) in enumerate(zip(cells, oracle.scores(data), strict=True)):
        T = range(len(scores))
        rows += [oracle.outer(oracle.minus(X[i][t], X[i][s]), z[i]) for t in T for s in T
                 if cell is not None and stationary_replay.separates(cell, scores, t, s)]
    return oracle.weakly_solvable(rows)


def test_directions_prove_a_falling_loss_at_random_points():
    tree = decision_tree.proof(AttentionDataset.build(*TWO_DEEP))
    X, z = np.array(TWO_DEEP[0]), np.array(TWO_DEEP[2])
    gamma = np.array([[float(a) for a in row] for row in oracle.scores(TWO_DEEP)])
    directions = [np.array([[int(a.p) / int(a.q) for a in row] for row in D])
                  for D in tree.directions]
    rng = np.random.default_rng(0)
    for _ in range(300):
        W = rng.standard_normal((3, 3)) * 10.0 ** rng.uniform(-2, 1)
        logits = np.einsum("ita,ab,ib->it", X, W, z)
        s = np.exp(logits - logits.max(axis=1, keepdims=True))
        s /= s.sum(axis=1, keepdims=True)
        f = (s * gamma).sum(axis=1)
        pull = s * (gamma - f[:, None]) / (1 + np.exp(f))[:, None]
        G = np.einsum("it,ita,ib->ab", pull, X, z)
        assert max((G * D).sum() for D in directions) > 0


def test_the_budget_is_named_when_it_runs_out():
    outcome = decision_tree.proof(AttentionDataset.build(*TWO_DEEP), budget=3)
    assert outcome == NotExcluded("node budget 3 used up")


def test_flat_samples_have_no_tree():
    flat = AttentionDataset.build([[[0, 1], [0, 2]]], [1], [[1, 0]], [1, 0])
    assert isinstance(decision_tree.proof(flat), NotExcluded)


@pytest.mark.parametrize("change", ["direction", "witness", "leaf", "extra"])
def test_the_replay_refuses_a_changed_tree(change):
    tree = decision_tree.proof(AttentionDataset.build(*TWO_DEEP))
    directions, nodes = list(tree.directions), list(tree.nodes)
    if change == "direction":
        directions[0] = tuple(tuple(-a for a in row) for row in directions[0])
    elif change == "witness":
        nodes[-1] = (nodes[-1][0], 0, 1, 1)
    elif change == "leaf":
        nodes[-2] = (0, *nodes[-2][1:])
        directions[0] = tuple(tuple(fmpq(0) for _ in row) for row in directions[0])
    else:
        nodes.append(nodes[-1])
    with pytest.raises(AssertionError):
        replay(TWO_DEEP, DecisionTree(tuple(directions), tuple(nodes)))
