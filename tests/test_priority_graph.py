"""Token-priority graphs and Graph-SVM: definitions, feasibility, and the checker."""

from __future__ import annotations

import itertools
import random

import numpy as np
import oracle
import pytest
from test_gen_feasibility import checked

from conditions import AttentionDataset, InvalidInput, gen_feasibility, multi_token_support
from conditions.priority_graph import NextTokenData, graph_svm, training_set
from conditions.separation.general import GenInfeasible, solve
from conditions.separation.token_sets import check_sets

EYE = np.eye(4, dtype=int)
# After token 0 labels 1 and 2 win over each other and over 0 and 3; after 3, 2 beats 1 beats 0.
INPUTS = [[1, 2, 3, 0], [1, 2, 0], [3, 1, 0], [2, 1, 3], [1, 0, 3]]
LABELS = [1, 2, 1, 2, 1]


def reachable(edges, tokens):
    """{(i, j)} with a path from i to j, by Warshall's algorithm."""
    paths = set(edges)
    for k, i, j in itertools.product(tokens, repeat=3):
        if (i, k) in paths and (k, j) in paths:
            paths.add((i, j))
    return paths


def definition(data):
    """Per last token the pairs of Graph-SVM: equal, and strictly above, by paths."""
    found = {}
    for last in sorted({s[-1] for s in data.inputs}):
        edges = {(y, t) for s, y in zip(data.inputs, data.labels, strict=True)
                 if s[-1] == last for t in s if t != y}
        paths = reachable(edges, {t for edge in edges for t in edge})
        equal = {(i, j) for i, j in paths if i != j and (j, i) in paths}
        found[last] = equal, {pair for pair in paths if pair[0] != pair[1]} - equal
    return found


def random_data(rng, K=4, samples=6, embeddings=None):
    inputs = [[rng.randrange(K) for _ in range(rng.randint(1, 4))] for _ in range(samples)]
    labels = [rng.randrange(K) for _ in range(samples)]
    table = EYE[:K, :K] if embeddings is None else embeddings
    return NextTokenData.build(inputs, labels, table)


def test_graphs_of_a_small_example():
    data = NextTokenData.build(INPUTS, LABELS, EYE)
    zero, three = data.graphs
    assert (zero.last, three.last) == (0, 3)
    assert set(zero.graph.edges) == {(1, 2), (1, 3), (1, 0), (2, 1), (2, 0)}
    assert zero.components == ((1, 2), (0,), (3,)) and not zero.acyclic
    assert set(three.graph.edges) == {(2, 1), (2, 3), (1, 0), (1, 3)}
    assert three.components == ((2,), (1,), (0,), (3,)) and three.acyclic
    assert data.labels_in_inputs == 5


def test_components_are_mutual_reachability_in_topological_order():
    rng = random.Random(1)
    cyclic = 0
    for _ in range(60):
        data = random_data(rng)
        for graph in data.graphs:
            equal, above = definition(data)[graph.last]
            place = {t: c for c, members in enumerate(graph.components) for t in members}
            assert sorted(place) == sorted(graph.graph)
            assert {(i, j) for i in place for j in place
                    if i != j and place[i] == place[j]} == equal
            assert all(place[i] < place[j] for i, j in above)
            assert graph.acyclic == (not equal)
            cyclic += not graph.acyclic
    assert cyclic > 10


def pair_rows(data, pairs, last):
    e = data.embeddings
    return [oracle.outer(oracle.minus([int(x) for x in e[i]], [int(x) for x in e[j]]),
                         [int(x) for x in e[last]]) for i, j in sorted(pairs)]


def test_feasibility_is_that_of_the_definition_by_paths():
    rng = random.Random(2)
    counts = {True: 0, False: 0}
    for _ in range(60):
        table = [[rng.randint(-1, 2) for _ in range(2)] for _ in range(3)]
        data = random_data(rng, K=3, samples=4, embeddings=table)
        weak, strict = [], []
        for last, (equal, above) in definition(data).items():
            weak += pair_rows(data, equal, last)
            strict += pair_rows(data, above, last)
        if not weak + strict:
            continue
        svm = graph_svm(data)
        verdict = gen_feasibility.decide(svm.dataset, svm.sets)
        assert verdict.holds == oracle.eliminate(weak, strict)
        counts[verdict.holds] += 1
        checked(svm.dataset, verdict)
    assert min(counts.values()) >= 8, counts


def test_independent_embeddings_are_always_feasible():
    rng = random.Random(3)
    table = [[1, 0, 2, 0], [1, 1, 0, 0], [0, 3, 1, 0], [1, 1, 1, -1]]
    for _ in range(25):
        data = random_data(rng, embeddings=table)
        svm = graph_svm(data)
        assert gen_feasibility.decide(svm.dataset, svm.sets).holds
        verdict = multi_token_support.decide(svm.dataset, svm.sets)
        assert verdict.holds
        checked(svm.dataset, verdict)


def test_solution_meets_the_definition():
    data = NextTokenData.build(INPUTS, LABELS, EYE)
    svm = graph_svm(data)
    W = gen_feasibility.decide(svm.dataset, svm.sets).certificate.W
    for last, (equal, above) in definition(data).items():
        assert all(W[i][last] == W[j][last] for i, j in equal)
        assert all(W[i][last] - W[j][last] >= 1 for i, j in above)


def test_one_sample_for_each_last_token_and_component_that_covers_another():
    data = NextTokenData.build([*INPUTS, INPUTS[0]], [*LABELS, LABELS[0]], EYE)
    assert [graph.covers for graph in data.graphs] == [((1, 2), (), ()), ((1,), (2, 3), (), ())]
    svm = graph_svm(data)
    # The edge 2 → 3 of the second graph follows from 2 → 1 → 3.
    assert svm.origins == ((0, (1, 2, 0, 3)), (3, (2, 1)), (3, (1, 0, 3)))
    assert svm.sets == ((0, 1), (0,), (0,))
    assert svm.dataset.queries[0] == (1, 0, 0, 0)
    assert svm.dataset.tokens[1] == ((0, 0, 1, 0), (0, 1, 0, 0))


def by_edges(data):
    """Graph-SVM with a sample per last token and label and a row per edge of the graphs."""
    samples, queries, sets = [], [], []
    for last, (equal, _) in definition(data).items():
        edges = {(y, t) for s, y in zip(data.inputs, data.labels, strict=True)
                 if s[-1] == last for t in s if t != y}
        for label in sorted({y for y, _ in edges}):
            tokens = [label, *sorted(t for y, t in edges if y == label)]
            samples.append([data.embeddings[t] for t in tokens])
            queries.append(data.embeddings[last])
            sets.append([p for p, t in enumerate(tokens) if t == label or (label, t) in equal])
    dataset = AttentionDataset.build(samples, [1] * len(samples), queries, [0] * data.d)
    return solve(dataset, check_sets(dataset, sets))


def test_reduction_has_the_solution_of_all_edges():
    rng = random.Random(5)
    counts = {True: 0, False: 0}
    for _ in range(60):
        table = [[rng.randint(-1, 2) for _ in range(2)] for _ in range(4)]
        data = random_data(rng, samples=5, embeddings=table)
        if all(set(s) <= {y} for s, y in zip(data.inputs, data.labels, strict=True)):
            continue
        svm = graph_svm(data)
        reduced, full = solve(svm.dataset, svm.sets), by_edges(data)
        assert isinstance(reduced, GenInfeasible) == isinstance(full, GenInfeasible)
        counts[isinstance(full, GenInfeasible)] += 1
        if not isinstance(full, GenInfeasible):
            assert reduced.W == full.W
    assert min(counts.values()) >= 8, counts


def test_only_cycles_mean_no_rejected_token():
    data = NextTokenData.build([[1, 2], [1, 2]], [1, 2], EYE)
    svm = graph_svm(data)
    verdict = multi_token_support.decide(svm.dataset, svm.sets)
    assert verdict.holds and verdict.number == "W^mm = 0"


def test_equal_embeddings_of_unequal_priority_are_infeasible():
    data = NextTokenData.build([[0, 1]], [0], [[1, 2], [1, 2]])
    svm = graph_svm(data)
    verdict = gen_feasibility.decide(svm.dataset, svm.sets)
    assert verdict.fails and verdict.certificate.multipliers == ((0, 1, 1),)


def test_prefixes():
    data = NextTokenData.prefixes([[0, 1, 2], [3], [2, 2]], EYE)
    assert data.inputs == ((0,), (0, 1), (2,))
    assert data.labels == (1, 2, 2)
    assert data.labels_in_inputs == 1
    assert data.origins == ((0, 0), (0, 1), (2, 0))


@pytest.mark.parametrize(("context", "inputs"), [
    (None, ((0,), (0, 1), (0, 1, 2), (0, 1, 2, 3))), (1, ((0,), (1,), (2,), (3,))),
    (2, ((0,), (0, 1), (1, 2), (2, 3))), (9, ((0,), (0, 1), (0, 1, 2), (0, 1, 2, 3)))])
def test_context_keeps_the_last_tokens(context, inputs):
    data = NextTokenData.prefixes([[0, 1, 2, 3, 0]], EYE, context)
    assert data.inputs == inputs and data.labels == (1, 2, 3, 0)
    with pytest.raises(InvalidInput, match="at least 1"):
        NextTokenData.prefixes([[0, 1]], EYE, 0)


def test_completion_keeps_the_graphs_and_puts_every_label_inside():
    rng = random.Random(6)
    changed = 0
    for _ in range(40):
        data = random_data(rng)
        full = data.completed()
        assert full.labels_in_inputs == len(full.inputs)
        changed += full.inputs != data.inputs
        for one, other in zip(data.graphs, full.graphs, strict=True):
            assert one.last == other.last
            assert set(one.graph) == set(other.graph)
            assert set(one.graph.edges) == set(other.graph.edges)
        assert full.completed().inputs == full.inputs
    assert changed > 20


def test_inputs_without_their_label_can_be_left_out():
    data = NextTokenData.prefixes([[0, 1, 0, 2], [3, 3]], EYE)
    kept = data.with_labels_inside()
    assert kept.inputs == ((0, 1), (3,)) and kept.labels == (0, 3)
    assert kept.origins == ((0, 1), (1, 0))
    with pytest.raises(InvalidInput, match="label occurs"):
        NextTokenData.prefixes([[0, 1, 2]], EYE).with_labels_inside()


def test_training_set_keeps_inputs_with_their_label():
    data = NextTokenData.build([*INPUTS, [0, 3], [3]], [*LABELS, 1, 3], EYE)
    kept = training_set(data)
    assert kept.kept == (0, 1, 2, 3, 4)
    assert kept.dataset.lengths == (4, 3, 3, 3, 3)
    # After 0, tokens 1 and 2 are equal; the label alone counts for the loss.
    assert kept.sets == ((0, 1), (0, 1), (1,), (0,), (0,))
    assert kept.positions == ((0,), (1,), (1,), (0,), (0,))
    sequences = training_set(NextTokenData.prefixes([[0, 1, 0, 1, 2], [3, 2, 3]], EYE))
    assert sequences.dataset.origins == ((0, 1), (0, 2), (1, 1))
    repeated = training_set(NextTokenData.build([[1, 0, 1, 0]], [1], EYE))
    assert repeated.positions == repeated.sets == ((0, 2),)


@pytest.mark.parametrize(("inputs", "labels", "embeddings", "name"), [
    ([[0]], [0], [], "embeddings"), ([[0]], [0], [[]], "embeddings"),
    ([[0, 1]], [0], [[1], [1, 2]], "embeddings"), ([[0]], [0], [["x"]], "embeddings[0][0]"),
    ([[0], []], [0, 0], [[1]], "inputs[1]"), ([[1]], [0], [[1]], "inputs[0]"),
    ([[True]], [0], [[1]], "inputs[0]"), (["0"], [0], [[1]], "inputs[0]"),
    ([0], [0], [[1]], "inputs[0]"), ([[0]], [-1], [[1]], "labels"),
    ([[0]], [0, 0], [[1]], "labels"), ([[0]], [0.0], [[1]], "labels")])
def test_bad_data_are_refused(inputs, labels, embeddings, name):
    with pytest.raises(InvalidInput) as caught:
        NextTokenData.build(inputs, labels, embeddings)
    assert caught.value.name == name


def test_data_without_constraints_are_refused():
    data = NextTokenData.build([[0], [1, 1]], [0, 1], EYE)
    with pytest.raises(InvalidInput, match="not its label"):
        graph_svm(data)
    with pytest.raises(InvalidInput, match="at least two"):
        NextTokenData.prefixes([[0], [1]], EYE)
    with pytest.raises(InvalidInput, match="holds its label"):
        training_set(NextTokenData.build([[0], [1, 2]], [0, 0], EYE))
