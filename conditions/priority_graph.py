"""Token-priority graphs of next-token data, and the Graph-SVM that they define.

The data are pairs of an input sequence, whose last token is the query, and a label, over a
vocabulary with embeddings e_0, …, e_{K−1}. Per last token k the token-priority graph has an edge
from the label to every other token of the input, over all inputs that end in k: the label is to
have at least the priority of what it was chosen from. Its strongly connected components are tokens
of equal priority, and

    Graph-SVM:  min ‖W‖_F  subject to  (e_i − e_j)ᵀ W e_k = 0 inside the components of graph k,
                and ≥ 1 for every edge i → j of graph k between two components.

A path between components crosses at least one such edge and no edge is against it, so the
constraint follows for every pair of tokens that a path joins, and it is enough to ask for it along
the edges of a transitive reduction of the condensation. So it is Gen-SVM
(`conditions.separation.general`) with one sample per last token and component.

The labels are assumed to occur in their inputs. Where they do not, `NextTokenData.completed` puts
them there, as candidates that attention can choose; the graphs stay as they are.

Source: Li, Huang, Ildiz, Rawat, Oymak, arXiv 2403.08081, section 2; docs/theory.md, section 8.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import networkx as nx
import numpy as np
from flint import fmpq

from conditions.dataset import AttentionDataset, Vector
from conditions.errors import Description, InvalidInput, counted
from conditions.exact.numbers import rational
from conditions.separation.token_sets import Sets

Tokens = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class NextTokenData:
    """Input sequences with their labels, and the embeddings, K × d, exact.

    Use `build` or `prefixes`, which check. ``origins[m]`` is (sequence, position) of the last
    token of input m, where inputs are parts of sequences.
    """

    inputs: tuple[Tokens, ...]
    labels: Tokens
    embeddings: tuple[Vector, ...]
    origins: tuple[tuple[int, int], ...] | None = None

    @classmethod
    def build(cls, inputs: Any, labels: Any, embeddings: Any) -> NextTokenData:
        """Data from nonempty token lists, one label each, and K embeddings of length d.

        Tokens are integers in 0..K−1; embeddings take any exact numbers. Raises ``InvalidInput``.
        """
        table = tuple(
            tuple(rational(x, f"embeddings[{k}][{j}]") for j, x in enumerate(row))
            for k, row in enumerate(embeddings))
        if not table or not table[0] or any(len(row) != len(table[0]) for row in table):
            lengths = sorted({len(row) for row in table})
            raise InvalidInput("embeddings", Description(f"rows of {lengths} numbers"),
                               "must be K ≥ 1 rows of one length d ≥ 1", "correct the table")
        sequences = tuple(_tokens(sequence, f"inputs[{m}]", len(table))
                          for m, sequence in enumerate(inputs))
        answers = _tokens(labels, "labels", len(table))
        if len(answers) != len(sequences):
            raise InvalidInput("labels", counted(len(answers), "label"),
                               f"must have one label per input ({len(sequences)})",
                               "drop or add labels")
        return cls(sequences, answers, table)

    @classmethod
    def prefixes(cls, sequences: Any, embeddings: Any,
                 context: int | None = None) -> NextTokenData:
        """The causal data of *sequences*: every token but the first labels those before it.

        Inputs are cut to their last *context* tokens. Raises ``InvalidInput``.
        """
        if context is not None and context < 1:
            raise InvalidInput("context", context, "must be at least 1", "give a number of tokens")
        given = [list(sequence) for sequence in sequences]
        origins = tuple((i, k) for i, s in enumerate(given) for k in range(len(s) - 1))
        if not origins:
            raise InvalidInput("sequences", counted(len(given), "sequence"),
                               "must hold a sequence of at least two tokens", "add one")
        data = cls.build([given[i][:k + 1][-(context or k + 1):] for i, k in origins],
                         [given[i][k + 1] for i, k in origins], embeddings)
        return replace(data, origins=origins)

    def completed(self) -> NextTokenData:
        """These data with the label put before every input in which it does not occur.

        Last tokens and graphs are unchanged: the edges lead to the other tokens of the input.
        """
        inputs = tuple(s if label in s else (label, *s)
                       for s, label in zip(self.inputs, self.labels, strict=True))
        return replace(self, inputs=inputs)

    def with_labels_inside(self) -> NextTokenData:
        """The inputs in which the label occurs. Raises ``InvalidInput`` if there is none."""
        kept = [m for m, (s, label) in enumerate(zip(self.inputs, self.labels, strict=True))
                if label in s]
        if not kept:
            raise InvalidInput("data", counted(len(self.inputs), "input"),
                               "must have an input in which its label occurs",
                               "add the missing labels to the inputs")
        origins = None if self.origins is None else tuple(self.origins[m] for m in kept)
        return replace(self, inputs=tuple(self.inputs[m] for m in kept),
                       labels=tuple(self.labels[m] for m in kept), origins=origins)

    @property
    def d(self) -> int:
        """The embedding dimension."""
        return len(self.embeddings[0])

    @cached_property
    def graphs(self) -> tuple[PriorityGraph, ...]:
        """The token-priority graphs, by increasing last token."""
        found: dict[int, nx.DiGraph] = {}
        for sequence, label in zip(self.inputs, self.labels, strict=True):
            graph = found.setdefault(sequence[-1], nx.DiGraph())
            graph.add_nodes_from([label, *sequence])
            graph.add_edges_from((label, token) for token in sequence if token != label)
        return tuple(PriorityGraph(last, found[last]) for last in sorted(found))

    @cached_property
    def labels_in_inputs(self) -> int:
        """How many labels occur in their input; 2403.08081 assumes that all do."""
        return sum(label in sequence
                   for sequence, label in zip(self.inputs, self.labels, strict=True))


@dataclass(frozen=True, eq=False)
class PriorityGraph:
    """The token-priority graph of one last token; edges lead from labels to input tokens."""

    last: int
    graph: nx.DiGraph

    @cached_property
    def components(self) -> tuple[Tokens, ...]:
        """The strongly connected components, each increasing, in a topological order.

        No edge leads from a later component to an earlier one; of several orders it is the one
        that prefers small tokens.
        """
        condensed = nx.condensation(self.graph)
        members = {c: tuple(sorted(of)) for c, of in condensed.nodes(data="members")}
        order = nx.lexicographical_topological_sort(condensed, key=members.__getitem__)
        return tuple(members[c] for c in order)

    @cached_property
    def covers(self) -> tuple[tuple[int, ...], ...]:
        """Per component of `components` the places of those that it covers.

        They are the edges of the transitive reduction of the condensation.
        """
        place = {members: c for c, members in enumerate(self.components)}
        condensed = nx.DiGraph()
        condensed.add_nodes_from(place.values())
        condensed.add_edges_from((place[self.component_of[i]], place[self.component_of[j]])
                                 for i, j in self.graph.edges
                                 if self.component_of[i] != self.component_of[j])
        reduced = nx.transitive_reduction(condensed)
        return tuple(tuple(sorted(reduced.successors(c))) for c in place.values())

    @cached_property
    def component_of(self) -> dict[int, Tokens]:
        """The component of every token."""
        return {token: members for members in self.components for token in members}

    @property
    def acyclic(self) -> bool:
        """Whether every component is a single token: no two tokens have equal priority."""
        return len(self.components) == len(self.graph)


@dataclass(frozen=True, eq=False)
class GraphSVM:
    """Graph-SVM as Gen-SVM: ``sets[m]`` of sample m of ``dataset``.

    ``origins[m]`` is (k, tokens): sample m has the query e_k and the embeddings of *tokens*, those
    of a component and then one of each component that it covers. The labels Y and the head are 1
    and 0: no statement here is about scores.
    """

    dataset: AttentionDataset
    sets: Sets
    origins: tuple[tuple[int, Tokens], ...]


def graph_svm(data: NextTokenData) -> GraphSVM:
    """Graph-SVM of *data*, for `conditions.gen_feasibility` and `conditions.multi_token_support`.

    Raises ``InvalidInput`` if no graph has an edge, so that there is no constraint.
    """
    origins, sets = [], []
    for graph in data.graphs:
        for members, covered in zip(graph.components, graph.covers, strict=True):
            tokens = (*members, *(graph.components[c][0] for c in covered))
            if len(tokens) > 1:
                origins.append((graph.last, tokens))
                sets.append(tuple(range(len(members))))
    if not origins:
        raise InvalidInput("data", counted(len(data.inputs), "input"),
                           "must have an input with a token that is not its label",
                           "add longer inputs")
    dataset = AttentionDataset.build(
        [[data.embeddings[token] for token in tokens] for _, tokens in origins],
        [1] * len(origins), [data.embeddings[last] for last, _ in origins],
        [fmpq(0)] * data.d)
    return GraphSVM(dataset, tuple(sets), tuple(origins))


@dataclass(frozen=True, eq=False)
class TrainingSet:
    """The inputs that attention is trained on, as samples, with the sets that Graph-SVM predicts.

    ``positions[m]`` are the places of the label in sample m: the log-loss is −log of the softmax
    weight there. ``sets[m]`` are the places of tokens in the label's component. Inputs of one
    token, or without their label, are left out; ``kept`` lists the others.
    """

    dataset: AttentionDataset
    sets: Sets
    positions: Sets
    kept: tuple[int, ...]


def training_set(data: NextTokenData) -> TrainingSet:
    """The training samples of *data*. Raises ``InvalidInput`` if none is left."""
    graphs = {graph.last: graph for graph in data.graphs}
    kept = tuple(m for m, (sequence, label) in enumerate(zip(data.inputs, data.labels, strict=True))
                 if len(sequence) > 1 and label in sequence)
    if not kept:
        raise InvalidInput("data", counted(len(data.inputs), "input"),
                           "must have an input of two or more tokens that holds its label",
                           "add one")
    inputs = [data.inputs[m] for m in kept]
    equal = [set(graphs[s[-1]].component_of[data.labels[m]])
             for m, s in zip(kept, inputs, strict=True)]
    dataset = AttentionDataset.build(
        [[data.embeddings[token] for token in s] for s in inputs], [1] * len(kept),
        [data.embeddings[s[-1]] for s in inputs], [fmpq(0)] * data.d)
    if data.origins is not None:
        dataset = replace(dataset, origins=tuple(data.origins[m] for m in kept))
    return TrainingSet(
        dataset, _places(inputs, equal),
        _places(inputs, [{data.labels[m]} for m in kept]), kept)


def _places(inputs: Sequence[Tokens], wanted: Sequence[set[int]]) -> Sets:
    return tuple(tuple(p for p, token in enumerate(s) if token in tokens)
                 for s, tokens in zip(inputs, wanted, strict=True))


def _tokens(given: Iterable[object], name: str, K: int) -> Tokens:
    if isinstance(given, str | bytes) or not isinstance(given, Iterable):
        raise InvalidInput(name, given, "must be a list of tokens", "correct the nesting")
    found = []
    for token in given:
        if (isinstance(token, bool) or not isinstance(token, int | np.integer)
                or not 0 <= token < K):
            raise InvalidInput(name, token, f"must be integers in 0..{K - 1}",
                               "number the vocabulary from 0")
        found.append(operator.index(token))
    if not found:
        raise InvalidInput(name, found, "must hold at least one token", "drop or fill it")
    return tuple(found)
