"""The nuclear norm: every bound, sign and singular value of a certificate is re-derived."""

from fractions import Fraction

import pytest

from verifier.kernel import check_text
from verifier.kernel.kinds.nuclear import semidefinite
from verifier.kernel.kinds.nuclear_uniqueness import exceeds, root_above

from .builders import DELETE, changed, document, text
from .nuclear_builders import NUCLEAR_CASES, REFLECTED_SIGNS, SIGNS, enlarged

C = ("certificate",)
NODES = (*C, "nodes")

# case, path within the verdict, new value, expected code
NUCLEAR_TARGETED = [
    ("nuclear_interval", (*C, "lower"), 1, None),
    ("nuclear_interval", (*C, "lower"), "2000001/1000000", "WRONG_NORM"),
    ("nuclear_interval", (*C, "lower"), 0, "NOT_POSITIVE"),
    ("nuclear_interval", (*C, "upper"), 3, None),
    ("nuclear_interval", (*C, "upper"), "1999999/1000000", "WRONG_NORM"),
    ("nuclear_interval", (*C, "rank"), 1, "WRONG_RANK"),
    ("nuclear_interval", (*C, "rank"), 3, "OUT_OF_RANGE"),
    ("nuclear_interval", (*C, "rank"), 0, "OUT_OF_RANGE"),
    ("nuclear_interval", (*C, "multipliers"), [], "EMPTY"),
    ("nuclear_interval", (*C, "multipliers", 0, 2), "1000001/1000000", "NOT_DEFINITE"),
    ("nuclear_interval", (*C, "multipliers", 0, 2), "999999/1000000", "WRONG_NORM"),
    ("nuclear_interval", (*C, "multipliers", 0, 2), -1, "NOT_POSITIVE"),
    ("nuclear_interval", (*C, "multipliers", 0, 2), 0, "ZERO_ENTRY"),
    ("nuclear_interval", (*C, "multipliers", 0, 1), 2, "NOT_DEFINITE"),
    ("nuclear_interval", (*C, "multipliers", 1), DELETE, "WRONG_NORM"),
    ("nuclear_interval", (*C, "multipliers", 1), [0, 1, 1], "NOT_INCREASING"),
    ("nuclear_interval", (*C, "multipliers", 0, 1), 0, "SELECTED_ROW"),
    ("nuclear_interval", (*C, "K", 0, 0), "999999/1000000", "MARGIN_TOO_SMALL"),
    ("nuclear_interval", (*C, "K", 0, 0), "1000001/1000000", "WRONG_NORM"),
    ("nuclear_interval", (*C, "K", 0, 1), "1/1000", "WRONG_NORM"),
    ("nuclear_interval", (*C, "Q", 1, 1), "999999/1000000", "MARGIN_TOO_SMALL"),
    ("nuclear_interval", (*C, "Q", 0), [1], "WRONG_LENGTH"),
    ("nuclear_interval", (*C, "K"), [[], []], "EMPTY"),
    ("nuclear_interval", (*C, "K", 1), DELETE, "WRONG_LENGTH"),
    ("nuclear_interval", (*C, "Q"), [[1], [1]], "WRONG_LENGTH"),
    ("nuclear_interval", ("selection",), [1, 0], "MARGIN_TOO_SMALL"),
    ("nuclear_interval", ("evidence",), "exact", "EVIDENCE_UNFIT"),
    ("nuclear_interval", ("status",), "fails", "KIND_UNFIT"),
    ("nuclear_interval", ("condition",), "feasibility", "KIND_UNFIT"),
    ("nuclear_interval_wide", (*C, "multipliers", 0, 2), "12/17", None),
    ("nuclear_interval_wide", (*C, "multipliers", 0, 2), "17/24", "NOT_DEFINITE"),
    ("nuclear_optima", (*C, "second"), [[1, 0], [0, 1]], "EQUAL_OPTIMA"),
    ("nuclear_optima", (*C, "second"), [[1, "1/2"], ["1/2", 1]], None),
    ("nuclear_optima", (*C, "second", 0, 1), 0, "NOT_DEFINITE"),
    ("nuclear_optima", (*C, "second"), [[1, "9/8"], ["9/8", 1]], "NOT_DEFINITE"),
    ("nuclear_optima", (*C, "first"), [[2, 0], [0, 0]], "MARGIN_TOO_SMALL"),
    ("nuclear_optima", (*C, "first"), [[2, 0], [0, 1]], "WRONG_NORM"),
    ("nuclear_optima", (*C, "first"), [[-1, 0], [0, 3]], "NOT_DEFINITE"),
    ("nuclear_optima", (*C, "multipliers", 0, 2), "1/2", "WRONG_NORM"),
    ("nuclear_optima", (*C, "multipliers", 0, 2), "3/2", "NOT_DEFINITE"),
    ("nuclear_optima", ("status",), "holds", "KIND_UNFIT"),
    ("nuclear_unique", (*C, "K", 0, 0), "2/25", "MARGIN_TOO_SMALL"),
    ("nuclear_unique", (*C, "K", 0, 0), "4/25", "SECOND_OPTIMUM"),
    ("nuclear_unique", (*C, "Q", 0, 0), "1/4", "SECOND_OPTIMUM"),
    ("nuclear_unique", (*C, "Q", 1, 0), "1/100", "SECOND_OPTIMUM"),
    ("nuclear_unique", (*C, "multipliers", 0, 2), "1/24", "NOT_DEFINITE"),
    ("nuclear_unique", (*C, "multipliers", 0, 2), "1/26", "SECOND_OPTIMUM"),
    ("nuclear_unique", (*C, "near"), [], "EMPTY"),
    ("nuclear_unique", (*C, "near"), [[0, 2]], "DEGENERATE"),
    ("nuclear_unique", (*C, "near"), [[0, 1], [1, 1]], "DEGENERATE"),
    ("nuclear_unique", (*C, "near"), [[0, 1], [0, 2]], "NOT_DEFINITE"),
    ("nuclear_unique", (*C, "near"), [[0, 2], [0, 1]], "NOT_INCREASING"),
    ("nuclear_unique", (*C, "least_values", 0), 8, "NOT_DEFINITE"),
    ("nuclear_unique", (*C, "least_values", 0), 0, "NOT_POSITIVE"),
    ("nuclear_unique", (*C, "least_values", 1), "1/24", "NOT_DEFINITE"),
    ("nuclear_unique", (*C, "least_values", 1), "-1/26", "NOT_POSITIVE"),
    ("nuclear_unique", (*C, "least_values", 2), "1/4", "NOT_DEFINITE"),
    ("nuclear_unique", (*C, "least_values", 3), 2, "NOT_DEFINITE"),
    ("nuclear_unique", (*C, "least_values"), [7, "1/26", "1/6"], "WRONG_LENGTH"),
    ("nuclear_unique", (*C, "least_values"), [1, "1/50", "1/10", "1/10"], None),
    ("nuclear_unique", (*C, "rank"), 2, "WRONG_RANK"),
    ("nuclear_unique", ("status",), "fails", "KIND_UNFIT"),
    ("nuclear_unique", C, enlarged(Fraction(1, 10**5)), "SECOND_OPTIMUM"),
    ("nuclear_unique_gap", (*C, "least_values", 0), "1/1000", "SECOND_OPTIMUM"),
    ("nuclear_unique_gap", (*C, "least_values", 1), "1/10000", "SECOND_OPTIMUM"),
    ("nuclear_unique_gap", (*C, "least_values", 2), "1/1000", "SECOND_OPTIMUM"),
    ("nuclear_unique_gap", (*C, "least_values", 3), "1/100", "SECOND_OPTIMUM"),
    ("low_rank_pair", (*C, "K"), [[1], [0]], "MARGIN_TOO_SMALL"),
    ("low_rank_pair", (*C, "K"), [[1, 0], [1, 0]], "WRONG_LENGTH"),
    ("low_rank_pair", (*C, "K"), [[], []], "EMPTY"),
    ("low_rank_pair", (*C, "Q", 0, 0), "0x1.fffffffffffffp-1", "MARGIN_TOO_SMALL"),
    ("low_rank_pair", (*C, "Q", 0, 0), 5, None),
    ("low_rank_pair", ("selection",), [1, 0], "MARGIN_TOO_SMALL"),
    ("low_rank_pair", ("status",), "fails", "KIND_UNFIT"),
    ("rank_one_infeasible", NODES, [], "BROKEN_TREE"),
    ("rank_one_infeasible", NODES, SIGNS["nodes"][:3], "BROKEN_TREE"),
    ("rank_one_infeasible", NODES, [*SIGNS["nodes"], 0], "BROKEN_TREE"),
    ("rank_one_infeasible", NODES, [0, 1, 2, *SIGNS["nodes"][2:]], "BROKEN_TREE"),
    ("rank_one_infeasible", (*NODES, 0), 1, "OUT_OF_RANGE"),
    ("rank_one_infeasible", (*NODES, 1), 0, "OUT_OF_RANGE"),
    ("rank_one_infeasible", (*NODES, 1), {"rows": [[0, 1, 1]]}, "NOT_CANCELLING"),
    # The other sign is another statement.
    ("rank_one_infeasible", NODES, [*SIGNS["nodes"][:2], *SIGNS["nodes"][:1:-1]],
     "NOT_CANCELLING"),
    ("rank_one_infeasible", (*NODES, 2, "rows", 0, 2), 2, "NOT_CANCELLING"),
    ("rank_one_infeasible", (*NODES, 2, "rows", 0, 2), -1, "NOT_POSITIVE"),
    ("rank_one_infeasible", (*NODES, 2, "rows", 0, 2), 0, "NOT_POSITIVE"),
    ("rank_one_infeasible", (*NODES, 2, "rows", 0, 1), 0, "SELECTED_ROW"),
    ("rank_one_infeasible", (*NODES, 2, "rows", 0, 0), 2, "OUT_OF_RANGE"),
    ("rank_one_infeasible", (*NODES, 2, "rows"), [], "EMPTY"),
    ("rank_one_infeasible", (*NODES, 2, "rows"), [[1, 2, 1], [0, 2, 1]], "NOT_INCREASING"),
    ("rank_one_infeasible", (*NODES, 2), {"queries": [[0, 1]]}, "NOT_CANCELLING"),
    # A sample without a sign has no part in a refutation.
    ("rank_one_infeasible", NODES, [0, {"rows": [[0, 2, 1], [1, 2, 1]]}], "OUT_OF_RANGE"),
    ("rank_one_infeasible", NODES, [SIGNS["nodes"][2]], "OUT_OF_RANGE"),
    ("rank_one_infeasible", ("selection",), [1, 0], "NOT_CANCELLING"),
    ("rank_one_reflected", NODES, [*REFLECTED_SIGNS["nodes"][:3],
                                   REFLECTED_SIGNS["nodes"][2]], "NOT_CANCELLING"),
    ("rank_one_reflected", (*NODES, 2, "queries"), [], "EMPTY"),
    ("rank_one_reflected", (*NODES, 2, "queries", 0, 1), -1, "NOT_POSITIVE"),
    ("rank_one_reflected", (*NODES, 2, "queries", 1), [0, 1], "NOT_INCREASING"),
    ("rank_one_reflected", (*NODES, 2, "queries", 1, 0), 2, "OUT_OF_RANGE"),
    ("rank_one_reflected", (*NODES, 2, "queries", 1), [1, 1, 1], "WRONG_LENGTH"),
]

# case, path within the dataset, new value, expected code
NUCLEAR_OTHER_DATA = [
    ("nuclear_interval", ("X", 0, 0), [2, 0], "NOT_DEFINITE"),
    ("nuclear_interval", ("z", 1), [0, "1/2"], "MARGIN_TOO_SMALL"),
    ("nuclear_unique", ("X", 1, 0), [15, 19], "MARGIN_TOO_SMALL"),
    ("nuclear_unique", ("X", 1, 0), [15, 21], None),
    # The same feature again, and another one of margin 1.
    ("nuclear_unique", ("X", 0, 2), [0, 0], None),
    ("nuclear_unique", ("X", 0, 2), [4, -3], "SECOND_OPTIMUM"),
    ("nuclear_optima", ("X", 0, 0), ["1/2", 0], "MARGIN_TOO_SMALL"),
    ("low_rank_pair", ("z", 0), [-1, 0], "MARGIN_TOO_SMALL"),
    ("rank_one_infeasible", ("X", 1, 2), [0, 2], "NOT_CANCELLING"),
    ("rank_one_reflected", ("z", 1), [1], "NOT_CANCELLING"),
]


def refusals(dataset, verdict):
    return [refusal.code.name for refusal in check_text(text(document(dataset, verdict))).refusals]


@pytest.mark.parametrize(("name", "path", "new", "code"), NUCLEAR_TARGETED)
def test_targeted_mutation(name, path, new, code):
    # A None code marks a change that leaves the verdict true: it must stay accepted.
    case = NUCLEAR_CASES[name]
    assert refusals(case.dataset, changed(case.verdict, path, new)) == ([code] if code else [])


@pytest.mark.parametrize(("name", "path", "new", "code"), NUCLEAR_OTHER_DATA)
def test_certificate_of_another_dataset(name, path, new, code):
    case = NUCLEAR_CASES[name]
    found = refusals(changed(case.dataset, path, new), case.verdict)
    assert found == ([code] if code else [])


@pytest.mark.parametrize(("matrix", "expected"), [
    ([[0]], True), ([[-1]], False), ([[1, 1], [1, 1]], True), ([[1, 2], [2, 3]], False),
    ([[0, 0], [0, 5]], True), ([[0, 1], [1, 5]], False),
    ([[4, 2, 2], [2, 1, 1], [2, 1, 2]], True), ([[4, 2, 2], [2, 1, 0], [2, 0, 2]], False),
    ([[1, 1, 0], [1, 1, 0], [0, 0, -1]], False), ([[1, 1, 0], [1, 1, 0], [0, 0, 1]], True)])
def test_semidefinite(matrix, expected):
    assert semidefinite(matrix) is expected


def test_least_values_are_shown_up_to_their_limit():
    # Eigenvalues 1 and 3, over 10.
    matrix = [[2, 1], [1, 2]]
    assert exceeds(matrix, 10, Fraction(99, 1000), [1, 1])
    assert not exceeds(matrix, 10, Fraction(1, 10), [1, 1])
    assert not exceeds(matrix, 10, Fraction(101, 1000), [1, 1])
    # 2 - 4·2/5 and 2 - 4/5·1 leave 2/5·6/5 < 1.
    assert not exceeds(matrix, 1, Fraction(4, 5), [2, 1])
    assert exceeds(matrix, 1, Fraction(3, 5), [2, 1])


@pytest.mark.parametrize("x", [Fraction(0), Fraction(2), Fraction(1, 3**200), Fraction(7**90, 11),
                               Fraction(1, 4), Fraction(10**60)])
def test_root_above_is_above_and_near(x):
    root = root_above(x)
    assert root**2 >= x and root**2 <= x * (1 + Fraction(1, 2**60))
