"""Texts of multipliers, checked by fractions."""

import itertools

import direction_trees
import numpy as np
import pytest

from conditions import AttentionDataset
from conditions.enumeration.batch import WIDTHS, batch
from conditions.enumeration.problem import local_optimality_problem, optimal_support_problem

PROBLEMS = {"local_optimality": local_optimality_problem, "assumption_d": optimal_support_problem}


@pytest.mark.parametrize("about", PROBLEMS)
@pytest.mark.parametrize("shape", [(2, 3, 2), (3, 3, 4), (2, 4, 3)])
def test_every_text_closes_its_selection(about, shape):
    closed = left = 0
    for data in itertools.chain(direction_trees.float_datasets(*shape, 3, seed=1),
                                direction_trees.integer_datasets(*shape, 7, seed=2)):
        dataset = AttentionDataset.build(*data)
        problem = PROBLEMS[about](dataset)
        tables = batch(dataset, sorted(problem.tested))
        if tables is None:
            continue
        selections = list(itertools.product(*map(range, dataset.lengths)))
        for alpha, text in zip(selections, tables.close(selections), strict=True):
            if text is None:
                left += 1
                continue
            closed += 1
            tested = direction_trees.tested_rows(dataset, alpha, about)
            assert direction_trees.closes(data, alpha, tested, text)
            assert not direction_trees.exceptional(dataset, alpha, about)
            assert int(text[0], 16) in WIDTHS
    assert min(closed, left) > 10


def test_tables_by_hand():
    # Tokens 1, 2 with query 3 and tokens 1, −1 with query 1: B = (x x')(z z').
    dataset = AttentionDataset.build([[[1], [2]], [[1], [-1]]], [1, 1], [[3], [1]], [1])
    tables = batch(dataset, [(0, 1, 0)])
    assert tables.gram.tolist() == [[9, 18, 3, -3], [18, 36, 6, -6], [3, 6, 1, -1],
                                    [-3, -6, -1, 1]]
    assert tables.starts.tolist() == [0, 2, 4]
    assert np.argwhere(tables.tested).tolist() == [[1, 0]]


def test_nothing_kept_is_closed_by_the_tested_rows_alone():
    dataset = AttentionDataset.build([[[1], [0]]], [1], [[1]], [1])
    # Token 1 selected: token 0 is tested and there is no other row.
    assert batch(dataset, [(0, 1, 0)]).close([(1,)]) == ["1"]
    # Nothing is tested: the selection is exceptional or infeasible, and stays open.
    assert batch(dataset, []).close([(1,)]) == [None]


def test_a_selection_by_itself_has_the_text_of_the_batch():
    data = next(direction_trees.float_datasets(3, 3, 4, 1, seed=5))
    dataset = AttentionDataset.build(*data)
    tables = batch(dataset, sorted(local_optimality_problem(dataset).tested))
    selections = list(itertools.product(range(3), repeat=3))
    together = tables.close(selections)
    alone = [tables.close([alpha])[0] for alpha in selections]
    assert [t is None for t in together] == [t is None for t in alone]


def test_entries_out_of_range_have_no_tables():
    small = AttentionDataset.build([[["1e-40"], [0]]], [1], [[1]], [1])
    large = AttentionDataset.build([[["1e40"], [0]]], [1], [[1]], [1])
    zero = AttentionDataset.build([[[0], [0]]], [1], [[1]], [1])
    assert all(batch(data, []) is None for data in (small, large, zero))
