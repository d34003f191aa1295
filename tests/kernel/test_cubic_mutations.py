"""The cubic loss: what is proved of it, every field of a stalled descent, and what is refused."""

import pytest

from verifier.kernel import check_text

from .builders import DELETE, changed, document, text
from .cases import CASES
from .cubic_builders import CENTRED, CUBIC_CASES, CUBIC_INVALID

C = ("certificate",)

# case, path within the verdict, new value, expected code; None leaves the verdict true
TARGETED = [
    # f(W(1)) < 0: the zero is at η₀ = 0.004538.
    ("cubic_stalled", (*C, "first_step"), "463/102400", None),
    ("cubic_stalled", (*C, "first_step"), "454/100000", "NOT_STALLED"),
    ("cubic_stalled", (*C, "first_step"), "1/256", "NOT_STALLED"),
    ("cubic_stalled", (*C, "first_step"), 0, "NOT_POSITIVE"),
    ("cubic_stalled", (*C, "first_step"), "-37/8192", "NOT_POSITIVE"),
    # 2·0.008 ≤ 3 r, 3 + 32.5 r ≤ 4.04 ≤ 5 - 32.5 r, and 0.041 from the line of W^mm.
    ("cubic_stalled", (*C, "radius"), "1/150", None),
    ("cubic_stalled", (*C, "radius"), "1/200", "NOT_STALLED"),
    ("cubic_stalled", (*C, "radius"), "1/35", None),
    ("cubic_stalled", (*C, "radius"), "1/30", "NOT_STALLED"),
    ("cubic_stalled", (*C, "least_slope"), "15/4", "NOT_STALLED"),
    ("cubic_stalled", (*C, "least_slope"), "7/2", None),
    ("cubic_stalled", (*C, "least_slope"), "3/2", "NOT_STALLED"),
    ("cubic_stalled", (*C, "least_slope"), 2, None),
    ("cubic_stalled", (*C, "largest_slope"), "43/10", "NOT_STALLED"),
    ("cubic_stalled", (*C, "largest_slope"), "1/8", "NOT_STALLED"),
    # 9 η 0.008 G² < 2
    ("cubic_stalled", (*C, "largest_slope"), 200, None),
    ("cubic_stalled", (*C, "largest_slope"), 400, "NOT_STALLED"),
    ("cubic_stalled", (*C, "step"), "11/10", None),
    ("cubic_stalled", (*C, "step"), "9/8", "NOT_STALLED"),
    ("cubic_stalled", (*C, "step"), 0, "NOT_POSITIVE"),
    ("cubic_stalled", (*C, "precision"), 8, "NOT_STALLED"),
    ("cubic_stalled", (*C, "precision"), 7, "OUT_OF_RANGE"),
    ("cubic_stalled", (*C, "solution", 0, 2), "1/24", "NOT_COMPLEMENTARY"),
    ("cubic_stalled", (*C, "solution", 0, 2), "1/26", "MARGIN_TOO_SMALL"),
    ("cubic_stalled", (*C, "solution", 0, 1), 0, "SELECTED_ROW"),
    ("cubic_stalled", (*C, "solution"), DELETE, "MISSING_FIELD"),
    ("cubic_stalled", ("status",), "fails", "KIND_UNFIT"),
    ("cubic_stalled", ("evidence",), "exact", "EVIDENCE_UNFIT"),
    ("cubic_stalled", ("loss",), "correlation", "LOSS_UNFIT"),
    ("cubic_stalled", ("loss",), None, "LOSS_UNFIT"),
    ("cubic_first_step", ("evidence",), "enclosed", "EVIDENCE_UNFIT"),
    ("cubic_first_step_zero", (*C, "sign"), -1, "SIGN_NOT_SHOWN"),
    ("cubic_centred", ("loss",), "correlation", "NOT_STATIONARY"),
    ("cubic_balanced", ("loss",), "correlation", "NOT_STATIONARY"),
    ("cubic_balanced", ("loss",), "logistic", "NOT_STATIONARY"),
]

OTHER_DATA = [
    ("cubic_stalled", ("X", 0, 1), [-4, 0], "NOT_STALLED"),  # W(1) is a multiple of W^mm
    ("cubic_stalled", ("X", 0), [[1, 0], [-4, 0], [-4, 1]], "NOT_COMPLEMENTARY"),
    ("cubic_stalled", ("v",), [2, 0], "NOT_STALLED"),
    # The line of W^mm, and a point next to it.
    ("cubic_stalled", ("X", 0, 1), [-4, "1/5"], "NOT_STALLED"),
    ("cubic_stalled", ("Y", 0), -1, "OPTIMUM_NOT_UNIQUE"),
    ("cubic_stalled", ("z", 0), [0, 1], None),
    ("cubic_stalled", ("z", 0), [2, 0], "NOT_STALLED"),
    ("cubic_centred", ("X", 0, 0), [2], "NOT_STATIONARY"),
    ("cubic_centred", ("v",), [-7], None),
    ("cubic_balanced", ("z", 1), [1], "NOT_STATIONARY"),
    ("cubic_monotone", ("X", 0, 1), [0], "LOSS_UNFIT"),
    ("cubic_monotone", ("v",), [-1], "NOT_MONOTONE"),
]


def refusals(document_):
    return [refusal.code.name for refusal in check_text(text(document_)).refusals]


def expected(code):
    return [] if code is None else [code]


@pytest.mark.parametrize(("name", "path", "new", "code"), TARGETED)
def test_targeted_mutation(name, path, new, code):
    case = CUBIC_CASES[name]
    assert refusals(document(case.dataset, changed(case.verdict, path, new))) == expected(code)


@pytest.mark.parametrize(("name", "path", "new", "code"), OTHER_DATA)
def test_other_data(name, path, new, code):
    case = CUBIC_CASES[name]
    assert refusals(document(changed(case.dataset, path, new), case.verdict)) == expected(code)


@pytest.mark.parametrize("name", CUBIC_CASES)
def test_case_is_accepted_with_its_statement(name):
    (outcome,) = check_text(text(CUBIC_CASES[name].document())).outcomes
    assert outcome.kind == "proved" and CUBIC_CASES[name].says in outcome.text


@pytest.mark.parametrize("key", CUBIC_INVALID, ids="__".join)
def test_invalid_file_has_the_code_of_its_name(key):
    assert refusals(CUBIC_INVALID[key]) == [key[0].upper()]


ABOUT_LOSS = [name for name, case in CASES.items()
              if case.verdict["loss"] is not None and name not in CUBIC_CASES]
BY_SCORES_ALONE = {"all_flat", "optimum_tie"}


@pytest.mark.parametrize("name", ABOUT_LOSS)
def test_proofs_for_other_losses_do_not_pass_for_the_cubic_one(name):
    case = CASES[name]
    kind = case.verdict["certificate"]["kind"]
    found = refusals(changed(case.document(), ("verdicts", 0, "loss"), "cubic"))
    if kind in BY_SCORES_ALONE:
        assert found == []
    elif kind in ("first_step_margins", "first_step_violation", "stationary_at_zero"):
        # The verdict may be true of this loss as well; then it is exact.
        assert found in ([], ["EVIDENCE_UNFIT"], ["SIGN_NOT_SHOWN"], ["NOT_STATIONARY"])
    else:
        crosses = any(min(row) < max(row) and min(row) <= 0 <= max(row)
                      for row in scores(case.dataset))
        needs_slope = kind in ("injective_features", "separable_queries", "monotone_direction",
                               "decision_tree")
        assert found == (["LOSS_UNFIT"] if crosses or not needs_slope else [])


def scores(dataset):
    from fractions import Fraction

    def number(x):
        return Fraction(float.fromhex(x)) if "x" in str(x) else Fraction(x)

    return [[y * sum(number(a) * number(b) for a, b in zip(x, dataset["v"], strict=True))
             for x in tokens] for tokens, y in zip(dataset["X"], dataset["Y"], strict=True)]


def test_a_run_has_no_cubic_loss():
    case = CASES["all_flat"].document()
    run = {"parameterization": "W", "rule": "plain", "step": "1/10", "penalty": 0, "loss": "cubic",
           "iterations": 1, "selected": [0], "outcome": "completed", "start": [[0]],
           "final": [[0]]}
    made = document(CENTRED, run=run)
    assert refusals(made) == ["UNKNOWN_NAME"] and refusals(case) == []
