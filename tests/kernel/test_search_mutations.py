"""Trees, covers and boxes: whatever is removed, swapped, moved or enlarged is noticed."""

import pytest

from verifier.kernel import check_text

from .builders import (
    DELETE,
    DIAGONAL_FARKAS,
    DIAGONAL_KKT,
    UNITS,
    UNITS_KKT,
    changed,
    data,
    document,
    exact_kkt,
    text,
    verdict,
)
from .search_builders import SEARCH_CASES, UNITS_NODES, UNITS_TREE_D

C = ("certificate",)
N = (*C, "nodes")


def obstruction(*multipliers):
    return {"kind": "obstruction", "multipliers": list(multipliers)}


# case, path within the verdict, new value, expected code
SEARCH_TARGETED = [
    # decision trees: a cell missing, repeated or too many
    ("decision_tree", N, [], "BROKEN_TREE"),
    ("decision_tree", (*N, 3), DELETE, "BROKEN_TREE"),
    ("decision_tree", (*N, 4), [1, 0, 2, 1], "BROKEN_TREE"),
    ("decision_tree", (*N, 0), DELETE, "NOT_MONOTONE"),
    ("decision_tree", (*N, 2), DELETE, "NO_WITNESS"),
    # swapped cells
    ("decision_tree", N, [[0], [1, 0, 2, 1], [2, 1, 1, 0], [0, 0, 1, 0]], "NOT_MONOTONE"),
    ("decision_tree", N, [[0], [2, 1, 1, 0], [0, 0, 1, 0], [1, 0, 2, 1]], "NO_WITNESS"),
    ("decision_tree", (*N, 1), [2, 1, 1, 0], None),
    # branches
    ("decision_tree", (*N, 0), [1], "NOT_MONOTONE"),
    ("decision_tree", (*N, 0), [2], "OUT_OF_RANGE"),
    ("decision_tree", (*N, 1), [0], "REPEATED_BRANCH"),
    ("decision_tree_deep", (*N, 0), DELETE, None),
    ("decision_tree_deep", (*N, 0), [0], "REPEATED_BRANCH"),
    ("decision_tree_deep", (*N, 1), [1], "REPEATED_BRANCH"),
    ("decision_tree_root", (*N, 0), [0, 0, 1, 0], "NOT_MONOTONE"),
    ("decision_tree_root", (*N, 0), [2, 1, 0, 1], None),
    ("decision_tree_root", (*N, 0), [2, 0, 0, 1], "NO_WITNESS"),
    # leaves
    ("decision_tree", (*N, 1, 0), 1, "NOT_MONOTONE"),
    ("decision_tree", (*N, 1, 0), 3, "OUT_OF_RANGE"),
    ("decision_tree", (*N, 1), [0, 0, 0, 1], "NO_WITNESS"),
    ("decision_tree", (*N, 1), [0, 0, 2, 0], "NO_WITNESS"),
    # Above and below must be as the cell says, not only the scores: f_0 < 1 has token 1 above.
    ("decision_tree", (*N, 1), [0, 0, 1, 2], "NO_WITNESS"),
    ("decision_tree", (*N, 1, 4), 0, "WRONG_LENGTH"),
    ("decision_tree", (*N, 1, 3), DELETE, "WRONG_LENGTH"),
    # directions
    ("decision_tree", (*C, "directions", 0, 1, 0), -2, "NOT_MONOTONE"),
    ("decision_tree", (*C, "directions", 0), [[0] * 3] * 3, "NO_WITNESS"),
    ("decision_tree", (*C, "directions", 0, 1), [2, -1, 0], "NOT_MONOTONE"),
    ("decision_tree", (*C, "directions", 1, 2, 0), 1, "NOT_MONOTONE"),
    ("decision_tree", (*C, "directions", 0, 2, 0), 2, None),
    ("decision_tree", (*C, "directions", 0, 2, 0), -1, "NOT_MONOTONE"),
    ("decision_tree", (*C, "directions", 2), DELETE, "OUT_OF_RANGE"),
    ("decision_tree", (*C, "directions", 2, 2), DELETE, "WRONG_LENGTH"),
    ("decision_tree", ("evidence",), "enclosed", "EVIDENCE_UNFIT"),
    ("decision_tree", ("status",), "fails", "KIND_UNFIT"),
    ("decision_tree", ("loss",), "exponential", None),
    # Krawczyk: the box moved, enlarged, shrunk off the zero
    ("krawczyk_minimum", (*C, "center", 0), "1/4", "NOT_CONTRACTING"),
    ("krawczyk_minimum", (*C, "center", 0), "1/256", None),
    ("krawczyk_minimum", (*C, "center", 0), "-1/8", "NOT_CONTRACTING"),
    ("krawczyk_minimum", (*C, "center"), [], "WRONG_LENGTH"),
    ("krawczyk_minimum", (*C, "radius"), "1/2", "NOT_CONTRACTING"),
    ("krawczyk_minimum", (*C, "radius"), 10**9, "NOT_CONTRACTING"),
    ("krawczyk_minimum", (*C, "radius"), 0, "NOT_POSITIVE"),
    ("krawczyk_minimum", (*C, "radius"), "-1/8", "NOT_POSITIVE"),
    ("krawczyk_minimum", (*C, "preconditioner", 0, 0), 13, "NOT_CONTRACTING"),
    ("krawczyk_minimum", (*C, "preconditioner", 0, 0), 0, "NOT_CONTRACTING"),
    ("krawczyk_minimum", (*C, "preconditioner", 0, 0), -27, "NOT_CONTRACTING"),
    ("krawczyk_minimum", (*C, "precision"), 7, "OUT_OF_RANGE"),
    ("krawczyk_minimum", (*C, "precision"), 65_537, "OUT_OF_RANGE"),
    ("krawczyk_minimum", (*C, "basis"), [], "EMPTY"),
    ("krawczyk_minimum", (*C, "basis"), [[0, 0]], "SELECTED_ROW"),
    ("krawczyk_minimum", (*C, "basis"), [[0, 2]], "OUT_OF_RANGE"),
    ("krawczyk_minimum", (*C, "basis"), [[1, 1]], None),
    ("krawczyk_saddle", (*C, "basis"), [[0, 1], [1, 1], [0, 2]], "NOT_INCREASING"),
    ("krawczyk_saddle", (*C, "basis"), [[0, 1], [0, 2], [1, 2]], "NOT_CONTRACTING"),
    ("krawczyk_saddle", (*C, "basis", 3), [1, 2], "NOT_A_BASIS"),
    ("krawczyk_saddle", (*C, "basis", 2), DELETE, "NOT_A_BASIS"),
    *(("krawczyk_saddle", (*C, "center", k), "0", "NOT_CONTRACTING") for k in range(3)),
    ("krawczyk_saddle", (*C, "center", 0), "0x1.f7759b3327d35p-2", "NOT_CONTRACTING"),
    ("krawczyk_saddle", (*C, "center", 2), "0x1.b2a0p-3", None),
    ("krawczyk_saddle", (*C, "center", 2), "0x1.b280p-3", "NOT_CONTRACTING"),
    ("krawczyk_saddle", (*C, "radius"), "0x1p-12", "NOT_CONTRACTING"),
    ("krawczyk_saddle", (*C, "radius"), "0x1p-60", "NOT_CONTRACTING"),
    ("krawczyk_saddle", (*C, "preconditioner", 0, 1), 0, "NOT_CONTRACTING"),
    ("krawczyk_saddle", (*C, "preconditioner", 2), DELETE, "WRONG_LENGTH"),
    ("krawczyk_saddle", ("loss",), "exponential", "NOT_CONTRACTING"),
    ("krawczyk_saddle", ("loss",), "correlation", "NOT_CONTRACTING"),
    ("krawczyk_saddle", ("evidence",), "exact", "EVIDENCE_UNFIT"),
    ("krawczyk_saddle", ("status",), "holds", "KIND_UNFIT"),
    # inertia
    ("krawczyk_minimum", (*C, "inertia"), None, None),
    ("krawczyk_minimum", (*C, "inertia", "negative"), 1, "WRONG_INERTIA"),
    ("krawczyk_minimum", (*C, "inertia", "negative"), 2, "OUT_OF_RANGE"),
    ("krawczyk_minimum", (*C, "inertia", "congruence", 0, 0), 0, "WRONG_INERTIA"),
    ("krawczyk_minimum", (*C, "inertia", "congruence", 0, 0), -1, None),
    *(("krawczyk_saddle", (*C, "inertia", "negative"), m, "WRONG_INERTIA") for m in (0, 2, 3)),
    ("krawczyk_saddle", (*C, "inertia", "congruence"),
     [[1, 0, 0], [0, 1, 0], [0, 0, 1]], "WRONG_INERTIA"),
    ("krawczyk_saddle", (*C, "inertia", "congruence", 0, 0), "0x1.2b2p+2", "WRONG_INERTIA"),
    ("krawczyk_saddle", (*C, "inertia", "congruence", 2), DELETE, "WRONG_LENGTH"),
    # covers: a cell missing, too many, the other side's cell
    ("simplex_cover", N, [], "BROKEN_TREE"),
    ("simplex_cover", (*N, 1), DELETE, "BROKEN_TREE"),
    ("simplex_cover", (*N, 2), [0, 0, 0, 1, 1], "BROKEN_TREE"),
    ("simplex_cover", N, [[0, 0, 0, 1, 1], [0, 0, 0, 1, 0]], "DESCENT_NOT_SHOWN"),
    ("simplex_cover", (*N, 0), [0, 0, 1, 0, 0], None),
    ("simplex_cover", (*N, 0), [0, 0, 1, 1, 0], "OUT_OF_RANGE"),
    ("simplex_cover", (*N, 0), [0, 1, 0, 1, 0], "OUT_OF_RANGE"),
    ("simplex_cover", (*N, 0), [1, 0, 0, 1, 0], "OUT_OF_RANGE"),
    ("simplex_cover", (*N, 0, 4), 1, "DESCENT_NOT_SHOWN"),
    ("simplex_cover", (*N, 0, 5), 0, "WRONG_LENGTH"),
    ("simplex_cover", (*N, 0), [0, 0, 0], "WRONG_LENGTH"),
    ("simplex_cover", (*C, "directions"), [[-1]], "DESCENT_NOT_SHOWN"),
    ("simplex_cover", (*C, "directions"), [[0]], "DESCENT_NOT_SHOWN"),
    ("simplex_cover", (*C, "directions"), [[1, 0]], "WRONG_LENGTH"),
    ("simplex_cover", (*C, "directions"), [["1/7"]], None),
    ("simplex_cover", (*C, "basis"), [], "EMPTY"),
    ("simplex_cover", (*C, "basis"), [[0, 1], [0, 1]], "NOT_INCREASING"),
    ("simplex_cover", (*C, "precision"), 7, "OUT_OF_RANGE"),
    ("simplex_cover", (*C, "precision"), 65_537, "OUT_OF_RANGE"),
    ("simplex_cover", ("evidence",), "exact", "EVIDENCE_UNFIT"),
    ("simplex_cover", ("status",), "fails", "KIND_UNFIT"),
    # splits
    ("simplex_cover_split", (*N, 0), [0, 0, 2, 3], "BROKEN_TREE"),
    ("simplex_cover_split", (*N, 0), [0, 2, 2, 3], "OUT_OF_RANGE"),
    ("simplex_cover_split", (*N, 0), [-1, 1, 2, 3], "OUT_OF_RANGE"),
    ("simplex_cover_split", (*N, 0), [0, 1, 0, 3], "OUT_OF_RANGE"),
    ("simplex_cover_split", (*N, 0), [0, 1, 2, -3], "OUT_OF_RANGE"),
    ("simplex_cover_split", (*N, 0), [0, 1, 7, 1], None),
    ("simplex_cover_split", (*N, 0), DELETE, "BROKEN_TREE"),
    ("simplex_cover_split", (*N, 2), DELETE, "BROKEN_TREE"),
    ("simplex_cover_plane", (*N, 2), DELETE, "DESCENT_NOT_SHOWN"),
    ("simplex_cover_plane", (*N, 29), DELETE, "BROKEN_TREE"),
    ("simplex_cover_plane", (*N, 0), [1, 2, 1, 2], None),
    ("simplex_cover_plane", (*N, 0), [2, 1, 2, 1], "DESCENT_NOT_SHOWN"),
    ("simplex_cover_plane", (*N, 1), [1, 0, 5, 1], "DESCENT_NOT_SHOWN"),
    ("simplex_cover_plane", (*N, 2), [0, 0, 1, 3, 0, 0, 0], "DESCENT_NOT_SHOWN"),
    ("simplex_cover_plane", (*C, "directions"), [[0, 1]], "DESCENT_NOT_SHOWN"),
    ("simplex_cover_plane", (*C, "basis"), [[0, 1], [0, 3]], None),
    ("simplex_cover_plane", (*C, "basis"), [[0, 1], [1, 2]], "NOT_A_BASIS"),
    ("simplex_cover_plane", (*C, "basis"), [[0, 2], [0, 3]], "NOT_A_BASIS"),
    ("simplex_cover_plane", (*C, "basis"), [[0, 1]], "NOT_A_BASIS"),
    # trees of selections: listed selections
    ("directions_units", (*C, "selections"), [], "WRONG_SELECTIONS"),
    ("directions_units", (*C, "selections"), [[0, 1]], "WRONG_SELECTIONS"),
    ("directions_units", (*C, "selections"), [[0, 0], [0, 1]], "WRONG_SELECTIONS"),
    ("directions_units", (*C, "selections"), [[0, 0], [0, 0]], "WRONG_SELECTIONS"),
    ("directions_units", (*C, "selections"), [[0, 2]], "OUT_OF_RANGE"),
    ("directions_units", (*C, "selections"), [[0]], "WRONG_LENGTH"),
    ("directions_outscored", (*C, "selections"), [[2], [0]], "WRONG_SELECTIONS"),
    ("directions_outscored", (*C, "selections"), [[2]], "WRONG_SELECTIONS"),
    ("directions_none", (*C, "selections"), [[0, 0]], "WRONG_SELECTIONS"),
    # structure
    ("directions_units", N, [], "BROKEN_TREE"),
    *(("directions_units", (*N, k), DELETE, code) for k, code in enumerate((
        "UNKNOWN_NAME", "UNKNOWN_NAME", "WRONG_LENGTH", "NOT_HEXADECIMAL", "MISPLACED_ENTRY",
        "WRONG_LENGTH", "BROKEN_TREE"))),
    ("directions_units", (*N, 7), "1", "BROKEN_TREE"),
    ("directions_units", (*N, 0), "1", "MISPLACED_ENTRY"),
    ("directions_units", (*N, 0), "=", "MISPLACED_ENTRY"),
    ("directions_units", (*N, 0), obstruction([0, 1, 1]), "MISPLACED_ENTRY"),
    ("directions_units", (*N, 1), "11", "MISPLACED_ENTRY"),
    ("directions_units", (*N, 1), UNITS_KKT, "UNKNOWN_NAME"),
    ("directions_units", (*N, 2), obstruction([0, 1, 1]), "UNKNOWN_NAME"),
    ("directions_units", (*N, 2), "+", "NOT_HEXADECIMAL"),
    ("directions_units", (*N, 2), "=", "MISPLACED_ENTRY"),
    ("directions_units", (*N, 2), 1, "WRONG_TYPE"),
    # hexadecimal multipliers
    ("directions_units", (*N, 2), "111", "NOT_CLOSED"),
    ("directions_units", (*N, 3), "10", "NOT_CLOSED"),
    ("directions_units", (*N, 3), "1f", None),
    ("directions_units", (*N, 3), "5ffff0", None),
    ("directions_units", (*N, 3), "1F", "NOT_HEXADECIMAL"),
    ("directions_units", (*N, 3), "1 ", "NOT_HEXADECIMAL"),
    ("directions_units", (*N, 3), "", "NOT_HEXADECIMAL"),
    ("directions_units", (*N, 3), "1Ā", "NOT_HEXADECIMAL"),
    ("directions_units", (*N, 3), "1", "WRONG_LENGTH"),
    ("directions_units", (*N, 3), "111", "WRONG_LENGTH"),
    ("directions_units", (*N, 3), "01", "WRONG_LENGTH"),
    ("directions_units", (*N, 3), "0", "WRONG_LENGTH"),
    ("directions_units", (*N, 6), "2", "WRONG_LENGTH"),
    ("directions_units", (*N, 6), "11", "WRONG_LENGTH"),
    # μ = (2, 1) is not (1, 0), but α = (0, 1) is so far from exceptional that it does as well.
    ("directions_objects", (*N, 3), "121", None),
    ("directions_objects", (*N, 3), "101", None),
    ("directions_objects", (*N, 3), "100", "NOT_CLOSED"),
    # Margin 1 exactly: no multipliers show it.
    ("directions_none", (*N, 2), "11", "NOT_CLOSED"),
    ("directions_outscored", (*N, 1), "11", "NOT_CLOSED"),
    ("directions_outscored", (*N, 3), "101", "NOT_CLOSED"),
    # obstructions
    ("directions_obstructed", (*N, 4), obstruction([0, 0, 2], [0, 2, 1]), None),
    ("directions_obstructed", (*N, 4), obstruction([0, 0, 1], [0, 2, 2]), "NOT_OBSTRUCTED"),
    ("directions_obstructed", (*N, 4), obstruction([0, 2, 1]), "NOT_OBSTRUCTED"),
    ("directions_obstructed", (*N, 4), obstruction(), "EMPTY"),
    ("directions_obstructed", (*N, 4), obstruction([0, 0, -1]), "NOT_POSITIVE"),
    ("directions_obstructed", (*N, 4), obstruction([0, 0, 0]), "ZERO_ENTRY"),
    ("directions_obstructed", (*N, 4), obstruction([0, 1, 1]), "SELECTED_ROW"),
    ("directions_obstructed", (*N, 4), obstruction([0, 2, 1], [0, 0, 1]), "NOT_INCREASING"),
    ("directions_obstructed", (*N, 4), obstruction([0, 0, 1], [0, 2, 1], [1, 0, 1]),
     "OUT_OF_RANGE"),
    ("directions_obstructed", (*N, 4), DIAGONAL_FARKAS, "UNKNOWN_NAME"),
    ("directions_obstructed", (*N, 1), obstruction([0, 1, 1]), "NOT_OBSTRUCTED"),
    ("directions_obstructed", (*N, 5), DELETE, "BROKEN_TREE"),
    # objects
    ("directions_objects", (*N, 2), DIAGONAL_KKT, None),
    ("directions_objects", (*N, 2), DIAGONAL_FARKAS, "SELECTED_ROW"),
    ("directions_objects", (*N, 2, "support"), [[0, 1]], "WRONG_SUPPORT"),
    ("directions_objects", (*N, 5), "111", None),
    ("directions_objects", (*N, 8), DIAGONAL_KKT, None),
    ("directions_objects", (*N, 8, "multipliers", 0, 2), 2, "NOT_COMPLEMENTARY"),
    ("directions_objects", (*N, 8), "111", "WRONG_LENGTH"),
    ("directions_objects", (*N, 8), "11", None),
    ("directions_objects", (*N, 8), "10", "NOT_CLOSED"),
    ("directions_outscored", (*N, 1, "excluded"), [], "NOT_EXCLUDED"),
    ("directions_outscored", (*N, 1, "W"), [["51/100", 0], ["51/100", 0]], "NOT_EXCLUDED"),
    ("directions_outscored", (*N, 2), exact_kkt([[0, 0, 1]], [[0, 0]], 1), "NOT_COMPLEMENTARY"),
    ("directions_outscored", (*N, 3, "norm_squared"), 1, "WRONG_NORM"),
    ("directions_units", ("evidence",), "exact", "EVIDENCE_UNFIT"),
    ("directions_units", ("status",), "fails", "KIND_UNFIT"),
    # which condition the same tree proves
    ("directions_units", ("condition",), "only_local_optimum", None),
    ("directions_units", ("condition",), "assumption_d", "STATUS_UNPROVED"),
    ("directions_outscored", ("condition",), "only_local_optimum", "STATUS_UNPROVED"),
    ("directions_none", ("condition",), "only_local_optimum", "STATUS_UNPROVED"),
    ("only_local", ("condition",), "directions", None),
    ("only_local", ("condition",), "assumption_d", "NOT_OBSTRUCTED"),
    ("only_local", ("status",), "fails", "KIND_UNFIT"),
    ("assumption_d", ("condition",), "directions", "MISPLACED_ENTRY"),
    ("assumption_d", ("condition",), "only_local_optimum", "MISPLACED_ENTRY"),
    ("assumption_d", (*N, 3), "=", "MISPLACED_ENTRY"),
    ("assumption_d", (*N, 2), "11", "WRONG_LENGTH"),
    ("assumption_d", (*N, 2), "111", "NOT_CLOSED"),
    ("assumption_d", C, {**UNITS_TREE_D, "nodes": UNITS_NODES}, "WRONG_SELECTIONS"),
    ("assumption_d", ("selection",), [0, 0], "SELECTION_UNFIT"),
    ("assumption_d", ("loss",), "logistic", "LOSS_UNFIT"),
    # one selection
    ("not_only_local", (*C, "selection"), [2], "MARGIN_TOO_SMALL"),
    ("not_only_local", C, {"kind": "exceptional_selection", "selection": [2], "certificate":
                           exact_kkt([[0, 1, "1/13"]], [[0, 1]], "1/13")}, "NOT_EXCEPTIONAL"),
    ("not_only_local", (*C, "certificate", "excluded"), [], "NOT_EXCLUDED"),
    ("not_only_local", (*C, "certificate", "kind"), "separator", "UNKNOWN_NAME"),
    ("not_only_local", ("evidence",), "exact", "EVIDENCE_UNFIT"),
    ("not_only_local", ("condition",), "assumption_d", None),
    ("not_only_local", ("condition",), "directions", "KIND_UNFIT"),
    ("not_only_local", ("status",), "holds", "KIND_UNFIT"),
    ("not_local_at_all", (*C, "selection"), [1, 1], "SELECTED_ROW"),
    ("not_local_at_all", (*C, "certificate", "multipliers", 0, 2), 2, "NOT_CANCELLING"),
    ("not_local_at_all", ("condition",), "assumption_d", "NOT_EXCEPTIONAL"),
    ("not_local_at_all", ("evidence",), "enclosed", "EVIDENCE_UNFIT"),
    ("not_assumption_d", ("condition",), "only_local_optimum", "NOT_EXCEPTIONAL"),
    ("not_assumption_d", (*C, "selection"), [0, 0], "NOT_EXCEPTIONAL"),
    ("not_assumption_d", (*C, "selection"), [2, 1], "SELECTED_ROW"),
    ("not_assumption_d_enclosed", ("evidence",), "exact", "EVIDENCE_UNFIT"),
    ("not_assumption_d_enclosed", (*C, "certificate", "inverse", "entries", 0, 0), 0,
     "COARSE_INVERSE"),
    ("only_local_tie", (*C, "tokens"), [1, 0], "NOT_INCREASING"),
    ("assumption_d_tie", (*C, "sample"), 1, "OUT_OF_RANGE"),
]

# case, path within the dataset, new value, expected code
SEARCH_OTHER_DATA = [
    ("decision_tree", ("v",), [0, 2, 1], "NOT_MONOTONE"),
    ("decision_tree", ("v",), [0, 0, 0], "WRONG_FLATNESS"),
    # Two levels: one cell instead of three.
    ("decision_tree", ("v",), [0, 1, 1], "BROKEN_TREE"),
    ("decision_tree", ("z", 1), [1, 0, 0], "NO_WITNESS"),
    ("decision_tree", ("Y", 0), -1, "NO_WITNESS"),
    ("krawczyk_minimum", ("X", 0, 0), [2], "NOT_CONTRACTING"),
    ("krawczyk_minimum", ("Y", 1), 1, "NOT_CONTRACTING"),
    ("krawczyk_minimum", ("v",), [-1], "NOT_CONTRACTING"),
    ("krawczyk_minimum", ("z",), [[0], [0]], "NOT_A_BASIS"),
    ("krawczyk_minimum", ("X", 1), [[1], [1]], "NOT_CONTRACTING"),
    ("krawczyk_saddle", ("z", 1), [0, -1, "1/64"], "NOT_A_BASIS"),
    ("krawczyk_saddle", ("z", 1), [0, "-65/64", 0], "NOT_CONTRACTING"),
    ("krawczyk_saddle", ("v",), [-1, 0, "1/64"], "NOT_CONTRACTING"),
    ("simplex_cover", ("Y",), [-1], "DESCENT_NOT_SHOWN"),
    ("simplex_cover", ("v",), [0], "DESCENT_NOT_SHOWN"),
    ("simplex_cover", ("z",), [[0]], "NOT_A_BASIS"),
    ("simplex_cover", ("z",), [[-1]], None),
    ("simplex_cover_plane", ("Y", 1), -1, "DESCENT_NOT_SHOWN"),
    ("simplex_cover_plane", ("z", 0), [-1, 2], "NOT_A_BASIS"),
    ("simplex_cover_plane", ("X", 2, 1), [1, 1], "DESCENT_NOT_SHOWN"),
    ("directions_units", ("Y", 0), -1, "WRONG_LENGTH"),
    ("directions_units", ("z", 1), [1, 0], None),
    ("directions_units", ("z", 1), [0, 2], "NOT_COMPLEMENTARY"),
    ("directions_units", ("X", 1, 0), [1, 0], None),
    ("directions_obstructed", ("X", 0, 2), [-1, 1], "NOT_OBSTRUCTED"),
    ("directions_obstructed", ("v",), [1, 1], "WRONG_LENGTH"),
    ("directions_outscored", ("v",), [0, -1], "NOT_EXCLUDED"),
    ("only_local", ("X", 1, 1), [0, 2], "OPTIMUM_NOT_UNIQUE"),
    ("assumption_d", ("X", 0, 1), [1, 0], "OPTIMUM_NOT_UNIQUE"),
    ("not_assumption_d", ("X", 0, 1), [1, 0], "OPTIMUM_NOT_UNIQUE"),
    ("not_assumption_d", ("X", 0, 0), [0, 0], "OPTIMUM_NOT_UNIQUE"),
    ("not_only_local", ("v",), [1, -1], "OPTIMUM_NOT_UNIQUE"),
    ("only_local_tie", ("v",), [0, 1], "NOT_TIED"),
]


def refusals(dataset, claimed):
    return [refusal.code.name for refusal in check_text(text(document(dataset, claimed))).refusals]


@pytest.mark.parametrize(("name", "path", "new", "code"), SEARCH_TARGETED)
def test_targeted_mutation(name, path, new, code):
    # A None code marks a change that leaves the verdict true: it must stay accepted.
    case = SEARCH_CASES[name]
    assert refusals(case.dataset, changed(case.verdict, path, new)) == ([code] if code else [])


@pytest.mark.parametrize(("name", "path", "new", "code"), SEARCH_OTHER_DATA)
def test_certificate_of_another_dataset(name, path, new, code):
    case = SEARCH_CASES[name]
    found = refusals(changed(case.dataset, path, new), case.verdict)
    assert found == ([code] if code else [])


@pytest.mark.parametrize("name", [name for name in SEARCH_CASES if "simplex" in name])
def test_no_node_of_a_cover_may_be_left_out_or_repeated(name):
    case = SEARCH_CASES[name]
    nodes = case.verdict["certificate"]["nodes"]
    for k, node in enumerate(nodes):
        for new in (nodes[:k] + nodes[k + 1:], [*nodes[:k], node, *nodes[k:]]):
            assert len(refusals(case.dataset, changed(case.verdict, N, new))) == 1


def test_what_samples_below_may_keep_counts_in_an_obstruction():
    # Where sample 0 selects its worst token V = -E11; sample 1 can keep E11, or -E11.
    nodes = ["+", obstruction([0, 2, 1]), "neither"]
    for query, found in (([1, 0], ("MISPLACED_ENTRY", "nodes[2]")),
                         ([-1, 0], ("NOT_OBSTRUCTED", "nodes[1].multipliers"))):
        dataset = data([[[-1, 0], [1, 0], [0, 0]], [[0, 0], [1, 0]]], [1, 1],
                       [[1, 0], query], [1, 0])
        tree = verdict("directions", "holds", evidence="enclosed", certificate={
            "kind": "direction_tree", "selections": [], "nodes": nodes})
        (refusal,) = check_text(text(document(dataset, tree))).refusals
        assert (refusal.code.name, refusal.place.split("certificate.")[1]) == found


def test_units_are_closed_for_every_multiplier():
    case = SEARCH_CASES["directions_units"]
    for width in (1, 2, 3, 4, 5, 9, 15):
        entry = f"{width:x}" + "f" * width
        assert refusals(UNITS, changed(case.verdict, (*N, 3), entry)) == []
