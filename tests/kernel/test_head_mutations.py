"""Mixtures and Assumption E: another λ, weight, normal or constant is noticed; heads of runs."""

import pytest

from verifier.kernel import check_text

from .builders import DELETE, RUN, changed, document, text
from .head_builders import HEAD_CASES, HEADS, run_with

C = ("certificate",)

# case, path within the verdict, new value, expected code
HEAD_TARGETED = [
    ("top_score_gap", (*C, "constant"), 2, "WRONG_CONSTANT"),
    ("top_score_gap", (*C, "constant"), "999999/1000000", "WRONG_CONSTANT"),
    ("top_score_gap", (*C, "constant"), -1, "WRONG_CONSTANT"),
    ("top_score_gap", (*C, "rows", 0), [1, 1], None),
    ("top_score_gap", (*C, "rows", 0), [0, 2], "NO_GAP"),
    ("top_score_gap", (*C, "rows", 0), [0, 0], "SELECTED_ROW"),
    ("top_score_gap", (*C, "rows", 0), [2, 1], "OUT_OF_RANGE"),
    ("top_score_gap", (*C, "rows"), [], "WRONG_LENGTH"),
    ("top_score_gap", (*C, "rows"), [[0, 1], [1, 1]], "WRONG_LENGTH"),
    ("top_score_gap", ("selection",), [1, 0], "SELECTED_ROW"),
    ("top_score_gap", ("selection",), None, "SELECTION_UNFIT"),
    ("top_score_gap", ("status",), "fails", "KIND_UNFIT"),
    ("top_score_gap", ("evidence",), "enclosed", "EVIDENCE_UNFIT"),
    ("top_score_gap_other", ("selection",), [0, 1], "NO_GAP"),
    # A row that scores more has no gap.
    ("top_score_gap_other", (*C, "rows", 0), [0, 0], "NO_GAP"),
    ("top_score_gap_none", (*C, "constant"), 2, "WRONG_CONSTANT"),
    ("top_score_gap_none", (*C, "rows"), [[0, 0]], "WRONG_LENGTH"),
    ("simplex_maximizer", (*C, "lam"), 2, "NOT_LARGEST"),
    ("simplex_maximizer", (*C, "lam"), "1000001/1000000", "NOT_LARGEST"),
    ("simplex_maximizer", (*C, "lam"), 0, "NOT_POSITIVE"),
    ("simplex_maximizer", (*C, "lam"), -1, "NOT_POSITIVE"),
    ("simplex_maximizer", (*C, "weights", 0), ["1/2", "1/2", 0], "NOT_LARGEST"),
    ("simplex_maximizer", (*C, "weights", 0), ["1/4", "3/4", 0], "NOT_LARGEST"),
    ("simplex_maximizer", (*C, "weights", 0), [1, 0, 0], "NOT_LARGEST"),
    ("simplex_maximizer", (*C, "weights", 0), ["3/4", "1/2", "-1/4"], "NOT_A_MIXTURE"),
    ("simplex_maximizer", (*C, "weights", 0), ["3/4", "1/2", 0], "NOT_A_MIXTURE"),
    ("simplex_maximizer", (*C, "weights", 0), ["3/4", "1/4"], "WRONG_LENGTH"),
    ("simplex_maximizer", (*C, "weights", 1), [0, 1, 0], "NOT_LARGEST"),
    ("simplex_maximizer", (*C, "weights", 1), [0, "1/2", "1/2"], "NOT_LARGEST"),
    ("simplex_maximizer", (*C, "weights", 1), DELETE, "WRONG_LENGTH"),
    ("simplex_maximizer", (*C, "normals", 0), [1, 1, 0], None),
    ("simplex_maximizer", (*C, "normals", 0), [0, 0, 0], "NOT_ALONE"),
    ("simplex_maximizer", (*C, "normals", 0), [2, 1, 0], "NOT_ALONE"),
    ("simplex_maximizer", (*C, "normals", 0), [1, 1, 1], "NOT_ALONE"),
    ("simplex_maximizer", (*C, "normals", 0), [-1, -1, 0], "NOT_ALONE"),
    ("simplex_maximizer", (*C, "normals", 0), [], "WRONG_LENGTH"),
    ("simplex_maximizer", (*C, "normals", 1), [0, 0, 1], "WRONG_LENGTH"),
    ("simplex_maximizer", (*C, "normals", 1), DELETE, "WRONG_LENGTH"),
    ("simplex_maximizer", ("status",), "fails", "KIND_UNFIT"),
    ("simplex_maximizer", ("selection",), [0, 0], "SELECTION_UNFIT"),
    ("simplex_maximizer_edge", (*C, "lam"), 7, None),
    ("simplex_maximizer_edge", (*C, "weights", 0), ["1/4", "3/4", 0], "NOT_LARGEST"),
    ("simplex_maximizer_edge", (*C, "normals", 0), [0, 1], "NOT_ALONE"),
    ("simplex_tie", (*C, "lam"), 5, None),
    ("simplex_tie", (*C, "lam"), 0, "NOT_POSITIVE"),
    ("simplex_tie", (*C, "sample"), 1, "OUT_OF_RANGE"),
    ("simplex_tie", (*C, "weights", 1), [0, 1, 0], "EQUAL_OPTIMA"),
    ("simplex_tie", (*C, "weights", 1), ["1/4", "1/2", "1/4"], None),
    ("simplex_tie", (*C, "weights", 1), ["1/2", "1/2", 0], "NOT_LARGEST"),
    ("simplex_tie", (*C, "weights", 1), [1, 1, -1], "NOT_A_MIXTURE"),
    ("simplex_tie", (*C, "weights", 1), DELETE, "WRONG_LENGTH"),
    ("simplex_tie", ("status",), "holds", "KIND_UNFIT"),
    ("simplex_tie_bent", (*C, "weights", 1), [0, 1, 0], "NOT_LARGEST"),
    ("simplex_tie_bent", (*C, "weights", 1), [0, "1/2", "1/2"], "NOT_LARGEST"),
    ("simplex_tie_bent", (*C, "lam"), 1, None),
]

# case, path within the dataset, new value, expected code
HEAD_OTHER_DATA = [
    ("top_score_gap", ("v",), [2, -1], "NO_GAP"),
    ("top_score_gap", ("v",), [1, -3], None),
    ("top_score_gap", ("v",), [2, -2], "WRONG_CONSTANT"),
    ("top_score_gap", ("Y", 1), 1, None),
    ("top_score_gap", ("X", 0, 1), ["1/2", 0], "WRONG_CONSTANT"),
    ("simplex_maximizer", ("v",), [3, 2, "1/2"], None),
    ("simplex_maximizer", ("v",), [3, 2, 1], None),
    # The third token comes in where Σ (γ_t - γ_3) = 1 + 2(2 - γ_3) < 2.
    ("simplex_maximizer", ("v",), [3, 2, "8/5"], "NOT_LARGEST"),
    ("simplex_maximizer", ("v",), [3, 1, 0], "NOT_LARGEST"),
    ("simplex_maximizer", ("Y", 0), -1, "NOT_LARGEST"),
    ("simplex_maximizer", ("Y", 1), 1, "NOT_LARGEST"),
    ("simplex_maximizer", ("X", 0, 2), [0, 0, 2], None),
    ("simplex_maximizer", ("X", 0, 2), [2, 0, 0], "NOT_LARGEST"),
    # A copy of a token of positive weight.
    ("simplex_maximizer", ("X", 0, 2), [0, 1, 0], "NOT_ALONE"),
    ("simplex_maximizer", ("X", 1, 1), [0, 0, -1], "NOT_ALONE"),
    ("simplex_maximizer_edge", ("X", 0, 2), [0, 0], "NOT_ALONE"),
    ("simplex_maximizer_edge", ("v",), [0, 5], "NOT_LARGEST"),
    # Both tokens of positive weight are the same.
    ("simplex_maximizer_edge", ("X", 0), [[0, 0], [0, 0], [0, 1]], "NOT_ALONE"),
    ("simplex_tie", ("v",), [1], "NOT_LARGEST"),
    ("simplex_tie_bent", ("v",), [1], "NOT_LARGEST"),
    ("simplex_tie_bent", ("X", 0, 2), [2], "NOT_LARGEST"),
]

# head of a run, path, new value, expected code
HEAD_OF_RUN = [
    ("quadratic", ("lambda",), "-1/2", "OUT_OF_RANGE"),
    ("quadratic", ("lambda",), 0, None),
    ("quadratic", ("V",), [[1, 0]], "UNKNOWN_FIELD"),
    ("quadratic", ("lambda",), DELETE, "MISSING_FIELD"),
    ("quadratic", ("name",), "linear", "UNKNOWN_NAME"),
    ("relu", ("V", 0), [1, 0, 0], "WRONG_LENGTH"),
    ("relu", ("V",), [], "EMPTY"),
    ("relu", ("a",), [1, 1], "WRONG_LENGTH"),
    ("relu", ("a", 1), "1.5", "NOT_A_NUMBER"),
    ("multiclass", ("class_heads",), [[1, 0]], "EMPTY"),
    ("multiclass", ("class_heads", 1), DELETE, "OUT_OF_RANGE"),
    ("multiclass", ("class_labels", 0), 3, "OUT_OF_RANGE"),
    ("multiclass", ("class_labels",), [0], "WRONG_LENGTH"),
    ("callable", ("function",), "f", "UNKNOWN_FIELD"),
    ("callable", ("name",), DELETE, "MISSING_FIELD"),
]


def refusals(document_):
    return [refusal.code.name for refusal in check_text(text(document_)).refusals]


@pytest.mark.parametrize(("name", "path", "new", "code"), HEAD_TARGETED)
def test_targeted_mutation(name, path, new, code):
    # A None code marks a change that leaves the verdict true: it must stay accepted.
    case = HEAD_CASES[name]
    found = refusals(document(case.dataset, changed(case.verdict, path, new)))
    assert found == ([code] if code else [])


@pytest.mark.parametrize(("name", "path", "new", "code"), HEAD_OTHER_DATA)
def test_certificate_of_another_dataset(name, path, new, code):
    case = HEAD_CASES[name]
    found = refusals(document(changed(case.dataset, path, new), case.verdict))
    assert found == ([code] if code else [])


@pytest.mark.parametrize(("name", "path", "new", "code"), HEAD_OF_RUN)
def test_head_of_a_run(name, path, new, code):
    assert refusals(run_with(head=HEADS[name])) == []
    found = refusals(run_with(head=changed(HEADS[name], path, new)))
    assert found == ([code] if code else [])


def test_resolution_of_a_run():
    assert refusals(run_with(resolution="0x1p-52")) == []
    assert refusals(run_with(resolution="-0x1p-52")) == ["NOT_POSITIVE"]
    assert refusals(run_with(resolution=None)) == ["NOT_A_NUMBER"]
    assert "head" not in RUN and "resolution" not in RUN
