"""Whether opt is the only locally optimal selection: against brute force, with certificates."""

from __future__ import annotations

import json

import direction_trees
import pytest

from conditions import AttentionDataset, local_optimality, unique_optimum
from conditions.certificates import Certificate
from conditions.only_local_optimum import decide

ABOUT = "directions"
DATA = [*direction_trees.integer_datasets(3, 3, 3, 14, seed=15),
        *direction_trees.integer_datasets(2, 3, 2, 21, seed=16),
        *direction_trees.float_datasets(3, 3, 3, 10, seed=17)]


def verdicts():
    return [decide(AttentionDataset.build(*data)) for data in DATA]


@pytest.mark.parametrize("data", DATA)
def test_equals_brute_force(data):
    dataset = AttentionDataset.build(*data)
    verdict = decide(dataset)
    unique = unique_optimum.decide(dataset).holds
    best = direction_trees.optimal_selection(dataset)
    optima = direction_trees.brute_force(dataset, ABOUT)
    assert not verdict.undecided
    assert verdict.holds == (unique and optima == [best])
    if verdict.holds:
        assert verdict.certificate.selections == (best,)
        direction_trees.replay(data, verdict.certificate.to_json(), ABOUT)
    elif not unique:
        assert verdict.certificate.kind == "optimum_tie"
    else:
        alpha = verdict.certificate.selection
        assert (alpha in optima) == (alpha != best)
        assert local_optimality.decide(dataset, alpha).holds == (alpha != best)
        assert verdict.evidence == verdict.certificate.certificate.evidence
    spelled = json.loads(json.dumps(verdict.certificate.to_json()))
    assert Certificate.from_json(spelled) == verdict.certificate


def test_every_answer_occurs():
    answers = [v.number for v in verdicts()]
    for number in ("optimum tied", "opt infeasible", "another local optimum", "1 of 27"):
        assert answers.count(number) > 0, number


def test_a_second_local_optimum():
    # From a large multiple of e₁e₁ᵀ descent keeps sample 1 on its worse token for ever.
    data = ([[[1, 0], [0, 0]], [[-2, 1], [0, 0]]], [1, 1], [[1, 0], [1, 0]], [1, 3])
    verdict = decide(AttentionDataset.build(*data))
    assert verdict.fails
    assert verdict.certificate.selection == (0, 1)


def test_a_budget_leaves_it_undecided():
    data = next(d for d, v in zip(DATA, verdicts(), strict=True) if v.holds and len(d[0]) == 3)
    verdict = decide(AttentionDataset.build(*data), seconds=0)
    assert verdict.undecided
    assert verdict.certificate is None
