"""Selection graphs: what one selection asks of the tokens that samples share.

The nodes are the distinct token vectors; each rejected token t of sample i is an edge from the
selected token x_{iα_i} to x_it, to be met by ⟨φ_it, W⟩ > 0. Edges whose queries are positive
multiples of each other speak of one function x ↦ xᵀWz, so a directed cycle among them asks that
function to fall all the way round: no W does. Where the distinct tokens and the distinct queries
are independent, every such function can be prescribed, and acyclic graphs are all that is needed.

Source: theory section 9; the token-priority graph of Li et al., arXiv 2403.08081, is the same
graph for next-token prediction.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import networkx as nx
from flint import fmpq, fmpq_mat, fmpz, fmpz_mat

from conditions.certificates import QueryClass, QueryCycle, Rows, TopologicalOrder
from conditions.dataset import AttentionDataset, Vector
from conditions.errors import InvalidInput
from conditions.exact.ranks import PRIMES, rank, reduced
from conditions.selection import Row, Selection, check_selection


@dataclass(frozen=True)
class EdgeSolution:
    """What a solution of Att-SVM(α) says of one rejected token.

    ``margin`` is m_it(W^mm), a float or its exact spelling; ``multiplier`` is λ_it ≥ 0;
    ``support`` says that the token is a support index.
    """

    margin: str | float
    multiplier: float
    support: bool


@dataclass(frozen=True)
class QueryRay:
    """The samples whose queries are positive multiples of one another.

    ``direction`` is the primitive integer vector of the ray, of length d; all zero for the class
    of the zero queries. ``weights[k]`` > 0 has z_{samples[k]} = weights[k] · z_{samples[0]}.
    """

    direction: tuple[int, ...]
    samples: tuple[int, ...]
    weights: tuple[fmpq, ...]

    @property
    def zero(self) -> bool:
        """Whether the queries are zero: every margin is then 0, whatever W."""
        return not any(self.direction)


@lru_cache(maxsize=16)
def query_rays(dataset: AttentionDataset) -> tuple[QueryRay, ...]:
    """The query classes: samples grouped by the ray of their query, in order of appearance."""
    contents: dict[tuple[int, ...], dict[int, int]] = {}
    for i, row in enumerate(dataset.integers.queries.tolist()):
        query = tuple(map(int, row))
        content = math.gcd(*query) or 1
        contents.setdefault(tuple(a // content for a in query), {})[i] = content
    return tuple(
        QueryRay(direction, tuple(of), tuple(fmpq(c, next(iter(of.values()))) for c in of.values()))
        for direction, of in contents.items())


@lru_cache(maxsize=16)
def merged_tokens(dataset: AttentionDataset) -> Mapping[Row, Row]:
    """Every token (i, t), mapped to the first token with the same vector."""
    first: dict[tuple[fmpz, ...], Row] = {}
    return {(i, t): first.setdefault(tuple(x), (i, t))
            for i, table in enumerate(dataset.integers.tokens)
            for t, x in enumerate(table.tolist())}


def selection_graph(dataset: AttentionDataset, selection: Iterable[object],
                    solution: Mapping[Row, EdgeSolution] | None = None) -> nx.MultiDiGraph:
    """The selection graph of *selection*, with everything known about its edges.

    Graph attributes: ``selection``; ``query_classes``, their number; ``rays``, the classes
    themselves (`QueryRay`). A node is the first token (i, t) of its vector, with ``vector`` (the
    exact entries, as strings), ``members`` (all its tokens) and ``selected_by`` (the samples
    that select it). An edge has the key (i, t) and ``sample``, ``token``, ``query_class``,
    ``weight`` (of its query within the class), ``score_gap`` Δ_it = γ_{iα_i} − γ_it (exact),
    ``better`` (Δ_it < 0) and ``tied`` (Δ_it = 0); with a *solution*, also ``margin``,
    ``multiplier`` and ``support``.

    Raises ``InvalidInput`` for a selection that does not fit and for a solution that does not
    cover the rejected tokens.
    """
    chosen = check_selection(dataset, selection)
    rays = query_rays(dataset)
    graph = nx.MultiDiGraph(selection=chosen, query_classes=len(rays), rays=rays)
    nodes = merged_tokens(dataset)
    for (i, t), node in nodes.items():
        if node == (i, t):
            vector = tuple(map(str, dataset.tokens[i][t]))
            graph.add_node(node, vector=vector, members=[], selected_by=[])
        graph.nodes[node]["members"].append((i, t))
        if t == chosen[i]:
            graph.nodes[node]["selected_by"].append(i)
    classes = {i: (c, weight) for c, ray in enumerate(rays)
               for i, weight in zip(ray.samples, ray.weights, strict=True)}
    for i, t in _rejected(dataset, chosen, range(dataset.n)):
        gap = dataset.scores[i][chosen[i]] - dataset.scores[i][t]
        query_class, weight = classes[i]
        graph.add_edge(nodes[i, chosen[i]], nodes[i, t], key=(i, t), sample=i, token=t,
                       query_class=query_class, weight=weight, score_gap=gap, better=gap < 0,
                       tied=gap == 0, **_solved(solution, (i, t)))
    return graph


def _solved(solution: Mapping[Row, EdgeSolution] | None, row: Row) -> dict[str, object]:
    if solution is None:
        return {}
    if row not in solution:
        raise InvalidInput("solution", row, "must cover every rejected token",
                           "add the margin and multiplier of this row")
    edge = solution[row]
    return {"margin": edge.margin, "multiplier": edge.multiplier, "support": edge.support}


def _rejected(dataset: AttentionDataset, selection: Selection,
              samples: Iterable[int]) -> Iterator[Row]:
    for i in samples:
        yield from ((i, t) for t in range(dataset.lengths[i]) if t != selection[i])


def _class_graph(dataset: AttentionDataset, selection: Selection, ray: QueryRay) -> nx.DiGraph:
    """The selection graph of one query class: nodes are first tokens *within its samples*.

    Of parallel edges the first is kept; its ``row`` is the (i, t) it stands for.
    """
    nodes = merged_tokens(dataset)
    local: dict[Row, Row] = {}
    for i in ray.samples:
        for t in range(dataset.lengths[i]):
            local.setdefault(nodes[i, t], (i, t))
    graph = nx.DiGraph()
    graph.add_nodes_from(local.values())
    for i, t in _rejected(dataset, selection, ray.samples):
        source, target = local[nodes[i, selection[i]]], local[nodes[i, t]]
        if not graph.has_edge(source, target):
            graph.add_edge(source, target, row=(i, t))
    return graph


def cycle_certificate(dataset: AttentionDataset,
                      selection: Iterable[object]) -> QueryCycle | None:
    """A shortest directed cycle within one query class, if there is one.

    With z_i = w_i z the features φ_it / w_i of its edges telescope to 0, so Att-SVM(α) is
    infeasible (docs/certificates.md, ``query_cycle``). Zero queries are left out: their features
    are 0 one by one. Raises ``InvalidInput`` for a selection that does not fit.
    """
    chosen = check_selection(dataset, selection)
    best: list[Row] = []
    for ray in query_rays(dataset):
        if not ray.zero:
            cycle = _shortest_cycle(_class_graph(dataset, chosen, ray))
            if cycle and (not best or len(cycle) < len(best)):
                best = cycle
    return QueryCycle(tuple(best)) if best else None


def _shortest_cycle(graph: nx.DiGraph) -> list[Row]:
    """The rows of a shortest directed cycle, the smallest row first; empty if acyclic."""
    loops = [row for _, _, row in nx.selfloop_edges(graph, data="row")]
    if loops:
        return [min(loops)]
    best: list[Row] = []
    for component in sorted(map(sorted, nx.strongly_connected_components(graph))):
        inside = graph.subgraph(component).copy()
        for node in component if len(component) > 1 else ():
            cutoff = len(best) - 2 if best else None
            paths = nx.single_source_shortest_path(inside, node, cutoff=cutoff)
            closing = [paths[p] for p in inside.predecessors(node) if p in paths]
            if closing:
                path = min(closing, key=lambda nodes: (len(nodes), nodes))
                best = [graph.edges[edge]["row"]
                        for edge in zip(path, [*path[1:], node], strict=True)]
            if len(best) == 2:
                break
    start = best.index(min(best)) if best else 0
    return best[start:] + best[:start]


def order_certificate(dataset: AttentionDataset,
                      selection: Iterable[object]) -> TopologicalOrder | None:
    """Topological orders that prove Att-SVM(α) feasible, where the graph alone does.

    Needs linearly independent distinct tokens, linearly independent distinct queries and an
    acyclic graph for every class of equal queries: then some W takes any prescribed values
    xᵀWz, so values that fall along the orders (docs/certificates.md, ``topological_order``).
    ``None`` says that this argument does not apply, not that α is infeasible. Raises
    ``InvalidInput`` for a selection that does not fit.
    """
    chosen = check_selection(dataset, selection)
    tokens = [dataset.tokens[i][t] for (i, t), node in merged_tokens(dataset).items()
              if node == (i, t)]
    queries = list(dict.fromkeys(dataset.queries))
    rays = query_rays(dataset)
    # Two queries on one ray are dependent, so beyond this line a class has one query.
    if max(len(tokens), len(queries)) > dataset.d or len(rays) < len(queries):
        return None
    classes = []
    for ray in rays:
        graph = _class_graph(dataset, chosen, ray)
        if not nx.is_directed_acyclic_graph(graph):
            return None
        order = tuple(nx.lexicographical_topological_sort(graph))
        classes.append(QueryClass(ray.samples, order))
    modulus = independence_modulus(tokens, queries)
    return None if modulus is None else TopologicalOrder(modulus, tuple(classes))


def independence_modulus(*families: Sequence[Vector]) -> int | None:
    """A prime modulo which every one of *families* of vectors is linearly independent.

    Vectors are scaled to integers one by one. ``None`` if a family is dependent over Q.
    """
    matrices = [fmpz_mat([fmpq_mat([list(x)]).numer_denom()[0].entries() for x in family])
                for family in families]

    def independent(modulus: int) -> bool:
        return all(reduced(m, modulus).rank() == m.nrows() for m in matrices)

    if independent(PRIMES[0]):
        return PRIMES[0]
    if any(rank(m) < m.nrows() for m in matrices):
        return None
    # Each family has a nonzero minor of full size, which finitely many primes divide.
    return next(p for p in range(PRIMES[0] - 2, 2, -2) if fmpz(p).is_prime() and independent(p))


def components(dataset: AttentionDataset,
               selection: Iterable[object]) -> tuple[tuple[Rows, ...], ...]:
    """The strongly connected components of every query class, in the order of `query_rays`.

    A component is given by all its tokens (i, t), i in the class, increasing; components are
    ordered by their first token. A W with no negative margin has xᵀWz_i constant on a
    component, so the t with (i, t) in the component of (i, α_i) are the candidate for the set
    O_i of tokens that sample i selects together (theory section 8). Raises ``InvalidInput`` for
    a selection that does not fit.
    """
    chosen = check_selection(dataset, selection)
    nodes = merged_tokens(dataset)
    found = []
    for ray in query_rays(dataset):
        members: dict[Row, list[Row]] = {}
        for i in ray.samples:
            for t in range(dataset.lengths[i]):
                members.setdefault(nodes[i, t], []).append((i, t))
        graph = _class_graph(dataset, chosen, ray)
        found.append(tuple(sorted(
            tuple(sorted(row for node in component for row in members[nodes[node]]))
            for component in nx.strongly_connected_components(graph))))
    return tuple(found)
