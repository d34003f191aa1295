"""Assumption D agrees with brute force and carries certificates for either answer."""

from __future__ import annotations

import direction_trees
import pytest

from conditions import AttentionDataset, only_local_optimum, unique_optimum
from conditions.assumption_d import CONDITION, decide
from conditions.enumeration.problem import optimal_support_problem
from conditions.enumeration.tree import Search, run

DATA = [*direction_trees.integer_datasets(3, 3, 3, 14, seed=5),
        *direction_trees.integer_datasets(2, 3, 1, 14, seed=6),
        *direction_trees.integer_datasets(2, 2, 2, 21, seed=7),
        *direction_trees.float_datasets(2, 3, 2, 10, seed=8),
        *direction_trees.float_datasets(3, 3, 3, 6, seed=9)]
# Both samples support both of their rows, whatever the selection.
UNITS = ([[[1, 0], [0, 0]], [[0, 1], [0, 0]]], [1, 1], [[1, 0], [0, 1]], [1, 1])


def verdicts():
    return [decide(AttentionDataset.build(*data)) for data in DATA]


@pytest.mark.parametrize("data", [*DATA, UNITS])
def test_equals_brute_force(data):
    dataset = AttentionDataset.build(*data)
    verdict = decide(dataset)
    unique = unique_optimum.decide(dataset).holds
    best = direction_trees.optimal_selection(dataset)
    against = [alpha for alpha in direction_trees.brute_force(dataset, CONDITION) if alpha != best]
    assert not verdict.undecided
    assert verdict.holds == (unique and not against)
    if verdict.holds:
        counts = direction_trees.replay(data, verdict.certificate.to_json(), CONDITION)
        assert counts.get("=", 0) + counts.get("infeasible", 0) + counts.get("obstructed", 0) >= 1
        # D leaves no other locally optimal selection (theory/directions.md).
        assert all(a == best for a in direction_trees.brute_force(dataset, "directions"))
    elif unique:
        assert verdict.certificate.selection == against[0]
        assert verdict.evidence == verdict.certificate.certificate.evidence
    else:
        assert verdict.certificate.kind == "optimum_tie"


def test_both_answers_and_ties_occur():
    kinds = [v.certificate.kind for v in verdicts()]
    assert kinds.count("direction_tree") > 5
    assert kinds.count("exceptional_selection") > 5
    assert kinds.count("optimum_tie") > 5


def test_all_rows_supported_means_that_it_holds():
    assert decide(AttentionDataset.build(*UNITS)).holds


@pytest.mark.parametrize("data", [d for d in DATA if len(d[0]) == 2][:20])
def test_compiled_leaves_agree(data):
    dataset = AttentionDataset.build(*data)
    search = Search(optimal_support_problem(dataset), compiled=True)
    run(search)
    best = direction_trees.optimal_selection(dataset)
    assert [each.selection for each in search.found] == [
        alpha for alpha in direction_trees.brute_force(dataset, CONDITION) if alpha != best]
    direction_trees.replay(data, search.certificate.to_json(), CONDITION)


def test_implies_that_opt_is_the_only_local_optimum_if_feasible():
    for data in DATA:
        dataset = AttentionDataset.build(*data)
        if decide(dataset).holds:
            other = only_local_optimum.decide(dataset)
            assert other.holds or "infeasible" in other.reason


def test_a_budget_leaves_it_undecided():
    data = next(d for d, v in zip(DATA, verdicts(), strict=True) if v.holds and len(d[0]) == 3)
    verdict = decide(AttentionDataset.build(*data), seconds=0)
    assert verdict.undecided
    assert verdict.certificate is None
    assert "%" in verdict.number
