"""What is asked of every selection, and the answer for one."""

import itertools

import direction_trees
import pytest
from basin_cases import TWO

from conditions import AttentionDataset
from conditions.certificates import ExactKKT, Farkas, KKTEnclosure, PrimalDual
from conditions.enumeration.problem import local_optimality_problem, optimal_support_problem

PROBLEMS = {"local_optimality": local_optimality_problem, "assumption_d": optimal_support_problem}
# Scores 2, 1, 1 and 0, 3.
SMALL = AttentionDataset.build([[[2], [1], [1]], [[0], [3]]], [1, 1], [[1], [1]], [1])


def test_rows_tested_for_local_optimality_by_hand():
    problem = local_optimality_problem(SMALL)
    assert problem.tested == {(0, 1, 0), (0, 1, 2), (0, 2, 0), (0, 2, 1), (1, 0, 1)}
    assert problem.exempt is None
    assert problem.tested_rows((0, 1)) == ()
    assert problem.tested_rows((2, 0)) == ((0, 0), (0, 1), (1, 1))


def test_rows_tested_for_assumption_d_by_hand():
    problem = optimal_support_problem(SMALL)
    assert problem.tested == {(0, 1, 0), (0, 2, 0), (1, 0, 1)}
    assert problem.exempt == (0, 1)
    assert problem.tested_rows((1, 1)) == ((0, 0),)


@pytest.mark.parametrize("about", PROBLEMS)
def test_rows_and_answers_are_those_of_brute_force(about):
    for data in itertools.chain(direction_trees.integer_datasets(2, 3, 2, 14, seed=0),
                                direction_trees.float_datasets(3, 3, 4, 2, seed=0)):
        dataset = AttentionDataset.build(*data)
        problem = PROBLEMS[about](dataset)
        for alpha in itertools.product(*map(range, dataset.lengths)):
            tested = direction_trees.tested_rows(dataset, alpha, about)
            assert list(problem.tested_rows(alpha)) == tested
            examined = problem.examine(alpha)
            assert examined.selection == alpha
            assert examined.exceptional == direction_trees.exceptional(dataset, alpha, about)


def test_two_samples_by_hand():
    # Scores 1, 0 and 1, 0; (0, 0) supports both worse tokens, (0, 1) supports only e₁.
    problem = local_optimality_problem(TWO)
    found = [alpha for alpha in itertools.product(range(2), repeat=2)
             if problem.examine(alpha).exceptional]
    assert found == [(0, 0), (0, 1)]
    examined = problem.examine((0, 1))
    assert isinstance(examined.proof, ExactKKT)
    assert examined.solution.support == ((0, 1),)


def test_infeasible_selections_have_no_solution():
    examined = local_optimality_problem(SMALL).examine((1, 1))
    assert not examined.exceptional
    assert isinstance(examined.proof, Farkas)
    with pytest.raises(ValueError, match="infeasible"):
        _ = examined.solution


def test_enclosed_solutions_have_a_primal_dual_pair_where_that_excludes():
    kinds = set()
    for data in direction_trees.float_datasets(5, 5, 8, 3, seed=1):
        problem = local_optimality_problem(AttentionDataset.build(*data))
        for alpha in ((0,) * 5, tuple(max(range(5), key=lambda t, i=i: problem.dataset.scores[i][t])
                                      for i in range(5))):
            examined = problem.examine(alpha)
            kinds.add((examined.exceptional, type(examined.proof)))
    assert (True, PrimalDual) in kinds
    assert (False, KKTEnclosure) in kinds
