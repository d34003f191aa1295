"""Invariant rays: a direction, an exclusion or data that are moved are noticed."""

import pytest

from verifier.kernel import check_text

from .builders import DELETE, changed, document, text
from .ray_builders import LEANING_KKT, RAY_CASES, RAY_INVALID, column, shorter, tied

C = ("certificate",)
D, E = (*C, "direction"), (*C, "exclusion")

# case, path within the verdict, new value, expected code; None leaves the verdict true
RAY_TARGETED = [
    # the direction
    ("ray_shorter", D, column(7, 7), None),
    ("ray_shorter", D, column("1/3", "1/3"), None),
    ("ray_shorter", D, column(0, 0), "RAY_LEFT"),
    ("ray_shorter", D, column(-1, -1), "RAY_LEFT"),
    ("ray_shorter", D, column(1, 0), "RAY_LEFT"),
    ("ray_shorter", (*D, 0, 1), 1, "RAY_LEFT"),
    ("ray_shorter", (*D, 0, 0), "1000001/1000000", "RAY_LEFT"),
    ("ray_shorter", (*D, 1), DELETE, "WRONG_LENGTH"),
    ("ray_tied", D, column(1, "1/1000000"), "RAY_LEFT"),
    ("ray_not_optimal", (*D, 1, 1), "1/2", "RAY_LEFT"),
    # the exclusion
    ("ray_shorter", (*E, "kind"), "farkas", "UNKNOWN_NAME"),
    ("ray_shorter", (*E, "W"), column(1, 1), "NOT_STRAY"),
    ("ray_shorter", (*E, "W"), column("9/8", "1/4"), None),
    ("ray_shorter", (*E, "W"), column("1/2", 0), "MARGIN_TOO_SMALL"),
    ("ray_shorter", (*E, "W"), column(2, 0), "NOT_STRAY"),
    ("ray_shorter", (*E, "W"), DELETE, "MISSING_FIELD"),
    ("ray_shorter", (*E, "note"), 1, "UNKNOWN_FIELD"),
    ("ray_shorter", E, tied(0, [0, 1]), "NOT_STRAY"),
    # W^mm of the selected tokens is (1, 0), not the direction.
    ("ray_shorter", E, LEANING_KKT, "SELECTED_ROW"),
    ("ray_tied", (*E, "sample"), 0, "NOT_STRAY"),
    ("ray_tied", (*E, "sample"), 3, "OUT_OF_RANGE"),
    ("ray_tied", (*E, "tokens"), [1, 0], "NOT_INCREASING"),
    ("ray_tied", (*E, "tokens"), [0, 0], "NOT_INCREASING"),
    ("ray_tied", (*E, "tokens"), [0, 2], "OUT_OF_RANGE"),
    ("ray_tied", (*E, "tokens"), [0], "WRONG_LENGTH"),
    ("ray_tied", E, shorter(column(1, 0)), "NOT_STRAY"),
    ("ray_not_optimal", (*E, "support"), [[0, 1]], "WRONG_SUPPORT"),
    ("ray_not_optimal", (*E, "norm_squared"), 2, "WRONG_NORM"),
    ("ray_not_optimal", (*E, "multipliers", 0, 2), 2, "NOT_COMPLEMENTARY"),
    ("ray_not_optimal", E, shorter(column(1, 0)), "NOT_STRAY"),
    # the statement
    ("ray_shorter", ("loss",), "exponential", "RAY_LEFT"),
    ("ray_tied", ("loss",), "correlation", None),
    ("ray_shorter", ("loss",), None, "LOSS_UNFIT"),
    ("ray_shorter", ("selection",), [0, 1], "SELECTION_UNFIT"),
    ("ray_shorter", ("status",), "fails", "KIND_UNFIT"),
    ("ray_shorter", ("condition",), "limit_from_start", "SELECTION_UNFIT"),
    ("ray_shorter", ("evidence",), "enclosed", "EVIDENCE_UNFIT"),
]

RAY_OTHER_DATA = [
    ("ray_shorter", ("v",), [1, 3], "RAY_LEFT"),  # gaps 1 and 1
    ("ray_shorter", ("v",), [6, 14], None),
    ("ray_shorter", ("Y", 0), -1, "RAY_LEFT"),
    ("ray_shorter", ("z", 1), [2, 0], "RAY_LEFT"),  # margins 1 and -2
    ("ray_tied", ("z",), [[2, 0], [2, 0], [1, 0]], None),
    ("ray_shorter", ("X", 0), [[4, 5], [3, 5]], None),  # correlation sees differences alone
    ("ray_tied", ("X", 0), [[2, 1], [1, 0]], "RAY_LEFT"),  # logistic sees the scores 2 and 1
    ("ray_tied", ("X", 2, 0), [1, 1], "RAY_LEFT"),
    ("ray_tied", ("X", 2, 0), [0, 5], None),
    ("ray_not_optimal", ("X", 1), [[2, 1], [0, -1]], "WRONG_SUPPORT"),
    ("ray_not_optimal", ("X", 1), [[1, 0], [0, 0]], "NOT_STRAY"),
    # v = (1, 0): the sample is not flat any more and pulls off the line.
    ("ray_not_optimal", ("v",), [1, 0], "RAY_LEFT"),
]


def refusals(document_):
    return [refusal.code.name for refusal in check_text(text(document_)).refusals]


def expected(code):
    return [] if code is None else [code]


@pytest.mark.parametrize(("name", "path", "new", "code"), RAY_TARGETED)
def test_targeted_mutation(name, path, new, code):
    case = RAY_CASES[name]
    assert refusals(document(case.dataset, changed(case.verdict, path, new))) == expected(code)


@pytest.mark.parametrize(("name", "path", "new", "code"), RAY_OTHER_DATA)
def test_other_data(name, path, new, code):
    case = RAY_CASES[name]
    assert refusals(document(changed(case.dataset, path, new), case.verdict)) == expected(code)


@pytest.mark.parametrize("name", RAY_CASES)
def test_case_is_accepted_with_its_statement(name):
    (outcome,) = check_text(text(RAY_CASES[name].document())).outcomes
    assert outcome.kind == "proved" and RAY_CASES[name].says in outcome.text


@pytest.mark.parametrize("key", RAY_INVALID, ids="__".join)
def test_invalid_file_has_the_code_of_its_name(key):
    assert refusals(RAY_INVALID[key]) == [key[0].upper()]
