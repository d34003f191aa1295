"""Limits of descent: every field changed so that its inequality or the statement breaks."""

import pytest

from verifier.kernel import check_text

from .builders import (
    DELETE,
    IDENTITY,
    OUTSCORED_ENCLOSURE,
    RUN,
    UNITS,
    UNITS_ENCLOSURE,
    changed,
    document,
    exact_kkt,
    text,
)
from .limit_builders import DEGENERATE, LIMIT_CASES, diagonal, low_norm

C = ("certificate",)
S = (*C, "solution")

# case, path within the verdict, new value, expected code; None leaves the verdict true
LIMIT_TARGETED = [
    # the solution
    ("isotropic_normalized", S, UNITS_ENCLOSURE, None),
    ("isotropic_normalized", (*S, "kind"), "primal_dual", "UNKNOWN_NAME"),
    ("isotropic_normalized", (*S, "kind"), "kkt_enclosure", "MISSING_FIELD"),
    ("isotropic_normalized", (*S, "multipliers", 0, 2), "1/2", "MARGIN_TOO_SMALL"),
    ("isotropic_normalized", (*S, "multipliers", 0, 2), 2, "NOT_COMPLEMENTARY"),
    ("isotropic_normalized", (*S, "support"), [[0, 1]], "WRONG_SUPPORT"),
    ("isotropic_normalized", (*S, "norm_squared"), 1, "WRONG_NORM"),
    ("isotropic_repeated", (*S, "multipliers", 0), "1/2", "NOT_POSITIVE"),
    ("isotropic_repeated", (*S, "inverse", "entries", 0, 0), 0, "COARSE_INVERSE"),
    ("cone_rival", (*S, "support"), [[0, 1], [0, 2]], "WRONG_SUPPORT"),
    ("residual_normalized", (*S, "multipliers", 1, 2), "1/2", "MARGIN_TOO_SMALL"),
    ("residual_rival", S, OUTSCORED_ENCLOSURE, None),
    ("residual_repeated", (*S, "support"), [[0, 1], [1, 1]], "WRONG_SUPPORT"),
    # Another W^mm, of another selection.
    ("isotropic_normalized", ("selection",), [1, 0], "SELECTED_ROW"),
    ("residual_rival", ("selection",), [2], "NOT_COMPLEMENTARY"),
    # the iterate and its radius
    ("isotropic_normalized", (*C, "iterate"), diagonal(20, 20), "CLOCK_NOT_SHOWN"),
    ("isotropic_normalized", (*C, "iterate"), diagonal(-24, -24), "CLOCK_NOT_SHOWN"),
    ("isotropic_normalized", (*C, "iterate"), [[0, 0], [0, 0]], "CLOCK_NOT_SHOWN"),
    ("isotropic_normalized", (*C, "iterate"), diagonal(12, 36), "NOT_KEPT"),
    ("isotropic_normalized", (*C, "iterate", 0, 1), 9, "NOT_KEPT"),
    ("isotropic_normalized", (*C, "iterate", 0, 1), 5, None),
    ("isotropic_normalized", (*C, "iterate", 1), DELETE, "WRONG_LENGTH"),
    ("isotropic_normalized", (*C, "radius"), 6, "CLOCK_NOT_SHOWN"),
    ("isotropic_normalized", (*C, "radius"), 5, None),
    ("isotropic_normalized", (*C, "radius"), -1, "OUT_OF_RANGE"),
    ("isotropic_rival", (*C, "radius"), 5, "NOT_KEPT"),
    ("isotropic_apart", (*C, "radius"), 8, "CLOCK_NOT_SHOWN"),
    ("isotropic_apart", (*C, "iterate", 0, 1), 9, None),
    ("isotropic_apart", (*C, "iterate", 0, 1), "19/2", "NOT_KEPT"),
    # rule and step
    ("isotropic_normalized", (*C, "rule"), "adam", "UNKNOWN_NAME"),
    ("isotropic_normalized", (*C, "rule"), "flow", "STEP_UNFIT"),
    ("isotropic_normalized", (*C, "rule"), "plain", None),
    ("isotropic_normalized", (*C, "step"), 0, "STEP_UNFIT"),
    ("isotropic_normalized", (*C, "step"), "-1/10", "STEP_UNFIT"),
    ("isotropic_normalized", (*C, "step"), 100, "NOT_KEPT"),
    ("isotropic_flow", (*C, "step"), "1/1000", "STEP_UNFIT"),
    ("isotropic_flow", (*C, "rule"), "normalized", "STEP_UNFIT"),
    ("isotropic_apart", (*C, "step"), 20, "NOT_KEPT"),
    # A step is as long as the gradient at the clock allows: e^-x̲ is 10^-6 here, 10^-28 there.
    ("isotropic_float_step", (*C, "step"), 10**8, "NOT_KEPT"),
    ("isotropic_rival", (*C, "step"), 10**30, None),
    ("isotropic_rival", (*C, "step"), 10**60, "NOT_KEPT"),
    # clock and slope
    ("isotropic_normalized", (*C, "clock"), 24, "CLOCK_NOT_SHOWN"),
    ("isotropic_normalized", (*C, "clock"), 23, None),
    ("isotropic_normalized", (*C, "clock"), "1/10", "NOT_KEPT"),
    ("isotropic_normalized", (*C, "clock"), 1, "NOT_KEPT"),
    ("isotropic_normalized", (*C, "clock"), 0, "NOT_POSITIVE"),
    ("isotropic_normalized", (*C, "clock"), 2**40 + 1, "OUT_OF_RANGE"),
    ("isotropic_rival", (*C, "clock"), 3, "CONE_NOT_SHOWN"),
    ("isotropic_normalized", (*C, "slope"), 2, "CONE_NOT_SHOWN"),
    ("isotropic_normalized", (*C, "slope"), "1/30", "NOT_KEPT"),
    ("isotropic_normalized", (*C, "slope"), 0, "NOT_POSITIVE"),
    ("isotropic_rival", (*C, "slope"), "1/7", "CONE_NOT_SHOWN"),
    ("isotropic_rival", (*C, "slope"), 1, "CONE_NOT_SHOWN"),
    ("isotropic_rival", (*C, "slope"), "1/100000", None),
    ("isotropic_rival", (*C, "slope"), "0x1p-70", "NOT_KEPT"),
    ("isotropic_normalized", (*C, "precision"), 63, "OUT_OF_RANGE"),
    ("isotropic_normalized", (*C, "precision"), 4097, "OUT_OF_RANGE"),
    ("isotropic_normalized", (*C, "precision"), 4096, None),
    # the statement: another loss is proved by the same numbers, another condition is not
    ("isotropic_normalized", ("loss",), "correlation", None),
    ("isotropic_normalized", ("condition",), "basin_cone", "KIND_UNFIT"),
    ("isotropic_normalized", ("condition",), "predicted_direction", "KIND_UNFIT"),
    ("isotropic_normalized", ("status",), "fails", "KIND_UNFIT"),
    ("isotropic_normalized", ("evidence",), "exact", "EVIDENCE_UNFIT"),
    ("isotropic_normalized", ("loss",), None, "LOSS_UNFIT"),
    ("isotropic_normalized", ("selection",), None, "SELECTION_UNFIT"),
    # cones
    ("cone_normalized", (*C, "aperture"), 0, "NOT_POSITIVE"),
    ("cone_normalized", (*C, "aperture"), 1, "OUT_OF_RANGE"),
    ("cone_normalized", (*C, "aperture"), "1/16", "CLOCK_NOT_SHOWN"),
    ("cone_rival", (*C, "aperture"), "1/256", "NOT_KEPT"),
    ("cone_rival", (*C, "aperture"), "1/1000", None),
    ("cone_normalized", (*C, "radius"), 29, "CLOCK_NOT_SHOWN"),
    ("cone_normalized", (*C, "radius"), 0, "NOT_POSITIVE"),
    ("cone_normalized", (*C, "radius"), 10**9, None),
    ("cone_normalized", (*C, "clock"), 21, "CLOCK_NOT_SHOWN"),
    ("cone_normalized", (*C, "clock"), 19, None),
    ("cone_normalized", (*C, "clock"), "1/10", "NOT_KEPT"),
    ("cone_rival", (*C, "clock"), 3, "CONE_NOT_SHOWN"),
    ("cone_normalized", (*C, "clock"), -20, "NOT_POSITIVE"),
    ("cone_normalized", (*C, "slope"), "2/5", "NOT_KEPT"),
    ("cone_normalized", (*C, "slope"), 2, "CONE_NOT_SHOWN"),
    ("cone_rival", (*C, "slope"), "1/6", "CONE_NOT_SHOWN"),
    ("cone_normalized", (*C, "step"), 8, "NOT_KEPT"),
    ("cone_normalized", (*C, "step"), 7, None),
    ("cone_normalized", (*C, "step"), 0, "STEP_UNFIT"),
    ("cone_rival", (*C, "rule"), "plain", "STEP_UNFIT"),
    ("cone_normalized", (*C, "precision"), 32, "OUT_OF_RANGE"),
    ("cone_normalized", ("condition",), "basin", "KIND_UNFIT"),
    # residuals: ‖E‖ = 0.177, s* = 26.13, ϱ/‖M‖ = 0.177
    ("residual_normalized", (*C, "iterate", 1, 1), 25, "BALL_LEFT"),
    ("residual_normalized", (*C, "iterate", 0, 1), 1000, None),
    ("residual_normalized", (*C, "iterate"), diagonal(20, 20), "CLOCK_NOT_SHOWN"),
    ("residual_normalized", (*C, "radius"), "3/8", "BALL_LEFT"),
    ("residual_normalized", (*C, "radius"), 2, "CLOCK_NOT_SHOWN"),
    ("residual_normalized", (*C, "radius"), -1, "OUT_OF_RANGE"),
    ("residual_normalized", (*C, "clock"), 26, "CLOCK_NOT_SHOWN"),
    ("residual_normalized", (*C, "clock"), 3, "BALL_LEFT"),
    ("residual_normalized", (*C, "clock"), 10**13, "OUT_OF_RANGE"),
    ("residual_normalized", (*C, "ball"), "1/4", "BALL_LEFT"),
    ("residual_normalized", (*C, "ball"), 64, "BALL_LEFT"),
    ("residual_normalized", (*C, "ball"), "0x1p+20000", "BALL_LEFT"),
    ("residual_rival", (*C, "drift"), "0x1p+20000", "BALL_LEFT"),
    ("residual_normalized", (*C, "ball"), 0, "NOT_POSITIVE"),
    ("residual_normalized", (*C, "drift"), "-1/2", "NOT_POSITIVE"),
    ("residual_normalized", (*C, "eigenvalues"), [1, "5/4"], "NOT_DEFINITE"),
    ("residual_normalized", (*C, "eigenvalues"), ["3/4", 1], "NOT_DEFINITE"),
    ("residual_normalized", (*C, "eigenvalues"), ["1023/1024", "1025/1024"], None),
    ("residual_normalized", (*C, "eigenvalues"), ["5/4", "3/4"], "NOT_DEFINITE"),
    ("residual_normalized", (*C, "eigenvalues"), ["3/4", 100], "STEP_TOO_LARGE"),
    ("residual_normalized", (*C, "eigenvalues"), ["1/1000000000000", 2], "BALL_LEFT"),
    ("residual_normalized", (*C, "eigenvalues"), ["3/4"], "WRONG_LENGTH"),
    ("residual_normalized", (*C, "eigenvalues"), [0, 2], "NOT_POSITIVE"),
    ("residual_normalized", (*C, "step"), 2, "STEP_TOO_LARGE"),
    ("residual_normalized", (*C, "step"), 0, "STEP_UNFIT"),
    ("residual_normalized", (*C, "rule"), "flow", "STEP_UNFIT"),
    ("residual_normalized", (*C, "rule"), "plain", None),
    ("residual_normalized", (*C, "precision"), 4097, "OUT_OF_RANGE"),
    ("residual_plain", (*C, "step"), 10**27, "STEP_TOO_LARGE"),
    ("residual_plain", (*C, "clock"), 64, "CLOCK_NOT_SHOWN"),
    # t = 32 - v(B + Z) must be large: A v/κ < Z, and A a/‖M‖² is taken from the clock's rise.
    ("residual_rival", (*C, "ball"), 7, None),
    ("residual_rival", (*C, "ball"), 9, "BALL_LEFT"),
    ("residual_rival", (*C, "drift"), 9, "BALL_LEFT"),
    ("residual_rival", (*C, "drift"), "1/1000000000000", "DRIFT_LEFT"),
    ("residual_rival", (*C, "iterate"), [[32, 0], [10, 0]], "CLOCK_NOT_SHOWN"),
    ("residual_rival", (*C, "iterate"), [[16, 0], [48, 0]], "BALL_LEFT"),
    ("residual_rival", (*C, "iterate", 0, 1), 10**6, None),
    ("residual_repeated", (*C, "radius"), "1/2", "BALL_LEFT"),
    # Two equal features with multipliers: the Gram matrix is singular.
    ("residual_repeated", S, exact_kkt([[0, 1, "1/2"], [1, 1, 1], [2, 1, "1/2"]],
                                       [[0, 1], [1, 1], [2, 1]], 2), "DEGENERATE"),
    ("residual_repeated", S, exact_kkt([[0, 1, 1], [1, 1, 1]], [[0, 1], [1, 1], [2, 1]], 2), None),
    ("residual_normalized", ("loss",), "correlation", "CLOCK_NOT_SHOWN"),
    ("residual_normalized", ("condition",), "basin_cone", "KIND_UNFIT"),
    # low norm: at W = 0 the excess is below the threshold for logistic loss, not for exponential
    ("low_norm_zero", ("loss",), "exponential", "BETA_TOO_SMALL"),
    ("low_norm_zero", ("loss",), "correlation", "BETA_TOO_SMALL"),
    ("low_norm_zero", (*C, "beta"), "9/65", "BETA_TOO_SMALL"),
    ("low_norm_zero", (*C, "beta"), 0, "BETA_TOO_SMALL"),
    ("low_norm_zero", (*C, "beta"), "1/5", "STEP_TOO_LARGE"),
    ("low_norm_zero", (*C, "step"), 14, "STEP_TOO_LARGE"),
    ("low_norm_zero", (*C, "step"), -1, "STEP_UNFIT"),
    ("low_norm_zero", (*C, "step"), 0, None),
    ("low_norm_zero", (*C, "W"), diagonal(-1, 0), "EXCESS_TOO_LARGE"),
    ("low_norm_zero", (*C, "W"), diagonal(-100, 100), "EXCESS_TOO_LARGE"),
    ("low_norm_zero", (*C, "W"), diagonal(-(10**9), 10**9), "EXCESS_TOO_LARGE"),
    ("low_norm_zero", (*C, "W"), diagonal(10**9, 10**9), None),
    ("low_norm_zero", (*C, "W"), diagonal("0x1p+20000", "0x1p+20000"), None),
    ("low_norm_zero", (*C, "W"), diagonal("0x1p+20000", "-0x1p+20000"), "EXCESS_TOO_LARGE"),
    ("low_norm_zero", (*C, "W", 0), [0], "WRONG_LENGTH"),
    ("low_norm_zero", (*C, "separator"), [[0, 0], [0, 0]], "MARGIN_TOO_SMALL"),
    ("low_norm_zero", (*C, "separator"), diagonal(1, "99/100"), "MARGIN_TOO_SMALL"),
    ("low_norm_zero", (*C, "precision"), 7, "OUT_OF_RANGE"),
    ("low_norm_zero", (*C, "precision"), 65_537, "OUT_OF_RANGE"),
    ("low_norm_zero", ("condition",), "selection_trap", "KIND_UNFIT"),
    ("low_norm_zero", ("status",), "fails", "KIND_UNFIT"),
    ("low_norm_zero", ("evidence",), "exact", "EVIDENCE_UNFIT"),
    ("low_norm_zero", ("loss",), None, "LOSS_UNFIT"),
    ("low_norm_flow", (*C, "W"), diagonal(0, 0), None),
    ("low_norm_flow", (*C, "W"), diagonal(-1, -1), "EXCESS_TOO_LARGE"),
    ("low_norm_flow", (*C, "beta"), "1/4", "BETA_TOO_SMALL"),
    # Two deficits of 1/2 make exactly the gap 1.
    ("low_norm_correlation", (*C, "W"), diagonal(0, 0), "EXCESS_TOO_LARGE"),
    ("low_norm_correlation", (*C, "W"), diagonal("1/1000", "1/1000"), None),
    ("low_norm_correlation", (*C, "step"), 8, "STEP_TOO_LARGE"),
    ("low_norm_correlation", (*C, "beta"), "249999/1000000", "BETA_TOO_SMALL"),
    # traps: half the gap
    ("trap_logistic", (*C, "W"), [[0, 0], [0, 0]], "EXCESS_TOO_LARGE"),
    ("trap_logistic", (*C, "W"), diagonal(0, 3), "EXCESS_TOO_LARGE"),
    ("trap_logistic", (*C, "W"), diagonal(1, 3), None),
    ("trap_logistic", (*C, "beta"), "1/8", "BETA_TOO_SMALL"),
    ("trap_logistic", (*C, "step"), 15, "STEP_TOO_LARGE"),
    ("trap_logistic", (*C, "step"), "-1/2", "STEP_UNFIT"),
    ("trap_logistic", (*C, "precision"), 0, "OUT_OF_RANGE"),
    ("trap_logistic", (*C, "separator"), IDENTITY, "UNKNOWN_FIELD"),
    ("trap_correlation", (*C, "W"), diagonal(1, 1), "EXCESS_TOO_LARGE"),
    ("trap_logistic", ("condition",), "low_norm_limit", "KIND_UNFIT"),
    # first steps
    ("first_step_limit_correlation", (*C, "first_step"), "1/100", None),
    ("first_step_limit_logistic", (*C, "first_step"), 0, "NOT_POSITIVE"),
    ("first_step_limit_logistic", (*C, "first_step"), -64, "NOT_POSITIVE"),
    ("first_step_limit_exponential", (*C, "first_step"), 10**9, None),
    ("first_step_limit_logistic", (*C, "step"), 0, "NOT_POSITIVE"),
    ("first_step_limit_logistic", (*C, "step"), 15, "STEP_TOO_LARGE"),
    ("first_step_limit_logistic", (*C, "beta"), "1/8", "BETA_TOO_SMALL"),
    ("first_step_limit_logistic", (*C, "separator", 0, 0), "1/2", "MARGIN_TOO_SMALL"),
    ("first_step_limit_logistic", (*C, "precision"), 7, "OUT_OF_RANGE"),
    # signs of products
    ("nonnegative_products", ("status",), "fails", "KIND_UNFIT"),
    ("nonnegative_products", ("evidence",), "enclosed", "EVIDENCE_UNFIT"),
    ("nonnegative_products", ("loss",), "logistic", "LOSS_UNFIT"),
    ("negative_product", (*C, "rows"), [[1, 0], [0, 1]], "NOT_INCREASING"),
    ("negative_product", (*C, "rows"), [[0, 1], [0, 1]], "NOT_INCREASING"),
    ("negative_product", (*C, "rows"), [[0, 1]], "WRONG_LENGTH"),
    ("negative_product", (*C, "rows", 0), [0, 0], "SELECTED_ROW"),
    ("negative_product", ("status",), "holds", "KIND_UNFIT"),
    ("zero_feature", (*C, "row"), [0, 1], "FEATURE_NOT_ZERO"),
    ("zero_feature", (*C, "row"), [1, 0], "SELECTED_ROW"),
    ("zero_feature", (*C, "row"), [2, 0], "OUT_OF_RANGE"),
    ("nonnegative_unequal", (*C, "tokens"), [0, 1], "NOT_UNEQUAL"),
    ("nonnegative_tie", (*C, "tokens"), [1, 0], "NOT_INCREASING"),
]

# case, path within the dataset, new value, expected code
LIMIT_OTHER_DATA = [
    ("isotropic_normalized", ("X", 1, 0), [0, 2], "NOT_COMPLEMENTARY"),
    ("isotropic_normalized", ("v",), [1, -1], "CONE_NOT_SHOWN"),
    ("isotropic_normalized", ("v",), [1, 0], "CONE_NOT_SHOWN"),
    ("isotropic_normalized", ("Y", 0), -1, "CONE_NOT_SHOWN"),
    ("isotropic_normalized", ("X", 0), [[1, 0], [0, 0], [0, "-1/1000000000"]], "WRONG_SUPPORT"),
    ("isotropic_normalized", ("v",), [1, 100_001], "SCORE_LIMIT"),
    ("isotropic_normalized", ("v",), [-100_001, 1], "SCORE_LIMIT"),
    ("isotropic_float_step", ("v",), [100_001, 100_001], None),
    # Unequal pulls: E is the relative entropy of (1/2, 1/2) to them.
    ("isotropic_normalized", ("v",), [1, 1000], "NOT_KEPT"),
    # The rival moves closer: κ = 1/1000.
    ("isotropic_rival", ("X", 0, 2), ["-2002/1000", 1], "CONE_NOT_SHOWN"),
    ("cone_normalized", ("X", 1, 0), [0, 2], "NOT_COMPLEMENTARY"),
    ("cone_normalized", ("v",), [1, 0], "CONE_NOT_SHOWN"),
    ("cone_normalized", ("v",), [1, 200_000], "SCORE_LIMIT"),
    ("cone_rival", ("X", 0, 2), ["-21/10", 1], "CONE_NOT_SHOWN"),
    ("residual_normalized", ("v",), [1, -1], "NOT_LOCALLY_OPTIMAL"),
    ("residual_normalized", ("v",), [0, 1], "NOT_LOCALLY_OPTIMAL"),
    ("residual_normalized", ("v",), [1, 100_001], "SCORE_LIMIT"),
    ("residual_normalized", ("X", 0, 0), [2, 0], "NOT_COMPLEMENTARY"),
    # The pulls are no longer equal.
    ("residual_normalized", ("v",), [4, 1], "BALL_LEFT"),
    ("residual_rival", ("X", 0, 2), ["-201/100", 1], "BALL_LEFT"),
    ("low_norm_zero", ("X", 0, 1), [1, 0], "OPTIMUM_NOT_UNIQUE"),
    ("low_norm_zero", ("z", 0), [-1, 0], "MARGIN_TOO_SMALL"),
    ("low_norm_zero", ("z", 0), [2, 0], "BETA_TOO_SMALL"),
    ("low_norm_zero", ("Y", 0), -1, "MARGIN_TOO_SMALL"),
    ("low_norm_zero", ("v",), [1, 100_001], "SCORE_LIMIT"),
    ("low_norm_zero", ("v",), [1, "1/2"], "EXCESS_TOO_LARGE"),
    ("low_norm_zero", ("X", 0), [[1, 0], [0, 0], [0, 0], [0, 0]], "EXCESS_TOO_LARGE"),
    ("low_norm_correlation", ("X", 0), [[3, 0], [0, 0]], "BETA_TOO_SMALL"),
    ("trap_logistic", ("v",), [1, "1/10"], None),
    ("trap_logistic", ("v",), [1, "1/20"], "EXCESS_TOO_LARGE"),
    ("trap_logistic", ("X", 1, 1), [0, 1], "OPTIMUM_NOT_UNIQUE"),
    ("trap_logistic", ("v",), [-100_001, 1], "SCORE_LIMIT"),
    ("first_step_limit_logistic", ("X", 0, 1), [1, 0], "OPTIMUM_NOT_UNIQUE"),
    ("first_step_limit_logistic", ("v",), [100_001, 1], "SCORE_LIMIT"),
    ("first_step_limit_correlation", ("z", 0), [4, 0], "BETA_TOO_SMALL"),
    ("first_step_limit_correlation", ("X", 1, 0), [-9, 1], "MARGIN_TOO_SMALL"),
    ("first_step_limit_logistic", ("z", 1), [0, "1/2"], "MARGIN_TOO_SMALL"),
    ("nonnegative_products", ("X", 0, 1), [1, 0], "OPTIMUM_NOT_UNIQUE"),
    ("nonnegative_products", ("X", 0, 2), [-1, 0], "WRONG_LEVELS"),
    ("nonnegative_products", ("X", 0, 2), [0, 0], None),
    ("nonnegative_products", ("X", 0, 2), [3, -3], "PRODUCT_NEGATIVE"),
    ("nonnegative_products", ("z", 1), [0, 0], "FEATURE_ZERO"),
    ("nonnegative_products", ("X", 1, 0), [-1, 3], None),
    ("nonnegative_products", ("X", 1), [[1, 1], [2, -1]], None),
    ("negative_product", ("Y", 1), 1, "SELECTED_ROW"),
    ("negative_product", ("z", 1), [-1], "PRODUCT_NOT_NEGATIVE"),
    ("negative_product", ("z", 1), [0], "PRODUCT_NOT_NEGATIVE"),
    ("negative_product", ("X", 0, 0), [0], "OPTIMUM_NOT_UNIQUE"),
    ("zero_feature", ("z", 1), [0, 1], "FEATURE_NOT_ZERO"),
    ("zero_feature", ("X", 0, 0), [0, 0], "OPTIMUM_NOT_UNIQUE"),
    ("nonnegative_unequal", ("X", 0, 2), [0, 0], "NOT_UNEQUAL"),
    ("nonnegative_tie", ("v",), [0, 1], "NOT_TIED"),
]


def refusals(dataset, verdict):
    return [refusal.code.name for refusal in check_text(text(document(dataset, verdict))).refusals]


@pytest.mark.parametrize(("name", "path", "new", "code"), LIMIT_TARGETED)
def test_targeted_mutation(name, path, new, code):
    case = LIMIT_CASES[name]
    assert refusals(case.dataset, changed(case.verdict, path, new)) == ([code] if code else [])


@pytest.mark.parametrize(("name", "path", "new", "code"), LIMIT_OTHER_DATA)
def test_certificate_of_another_dataset(name, path, new, code):
    case = LIMIT_CASES[name]
    found = refusals(changed(case.dataset, path, new), case.verdict)
    assert found == ([code] if code else [])


def test_support_with_a_zero_multiplier_has_no_residual():
    assert refusals(DEGENERATE.dataset, DEGENERATE.verdict) == ["DEGENERATE"]


def test_first_step_must_be_long_enough():
    # Scores (1, 0) and (1/20, 0): the second threshold is 0.0488, the first deficit costs 0.227 at
    # η₀ = 1 and 0.0029 at η₀ = 64.
    case = LIMIT_CASES["first_step_limit_exponential"]
    dataset = changed(case.dataset, ("v",), [1, "1/20"])
    assert refusals(dataset, case.verdict) == []
    short = changed(case.verdict, (*C, "first_step"), 1)
    assert refusals(dataset, short) == ["EXCESS_TOO_LARGE"]


def test_opposed_features_have_no_nonnegative_products():
    case = LIMIT_CASES["negative_product"]
    holds = {**case.verdict, "status": "holds", "certificate": {"kind": "nonnegative_products"}}
    assert refusals(case.dataset, holds) == ["PRODUCT_NEGATIVE"]


def test_statement_names_the_matrix_of_the_run():
    run = {**RUN, "start": [[0, 0], [0, 0]], "final": [[3, 0], [0, 3]]}
    for W, place in (([["3/1", 0], [0, 3]], ", the final matrix of the recorded run, converges"),
                     ([[0, 0], [0, 0]], "W = 0, the start matrix of the recorded run, converges"),
                     ([[4, 0], [0, 3]], "‖W‖_F ≈ 5, converges")):
        certificate = low_norm(W, 10, "1/7")
        verdict = changed(LIMIT_CASES["low_norm_zero"].verdict, C, certificate)
        result = check_text(text(document(UNITS, verdict, run=run)))
        assert result.accepted and place in result.outcomes[0].text
    both = check_text(text(document(UNITS, changed(verdict, (*C, "W"), run["start"]),
                                    run={**run, "final": run["start"]})))
    assert "the final and the start matrix of the recorded run" in both.outcomes[0].text
