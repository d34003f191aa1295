"""Lattices: every dataset is listed, up to what claims do not see; draws are like the list."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

from verifier.search.batch import Batch, Size
from verifier.search.lattice import (
    Grid,
    OrthonormalGrid,
    grids,
    orthonormal_grids,
    random_floats,
    random_rationals,
    sizes,
)


def key(tokens, queries, head, labels):
    """What claims see of a small dataset of two tokens: gaps and products of features, sorted."""
    rows = []
    for sample, query, label in zip(tokens, queries, labels, strict=True):
        scores = label * (sample @ head)
        best = int(scores.argmax())
        delta = sample[best] - sample[1 - best]
        rows.append((scores[best] - scores[1 - best], delta, query))
    found = []
    for order in itertools.permutations(range(len(rows))):
        gaps = tuple(float(rows[i][0]) for i in order)
        gram = tuple(float((rows[i][1] @ rows[j][1]) * (rows[i][2] @ rows[j][2]))
                     for i in order for j in order)
        found.append((gaps, gram))
    return min(found)


@pytest.mark.parametrize(("n", "d"), [(1, 1), (1, 2), (2, 1), (2, 2)])
def test_every_dataset_is_listed(n, d):
    listed = set()
    for degenerate in (False, True):
        grid = Grid(Size(n, 2, d), 1, 1, degenerate)
        ((covered, batch),) = grid.listed(np.random.default_rng(0), grid.count)
        assert covered == grid.count
        repeated = [any(not token.any() for token in sample) or not query.any()
                    for tokens, queries in zip(batch.tokens, batch.queries, strict=True)
                    for sample, query in zip(tokens[:, 1:], queries, strict=True)]
        special = np.array(repeated).reshape(len(batch), n).any(axis=1)
        assert (special == degenerate).all()
        listed |= {key(batch.tokens[k], batch.queries[k], batch.head[k], batch.labels[k])
                   for k in range(len(batch))}
    rng = np.random.default_rng(1)
    for _ in range(300):
        tokens = np.concatenate([np.zeros((n, 1, d)), rng.integers(-1, 2, (n, 1, d))], axis=1)
        queries, head = rng.integers(-1, 2, (n, d)), rng.integers(-1, 2, d)
        labels = rng.choice([-1, 1], n)
        if head.any():
            assert key(tokens, queries, head, labels) in listed


@pytest.mark.parametrize("grid", [Grid(Size(2, 3, 2), 2, 0), Grid(Size(3, 2, 2), 1, 1),
                                  Grid(Size(2, 2, 3), 3, 2, True)],
                         ids=str)
def test_lists_and_draws_are_in_canonical_form(grid):
    rng = np.random.default_rng(2)
    places = rng.integers(0, grid.count, size=20_000)
    for batch in (grid.at(places), grid.draw(rng, 2000)):
        assert len(batch) > 10
        assert (batch.labels == 1).all() and not batch.tokens[:, :, 0].any()
        assert (batch.scores <= 0).all()
        assert np.abs(batch.tokens).max() <= grid.bound
        assert np.abs(batch.queries).max() <= max(grid.query_bound, 1)
        for first in (batch.head, batch.queries[:, 0]):
            assert (first >= 0).all() and (np.diff(first, axis=1) <= 0).all()
        digits = (batch.tokens[:, :, 1:] + grid.bound) @ (2 * grid.bound + 1) ** np.arange(
            grid.size.d - 1, -1, -1)
        assert (np.diff(digits, axis=2) >= 0).all()


def test_lifted_lattices_are_moved_along_the_first_axis():
    grid = Grid(Size(1, 3, 2), 2, 0)
    places = np.arange(grid.count)
    plain, lifted = grid.at(places), replace(grid, lifted=True).at(places)
    assert len(lifted) == 2 * len(plain) and "moved by 1..2" in str(replace(grid, lifted=True))
    for k in (1, 2):
        part = lifted.take(np.arange((k - 1) * len(plain), k * len(plain)))
        assert (part.tokens - plain.tokens == [k, 0]).all()
        assert (part.queries == plain.queries).all() and (part.head == plain.head).all()
        assert (part.gaps == plain.gaps).all()


def test_orthonormal_samples_are_listed_once():
    grid = OrthonormalGrid(Size(1, 3, 3), 4)
    chunks = list(grid.listed(np.random.default_rng(0), 1000))
    assert sum(covered for covered, _ in chunks) == grid.count == 15
    heads = [tuple(row) for _, batch in chunks for row in batch.head]
    assert set(heads) == {(a, b, 0) for a in range(5) for b in range(a + 1)}
    (_, batch), = list(grid.listed(np.random.default_rng(0), 14))[:1]
    assert len(batch) == 1 and (np.diff(batch.head) <= 0).all() and batch.head[0, 2] == 0
    assert all((b.tokens == np.eye(3)).all() and (b.labels == 1).all() for _, b in chunks)
    bounds = [g.bound for g in orthonormal_grids() if g.size == Size(1, 4, 4)]
    assert bounds == sorted(set(bounds)) and bounds[0] == 1 and bounds[-1] == 32


def test_large_lattices_are_drawn_and_small_ones_listed():
    grid = Grid(Size(2, 3, 2), 3, 0)
    chunks = list(grid.listed(np.random.default_rng(3), 4096))
    assert [covered for covered, _ in chunks] == [0] and 400 < len(chunks[0][1]) <= 512
    small = Grid(Size(1, 2, 1), 2, 0)
    listed = small.listed(np.random.default_rng(3), 4096)
    assert sum(covered for covered, _ in listed) == small.count


def test_simple_lattices_come_first():
    assert sizes(Size(2, 2, 2))[0] == Size(1, 2, 1)
    found = grids(Size(2, 3, 2), 2)
    assert str(found[0]) == "(1, 2, 1) tokens in -1..1, queries ±e₁"
    assert [g.complexity for g in found] == sorted(g.complexity for g in found)


def test_datasets_are_exact():
    rng = np.random.default_rng(4)
    for draw in (random_rationals, random_floats):
        batch = draw(Size(2, 2, 2), rng, 3)
        for k in range(3):
            data = batch.dataset(k)
            scores = batch.scores[k] / batch.denominator**2
            assert np.allclose([[float(int(x.p)) / int(x.q) for x in row]
                                for row in data.scores], scores)
    whole = Batch(np.array([[[[0.0], [-2.0]]]]), np.array([[[3.0]]]), np.array([[1.0]]),
                  np.ones((1, 1)), 4)
    assert [str(x) for x in whole.dataset(0).tokens[0][1]] == ["-1/2"]
