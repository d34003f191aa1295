"""Certificates about sets of tokens, all derived by hand."""

from __future__ import annotations

from .builders import ENCLOSED, Case, data, verdict

# With z = e1 the first column w of W counts. O = {0, 1} asks for w_1 = w_2, w_1 ≥ 1 and 2 w_1 ≥ 1.
FOUR = data([[[1, 0], [0, 1], [0, 0], [-1, 0]]], [1], [[1, 0]], [1, 1])
# And with z = e2, O = {0}: W_22 ≥ 1.
PAIRED = data([*FOUR["X"], [[0, 1], [0, 0]]], [1, -1], [[1, 0], [0, 1]], [1, 1])

# w = (1, 1) = 2 (1, 0) - (1, -1), and W_22 = 1.
GEN_KKT = {"kind": "gen_kkt", "sets": [[0, 1], [0]], "multipliers": [[0, 2, 2], [1, 1, 1]],
           "equality_multipliers": [[0, 1, -1]], "support": [[0, 2], [1, 1]], "norm_squared": 3}
# K of the rows (1, 0)e1ᵀ and E22 and the tie (1, -1)e1ᵀ.
GEN_ENCLOSURE = {
    "kind": "gen_enclosure", "sets": [[0, 1], [0]], "rows": [[0, 2], [1, 1]], "ties": [[0, 1]],
    "multipliers": [2, 1, -1],
    "inverse": {"exponent": 0, "entries": [[2, 0, -1], [0, 1, 0], [-1, 0, 1]]},
    "support": [[0, 2], [1, 1]], "norm_squared": [3, 3]}
# All queries are multiples of e1, and w the first column of W. The ties (0, 0, -1), (0, 0, 2) and 0
# ask for w_3 = 0. The rejected rows are (1, 0, 0), (2, -1, 0); (0, 1, 0); and, by a query -2 e1,
# (-1, 2, 0) and (2, 2, 0): w = (1, 1, 0) has margins 1, 1; 1; 1 and 4. The first and the third
# suffice, for (2, -1, 0) and (-1, 2, 0) are combinations of theirs with weights of sum 1.
DETERMINED = data(
    [[[1, 1, 0], [0, 1, 0], [-1, 2, 0], [1, 1, 1], [1, 1, -2]],
     [[0, 1, 0], [0, 0, 0], [0, 1, 0]],
     [["1/2", -1, 0], [0, 0, 0], ["3/2", 0, 0]]],
    [1, 1, 1], [[1, 0, 0], [1, 0, 0], [-2, 0, 0]], [1, 1, 1])
DETERMINED_ENCLOSURE = {
    "kind": "gen_enclosure", "sets": [[0, 3, 4], [0, 2], [0]], "rows": [[0, 1], [1, 1]],
    "ties": [[0, 3]], "multipliers": [1, 1, 0],
    "inverse": {"exponent": 0, "entries": [[1, 0, 0], [0, 1, 0], [0, 0, 1]]},
    "support": [[0, 1], [0, 2], [1, 1], [2, 1]], "norm_squared": [2, 2]}
NOTHING_REJECTED = {"kind": "gen_kkt", "sets": [[0, 1, 2, 3], [0, 1]], "multipliers": [],
                    "equality_multipliers": [], "support": [], "norm_squared": 0}
# O = {0, 3} asks for 2 w_1 = 0 and w_1 ≥ 1.
MOTZKIN = {"kind": "motzkin", "sets": [[0, 3]], "multipliers": [[0, 2, 2]],
           "equality_multipliers": [[0, 3, -1]]}
# O = {2} asks for -w_1 ≥ 1 and w_1 ≥ 1.
NO_TIES = {"kind": "motzkin", "sets": [[2]], "multipliers": [[0, 0, 1], [0, 3, 1]],
           "equality_multipliers": []}


def _case(dataset, condition, status, certificate, says, **marks):
    return Case(dataset, verdict(condition, status, certificate, **marks), says)


GENERAL_CASES = {
    "gen_separator": _case(
        PAIRED, "gen_feasibility", "holds",
        {"kind": "gen_separator", "sets": [[0, 1], [0]], "W": [[1, 0], [1, 1]]},
        "all margins over other tokens ≥ 1; O = ({0, 1}, {0}); 3 rejected tokens"),
    "gen_separator_single": _case(
        PAIRED, "gen_feasibility", "holds",
        {"kind": "gen_separator", "sets": [[0], [0]], "W": [[1, 0], [0, "0x1p+0"]]},
        "O = ({0}, {0}); 4 rejected tokens"),
    "motzkin": _case(
        FOUR, "gen_feasibility", "fails", MOTZKIN, "no W has equal logits in each and all margins "
        "over other tokens ≥ 1; O = ({0, 3}); Gen-SVM is infeasible"),
    "motzkin_no_ties": _case(
        FOUR, "gen_feasibility", "fails", NO_TIES, "O = ({2}); Gen-SVM is infeasible"),
    "gen_kkt": _case(
        PAIRED, "multi_token_support", "holds", GEN_KKT,
        "O = ({0, 1}, {0}); support indices (0, 2), (1, 1); ‖W^mm‖² = 3"),
    "gen_kkt_nothing_rejected": _case(
        PAIRED, "multi_token_support", "holds", NOTHING_REJECTED,
        "O = ({0, 1, 2, 3}, {0, 1}); no token is rejected, W^mm = 0: there is no direction"),
    "gen_enclosure": _case(
        PAIRED, "multi_token_support", "holds", GEN_ENCLOSURE,
        "O = ({0, 1}, {0}); support indices (0, 2), (1, 1); ‖W^mm‖² in [3, 3]", **ENCLOSED),
    "gen_enclosure_determined": _case(
        DETERMINED, "multi_token_support", "holds", DETERMINED_ENCLOSURE,
        "support indices (0, 1), (0, 2), (1, 1), (2, 1); ‖W^mm‖² in [2, 2]", **ENCLOSED),
    "gen_enclosure_feasible": _case(
        PAIRED, "gen_feasibility", "holds", GEN_ENCLOSURE, "all margins over other tokens ≥ 1",
        **ENCLOSED),
    "gen_kkt_infeasible": _case(
        FOUR, "multi_token_support", "fails", MOTZKIN, "W^mm of Gen-SVM does not exist"),
}
