"""The three corpora under tests/corpus, written by ``python -m kernel.corpus`` from tests/.

valid: every case of the builders and a mixed file. invalid: for every refusal code a file whose
name starts with it. unreadable: bytes that are no certificate file.
"""

from __future__ import annotations

import json
from pathlib import Path

from .builders import (
    BALANCED,
    DELETE,
    DIAGONAL,
    FLAT,
    RUN,
    changed,
    document,
    mixed_document,
    verdict,
)
from .cases import CASES
from .cubic_builders import CUBIC_INVALID
from .family_builders import FAMILIES, FAMILY_INVALID
from .head_builders import HEAD_INVALID
from .limit_builders import DEGENERATE
from .ray_builders import RAY_INVALID
from .run_builders import RUN_INVALID

ROOT = Path(__file__).parent.parent / "corpus"

C = ("verdicts", 0, "certificate")


def _faulty(name, path, new):
    return changed(CASES[name].document(), path, new)


def _of_run(path, new):
    return changed(document(DIAGONAL, run=RUN), ("run", *path), new)


# (code in lower case, slug): the file, as a JSON value or as text
INVALID = {
    **RUN_INVALID,
    **HEAD_INVALID,
    **RAY_INVALID,
    **CUBIC_INVALID,
    **FAMILY_INVALID,
    ("duplicate_key", "two-matrices"): json.dumps(CASES["separator"].document()).replace(
        '"W": ', '"W": [], "W": '),
    ("duplicate_key", "top-level"): json.dumps(document(DIAGONAL)).replace(
        '"run": ', '"run": null, "run": '),
    ("unknown_field", "lengths"): _faulty("farkas", ("dataset", "lengths"), [3, 2]),
    ("unknown_field", "verdict-number"): _faulty("farkas", ("verdicts", 0, "number"), 1),
    ("missing_field", "reason"): _faulty("farkas", ("verdicts", 0, "reason"), DELETE),
    ("missing_field", "kind"): _faulty("farkas", (*C, "kind"), DELETE),
    ("wrong_type", "boolean-index"): _faulty("optimum_tie", (*C, "sample"), False),
    ("wrong_type", "string-in-inverse"): _faulty(
        "local_enclosed", (*C, "inverse", "entries", 0, 0), "1"),
    ("not_a_number", "json-float"): _faulty("separator", (*C, "W", 0, 0), 1.0),
    ("not_a_number", "nan"): _faulty("separator", (*C, "W", 0, 0), float("nan")),
    ("not_a_number", "zero-denominator"): _faulty("separator", ("dataset", "X", 0, 0, 0), "1/0"),
    ("not_a_number", "decimal"): _faulty("separator", (*C, "W", 0, 0), "1.5"),
    ("number_limit", "hex-exponent"): _faulty("separator", (*C, "W", 0, 0), "0x1p+20001"),
    ("wrong_length", "one-token"): _faulty("separator", ("dataset", "X", 0), [[1, 0]]),
    ("wrong_length", "three-columns"): _faulty("separator", (*C, "W", 0), [1, 0, 0]),
    ("empty", "no-samples"): _faulty("separator", ("dataset", "X"), []),
    ("empty", "no-multipliers"): _faulty("farkas", (*C, "multipliers"), []),
    ("empty", "no-rows"): changed(_faulty("local_enclosed", (*C, "rows"), []),
                                  (*C, "multipliers"), []),
    ("out_of_range", "token"): _faulty("separator", ("verdicts", 0, "selection"), [0, 2]),
    ("out_of_range", "negative-token"): _faulty("separator", ("verdicts", 0, "selection"), [0, -1]),
    ("out_of_range", "modulus"): _faulty("full_rank_rows", (*C, "modulus"), 2**64),
    ("unknown_name", "condition"): _faulty("separator", ("verdicts", 0, "condition"), "feasible"),
    ("unknown_name", "loss"): _faulty("all_flat", ("verdicts", 0, "loss"), "hinge"),
    ("not_increasing", "multipliers"): _faulty(
        "farkas", (*C, "multipliers"), [[0, 2, 1], [0, 0, 1]]),
    ("selected_row", "multiplier"): _faulty("farkas", (*C, "multipliers", 0, 1), 1),
    ("bad_label", "zero"): _faulty("separator", ("dataset", "Y", 0), 0),
    ("zero_entry", "multiplier"): _faulty("farkas", (*C, "multipliers", 0, 2), "0x0.0p+0"),
    ("not_positive", "multiplier"): _faulty("farkas", (*C, "multipliers", 0, 2), "-1/3"),
    ("not_positive", "not-shown"): _faulty("support_enclosed", (*C, "multipliers", 0), 2),
    ("not_positive", "step"): _of_run(("step",), 0),
    ("wrong_selected", "tie"): changed(_of_run(("final",), [[0, 0], [0, 0]]),
                                       ("run", "selected"), [0, 1]),
    ("selection_unfit", "missing"): _faulty("separator", ("verdicts", 0, "selection"), None),
    ("selection_unfit", "given"): _faulty("no_flat_sample", ("verdicts", 0, "selection"), [0, 0]),
    ("loss_unfit", "missing"): _faulty("all_flat", ("verdicts", 0, "loss"), None),
    ("loss_unfit", "given"): _faulty("separator", ("verdicts", 0, "loss"), "logistic"),
    ("repeated_verdict", "two-statuses"): document(
        DIAGONAL, CASES["separator"].verdict,
        verdict("feasibility", "undecided", evidence=None, selection=[0, 0])),
    ("certificate_unfit", "proved-without"): _faulty("separator", C, None),
    ("certificate_unfit", "undecided-with"): _faulty(
        "separator", ("verdicts", 0, "status"), "undecided"),
    ("kind_unfit", "opposite-status"): _faulty("separator", ("verdicts", 0, "status"), "fails"),
    ("kind_unfit", "other-condition"): _faulty(
        "separator", ("verdicts", 0, "condition"), "local_optimality"),
    ("kind_unfit", "prediction-proved"): document(
        DIAGONAL, verdict("predicted_direction", "holds", {"kind": "all_flat"},
                          selection=[0, 0], loss="logistic")),
    ("evidence_unfit", "observed-proof"): _faulty(
        "separator", ("verdicts", 0, "evidence"), "observed"),
    ("evidence_unfit", "enclosed-as-exact"): _faulty(
        "support_enclosed", ("verdicts", 0, "evidence"), "exact"),
    ("evidence_unfit", "undecided-exact"): document(
        DIAGONAL, verdict("unique_optimum", "undecided")),
    ("status_unproved", "all-support"): _faulty(
        "not_all_support_exact", ("verdicts", 0, "status"), "holds"),
    ("status_unproved", "local-optimality"): _faulty(
        "not_local_enclosed", ("verdicts", 0, "status"), "holds"),
    ("not_optimal", "second-best"): _faulty("unique_optimum", (*C, "tokens"), [1, 0]),
    ("not_optimal", "tied"): document(FLAT, verdict(
        "unique_optimum", "holds", {"kind": "optimal_tokens", "tokens": [0]})),
    ("not_tied", "other-head"): _faulty("optimum_tie", ("dataset", "v"), [0, 1]),
    ("wrong_levels", "third-level"): _faulty("equal_scores", ("dataset", "X", 0, 1), [1, 0]),
    ("not_unequal", "optimum"): _faulty("unequal_scores", (*C, "tokens"), [0, 1]),
    ("no_gap", "reversed"): _faulty("no_flat_sample", (*C, "pairs", 0), [2, 0]),
    ("wrong_flatness", "not-flat"): _faulty("flat_samples", (*C, "samples"), [0, 1]),
    ("wrong_flatness", "flat-sample"): _faulty("injective_rows", ("dataset", "v"), [1, 0]),
    ("optimum_not_unique", "tie"): _faulty(
        "first_step_correlation", ("dataset", "X", 0, 1), [1, 0]),
    ("margin_too_small", "just-below"): _faulty(
        "separator", (*C, "W", 0, 0), "0x1.fffffffffffffp-1"),
    ("margin_too_small", "other-selection"): _faulty(
        "separator", ("verdicts", 0, "selection"), [1, 0]),
    ("margin_too_small", "enclosure"): _faulty("support_enclosed", (*C, "multipliers", 0), "2/3"),
    ("not_complementary", "too-long"): _faulty("support_exact", (*C, "multipliers", 0, 2), 2),
    ("not_cancelling", "farkas"): _faulty("farkas", (*C, "multipliers", 0, 2), 2),
    ("not_cancelling", "dependency"): _faulty("row_dependency", (*C, "coefficients", 1, 2), 1),
    ("not_dependent", "few-rows"): document(DIAGONAL, verdict(
        "full_rank", "fails", {"kind": "too_many_rows"})),
    ("broken_cycle", "open"): _faulty("query_cycle", (*C, "edges", 1), DELETE),
    ("query_not_multiple", "negative"): _faulty("query_cycle", ("dataset", "z", 1), [-2, 0]),
    ("query_not_multiple", "zero"): _faulty("query_cycle", ("dataset", "z", 0), [0, 0]),
    ("not_a_partition", "class-missing"): _faulty("topological_order", (*C, "classes", 1), DELETE),
    ("not_a_partition", "class-split"): _faulty("topological_order", (*C, "classes"), [
        {"samples": [0], "order": [[0, 0], [0, 1], [0, 2]]},
        {"samples": [1], "order": [[1, 0], [1, 1]]},
        {"samples": [2], "order": [[2, 0], [2, 1]]}]),
    ("wrong_order", "selected-late"): _faulty(
        "topological_order", (*C, "classes", 1, "order"), [[2, 1], [2, 0]]),
    ("wrong_order", "token-missing"): _faulty(
        "topological_order", (*C, "classes", 0, "order", 2), DELETE),
    ("wrong_support", "tie-missing"): _faulty("support_tied", (*C, "support"), [[0, 1]]),
    ("wrong_support", "equal-row-missing"): _faulty(
        "support_enclosed", (*C, "support"), [[0, 1], [1, 1]]),
    ("wrong_norm", "exact"): _faulty("support_exact", (*C, "norm_squared"), "200001/100000"),
    ("wrong_norm", "not-inside"): _faulty("support_enclosed", (*C, "norm_squared"), [2, 2]),
    ("wrong_norm", "too-wide"): _faulty("support_enclosed", (*C, "norm_squared"), [1, 3]),
    ("coarse_inverse", "zero"): _faulty(
        "support_enclosed", (*C, "inverse", "entries", 0, 0), 0),
    ("coarse_inverse", "equal-rows"): _faulty("support_enclosed", (*C, "rows", 1), [2, 1]),
    ("not_excluded", "gap-too-large"): _faulty(
        "local_primal_dual", (*C, "W"), [["51/100", 0], ["51/100", 0]]),
    ("not_excluded", "not-listed"): _faulty("local_primal_dual", (*C, "excluded"), []),
    ("wrong_side", "rejected-in-set"): _faulty("gen_kkt", (*C, "sets", 0), [0, 1, 2]),
    ("wrong_side", "tied-outside-set"): _faulty("motzkin", (*C, "sets", 0), [0]),
    ("unequal_logits", "off-by-little"): _faulty(
        "gen_separator", (*C, "W", 1, 0), "0x1.0000000000001p+0"),
    ("unequal_logits", "tie-not-spanned"): _faulty(
        "gen_enclosure_determined", ("dataset", "X", 1, 2), [1, 1, 0]),
    ("margin_too_small", "gen-enclosure"): _faulty(
        "gen_enclosure_determined", ("dataset", "X", 0, 2), [-1, 3, 0]),
    ("not_independent", "divided"): _faulty("full_rank_rows", ("dataset", "X", 0, 0), [3, 0]),
    ("not_independent", "token-zero"): _faulty(
        "topological_order", ("dataset", "X", 0, 0), [0, 0, 0]),
    ("wrong_rank", "exact"): _faulty("exact_rank", (*C, "rank"), 1),
    ("wrong_rank", "modular"): _faulty("modular_rank", (*C, "rank"), 1),
    ("sign_not_shown", "zero-margin"): document(BALANCED, verdict(
        "first_step_separates", "holds", {"kind": "first_step_margins", "precision": 4096},
        loss="logistic", evidence="enclosed")),
    ("sign_not_shown", "nearly-zero"): _faulty(
        "first_step_zero_exponential", ("dataset", "X", 0, 1), ["0x1p-200"]),
    ("sign_not_shown", "positive"): _faulty("first_step_negative_logistic", (*C, "row"), [1, 0]),
    ("not_stationary", "exponential"): _faulty(
        "stationary_reflected", ("verdicts", 0, "loss"), "exponential"),
    ("not_monotone", "reversed"): _faulty("monotone_direction", (*C, "D"), [[-1, 0], [0, 1]]),
    ("no_witness", "zero-direction"): _faulty("monotone_direction", (*C, "D"), [[0, 0], [0, 0]]),
    ("not_separating", "zero"): _faulty("separable_queries", (*C, "u"), [0, 0]),
    ("not_separating", "wrong-side"): _faulty("separable_queries", (*C, "u"), [1, 1]),
    ("step_unfit", "flow"): _faulty("isotropic_flow", (*C, "step"), "1/1000"),
    ("step_unfit", "zero"): _faulty("residual_normalized", (*C, "step"), 0),
    ("score_limit", "head"): _faulty("isotropic_normalized", ("dataset", "v"), [1, 100_001]),
    ("clock_not_shown", "other-side"): _faulty(
        "isotropic_normalized", (*C, "iterate"), [[-24, 0], [0, -24]]),
    ("clock_not_shown", "cone"): _faulty("cone_normalized", (*C, "radius"), 29),
    ("cone_not_shown", "close-rival"): _faulty(
        "isotropic_rival", ("dataset", "X", 0, 2), ["-2002/1000", 1]),
    ("cone_not_shown", "support-scores-more"): _faulty(
        "cone_normalized", ("dataset", "v"), [1, -1]),
    ("not_kept", "long-step"): _faulty("cone_normalized", (*C, "step"), 8),
    ("not_kept", "off-axis"): _faulty("isotropic_normalized", (*C, "iterate", 0, 1), 9),
    ("not_locally_optimal", "tie"): _faulty("residual_normalized", ("dataset", "v"), [0, 1]),
    ("degenerate", "zero-multiplier"): DEGENERATE.document(),
    ("not_definite", "lower-bound"): _faulty(
        "residual_normalized", (*C, "eigenvalues"), [1, "5/4"]),
    ("not_definite", "upper-bound"): _faulty(
        "residual_normalized", (*C, "eigenvalues"), ["3/4", 1]),
    ("ball_left", "start"): _faulty("residual_normalized", (*C, "radius"), "3/8"),
    ("ball_left", "close-rival"): _faulty(
        "residual_rival", ("dataset", "X", 0, 2), ["-201/100", 1]),
    ("drift_left", "allowance"): _faulty("residual_rival", (*C, "drift"), "0x1p-40"),
    ("step_too_large", "residual"): _faulty("residual_normalized", (*C, "step"), 2),
    ("step_too_large", "smoothness"): _faulty("trap_logistic", (*C, "step"), 14),
    ("beta_too_small", "just-below"): _faulty(
        "low_norm_correlation", (*C, "beta"), "0x1.fffffffffffffp-3"),
    ("excess_too_large", "equal"): _faulty("low_norm_correlation", (*C, "W"), [[0, 0], [0, 0]]),
    ("excess_too_large", "trap"): _faulty("trap_logistic", (*C, "W"), [[0, 0], [0, 3]]),
    ("feature_zero", "query"): _faulty("nonnegative_products", ("dataset", "z", 1), [0, 0]),
    ("feature_not_zero", "row"): _faulty("zero_feature", (*C, "row"), [0, 1]),
    ("product_negative", "same-sample"): _faulty(
        "nonnegative_products", ("dataset", "X", 0, 2), [3, -3]),
    ("product_not_negative", "query"): _faulty("negative_product", ("dataset", "z", 1), [-1]),
    ("not_monotone", "cells-swapped"): _faulty("decision_tree", (*C, "nodes"), [
        [0], [1, 0, 2, 1], [2, 1, 1, 0], [0, 0, 1, 0]]),
    ("no_witness", "leaf"): _faulty("decision_tree", (*C, "nodes", 1), [0, 0, 0, 1]),
    ("broken_tree", "cell-missing"): _faulty("decision_tree", (*C, "nodes", 3), DELETE),
    ("broken_tree", "cell-too-many"): _faulty("simplex_cover", (*C, "nodes", 2), [0, 0, 0, 1, 1]),
    ("broken_tree", "selection-missing"): _faulty("directions_units", (*C, "nodes", 6), DELETE),
    ("repeated_branch", "same-sample"): _faulty("decision_tree_deep", (*C, "nodes", 1), [1]),
    ("not_a_basis", "dependent"): _faulty("krawczyk_saddle", (*C, "basis", 3), [1, 2]),
    ("not_a_basis", "not-spanning"): _faulty("simplex_cover_plane", (*C, "basis"), [[0, 1]]),
    ("not_contracting", "moved"): _faulty("krawczyk_saddle", (*C, "center", 1), 0),
    ("not_contracting", "enlarged"): _faulty("krawczyk_saddle", (*C, "radius"), "0x1p-12"),
    ("not_contracting", "other-loss"): _faulty(
        "krawczyk_saddle", ("verdicts", 0, "loss"), "correlation"),
    ("wrong_inertia", "maximum"): _faulty("krawczyk_saddle", (*C, "inertia", "negative"), 3),
    ("wrong_inertia", "not-dominant"): _faulty(
        "krawczyk_saddle", (*C, "inertia", "congruence"), [[1, 0, 0], [0, 1, 0], [0, 0, 1]]),
    ("descent_not_shown", "reversed"): _faulty("simplex_cover", (*C, "directions"), [[-1]]),
    ("descent_not_shown", "unsplit"): _faulty("simplex_cover_plane", (*C, "nodes"), [
        [0, 1, 2, 3, 0, 0, 0]] * 4),
    ("misplaced_entry", "opt-in-directions"): _faulty("directions_units", (*C, "nodes", 2), "="),
    ("misplaced_entry", "digits-above-leaf"): _faulty("directions_units", (*C, "nodes", 1), "11"),
    ("not_hexadecimal", "upper-case"): _faulty("directions_units", (*C, "nodes", 3), "1F"),
    ("wrong_length", "digits"): _faulty("directions_units", (*C, "nodes", 3), "111"),
    ("not_obstructed", "kept-row"): _faulty(
        "directions_obstructed", (*C, "nodes", 4, "multipliers", 1, 2), 2),
    ("out_of_range", "obstruction-below"): _faulty(
        "directions_obstructed", (*C, "nodes", 5, "multipliers", 1), [1, 0, 1]),
    ("not_closed", "margin-one"): _faulty("directions_none", (*C, "nodes", 2), "11"),
    ("wrong_selections", "removed"): _faulty("directions_outscored", (*C, "selections"), [[2]]),
    ("wrong_selections", "added"): _faulty(
        "directions_units", (*C, "selections"), [[0, 0], [0, 1]]),
    ("status_unproved", "two-local-optima"): _faulty(
        "directions_outscored", ("verdicts", 0, "condition"), "only_local_optimum"),
    ("not_exceptional", "infeasible-opt"): _faulty(
        "not_local_at_all", ("verdicts", 0, "condition"), "assumption_d"),
    ("not_exceptional", "supported"): _faulty(
        "not_assumption_d", ("verdicts", 0, "condition"), "only_local_optimum"),
    ("not_excluded", "tested-row"): _faulty(
        "not_only_local", (*C, "certificate", "excluded"), []),
    ("equal_optima", "twice"): _faulty("nuclear_optima", (*C, "second"), [[1, 0], [0, 1]]),
    ("second_optimum", "gap"): _faulty("nuclear_unique", (*C, "Q", 0, 0), "1/4"),
    ("wrong_norm", "nuclear"): _faulty("nuclear_interval", (*C, "upper"), "1999999/1000000"),
    ("not_definite", "no-contraction"): _faulty(
        "nuclear_interval", (*C, "multipliers", 0, 2), "1000001/1000000"),
    ("broken_tree", "sign-missing"): _faulty("rank_one_infeasible", (*C, "nodes", 3), DELETE),
}

_GOOD = json.dumps(document(DIAGONAL))

UNREADABLE = {
    "empty.json": b"",
    "text.json": b"not a certificate\n",
    "truncated.json": _GOOD[:-1].encode(),
    "trailing.json": _GOOD.encode() + b"{}",
    "list.json": b"[]",
    "number.json": b"1e999",
    "nan.json": b"NaN",
    "null.json": b"null",
    "string.json": b'"attsvm-certificate"',
    "object.json": b"{}",
    "other-format.json": _GOOD.replace("attsvm-certificate", "certificate").encode(),
    "version-2.json": _GOOD.replace('"version": 1', '"version": 2').encode(),
    "version-float.json": _GOOD.replace('"version": 1', '"version": 1.0').encode(),
    "version-true.json": _GOOD.replace('"version": 1', '"version": true').encode(),
    "latin-1.json": _GOOD.replace("attsvm", "ättsvm").encode("latin-1"),
    "byte-order-mark.json": b"\xef\xbb\xbf" + _GOOD.encode(),
    "utf-16.json": _GOOD.encode("utf-16"),
    "control-character.json": _GOOD.replace("attsvm", "att\0svm").encode(),
    "deep.json": b"[" * 33 + b"]" * 33,
    "deeper.json": b'{"format": ' * 2000,
    "deep-run.json": _GOOD.replace('"run": null', '"run": ' + "[" * 32 + "]" * 32).encode(),
    "open-string.json": b'{"format": "' + b'\\"[' * 50,
}


def files():
    """All corpus files: relative path → bytes."""
    found = {f"valid/{name}.json": json.dumps(case.document()) for name, case in CASES.items()}
    found |= {f"valid/{name}.json": json.dumps(family) for name, family in FAMILIES.items()}
    found["valid/mixed.json"] = json.dumps(mixed_document())
    for (code, slug), value in INVALID.items():
        found[f"invalid/{code}__{slug}.json"] = value if type(value) is str else json.dumps(value)
    return ({path: (text + "\n").encode() for path, text in found.items()}
            | {f"unreadable/{name}": content for name, content in UNREADABLE.items()})


def main():
    for path, content in files().items():
        (ROOT / path).parent.mkdir(parents=True, exist_ok=True)
        (ROOT / path).write_bytes(content)


if __name__ == "__main__":
    main()
