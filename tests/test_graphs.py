"""Selection graphs, their cycles and their orders, against exact arithmetic."""

from __future__ import annotations

import json
import random

import networkx as nx
import oracle
import pytest
from flint import fmpq, fmpq_mat

from conditions.certificates import Certificate, QueryCycle, TopologicalOrder
from conditions.dataset import AttentionDataset
from conditions.errors import InvalidInput
from conditions.graphs import (
    EdgeSolution,
    components,
    cycle_certificate,
    independence_modulus,
    merged_tokens,
    order_certificate,
    query_rays,
    selection_graph,
)
from conditions.selection import features
from verifier.kernel import check_text

E = [[int(a == b) for b in range(4)] for a in range(4)]


def build(X, z, Y=None, v=None):
    d = len(z[0])
    return AttentionDataset.build(X, Y or [1] * len(X), z, v or [1] + [0] * (d - 1))


def test_the_graph_of_a_small_dataset():
    data = build([[E[0], E[1]], [E[1], E[2], E[0]]], [[2, 0, 0, 0], ["1/3", 0, 0, 0]],
                 Y=[1, -1], v=[3, 1, 1, 0])
    graph = selection_graph(data, (0, 1))
    assert graph.graph["selection"] == (0, 1)
    assert graph.graph["query_classes"] == 1
    assert list(graph.nodes) == [(0, 0), (0, 1), (1, 1)]
    assert graph.nodes[0, 0] == {"vector": ("1", "0", "0", "0"), "members": [(0, 0), (1, 2)],
                                 "selected_by": [0]}
    assert graph.nodes[1, 1]["selected_by"] == [1]
    edges = {key: (a, b, attributes) for a, b, key, attributes in graph.edges(keys=True, data=True)}
    assert set(edges) == {(0, 1), (1, 0), (1, 2)}
    assert edges[1, 2][:2] == ((1, 1), (0, 0))
    assert edges[1, 2][2] == {"sample": 1, "token": 2, "query_class": 0, "weight": fmpq(1, 6),
                              "score_gap": fmpq(2), "better": False, "tied": False}
    assert edges[0, 1][2]["score_gap"] == 2
    assert edges[1, 0][2]["tied"] is True and edges[1, 0][2]["better"] is False


def test_better_tokens_and_a_solution():
    data = build([[E[0], E[1], E[2]]], [E[0]], v=[1, "3/2", 0, 0])
    solution = {(0, 1): EdgeSolution("1", 0.25, True), (0, 2): EdgeSolution(1.5, 0.0, False)}
    graph = selection_graph(data, [0], solution)
    edge = graph.edges[(0, 0), (0, 1), (0, 1)]
    assert edge["score_gap"] == fmpq(-1, 2) and edge["better"] is True
    assert (edge["margin"], edge["multiplier"], edge["support"]) == ("1", 0.25, True)
    assert graph.edges[(0, 0), (0, 2), (0, 2)]["support"] is False
    with pytest.raises(InvalidInput, match="solution"):
        selection_graph(data, [0], {(0, 1): EdgeSolution(1.0, 0.25, True)})


def test_equal_vectors_are_merged_however_they_are_spelled():
    data = build([[["1/2", 0], [0.5, 0]], [[0, 1], ["0x1p-1", 0]]], [[1, 0], [1, 0]])
    graph = selection_graph(data, (0, 0))
    assert graph.nodes[0, 0]["members"] == [(0, 0), (0, 1), (1, 1)]
    assert graph.number_of_nodes() == 2 and graph.number_of_edges() == 2


def test_parallel_edges_stay_apart():
    data = build([[E[0], E[1]], [E[0], E[1]]], [E[0], E[1]])
    graph = selection_graph(data, (0, 0))
    assert graph.number_of_edges((0, 0), (0, 1)) == 2
    assert {c for _, _, c in graph.edges(data="query_class")} == {0, 1}


def test_query_rays_join_positive_multiples_only():
    data = build([[E[0], E[1]]] * 5,
                 [[2, -4, 0, 0], ["1/3", "-2/3", 0, 0], [-1, 2, 0, 0], [0] * 4, [0] * 4])
    rays = query_rays(data)
    assert [ray.samples for ray in rays] == [(0, 1), (2,), (3, 4)]
    assert rays[0].direction == (1, -2, 0, 0) and rays[0].weights == (1, fmpq(1, 6))
    assert [ray.zero for ray in rays] == [False, False, True]
    assert rays[2].weights == (1, 1)


CYCLES = {
    "duplicate token, a self-loop": ([[E[0], E[1], E[0]]], [E[0]], (0,), ((0, 2),)),
    "two samples that disagree": (
        [[E[0], E[1]], [E[1], E[0]]], [E[2], E[2]], (0, 0), ((0, 1), (1, 1))),
    "three samples, queries on one ray": (
        [[E[0], E[1]], [E[3], E[1], E[2]], [E[0], E[2]]],
        [[0, 2, 2, 0], [0, 1, 1, 0], [0, "3/2", "3/2", 0]], (0, 1, 1),
        ((0, 1), (1, 2), (2, 0))),
    "the shorter of two": (
        [[E[0], E[1], E[3]], [E[1], E[2]], [E[2], E[0]], [E[3], E[0]]], [E[0]] * 4,
        (0, 0, 0, 0), ((0, 2), (3, 1))),
    "the second class, its own cycle": (
        [[E[0], E[1]], [E[2], E[3]], [E[3], E[2]]], [E[0], E[1], E[1]], (0, 0, 0),
        ((1, 1), (2, 1))),
}


@pytest.mark.parametrize("case", CYCLES.values(), ids=CYCLES.keys())
def test_cycles(case):
    X, z, selection, edges = case
    data = build(X, z)
    cycle = cycle_certificate(data, selection)
    assert cycle == QueryCycle(edges)
    assert Certificate.from_json(cycle.to_json()) == cycle
    assert telescopes(data, selection, cycle)
    assert order_certificate(data, selection) is None


NO_CYCLES = {
    "other queries": ([[E[0], E[1]], [E[1], E[0]]], [E[2], E[3]], (0, 0)),
    "opposite queries": ([[E[0], E[1]], [E[1], E[0]]], [[1, 0, 0, 0], [-1, 0, 0, 0]], (0, 0)),
    "zero queries": ([[E[0], E[0]], [E[0], E[1]], [E[1], E[0]]], [[0] * 4] * 3, (0, 0, 0)),
    "a diamond": ([[E[0], E[1], E[2]], [E[1], E[3]], [E[2], E[3]]], [E[0]] * 3, (0, 0, 0)),
    "duplicates among the rejected": ([[E[0], E[1], E[1]]], [E[0]], (0,)),
}


@pytest.mark.parametrize("case", NO_CYCLES.values(), ids=NO_CYCLES.keys())
def test_no_cycle(case):
    X, z, selection = case
    assert cycle_certificate(build(X, z), selection) is None


def test_an_order_for_each_query():
    data = build([[E[0], E[1], E[2]], [E[3], E[0]], [E[1], E[0]]], [E[0], E[0], [0, 1, 0, 0]])
    order = order_certificate(data, (1, 0, 1))
    assert isinstance(order, TopologicalOrder) and order.modulus == 2**61 - 1
    assert [c.samples for c in order.classes] == [(0, 1), (2,)]
    assert order.classes[0].order == ((0, 1), (0, 2), (1, 0), (0, 0))
    assert order.classes[1].order == ((2, 1), (2, 0))
    assert Certificate.from_json(order.to_json()) == order
    assert separates(data, (1, 0, 1), order)


NO_ORDERS = {
    "dependent tokens": ([[E[0], E[1]], [E[2], [1, 1, 0, 0]]], [E[0], E[1]], (0, 0)),
    "more tokens than dimensions": ([[[1, 0], [0, 1], [1, 1]]], [[1, 0]], (0,)),
    "dependent queries": ([[E[0], E[1]]] * 3, [E[0], E[1], [1, 1, 0, 0]], (0, 0, 0)),
    "multiple queries": ([[E[0], E[1]]] * 2, [E[0], [2, 0, 0, 0]], (0, 0)),
    "zero query": ([[E[0], E[1]]], [[0] * 4], (0,)),
    "a cycle": ([[E[0], E[1]], [E[1], E[0]]], [E[0], E[0]], (0, 0)),
}


@pytest.mark.parametrize("case", NO_ORDERS.values(), ids=NO_ORDERS.keys())
def test_no_order(case):
    X, z, selection = case
    assert order_certificate(build(X, z), selection) is None


def test_the_modulus_avoids_primes_that_divide_the_determinant():
    p = 2**61 - 1
    tokens = [(fmpq(p), fmpq(0)), (fmpq(0), fmpq(1))]
    modulus = independence_modulus(tokens)
    assert modulus is not None and modulus < p
    assert pow(3, modulus - 1, modulus) == 1
    assert independence_modulus([(fmpq(1, p), fmpq(0)), (fmpq(0), fmpq(1))]) == p
    assert independence_modulus(tokens, [(fmpq(1), fmpq(2)), (fmpq(2), fmpq(4))]) is None


def test_components_are_candidates_for_joint_selection():
    data = build([[E[0], E[1], E[2]], [E[1], E[0]], [E[3], E[0]]], [E[0], [2, 0, 0, 0], E[1]])
    assert components(data, (0, 0, 0)) == (
        (((0, 0), (0, 1), (1, 0), (1, 1)), ((0, 2),)),
        (((2, 0),), ((2, 1),)))


def test_a_selection_that_does_not_fit_is_refused():
    data = build([[E[0], E[1]]], [E[0]])
    for function in (selection_graph, cycle_certificate, order_certificate, components):
        with pytest.raises(InvalidInput, match="selection"):
            function(data, (2,))


# Random datasets -----------------------------------------------------------------------------


def telescopes(data, selection, cycle):
    """Whether the edges of *cycle* join up and Σ φ_it / w_i = 0 exactly."""
    nodes = merged_tokens(data)
    weights = {i: w for ray in query_rays(data)
               for i, w in zip(ray.samples, ray.weights, strict=True)}
    following = [*cycle.edges[1:], cycle.edges[0]]
    joined = all(nodes[edge] == nodes[i, selection[i]]
                 for edge, (i, _) in zip(cycle.edges, following, strict=True))
    total = fmpq_mat(data.d, data.d)
    for i, t in cycle.edges:
        delta = fmpq_mat([[a - b for a, b in zip(data.tokens[i][selection[i]], data.tokens[i][t],
                                                 strict=True)]])
        total += delta.transpose() * fmpq_mat([list(data.queries[i])]) * (1 / weights[i])
    return joined and total == fmpq_mat(data.d, data.d)


def separates(data, selection, order):
    """Whether the W whose values fall by 1 along every order has all margins ≥ 1."""
    nodes = merged_tokens(data)
    tokens = [row for row, node in nodes.items() if row == node]
    values = [[fmpq(0)] * len(order.classes) for _ in tokens]
    for c, query_class in enumerate(order.classes):
        for position, row in enumerate(query_class.order):
            values[tokens.index(nodes[row])][c] = fmpq(-position)
    U = fmpq_mat([list(data.tokens[i][t]) for i, t in tokens])
    Q = fmpq_mat([list(data.queries[c.samples[0]]) for c in order.classes])
    left = U.transpose() * (U * U.transpose()).inv()
    W = left * fmpq_mat(values) * (Q * Q.transpose()).inv() * Q
    return all(m >= 1 for m in features(data, tuple(selection)).margins(W))


def random_dataset(rng):
    """Tokens and queries drawn from small pools, so that samples share them."""
    d = rng.choice([2, 3, 4, 5])
    n = rng.randint(1, 4)
    pool = [[rng.randint(-1, 1) for _ in range(d)] for _ in range(rng.randint(2, d))]
    rays = [[rng.randint(-1, 1) for _ in range(d)] for _ in range(rng.randint(1, 2))]
    X = [[rng.choice(pool) for _ in range(rng.randint(2, 3))] for _ in range(n)]
    z = [[k * a for a in rng.choice(rays)] for k in rng.choices([1, 1, 1, 2, -1], k=n)]
    data = AttentionDataset.build(X, rng.choices([1, -1], k=n), z,
                                  [rng.randint(-2, 2) for _ in range(d)])
    return data, (X, data.labels, z, [int(a) for a in data.head]), tuple(
        rng.randrange(T) for T in data.lengths)


def test_certificates_of_random_datasets():
    rng = random.Random(20230831)
    counts = {"cycle": 0, "order": 0, "neither": 0}
    for _ in range(600):
        data, _, selection = random_dataset(rng)
        cycle, order = cycle_certificate(data, selection), order_certificate(data, selection)
        assert cycle is None or order is None
        if cycle is not None:
            counts["cycle"] += 1
            assert telescopes(data, selection, cycle)
        elif order is not None:
            counts["order"] += 1
            assert separates(data, selection, order)
        else:
            counts["neither"] += 1
    assert min(counts.values()) >= 60, counts


def test_the_checker_accepts_the_certificates():
    rng = random.Random(4)
    kinds = {"query_cycle": 0, "topological_order": 0}
    for _ in range(200):
        data, (X, Y, z, v), selection = random_dataset(rng)
        order = order_certificate(data, selection)
        certificate = order or cycle_certificate(data, selection)
        if certificate is None:
            continue
        document = {
            "format": "attsvm-certificate", "version": 1, "run": None,
            "dataset": {"X": X, "Y": list(Y), "z": z, "v": v},
            "verdicts": [{"condition": "feasibility", "selection": selection, "loss": None,
                          "status": "holds" if order else "fails", "evidence": "exact",
                          "certificate": certificate.to_json(), "reason": ""}]}
        result = check_text(json.dumps(document))
        assert result.accepted, result.lines()
        assert result.counts["proved"] == 1
        kinds[certificate.kind] += 1
    assert min(kinds.values()) >= 20, kinds


def test_cycles_are_found_and_shortest():
    """Against all simple cycles of each class, taken from the selection graph itself."""
    rng = random.Random(7)
    found = 0
    for _ in range(300):
        data, _, selection = random_dataset(rng)
        graph = selection_graph(data, selection)
        lengths = []
        for c, ray in enumerate(graph.graph["rays"]):
            edges = [(a, b) for a, b, k in graph.edges(data="query_class") if k == c]
            if not ray.zero:
                lengths += map(len, nx.simple_cycles(nx.DiGraph(edges)))
        cycle = cycle_certificate(data, selection)
        assert (len(cycle.edges) if cycle else None) == min(lengths, default=None)
        found += cycle is not None
    assert 60 <= found <= 240


def test_verdicts_of_the_graph_agree_with_brute_force():
    rng = random.Random(11)
    decided = 0
    for _ in range(150):
        data, plain, selection = random_dataset(rng)
        if sum(data.lengths) - data.n > 5:
            continue
        cycle, order = cycle_certificate(data, selection), order_certificate(data, selection)
        if cycle or order:
            decided += 1
            assert oracle.feasible(plain, selection) is (order is not None)
    assert decided >= 40
