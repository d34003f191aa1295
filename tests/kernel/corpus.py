"""The three corpora under tests/corpus, written by ``python -m kernel.corpus`` from tests/.

valid: every case of the builders and a mixed file. invalid: for every refusal code a file whose
name starts with it. unreadable: bytes that are no certificate file.
"""

from __future__ import annotations

import json
from pathlib import Path

from .builders import (
    BALANCED,
    CASES,
    DELETE,
    DIAGONAL,
    FLAT,
    RUN,
    changed,
    document,
    mixed_document,
    verdict,
)

ROOT = Path(__file__).parent.parent / "corpus"

C = ("verdicts", 0, "certificate")


def _faulty(name, path, new):
    return changed(CASES[name].document(), path, new)


def _of_run(path, new):
    return changed(document(DIAGONAL, run=RUN), ("run", *path), new)


# (code in lower case, slug): the file, as a JSON value or as text
INVALID = {
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
