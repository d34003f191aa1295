"""Gen-SVM over Q against brute force, Att-SVM and its own certificates."""

from __future__ import annotations

import random

import general_oracle
import oracle
import pytest
from flint import fmpq, fmpq_mat
from hypothesis import given, settings
from hypothesis import strategies as st

from conditions import AttentionDataset, InvalidInput
from conditions.certificates import Certificate
from conditions.selection import features
from conditions.separation.frobenius import Infeasible, solve_exactly
from conditions.separation.general import GenInfeasible, GenSolution, solve
from conditions.separation.token_sets import Constraints, blocks, check_sets

SHAPES = [(1, 3, 1), (1, 3, 2), (2, 2, 2), (2, 3, 1), (2, 3, 2), (3, 2, 2)]


def sampled(count=28):
    for n, T, d in SHAPES:
        seed = 100 * n + 10 * T + d
        rng = random.Random(seed)
        for data in oracle.integer_datasets(n, T, d, (-1, 0, 1), count, seed=seed):
            yield data, general_oracle.draw_sets(data, rng)
            yield data, general_oracle.draw_sets(data, rng)


CASES = list(sampled())


def fmpqs(vector):
    return [fmpq(x.numerator, x.denominator) for x in vector]


def test_agrees_with_brute_force():
    counts = {"infeasible": 0, "tied": 0, "nothing rejected": 0, "weak": 0}
    for data, sets in CASES:
        outcome = solve(AttentionDataset.build(*data), sets)
        expected = general_oracle.max_margin(data, sets)
        assert isinstance(outcome, GenInfeasible) == (expected is None)
        if expected is None:
            counts["infeasible"] += 1
            continue
        W, support = expected
        assert outcome.W.entries() == fmpqs(W)
        assert list(outcome.support) == support
        assert outcome.norm_squared == fmpqs([oracle.dot(W, W)])[0]
        counts["tied"] += bool(outcome.equality_multipliers)
        counts["nothing rejected"] += not outcome.margins
        counts["weak"] += len(outcome.support) > len(outcome.multipliers)
    assert min(counts.values()) >= 5, counts


def test_feasibility_agrees_with_elimination():
    for data, sets in CASES[::4]:
        outcome = solve(AttentionDataset.build(*data), sets)
        assert isinstance(outcome, GenSolution) == general_oracle.feasible(data, sets)


def test_multipliers_are_what_they_are_said_to_be():
    for data, sets in CASES:
        outcome = solve(AttentionDataset.build(*data), sets)
        rejected, tied = set(outcome.constraints.rejected), set(outcome.constraints.tied)
        assert set(outcome.multipliers) <= rejected and set(outcome.equality_multipliers) <= tied
        assert all(x > 0 for x in outcome.multipliers.values())
        assert all(x != 0 for x in outcome.equality_multipliers.values())
        total = sum_of(data, sets, outcome)
        if isinstance(outcome, GenInfeasible):
            assert outcome.multipliers and not any(total)
        else:
            assert total == outcome.W.entries()


def sum_of(data, sets, outcome):
    """Σ λ φ + Σ μ ψ from the definition."""
    X, _, z, _ = data
    total = [fmpq(0)] * len(data[3]) ** 2
    for (i, t), x in [*outcome.multipliers.items(), *outcome.equality_multipliers.items()]:
        row = fmpqs(oracle.outer(oracle.minus(X[i][min(sets[i])], X[i][t]), z[i]))
        total = [a + x * b for a, b in zip(total, row, strict=True)]
    return total


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.data())
def test_single_tokens_are_att_svm(draw):
    n, T, d = draw.draw(st.sampled_from([(1, 4, 2), (2, 3, 2), (3, 3, 3), (2, 2, 3)]))
    entry = st.fractions(-3, 3, max_denominator=4)
    vector = st.lists(entry, min_size=d, max_size=d)
    X = draw.draw(st.lists(st.lists(vector, min_size=T, max_size=T), min_size=n, max_size=n))
    z = draw.draw(st.lists(vector, min_size=n, max_size=n))
    alpha = tuple(draw.draw(st.integers(0, T - 1)) for _ in range(n))
    dataset = AttentionDataset.build(X, [1] * n, z, [1] * d)
    plain, general = solve_exactly(features(dataset, alpha)), solve(dataset, tuple(
        (a,) for a in alpha))
    assert isinstance(plain, Infeasible) == isinstance(general, GenInfeasible)
    if isinstance(general, GenSolution):
        assert general.W == plain.W
        assert general.support == plain.support
        assert general.norm_squared == plain.norm_squared[0]
        assert list(general.margins) == list(plain.margins)


def test_permuting_the_tokens_of_a_sample_permutes_the_support():
    rng = random.Random(3)
    for data, sets in CASES[::3]:
        X, Y, z, v = data
        orders = [rng.sample(range(len(x)), len(x)) for x in X]
        moved = [[x[p] for p in order] for x, order in zip(X, orders, strict=True)]
        places = tuple(tuple(sorted(order.index(t) for t in chosen))
                       for chosen, order in zip(sets, orders, strict=True))
        first = solve(AttentionDataset.build(*data), sets)
        second = solve(AttentionDataset.build(moved, Y, z, v), places)
        assert type(first) is type(second)
        if isinstance(first, GenSolution):
            assert first.W == second.W
            assert sorted((i, orders[i][p]) for i, p in second.support) == list(first.support)


def test_scaling_tokens_and_queries():
    for data, sets in CASES[::5]:
        X, Y, z, v = data
        scaled = AttentionDataset.build(
            [[[fmpq(3, 7) * a for a in x] for x in sample] for sample in X], Y,
            [[5 * a for a in q] for q in z], v)
        first, second = solve(AttentionDataset.build(*data), sets), solve(scaled, sets)
        assert type(first) is type(second)
        if isinstance(first, GenSolution):
            assert second.W * fmpq(15, 7) == first.W
            assert second.support == first.support


def test_certificates_survive_json_and_are_coprime():
    for data, sets in CASES[::2]:
        outcome = solve(AttentionDataset.build(*data), sets)
        assert Certificate.from_json(outcome.certificate.to_json()) == outcome.certificate
        assert outcome.certificate.sets == sets
        if isinstance(outcome, GenInfeasible):
            numbers = [x for *_, x in (*outcome.certificate.multipliers,
                                       *outcome.certificate.equality_multipliers)]
            integers = [int(x.p) for x in numbers]
            assert all(x.q == 1 for x in numbers)
            assert oracle.math.gcd(*integers) == 1


def test_separators_are_integral_with_margins_of_at_least_one():
    for data, sets in CASES[::2]:
        outcome = solve(AttentionDataset.build(*data), sets)
        if isinstance(outcome, GenSolution):
            W = fmpq_mat([list(row) for row in outcome.separator.W])
            assert all(x.q == 1 for x in W.entries())
            of = outcome.constraints
            assert all(m >= 1 for m in of.features(of.rejected).margins(W))
            assert all(m == 0 for m in of.features(of.tied).margins(W))


def test_separators_of_short_tokens_are_scaled_up():
    dataset = AttentionDataset.build([[["1/1000", 0], [0, 0]]], [1], [["1/7", 0]], [1, 0])
    outcome = solve(dataset, ((0,),))
    assert ((fmpq(7000), fmpq(0)), (fmpq(0), fmpq(0))) == outcome.separator.W
    assert outcome.norm_squared == 7000**2


def test_extreme_scales_are_decided():
    tiny, huge = fmpq(1, 10**400), fmpq(10**400)
    dataset = AttentionDataset.build(
        [[[huge, 0], [0, huge], [0, 0]], [[tiny, tiny], [0, 0]]], [1, 1], [[1, 0], [1, 0]], [1, 1])
    outcome = solve(dataset, ((0, 1), (0,)))
    w = fmpq(10**400) / 2
    assert outcome.W.entries() == [w, 0, w, 0]
    assert outcome.support == ((1, 1),)


def test_blocks_are_the_components_of_non_orthogonal_queries():
    tokens = [[1, 0, 0], [0, 1, 0]]
    z = [[1, 0, 0], [0, 1, 0], [1, 1, 0], [0, 0, 1], [0, 0, 0]]
    dataset = AttentionDataset.build([tokens] * 5, [1] * 5, z, [1, 0, 0])
    assert blocks(dataset) == [[0, 1, 2], [3], [4]]


def test_blocks_do_not_change_the_solution():
    # One-hot queries, and the same queries turned so that all meet.
    rng = random.Random(8)
    for _ in range(10):
        X = [[[rng.randint(-2, 2) for _ in range(3)] for _ in range(3)] for _ in range(3)]
        turn = [[2, 1, 2], [-2, 2, 1], [1, 2, -2]]
        plain = AttentionDataset.build(X, [1] * 3, [[3, 0, 0], [0, 3, 0], [0, 0, 3]], [1] * 3)
        turned = AttentionDataset.build(X, [1] * 3, turn, [1] * 3)
        assert len(blocks(plain)) == len(blocks(turned)) == 3
        skew = AttentionDataset.build(X, [1] * 3, [[3, 0, 0], [1, 3, 0], [0, 1, 3]], [1] * 3)
        assert len(blocks(skew)) == 1
        sets = tuple(general_oracle.draw_sets((X,), rng))
        outcomes = [solve(dataset, sets) for dataset in (plain, turned, skew)]
        assert len({type(outcome) for outcome in outcomes[:2]}) == 1
        if isinstance(outcomes[0], GenSolution):
            rotation = fmpq_mat(turn) / 3
            assert outcomes[0].W * rotation == outcomes[1].W
            # Independent queries are feasible together iff one by one.
            assert isinstance(outcomes[2], GenSolution)


def test_constraints_list_every_token_once():
    dataset = AttentionDataset.build([[[0], [1], [2], [3]], [[0], [1]]], [1, 1], [[1], [1]], [1])
    of = Constraints(dataset, ((1, 3), (0, 1)), range(2))
    assert of.rejected == ((0, 0), (0, 2))
    assert of.tied == ((0, 3), (1, 1))


@pytest.mark.parametrize(("sets", "name"), [
    ([[0]], "sets"), ([[0], [0], [0]], "sets"), ([[], [0]], "sets[0]"), ([[0], [2]], "sets[1]"),
    ([[-1], [0]], "sets[0]"), ([[0, 0], [0]], "sets[0]"), ([[True], [0]], "sets[0]"),
    ([[0.0], [0]], "sets[0]"), ([0, 1], "sets[0]"), (["0", "1"], "sets[0]")])
def test_bad_sets_are_refused(sets, name):
    dataset = AttentionDataset.build([[[1], [0]]] * 2, [1, 1], [[1], [1]], [1])
    with pytest.raises(InvalidInput) as caught:
        check_sets(dataset, sets)
    assert caught.value.name == name


def test_sets_may_come_in_any_order_and_from_numpy():
    import numpy as np

    dataset = AttentionDataset.build([[[1], [0], [2]]] * 2, [1, 1], [[1], [1]], [1])
    assert check_sets(dataset, [np.array([2, 0]), {1}]) == ((0, 2), (1,))
