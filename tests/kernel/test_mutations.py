"""Every field of every kind matters: each mutation of a valid file is refused, with its code."""

import pytest

from verifier.kernel import Unreadable, check_text

from .builders import (
    DELETE,
    DIAGONAL,
    REPEATED,
    RUN,
    changed,
    document,
    mixed_document,
    text,
)
from .cases import CASES
from .limit_builders import LIMIT_CASES
from .ray_builders import RAY_CASES
from .run_builders import RUN_CASES

C = ("certificate",)

# case, path within the verdict, new value, expected code
TARGETED = [
    # scores
    ("unique_optimum", (*C, "tokens"), [0, 1], "NOT_OPTIMAL"),
    ("unique_optimum", (*C, "tokens"), [2, 0], "NOT_OPTIMAL"),
    ("unique_optimum", (*C, "tokens"), [0], "WRONG_LENGTH"),
    ("unique_optimum", (*C, "tokens"), [0, 2], "OUT_OF_RANGE"),
    ("unique_optimum", (*C, "tokens"), [-1, 0], "OUT_OF_RANGE"),
    ("unique_optimum", (*C, "tokens", 2), 0, "WRONG_LENGTH"),
    ("optimum_tie", (*C, "sample"), 1, "OUT_OF_RANGE"),
    ("optimum_tie", (*C, "tokens"), [1, 0], "NOT_INCREASING"),
    ("optimum_tie", (*C, "tokens"), [0, 0], "NOT_INCREASING"),
    ("optimum_tie", (*C, "tokens"), [0, 2], "OUT_OF_RANGE"),
    ("equal_scores", (*C, "levels", 0), [0, 0], None),
    ("equal_scores", (*C, "levels", 0, 0), 1, "WRONG_LEVELS"),
    ("equal_scores", (*C, "levels", 0, 1), -1, "WRONG_LEVELS"),
    ("equal_scores", (*C, "levels", 1), [0, 1], "WRONG_LEVELS"),
    ("equal_scores", (*C, "levels", 1, 1), None, "WRONG_LEVELS"),
    ("equal_scores", (*C, "levels", 1, 1), "1/2", "WRONG_LEVELS"),
    ("equal_scores", (*C, "levels", 1), DELETE, "WRONG_LENGTH"),
    ("equal_scores", (*C, "levels", 1, 2), 0, "WRONG_LENGTH"),
    ("unequal_scores", (*C, "tokens"), [0, 1], "NOT_UNEQUAL"),
    ("unequal_scores", (*C, "tokens"), [2, 1], "NOT_INCREASING"),
    ("unequal_scores", (*C, "sample"), 1, "OUT_OF_RANGE"),
    ("unequal_scores", (*C, "sample"), 2, "OUT_OF_RANGE"),
    ("no_flat_sample", (*C, "pairs", 0), [2, 0], "NO_GAP"),
    ("no_flat_sample", (*C, "pairs", 1), [1, 1], "NO_GAP"),
    ("no_flat_sample", (*C, "pairs", 1), [0, 2], "OUT_OF_RANGE"),
    ("no_flat_sample", (*C, "pairs", 1), DELETE, "WRONG_LENGTH"),
    ("flat_samples", (*C, "samples"), [], "EMPTY"),
    ("flat_samples", (*C, "samples"), [1], "WRONG_FLATNESS"),
    ("flat_samples", (*C, "samples"), [0, 1], "WRONG_FLATNESS"),
    ("flat_samples", (*C, "samples"), [0, 0], "NOT_INCREASING"),
    ("flat_samples", (*C, "samples"), [2], "OUT_OF_RANGE"),
    # feasibility
    ("separator", (*C, "W"), [[-1, 0], [0, 1]], "MARGIN_TOO_SMALL"),
    ("separator", (*C, "W", 0, 0), "999999999999/1000000000000", "MARGIN_TOO_SMALL"),
    ("separator", (*C, "W", 1, 1), 0, "MARGIN_TOO_SMALL"),
    ("separator", (*C, "W"), [[0, 1], [1, 0]], "MARGIN_TOO_SMALL"),
    ("separator", (*C, "W", 1), DELETE, "WRONG_LENGTH"),
    ("separator", (*C, "W", 1, 2), 0, "WRONG_LENGTH"),
    ("separator", ("selection",), [1, 0], "MARGIN_TOO_SMALL"),
    ("separator", ("selection",), [0, 1], "MARGIN_TOO_SMALL"),
    ("farkas", (*C, "multipliers"), [], "EMPTY"),
    ("farkas", (*C, "multipliers", 0, 2), 2, "NOT_CANCELLING"),
    ("farkas", (*C, "multipliers", 0, 2), -1, "NOT_POSITIVE"),
    ("farkas", (*C, "multipliers", 0, 2), "0/7", "ZERO_ENTRY"),
    ("farkas", (*C, "multipliers", 1), DELETE, "NOT_CANCELLING"),
    ("farkas", (*C, "multipliers"), [[0, 2, 1], [0, 0, 1]], "NOT_INCREASING"),
    ("farkas", (*C, "multipliers", 1), [0, 0, 1], "NOT_INCREASING"),
    ("farkas", (*C, "multipliers", 0, 1), 1, "SELECTED_ROW"),
    ("farkas", (*C, "multipliers", 0, 0), 2, "OUT_OF_RANGE"),
    ("farkas", (*C, "multipliers", 1, 1), 3, "OUT_OF_RANGE"),
    ("farkas", (*C, "multipliers", 2), [1, 1, 1], "NOT_CANCELLING"),
    ("farkas", ("selection",), [0, 0], "SELECTED_ROW"),
    ("query_cycle", (*C, "edges"), [], "EMPTY"),
    ("query_cycle", (*C, "edges", 1), DELETE, "BROKEN_CYCLE"),
    ("query_cycle", (*C, "edges", 0), [0, 0], "SELECTED_ROW"),
    ("query_cycle", (*C, "edges", 1, 0), 2, "OUT_OF_RANGE"),
    ("query_cycle", (*C, "edges", 1), [0, 1], "BROKEN_CYCLE"),
    ("query_cycle", ("selection",), [0, 0], "SELECTED_ROW"),
    ("topological_order", (*C, "modulus"), 1, "OUT_OF_RANGE"),
    ("topological_order", (*C, "modulus"), 2**64, "OUT_OF_RANGE"),
    ("topological_order", (*C, "modulus"), -3, "OUT_OF_RANGE"),
    ("topological_order", (*C, "classes", 1), DELETE, "NOT_A_PARTITION"),
    ("topological_order", (*C, "classes"), [], "NOT_A_PARTITION"),
    ("topological_order", (*C, "classes", 0, "samples"), [0], "WRONG_ORDER"),
    ("topological_order", (*C, "classes", 0, "samples"), [], "NOT_A_PARTITION"),
    ("topological_order", (*C, "classes", 0, "samples"), [0, 1, 1], "NOT_A_PARTITION"),
    ("topological_order", (*C, "classes", 0, "samples"), [0, 2], "NOT_A_PARTITION"),
    ("topological_order", (*C, "classes", 0, "order"), [[1, 0], [0, 0], [0, 2]], "WRONG_ORDER"),
    ("topological_order", (*C, "classes", 0, "order"), [[0, 0], [0, 2], [0, 1]], "WRONG_ORDER"),
    ("topological_order", (*C, "classes", 0, "order", 3), [0, 1], "WRONG_ORDER"),
    ("topological_order", (*C, "classes", 0, "order", 2), DELETE, "WRONG_ORDER"),
    ("topological_order", (*C, "classes", 0, "order", 0), [2, 1], "WRONG_ORDER"),
    ("topological_order", (*C, "classes", 1, "order"), [[2, 1], [2, 0]], "WRONG_ORDER"),
    ("topological_order", (*C, "classes", 1, "order", 0, 1), 2, "OUT_OF_RANGE"),
    ("topological_order", (*C, "classes"), [
        {"samples": [0], "order": [[0, 0], [0, 1], [0, 2]]},
        {"samples": [1], "order": [[1, 0], [1, 1]]},
        {"samples": [2], "order": [[2, 0], [2, 1]]}], "NOT_A_PARTITION"),
    ("topological_order", ("selection",), [1, 0, 0], "WRONG_ORDER"),
    # Att-SVM, exactly
    ("support_exact", (*C, "multipliers", 0, 2), 2, "NOT_COMPLEMENTARY"),
    ("support_exact", (*C, "multipliers", 0, 2), "1/2", "MARGIN_TOO_SMALL"),
    ("support_exact", (*C, "multipliers", 0, 2), -1, "NOT_POSITIVE"),
    ("support_exact", (*C, "multipliers", 1), DELETE, "MARGIN_TOO_SMALL"),
    ("support_exact", (*C, "multipliers"), [], "MARGIN_TOO_SMALL"),
    ("support_exact", (*C, "multipliers", 0), [0, 2, "1/2"], "NOT_COMPLEMENTARY"),
    ("support_exact", (*C, "support"), [[0, 1]], "WRONG_SUPPORT"),
    ("support_exact", (*C, "support"), [[0, 1], [0, 2], [1, 1]], "WRONG_SUPPORT"),
    ("support_exact", (*C, "support"), [[1, 1], [0, 1]], "NOT_INCREASING"),
    ("support_exact", (*C, "support", 0), [0, 0], "SELECTED_ROW"),
    ("support_exact", (*C, "norm_squared"), 3, "WRONG_NORM"),
    ("support_exact", (*C, "norm_squared"), -2, "WRONG_NORM"),
    ("support_exact", ("selection",), [1, 0], "SELECTED_ROW"),
    ("support_exact", ("selection",), [0, 1], "SELECTED_ROW"),
    # The tie with multiplier 0 belongs to the support.
    ("support_tied", (*C, "support"), [[0, 1]], "WRONG_SUPPORT"),
    ("support_tied", (*C, "norm_squared"), 1, "WRONG_NORM"),
    ("all_support_exact", ("status",), "fails", "STATUS_UNPROVED"),
    ("all_support_enclosed", ("status",), "fails", "STATUS_UNPROVED"),
    ("not_all_support_exact", ("status",), "holds", "STATUS_UNPROVED"),
    ("not_all_support_enclosed", ("status",), "holds", "STATUS_UNPROVED"),
    ("local_exact", ("status",), "fails", "STATUS_UNPROVED"),
    ("local_enclosed", ("status",), "fails", "STATUS_UNPROVED"),
    ("not_local_exact", ("status",), "holds", "STATUS_UNPROVED"),
    ("not_local_enclosed", ("status",), "holds", "STATUS_UNPROVED"),
    ("not_local_exact", ("selection",), [0, 0], "STATUS_UNPROVED"),
    ("local_exact", ("selection",), [2, 0], "STATUS_UNPROVED"),
    # Att-SVM, enclosed
    ("support_enclosed", (*C, "rows"), [[1, 1], [2, 1]], None),
    ("support_enclosed", (*C, "rows", 0), [0, 2], "COARSE_INVERSE"),
    ("support_enclosed", (*C, "rows"), [[1, 1], [0, 1]], "NOT_INCREASING"),
    ("support_enclosed", (*C, "rows", 1), [2, 1], "COARSE_INVERSE"),
    ("support_enclosed", (*C, "rows", 1), DELETE, "WRONG_LENGTH"),
    # Here ε is the multiplier itself, 1/2.
    ("support_enclosed", (*C, "multipliers", 0), "1/2", "NOT_POSITIVE"),
    ("support_enclosed", (*C, "multipliers", 0), 2, "NOT_POSITIVE"),
    ("support_enclosed", (*C, "multipliers", 0), -1, "NOT_POSITIVE"),
    ("support_enclosed", (*C, "multipliers", 0), "2/3", "MARGIN_TOO_SMALL"),
    ("support_enclosed", (*C, "multipliers", 0), "9/10", "WRONG_NORM"),
    ("support_enclosed", (*C, "multipliers", 0), "999999/1000000", "WRONG_NORM"),
    ("support_enclosed", (*C, "multipliers", 2), 1, "WRONG_LENGTH"),
    ("support_enclosed", (*C, "inverse", "exponent"), -9, "WRONG_NORM"),
    ("support_enclosed", (*C, "inverse", "exponent"), -8, "COARSE_INVERSE"),
    ("support_enclosed", (*C, "inverse", "exponent"), 10, "COARSE_INVERSE"),
    ("support_enclosed", (*C, "inverse", "exponent"), 20_001, "OUT_OF_RANGE"),
    ("support_enclosed", (*C, "inverse", "entries", 0, 0), 0, "COARSE_INVERSE"),
    ("support_enclosed", (*C, "inverse", "entries", 0, 0), 2048, "COARSE_INVERSE"),
    ("support_enclosed", (*C, "inverse", "entries", 0, 0), -1023, "COARSE_INVERSE"),
    ("support_enclosed", (*C, "inverse", "entries", 0, 1), 1023, "COARSE_INVERSE"),
    ("support_enclosed", (*C, "inverse", "entries", 0, 1), "1", "WRONG_TYPE"),
    ("support_enclosed", (*C, "inverse", "entries", 1), DELETE, "WRONG_LENGTH"),
    ("support_enclosed", (*C, "inverse", "entries", 1, 1), DELETE, "WRONG_LENGTH"),
    ("support_enclosed", (*C, "support"), [[0, 1], [1, 1]], "WRONG_SUPPORT"),
    ("support_enclosed", (*C, "support"), [[0, 1], [0, 2], [1, 1], [2, 1]], "WRONG_SUPPORT"),
    ("support_enclosed", (*C, "support"), [[0, 1], [2, 1], [1, 1]], "NOT_INCREASING"),
    ("support_enclosed", (*C, "norm_squared"), [2, 2], "WRONG_NORM"),
    ("support_enclosed", (*C, "norm_squared"), [1, 2], "WRONG_NORM"),
    ("support_enclosed", (*C, "norm_squared"), [2, "2000001/1000000"], "WRONG_NORM"),
    ("all_support_enclosed", (*C, "norm_squared", 0), "1048575/524288", None),
    ("all_support_enclosed", (*C, "norm_squared", 0), "1048574/524288", "WRONG_NORM"),
    ("support_enclosed", (*C, "norm_squared", 2), 2, "WRONG_LENGTH"),
    ("support_enclosed", ("selection",), [2, 0, 0], "MARGIN_TOO_SMALL"),
    ("not_local_enclosed", ("selection",), [0, 1], "SELECTED_ROW"),
    ("local_primal_dual", (*C, "W", 0, 0), "98/200", "MARGIN_TOO_SMALL"),
    # Farther from the optimum the gap no longer excludes the row.
    ("local_primal_dual", (*C, "W"), [["51/100", 0], ["51/100", 0]], "NOT_EXCLUDED"),
    ("local_primal_dual", (*C, "W"), [["1/2", 0], ["1/2", 0]], None),
    # Here (m - 1)² = ‖φ‖² g exactly: 289/196 on both sides.
    ("local_primal_dual", (*C, "W"), [["9/14", "3/14"], ["5/14", 0]], "NOT_EXCLUDED"),
    ("local_primal_dual", (*C, "W", 0, 1), 1, "NOT_EXCLUDED"),
    ("local_primal_dual", (*C, "multipliers"), [], "NOT_EXCLUDED"),
    ("local_primal_dual", (*C, "multipliers", 0, 2), 1, "NOT_EXCLUDED"),
    ("local_primal_dual", (*C, "multipliers", 0, 2), "-1/2", "NOT_POSITIVE"),
    ("local_primal_dual", (*C, "multipliers", 0, 1), 2, "NOT_EXCLUDED"),
    ("local_primal_dual", (*C, "excluded"), [], "NOT_EXCLUDED"),
    ("local_primal_dual", (*C, "excluded"), [[0, 1]], "NOT_EXCLUDED"),
    ("local_primal_dual", (*C, "excluded", 0), [0, 0], "SELECTED_ROW"),
    ("local_primal_dual", ("status",), "fails", "KIND_UNFIT"),
    ("local_primal_dual", ("selection",), [1], "MARGIN_TOO_SMALL"),
    ("not_all_support_primal_dual", (*C, "excluded"), [], "EMPTY"),
    ("not_all_support_primal_dual", (*C, "excluded"), [[0, 1], [0, 2]], "NOT_EXCLUDED"),
    ("not_all_support_primal_dual", ("status",), "holds", "KIND_UNFIT"),
    # ranks
    ("full_rank_rows", (*C, "modulus"), 1, "OUT_OF_RANGE"),
    ("full_rank_rows", (*C, "modulus"), 2**64, "OUT_OF_RANGE"),
    ("full_rank_factors", (*C, "modulus"), 0, "OUT_OF_RANGE"),
    ("row_dependency", (*C, "coefficients"), [], "EMPTY"),
    ("row_dependency", (*C, "coefficients", 0, 2), 3, "NOT_CANCELLING"),
    ("row_dependency", (*C, "coefficients", 0, 2), -2, "NOT_CANCELLING"),
    ("row_dependency", (*C, "coefficients", 0, 2), 0, "ZERO_ENTRY"),
    ("row_dependency", (*C, "coefficients", 0, 1), 0, "SELECTED_ROW"),
    ("row_dependency", (*C, "coefficients", 1), DELETE, "NOT_CANCELLING"),
    ("row_dependency", (*C, "coefficients"), [[0, 2, -1], [0, 1, 2]], "NOT_INCREASING"),
    ("row_dependency_narrow", (*C, "coefficients", 0, 2), 2, "NOT_CANCELLING"),
    ("row_dependency", C, {"kind": "too_many_rows"}, "NOT_DEPENDENT"),
    ("too_many_rows", (*C, "modulus"), 7, "UNKNOWN_FIELD"),
    ("exact_rank", (*C, "rank"), 1, "WRONG_RANK"),
    ("exact_rank", (*C, "rank"), 3, "OUT_OF_RANGE"),
    ("exact_rank", (*C, "multipliers", 1, 2), "2/3", "MARGIN_TOO_SMALL"),
    ("exact_rank", (*C, "multipliers", 1, 2), "3/2", "NOT_COMPLEMENTARY"),
    ("exact_rank", ("selection",), [2, 1], "SELECTED_ROW"),
    ("modular_rank", (*C, "rank"), 1, "WRONG_RANK"),
    ("modular_rank", (*C, "rank"), 0, "WRONG_RANK"),
    ("modular_rank", (*C, "rank"), 3, "OUT_OF_RANGE"),
    ("modular_rank", (*C, "modulus"), 2, "NOT_INDEPENDENT"),
    ("modular_rank", (*C, "modulus"), 4, "NOT_INDEPENDENT"),
    ("modular_rank", (*C, "modulus"), 1, "OUT_OF_RANGE"),
    ("modular_rank", (*C, "enclosure", "kind"), "exact_kkt", "UNKNOWN_NAME"),
    ("modular_rank", (*C, "enclosure", "kind"), "modular_rank", "UNKNOWN_NAME"),
    ("modular_rank", (*C, "enclosure", "support"), [[0, 1], [1, 1]], "WRONG_SUPPORT"),
    ("modular_rank", (*C, "enclosure", "inverse", "entries", 0, 0), 0, "COARSE_INVERSE"),
    ("modular_rank_one", (*C, "rank"), 0, "WRONG_RANK"),
    ("modular_rank", (*C, "differences"), [[0, 1], [1, 1]], None),
    ("modular_rank", (*C, "differences"), [[0, 2]], "WRONG_SIDE"),
    ("modular_rank", (*C, "differences"), [[2, 1]], "WRONG_SIDE"),
    ("modular_rank", (*C, "differences"), [[1, 1], [0, 1]], "NOT_INCREASING"),
    ("modular_rank_parallel", (*C, "differences"), [[0, 1], [1, 1]], "WRONG_RANK"),
    ("modular_rank_divided", (*C, "differences"), [], "WRONG_RANK"),
    ("modular_rank_divided", (*C, "differences", 1), DELETE, "WRONG_RANK"),
    ("modular_rank_divided", (*C, "differences"), [[0, 1], [0, 2]], "WRONG_RANK"),
    ("modular_rank_divided", (*C, "differences"), [[0, 1], [0, 2], [1, 1], [2, 1]], "WRONG_RANK"),
    ("modular_rank_divided", (*C, "rank"), 3, "WRONG_RANK"),
    ("modular_rank_divided", (*C, "rank"), 1, "WRONG_RANK"),
    # first step
    ("first_step_logistic", (*C, "precision"), 7, "OUT_OF_RANGE"),
    ("first_step_logistic", (*C, "precision"), 65_537, "OUT_OF_RANGE"),
    ("first_step_negative_logistic", (*C, "row"), [1, 0], "SIGN_NOT_SHOWN"),
    ("first_step_negative_logistic", (*C, "row"), [0, 0], "SELECTED_ROW"),
    ("first_step_negative_logistic", (*C, "row"), [2, 0], "OUT_OF_RANGE"),
    ("first_step_negative_logistic", (*C, "sign"), 0, "SIGN_NOT_SHOWN"),
    ("first_step_negative_logistic", (*C, "sign"), 1, "OUT_OF_RANGE"),
    ("first_step_negative_logistic", (*C, "sign"), -2, "OUT_OF_RANGE"),
    ("first_step_negative_logistic", (*C, "precision"), 1, "OUT_OF_RANGE"),
    ("first_step_negative_exponential", (*C, "row"), [1, 0], "SIGN_NOT_SHOWN"),
    ("first_step_negative_correlation", (*C, "row"), [1, 0], "SIGN_NOT_SHOWN"),
    ("first_step_negative_correlation", (*C, "sign"), 0, "SIGN_NOT_SHOWN"),
    ("first_step_negative_logistic", ("loss",), "correlation", "EVIDENCE_UNFIT"),
    ("first_step_negative_correlation", ("loss",), "exponential", "EVIDENCE_UNFIT"),
    ("first_step_zero_logistic", (*C, "sign"), -1, "SIGN_NOT_SHOWN"),
    ("first_step_zero_exponential", (*C, "sign"), -1, "SIGN_NOT_SHOWN"),
    ("first_step_zero_correlation", (*C, "sign"), -1, "SIGN_NOT_SHOWN"),
    ("first_step_zero_logistic", (*C, "precision"), 70_000, "OUT_OF_RANGE"),
    ("first_step_zero_reflected", ("loss",), "exponential", "SIGN_NOT_SHOWN"),
    ("first_step_zero_reflected", ("loss",), "correlation", None),
    ("first_step_zero_reflected", ("status",), "holds", "KIND_UNFIT"),
    # stationary points
    ("injective_rows", (*C, "sample"), 2, "OUT_OF_RANGE"),
    ("injective_rows", (*C, "rank", "kind"), "row_dependency", "UNKNOWN_NAME"),
    ("injective_rows", (*C, "rank", "modulus"), 1, "OUT_OF_RANGE"),
    ("injective_factors", (*C, "rank", "modulus"), 2**64, "OUT_OF_RANGE"),
    ("monotone_direction", (*C, "D"), [[-1, 0], [0, 1]], "NOT_MONOTONE"),
    ("monotone_direction", (*C, "D"), [[1, 0], [0, -1]], "NOT_MONOTONE"),
    ("monotone_direction", (*C, "D"), [[0, 0], [0, 0]], "NO_WITNESS"),
    ("monotone_direction", (*C, "D"), [[0, 0], [0, 1]], "NO_WITNESS"),
    ("monotone_direction", (*C, "witness"), [0, 1, 1], "NO_WITNESS"),
    ("monotone_direction", (*C, "witness"), [2, 0, 1], "OUT_OF_RANGE"),
    ("monotone_direction", (*C, "witness"), [1, 0, 2], "OUT_OF_RANGE"),
    ("monotone_direction", (*C, "witness", 3), 0, "WRONG_LENGTH"),
    ("monotone_direction", ("status",), "fails", "KIND_UNFIT"),
    ("separable_queries", (*C, "u"), [-1, "-1/2"], "NOT_SEPARATING"),
    ("separable_queries", (*C, "u"), [1, "1/2"], "NOT_SEPARATING"),
    ("separable_queries", (*C, "u"), [0, 0], "NOT_SEPARATING"),
    ("separable_queries", (*C, "u"), [1], "WRONG_LENGTH"),
    ("separable_flat", (*C, "u"), [0, 1], "NOT_SEPARATING"),
    ("all_flat", ("status",), "holds", "KIND_UNFIT"),
    ("stationary_reflected", ("loss",), "exponential", "NOT_STATIONARY"),
    # right kind, wrong condition; wrong evidence; wrong marks
    ("separator", ("condition",), "support_indices", "KIND_UNFIT"),
    ("separator", ("condition",), "full_rank", "SELECTION_UNFIT"),
    ("separator", ("condition",), "first_step_separates", "SELECTION_UNFIT"),
    ("separator", ("condition",), "predicted_direction", "LOSS_UNFIT"),
    ("separator", ("status",), "fails", "KIND_UNFIT"),
    ("farkas", ("status",), "holds", "KIND_UNFIT"),
    ("separator", ("evidence",), "enclosed", "EVIDENCE_UNFIT"),
    ("separator", ("evidence",), "observed", "EVIDENCE_UNFIT"),
    ("separator", ("evidence",), None, "EVIDENCE_UNFIT"),
    ("support_enclosed", ("evidence",), "exact", "EVIDENCE_UNFIT"),
    ("modular_rank", ("evidence",), "exact", "EVIDENCE_UNFIT"),
    ("local_primal_dual", ("evidence",), "exact", "EVIDENCE_UNFIT"),
    ("first_step_logistic", ("evidence",), "exact", "EVIDENCE_UNFIT"),
    ("first_step_correlation", ("evidence",), "enclosed", "EVIDENCE_UNFIT"),
    ("first_step_zero_logistic", ("evidence",), "enclosed", "EVIDENCE_UNFIT"),
    ("separator", ("certificate",), None, "CERTIFICATE_UNFIT"),
    ("separator", ("status",), "undecided", "CERTIFICATE_UNFIT"),
    ("separator", ("selection",), None, "SELECTION_UNFIT"),
    ("unique_optimum", ("selection",), [0, 0], "SELECTION_UNFIT"),
    ("separator", ("loss",), "logistic", "LOSS_UNFIT"),
    ("all_flat", ("loss",), None, "LOSS_UNFIT"),
    ("all_flat", ("loss",), "hinge", "UNKNOWN_NAME"),
    ("separator", ("selection",), [0], "WRONG_LENGTH"),
    ("separator", ("selection",), [3, 0], "OUT_OF_RANGE"),
    ("separator", ("selection",), [True, 0], "WRONG_TYPE"),
    ("separator", ("condition",), "feasible", "UNKNOWN_NAME"),
    ("separator", ("status",), "true", "UNKNOWN_NAME"),
    ("separator", (*C, "kind"), "proof", "UNKNOWN_NAME"),
    ("separator", (*C, "kind"), DELETE, "MISSING_FIELD"),
    ("separator", ("reason",), None, "WRONG_TYPE"),
    ("separator", ("reason",), 1.5, "NOT_A_NUMBER"),
]

# case, path within the dataset, new value, expected code: a certificate for another dataset
OTHER_DATA = [
    ("unique_optimum", ("v",), [-1, 1], "NOT_OPTIMAL"),
    ("unique_optimum", ("Y",), [-1, -1], "NOT_OPTIMAL"),
    ("optimum_tie", ("v",), [0, 1], "NOT_TIED"),
    ("equal_scores", ("X", 0, 1), [1, 0], "WRONG_LEVELS"),
    ("unequal_scores", ("X", 0, 2), [0, 0], "NOT_UNEQUAL"),
    ("unequal_scores", ("Y", 0), -1, "NOT_UNEQUAL"),
    ("no_flat_sample", ("v",), [0, -1], "NO_GAP"),
    ("flat_samples", ("X", 0, 0), [1, 0], "WRONG_FLATNESS"),
    ("separator", ("z", 0), [-1, 0], "MARGIN_TOO_SMALL"),
    ("separator", ("X", 1, 1), [0, 3], "MARGIN_TOO_SMALL"),
    ("farkas", ("z", 0), [1, 1], None),
    ("farkas", ("X", 0, 1), ["1/7", 0], "NOT_CANCELLING"),
    ("query_cycle", ("z", 1), [-2, 0], "QUERY_NOT_MULTIPLE"),
    ("query_cycle", ("z", 1), [2, 1], "QUERY_NOT_MULTIPLE"),
    ("query_cycle", ("z", 1), [0, 0], "QUERY_NOT_MULTIPLE"),
    ("query_cycle", ("z", 0), [0, 0], "QUERY_NOT_MULTIPLE"),
    ("query_cycle", ("X", 1, 0), [2, 0], "BROKEN_CYCLE"),
    ("topological_order", ("X", 1, 1), [0, 1, 1], "NOT_INDEPENDENT"),
    ("topological_order", ("X", 1, 1), [1, 0, 0], "WRONG_ORDER"),
    # A rejected token equal to the selected one does not come strictly after it.
    ("topological_order", ("X", 2, 2), [0, 0, 1], "WRONG_ORDER"),
    ("topological_order", ("X", 0, 0), [3, 0, 0], "NOT_INDEPENDENT"),
    ("topological_order", ("z", 2), [0, 0, 0], "NOT_INDEPENDENT"),
    ("topological_order", ("z", 2), [2, 0, 0], "NOT_INDEPENDENT"),
    ("topological_order", ("z", 2), [1, 0, 0], "NOT_A_PARTITION"),
    ("topological_order", ("z", 1), [0, 0, 1], "NOT_A_PARTITION"),
    ("support_exact", ("X", 0, 0), [2, 0], "NOT_COMPLEMENTARY"),
    ("support_exact", ("z", 1), [0, "1/2"], "MARGIN_TOO_SMALL"),
    ("support_exact", ("X", 0, 2), [0, 0], "WRONG_SUPPORT"),
    ("support_tied", ("X", 0, 2), [-3, 1], "WRONG_SUPPORT"),
    ("support_enclosed", ("X", 0, 2), [0, 0], "WRONG_SUPPORT"),
    ("support_enclosed", ("X", 0, 2), [-1, 1], None),
    ("support_enclosed", ("X", 2, 0), [3, 1], "WRONG_SUPPORT"),
    ("support_enclosed", ("z", 2), ["1/3", 0], "MARGIN_TOO_SMALL"),
    ("support_enclosed", ("z", 2), [0, 0], "MARGIN_TOO_SMALL"),
    ("support_enclosed", ("z", 1), [0, 2], "COARSE_INVERSE"),
    # The other row has margin 1 exactly: a tie that no enclosure decides.
    ("local_enclosed", ("X", 0, 2), [-2, 1], "MARGIN_TOO_SMALL"),
    ("local_enclosed", ("Y", 0), -1, "STATUS_UNPROVED"),
    ("local_exact", ("v",), [-1, 1], "STATUS_UNPROVED"),
    ("local_primal_dual", ("X", 0, 2), [-2, 1], "NOT_EXCLUDED"),
    ("local_primal_dual", ("Y", 0), -1, "NOT_EXCLUDED"),
    ("local_primal_dual", ("v",), [1, -1], "NOT_EXCLUDED"),
    ("local_enclosed", ("v",), [1, -1], "STATUS_UNPROVED"),
    ("full_rank_rows", ("X", 0, 0), [3, 0], "NOT_INDEPENDENT"),
    ("full_rank_rows", ("X", 0, 0), [0, 0], "NOT_INDEPENDENT"),
    ("full_rank_rows", ("X", 1), [[0, 1], [0, 0], [1, 0], [1, 1]], "NOT_INDEPENDENT"),
    ("full_rank_factors", ("X", 0, 0), [2, 0], "NOT_INDEPENDENT"),
    ("full_rank_factors", ("z", 1), [3, 0], "NOT_INDEPENDENT"),
    ("full_rank_factors", ("z", 1), [0, 3], "NOT_INDEPENDENT"),
    ("row_dependency", ("X", 0, 2), [-1, 1], "NOT_CANCELLING"),
    ("exact_rank", ("z", 1), [1, 0], "WRONG_RANK"),
    ("first_step_logistic", ("Y", 0), -1, None),
    ("first_step_logistic", ("X", 0, 1), [1, 0], "OPTIMUM_NOT_UNIQUE"),
    ("first_step_exponential", ("z", 0), [0, 0], "SIGN_NOT_SHOWN"),
    ("first_step_correlation", ("z", 1), [0, 0], "SIGN_NOT_SHOWN"),
    ("first_step_negative_logistic", ("X", 1, 0), [0], "OPTIMUM_NOT_UNIQUE"),
    ("first_step_negative_logistic", ("z", 1), ["1/99"], "SIGN_NOT_SHOWN"),
    ("first_step_zero_logistic", ("X", 0, 0), ["1000001/1000000"], "SIGN_NOT_SHOWN"),
    ("first_step_zero_exponential", ("X", 0, 1), ["1/1000000"], "SIGN_NOT_SHOWN"),
    ("first_step_zero_correlation", ("z", 0), ["1000001/1000000"], "SIGN_NOT_SHOWN"),
    ("first_step_zero_reflected", ("X", 0), [[3], [1]], "SIGN_NOT_SHOWN"),
    ("first_step_zero_reflected", ("z", 2), [-3], "SIGN_NOT_SHOWN"),
    ("injective_rows", ("v",), [1, 0], "WRONG_FLATNESS"),
    ("injective_rows", ("X", 0, 0), [5, 0], "NOT_INDEPENDENT"),
    ("injective_factors", ("z", 0), [5, 0], "NOT_INDEPENDENT"),
    ("monotone_direction", ("Y", 1), 1, "NOT_MONOTONE"),
    ("monotone_direction", ("X", 0, 1), [0, -5], "NOT_MONOTONE"),
    ("separable_queries", ("Y", 1), 1, "NOT_SEPARATING"),
    ("separable_queries", ("z", 0), [-1, 0], "NOT_SEPARATING"),
    ("separable_flat", ("v",), [0, 1], "NOT_SEPARATING"),
    ("all_flat", ("X", 0, 1), [1, 2], "WRONG_FLATNESS"),
    ("stationary_logistic", ("X", 0, 0), [2], "NOT_STATIONARY"),
    ("stationary_correlation", ("z", 1), [2], "NOT_STATIONARY"),
    ("stationary_exponential", ("Y", 1), 1, "NOT_STATIONARY"),
    ("stationary_reflected", ("X", 1), [[0], [-4]], "NOT_STATIONARY"),
]

# path within the file, new value, expected code: the file is refused as a whole
WHOLE = [
    (("dataset", "X"), [], "EMPTY"),
    (("dataset", "v"), [], "EMPTY"),
    (("dataset", "X", 0), [[1, 0]], "WRONG_LENGTH"),
    (("dataset", "X", 0, 0), [1], "WRONG_LENGTH"),
    (("dataset", "X", 0, 0, 0), "1.0", "NOT_A_NUMBER"),
    (("dataset", "X", 0, 0, 0), 1.0, "NOT_A_NUMBER"),
    (("dataset", "X", 0, 0, 0), True, "NOT_A_NUMBER"),
    (("dataset", "X", 0, 0, 0), "1/0", "NOT_A_NUMBER"),
    (("dataset", "X", 0, 0, 0), "1" * 100_001, "NUMBER_LIMIT"),
    (("dataset", "X", 0, 0), {"0": 1, "1": 0}, "WRONG_TYPE"),
    (("dataset", "X"), DELETE, "MISSING_FIELD"),
    (("dataset", "Y"), [1], "WRONG_LENGTH"),
    (("dataset", "Y", 0), 0, "BAD_LABEL"),
    (("dataset", "Y", 0), 2, "BAD_LABEL"),
    (("dataset", "Y", 0), "1/2", "BAD_LABEL"),
    (("dataset", "Y", 0), None, "NOT_A_NUMBER"),
    (("dataset", "Y"), DELETE, "MISSING_FIELD"),
    (("dataset", "z", 1), DELETE, "WRONG_LENGTH"),
    (("dataset", "z", 1, 1), DELETE, "WRONG_LENGTH"),
    (("dataset", "z"), "ab", "WRONG_TYPE"),
    (("dataset", "z"), DELETE, "MISSING_FIELD"),
    (("dataset", "v", 2), 0, "WRONG_LENGTH"),
    (("dataset", "v"), DELETE, "MISSING_FIELD"),
    (("dataset", "lengths"), [3, 2], "UNKNOWN_FIELD"),
    (("dataset",), None, "WRONG_TYPE"),
    (("dataset",), DELETE, "MISSING_FIELD"),
    (("run",), DELETE, "MISSING_FIELD"),
    (("run",), [], "WRONG_TYPE"),
    (("run", "rule"), "adam", "UNKNOWN_NAME"),
    (("run", "rule"), 1, "WRONG_TYPE"),
    (("run", "step"), 0, "NOT_POSITIVE"),
    (("run", "step"), "-1/10", "NOT_POSITIVE"),
    (("run", "step"), 0.1, "NOT_A_NUMBER"),
    (("run", "loss"), "hinge", "UNKNOWN_NAME"),
    (("run", "loss"), None, "WRONG_TYPE"),
    (("run", "iterations"), -1, "OUT_OF_RANGE"),
    (("run", "iterations"), "20", "WRONG_TYPE"),
    (("run", "iterations"), True, "WRONG_TYPE"),
    (("run", "selected"), [1, 0], "WRONG_SELECTED"),
    (("run", "selected"), [0, 1], "WRONG_SELECTED"),
    (("run", "selected"), [0], "WRONG_LENGTH"),
    (("run", "selected"), [0, 2], "OUT_OF_RANGE"),
    (("run", "outcome"), "converged", "UNKNOWN_NAME"),
    (("run", "outcome"), [], "WRONG_TYPE"),
    (("run", "start"), [[0, 0]], "WRONG_LENGTH"),
    (("run", "start", 0), [0], "WRONG_LENGTH"),
    (("run", "start", 0, 0), "nan", "NOT_A_NUMBER"),
    (("run", "final", 0, 0), -1, "WRONG_SELECTED"),
    (("run", "final", 1), DELETE, "WRONG_LENGTH"),
    (("run", "final"), [[0, 0, 0], [0, 0, 0]], "WRONG_LENGTH"),
    (("run", "seconds"), 1, "UNKNOWN_FIELD"),
    *((("run", name), DELETE, "MISSING_FIELD") for name in RUN),
    (("verdicts",), {}, "WRONG_TYPE"),
    (("verdicts",), None, "WRONG_TYPE"),
    (("verdicts",), DELETE, "MISSING_FIELD"),
    (("comment",), "", "UNKNOWN_FIELD"),
]

NOT_CERTIFICATES = [
    (("format",), "attsvm"), (("format",), None), (("format",), DELETE), (("version",), 2),
    (("version",), "1"), (("version",), True), (("version",), 1.0), (("version",), DELETE)]

# Fields in which a neighbouring integer is as good, each for the reason given.
STILL_VALID = {
    "separator": ("W",),  # larger entries, and entries that no margin meets
    "no_flat_sample": ("pairs",),  # another gap of the same sample
    **dict.fromkeys(("topological_order", "full_rank_rows", "full_rank_factors",
                     "full_rank_square"), ("modulus",)),
    **dict.fromkeys(("injective_rows", "injective_factors"), ("sample", "modulus")),
    "monotone_direction": ("D", "witness"),
    # Another row of the same gap, other normals, and other λ where the best mixture is the same.
    "top_score_gap": ("rows",), "simplex_maximizer": ("normals",),
    "simplex_maximizer_edge": ("lam", "normals"), "simplex_tie_bent": ("lam",),
    **dict.fromkeys([name for name in CASES if "separable" in name], ("u",)),
    # K is a multiple of the identity, λ is close: many R have β < 1 and the same ε.
    **dict.fromkeys([name for name in CASES if "enclosed" in name], ("entries", "exponent")),
    **dict.fromkeys([name for name in CASES if "gen_enclosure" in name], ("entries", "exponent")),
    **dict.fromkeys([name for name in CASES if "modular" in name],
                    ("modulus", "entries", "exponent")),
    **dict.fromkeys([name for name in CASES if "decision_tree" in name], ("directions",)),
    # Many matrices are close enough to an inverse; either row of BALANCED is a basis.
    **dict.fromkeys([name for name in CASES if "krawczyk" in name],
                    ("preconditioner", "congruence", "basis")),
    **dict.fromkeys(("simplex_cover", "simplex_cover_plane"), ("directions",)),
    # Cells may be cut elsewhere, or pass with other pairs.
    **dict.fromkeys(("simplex_cover_split", "simplex_cover_plane"),
                    ("directions", "nodes", "basis")),
    # Many multipliers obstruct, and a tie has the feature of its twin.
    **dict.fromkeys(("directions_obstructed", "only_local", "directions_none"), ("multipliers",)),
    **dict.fromkeys(("directions_objects", "not_assumption_d_enclosed"), ("entries", "exponent")),
    # Inequalities leave room; `test_limit_mutations` has the values that break each.
    **dict.fromkeys(LIMIT_CASES, ("iterate", "W", "radius", "step", "first_step", "beta",
                                  "separator", "clock", "slope", "aperture", "ball", "drift",
                                  "eigenvalues", "entries", "exponent")),
    **dict.fromkeys(RUN_CASES, ("clock", "slope", "ball", "drift", "eigenvalues")),
    # Multiples of the direction, and separators that are still short enough.
    **dict.fromkeys(RAY_CASES, ("direction", "W")),
    # Inequalities leave room; `test_cubic_mutations` has the values that break each.
    "cubic_stalled": ("first_step", "step", "radius", "least_slope", "largest_slope"),
    "cubic_monotone": ("D",),
    # Inequalities leave room; `test_robust_mutations` has the values that break each.
    **dict.fromkeys([name for name in CASES if name.startswith("robust")],
                    ("W", "multipliers", "inverse", "differences", "queries")),
    # Wider intervals, smaller least values, larger entries.
    **dict.fromkeys([name for name in CASES if "nuclear_interval" in name], ("lower", "upper")),
    **dict.fromkeys(("nuclear_unique", "nuclear_unique_gap"), ("least_values",)),
    "low_rank_pair": ("K", "Q"),
    # Larger entries, and entries that no margin meets.
    **dict.fromkeys(("gen_separator", "gen_separator_single"), ("W",)),
    # ∇L(0) = 0: every margin is 0.
    **dict.fromkeys([name for name in CASES if "first_step_zero" in name], ("row",))}


def refusals(document_):
    return [refusal.code.name for refusal in check_text(text(document_)).refusals]


def _of_case(case, path, new):
    return document(case.dataset, changed(case.verdict, path, new))


@pytest.mark.parametrize(("name", "path", "new", "code"), TARGETED)
def test_targeted_mutation(name, path, new, code):
    # A None code marks a change that leaves the verdict true: it must stay accepted.
    assert refusals(_of_case(CASES[name], path, new)) == ([code] if code else [])


@pytest.mark.parametrize(("name", "path", "new", "code"), OTHER_DATA)
def test_certificate_of_another_dataset(name, path, new, code):
    case = CASES[name]
    found = refusals(document(changed(case.dataset, path, new), case.verdict))
    assert found == ([code] if code else [])


@pytest.mark.parametrize(("path", "new", "code"), WHOLE)
def test_whole_file_is_refused(path, new, code):
    good = document(DIAGONAL, CASES["separator"].verdict, run=RUN)
    result = check_text(text(changed(good, path, new)))
    assert [refusal.code.name for refusal in result.refusals] == [code]
    assert result.dataset is None and result.outcomes == ()


@pytest.mark.parametrize(("path", "new"), NOT_CERTIFICATES)
def test_another_format_is_unreadable(path, new):
    with pytest.raises(Unreadable):
        check_text(text(changed(document(DIAGONAL), path, new)))


def _places(value, path=()):
    """All paths into a JSON value with the values there."""
    yield path, value
    entries = (value.items() if isinstance(value, dict)
               else enumerate(value) if isinstance(value, list) else ())
    for key, entry in entries:
        yield from _places(entry, (*path, key))


@pytest.mark.parametrize("name", CASES)
def test_every_field_is_needed_and_no_other_is_allowed(name):
    case = CASES[name]
    for path, value in _places(case.verdict):
        if isinstance(value, dict):
            for key in value:
                assert refusals(_of_case(case, (*path, key), DELETE)) == ["MISSING_FIELD"]
            assert refusals(_of_case(case, (*path, "note"), 0)) == ["UNKNOWN_FIELD"]


@pytest.mark.parametrize("name", CASES)
def test_no_value_may_have_another_type(name):
    case = CASES[name]
    form = {"WRONG_TYPE", "NOT_A_NUMBER", "WRONG_LENGTH", "UNKNOWN_NAME", "EMPTY", "MISSING_FIELD",
            "UNKNOWN_FIELD", "SELECTION_UNFIT", "LOSS_UNFIT", "EVIDENCE_UNFIT",
            "CERTIFICATE_UNFIT", "WRONG_LEVELS", "NOT_EXCLUDED", "NOT_A_PARTITION",
            "WRONG_ORDER", "MARGIN_TOO_SMALL", "WRONG_SUPPORT", "OUT_OF_RANGE", "BROKEN_TREE",
            "MISPLACED_ENTRY", "NOT_HEXADECIMAL", "WRONG_SELECTIONS", "UNEQUAL_LOGITS",
            "NOT_CANCELLING", "WRONG_RANK"}
    wrong = [None, True, False, 0.5, float("nan"), float("inf"), "", "text", [], [[]], {}, {"a": 1}]
    for path, value in _places(case.verdict):
        for new in wrong:
            same = type(value) is type(new) and value == new
            text_for_people = path == ("reason",) and isinstance(new, str)
            if not path or same or text_for_people:
                continue
            if name == "equal_scores" and path[-1] == 1 and new is None:
                continue  # null is a level
            if path[-1] == "inertia" and new is None:
                continue  # nothing is said of it
            found = refusals(_of_case(case, path, new))
            assert len(found) == 1 and found[0] in form, (path, new, found)


@pytest.mark.parametrize("name", CASES)
def test_no_integer_may_be_another(name):
    case = CASES[name]
    for path, value in _places(case.verdict["certificate"]):
        spared = any(step in STILL_VALID.get(name, ()) for step in path) or path[-1:] == (
            "precision",)
        if type(value) is int and not spared:
            for new in (value + 1, value - 1, -value - 3, 10**40):
                found = refusals(_of_case(case, ("certificate", *path), new))
                assert len(found) == 1, (path, new)


def test_repeated_verdict_is_refused():
    first = CASES["separator"].verdict
    again = {**first, "status": "undecided", "evidence": None, "certificate": None}
    result = check_text(text(document(DIAGONAL, first, again)))
    assert [r.code.name for r in result.refusals] == ["REPEATED_VERDICT"]
    other = {**again, "selection": [2, 0]}
    assert check_text(text(document(DIAGONAL, first, other))).accepted


def test_undecided_is_observed_at_most():
    document_ = mixed_document()
    last = len(document_["verdicts"]) - 1
    for new in ("exact", "enclosed"):
        changed_ = changed(document_, ("verdicts", last, "evidence"), new)
        assert refusals(changed_) == ["EVIDENCE_UNFIT"]
    for status in ("holds", "fails"):
        proved = changed(document_, ("verdicts", last, "status"), status)
        assert refusals(proved) == ["CERTIFICATE_UNFIT"]
        with_certificate = changed(proved, ("verdicts", last, "certificate"), {"kind": "all_flat"})
        assert refusals(with_certificate) == ["KIND_UNFIT"]


@pytest.mark.parametrize("new", [None, 1, 1.5, "x", [], [1], {}, True])
def test_verdicts_of_any_shape_are_refused_one_by_one(new):
    result = check_text(text(document(DIAGONAL, new, CASES["separator"].verdict)))
    assert [o.kind for o in result.outcomes] == ["refused", "proved"]


def test_repeated_keys_are_refused_where_they_are():
    source = text(document(DIAGONAL, CASES["separator"].verdict))
    for old, new, place in (
            ('"W": ', '"W": 0, "W": ', "verdicts[0].certificate"),
            ('"status": ', '"status": "fails", "status": ', "verdicts[0]"),
            ('"Y": ', '"Y": [], "Y": ', "dataset"),
            ('"run": ', '"run": 1, "run": ', "file")):
        assert old in source
        (refusal,) = check_text(source.replace(old, new, 1)).refusals
        assert (refusal.code.name, refusal.place) == ("DUPLICATE_KEY", place)


def test_equal_features_of_opposite_spelling_are_equal():
    # (-2, 0)(-1/2, 0)ᵀ is E11 again, and (2, 0)(-1/2, 0)ᵀ is not.
    case = CASES["support_enclosed"]
    same = changed(changed(REPEATED, ("X", 2, 0), [-2, 1]), ("z", 2), ["-1/2", 0])
    assert refusals(document(same, case.verdict)) == []
    opposite = changed(REPEATED, ("z", 2), ["-1/2", 0])
    assert refusals(document(opposite, case.verdict)) == ["MARGIN_TOO_SMALL"]
