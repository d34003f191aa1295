"""Replayed runs: whatever is moved, lengthened, cut short or exchanged is noticed."""

import pytest

from verifier.kernel import check_text

from .builders import DELETE, changed, document, text
from .run_builders import (
    LINE_CONE,
    LINE_KKT,
    LINE_PLAIN,
    LINE_RESIDUAL,
    RUN_CASES,
    RUN_INVALID,
    UNITS_CONE,
    run,
)

C = ("certificate",)
B = (*C, "basin")
ODD = "1/1025"  # within the radius 1/1024, and no dyadic number

# case, path within the verdict, new value, expected code
RUN_TARGETED = [
    # the start
    ("run_cone", (*C, "start", 0, 0), ODD, None),
    ("run_cone", (*C, "start", 0, 0), "1/1023", "NOT_IN_BALL"),
    ("run_cone", (*C, "start", 0, 0), "-1/1023", "NOT_IN_BALL"),
    ("run_cone", (*C, "start", 0, 0), -1, "NOT_IN_BALL"),
    ("run_cone", (*C, "start"), [[0, 0]], "WRONG_LENGTH"),
    ("run_cone", (*C, "start"), DELETE, "MISSING_FIELD"),
    # Gradients below 2^-2^40 are not followed.
    ("run_cone", (*C, "start", 0, 0), 10**30, "NOT_ENCLOSED"),
    ("run_plain", (*C, "start", 0, 0), 10**30, "NOT_ENCLOSED"),
    ("run_cone", (*C, "start", 0, 0), 10**9, "NOT_IN_BALL"),
    ("run_units", (*C, "start", 0, 1), 1, "NOT_IN_BALL"),
    ("run_of_no_steps", (*C, "start", 0, 0), "8191/1024", None),
    ("run_of_no_steps", (*C, "start", 0, 0), "8190/1024", "NOT_IN_BALL"),
    ("run_rival", (*C, "start", 0, 0), 0, "NOT_ENCLOSED"),
    ("run_rival", (*C, "start", 0, 0), -1, "NOT_ENCLOSED"),  # it steps on the stationary point
    ("run_rival", (*C, "start", 0, 0), "-1/2", "NOT_IN_BALL"),
    # the steps
    *(("run_cone", (*C, "steps"), steps, "NOT_IN_BALL") for steps in (0, 7, 9)),
    ("run_cone", (*C, "steps"), 200, "NOT_ENCLOSED"),
    ("run_cone", (*C, "steps"), -1, "OUT_OF_RANGE"),
    ("run_cone", (*C, "steps"), 2**20 + 1, "OUT_OF_RANGE"),
    ("run_cone", (*C, "steps"), "8", "WRONG_TYPE"),
    ("run_plain", (*C, "steps"), 2, "NOT_IN_BALL"),
    ("run_units", (*C, "steps"), 7, "NOT_IN_BALL"),
    ("run_of_no_steps", (*C, "steps"), 1, "NOT_IN_BALL"),
    # rule and step: those of the basin, and of the run
    ("run_cone", (*C, "rule"), "plain", "OTHER_DESCENT"),
    ("run_cone", (*C, "rule"), "flow", "UNKNOWN_NAME"),
    ("run_cone", (*C, "step"), "1/2", "OTHER_DESCENT"),
    ("run_cone", (*C, "step"), 0, "STEP_UNFIT"),
    ("run_cone", (*B, "step"), "1/2", "OTHER_DESCENT"),
    ("run_cone", (*B, "rule"), "plain", "OTHER_DESCENT"),
    ("run_cone", C, run({**LINE_CONE, "step": "1/2"}, [[0]], 8), "NOT_IN_BALL"),
    ("run_cone", C, run({**LINE_CONE, "step": "1/2"}, [[0]], 16), None),
    ("run_cone", C, run({**LINE_CONE, "rule": "plain"}, [[0]], 8), "NOT_IN_BALL"),
    ("run_plain", C, run(LINE_CONE, [[0]], 1), "NOT_IN_BALL"),
    ("run_plain", C, run({**LINE_PLAIN, "step": 33}, [[0]], 1), "NOT_IN_BALL"),
    ("run_units", C, run({**UNITS_CONE, "step": "2001/1000"}, [[0, 0], [0, 0]], 8), "NOT_IN_BALL"),
    # the precision
    ("run_cone", (*C, "precision"), 63, "OUT_OF_RANGE"),
    ("run_cone", (*C, "precision"), 65_537, "OUT_OF_RANGE"),
    ("run_cone", (*C, "precision"), 300, None),
    ("run_cone", C, run(LINE_CONE, [[0]], 40), "NOT_ENCLOSED"),
    ("run_cone", C, run({**LINE_CONE, "iterate": [[40]]}, [[0]], 40, 128), None),
    # the ball of the basin, and the basin
    ("run_cone", (*B, "radius"), 0, "NOT_IN_BALL"),
    ("run_cone", (*B, "radius"), "0x1p-30", None),
    ("run_of_no_steps", (*B, "radius"), 0, None),
    ("run_cone", (*B, "iterate", 0, 0), "8191/1024", "NOT_IN_BALL"),
    ("run_cone", (*B, "iterate", 0, 0), "8193/1024", "NOT_IN_BALL"),
    ("run_cone", (*B, "iterate", 0, 0), "16383/2048", None),
    ("run_cone", (*B, "clock"), 8, "CLOCK_NOT_SHOWN"),
    ("run_cone", (*B, "slope"), "1/1024", "NOT_KEPT"),
    ("run_cone", B, LINE_KKT, "UNKNOWN_NAME"),
    ("run_cone", B, {**LINE_CONE, "kind": "basin_cone"}, "UNKNOWN_NAME"),
    ("run_cone", (*B, "solution", "norm_squared"), 2, "WRONG_NORM"),
    ("run_residual", (*B, "ball"), "1/1025", "BALL_LEFT"),
    ("run_residual", (*B, "clock"), 9, "CLOCK_NOT_SHOWN"),
    ("run_residual", B, {**LINE_RESIDUAL, "iterate": [[8]]}, "NOT_IN_BALL"),
    # Between W and -1/3 + 8 lie no more than a few roundings: 1/3 is no dyadic number.
    ("run_residual", (*B, "radius"), "0x1p-30", None),
    ("run_residual", (*B, "radius"), "0x1p-64", "NOT_IN_BALL"),
    # the statement: selection, loss, status, evidence
    ("run_cone", ("selection",), [1], "SELECTED_ROW"),
    ("run_plain", ("loss",), "exponential", "NOT_IN_BALL"),
    ("run_residual", ("loss",), "logistic", None),
    ("run_cone", ("condition",), "basin", "KIND_UNFIT"),
    ("run_cone", ("status",), "fails", "KIND_UNFIT"),
    ("run_cone", ("evidence",), "exact", "EVIDENCE_UNFIT"),
]

RUN_OTHER_DATA = [
    # The path does not depend on the head, the basin and the plain path do.
    ("run_cone", ("v",), [2], None),
    ("run_cone", ("v",), [-1], "CONE_NOT_SHOWN"),
    ("run_cone", ("v",), [10**6], "SCORE_LIMIT"),
    ("run_plain", ("v",), [2], "NOT_IN_BALL"),
    ("run_plain", ("v",), [10**6], "NOT_IN_BALL"),
    ("run_units", ("v",), [1, 2], "NOT_IN_BALL"),
    ("run_rival", ("z", 1), [5], None),
]


def refusals(document_):
    return [refusal.code.name for refusal in check_text(text(document_)).refusals]


def expected(code):
    return [] if code is None else [code]


@pytest.mark.parametrize(("name", "path", "new", "code"), RUN_TARGETED)
def test_targeted_mutation(name, path, new, code):
    case = RUN_CASES[name]
    assert refusals(document(case.dataset, changed(case.verdict, path, new))) == expected(code)


@pytest.mark.parametrize(("name", "path", "new", "code"), RUN_OTHER_DATA)
def test_other_data(name, path, new, code):
    case = RUN_CASES[name]
    assert refusals(document(changed(case.dataset, path, new), case.verdict)) == expected(code)


@pytest.mark.parametrize("name", RUN_CASES)
def test_case_is_accepted_with_its_statement(name):
    (outcome,) = check_text(text(RUN_CASES[name].document())).outcomes
    assert outcome.kind == "proved" and RUN_CASES[name].says in outcome.text


@pytest.mark.parametrize("key", RUN_INVALID, ids="__".join)
def test_invalid_file_has_the_code_of_its_name(key):
    assert refusals(RUN_INVALID[key]) == [key[0].upper()]
