"""Obstructions of partial selections, checked by fractions."""

import itertools
import json

import direction_trees
import pytest
from flint import fmpq

from conditions import AttentionDataset
from conditions.certificates import Obstruction
from conditions.enumeration.obstruction import Obstructions
from conditions.enumeration.problem import local_optimality_problem, optimal_support_problem

PROBLEMS = {"local_optimality": local_optimality_problem, "assumption_d": optimal_support_problem}


@pytest.mark.parametrize("about", PROBLEMS)
@pytest.mark.parametrize("shape", [(2, 3, 2), (3, 3, 2), (3, 2, 1)])
def test_no_completion_of_an_obstructed_prefix_is_exceptional(about, shape):
    obstructed = free = 0
    for data in direction_trees.integer_datasets(*shape, 14, seed=4):
        dataset = AttentionDataset.build(*data)
        search = Obstructions(PROBLEMS[about](dataset))
        for depth in range(1, dataset.n):
            for prefix in itertools.product(*map(range, dataset.lengths[:depth])):
                found = search.find(prefix)
                completions = [prefix + rest for rest in
                               itertools.product(*map(range, dataset.lengths[depth:]))]
                shown = any(direction_trees.exceptional(dataset, alpha, about)
                            for alpha in completions)
                if found is None:
                    free += 1
                    continue
                obstructed += 1
                assert not shown
                spelled = json.loads(json.dumps(found.to_json()))
                direction_trees.obstructs(data, dataset, prefix, spelled["multipliers"], about)
    assert min(obstructed, free) > 3


def test_opposite_features_by_hand():
    # Token 1 selected against 0 and 2 on both sides: φ = −1 and 1, whose sum is 0.
    data = AttentionDataset.build([[[2], [1], [0]], [[1], [0]]], [1, 1], [[1], [1]], [1])
    search = Obstructions(local_optimality_problem(data))
    found = search.find((1,))
    assert isinstance(found, Obstruction)
    weights = {row[:2]: row[2] for row in found.multipliers}
    assert weights[0, 0] >= weights.get((0, 2), fmpq(0))
    assert search.find((0,)) is None


def test_a_lone_worst_token_is_obstructed():
    # The only row of prefix (1,) is tested; V = φ is the negative of all features kept by the rest.
    data = AttentionDataset.build([[[1], [0]], [[1], [0]]], [1, 1], [[1], [1]], [1])
    found = Obstructions(local_optimality_problem(data)).find((1,))
    assert [row[:2] for row in found.multipliers] == [(0, 0)]
    assert found.multipliers[0][2] > 0
