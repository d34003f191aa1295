"""The list of refusal codes is closed: each has a meaning and a file that is refused with it."""

import pytest

from verifier.kernel import Code, check_text
from verifier.kernel.refusals import shown

from .corpus import INVALID
from .test_cubic_mutations import OTHER_DATA as CUBIC_OTHER_DATA
from .test_cubic_mutations import TARGETED as CUBIC_TARGETED
from .test_family_mutations import FAMILY_TARGETED
from .test_general_mutations import GENERAL_OTHER_DATA, GENERAL_TARGETED
from .test_head_mutations import HEAD_OTHER_DATA, HEAD_TARGETED
from .test_limit_mutations import LIMIT_OTHER_DATA, LIMIT_TARGETED
from .test_mutations import OTHER_DATA, TARGETED, WHOLE
from .test_nuclear_mutations import NUCLEAR_OTHER_DATA, NUCLEAR_TARGETED
from .test_ray_mutations import RAY_OTHER_DATA, RAY_TARGETED
from .test_robust_mutations import ROBUST_OTHER_DATA, ROBUST_TARGETED
from .test_run_mutations import RUN_OTHER_DATA, RUN_TARGETED
from .test_search_mutations import SEARCH_OTHER_DATA, SEARCH_TARGETED


def test_every_code_has_a_file_in_the_corpus():
    assert {code for code, _ in INVALID} == {code.name.lower() for code in Code}


def test_every_code_has_a_mutation():
    mutated = {case[-1] for case in (*TARGETED, *OTHER_DATA, *WHOLE, *SEARCH_TARGETED,
                                     *SEARCH_OTHER_DATA, *GENERAL_TARGETED, *HEAD_TARGETED,
                                     *HEAD_OTHER_DATA,
                                     *GENERAL_OTHER_DATA, *LIMIT_TARGETED,
                                     *LIMIT_OTHER_DATA, *NUCLEAR_TARGETED, *NUCLEAR_OTHER_DATA,
                                     *RUN_TARGETED, *RUN_OTHER_DATA, *RAY_TARGETED,
                                     *RAY_OTHER_DATA, *ROBUST_TARGETED, *ROBUST_OTHER_DATA,
                                     *FAMILY_TARGETED, *CUBIC_TARGETED, *CUBIC_OTHER_DATA)}
    # These two need more than one changed value, and have tests of their own.
    assert {code.name for code in Code} - mutated == {"DUPLICATE_KEY", "REPEATED_VERDICT"}


@pytest.mark.parametrize("code", Code)
def test_meaning_is_one_line(code):
    assert 10 < len(code.value) < 100 and "\n" not in code.value


@pytest.mark.parametrize(("value", "text"), [
    (None, "null"), (True, "true"), (0, "0"),
    pytest.param(10**9999, "an integer of 33216 bits", id="long"),
    ("\ud800é\n", "'\\ud800\\xe9\\n'"), ("a" * 99, f"'{'a' * 60}'..."), ([1, 2], "a list of 2"),
    ({}, "an object of 0 fields"), (1.5, "a float")])
def test_any_value_is_shown_on_one_ascii_line(value, text):
    assert shown(value) == text


def test_refusal_names_code_place_and_reason():
    (refusal,) = check_text(
        '{"format": "attsvm-certificate", "version": 1, "run": null, "verdicts": [],'
        ' "dataset": {"X": [[[1], [0.5]]], "Y": [1], "z": [[1]], "v": [1]}}').refusals
    assert str(refusal) == ("NOT_A_NUMBER at dataset.X[0][1][0]: "
                            "'0.5' is a JSON float, which is not exact")
