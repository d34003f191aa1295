"""Families in one parameter: every changed field is refused, with its code."""

import copy

import pytest

from verifier.kernel import Unreadable, check_text
from verifier.kernel.family import check_family
from verifier.kernel.reading import parse
from verifier.kernel.refusals import Refusal

from .builders import changed
from .family_builders import FAMILIES, FAMILY, ROOT, text


def refusals(document):
    return [r.code.name for r in check_text(text(document)).refusals]


@pytest.mark.parametrize("name", FAMILIES)
def test_accepted(name):
    result = check_text(text(FAMILIES[name]))
    assert result.accepted and result.counts["proved"] == len(FAMILIES[name]["pieces"])


# path, new value, code. Points: −1, …, 1, √2, 2; the last pieces are (1, √2), √2, (√2, 2), 2.
FAMILY_TARGETED = [
    (("points", -1), 1, "NOT_INCREASING"),
    (("points", -1), ROOT, "NOT_INCREASING"),
    (("points", -1), {"polynomial": [2, 0, -1, 4, 0, -2], "interval": ["7/5", 2]},
     "NOT_INCREASING"),
    (("points", -2), {**ROOT, "interval": [2, 3]}, "NOT_A_POINT"),
    (("points", -2), {**ROOT, "interval": [-2, 2]}, "NOT_A_POINT"),
    (("points", -2), {**ROOT, "interval": [2, 1]}, "NOT_A_POINT"),
    (("points", -2), {**ROOT, "polynomial": [1]}, "NOT_A_POINT"),
    (("points", -2), {**ROOT, "polynomial": []}, "NOT_A_POINT"),
    (("points", -2), {**ROOT, "polynomial": [-3, 0, 1]}, "SIGN_UNPROVED"),
    (("points", -2), "3/2", "SIGN_UNPROVED"),
    (("points",), [0], "EMPTY"),
    (("pieces",), [], "WRONG_LENGTH"),
    (("selection",), [1], "SELECTED_ROW"),
    (("selection",), [3], "OUT_OF_RANGE"),
    (("pieces", -1, "support"), [[0, 1], [0, 2]], "WRONG_SUPPORT"),
    (("pieces", -3, "support"), [[0, 1]], "WRONG_SUPPORT"),
    (("pieces", -3, "support"), None, "CERTIFICATE_UNFIT"),
    (("pieces", -3, "support"), [[0, 2], [0, 1]], "NOT_INCREASING"),
    (("pieces", -4, "scale"), [-1], "SIGN_UNPROVED"),
    (("pieces", -4, "scale"), [], "SIGN_UNPROVED"),
    (("pieces", -4, "scale"), [2], "WRONG_SUPPORT"),
    (("pieces", -4, "scale"), None, "CERTIFICATE_UNFIT"),
    (("pieces", -4, "multipliers", 0, 2), [-1], "SIGN_UNPROVED"),
    (("pieces", -4, "multipliers", 0, 2), [0, 1], "WRONG_SUPPORT"),
    (("pieces", -4, "multipliers", 0, 2), ["-3/2", 1], "SIGN_UNPROVED"),
    (("pieces", -4, "multipliers", 0, 0), 1, "OUT_OF_RANGE"),
    (("pieces", -4, "multipliers", 0, 1), 0, "SELECTED_ROW"),
    (("pieces", -4, "multipliers"), [], "WRONG_SUPPORT"),
    (("pieces", -4, "violating"), [0, 2], "STATUS_UNPROVED"),
    (("pieces", -4, "violating"), [0, 0], "SELECTED_ROW"),
    (("pieces", -2, "multipliers"), [[0, 1, [1]], [0, 2, [1]]], "WRONG_SUPPORT"),
    (("pieces", 0, "violating"), None, "NOT_LOCALLY_OPTIMAL"),
    (("pieces", -1, "status"), "infeasible", "CERTIFICATE_UNFIT"),
    (("pieces", -1, "status"), "undefined", "CERTIFICATE_UNFIT"),
    (("pieces", -1, "status"), "unknown", "UNKNOWN_NAME"),
    (("pieces", -1), {"status": "undefined", "multipliers": [], "scale": None, "support": None,
                      "violating": None}, "SIGN_UNPROVED"),
    (("pieces", -1), {"status": "infeasible", "multipliers": [[0, 1, [1]]], "scale": None,
                      "support": None, "violating": None}, "NOT_CANCELLING"),
    (("pieces", -1), {"status": "infeasible", "multipliers": [], "scale": None, "support": None,
                      "violating": None}, "SIGN_UNPROVED"),
    (("pieces", -1), {"status": "infeasible", "multipliers": [], "scale": None, "support": None,
                      "violating": [0, 1]}, "CERTIFICATE_UNFIT"),
    (("family", "X", "denominator"), [], "EMPTY"),
    (("family", "X", "denominator"), [-1, 1], "WRONG_SUPPORT"),
    (("family", "X", "vectors", 0, 2, 0), [1], "WRONG_SUPPORT"),
    (("family", "X", "vectors", 0), [[[], []]], "WRONG_LENGTH"),
    (("family", "z", "vectors", 0, 0), [2], "WRONG_SUPPORT"),
    (("family", "z", "denominator"), [0, 1], "SIGN_UNPROVED"),
    (("family", "v", "vectors", 0, 0), [-1], "STATUS_UNPROVED"),
    (("family", "v", "vectors"), [], "WRONG_LENGTH"),
    (("family", "Y", 0), -1, "STATUS_UNPROVED"),
    (("family", "Y", 0), 0, "BAD_LABEL"),
    (("parameter",), 1, "WRONG_TYPE"),
]


@pytest.mark.parametrize(("path", "new", "code"), FAMILY_TARGETED)
def test_every_change_is_refused(path, new, code):
    assert refusals(changed(FAMILY, path, new)) == [code]


# Points may be spelled otherwise: as roots at the ends of intervals, or beyond the range of floats.
@pytest.mark.parametrize(("point", "shown"), [
    ({"polynomial": [-9, 5], "interval": [0, "9/5"]}, "9/5"),
    ({"polynomial": [-2, 1], "interval": [2, 3]}, "2"),
    ({"polynomial": ["-1" + "0" * 800, 0, 1], "interval": [0, "1" + "0" * 401]}, "9.99999E+399…"),
    ({"polynomial": ["-2" + "0" * 800, 0, 1], "interval": [0, "1" + "0" * 401]}, "1.41421E+400…")])
def test_last_points_of_other_forms_are_accepted(point, shown):
    result = check_text(text(changed(FAMILY, ("points", -1), point)))
    assert result.accepted and result.outcomes[-1].text.startswith(f"θ = {shown}: ")


def test_work_is_limited_by_the_length_of_the_file():
    top = parse(text(FAMILY))
    least = 1 << 17  # characters whose work is that of an empty file
    assert check_family(top, 1000 - least)
    with pytest.raises(Refusal, match="more work than a file of its length"):
        check_family(top, 5 - least)


def test_fields_are_needed_and_no_others_allowed():
    for place in ((), ("family",), ("family", "X"), ("pieces", 0)):
        for change in ("note", None):
            document = copy.deepcopy(FAMILY)
            at = document
            for step in place:
                at = at[step]
            if change:
                at[change] = 0
                assert refusals(document) == ["UNKNOWN_FIELD"]
                continue
            for name in [key for key in at if key != "format"]:
                value = at.pop(name)
                if name == "version":
                    with pytest.raises(Unreadable):
                        refusals(document)
                else:
                    assert refusals(document) == ["MISSING_FIELD"]
                at[name] = value
