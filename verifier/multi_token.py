"""What a run of attention selects when it selects sets of tokens, and what Gen-SVM predicts.

Gradient descent on W is predicted to approach W^fin + ρ·W^mm with ρ → ∞: W^mm solves Gen-SVM for
the sets O_i of selected tokens (`conditions.separation.general`, exact), and W^fin, in
S_fin = span{(x_it − x_iτ) z_iᵀ : t, τ ∈ O_i}, minimizes the loss with the softmax restricted to
O_i. All in this module is float64 and observed; it proves nothing.

Source: arXiv 2308.16898 v1, section 6, and arXiv 2403.08081, Theorem 2; docs/theory.md, section 8.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.optimize import minimize

from conditions.dataset import AttentionDataset, FloatArray
from conditions.errors import InvalidInput
from conditions.predicted_direction import correlation
from conditions.selection import Row
from conditions.separation.general import GenInfeasible, solve
from conditions.separation.token_sets import Sets, check_sets
from verifier.descent.heads import LINEAR_HEAD, CallableHead, Head
from verifier.descent.loss import loss_named

SELECTED, MASKED = 1e-3, 1e-6
"""Softmax weights above the first are selected, below the second masked (v1, section 6)."""

SampleLoss = Callable[[int, FloatArray], tuple[float, FloatArray]]
"""(i, s_i) ↦ (loss of sample i, its derivative by s_i); both arrays have shape (T_i,)."""

HeadFunction = Callable[[FloatArray], tuple[float, FloatArray]]
"""An attention output a, shape (d,), ↦ (h(a), ∇h(a))."""


# Losses --------------------------------------------------------------------------------------


def head_loss(dataset: AttentionDataset, loss: str = "logistic",
              head: Head | HeadFunction = LINEAR_HEAD) -> SampleLoss:
    """ℓ(Y_i h(X_iᵀ s_i)) with h = *head*, by default the linear head of *dataset*.

    Raises ``InvalidInput`` for an unknown loss, or a head that does not fit.
    """
    chosen, tokens = loss_named(loss), dataset.floats.tokens
    h = head if isinstance(head, Head) else CallableHead(head)
    h.check(dataset, loss)
    outputs = h.outputs(dataset)

    def value(i: int, s: FloatArray) -> tuple[float, FloatArray]:
        f, gradients = outputs((tokens[i].T @ s)[None], [i])
        slope = -float(np.exp(chosen.log_slope(f[0])))
        return float(chosen.value(f[0])), slope * (tokens[i] @ gradients[0])

    return value


def log_loss(positions: Sets) -> SampleLoss:
    """−log of the softmax weight at *positions*, those of the label (next-token prediction).

    A weight that underflows counts as the least normal float.
    """
    def value(i: int, s: FloatArray) -> tuple[float, FloatArray]:
        where = list(positions[i])
        total = max(float(s[where].sum()), float(np.finfo(float).tiny))
        slope = np.zeros_like(s)
        slope[where] = -1 / total
        return -float(np.log(total)), slope

    return value


def restricted_loss(dataset: AttentionDataset, sets: Sets, loss: SampleLoss,
                    W: FloatArray) -> tuple[float, FloatArray]:
    """The mean loss with softmax over ``sets[i]`` alone, and its gradient, (d, d).

    With all tokens in every set it is the loss that attention is trained on.
    """
    view, total, gradient = dataset.floats, 0.0, np.zeros((dataset.d, dataset.d))
    for i, chosen in enumerate(sets):
        where = list(chosen)
        weights = np.zeros(dataset.lengths[i])
        weights[where] = _softmax(view.tokens[i][where] @ W @ view.queries[i])
        value, slope = loss(i, weights)
        total += value
        pull = weights * (slope - weights @ slope)
        gradient += np.outer(view.tokens[i].T @ pull, view.queries[i])
    return total / dataset.n, gradient / dataset.n


def softmax_weights(dataset: AttentionDataset, W: FloatArray) -> tuple[FloatArray, ...]:
    """s_i = softmax(X_i W z_i), one array of shape (T_i,) per sample."""
    view = dataset.floats
    return tuple(_softmax(X @ W @ z) for X, z in zip(view.tokens, view.queries, strict=True))


def _softmax(logits: FloatArray) -> FloatArray:
    weights = np.exp(logits - logits.max())
    return np.asarray(weights / weights.sum())


# The sets -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class ObservedSets:
    """The tokens above the one threshold, and those between the two: (i, t, weight)."""

    selected: Sets
    between: tuple[tuple[int, int, float], ...]

    @property
    def sets(self) -> Sets | None:
        """O_1, …, O_n, or None while a token is neither selected nor masked."""
        return None if self.between else self.selected


def observed_sets(dataset: AttentionDataset, W: FloatArray, *, selected: float = SELECTED,
                  masked: float = MASKED) -> ObservedSets:
    """Which tokens W selects: weight > *selected*; weight < *masked* is masked.

    Raises ``InvalidInput`` unless 0 < masked ≤ selected < 1/max T_i, so that every sample selects
    a token.
    """
    if not 0 < masked <= selected < 1 / max(dataset.lengths):
        raise InvalidInput("selected", (selected, masked),
                           "must satisfy 0 < masked ≤ selected < 1/T for every sample",
                           "choose other thresholds")
    weights = softmax_weights(dataset, W)
    return ObservedSets(
        tuple(tuple(int(t) for t in np.flatnonzero(s > selected)) for s in weights),
        tuple((i, int(t), float(s[t])) for i, s in enumerate(weights)
              for t in np.flatnonzero((s <= selected) & (s >= masked))))


def selected_sets(dataset: AttentionDataset, W: FloatArray) -> ObservedSets:
    """`observed_sets` by the thresholds of v1, lower where a sample has 1000 tokens or more."""
    longest = max(dataset.lengths)
    return observed_sets(dataset, W, selected=min(SELECTED, 0.5 / longest),
                         masked=min(MASKED, 0.5e-3 / longest))


# The finite part ------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class FinitePart:
    """W^fin as a float minimizer found it.

    ``converged`` False or a large ‖W‖ may mean that there is none: far out along a direction of
    recession the gradient is small as well.
    """

    W: FloatArray
    loss: float
    gradient_norm: float
    converged: bool


class FiniteSpace:
    """S_fin of a dataset and sets, in float64."""

    def __init__(self, dataset: AttentionDataset, sets: Iterable[Iterable[object]]) -> None:
        self.dataset, self.sets = dataset, check_sets(dataset, sets)

    @property
    def rows(self) -> tuple[Row, ...]:
        """The rows (i, t), t ∈ O_i but not its first token, whose differences span S_fin."""
        return tuple((i, t) for i, chosen in enumerate(self.sets) for t in chosen[1:])

    @cached_property
    def basis(self) -> FloatArray:
        """Orthonormal vectors that span S_fin, shape (dim, d²)."""
        view, d = self.dataset.floats, self.dataset.d
        features = np.array([np.outer(view.tokens[i][self.sets[i][0]] - view.tokens[i][t],
                                      view.queries[i]).ravel() for i, t in self.rows])
        _, sizes, vectors = np.linalg.svd(features.reshape(-1, d * d), full_matrices=False)
        scale = sizes.max(initial=0.0) * max(d * d, len(sizes)) * np.finfo(float).eps
        return np.asarray(vectors[sizes > scale])

    def project(self, W: FloatArray) -> FloatArray:
        """The part of W in S_fin: W^fin as read off a run.

        It is the least-norm matrix with (x_it − x_iτ)ᵀ W^fin z_i = log(s_it/s_iτ) for t, τ ∈ O_i,
        the softmax weights s being those of W.
        """
        return np.asarray(((self.basis @ W.ravel()) @ self.basis).reshape(W.shape))

    def predict(self, loss: SampleLoss, *, tolerance: float = 1e-9) -> FinitePart:
        """W^fin as a minimizer, started at 0, of the restricted loss over S_fin.

        ``converged`` says that the gradient in S_fin is below *tolerance*. A loss that is not
        convex in W may have other minimizers.
        """
        d = self.dataset.d

        def objective(y: FloatArray) -> tuple[float, FloatArray]:
            value, gradient = restricted_loss(self.dataset, self.sets, loss,
                                              (y @ self.basis).reshape(d, d))
            return value, self.basis @ gradient.ravel()

        y = np.zeros(len(self.basis))
        if len(y):
            y = minimize(objective, y, jac=True, method="BFGS",
                         options={"gtol": tolerance, "maxiter": 10_000}).x
        value, slope = objective(y)
        norm = float(np.linalg.norm(slope))
        return FinitePart((y @ self.basis).reshape(d, d), value, norm, norm < 10 * tolerance)


# The comparison -------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class MultiTokenObservation:
    """One iterate against the prediction W ≈ W^fin + ρ·W^mm; observed, not proved.

    ``direction`` is the correlation of W with W^mm, ``beyond`` that of W without its part in
    S_fin, to which W^mm is orthogonal, ``equivalent`` the largest correlation of W with a
    ``read_off`` + ρ·W^mm, ρ ≥ 0; all None where Gen-SVM is infeasible or rejects no token.
    ``read_off`` is the part of W in S_fin; ``predicted`` the minimizer, if a loss was given, and
    ``distance`` the Frobenius distance of the two.
    """

    sets: Sets
    feasible: bool
    direction: float | None
    beyond: float | None
    equivalent: float | None
    read_off: FloatArray
    predicted: FinitePart | None

    @property
    def distance(self) -> float | None:
        """‖read_off − predicted‖_F."""
        if self.predicted is None:
            return None
        return float(np.linalg.norm(self.read_off - self.predicted.W))


def observe(dataset: AttentionDataset, W: FloatArray, sets: Iterable[Iterable[object]],
            loss: SampleLoss | None = None) -> MultiTokenObservation:
    """Compare the iterate *W*, (d, d), with the prediction for *sets*. Raises ``InvalidInput``."""
    space = FiniteSpace(dataset, sets)
    outcome = solve(dataset, space.sets)
    read_off = space.project(W)
    predicted = None if loss is None else space.predict(loss)
    matrices = equivalent_matrices(dataset, W, space.sets)
    if matrices is None:
        return MultiTokenObservation(space.sets, not isinstance(outcome, GenInfeasible), None, None,
                                     None, read_off, predicted)
    equivalent, direction = matrices
    return MultiTokenObservation(space.sets, True, correlation(W, direction),
                                 correlation(W - read_off, direction), correlation(W, equivalent),
                                 read_off, predicted)


def equivalent_matrices(dataset: AttentionDataset, W: FloatArray,
                        sets: Sets) -> tuple[FloatArray, FloatArray] | None:
    """The W^fin + ρ·W^mm, ρ ≥ 0, of the largest correlation with *W*, and W^mm, both (d, d).

    W^fin is read off W. None where Gen-SVM of *sets* is infeasible or rejects no token.
    """
    outcome = solve(dataset, sets)
    if isinstance(outcome, GenInfeasible) or not outcome.constraints.rejected:
        return None
    direction = outcome.float_W
    unit = direction / np.linalg.norm(direction)
    # W^fin is the part of W in S_fin, which W^mm is orthogonal to.
    return (FiniteSpace(dataset, sets).project(W) + max(float((W * unit).sum()), 0.0) * unit,
            direction)
