"""Whether some W has all margins ≥ 1.

By Gordan's theorem exactly one holds: some W has all margins positive (scaled: ≥ 1), or some
λ ≥ 0, λ ≠ 0 has Σ λ φ = 0, for then 0 = ⟨Σ λ φ, W⟩ = Σ λ m(W) > 0 would follow.
"""

from __future__ import annotations

from ..claim import Claim, Proved
from ..data import Features, Vector, read_row, read_rows, read_sparse
from ..linear import unit_pivots
from ..numbers import common_denominator, integers
from ..reading import Node
from ..refusals import Code
from .ranks import integer_rows, read_modulus


def scaled_matrix(matrix: tuple[Vector, ...]) -> tuple[list[list[int]], int]:
    """A rational matrix as integers and their common denominator."""
    scale = common_denominator(x for row in matrix for x in row)
    return [integers(row, scale) for row in matrix], scale


def separator(claim: Claim, node: Node) -> Proved:
    """A W with every margin ≥ 1."""
    demand_separator(claim.features, node.object("kind", "W")["W"])
    return Proved()


def demand_separator(features: Features, W: Node) -> None:
    """Refuse a matrix unless all its margins are ≥ 1."""
    d = features.dataset.d
    entries, scale = scaled_matrix(W.matrix(d, d))
    for (i, t), margin in features.margins(entries).items():
        if margin < scale * features.scale:
            raise W.refuse(Code.MARGIN_TOO_SMALL, f"the margin of row ({i}, {t}) is below 1")


def farkas(claim: Claim, node: Node) -> Proved:
    """λ > 0 on some rows with Σ λ φ = 0: no W has all margins positive, W^mm does not exist."""
    multipliers = node.object("kind", "multipliers")["multipliers"]
    vector = read_sparse(multipliers, claim.features)
    if not vector:
        raise multipliers.refuse(Code.EMPTY, "at least one multiplier is needed")
    weights = integers(list(vector.values()), common_denominator(vector.values()))
    W = claim.features.combination(dict(zip(vector, weights, strict=True)))
    if any(map(any, W)):
        raise multipliers.refuse(Code.NOT_CANCELLING, "Σ λ φ is not zero")
    return Proved("Att-SVM(α) is infeasible: a positive combination of features is zero")


def query_cycle(claim: Claim, node: Node) -> Proved:
    """Edges x_{iα_i} → x_it that close up, all queries positive multiples c_i of the first.

    Then Σ φ_it / c_i = (Σ (x_{iα_i} - x_it)) z_1ᵀ telescopes to 0, as in `farkas`.
    """
    data, selection = claim.dataset, claim.features.selection
    edges = node.object("kind", "edges")["edges"]
    rows = read_rows(edges, claim.features, increasing=False)
    if not rows:
        raise edges.refuse(Code.EMPTY, "a cycle has at least one edge")
    first = data.integer_queries[rows[0][0]]
    lead = next((b for b, x in enumerate(first) if x), None)
    for (i, t), (after, _) in zip(rows, rows[1:] + rows[:1], strict=True):
        query = data.integer_queries[i]
        if lead is None or query[lead] * first[lead] <= 0 or any(
                x * first[lead] != y * query[lead] for x, y in zip(query, first, strict=True)):
            raise edges.refuse(Code.QUERY_NOT_MULTIPLE, f"the query of sample {i} is none")
        if data.integer_tokens[i][t] != data.integer_tokens[after][selection[after]]:
            raise edges.refuse(Code.BROKEN_CYCLE, f"edge ({i}, {t}) does not reach the next")
    return Proved(f"the features of a cycle of {len(rows)} edges cancel")


def topological_order(claim: Claim, node: Node) -> Proved:
    """Potentials that fall along an order of each query's tokens are met by some W.

    With the distinct tokens independent, and the distinct queries too, the values xᵀ W z can be
    prescribed for every pair of distinct token and distinct query. Per query, let them fall by 1
    along the order: each selected token then exceeds each rejected one of its sample by ≥ 1.
    """
    data = claim.dataset
    fields = node.object("kind", "modulus", "classes")
    p = read_modulus(fields["modulus"])
    tokens = dict.fromkeys(token for sample in data.tokens for token in sample)
    for what, vectors in (("tokens", tokens), ("queries", dict.fromkeys(data.queries))):
        if unit_pivots(integer_rows(list(vectors)), p) < len(vectors):
            raise fields["modulus"].refuse(
                Code.NOT_INDEPENDENT, f"the distinct {what} are not shown independent")
    seen: list[int] = []
    queries = []
    for entry in fields["classes"].items():
        parts = entry.object("samples", "order")
        samples = [sample.index(data.n) for sample in parts["samples"].items()]
        if len({data.queries[i] for i in samples}) != 1:
            raise entry.refuse(Code.NOT_A_PARTITION, "a class is the samples of one query")
        seen += samples
        queries.append(data.queries[samples[0]])
        _check_order(claim, samples, parts["order"])
    if sorted(seen) != list(range(data.n)) or len(set(queries)) != len(queries):
        raise fields["classes"].refuse(Code.NOT_A_PARTITION,
                                       "the classes do not part the samples by query")
    return Proved()


def _check_order(claim: Claim, samples: list[int], order: Node) -> None:
    data = claim.dataset
    # No row is selected here, so any token of the sample may represent its vector.
    nothing = (-1,) * data.n
    place: dict[Vector, int] = {}
    representatives = [read_row(entry, data, nothing) for entry in order.items()]
    members = set(samples)
    for position, (i, t) in enumerate(representatives):
        if i not in members:
            raise order.refuse(Code.WRONG_ORDER, f"sample {i} is not in this class")
        place[data.tokens[i][t]] = position
    if len(place) != len(representatives) or set(place) != {
            token for i in samples for token in data.tokens[i]}:
        raise order.refuse(Code.WRONG_ORDER, "not every distinct token once")
    for i in samples:
        selected = claim.features.selection[i]
        for t, token in enumerate(data.tokens[i]):
            if t != selected and not place[data.tokens[i][selected]] < place[token]:
                raise order.refuse(Code.WRONG_ORDER,
                                   f"row ({i}, {t}) does not come after its selected token")
