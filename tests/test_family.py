"""Families in one parameter: partitions by hand, and against exact decisions at many values."""

from __future__ import annotations

import itertools
import random

import pytest
import sympy
from flint import fmpq, fmpq_poly

from conditions import local_optimality
from conditions.errors import InvalidInput
from conditions.family import Family, Point, merged, partition
from conditions.family.family import MAX_DEGREE
from conditions.family.parsing import rational_function
from conditions.family.roots import between, real_roots
from conditions.separation.frobenius import Infeasible, solve
from verifier.kernel import polynomials


# Differences (1, 0) and (θ² − 1, 1), score gaps 1 and θ² − 1. Both rows are support indices while
# θ² − 1 ≤ 1: w = (1, 2 − θ²), with multipliers 2 − θ² of row 2 and 1 − (θ² − 1)(2 − θ²) > 0.
def by_hand():
    X = [[[0, 0], [-1, 0], ["1 - t^2", -1]]]
    return Family.build(X, [1], [[1, 0]], [1, 0], "t")


def described(spans):
    return [(s.closed_low, s.low, s.high, s.closed_high, *s.piece.verdict) for s in spans]


def test_two_breakpoints_one_of_them_irrational():
    zero, one, two = (Point.of(fmpq(k)) for k in (0, 1, 2))
    root = Point((-2, 0, 1), 1)
    both, first = ((0, 1), (0, 2)), ((0, 1),)
    spans = merged(partition(by_hand(), (0,), fmpq(0), fmpq(2)))
    assert described(spans) == [
        (True, zero, one, True, "feasible", both, False),
        (False, one, root, True, "feasible", both, True),
        (False, root, two, True, "feasible", first, True)]


def test_on_both_sides_of_zero():
    spans = merged(partition(by_hand(), (0,), fmpq(-2), fmpq(2)))
    assert [float(s.low) for s in spans] == pytest.approx([-2, -2**0.5, -1, 1, 2**0.5])


def test_an_isolated_value():
    # Feature θ: infeasible at 0 alone.
    family = Family.build([[["theta"], [0]]], [1], [["theta"]], [1])
    spans = merged(partition(family, (0,), fmpq(-1), fmpq(1)))
    assert [s.piece.status for s in spans] == ["feasible", "infeasible", "feasible"]
    assert spans[1].low == spans[1].high == Point.of(fmpq(0))


def test_values_that_are_all_special():
    # Infeasible at each of these alone: no cell is found around any of them.
    values = [fmpq(k, 2**j) for j in range(1, 5) for k in range(1, 2**j, 2)]
    product = "*".join(f"(theta - {value})" for value in values)
    family = Family.build([[[product], [0]]], [1], [[1]], [1])
    spans = merged(partition(family, (0,), fmpq(0), fmpq(1)))
    assert [s.low.rational for s in spans if s.piece.status == "infeasible"] == sorted(values)
    assert len(spans) == 2 * len(values) + 1


def test_there_are_ever_new_values_between_points():
    low, high = Point.of(fmpq(1, 3)), Point((-2, 0, 1), 1)
    values = {between(low, high, k) for k in range(500)}
    assert len(values) > 400 and all(low < Point.of(value) < high for value in values)


def test_roots_closer_than_floats_can_tell():
    # x⁸ = 2(10¹²x − 1)²: two roots about 10⁻⁶⁰ from 10⁻¹².
    polynomial = fmpq_poly([0] * 8 + [1]) - 2 * fmpq_poly([-1, 10**12])**2
    roots = sorted(real_roots(polynomial))
    assert len(roots) == 4 and float(roots[1]) == float(roots[2])
    assert roots[1] < Point.of(fmpq(1, 10**12)) < roots[2]


def test_a_pole_is_no_value():
    family = Family.build([[["1/theta"], [0]]], [1], [[1]], [1])
    spans = merged(partition(family, (0,), fmpq(-1), fmpq(1)))
    assert [s.piece.status for s in spans] == ["feasible", "undefined", "feasible"]
    ends = merged(partition(family, (0,), fmpq(0), fmpq(1)))
    assert [s.piece.status for s in ends] == ["undefined", "feasible"]


def entry(rng):
    kind = rng.random()
    if kind < 0.5:
        return rng.randint(-2, 2)
    if kind < 0.8:
        return f"{rng.randint(-2, 2)}*theta + {rng.randint(-2, 2)}"
    if kind < 0.95:
        return f"theta^2 - {rng.randint(0, 3)}"
    return f"1/(theta + {rng.choice(['1/3', '5'])})"


@pytest.mark.parametrize("seed", range(25))
def test_agrees_with_exact_decisions(seed):
    rng = random.Random(seed)
    n, T, d = rng.choice([(1, 2, 1), (1, 3, 2), (2, 2, 2), (2, 3, 2)])
    family = Family.build(
        [[[entry(rng) for _ in range(d)] for _ in range(T)] for _ in range(n)],
        [rng.choice([-1, 1]) for _ in range(n)],
        [[entry(rng) for _ in range(d)] for _ in range(n)], [rng.randint(-2, 2) for _ in range(d)])
    alpha = tuple(rng.randrange(T) for _ in range(n))
    pieces = partition(family, alpha, fmpq(-2), fmpq(2))
    assert pieces[0].cell.low == Point.of(fmpq(-2)) and pieces[-1].cell.high == Point.of(fmpq(2))
    for before, after in itertools.pairwise(pieces):
        assert before.cell.high == after.cell.low and before.cell.is_point != after.cell.is_point
    for piece in pieces:
        cell = piece.cell
        values = ([cell.low.rational] if cell.is_point
                  else [between(cell.low, cell.high, k) for k in (2, 3, 5)])
        for theta in values:
            if theta is None or piece.status == "undefined":
                continue
            dataset = family.at(theta)
            outcome = solve(dataset, alpha)
            if isinstance(outcome, Infeasible):
                assert piece.status == "infeasible"
            else:
                assert (piece.status, piece.support) == ("feasible", outcome.support)
                assert piece.locally_optimal == local_optimality.decide(dataset, alpha).holds


@pytest.mark.parametrize(("text", "numerator", "denominator"), [
    ("theta", [0, 1], [1]), ("-theta^2/2", [0, 0, "-1/2"], [1]), ("2**3", [8], [1]),
    ("(1 - theta)*(1 + theta)/(1 + theta)", [1, -1], [1]), ("--theta", [0, 1], [1]),
    ("1/(2*theta)", ["1/2"], [0, 1]), ("theta^-2", [1], [0, 0, 1]), ("0.1", ["1/10"], [1]),
    ("1e-2*theta", [0, "1/100"], [1]), ("-2^2", [-4], [1]), ("1 - 2 - 3", [-4], [1]),
    ("6/2/3", [1], [1])])
def test_expressions(text, numerator, denominator):
    def poly(coefficients):
        return fmpq_poly([fmpq(*map(int, str(c).split("/"))) for c in coefficients])

    assert rational_function(text, "theta", "x") == (poly(numerator), poly(denominator))


def test_expressions_of_sympy():
    theta = sympy.Symbol("theta")
    expression = (theta**3 - sympy.Rational(1, 3)) / (theta + 1)
    above, below = rational_function(expression, "theta", "x")
    for value in (fmpq(2), fmpq(-1, 2)):
        expected = sympy.Rational(expression.subs(theta, sympy.Rational(int(value.p),
                                                                        int(value.q))))
        assert above(value) / below(value) == fmpq(int(expected.p), int(expected.q))


@pytest.mark.parametrize("text", [
    "", "theta +", "x", "sin(theta)", "theta^theta", "theta^0.5", "1/0", "theta/(theta - theta)",
    "(theta", "theta)", "theta theta", "theta^65", "(theta^40)^40", "0^-1", "__import__('os')",
    "theta;1", "theta^" + "1" * 5000, "((((2^64)^64)^64)^64)^64", "1e20000*1e20000",
    "(" * 60 + "1" + ")" * 60, "1" * 10_001, "theta.real", "[1]", "²"])
def test_other_texts_are_refused_in_one_line(text):
    with pytest.raises(InvalidInput) as error:
        rational_function(text, "theta", "X[0][0][0]")
    assert "X[0][0][0]" in str(error.value) and "\n" not in str(error.value)


def test_degrees_above_what_a_checker_reads_are_refused_before_the_work():
    assert MAX_DEGREE == polynomials._DEGREE == 4096
    # 65 denominators of degree 64.
    with pytest.raises(InvalidInput, match="degree 4,160 over one denominator"):
        Family.build([[[0] * 65] * 2], [1], [[0] * 65],
                     [f"1/(t^64 + {k + 1})" for k in range(65)], "t")
    # Features of degree 128, orthogonal: products of degree 256, so 17 rows may have multipliers
    # of degree 17·256.
    n = 17
    tokens = [["t^64 + 1", *[0] * (n - 1)], [0] * n]
    queries = [["t^64 + 1" if j == i else 0 for j in range(n)] for i in range(n)]
    family = Family.build([tokens] * n, [1] * n, queries, [1] * n, "t")
    with pytest.raises(InvalidInput, match="degree 4,352 in the multipliers of 17 rows"):
        partition(family, (0,) * n, fmpq(0), fmpq(1))


def test_points_compare_exactly():
    roots = sorted(real_roots(fmpq_poly([-2, 0, 1]) * fmpq_poly([-3, 0, 1]) * fmpq_poly([0, 1])))
    assert [float(r) for r in roots] == pytest.approx([-3**0.5, -2**0.5, 0, 2**0.5, 3**0.5])
    near = Point.of(fmpq(665857, 470832))
    assert Point((-2, 0, 1), 1) < near and Point((-2, 0, 1), 1) == Point((-2, 0, 1), 1)
    assert near.sign(fmpq_poly([-2, 0, 1])) == 1
    assert Point((-2, 0, 1), 1).sign(fmpq_poly([-2, 0, 1]) * fmpq_poly([7, 1])) == 0


@pytest.mark.parametrize(("low", "high"), [(0, 0), (1, 0)])
def test_an_interval_has_its_lower_end_first(low, high):
    with pytest.raises(InvalidInput, match="lower end first"):
        partition(by_hand(), (0,), fmpq(low), fmpq(high))
