"""Runs of (K, Q): what they must look like, and what is re-derived from the exact K Qᵀ."""

import pytest

from verifier.kernel import check_text

from .builders import DELETE, DIAGONAL, RUN, changed, document, text

# K Qᵀ = diag(3/2, 2), as in RUN; in DIAGONAL the logits are then (3/2, 0, -3/2) and (4, 2).
FACTORED = {**RUN, "parameterization": "KQ",
            "start": {"K": [[0, 0, 0], [0, 0, 1]], "Q": [[0, 0, 0], [0, 0, 0]]},
            "final": {"K": [["1/2", 0, 1], [0, "0x1p+1", 0]], "Q": [[1, 0, 1], [0, 1, 0]]}}


def refusals(run):
    return [r.code.name for r in check_text(text(document(DIAGONAL, run=run))).refusals]


def test_a_factored_run_is_read_and_proves_nothing():
    result = check_text(text(document(DIAGONAL, run=FACTORED)))
    assert result.accepted and result.outcomes == ()


def test_selected_tokens_are_those_of_the_exact_product():
    # The entry of W that decides sample 0 is e - e = 0 if rounded anywhere, else 2^-300 or -2^-300.
    for sign, selected in (("", 0), ("-", 2)):
        tiny = f"{sign}1/{2**300}"
        run = changed(changed(FACTORED, ("final", "K"), [[1, 1, tiny], [0, 2, 0]]),
                      ("final", "Q"), [[-1, 1, 1], [0, 1, 0]])
        assert refusals(changed(run, ("selected",), [selected, 0])) == []
        assert refusals(changed(run, ("selected",), [2 - selected, 0])) == ["WRONG_SELECTED"]


def test_ties_go_to_the_lowest_index():
    zero = changed(FACTORED, ("final", "Q"), [[0, 0, 0], [0, 0, 0]])
    assert refusals(zero) == []
    assert refusals(changed(zero, ("selected",), [0, 1])) == ["WRONG_SELECTED"]


@pytest.mark.parametrize(("path", "new", "code"), [
    (("parameterization",), "W", "WRONG_TYPE"),
    (("parameterization",), "QK", "UNKNOWN_NAME"),
    (("parameterization",), None, "WRONG_TYPE"),
    (("parameterization",), DELETE, "MISSING_FIELD"),
    (("penalty",), -1, "NOT_POSITIVE"),
    (("penalty",), None, "NOT_A_NUMBER"),
    (("start",), [[0, 0], [0, 0]], "WRONG_TYPE"),
    (("start", "K"), DELETE, "MISSING_FIELD"),
    (("start", "Q"), DELETE, "MISSING_FIELD"),
    (("start", "W"), [[0, 0], [0, 0]], "UNKNOWN_FIELD"),
    (("start", "K"), [[0, 0, 0]], "WRONG_LENGTH"),
    (("start", "K"), [[], []], "EMPTY"),
    (("start", "K", 1), [0, 0], "WRONG_LENGTH"),
    (("start", "Q", 1, 2), "nan", "NOT_A_NUMBER"),
    (("final",), [["0x1.8p+0", 0], [0, 2]], "WRONG_TYPE"),
    (("final", "K"), DELETE, "MISSING_FIELD"),
    (("final", "Q"), [[1, 0], [0, 1]], "WRONG_LENGTH"),
    (("final", "Q", 0, 0), -3, "WRONG_SELECTED"),
    (("final", "K", 1, 1), -2, "WRONG_SELECTED"),
    (("selected",), [0, 1], "WRONG_SELECTED"),
])
def test_what_is_wrong_is_refused(path, new, code):
    assert refusals(changed(FACTORED, path, new)) == [code]


def test_all_inner_dimensions_are_allowed_but_one_for_the_run():
    one = {**FACTORED, "start": {"K": [[1], [1]], "Q": [[1], [0]]},
           "final": {"K": [[1], [0]], "Q": [[1], [0]]}}
    assert refusals(one) == []
    assert refusals({**one, "start": FACTORED["start"]}) == ["WRONG_LENGTH"]


def test_a_run_of_W_may_not_be_given_by_factors():
    assert refusals({**RUN, "final": FACTORED["final"]}) == ["WRONG_TYPE"]
