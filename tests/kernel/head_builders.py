"""Certificates about mixtures of tokens and Assumption E, and runs with other heads, by hand."""

from __future__ import annotations

from .builders import DIAGONAL, FLAT, RUN, Case, changed, data, document, verdict

# Orthonormal tokens with scores 3, 2, 0 and λ = 1: Σ_{t ≤ 2} (γ_t - γ_2) = 1 < 2λ and
# Σ_{t ≤ 3} (γ_t - γ_3) = 5 ≥ 2λ, so two tokens; (3 - θ) + (2 - θ) = 2 at θ = 3/2, s = (3/4, 1/4).
# At o = s the slope v - 2o is (3/2, 3/2, 0), a normal too. The second sample has Y = -1, where
# -h(x) = ‖x‖² - v·x is -2, -1, 1 at the tokens: the last.
BASIS = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
MIXED = data([BASIS, [list(x) for x in BASIS]], [1, -1], [[1, 0, 0], [0, 1, 0]], [3, 2, 0])
MAXIMIZER = {"kind": "simplex_maximizer", "lam": 1, "weights": [["3/4", "1/4", 0], [0, 0, 1]],
             "normals": [["3/2", "3/2", 0], []]}
# v/(2λ) = 0 is the middle token: a mixture of the outer ones, too.
LINE = data([[[-1], [0], [1]]], [1], [[1]], [0])
TIE = {"kind": "simplex_tie", "lam": "1/2", "sample": 0, "weights": [[0, 1, 0], ["1/2", 0, "1/2"]]}
# The nearest point of the hull of (±1, 0) and (0, 1) to (0, -5/2) is 0, all of whose mixtures are
# the same; w = (0, -1) shows it, and so does the slope (0, -5).
EDGE = data([[[-1, 0], [1, 0], [0, 1]]], [1], [[1, 0]], [0, -5])
EDGE_MAXIMIZER = {"kind": "simplex_maximizer", "lam": 1, "weights": [["1/2", "1/2", 0]],
                  "normals": [[0, -1]]}
# Y = -1 and v = 0: ‖x‖² is largest at both outer tokens.
BENT = {**LINE, "Y": [-1]}
BENT_TIE = {"kind": "simplex_tie", "lam": 3, "sample": 0, "weights": [[1, 0, 0], [0, 0, 1]]}


def _case(dataset, condition, status, certificate, says, **marks):
    return Case(dataset, verdict(condition, status, certificate, **marks), says)


HEAD_CASES = {
    # Scores (1, 0, -1) and (2, 1).
    "top_score_gap": _case(
        DIAGONAL, "assumption_e", "holds",
        {"kind": "top_score_gap", "constant": 1, "rows": [[0, 1]]}, "c = 1", selection=[0, 0]),
    "top_score_gap_other": _case(
        DIAGONAL, "assumption_e", "holds",
        {"kind": "top_score_gap", "constant": 1, "rows": [[0, 2]]}, "c = 1", selection=[1, 1]),
    "top_score_gap_none": _case(
        FLAT, "assumption_e", "holds", {"kind": "top_score_gap", "constant": 1, "rows": []},
        "no token scores lower, any c will do", selection=[1]),
    "simplex_maximizer": _case(MIXED, "simplex_support", "holds", MAXIMIZER,
                               "λ = 1; tokens taken: 2, 1"),
    "simplex_maximizer_edge": _case(EDGE, "simplex_support", "holds", EDGE_MAXIMIZER,
                                    "λ = 1; tokens taken: 2"),
    "simplex_tie": _case(LINE, "simplex_support", "fails", TIE, "λ = 1/2, sample 0"),
    "simplex_tie_bent": _case(BENT, "simplex_support", "fails", BENT_TIE, "λ = 3, sample 0"),
}

HEADS = {
    "quadratic": {"name": "quadratic", "lambda": "1/2"},
    "relu": {"name": "relu", "V": [[1, 0], [0, "-0x1p-1"], [2, 2]], "a": [1, 1, -1]},
    "multiclass": {"name": "multiclass", "class_heads": [[1, 0], [0, 1], [1, 1]],
                   "class_labels": [2, 0]},
    "callable": {"name": "callable"},
}


def run_with(**fields):
    return document(DIAGONAL, run={**RUN, **fields})


HEAD_INVALID = {
    ("wrong_constant", "too-small"): changed(
        HEAD_CASES["top_score_gap"].document(), ("verdicts", 0, "certificate", "constant"), "1/2"),
    ("not_a_mixture", "sum"): changed(
        HEAD_CASES["simplex_maximizer"].document(),
        ("verdicts", 0, "certificate", "weights", 0, 0), "1/2"),
    ("not_largest", "other-lambda"): changed(
        HEAD_CASES["simplex_maximizer"].document(), ("verdicts", 0, "certificate", "lam"), "1/2"),
    ("not_alone", "tie"): document(LINE, verdict("simplex_support", "holds", {
        "kind": "simplex_maximizer", "lam": 1, "weights": [[0, 1, 0]], "normals": [[0]]})),
    ("unknown_name", "head-of-run"): run_with(head={"name": "mlp"}),
    ("not_positive", "resolution"): run_with(resolution=0),
}
