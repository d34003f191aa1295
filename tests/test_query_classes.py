"""Relations between the rows of proportional queries, against ranks of whole features."""

from fractions import Fraction

import numpy as np
import oracle
import pytest
from flint import fmpz, fmpz_mat

from conditions.dataset import AttentionDataset
from conditions.separation.query_classes import QueryClasses, Span
from conditions.separation.token_sets import Constraints

# Queries q, -2q/3 and another one; ties (0, 0, -1), (0, 0, 2) and 0 in the first class.
X = [[[1, 1, 0], [0, 1, 0], [-1, 2, 0], [1, 1, 1], [1, 1, -2]],
     [[0, 1, 0], [0, 0, 0], [0, 1, 0]],
     [["1/2", -1, 0], [0, 0, 0], ["3/2", 0, 0]],
     [[1, 0, 0], [0, 0, 0]]]
DATA = AttentionDataset.build(X, [1] * 4, [[3, 0, 0], [3, 0, 0], [-2, 0, 0], [0, 1, 0]],
                              [1, 1, 1])
SETS = ((0, 3, 4), (0, 2), (0,), (0,))
CLASSES = QueryClasses(Constraints(DATA, SETS, range(4)))


def test_queries_by_hand():
    first, other = (fmpz(1), fmpz(0), fmpz(0)), (fmpz(0), fmpz(1), fmpz(0))
    assert CLASSES.queries == {0: first, 1: first, 2: first, 3: other}
    assert CLASSES.contents == {0: 3, 1: 3, 2: -2, 3: 1}


def test_zero_queries_are_in_no_class():
    data = AttentionDataset.build([[[1], [0]]] * 2, [1, 1], [[0], [2]], [1])
    classes = QueryClasses(Constraints(data, ((0,), (0, 1)), range(2)))
    assert classes.contents == {1: 2} and classes.ties == ((1, 1),)
    assert classes.split([(0, 1), (1, 1)]) == {(fmpz(1),): [(1, 1)]}


def test_ties_are_a_basis_of_each_class():
    assert CLASSES.ties == ((0, 3),)


def test_dependent_rows_are_left_out_in_the_order_given():
    # (1, 0, 0), (2, -1, 0) and, with -2/3 of the query, (1/2, -1, 0): two dimensions.
    assert CLASSES.independent([(0, 1), (0, 2), (2, 1), (3, 1)]) == [(0, 1), (0, 2), (3, 1)]
    assert CLASSES.independent([(2, 1), (0, 2), (0, 1)]) == [(2, 1), (0, 2)]


def test_margins_of_one_that_follow():
    # (1, 0, 0)·3 and (0, 1, 0)·3 give (2, -1, 0)·3, of weights 2 - 1 = 1. The third sample's
    # (-1, 2, 0) and (2, 2, 0) would need the same query: (-1/3, 2/3) has the sum 1/3.
    assert CLASSES.determined([(0, 1), (1, 1)]) == [(0, 2)]
    assert CLASSES.determined([(3, 1)]) == []


def test_span_by_hand():
    span = Span.of([[fmpz(2), fmpz(4), fmpz(0)], [fmpz(0), fmpz(0), fmpz(3)]])
    assert span.contains([fmpz(-1), fmpz(-2), fmpz(5)])
    assert not span.contains([fmpz(1), fmpz(1), fmpz(0)])
    y = span.orthogonal([fmpz(7), fmpz(1), fmpz(9)])
    assert y[2] == 0 and y[0] == -2 * y[1] and y[1] > 0
    empty = Span.of([])
    assert empty.contains([fmpz(0)]) and not empty.contains([fmpz(1)])
    assert empty.orthogonal([fmpz(3), fmpz(4)]) == [3, 4]


@pytest.mark.parametrize("seed", range(8))
def test_spans_agree_with_ranks(seed):
    rng = np.random.default_rng(seed)
    table = [[fmpz(int(a)) for a in row] for row in rng.integers(-2, 3, (3, 5))]
    table.append([a - 2 * b for a, b in zip(table[0], table[1], strict=True)])
    span, rank = Span.of(table), fmpz_mat(table).rank()
    assert len(span.pivots) == rank
    for _ in range(10):
        vector = [fmpz(int(a)) for a in rng.integers(-2, 3, 5)]
        assert span.contains(vector) == (fmpz_mat([*table, vector]).rank() == rank)
        y = span.orthogonal(vector)
        assert not any((fmpz_mat(table) * fmpz_mat([[a] for a in y])).entries())
        assert all(y[k] == span.head * vector[k] for k in range(5) if k not in span.pivots)


@pytest.mark.parametrize("seed", range(12))
def test_what_follows_agrees_with_whole_features(seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(-1, 2, (3, 4, 2)).tolist()
    z = [[1, 1], [-2, -2], [1, 0]]
    sets = ((0, 1), (2,), (0, 3))
    data = AttentionDataset.build(X, [1] * 3, z, [1, 1])
    of = Constraints(data, sets, range(3))
    classes = QueryClasses(of)

    def flat(row, margin):
        i, t = row
        feature = oracle.outer(oracle.minus(X[i][sets[i][0]], X[i][t]), z[i])
        return [Fraction(a) for a in (*feature, margin)]

    kept = classes.independent(of.rejected)
    found = set(classes.determined(kept))
    assert not found & set(kept)
    for members in ((0, 1), (2,)):
        ties = [flat(row, 0) for row in of.tied if row[0] in members]
        basis = [flat(row, 0) for row in classes.ties if row[0] in members]
        mine = [flat(row, 1) for row in kept if row[0] in members]
        every = [flat(row, 1) for row in of.rejected if row[0] in members]
        assert oracle.rank(ties) == oracle.rank(basis) == len(basis)
        whole = [row[:-1] for row in (*basis, *mine)]
        assert oracle.rank(whole) == len(whole) == oracle.rank(
            [row[:-1] for row in (*ties, *every)])
        for row in of.rejected:
            if row[0] in members and row not in kept:
                follows = bool(mine) and (oracle.rank([*basis, *mine, flat(row, 1)])
                                          == oracle.rank([*basis, *mine]))
                assert (row in found) == follows


def test_dual_vectors():
    dual = CLASSES.dual
    for query, p in dual.items():
        products = [sum(int(a) * int(b) for a, b in zip(p, other, strict=True)) for other in dual]
        assert [x > 0 for x in products] == [other == query for other in dual]
        assert all(x == 0 for x, other in zip(products, dual, strict=True) if other != query)


def test_dependent_queries_have_no_dual():
    data = AttentionDataset.build([[[1, 0], [0, 0]]] * 3, [1] * 3, [[1, 0], [0, 1], [1, 1]],
                                  [1, 1])
    assert QueryClasses(Constraints(data, ((0,),) * 3, range(3))).dual is None
