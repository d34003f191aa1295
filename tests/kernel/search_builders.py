"""Certificates about all W or all selections: trees, covers, and a box around a stationary point.

All but `krawczyk_saddle` and `simplex_cover_plane` are derived by hand.
"""

from __future__ import annotations

from .builders import (
    BALANCED,
    CYCLIC,
    DIAGONAL,
    DIAGONAL_FARKAS,
    DIAGONAL_KKT,
    ENCLOSED,
    FLAT,
    OUTSCORED,
    PRIMAL_DUAL,
    REVERSED_KKT,
    UNITS,
    UNITS_KKT,
    Case,
    data,
    enclosure,
    exact_kkt,
    verdict,
)

# With z = e1 the logits of sample 0 are the first column of D, with z = e2 those of sample 1 are
# the first two entries of the second. Scores (0, 1, 2) and (0, 1).
FREE = data([[[1, 0, 0], [0, 1, 0], [0, 0, 1]], [[1, 0, 0], [0, 1, 0]]], [1, 1],
            [[1, 0, 0], [0, 1, 0]], [0, 1, 2])
# Columns (0, 2, 0) and 0: for 0 < f_0 < 1. Columns (2, 0, 2) and 0: for 1 < f_0 < 2. Columns 0 and
# (0, 1, 0): anywhere, strict in sample 1.
TREE = {"kind": "decision_tree",
        "directions": [[[0, 0, 0], [2, 0, 0], [0, 0, 0]], [[2, 0, 0], [0, 0, 0], [2, 0, 0]],
                       [[0, 0, 0], [0, 1, 0], [0, 0, 0]]],
        "nodes": [[0], [0, 0, 1, 0], [2, 1, 1, 0], [1, 0, 2, 1]]}
DEEP_TREE = {**TREE, "nodes": [[1], *TREE["nodes"]]}
ROOT_TREE = {**TREE, "nodes": [[2, 1, 1, 0]]}

# For BALANCED n L = e^-σ(y) + e^-σ(-y), least at y = 0, where its second derivative is e^(-1/2)/8.
MINIMUM = {"kind": "krawczyk", "basis": [[0, 1]], "center": [0], "radius": "1/16",
           "preconditioner": [[-13]], "precision": 32,
           "inertia": {"congruence": [[3]], "negative": 0}}
SADDLE_DATA = data(
    [[[-1, -1, 1], [1, -1, -1], [0, 1, -1]], [[0, 1, 0], [1, -1, -1], [1, 1, 1]]], [-1, 1],
    [[0, -1, 0], [0, -1, 0]], [-1, 0, 0])
SADDLE = {
    "kind": "krawczyk", "basis": [[0, 1], [0, 2], [1, 1]],
    "center": ["-0x1.f7759b3327d35p-2", "0x1.26faeae7f99dep-4", "0x1.b2af59a472afdp-3"],
    "radius": "0x1p-14",
    "preconditioner": [["0x1.5a3p+4", "-0x1.275p+4", "-0x1.232p+3"],
                       ["-0x1.275p+4", "0x1.d95p+3", "0x1.080p+3"],
                       ["-0x1.232p+3", "0x1.080p+3", "0x1.805p+0"]],
    "precision": 64,
    "inertia": {"congruence": [["-0x1.2b2p+2", "0x1.736p-4", "-0x1.c7bp-2"],
                               ["0x1.f58p+1", "-0x1.30ep-1", "-0x1.d09p-2"],
                               ["0x1.e75p+0", "0x1.72cp+0", "-0x1.450p-3"]], "negative": 1}}

# One sample with logits y and 0: on y ≥ 0 token 0 has weight ≥ 1/2, on y ≤ 0 token 1.
LINE = data([[[1], [0]]], [1], [[1]], [1])
COVER = {"kind": "simplex_cover", "basis": [[0, 1]], "directions": [[1]],
         "nodes": [[0, 0, 0, 1, 0], [0, 0, 0, 1, 1]], "precision": 8}
SPLIT_COVER = {**COVER, "nodes": [[0, 1, 2, 3], [0, 1, 1, 1], [0, 0, 0, 1, 0], [0, 0, 0, 1, 0],
                                  [0, 0, 0, 1, 1], [0, 0, 1, 0, 1]]}
PLANE = data([[[-1, 1], [-1, 0], [1, 1], [1, 1]], [[0, 1], [0, 1], [0, 0], [0, 1]],
              [[0, -1], [1, 0], [1, -1], [0, -1]]], [-1, 1, 1],
             [[-1, 1], [-1, 1], [-1, 1]], [1, -1])
PLANE_COVER = {
    "kind": "simplex_cover", "basis": [[0, 1], [0, 2]], "directions": [[-1, 0]],
    "nodes": [
        [1, 2, 2, 1], [0, 1, 5, 1], [0, 1, 2, 3, 0, 0, 0], [0, 1, 2, 3, 0, 0, 0], [0, 1, 1, 1],
        [0, 2, 1, 2, 0, 0, 1], [0, 1, 1, 1], [0, 2, 1, 2, 0, 0, 1], [0, 1, 2, 1],
        [0, 2, 1, 1], [0, 2, 1, 2, 0, 0, 1], [0, 2, 1, 2, 0, 0, 1], [0, 2, 5, 1], [0, 1, 4, 5],
        [1, 2, 1, 1], [0, 2, 1, 2, 0, 0, 1], [0, 2, 1, 2, 0, 0, 1], [0, 2, 1, 2, 0, 0, 1],
        [0, 2, 1, 2, 0, 0, 1], [0, 1, 1, 1], [0, 1, 2, 3, 1, 2, 0], [0, 1, 1, 1],
        [0, 1, 2, 3, 1, 2, 0], [0, 1, 2, 3, 1, 2, 0], [0, 2, 1, 2, 2, 0, 1], [1, 2, 2, 1],
        [0, 0, 1, 3, 2, 2, 2], [1, 2, 2, 1], [0, 0, 1, 3, 2, 2, 2], [0, 2, 1, 2, 1, 2, 2]],
    "precision": 64}

# α = (0, 0) is opt; where a sample selects its token 1, its row 0 is tested and none is kept.
UNITS_NODES = ["+", "+", UNITS_KKT, "11", "+", "11", "1"]
UNITS_TREE = {"kind": "direction_tree", "selections": [[0, 0]], "nodes": UNITS_NODES}
UNITS_TREE_D = {"kind": "direction_tree", "selections": [],
                "nodes": ["+", "+", "=", "11", "+", "11", "1"]}
# With α_0 = 1 the rows of sample 0 contradict each other; with α_0 = 2 none of its rows is kept and
# its feature -E11 is orthogonal to all that sample 1 can keep.
OBSTRUCTED = {"kind": "direction_tree", "selections": [[0, 0]], "nodes": [
    "+", "+", DIAGONAL_KKT, "20500",
    {"kind": "obstruction", "multipliers": [[0, 0, 1], [0, 2, 1]]},
    {"kind": "obstruction", "multipliers": [[0, 1, "1/3"]]}]}
# The same with an object at every leaf that can have one; (2, 0) has the support index (0, 1).
OBJECTS = {"kind": "direction_tree", "selections": [[0, 0]], "nodes": [
    "+", "+", enclosure([[0, 1], [1, 1]]), "110", "+", DIAGONAL_FARKAS, DIAGONAL_FARKAS,
    "+", REVERSED_KKT, "1"]}
# Scores (0, -1, 1). α = 0 has the support index (0, 1) alone, opt = 2 again (0, 1).
OUTSCORED_TREE = {"kind": "direction_tree", "selections": [[0], [2]], "nodes": [
    "+", PRIMAL_DUAL, "1", exact_kkt([[0, 1, "1/13"]], [[0, 1]], "1/13")]}
# Two opposite samples with opt = (0, 1), which is infeasible; any other α ties at margin 1 at best.
CONTRARY = {**CYCLIC, "Y": [1, -1], "z": [[1, 0], [1, 0]]}
CONTRARY_FARKAS = {"kind": "farkas", "multipliers": [[0, 1, 1], [1, 0, 1]]}
CONTRARY_TREE = {"kind": "direction_tree", "selections": [], "nodes": [
    "+", "+", exact_kkt([[0, 1, "1/2"]], [[0, 1], [1, 1]], "1/2"), CONTRARY_FARKAS,
    "+", "1", exact_kkt([[1, 0, "1/2"]], [[0, 0], [1, 0]], "1/2")]}


def exceptional(selection, certificate):
    return {"kind": "exceptional_selection", "selection": selection, "certificate": certificate}


def _case(dataset, condition, status, certificate, says, **marks):
    return Case(dataset, verdict(condition, status, certificate, **marks), says)


def _stationary(dataset, certificate, says, loss="logistic", **marks):
    status = "fails" if certificate["kind"] == "krawczyk" else "holds"
    return _case(dataset, "no_stationary_point", status, certificate, says, loss=loss, **marks)


TIE = {"kind": "optimum_tie", "sample": 0, "tokens": [0, 1]}

SEARCH_CASES = {
    "decision_tree": _stationary(FREE, TREE, "for each of 3 cells that cover all W; branched on "
                                 "samples [0]"),
    "decision_tree_deep": _stationary(FREE, DEEP_TREE, "for each of 3 cells that cover all W; "
                                      "branched on samples [0, 1]", "correlation"),
    "decision_tree_root": _stationary(FREE, ROOT_TREE, "for each of 1 cells", "exponential"),
    "krawczyk_minimum": _stationary(
        BALANCED, MINIMUM, "exactly one W = Σ y_k B_k with |y_k - c_k| ≤ 1/16 is stationary, "
        "c = (0), B_k = (x_i0 - x_it) z_iᵀ of rows (0, 1); the Hessian on the row space has 0 "
        "negative and 1 positive eigenvalues: a local minimum there", "exponential", **ENCLOSED),
    "krawczyk_without_inertia": _stationary(
        BALANCED, {**MINIMUM, "inertia": None, "preconditioner": [[-34]]},
        "≤ 1/16 is stationary, c = (0), B_k = (x_i0 - x_it) z_iᵀ of rows (0, 1)", **ENCLOSED),
    "krawczyk_saddle": _stationary(
        SADDLE_DATA, SADDLE, "≤ 1/16384 is stationary, c = (-8856951420255541/18014398509481984, ",
        **ENCLOSED),
    "simplex_cover": _stationary(LINE, COVER, "on each of 2 cells that cover all W = Σ y_k B_k",
                                 **ENCLOSED),
    "simplex_cover_split": _stationary(LINE, SPLIT_COVER, "on each of 4 cells", "correlation",
                                       **ENCLOSED),
    "simplex_cover_plane": _stationary(PLANE, PLANE_COVER, "on each of 17 cells", "exponential",
                                       **ENCLOSED),
    "directions_units": _case(
        UNITS, "directions", "holds", UNITS_TREE,
        "these are all the locally optimal selections; 1 in all: (0, 0)", **ENCLOSED),
    "directions_obstructed": _case(
        DIAGONAL, "directions", "holds", OBSTRUCTED, "1 in all: (0, 0)", **ENCLOSED),
    "directions_objects": _case(
        DIAGONAL, "directions", "holds", OBJECTS, "1 in all: (0, 0)", **ENCLOSED),
    "directions_outscored": _case(
        OUTSCORED, "directions", "holds", OUTSCORED_TREE, "2 in all: (0,), (2,)", **ENCLOSED),
    "directions_none": _case(
        CONTRARY, "directions", "holds", CONTRARY_TREE,
        "there is none", **ENCLOSED),
    "only_local": _case(DIAGONAL, "only_local_optimum", "holds", OBSTRUCTED, "opt = (0, 0)",
                        **ENCLOSED),
    "not_only_local": _case(
        OUTSCORED, "only_local_optimum", "fails", exceptional([0], PRIMAL_DUAL),
        "α = (0,) is locally optimal; opt = (2,)", **ENCLOSED),
    "not_local_at_all": _case(
        CONTRARY, "only_local_optimum", "fails", exceptional([0, 1], CONTRARY_FARKAS),
        "opt = (0, 1) is not locally optimal"),
    "only_local_tie": _case(FLAT, "only_local_optimum", "fails", TIE, "share its largest score"),
    "assumption_d": _case(UNITS, "assumption_d", "holds", UNITS_TREE_D, "opt = (0, 0)",
                          **ENCLOSED),
    "not_assumption_d": _case(
        DIAGONAL, "assumption_d", "fails", exceptional([2, 0], REVERSED_KKT),
        "W^mm exists for α = (2, 0), without support index (i, opt_i); opt = (0, 0)"),
    "not_assumption_d_enclosed": _case(
        DIAGONAL, "assumption_d", "fails", exceptional([2, 0], enclosure([[0, 1], [1, 1]])),
        "W^mm exists for α = (2, 0)", **ENCLOSED),
    "assumption_d_tie": _case(FLAT, "assumption_d", "fails", TIE, "share its largest score"),
}
