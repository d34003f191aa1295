"""Balls of datasets: a radius, a matrix or data that are moved too far are noticed."""

import pytest

from verifier.kernel import check_text

from .builders import DELETE, changed, document, text
from .robust_builders import ROBUST_CASES

C = ("certificate",)
R = (*C, "radius")

# case, path within the verdict, new value, expected code; a None code: still proved
ROBUST_TARGETED = [
    *[(name, R, new, "NOT_POSITIVE") for name, case in ROBUST_CASES.items()
      if "radius" in case.verdict["certificate"] for new in (0, "-1/20")],
    # 1 > 3ε + 4ε² up to ε = 1/4 exactly.
    ("robust_separator", R, "249999/1000000", None),
    ("robust_separator", R, "1/4", "MARGIN_TOO_SMALL"),
    ("robust_separator", (*C, "W"), [[2, 0], [0, 2]], None),
    ("robust_separator", (*C, "W"), [[1, 0], [0, 0]], "MARGIN_TOO_SMALL"),
    ("robust_separator", (*C, "W"), [[1, 3], [3, 1]], "MARGIN_TOO_SMALL"),
    ("robust_separator", (*C, "W", 0), DELETE, "WRONG_LENGTH"),
    ("robust_separator", ("selection",), [1, 0], "MARGIN_TOO_SMALL"),
    # 1 > 5ε + 4ε² up to ε = (√41 − 5)/8 = 0.17539…
    ("robust_optimality_separator", R, "175/1000", None),
    ("robust_optimality_separator", R, "176/1000", "NOT_LOCALLY_OPTIMAL"),
    ("robust_kkt", R, "1/15", "NOT_POSITIVE"),
    ("robust_kkt", R, "1/4", "COARSE_INVERSE"),
    ("robust_kkt", (*C, "multipliers", 1), "9/10", None),
    ("robust_kkt", (*C, "multipliers", 1), 2, "NOT_POSITIVE"),
    ("robust_kkt", (*C, "multipliers"), [0, 1], "NOT_POSITIVE"),
    ("robust_kkt", (*C, "multipliers"), [1], "WRONG_LENGTH"),
    ("robust_kkt", (*C, "inverse", "exponent"), 1, "COARSE_INVERSE"),
    ("robust_kkt", (*C, "inverse", "entries"), [[-1, 0], [0, 1]], "COARSE_INVERSE"),
    ("robust_kkt", (*C, "inverse", "entries", 0), [1], "WRONG_LENGTH"),
    ("robust_kkt", (*C, "rows"), [], "EMPTY"),
    ("robust_kkt", (*C, "rows"), [[1, 1], [0, 1]], "NOT_INCREASING"),
    ("robust_kkt", (*C, "rows", 0), [0, 0], "SELECTED_ROW"),
    ("robust_kkt", (*C, "rows", 0, 0), 2, "OUT_OF_RANGE"),
    ("robust_other_row", (*C, "rows"), [[0, 2]], "COARSE_INVERSE"),
    # Margin 3/2 off the support, and features of norm √17.
    ("robust_other_row", R, "1/20", "MARGIN_TOO_SMALL"),
    ("robust_optimality_other_row", R, "1/100", None),
    ("robust_factors", R, "1/2", "NOT_INDEPENDENT"),
    ("robust_factors", R, "499999/1000000", None),
    ("robust_factors", (*C, "differences", 0, "entries"), [[0], [1]], "NOT_INDEPENDENT"),
    ("robust_factors", (*C, "differences", 1), DELETE, "WRONG_LENGTH"),
    ("robust_factors", (*C, "queries", "entries"), [[0, 1], [1, 0]], "NOT_INDEPENDENT"),
    ("robust_factors", (*C, "queries", "exponent"), 1, "NOT_INDEPENDENT"),
    # 3ε + 4ε² < 1 again.
    ("robust_rows", R, "1/4", "NOT_INDEPENDENT"),
    ("robust_rows", R, "249999/1000000", None),
    ("robust_rows", (*C, "inverse", "entries", 1), [9, 9], "NOT_INDEPENDENT"),
    ("robust_rows", (*C, "inverse", "entries", 3), DELETE, "WRONG_LENGTH"),
]

# case, path within the dataset, new value, expected code
ROBUST_OTHER_DATA = [
    ("robust_separator", ("X", 0, 1), ["9/10", 0], "MARGIN_TOO_SMALL"),
    ("robust_separator", ("z", 0), [0, 1], "MARGIN_TOO_SMALL"),
    # Features e1 e1ᵀ and e2 e1ᵀ: off the diagonal they move by a(1 + b) too, ρ_i = 0.61.
    ("robust_kkt", ("z", 1), [1, 0], "NOT_POSITIVE"),
    ("robust_kkt", ("z", 0), [2, 0], "COARSE_INVERSE"),
    ("robust_optimality_kkt", ("v",), [1, "1/10"], "NOT_LOCALLY_OPTIMAL"),
    ("robust_optimality_kkt", ("Y", 0), -1, "NOT_LOCALLY_OPTIMAL"),
    ("robust_optimality_other_row", ("v",), [-1, 0], "NOT_LOCALLY_OPTIMAL"),
    ("robust_other_row", ("X", 0, 2), [0, "-1/10"], "MARGIN_TOO_SMALL"),
    ("robust_factors", ("z", 1), [1, 0], "NOT_INDEPENDENT"),
    ("robust_factors", ("X", 1, 1), [0, 1], "NOT_INDEPENDENT"),
    ("robust_rows", ("z", 0), ["1/2", 0], "NOT_INDEPENDENT"),
]


def refusals(dataset, verdict):
    return [refusal.code.name for refusal in check_text(text(document(dataset, verdict))).refusals]


@pytest.mark.parametrize(("name", "path", "new", "code"), ROBUST_TARGETED)
def test_targeted_mutation(name, path, new, code):
    case = ROBUST_CASES[name]
    assert refusals(case.dataset, changed(case.verdict, path, new)) == ([code] if code else [])


@pytest.mark.parametrize(("name", "path", "new", "code"), ROBUST_OTHER_DATA)
def test_certificate_of_another_dataset(name, path, new, code):
    case = ROBUST_CASES[name]
    found = refusals(changed(case.dataset, path, new), case.verdict)
    assert found == ([code] if code else [])
