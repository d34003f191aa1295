import pickle
from fractions import Fraction

import pytest

from conditions.errors import InvalidInput


def test_one_line_with_name_value_type_rule_remedy():
    error = InvalidInput("Y[3]", 0.5, "labels must be 1 or -1", "encode them so")
    assert str(error) == "Y[3] = 0.5 (float): labels must be 1 or -1; encode them so"
    assert (error.name, error.value, error.rule, error.remedy) == (
        "Y[3]", 0.5, "labels must be 1 or -1", "encode them so")


@pytest.mark.parametrize("value", [
    10**6000, [10**6000], {1: 10**6000}, Fraction(10**6000, 3), "x" * 10**6, "a\nb\u2028c",
    [[["\n"] * 100] * 100] * 100, b"\n" * 100, type("Odd", (), {"__repr__": lambda self: "a\nb"})(),
    type("Mute", (), {"__repr__": lambda self: 1 / 0})()],
    ids=lambda value: type(value).__name__)
def test_any_value_is_shown_short_and_on_one_line(value):
    text = str(InvalidInput("name\nof it", value, "rule", "remedy"))
    assert len(text.splitlines()) == 1
    assert len(text) < 200


def test_showing_stops_at_a_glance():
    deep = []
    for _ in range(100_000):
        deep = [deep]
    error = InvalidInput("X", deep, "rule", "remedy")
    assert str(error) == "X = [[[[[...]]]]] (list): rule; remedy"
    assert repr(error) == f"InvalidInput({str(error)!r})"


def test_crosses_processes():
    error = InvalidInput("Y[3]", 0.5, "rule", "remedy")
    copy = pickle.loads(pickle.dumps(error))
    assert str(copy) == str(error)
    assert copy.remedy == "remedy"
