"""Attention trained on next-token data with the log-loss, against what Graph-SVM predicts.

    L(W) = mean over the inputs of −log s_label,   s the softmax of e_tᵀ W e_last over the input,

the weights of equal tokens added. L is convex in W. Its gradient descent is predicted to approach
W^fin + ρ·W^mm, ρ → ∞: W^mm solves Graph-SVM, and W^fin minimizes the loss with the softmax
restricted to the label's component over S_fin, the span of the (e_i − e_j) e_kᵀ with i, j in one
component of graph k. All in this module is float64 and observed; it proves nothing. It does for
whole corpora what `verifier.multi_token` does for any dataset, a sample at a time.

Source: arXiv 2403.08081, Theorem 2; docs/theory.md, section 8.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.sparse.linalg import LinearOperator, cg, lsqr

from conditions.dataset import FloatArray
from conditions.errors import Description, InvalidInput
from conditions.exact.numbers import to_float
from conditions.predicted_direction import correlation
from conditions.priority_graph import NextTokenData
from verifier.multi_token import FinitePart

IntArray = np.ndarray[Any, np.dtype[np.intp]]


def float_embeddings(data: NextTokenData) -> FloatArray:
    """The embeddings in float64, K × d."""
    return np.array([[to_float(x) for x in row] for row in data.embeddings])


class LogLoss:
    """L of *data*, all of whose labels must occur in their inputs; a function of W, d × d.

    With *restricted*, the softmax of an input is over the tokens in the component of its label.
    Raises ``InvalidInput`` for a label that does not occur.
    """

    def __init__(self, data: NextTokenData, *, restricted: bool = False) -> None:
        if data.labels_in_inputs < len(data.inputs):
            found = f"{data.labels_in_inputs} of {len(data.inputs)} labels in their inputs"
            raise InvalidInput("data", Description(found),
                               "must all occur in their inputs", "complete or drop the inputs")
        self.embeddings = float_embeddings(data)
        components = {graph.last: graph.component_of for graph in data.graphs}
        rows: Counter[tuple[int, tuple[tuple[int, int], ...]]] = Counter()
        for sequence, label in zip(data.inputs, data.labels, strict=True):
            last = sequence[-1]
            equal = components[last].get(label, ())
            counts = Counter(t for t in sequence if not restricted or t in equal or t == label)
            first = (label, counts.pop(label))
            if counts:
                rows[last, (first, *sorted(counts.items()))] += 1
        # Padded to one width: the label first, absent tokens with weight 0.
        width = max((len(tokens) for _, tokens in rows), default=1)
        self.last = np.array([last for last, _ in rows], dtype=np.intp)
        self.tokens = np.zeros((len(rows), width), dtype=np.intp)
        self.offsets = np.full((len(rows), width), -np.inf)
        for m, (_, tokens) in enumerate(rows):
            self.tokens[m, :len(tokens)] = [t for t, _ in tokens]
            self.offsets[m, :len(tokens)] = np.log([count for _, count in tokens])
        self.weights = np.array(list(rows.values()), dtype=float) / len(data.inputs)
        self._cells = (self.tokens * len(self.embeddings) + self.last[:, None]).ravel()

    @property
    def d(self) -> int:
        """The embedding dimension."""
        return int(self.embeddings.shape[1])

    def _logits(self, W: FloatArray) -> FloatArray:
        """e_tᵀ W e_last of every token of every row."""
        table = self.embeddings @ W @ self.embeddings.T
        return np.asarray(table[self.tokens, self.last[:, None]])

    def _pulled(self, pulls: FloatArray) -> FloatArray:
        """Σ pull · e_t e_lastᵀ over all tokens of all rows, d × d."""
        K = len(self.embeddings)
        table = np.bincount(self._cells, pulls.ravel(), minlength=K * K).reshape(K, K)
        return np.asarray(self.embeddings.T @ table @ self.embeddings)

    def _softmax(self, W: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The losses of the rows, and the softmax weights of all tokens but the label."""
        logits = self._logits(W) + self.offsets
        relative = logits[:, 1:] - logits[:, :1]
        top = np.maximum(relative.max(axis=1, initial=0.0), 0.0)
        raised = np.exp(relative - top[:, None])
        # Free of cancellation where the label has nearly all the weight.
        rest = np.expm1(-top) + raised.sum(axis=1)
        return top + np.log1p(rest), raised / (1 + rest)[:, None]

    def __call__(self, W: FloatArray) -> tuple[float, FloatArray]:
        """L(W) and its gradient, d × d."""
        losses, others = self._softmax(W)
        pulls = self.weights[:, None] * others
        pulls = np.concatenate([-pulls.sum(axis=1, keepdims=True), pulls], axis=1)
        return float(self.weights @ losses), self._pulled(pulls)

    def curvature(self, W: FloatArray, V: FloatArray) -> FloatArray:
        """The second derivative of L at W in the direction V, d × d."""
        _, others = self._softmax(W)
        weights = np.concatenate([1 - others.sum(axis=1, keepdims=True), others], axis=1)
        change = np.where(weights > 0, self._logits(V), 0.0)
        mean = (weights * change).sum(axis=1, keepdims=True)
        return self._pulled(self.weights[:, None] * weights * (change - mean))

    @cached_property
    def smoothness(self) -> float:
        """An upper bound of the Lipschitz constant of the gradient.

        ½‖E‖²·‖Σ w e_k e_kᵀ‖, since diag(s) − ssᵀ is at most ½ in spectral norm.
        """
        E = self.embeddings
        share = np.bincount(self.last, self.weights, minlength=len(E))
        queries = np.linalg.norm((E.T * share) @ E, 2)
        return float(np.linalg.norm(E, 2) ** 2 * queries / 2)


# Training ---------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class LogRun:
    """Plain gradient descent on L from W(0) = 0: the iterates kept, the last one last."""

    step: float
    iterations: int
    kept: tuple[tuple[int, FloatArray], ...]


def train(loss: LogLoss, iterations: int, step: float | None = None,
          advance: Callable[[], object] = lambda: None) -> LogRun:
    """Descend for *iterations* steps of size *step*, by default 1 / `LogLoss.smoothness`.

    About thirty iterates are kept, evenly spread in the logarithm of the step. *advance* is called
    once a step. Raises ``InvalidInput``.
    """
    if iterations < 1:
        raise InvalidInput("iterations", iterations, "must be at least 1", "give a larger number")
    if step is not None and not 0 < step < np.inf:
        raise InvalidInput("step", step, "must be a positive number", "leave it out for 1/β")
    size = 1 / loss.smoothness if step is None else step
    wanted = {int(k) for k in np.rint(np.geomspace(1, iterations, 30))} | {iterations}
    W, kept = np.zeros((loss.d, loss.d)), []
    # Too large a step ends in infinities, which are refused below.
    with np.errstate(over="ignore", invalid="ignore"):
        for k in range(1, iterations + 1):
            W = W - size * loss(W)[1]
            if k in wanted:
                kept.append((k, W))
            advance()
    if not np.isfinite(W).all():
        raise InvalidInput("step", step, "must not make descent overflow", "give a smaller one")
    return LogRun(size, iterations, tuple(kept))


# The finite part --------------------------------------------------------------------------------


class FiniteSubspace:
    """S_fin of *data*: the span of the differences inside components, for each last token."""

    def __init__(self, data: NextTokenData) -> None:
        self.embeddings = float_embeddings(data)
        pairs = [(members[0], other, graph.last) for graph in data.graphs
                 for members in graph.components for other in members[1:]]
        self.pairs = np.array(pairs, dtype=np.intp).reshape(-1, 3)
        """(i, j, k), one for each difference (e_i − e_j) e_kᵀ of a spanning set."""

    def project(self, W: FloatArray) -> FloatArray:
        """The part of W, (d, d), in S_fin: the least matrix with its logit differences there."""
        first, second, last = self.pairs.T
        E, K = self.embeddings, len(self.embeddings)
        d = E.shape[1]
        if not len(self.pairs):
            return np.zeros_like(W)

        def differences(flat: FloatArray) -> FloatArray:
            table = E @ flat.reshape(d, d) @ E.T
            return np.asarray(table[first, last] - table[second, last])

        def combination(weights: FloatArray) -> FloatArray:
            table = (np.bincount(first * K + last, weights, minlength=K * K)
                     - np.bincount(second * K + last, weights, minlength=K * K))
            return np.asarray(E.T @ table.reshape(K, K) @ E).ravel()

        operator = LinearOperator((len(self.pairs), d * d), matvec=differences,
                                  rmatvec=combination, dtype=np.float64)
        # From 0, lsqr stays in the span of the differences: its solution is the least one.
        found = lsqr(operator, differences(W.ravel()), atol=1e-14, btol=1e-14, iter_lim=10_000)
        return np.asarray(found[0].reshape(d, d))


def predict_finite(data: NextTokenData, *, tolerance: float = 1e-10) -> FinitePart:
    """W^fin of *data*: the minimizer of the restricted loss, sought from 0, so within S_fin.

    ``converged`` says that the gradient is below *tolerance*. Where every edge comes from an input
    with its label there is a minimizer, since each component is strongly connected.
    """
    loss = LogLoss(data, restricted=True)
    d = loss.d
    W = np.zeros((d, d))
    if len(loss.weights):
        def objective(w: FloatArray) -> tuple[float, FloatArray]:
            value, gradient = loss(w.reshape(d, d))
            return value, np.asarray(gradient.ravel())

        def curvature(w: FloatArray, v: FloatArray) -> FloatArray:
            return np.asarray(loss.curvature(w.reshape(d, d), v.reshape(d, d)).ravel())

        w = minimize(objective, np.zeros(d * d), jac=True, hessp=curvature, method="trust-ncg",
                     options={"gtol": tolerance, "maxiter": 2000}).x
        W = _polished(loss, np.asarray(w).reshape(d, d), tolerance)
    value, gradient = loss(W)
    norm = float(np.linalg.norm(gradient))
    return FinitePart(W, value, norm, norm < 10 * tolerance)


def _polished(loss: LogLoss, W: FloatArray, tolerance: float) -> FloatArray:
    """W after Newton steps for as long as they halve the gradient.

    Close to the minimum the loss is flat to rounding and cannot guide a trust region.
    """
    shape = W.shape
    gradient = loss(W)[1]
    while np.linalg.norm(gradient) > tolerance:
        curvature = LinearOperator((W.size, W.size), dtype=np.float64, matvec=functools.partial(
            lambda at, v: loss.curvature(at, v.reshape(shape)).ravel(), W))
        step = cg(curvature, -gradient.ravel(), rtol=1e-6)[0].reshape(shape)
        change = loss(W + step)[1]
        if not np.linalg.norm(change) < np.linalg.norm(gradient) / 2:
            break
        W, gradient = W + step, change
    return W


# The comparison ---------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Comparison:
    """One iterate against W^fin + ρ·W^mm; observed, not proved.

    ``direction`` is its correlation with W^mm, ``beyond`` that of the iterate without its part in
    S_fin (None where there is no W^mm); ``finite`` is ‖part in S_fin − W^fin‖/‖W^fin‖_F (None
    where there is no W^fin or it is 0). ``ordered`` of the pairs of `ordered_pairs` have their
    logits in that order.
    """

    step: int
    loss: float
    norm: float
    direction: float | None
    beyond: float | None
    finite: float | None
    ordered: int


def ordered_pairs(data: NextTokenData) -> IntArray:
    """(i, j, k), (P, 3): in graph k the component of i covers that of j, so i is to be above j."""
    pairs = [(i, j, graph.last) for graph in data.graphs
             for members, covered in zip(graph.components, graph.covers, strict=True)
             for c in covered for i in members for j in graph.components[c]]
    return np.array(pairs, dtype=np.intp).reshape(-1, 3)


def compare(data: NextTokenData, loss: LogLoss, run: LogRun, direction: FloatArray | None,
            predicted: FinitePart | None) -> tuple[Comparison, ...]:
    """Every iterate kept by *run* against *direction*, W^mm, and the *predicted* W^fin.

    Either may be None: where Graph-SVM is infeasible nothing is predicted, and where no token has
    priority over another there is no direction.
    """
    space, E = FiniteSubspace(data), loss.embeddings
    above, below, last = ordered_pairs(data).T
    target = np.zeros((loss.d, loss.d)) if predicted is None else predicted.W
    scale = float(np.linalg.norm(target))
    found = []
    for k, W in run.kept:
        part, table = space.project(W), E @ W @ E.T
        found.append(Comparison(
            k, loss(W)[0], float(np.linalg.norm(W)),
            None if direction is None else correlation(W, direction),
            None if direction is None else correlation(W - part, direction),
            float(np.linalg.norm(part - target)) / scale if scale else None,
            int((table[above, last] > table[below, last]).sum())))
    return tuple(found)
