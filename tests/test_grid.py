"""Grids: which cells there are, and that every trial is a function of its place alone."""

import numpy as np
import pytest

from conditions import InvalidInput
from verifier.descent import LinearHead, MulticlassHead, QuadraticHead, ReluHead
from verifier.experiments.grid import Cell, cells, parse_integers
from verifier.experiments.samples import SAMPLES, unit_sphere_dataset


def test_the_product_in_the_order_given_each_once():
    found = cells(n=(4, 2, 4), T=(3,), d=(2, 1), rule=("plain", "flow"))
    assert [cell.values for cell in found] == [
        (n, 3, d, 0, "linear", "logistic", "W", rule)
        for n in (4, 2) for d in (2, 1) for rule in ("plain", "flow")]
    assert all(Cell.of(cell.values) == cell for cell in found)


def test_datasets_depend_on_sizes_seed_and_trial_alone():
    one = Cell(3, 4, 5)
    other = Cell(3, 4, 5, 2, "relu:3", "exponential", "KQ", "plain")
    prints = {(data, seed, k): one.dataset(data, seed, k).fingerprint
              for data in SAMPLES for seed in (0, 1) for k in (0, 1)}
    assert len(set(prints.values())) == len(prints)
    assert all(other.dataset(*place).fingerprint == found for place, found in prints.items())
    assert prints["sphere", 1, 0] == unit_sphere_dataset(3, 4, 5, (1, 3, 4, 5, 0)).fingerprint


def test_kinds_of_data():
    integers = Cell(20, 5, 6).dataset("integers", 0, 0)
    entries = {int(x) for sample in integers.tokens for token in sample for x in token}
    assert entries == {-2, -1, 0, 1, 2} and set(integers.labels) == {1, -1}
    gaussian = Cell(20, 5, 6).dataset("gaussian", 0, 0).floats
    assert 0.8 < np.std(np.array(gaussian.tokens)) < 1.2
    assert np.allclose(np.linalg.norm(Cell(2, 3, 4).dataset("sphere", 0, 0).floats.queries,
                                      axis=1), 1)


def test_heads_and_starts_are_random_by_place():
    assert Cell(2, 3, 4).start(0, 0) is None
    cell = Cell(2, 3, 4, 2, parameterization="KQ")
    K, Q = cell.start(0, 0)
    assert K.shape == Q.shape == (4, 2) and np.abs(K).max() <= 0.5
    assert np.array_equal(cell.start(0, 0)[1], Q)
    assert not np.array_equal(cell.start(0, 1)[0], K)
    assert Cell(2, 3, 4, parameterization="KQ").start(0, 0)[0].shape == (4, 4)
    kinds = {"linear": LinearHead, "quadratic:1/3": QuadraticHead, "relu:5": ReluHead,
             "multiclass:3": MulticlassHead}
    for head, kind in kinds.items():
        drawn = Cell(2, 3, 4, head=head).prediction_head(0, 0)
        assert isinstance(drawn, kind)
        drawn.check(Cell(2, 3, 4).dataset("sphere", 0, 0), "logistic")
    assert Cell(2, 3, 4, head="relu:5").prediction_head(0, 0).V.shape == (5, 4)
    assert str(Cell(2, 3, 4, head="quadratic:1/3").prediction_head(0, 0).lam) == "1/3"


@pytest.mark.parametrize(("change", "named"), [
    ({"n": 0}, "n"), ({"n": True}, "n"), ({"T": 1}, "T"), ({"d": 2.0}, "d"), ({"n": 10**7}, "n"),
    ({"n": 10**3, "T": 10**3, "d": 2}, "n·T·d"), ({"m": 5}, "m"), ({"m": -1}, "m"),
    ({"loss": "hinge"}, "loss"), ({"rule": "up"}, "rule"), ({"parameterization": "K"}, "param"),
    ({"head": "cubic"}, "head"), ({"head": "relu"}, "head"), ({"head": "relu:0"}, "head"),
    ({"head": "relu:x"}, "head"), ({"head": "relu:-1"}, "head"), ({"head": "multiclass:1"}, "head"),
    ({"head": "linear:2"}, "head"), ({"head": "quadratic:"}, "head"), ({"head": "relu:²"}, "head"),
    ({"head": "quadratic:-1"}, "lambda"), ({"head": "quadratic:nan"}, "lambda"),
    ({"head": "relu:9999999"}, "head"), ({"head": 3}, "head"), ({"head": None}, "head"),
    ({"head": "multiclass:3", "loss": "exponential"}, "loss")])
def test_cells_without_meaning_are_refused(change, named):
    with pytest.raises(InvalidInput, match=named):
        Cell(**{"n": 2, "T": 3, "d": 4, **change})


def test_too_many_cells_are_refused_before_they_are_made():
    with pytest.raises(InvalidInput, match="grid"):
        cells(n=range(1, 10**6), T=(2,), d=(1,))
    with pytest.raises(InvalidInput, match="n"):
        cells(n=(), T=(2,), d=(1,))


@pytest.mark.parametrize("text", ["", ",", "1,", "a", "2..1", "1..", "-1", "1.5", "1e3", "²",
                                  "1..9999999", "99999999", "1 2"])
def test_integers_that_cannot_be_read(text):
    with pytest.raises(InvalidInput, match="--n"):
        parse_integers(text, "--n")
