"""Balls of datasets, derived by hand.

UNITS has the features e1 e1ᵀ and e2 e2ᵀ. W = I keeps its margins while 1 > 3ε + 4ε². Its Gram
matrix is I, with a = 4ε + 8ε² and b = 2ε + 2ε² on the diagonal and for all pairs, so that with
R = I and λ = 1 both ρ_i and c_i are a + b + 2ab, and λ > r while this is below 1/2: at ε = 1/20 it
is 0.3712, at 1/15 it is 0.53. The score gaps are 1 > 5ε + 4ε².
"""

from __future__ import annotations

from dataclasses import replace

from .builders import CASES, ENCLOSED, IDENTITY, OUTSCORED, UNITS, Case, verdict

EXACT_INVERSE = {"exponent": 0, "entries": IDENTITY}
COLUMN = [{"exponent": 0, "entries": [[1], [0]]}, {"exponent": 0, "entries": [[0], [1]]}]
# e1 e1ᵀ and e2 e2ᵀ are the first and the last of the four entries.
CORNERS = {"exponent": 0, "entries": [[1, 0], [0, 0], [0, 0], [0, 1]]}
SEPARATOR = {"kind": "ball_separator", "radius": "1/10", "W": IDENTITY}
KKT = {"kind": "ball_kkt", "radius": "1/20", "rows": [[0, 1], [1, 1]], "multipliers": [1, 1],
       "inverse": EXACT_INVERSE}
# K = 2 and λ = 1/2 on the row (1, 1)(1, 0)ᵀ; row (0, 2) has margin 3/2 and outscores the selected
# token, so that only the support can show local optimality, and does not.
OUTSCORED_KKT = {"kind": "ball_kkt", "radius": "1/1000", "rows": [[0, 1]], "multipliers": ["1/2"],
                 "inverse": {"exponent": -1, "entries": [[1]]}}


def _case(condition, certificate, says, dataset=UNITS, **marks):
    return Case(dataset, verdict(condition, "holds", certificate, **ENCLOSED, **marks), says)


def _copied(name, condition):
    """A proof that the statement is false for the data itself."""
    case = CASES[name]
    return replace(case, verdict={**case.verdict, "condition": condition}, says="no ε > 0 will do")


A00 = {"selection": [0, 0]}

ROBUST_CASES = {
    "robust_separator": _case("robust_feasibility", SEPARATOR, "for ε = 1/10", **A00),
    "robust_kkt": _case("robust_support", KKT, "for ε = 1/20; support indices (0, 1), (1, 1)",
                        **A00),
    "robust_other_row": _case("robust_support", OUTSCORED_KKT, "support indices (0, 1)", OUTSCORED,
                              selection=[0]),
    "robust_optimality_kkt": _case("robust_local_optimality", KKT, "α is locally optimal", **A00),
    "robust_optimality_separator": _case("robust_local_optimality", SEPARATOR,
                                         "α is locally optimal", **A00),
    "robust_optimality_other_row": _case("robust_local_optimality", OUTSCORED_KKT,
                                         "α is locally optimal", OUTSCORED, selection=[0]),
    "robust_factors": _case("robust_full_rank", {
        "kind": "ball_factors", "radius": "1/4", "differences": COLUMN,
        "queries": EXACT_INVERSE}, "for ε = 1/4"),
    "robust_rows": _case("robust_full_rank", {
        "kind": "ball_rows", "radius": "1/5", "inverse": CORNERS}, "for ε = 1/5"),
    **{f"robust_not_{name}": _copied(name, condition) for name, condition in (
        ("farkas", "robust_feasibility"), ("query_cycle", "robust_feasibility"),
        ("support_farkas", "robust_support"), ("not_local_exact", "robust_local_optimality"),
        ("not_local_enclosed", "robust_local_optimality"),
        ("not_local_farkas", "robust_local_optimality"), ("row_dependency", "robust_full_rank"),
        ("too_many_rows", "robust_full_rank"))},
}
