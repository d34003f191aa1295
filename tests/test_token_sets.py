"""Sets of tokens: their checks, their constraints, and the projected dual."""

from fractions import Fraction

import numpy as np
import oracle
import pytest
from flint import fmpq, fmpq_mat

from conditions.dataset import AttentionDataset
from conditions.errors import InvalidInput
from conditions.separation.token_sets import Constraints, ProjectedProblem, blocks, check_sets

X = [[[1, 0], [0, 1], [1, 1]], [[2, 1], [0, 0], [1, -1]]]
Z = [[1, 2], [3, -1]]
DATA = AttentionDataset.build(X, [1, -1], Z, [1, 0])
SETS = ((0, 2), (1,))


def flat(row):
    """(x_ir − x_it) z_iᵀ for r the first token of the set, as numbers."""
    i, t = row
    return oracle.outer(oracle.minus(X[i][SETS[i][0]], X[i][t]), Z[i])


def test_sets_are_sorted_tuples():
    assert check_sets(DATA, [{2, 0}, np.array([1])]) == SETS
    assert check_sets(DATA, iter([[1], (2, 0, 1)])) == ((1,), (0, 1, 2))


@pytest.mark.parametrize(("sets", "name"), [
    ([[0]], "sets"), ([[0], [0], [0]], "sets"), ([[], [0]], "sets[0]"), ([[0], [3]], "sets[1]"),
    ([[0, 0], [1]], "sets[0]"), ([[-1], [1]], "sets[0]"), ([[0], 1], "sets[1]"),
    (["0", [1]], "sets[0]"), ([[0.0], [1]], "sets[0]"), ([[True], [1]], "sets[0]")])
def test_sets_are_refused_by_name(sets, name):
    with pytest.raises(InvalidInput) as caught:
        check_sets(DATA, sets)
    assert caught.value.name == name


def test_rows_by_hand():
    constraints = Constraints(DATA, SETS, range(2))
    assert constraints.rejected == ((0, 1), (1, 0), (1, 2))
    assert constraints.tied == ((0, 2),)
    assert Constraints(DATA, SETS, [1]).tied == ()


def test_combination_is_the_weighted_sum():
    constraints = Constraints(DATA, SETS, range(2))
    weights = {(0, 1): fmpq(1, 2), (1, 2): fmpq(3)}
    tied = {(0, 2): fmpq(-2, 3)}
    total = constraints.combination(weights, tied)
    everything = {**weights, **tied}
    expected = [sum(Fraction(int(x.p), int(x.q)) * flat(row)[k] for row, x in everything.items())
                for k in range(4)]
    assert [Fraction(str(a)) for a in total.entries()] == expected


def test_blocks_are_orthogonal_groups():
    queries = [[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 1, 1], [2, 0, 0]]
    data = AttentionDataset.build([[[1, 0, 0], [0, 0, 0]]] * 5, [1] * 5, queries, [1, 0, 0])
    # The fourth query meets the second and the third; the fifth the first.
    assert blocks(data) == [[0, 4], [1, 2, 3]]


def test_projected_gram_by_hand():
    # ψ = (1,0)−(1,1) = (0,−1), φ = (1,0)−(0,1) = (1,−1), both times (1,2) of norm² 5.
    # Pφ = φ − ψ: norm² (2 − 1)·5 = 5.
    problem = ProjectedProblem(Constraints(DATA, SETS, [0]))
    assert problem.basis == [(0, 2)]
    assert fmpq(problem.gram[0, 0]) / problem.scale == 5
    assert problem.lifted({0: fmpq(3)}) == {(0, 2): fmpq(-3)}


@pytest.mark.parametrize("seed", range(10))
def test_lifted_rows_are_orthogonal_to_all_ties(seed):
    rng = np.random.default_rng(seed)
    data = AttentionDataset.build(rng.integers(-2, 3, (2, 4, 3)).tolist(), [1, 1],
                                  rng.integers(-2, 3, (2, 3)).tolist(), [1, 0, 0])
    constraints = Constraints(data, ((0, 1, 2), (1, 3)), range(2))
    problem = ProjectedProblem(constraints)
    projected = []
    for k, row in enumerate(problem.rows):
        P = constraints.combination({row: fmpq(1)}, problem.lifted({k: fmpq(1)}))
        assert not any(constraints.features(constraints.tied).margins(P))
        projected.append(P.entries())
    inner = [[sum((a * b for a, b in zip(p, q, strict=True)), fmpq(0)) for q in projected]
             for p in projected]
    assert fmpq_mat(problem.gram) * (1 / fmpq(problem.scale)) == fmpq_mat(inner)


def test_suggestions_are_positions_or_nothing():
    problem = ProjectedProblem(Constraints(DATA, SETS, range(2)))
    assert set(problem.suggestion()) <= set(range(len(problem.rows)))
    huge = AttentionDataset.build([[["1e400"], [0], ["1e-400"]]], [1], [[1]], [1])
    assert ProjectedProblem(Constraints(huge, ((0,),), [0])).suggestion() == []
