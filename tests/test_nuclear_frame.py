"""The float form of a nuclear norm problem and its way back."""

import numpy as np
import pytest
from flint import fmpq
from nuclear_cases import UNITS, of_differences, sphere

from conditions.dataset import AttentionDataset
from conditions.selection import features, optimal_selection
from conditions.separation import nuclear_frame
from conditions.separation.nuclear_frame import frame
from conditions.separation.nuclear_rounding import rational_matrix


def exact(x):
    return fmpq(*float(x).as_integer_ratio())


def scaled(powers):
    """Dyadic features of very different sizes, none of them rounded."""
    rng = np.random.default_rng(0)
    n, d = len(powers), 3
    X = np.zeros((n, 3, d))
    X[:, 1:] = rng.integers(1, 9, (n, 2, d)) * 2.0 ** np.array(powers)[:, None, None]
    return features(AttentionDataset.build(X, [1] * n, rng.integers(1, 9, (n, d)), np.ones(d)),
                    (0,) * n)


@pytest.mark.parametrize("powers", [[0, 0], [-20, 20], [15, 18], [-28, -9]])
def test_margins_over_targets_are_those_of_the_scaled_matrix(powers):
    phi = scaled(powers)
    form = frame(phi)
    W = np.array([[1.0, -2.0, 3.0], [0.5, 4.0, -1.0], [2.0, 1.0, 1.0]])
    original = phi.margins(rational_matrix(W) * form.root**2)
    # Integers of few bits: these float products are exact.
    ours = ((form.deltas @ W) * form.queries).sum(axis=1)
    assert [exact(m) / exact(r) for m, r in zip(ours, form.targets, strict=True)] == original


@pytest.mark.parametrize("powers", [[0, 0], [-20, 20]])
def test_weights_turn_multipliers_into_those_of_the_features(powers):
    phi = scaled(powers)
    form = frame(phi)
    x = np.arange(1.0, len(phi) + 1)
    M = phi.combination(range(len(phi)), [exact(a * w) for a, w in
                                          zip(x, form.weights, strict=True)])
    assert rational_matrix(form.deltas.T @ (x[:, None] * form.queries)) == M


def test_rows_have_norms_from_one_to_two():
    data = sphere(4, 5, 6, 0)
    form = frame(features(data, optimal_selection(data)))
    for factor in (form.deltas, form.queries):
        sizes = np.linalg.norm(factor, axis=1)
        assert np.all((sizes >= 1 - 1e-12) & (sizes < 2 + 1e-12))
    assert 0.1 < np.median(form.targets) < 10


def test_bases_span_differences_and_queries():
    # Differences in the plane of e₁, e₂; one query.
    phi = features(of_differences([[[1, 0, 0], [2, 3, 0]]], [[0, 0, 5]]), (0,))
    left, right = frame(phi).bases
    assert left.shape == (3, 2)
    assert right.shape == (3, 1)
    assert np.allclose(left.T @ left, np.eye(2))
    assert np.allclose(left[2], 0)
    assert np.allclose(np.abs(right.ravel()), [0, 0, 1])


def test_the_limits(monkeypatch):
    equal = of_differences([[[1, 0], [0, 0]]], [[1, 0]])
    assert frame(features(equal, (0,))) is None
    assert frame(scaled([-31, 31])) is None
    assert frame(features(UNITS, (0, 0))) is not None
    monkeypatch.setattr(nuclear_frame, "_MOST_ROWS", 1)
    assert frame(features(UNITS, (0, 0))) is None
