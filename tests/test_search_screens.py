"""Screens agree with the exact conditions on integer lattices, and see known limits."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from conditions import (
    equal_scores,
    feasibility,
    first_step_separates,
    invariant_ray,
    low_rank_feasibility,
    no_stationary_point,
    nonnegative_features,
    unique_optimum,
)
from conditions.losses import ALL_LOSSES, LOSSES
from conditions.selection import optimal_selection
from verifier.descent import gradient
from verifier.search import screens
from verifier.search.batch import Batch, Size
from verifier.search.fields import Field
from verifier.search.lattice import Grid, random_floats

GRIDS = [Grid(Size(2, 2, 2), 2, 0), Grid(Size(2, 3, 2), 2, 1), Grid(Size(3, 2, 1), 2, 0)]


def drawn(grid: Grid, count: int = 150) -> Batch:
    """Random datasets of a lattice, some of them with repeated tokens or zero queries."""
    rng = np.random.default_rng(5)
    parts = [replace(grid, degenerate=special).draw(rng, count) for special in (False, True)]
    return Batch(*(np.concatenate([getattr(part, name) for part in parts])
                   for name in ("tokens", "queries", "head", "labels")))


@pytest.mark.parametrize("grid", GRIDS, ids=str)
def test_screens_of_hypotheses(grid):
    batch = drawn(grid)
    unique = screens.unique_optimum(batch)
    seen = {"unique": set(), "feasible": set(), "zero": set()}
    for k in range(len(batch)):
        data = batch.dataset(k)
        opt = optimal_selection(data)
        assert unique[k] == unique_optimum.decide(data).holds
        assert screens.equal_scores(batch)[k] == equal_scores.decide(data).holds
        feasible = feasibility.decide(data, opt).holds
        if unique[k]:
            assert screens.feasible(batch.take(np.array([k])))[0] == feasible
        zero = nonnegative_features.zero_feature(data) is not None
        pair = nonnegative_features.negative_pair(data) is not None
        if unique[k]:
            assert screens.no_zero_feature(batch)[k] == (not zero)
            assert screens.nonnegative_products(batch)[k] == (not pair)
        seen["unique"].add(bool(unique[k]))
        seen["feasible"].add(feasible)
        seen["zero"].add(zero)
    assert all(len(values) == 2 for values in seen.values()), seen


@pytest.mark.parametrize("loss", ALL_LOSSES)
def test_first_steps(loss):
    batch = drawn(GRIDS[1])
    shown = screens.first_step_separates(loss)(batch)
    exact = [first_step_separates.decide(batch.dataset(k), loss).holds for k in range(len(batch))]
    assert shown.tolist() == exact and 0 < sum(exact) < len(exact)


@pytest.mark.parametrize("loss", LOSSES)
def test_fields_are_gradients(loss):
    batch = random_floats(Size(2, 3, 2), np.random.default_rng(6), 5)
    W = np.random.default_rng(7).standard_normal((2, 2))
    field = Field(batch, loss)
    pulls = field.pull(np.tile(W.ravel(), (5, 1)))
    for k in range(5):
        exact = -2 * gradient(batch.dataset(k), W, loss).value
        assert np.allclose(pulls[k].reshape(2, 2), exact, atol=1e-12)


def test_the_cubic_field_weighs_by_the_square_of_the_score():
    batch = random_floats(Size(2, 3, 2), np.random.default_rng(6), 5)
    W = np.random.default_rng(7).standard_normal((5, 4))
    scores = Field(batch, "correlation")
    # With queries of one sample set to 0 the other one is left alone.
    for i in range(2):
        queries = batch.queries.copy()
        queries[:, 1 - i] = 0
        alone = Batch(batch.tokens, queries, batch.head, batch.labels)
        logits = scores.logits(W)[:, i]
        weights = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
        f = (weights * batch.scores[:, i]).sum(axis=1)
        pull = Field(alone, "correlation").pull(W)
        assert np.allclose(Field(alone, "cubic").pull(W), 3 * f[:, None]**2 * pull, atol=1e-12)


def test_what_may_stall():
    crossing = one([[[1, 0], [-4, 1], [-4, 0]]], [[1, 0]], [1, 0])
    assert screens.may_stall(crossing).all()
    for other in (one([[[1, 0], [0, 1], [2, 0]]], [[1, 0]], [1, 0]), CROSSED,
                  one([[[1, 0], [-4, 1]]], [[1, 0]], [1, 0])):
        assert not screens.may_stall(other).any()


def one(tokens, queries, head) -> Batch:
    """A batch of one dataset with labels 1."""
    return Batch(np.array([tokens], float), np.array([queries], float), np.array([head], float),
                 np.ones((1, len(tokens))))


CROSSED = one([[[3, 1], [0, 0]], [[3, 2], [0, 0]]], [[1, 0], [-1, 0]], [1, -1])
PLAIN = one([[[1, 0], [0, 0]], [[0, 1], [0, 0]]], [[1, 0], [0, 1]], [1, 1])


def test_rays_and_departures():
    assert screens.on_stray_ray("correlation")(CROSSED).all()
    assert invariant_ray.decide(CROSSED.dataset(0), "correlation").holds
    assert not screens.on_stray_ray("logistic")(CROSSED).any()
    assert screens.leaves_opt("correlation")(CROSSED).all()
    assert screens.may_leave_opt(CROSSED).all()
    for screen in (screens.on_stray_ray("correlation"), screens.leaves_opt("correlation"),
                   screens.may_leave_opt, screens.vanishes_at_zero("correlation")):
        assert not screen(PLAIN).any()
    opposed = one([[[1], [0]], [[1], [0]]], [[1], [-1]], [1])
    assert screens.vanishes_at_zero("logistic")(opposed).all()


def test_stationary_points_that_are_seen_are_there():
    rng = np.random.default_rng(8)
    batch = Grid(Size(2, 3, 2), 3, 0).draw(rng, 500)
    batch = batch.take(screens.unique_optimum(batch))
    batch = batch.take(screens.feasible(batch))
    seen = batch.take(screens.has_stationary_point("correlation", rng)(batch))
    assert len(seen) >= 5
    fails = [no_stationary_point.decide(seen.dataset(k), "correlation").fails for k in range(5)]
    assert sum(fails) >= 4
    assert not screens.has_stationary_point("correlation", rng)(PLAIN).any()


def test_pairs_of_one_column():
    # Differences {e1, e2} and {e1, -e2} with queries e1 and e2, and the same with {e1, e2} twice.
    hard = one([[[0, 0], [-1, 0], [0, -1]], [[0, 0], [-1, 0], [0, 1]]], [[1, 0], [0, 1]], [1, 0])
    easy = one([[[0, 0], [-1, 0], [0, -1]], [[0, 0], [-1, 0], [0, -1]]], [[1, 0], [0, 1]], [2, 1])
    screen = screens.no_rank_one_separator(np.random.default_rng(9))
    assert screen(hard).all() and not screen(easy).any()
    assert low_rank_feasibility.decide(hard.dataset(0), (0, 0), 1).fails
    assert low_rank_feasibility.decide(easy.dataset(0), (0, 0), 1).holds
