"""What a claim is evaluated on: defaults, exactness, refusals."""

from __future__ import annotations

import numpy as np
import pytest
from flint import fmpq

from conditions.dataset import AttentionDataset
from conditions.errors import InvalidInput
from verifier.claims import Case


def dataset(**more):
    return AttentionDataset.build(**{"X": [[[1, 0], [0, 0]], [[-2, 1], [0, 0]]], "Y": [1, 1],
                                     "z": [[1, 0], [1, 0]], "v": [1, 3]} | more)


def test_defaults_are_opt_plain_descent_from_zero_without_a_step():
    case = Case(dataset(v=[-1, -3]))
    assert case.selection == case.opt == (1, 1)
    assert (case.loss, case.rule, case.step, case.rank) == ("logistic", "plain", None, None)
    assert case.start == ((0, 0), (0, 0))
    assert case.starts_at_zero
    assert case.constant_step
    assert case.opening_step is None


def test_numbers_are_taken_exactly():
    case = Case(dataset(), step=0.1, first_step="1/3", start=[[0.1, "0.1"], [2, fmpq(1, 7)]])
    assert case.step == fmpq(*(0.1).as_integer_ratio()) != fmpq(1, 10)
    assert case.start == ((case.step, fmpq(1, 10)), (2, fmpq(1, 7)))
    assert case.start_matrix()[1, 1] == fmpq(1, 7)
    assert case.opening_step == fmpq(1, 3)
    assert not case.constant_step
    assert not case.starts_at_zero
    assert Case(dataset(), step=1, first_step=1).constant_step
    assert Case(dataset(), start=np.eye(2)).start == ((1, 0), (0, 1))


def test_the_flow_has_step_zero():
    assert Case(dataset(), rule="flow").step == 0
    assert Case(dataset(), rule="flow", step=0).opening_step == 0


def test_equal_cases_share_a_cache_key():
    data = dataset()
    assert Case(data, step="1/2") == Case(data, step=0.5)
    assert hash(Case(data, step="1/2")) == hash(Case(data, step=0.5))
    assert Case(data) != Case(dataset())


def test_with_changes_one_thing_and_checks_it():
    case = Case(dataset(), step=1, start=[[1, 0], [0, 1]], rank=1, token_sets=((1, 0), (0,)))
    assert case.token_sets == ((0, 1), (0,))
    assert case.with_selection([1, 0]).selection == (1, 0)
    assert case.with_step("1/4").step == fmpq(1, 4)
    assert case.with_start([[0, 0], [0, 0]]).starts_at_zero
    assert case.with_rank(2).rank == 2
    assert case.with_budget(1.5).seconds == 1.5
    other = case.with_selection([1, 0]).with_dataset(
        AttentionDataset.build([[[1], [2], [3]]], [1], [[1]], [1]))
    assert (other.selection, other.start, other.rank) == ((2,), ((0,),), None)
    assert (other.step, other.token_sets) == (1, None)
    with pytest.raises(InvalidInput, match=r"selection\[1\]"):
        case.with_selection([0, 2])


@pytest.mark.parametrize(("given", "named"), [
    ({"selection": (0,)}, "selection"),
    ({"loss": "hinge"}, "loss"),
    ({"rule": "adam"}, "rule"),
    ({"step": 0}, "step"),
    ({"step": -1}, "step"),
    ({"step": float("nan")}, "step"),
    ({"first_step": "0"}, "first_step"),
    ({"rule": "flow", "step": 1}, "step"),
    ({"start": [[1, 0]]}, "start"),
    ({"start": [[1, 0], [0, "x"]]}, r"start\[1\]\[1\]"),
    ({"start": 3}, "start"),
    ({"rank": 0}, "rank"),
    ({"rank": 3}, "rank"),
    ({"rank": True}, "rank"),
    ({"lam": 0}, "lambda"),
    ({"seconds": float("inf")}, "seconds"),
    ({"seconds": float("nan")}, "seconds"),
    ({"token_sets": ((0,),)}, "sets"),
    ({"token_sets": ((), (0,))}, r"sets\[0\]"),
])
def test_bad_input_is_named(given, named):
    with pytest.raises(InvalidInput, match=named) as caught:
        Case(dataset(), **given)
    assert "\n" not in str(caught.value)
