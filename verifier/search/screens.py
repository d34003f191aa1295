"""Fast screens over a batch of datasets, in floats: they steer a search and prove nothing.

A screen keeps a dataset unless it sees that a hypothesis fails on it, or that the conclusion cannot
fail in the way that it looks for. On integer lattices all sums are exact; where a screen iterates,
it may miss a dataset, which the coverage of a search says.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from conditions.dataset import FloatArray
from verifier.search.batch import Batch, BoolArray, IntArray
from verifier.search.fields import Field, follow, settled

Screen = Callable[[Batch], BoolArray]

_EPSILON = 1e-9


def unique_optimum(batch: Batch) -> BoolArray:
    """Every gap is positive."""
    return np.asarray(batch.gaps.min(axis=(1, 2)) > _EPSILON)


def equal_scores(batch: Batch) -> BoolArray:
    """All gaps of a sample that are not 0 are equal."""
    low = np.where(batch.gaps > _EPSILON, batch.gaps, np.inf).min(axis=2)
    return np.asarray((batch.gaps.max(axis=2) <= low + _EPSILON).all(axis=1))


def no_flat_sample(batch: Batch) -> BoolArray:
    """Every sample has a gap."""
    return np.asarray((batch.gaps.max(axis=2) > _EPSILON).all(axis=1))


def no_zero_feature(batch: Batch) -> BoolArray:
    """Every feature under opt has an entry that is not 0."""
    return np.asarray(np.abs(batch.features).max(axis=2).min(axis=1) > _EPSILON)


def nonnegative_products(batch: Batch) -> BoolArray:
    """No two features under opt have a negative inner product."""
    features = batch.features
    gram = np.einsum("bij,bkj->bik", features, features)
    return np.asarray(gram.min(axis=(1, 2)) > -_EPSILON)


def feasible(batch: Batch) -> BoolArray:
    """A perceptron finds a separator of opt."""
    return separable(batch.features)


def separable(rows: FloatArray, rounds: int = 300) -> BoolArray:
    """A perceptron finds a vector that has positive products with all rows, B × N × m."""
    norms = np.linalg.norm(rows, axis=2)
    found = np.zeros(len(rows), dtype=bool)
    open_ = np.flatnonzero(norms.min(axis=1, initial=np.inf) > _EPSILON)
    rows = rows[open_] / norms[open_][:, :, None]
    W = rows.mean(axis=1)
    for _ in range(rounds):
        margins = np.einsum("bij,bj->bi", rows, W)
        worst = margins.argmin(axis=1)
        separates = np.take_along_axis(margins, worst[:, None], 1)[:, 0] > _EPSILON
        found[open_[separates]] = True
        if separates.all():
            break
        left = ~separates
        open_, rows, worst = open_[left], rows[left], worst[left]
        W = W[left] + rows[np.arange(len(rows)), worst]
    return found


def first_step_separates(loss: str) -> Screen:
    """Opt is unique and every margin of −∇L(0) under it positive."""
    def screen(batch: Batch) -> BoolArray:
        field = Field(batch, loss)
        logits = field.logits(field.pull(np.zeros((len(field), field.width))))
        best = np.take_along_axis(logits, batch.optimal[:, :, None], 2)
        others = np.arange(batch.size.T) != batch.optimal[:, :, None]
        ahead = ((best - logits > _EPSILON) | ~others).all(axis=(1, 2))
        return np.asarray(ahead & unique_optimum(batch))
    screen.__name__ = "first_step_separates"
    return screen


def hypothesis_screens(names: set[str], loss: str) -> list[Screen]:
    """The screens for hypotheses of these names, cheap ones first.

    ``feasible`` means feasibility of opt.
    """
    known: dict[str, Screen] = {
        "unique_optimum": unique_optimum, "equal_scores": equal_scores,
        "no_flat_sample": no_flat_sample, "no_zero_feature": no_zero_feature,
        "nonnegative_products": nonnegative_products, "nonnegative_features": nonnegative_products,
        "first_step_separates": first_step_separates(loss), "feasible": feasible}
    return [screen for name, screen in known.items() if name in names]


# Descent ------------------------------------------------------------------------------------------


def vanishes_at_zero(loss: str) -> Screen:
    """∇L(0) = 0."""
    def screen(batch: Batch) -> BoolArray:
        field = Field(batch, loss)
        pull = field.pull(np.zeros((len(field), field.width)))
        size = np.abs(field.rows).max(axis=(1, 2, 3), initial=0.0)
        return np.asarray(np.abs(pull).max(axis=1, initial=0.0) <= _EPSILON * size)
    return screen


def may_stall(batch: Batch) -> BoolArray:
    """One sample of three tokens or more, whose scores have 0 between them."""
    n, T, _ = batch.size
    scores = batch.scores.reshape(len(batch), -1)
    return np.asarray((scores.min(axis=1) < 0) & (scores.max(axis=1) > 0) & (n == 1) & (T > 2))


def may_leave_opt(batch: Batch) -> BoolArray:
    """Not covered by the repaired Theorem 4: a dataset of one limit, whatever the start."""
    return ~(unique_optimum(batch) & equal_scores(batch) & no_zero_feature(batch)
             & nonnegative_products(batch))


def ends_elsewhere(loss: str, rng: np.random.Generator, starts: int = 4, steps: int = 60,
                   skeptical: bool = False) -> Screen:
    """Descent from some random matrix of large norm is far from `settled` after some way.

    skeptical: selects another token than the optimal one after three times the way, on any dataset.
    """
    def screen(batch: Batch) -> BoolArray:
        worth = np.flatnonzero(may_leave_opt(batch) | skeptical)
        field, found = Field(batch.take(worth), loss), np.zeros(len(batch), dtype=bool)
        left = np.arange(len(worth))
        for _ in range(starts):
            W = rng.standard_normal((len(field), field.width))
            size = np.linalg.norm(W, axis=1) * np.maximum(field.spread, 1e-30)
            W = follow(field, W * (12.0 / np.maximum(size, 1e-30))[:, None],
                       3 * steps if skeptical else steps)
            away = (_selects_other(field, W, batch.optimal[worth[left]]) if skeptical
                    else ~settled(field, W))
            found[worth[left[away]]] = True
            field, left = field.take(~away), left[~away]
        return found
    return screen


def leaves_opt(loss: str, blocks: int = 16, steps: int = 10, skeptical: bool = False,
               first: float = 0.0) -> Screen:
    """Descent from 0 selects another token than the optimal one in some sample.

    skeptical: on any dataset, and to the end. first: the length of a first step, in margins.
    """
    def screen(batch: Batch) -> BoolArray:
        left = np.flatnonzero(may_leave_opt(batch) | skeptical)
        field = Field(batch.take(left), loss)
        W = np.zeros((len(field), field.width))
        if first:
            W = follow(field, W, 1, first)
        for _ in range(blocks):
            W = follow(field, W, steps)
            open_ = ~settled(field, W) | skeptical
            field, W, left = field.take(open_), W[open_], left[open_]
        away = np.zeros(len(batch), dtype=bool)
        away[left] = _selects_other(field, W, batch.optimal[left])
        return away
    return screen


def _selects_other(field: Field, W: FloatArray, optimal: IntArray) -> BoolArray:
    """Whether W selects another token than the optimal one in some sample."""
    return np.asarray((field.logits(W).argmax(axis=2) != optimal).any(axis=1))


def on_stray_ray(loss: str) -> Screen:
    """−∇L keeps the direction that it has at 0, and this does not separate opt."""
    def screen(batch: Batch) -> BoolArray:
        field = Field(batch, loss)
        first = field.pull(np.zeros((len(field), field.width)))
        norm = np.linalg.norm(first, axis=1, keepdims=True)
        D = first / np.maximum(norm, 1e-300)
        stays = norm[:, 0] > _EPSILON
        for r in (0.4, 1.7):
            pull = field.pull(r * D)
            along = (pull * D).sum(axis=1)
            stays &= along > (1 - 1e-12) * np.linalg.norm(pull, axis=1)
        logits = field.logits(D)
        best = np.take_along_axis(logits, batch.optimal[:, :, None], 2)
        others = np.arange(batch.size.T) != batch.optimal[:, :, None]
        stray = ((best - logits <= _EPSILON) & others).any(axis=(1, 2))
        return np.asarray(stays & stray)
    return screen


# Factors of one column ----------------------------------------------------------------------------


def no_rank_one_separator(rng: np.random.Generator, tries: int = 256) -> Screen:
    """Opt is feasible, but by no random k qᵀ: (x_{i opt} − x_it)·k and z_i·q of one sign."""
    def screen(batch: Batch) -> BoolArray:
        B, (n, _, d) = len(batch), batch.size
        directions = rng.standard_normal((tries, d))
        along = np.einsum("bntd,kd->bknt", batch.differences, directions)
        signs = np.where((along > 0).all(axis=3), 1, np.where((along < 0).all(axis=3), 0, -1))
        powers = 1 << np.arange(n)
        left = np.where((signs >= 0).all(axis=2), (signs * powers).sum(axis=2), -1)
        right = ((np.einsum("bnd,kd->bkn", batch.queries, directions) > 0) * powers).sum(axis=2)
        shared = np.zeros(B, dtype=bool)
        for pattern in range(1 << n):
            shared |= (left == pattern).any(axis=1) & (right == pattern).any(axis=1)
        return ~shared & feasible(batch)
    return screen


# Stationary points --------------------------------------------------------------------------------


def has_stationary_point(loss: str, rng: np.random.Generator, starts: int = 4,
                         rounds: int = 20, skeptical: bool = False) -> Screen:
    """Levenberg–Marquardt on ∇L = 0, from 0 and random starts, ends at a zero of moderate size.

    Not tried, unless skeptical, where queries lie in a half-space, or features are independent, and
    none is flat: there is no stationary point then (S1, S2a).
    """
    def screen(batch: Batch) -> BoolArray:
        excluded = no_flat_sample(batch) & (not skeptical)
        excluded &= (separable(batch.labels[:, :, None] * batch.queries)
                     | (np.linalg.matrix_rank(batch.features) == batch.features.shape[1]))
        field, found = Field(batch, loss), np.zeros(len(batch), dtype=bool)
        for k in range(starts):
            open_ = np.flatnonzero(~found & ~excluded)
            if not len(open_):
                break
            start = rng.standard_normal((len(open_), field.width)) * (0.0 if k == 0 else 1.5)
            found[open_] = _zero_found(field.take(open_), start, rounds)
        return found
    return screen


def _zero_found(field: Field, W: FloatArray, rounds: int) -> BoolArray:
    B, m = W.shape
    damping, identity = np.full(B, 1e-3), np.eye(m)
    value = field.pull(W)
    for _ in range(rounds):
        jacobian = np.empty((B, m, m))
        for k in range(m):
            ahead = W.copy()
            ahead[:, k] += 1e-6
            jacobian[:, :, k] = (field.pull(ahead) - value) / 1e-6
        normal = np.einsum("bki,bkj->bij", jacobian, jacobian)
        size = np.trace(normal, axis1=1, axis2=2) + 1e-9
        right = np.einsum("bki,bk->bi", jacobian, value)
        step = np.linalg.solve(normal + (damping * size)[:, None, None] * identity,
                               right[:, :, None])[:, :, 0]
        trial = W - step
        reached = field.pull(trial)
        better = np.linalg.norm(reached, axis=1) < np.linalg.norm(value, axis=1)
        W = np.where(better[:, None], trial, W)
        value = np.where(better[:, None], reached, value)
        damping = np.clip(np.where(better, damping / 6, damping * 4), 1e-9, 1e9)
    return np.asarray((np.linalg.norm(value, axis=1) <= 1e-9 * field.pull_size(W))
                      & (np.linalg.norm(W, axis=1) * field.spread < 60))
