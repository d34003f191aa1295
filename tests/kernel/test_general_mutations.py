"""Sets of tokens: another set, multiplier, row or number is another statement, and is noticed."""

import pytest

from verifier.kernel import check_text

from .builders import DELETE, changed, document, text
from .general_builders import GENERAL_CASES

C = ("certificate",)

# case, path within the verdict, new value, expected code
GENERAL_TARGETED = [
    ("gen_separator", (*C, "sets"), [[0, 1]], "WRONG_LENGTH"),
    ("gen_separator", (*C, "sets"), [[0, 1], [0], [0]], "WRONG_LENGTH"),
    ("gen_separator", (*C, "sets", 1), [], "EMPTY"),
    ("gen_separator", (*C, "sets", 0), [1, 0], "NOT_INCREASING"),
    ("gen_separator", (*C, "sets", 0), [0, 0], "NOT_INCREASING"),
    ("gen_separator", (*C, "sets", 0), [0, 4], "OUT_OF_RANGE"),
    ("gen_separator", (*C, "sets", 0), [-1, 0], "OUT_OF_RANGE"),
    ("gen_separator", (*C, "sets", 0), [0], "MARGIN_TOO_SMALL"),
    ("gen_separator", (*C, "sets", 0), [0, 2], "MARGIN_TOO_SMALL"),
    ("gen_separator", (*C, "sets", 0), [0, 1, 2], "UNEQUAL_LOGITS"),
    ("gen_separator", (*C, "sets", 1), [1], "MARGIN_TOO_SMALL"),
    ("gen_separator", (*C, "sets", 1), [0, 1], "UNEQUAL_LOGITS"),
    ("gen_separator", (*C, "W", 0, 0), 2, "UNEQUAL_LOGITS"),
    ("gen_separator", (*C, "W", 1, 0), "1000001/1000000", "UNEQUAL_LOGITS"),
    ("gen_separator", (*C, "W"), [["1/2", 0], ["1/2", 1]], "MARGIN_TOO_SMALL"),
    ("gen_separator", (*C, "W", 1, 1), "0x1.fffffffffffffp-1", "MARGIN_TOO_SMALL"),
    ("gen_separator", (*C, "W"), [[-1, 0], [-1, 1]], "MARGIN_TOO_SMALL"),
    ("gen_separator", (*C, "W"), [[2, 7], [2, 3]], None),
    ("gen_separator", (*C, "W", 1), DELETE, "WRONG_LENGTH"),
    ("gen_separator", ("status",), "fails", "KIND_UNFIT"),
    ("gen_separator", ("condition",), "multi_token_support", "KIND_UNFIT"),
    ("gen_separator", ("selection",), [0, 0], "SELECTION_UNFIT"),
    ("gen_separator", ("evidence",), "enclosed", "EVIDENCE_UNFIT"),
    ("gen_separator_single", (*C, "sets", 0), [0, 1], "UNEQUAL_LOGITS"),
    ("motzkin", (*C, "sets", 0), [0], "WRONG_SIDE"),
    ("motzkin", (*C, "sets", 0), [0, 1], "WRONG_SIDE"),
    ("motzkin", (*C, "sets", 0), [0, 2, 3], "WRONG_SIDE"),
    ("motzkin", (*C, "sets", 0), [0, 1, 3], None),
    ("motzkin", (*C, "sets", 0), [1, 3], "NOT_CANCELLING"),
    ("motzkin", (*C, "sets", 0), [2, 3], "SELECTED_ROW"),
    ("motzkin", (*C, "multipliers"), [], "EMPTY"),
    ("motzkin", (*C, "multipliers", 0, 2), -2, "NOT_POSITIVE"),
    ("motzkin", (*C, "multipliers", 0, 2), 0, "ZERO_ENTRY"),
    ("motzkin", (*C, "multipliers", 0, 2), 1, "NOT_CANCELLING"),
    ("motzkin", (*C, "multipliers", 0, 1), 0, "SELECTED_ROW"),
    ("motzkin", (*C, "multipliers", 0, 1), 1, "NOT_CANCELLING"),
    ("motzkin", (*C, "multipliers", 0, 1), 3, "WRONG_SIDE"),
    ("motzkin", (*C, "multipliers", 0, 1), 4, "OUT_OF_RANGE"),
    ("motzkin", (*C, "multipliers", 1), [0, 1, 1], "NOT_INCREASING"),
    ("motzkin", (*C, "equality_multipliers"), [], "NOT_CANCELLING"),
    ("motzkin", (*C, "equality_multipliers", 0, 2), 1, "NOT_CANCELLING"),
    ("motzkin", (*C, "equality_multipliers", 0, 2), 0, "ZERO_ENTRY"),
    ("motzkin", (*C, "equality_multipliers", 0, 1), 0, "SELECTED_ROW"),
    ("motzkin", (*C, "equality_multipliers", 0, 1), 1, "WRONG_SIDE"),
    ("motzkin", (*C, "equality_multipliers", 0, 1), 2, "WRONG_SIDE"),
    ("motzkin", (*C, "equality_multipliers", 1), [0, 3, 1], "NOT_INCREASING"),
    ("motzkin", ("status",), "holds", "KIND_UNFIT"),
    ("motzkin", ("condition",), "multi_token_support", None),
    ("motzkin", ("condition",), "feasibility", "SELECTION_UNFIT"),
    ("motzkin_no_ties", (*C, "multipliers", 1), DELETE, "NOT_CANCELLING"),
    ("motzkin_no_ties", (*C, "equality_multipliers", 0), [0, 1, 1], "WRONG_SIDE"),
    ("gen_kkt", (*C, "sets", 0), [0], "WRONG_SIDE"),
    ("gen_kkt", (*C, "sets", 0), [0, 1, 2], "WRONG_SIDE"),
    ("gen_kkt", (*C, "sets", 0), [0, 1, 3], "UNEQUAL_LOGITS"),
    ("gen_kkt", (*C, "sets", 1), [1], "SELECTED_ROW"),
    ("gen_kkt", (*C, "multipliers"), [], "UNEQUAL_LOGITS"),
    ("gen_kkt", (*C, "multipliers", 0, 2), 3, "UNEQUAL_LOGITS"),
    ("gen_kkt", (*C, "multipliers", 1), DELETE, "MARGIN_TOO_SMALL"),
    ("gen_kkt", (*C, "multipliers", 1, 2), "1/2", "MARGIN_TOO_SMALL"),
    ("gen_kkt", (*C, "multipliers", 1, 2), 2, "NOT_COMPLEMENTARY"),
    ("gen_kkt", (*C, "multipliers", 1, 2), -1, "NOT_POSITIVE"),
    # 2 (1, 0) = (2, 0) with weight 1 on row (0, 3), whose margin is 2.
    ("gen_kkt", (*C, "multipliers", 0), [0, 3, 1], "NOT_COMPLEMENTARY"),
    ("gen_kkt", (*C, "equality_multipliers"), [], "UNEQUAL_LOGITS"),
    ("gen_kkt", (*C, "equality_multipliers", 0, 2), 1, "UNEQUAL_LOGITS"),
    ("gen_kkt", (*C, "equality_multipliers", 0, 1), 2, "WRONG_SIDE"),
    ("gen_kkt", (*C, "support"), [[0, 2]], "WRONG_SUPPORT"),
    ("gen_kkt", (*C, "support"), [[0, 2], [0, 3], [1, 1]], "WRONG_SUPPORT"),
    ("gen_kkt", (*C, "support"), [[1, 1], [0, 2]], "NOT_INCREASING"),
    ("gen_kkt", (*C, "support", 0), [0, 0], "SELECTED_ROW"),
    ("gen_kkt", (*C, "support"), [[0, 1], [0, 2], [1, 1]], "WRONG_SIDE"),
    ("gen_kkt", (*C, "norm_squared"), 2, "WRONG_NORM"),
    ("gen_kkt", (*C, "norm_squared"), "3000001/1000000", "WRONG_NORM"),
    ("gen_kkt", ("condition",), "gen_feasibility", "KIND_UNFIT"),
    ("gen_kkt", ("status",), "fails", "KIND_UNFIT"),
    ("gen_kkt_nothing_rejected", (*C, "sets", 1), [0], "MARGIN_TOO_SMALL"),
    ("gen_kkt_nothing_rejected", (*C, "equality_multipliers", 0), [0, 1, 1], "UNEQUAL_LOGITS"),
    ("gen_kkt_nothing_rejected", (*C, "multipliers", 0), [0, 1, 1], "WRONG_SIDE"),
    ("gen_kkt_nothing_rejected", (*C, "support", 0), [0, 1], "WRONG_SIDE"),
    ("gen_kkt_nothing_rejected", (*C, "norm_squared"), 1, "WRONG_NORM"),
    ("gen_enclosure", (*C, "sets", 0), [0], "WRONG_SIDE"),
    ("gen_enclosure", (*C, "sets", 0), [0, 1, 2], "WRONG_SIDE"),
    ("gen_enclosure", (*C, "sets", 0), [0, 1, 3], "UNEQUAL_LOGITS"),
    ("gen_enclosure", (*C, "sets", 1), [1], "SELECTED_ROW"),
    ("gen_enclosure", (*C, "rows"), [], "EMPTY"),
    ("gen_enclosure", (*C, "rows"), [[1, 1], [0, 2]], "NOT_INCREASING"),
    ("gen_enclosure", (*C, "rows", 0), [0, 1], "WRONG_SIDE"),
    ("gen_enclosure", (*C, "rows", 0), [0, 3], "COARSE_INVERSE"),
    ("gen_enclosure", (*C, "ties"), [], "WRONG_LENGTH"),
    ("gen_enclosure", (*C, "ties", 0), [0, 3], "WRONG_SIDE"),
    ("gen_enclosure", (*C, "multipliers"), [2, 1], "WRONG_LENGTH"),
    ("gen_enclosure", (*C, "multipliers", 0), -2, "NOT_POSITIVE"),
    # The row (0, 3) has margin 2 at λ = 2, and what an error of 1 in μ may change is 1.
    ("gen_enclosure", (*C, "multipliers", 2), "-1/2", "MARGIN_TOO_SMALL"),
    ("gen_enclosure", (*C, "multipliers", 2), "-999999999/1000000000", "WRONG_NORM"),
    ("gen_enclosure", (*C, "inverse", "entries", 0, 2), 0, "COARSE_INVERSE"),
    ("gen_enclosure", (*C, "inverse", "exponent"), 1, "COARSE_INVERSE"),
    ("gen_enclosure", (*C, "support"), [[0, 2]], "WRONG_SUPPORT"),
    ("gen_enclosure", (*C, "support"), [[0, 2], [0, 3], [1, 1]], "WRONG_SUPPORT"),
    ("gen_enclosure", (*C, "support"), [[0, 1], [0, 2], [1, 1]], "WRONG_SIDE"),
    ("gen_enclosure", (*C, "norm_squared"), [2, 2], "WRONG_NORM"),
    ("gen_enclosure", (*C, "norm_squared"), [2, 4], "WRONG_NORM"),
    ("gen_enclosure", (*C, "norm_squared"), ["2999999/1000000", 3], None),
    ("gen_enclosure", ("status",), "fails", "KIND_UNFIT"),
    ("gen_enclosure", ("evidence",), "exact", "EVIDENCE_UNFIT"),
    # Any tied row of the class but the vanishing one spans; μ = 0.
    ("gen_enclosure_determined", (*C, "ties", 0), [1, 2], "COARSE_INVERSE"),
    ("gen_enclosure_determined", (*C, "sets", 2), [0, 1], "UNEQUAL_LOGITS"),
    ("gen_enclosure_determined", (*C, "sets", 2), [0, 2], "UNEQUAL_LOGITS"),
    ("gen_enclosure_determined", (*C, "rows", 1), [2, 1], "COARSE_INVERSE"),
    ("gen_enclosure_determined", (*C, "support", 1), DELETE, "WRONG_SUPPORT"),
]

# case, path within the dataset, new value, expected code
GENERAL_OTHER_DATA = [
    ("gen_separator", ("X", 0, 1), [0, 2], "UNEQUAL_LOGITS"),
    ("gen_separator", ("X", 0, 2), [0, "1/2"], "MARGIN_TOO_SMALL"),
    ("gen_separator", ("z", 1), [0, "1/2"], "MARGIN_TOO_SMALL"),
    ("gen_separator", ("z", 1), [0, 3], None),
    ("gen_separator", ("v",), [-5, 7], None),
    ("motzkin", ("X", 0, 3), [-1, 1], "NOT_CANCELLING"),
    ("motzkin", ("X", 0, 1), [5, 5], None),
    ("motzkin", ("z", 0), [-2, 1], None),
    ("gen_kkt", ("X", 0, 3), [0, 0], "WRONG_SUPPORT"),
    ("gen_kkt", ("X", 0, 3), [0, 1], "MARGIN_TOO_SMALL"),
    ("gen_kkt", ("z", 1), [0, 2], "NOT_COMPLEMENTARY"),
    ("gen_kkt", ("z", 1), [1, 1], "UNEQUAL_LOGITS"),
    ("gen_kkt_nothing_rejected", ("X", 1, 2), [1, 1], "MARGIN_TOO_SMALL"),
    ("gen_enclosure", ("X", 0, 3), [0, 0], "WRONG_SUPPORT"),
    ("gen_enclosure", ("X", 0, 3), [-5, 0], None),
    ("gen_enclosure", ("X", 0, 3), [0, 1], "MARGIN_TOO_SMALL"),
    ("gen_enclosure", ("z", 0), [0, 0], "COARSE_INVERSE"),
    # Dependent ties that are not in one class, and ties out of the span.
    ("gen_enclosure_determined", ("X", 0, 4), [1, 2, -2], "UNEQUAL_LOGITS"),
    ("gen_enclosure_determined", ("X", 1, 2), [0, 1, 1], None),
    ("gen_enclosure_determined", ("X", 1, 2), [1, 1, 0], "UNEQUAL_LOGITS"),
    # (2, -1, 1) less a tie; and (3, -2, 0), (5/2, -1, 0): sums of weights 1 and 3/2.
    ("gen_enclosure_determined", ("X", 0, 2), [-1, 2, -1], None),
    ("gen_enclosure_determined", ("X", 0, 2), [-2, 3, 0], None),
    ("gen_enclosure_determined", ("X", 0, 2), ["-3/2", 2, 0], "WRONG_SUPPORT"),
    ("gen_enclosure_determined", ("X", 0, 2), [-1, 3, 0], "MARGIN_TOO_SMALL"),
    # Another query, not proportional, makes (-1, 2, 0) free, whose margin becomes 0.
    ("gen_enclosure_determined", ("z", 2), [0, 1, 0], "MARGIN_TOO_SMALL"),
    ("gen_enclosure_determined", ("z", 2), [0, 0, 0], "MARGIN_TOO_SMALL"),
    ("gen_enclosure_determined", ("z", 2), [2, 0, 0], "MARGIN_TOO_SMALL"),
    ("gen_enclosure_determined", ("z", 2), [-4, 0, 0], "WRONG_SUPPORT"),
]


def refusals(dataset, verdict):
    return [refusal.code.name for refusal in check_text(text(document(dataset, verdict))).refusals]


@pytest.mark.parametrize(("name", "path", "new", "code"), GENERAL_TARGETED)
def test_targeted_mutation(name, path, new, code):
    # A None code marks a change that leaves the verdict true: it must stay accepted.
    case = GENERAL_CASES[name]
    assert refusals(case.dataset, changed(case.verdict, path, new)) == ([code] if code else [])


@pytest.mark.parametrize(("name", "path", "new", "code"), GENERAL_OTHER_DATA)
def test_certificate_of_another_dataset(name, path, new, code):
    case = GENERAL_CASES[name]
    found = refusals(changed(case.dataset, path, new), case.verdict)
    assert found == ([code] if code else [])


def test_sets_are_shown_in_full():
    case = GENERAL_CASES["gen_kkt_nothing_rejected"]
    wide = {**case.dataset, "X": [[[t, 1] for t in range(60)], case.dataset["X"][1]]}
    sets = [list(range(60)), [0, 1]]
    (outcome,) = check_text(
        text(document(wide, changed(case.verdict, (*C, "sets"), sets)))).outcomes
    assert outcome.kind == "proved"
    assert f"O = ({{{', '.join(map(str, range(60)))}}}, {{0, 1}})" in outcome.text


def test_one_family_of_sets_a_file():
    # The sets are in the certificate, so that two of them are two verdicts of one condition.
    pair = [GENERAL_CASES[name] for name in ("motzkin", "motzkin_no_ties")]
    result = check_text(text(document(pair[0].dataset, *(case.verdict for case in pair))))
    assert [refusal.code.name for refusal in result.refusals] == ["REPEATED_VERDICT"]
