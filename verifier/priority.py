"""From sequences of tokens to a `PriorityReport`: graphs, Graph-SVM decided, a trained layer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from conditions import gen_feasibility, multi_token_support
from conditions.errors import InvalidInput, counted, unknown
from conditions.priority_graph import GraphSVM, NextTokenData, PriorityGraph, graph_svm
from conditions.separation.general import GenInfeasible, solve
from conditions.verdict import Verdict
from verifier.certify import Report
from verifier.io.sequences import TokenSequences
from verifier.multi_token import FinitePart
from verifier.next_token import Comparison, LogLoss, LogRun, compare, predict_finite, train

MAX_TOKENS = 400
"""A one-hot W has the square of this many entries."""

EMBEDDINGS = ("one-hot", "signs", "data")
MISSING = ("add", "drop")


@dataclass(frozen=True, eq=False)
class PriorityReport:
    """What was decided about the token-priority graphs of *tokens*, and what a run showed.

    ``data`` are the inputs that the graphs and the run are about; ``inside`` of the ``given`` ones
    hold their label as they stand. ``run``, ``comparisons`` and ``finite`` (W^fin) are observed,
    and None or empty where no run was asked for; without a solution of Graph-SVM there is no W^fin.
    """

    source: str
    tokens: TokenSequences
    embeddings: str
    data: NextTokenData
    given: int
    inside: int
    svm: GraphSVM
    verdicts: tuple[Verdict, ...]
    run: LogRun | None
    comparisons: tuple[Comparison, ...]
    finite: FinitePart | None

    @cached_property
    def report(self) -> Report:
        """Graph-SVM as a `Report`, whose certificate file is that of these graphs."""
        return Report(self.svm.dataset, self.source, self.verdicts, (), None)

    @cached_property
    def inputs_of(self) -> dict[int, int]:
        """How many inputs end in each token."""
        return {graph.last: sum(s[-1] == graph.last for s in self.data.inputs)
                for graph in self.data.graphs}

    @property
    def cyclic(self) -> tuple[PriorityGraph, ...]:
        """The graphs with a component of several tokens."""
        return tuple(graph for graph in self.data.graphs if not graph.acyclic)

    def of_interest(self, count: int) -> tuple[PriorityGraph, ...]:
        """*count* graphs: cyclic ones first, those of more inputs first."""
        return tuple(sorted(self.data.graphs, key=lambda graph: (
            graph.acyclic, -self.inputs_of[graph.last], graph.last))[:count])

    def after(self, name: str) -> PriorityGraph:
        """The graph of the last token *name*. Raises ``InvalidInput``."""
        for graph in self.data.graphs:
            if self.tokens.names[graph.last] == name:
                return graph
        raise InvalidInput("--last", name, "must be the last token of an input", "choose another")


def prioritize(tokens: TokenSequences, *, source: str = "", embeddings: str | None = None,
               dim: int | None = None, seed: int = 0, context: int | None = 8,
               missing: str = "add", iterations: int = 2000, step: float | None = None,
               advance: Callable[[], object] = lambda: None) -> PriorityReport:
    """Build the token-priority graphs of *tokens*, decide Graph-SVM, train attention, compare.

    embeddings: ``"one-hot"``; ``"signs"``, *dim* independent signs a token, drawn with *seed*; or
    ``"data"``, those of the file; None: those of the file, else one-hot. context: how many tokens
    an input has at most. missing: inputs without their label get it (``"add"``) or are left out
    (``"drop"``). iterations, step, advance: those of `verifier.next_token.train`; 0 iterations
    skip it. Raises ``InvalidInput``.
    """
    if missing not in MISSING:
        raise InvalidInput("--missing", missing, f"must be {' or '.join(MISSING)}", "choose one")
    if iterations < 0:
        raise InvalidInput("--iterations", iterations, "must not be negative", "give 0 for no run")
    if len(tokens.names) > MAX_TOKENS:
        raise InvalidInput("vocabulary", counted(len(tokens.names), "token"),
                           f"must have at most {MAX_TOKENS}", "cut it with --top")
    kind = embeddings or ("one-hot" if tokens.embeddings is None else "data")
    given = NextTokenData.prefixes(tokens.sequences, _table(tokens, kind, dim, seed), context)
    data = given.completed() if missing == "add" else given.with_labels_inside()
    svm = graph_svm(data)
    verdicts = (gen_feasibility.decide(svm.dataset, svm.sets),
                multi_token_support.decide(svm.dataset, svm.sets))
    observed = _trained(data, svm, iterations, step, advance) if iterations else (None, (), None)
    return PriorityReport(source, tokens, kind, data, len(given.inputs), given.labels_in_inputs,
                          svm, verdicts, *observed)


def _table(tokens: TokenSequences, kind: str, dim: int | None, seed: int) -> Any:
    K = len(tokens.names)
    if kind not in EMBEDDINGS:
        raise unknown("--embeddings", kind, EMBEDDINGS)
    if (dim or 0) < (kind == "signs") or (kind != "signs" and dim is not None):
        raise InvalidInput("--dim", dim, "must be given for --embeddings signs alone, at least 1",
                           "give it there, leave it out elsewhere")
    if kind == "data":
        if tokens.embeddings is None:
            raise InvalidInput("--embeddings", kind, "must be in the file, as JSON embeddings",
                               "choose one-hot or signs")
        return tokens.embeddings
    if kind == "one-hot":
        return np.eye(K, dtype=np.int64)
    return np.random.default_rng(seed).choice([-1, 1], size=(K, dim or 0))


def _trained(data: NextTokenData, svm: GraphSVM, iterations: int, step: float | None,
             advance: Callable[[], object]
             ) -> tuple[LogRun, tuple[Comparison, ...], FinitePart | None]:
    loss, outcome = LogLoss(data), solve(svm.dataset, svm.sets)
    run = train(loss, iterations, step, advance)
    if isinstance(outcome, GenInfeasible):
        return run, compare(data, loss, run, None, None), None
    finite, direction = predict_finite(data), None
    if outcome.constraints.rejected:
        direction = outcome.float_W
    return run, compare(data, loss, run, direction, finite), finite
