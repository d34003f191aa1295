"""The walk over all selections, against brute force and a replay."""

import itertools

import direction_trees
import pytest
from basin_cases import TWO

from conditions import AttentionDataset
from conditions.certificates import Certificate
from conditions.enumeration.problem import local_optimality_problem, optimal_support_problem
from conditions.enumeration.tree import Progress, Search, run

PROBLEMS = {"local_optimality": local_optimality_problem, "assumption_d": optimal_support_problem}


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("about", PROBLEMS)
def test_found_are_those_of_brute_force_and_the_tree_replays(about, compiled):
    for data in itertools.chain(direction_trees.integer_datasets(3, 3, 2, 7, seed=8),
                                direction_trees.float_datasets(3, 3, 4, 1, seed=8)):
        dataset = AttentionDataset.build(*data)
        search = Search(PROBLEMS[about](dataset), compiled=compiled)
        run(search)
        exempt = search.problem.exempt
        expected = [alpha for alpha in direction_trees.brute_force(dataset, about)
                    if alpha != exempt]
        assert [each.selection for each in search.found] == expected
        certificate = search.certificate
        assert Certificate.from_json(certificate.to_json()) == certificate
        direction_trees.replay(data, certificate.to_json(), about)


def test_two_samples_in_preorder():
    search = Search(local_optimality_problem(TWO))
    run(search)
    assert search.certificate.selections == ((0, 0), (0, 1))
    assert search.certificate.nodes[0] == "+"
    assert search.progress == Progress(4, 4, 2)


def test_progress_counts_every_selection_once():
    data = next(direction_trees.float_datasets(3, 4, 4, 1, seed=3))
    search = Search(local_optimality_problem(AttentionDataset.build(*data)))
    assert search.certificate is None
    closed = [p.closed for p in search.steps()]
    assert closed == sorted(closed)
    assert closed[-1] == search.total == 64
    assert search.complete


def test_shares_are_rounded_down():
    assert Progress(0, 10, 0).share == 0
    assert Progress(10**9 - 1, 10**9, 0).share < 1
    assert Progress(7, 7, 0).share == 1
    assert str(Progress(1, 8, 0)) == "1 of 8 selections (12.5 %)"


def test_a_walk_can_be_stopped():
    data = next(direction_trees.float_datasets(3, 4, 4, 1, seed=3))
    problem = local_optimality_problem(AttentionDataset.build(*data))
    out_of_time = Search(problem)
    run(out_of_time, seconds=0.0)
    assert not out_of_time.complete
    assert out_of_time.certificate is None
    enough, seen = Search(problem), []
    run(enough, progress=seen.append, enough=lambda search: len(search.found) >= 1)
    assert len(enough.found) == 1
    assert not enough.complete
    assert seen[-1] == enough.progress


def test_the_exempt_selection_is_closed_without_proof():
    data = AttentionDataset.build([[[1], [0]]], [1], [[1]], [1])
    search = Search(optimal_support_problem(data))
    run(search)
    assert search.complete
    assert search.certificate.nodes[1] == "="
    assert search.found == []
