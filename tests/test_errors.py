import pickle
from fractions import Fraction

import numpy as np
import pytest
import sympy
from flint import arb, fmpq

from conditions.errors import Description, InvalidInput, counted, unknown


def test_one_line_with_name_value_rule_remedy():
    error = InvalidInput("Y[3]", 0.5, "labels must be 1 or -1", "encode them so")
    assert str(error) == "Y[3] = 0.5: labels must be 1 or -1; encode them so"
    assert (error.name, error.value, error.rule, error.remedy) == (
        "Y[3]", 0.5, "labels must be 1 or -1", "encode them so")


@pytest.mark.parametrize("value", [
    10**6000, [10**6000], {1: 10**6000}, Fraction(10**6000, 3), "x" * 10**6, "a\nb\u2028c",
    [[["\n"] * 100] * 100] * 100, b"\n" * 100, type("Odd", (), {"__repr__": lambda self: "a\nb"})(),
    type("Mute", (), {"__repr__": lambda self: 1 / 0})(), Description("x" * 10**6)],
    ids=lambda value: type(value).__name__)
def test_any_value_is_shown_short_and_on_one_line(value):
    text = str(InvalidInput("name\nof it", value, "rule", "remedy"))
    assert len(text.splitlines()) == 1
    assert len(text) < 250


def test_showing_stops_at_a_glance():
    deep = []
    for _ in range(100_000):
        deep = [deep]
    error = InvalidInput("X", deep, "rule", "remedy")
    assert str(error) == "X = [[[[[...]]]]]: rule; remedy"
    assert repr(error) == f"InvalidInput({str(error)!r})"


@pytest.mark.parametrize(("value", "shown"), [
    ("abc", "x = 'abc'"), (3, "x = 3"), (True, "x = True"), (fmpq(1, 3), "x = 1/3"),
    (Fraction(1, 3), "x = Fraction(1, 3)"), (np.float32(0.5), "x = np.float32(0.5)"),
    # What looks like another thing says what it is.
    (sympy.Symbol("y"), "x = y (Symbol)"), (arb(1), "x = 1.00000000000000 (arb)"),
    (None, "x is not given"), (Description("of another kind"), "x (of another kind)"),
    (counted(0, "entry", "entries"), "x (0 entries)"), (counted(1, "axis", "axes"), "x (1 axis)"),
    (counted(1234, "token"), "x (1,234 tokens)")], ids=repr)
def test_what_is_said_of_the_value(value, shown):
    assert str(InvalidInput("x", value, "rule", "remedy")) == f"{shown}: rule; remedy"


def test_an_unknown_name_is_guessed_or_all_are_listed():
    known = ["feasibility", "full_rank", "Basin"]
    for value, said in (("feasability", "did you mean feasibility?"), ("basn", "mean Basin?"),
                        ("FULL_RANK", "did you mean full_rank?")):
        error = str(unknown("--only", value, known))
        assert error.startswith(f"--only = {value!r}: is not known; ")
        assert said in error and error.count("full_rank") == said.count("full_rank")
    for value in ("x", 3, None, "feasibility" * 10**6):
        assert "must be one of feasibility, full_rank, Basin" in str(unknown("a", value, known))


@pytest.mark.parametrize("value", [0.5, counted(2, "entry", "entries")])
def test_crosses_processes(value):
    error = InvalidInput("Y[3]", value, "rule", "remedy")
    copy = pickle.loads(pickle.dumps(error))
    assert str(copy) == str(error)
    assert copy.remedy == "remedy"
