"""The condition: intervals accepted by the checker, infeasible data, bad input."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from nuclear_cases import UNITS, accepted, integers, of_differences, shape, sphere

from conditions import Evidence, InvalidInput, feasibility, nuclear_margin
from conditions.certificates import Certificate, Farkas, NuclearInterval, QueryCycle
from conditions.exact.numbers import to_float
from conditions.selection import optimal_selection


@pytest.mark.parametrize(("size", "accuracy"), [
    ((6, 8, 10), 1e-6), ((6, 8, 10), 1e-25), ((5, 5, 5), 1e-3), ((15, 15, 20), 1e-6)])
def test_interval_is_narrow_and_accepted(size, accuracy):
    data = sphere(*size, 0)
    verdict = nuclear_margin.decide(data, optimal_selection(data), accuracy)
    assert verdict.holds and verdict.evidence is Evidence.ENCLOSED
    certificate = verdict.certificate
    assert isinstance(certificate, NuclearInterval)
    assert to_float((certificate.upper - certificate.lower) / certificate.upper) <= accuracy
    assert certificate.rank <= min(data.n, data.d)
    assert {len(row) for row in (*certificate.K, *certificate.Q)} == {certificate.rank}
    assert accepted(data, verdict)
    assert Certificate.from_json(certificate.to_json()) == certificate


def test_known_value():
    verdict = nuclear_margin.decide(UNITS, (0, 0))
    assert verdict.holds and verdict.number.startswith("2, rank")
    assert verdict.certificate.lower <= 2 <= verdict.certificate.upper


@pytest.mark.parametrize("seed", range(40))
def test_agrees_with_feasibility(seed):
    rng = np.random.default_rng([5, seed])
    n, T, d = shape(rng)
    data = integers(rng, n, T, d)
    alpha = tuple(int(x) for x in rng.integers(0, T, n))
    verdict = nuclear_margin.decide(data, alpha)
    assert verdict.status is feasibility.decide(data, alpha).status
    assert verdict.selection == alpha
    assert accepted(data, verdict)


def test_infeasible_by_a_cycle_and_by_multipliers():
    cycle = UNITS.build([[[1, 0], [0, 1]], [[0, 1], [1, 0]]], [1, 1], [[1, 0], [1, 0]], [1, 0])
    verdict = nuclear_margin.decide(cycle, (0, 0))
    assert verdict.fails and isinstance(verdict.certificate, QueryCycle)
    assert accepted(cycle, verdict)
    opposed = of_differences([[[1], [2]], [[3]]], [[1], [-1]])
    verdict = nuclear_margin.decide(opposed, (0, 0))
    assert verdict.fails and isinstance(verdict.certificate, Farkas)
    assert accepted(opposed, verdict)


def test_undecided_beyond_floats():
    data = of_differences([[[1, 0]], [[0, Fraction(1, 10 ** 60)]]], [[1, 0], [0, 1]])
    verdict = nuclear_margin.decide(data, (0, 0))
    assert verdict.undecided and verdict.evidence is None
    assert "within 2^60" in verdict.reason


@pytest.mark.parametrize("accuracy", [0, -1e-6, 1, 2.0, float("nan"), 1e-301])
def test_bad_accuracy(accuracy):
    with pytest.raises(InvalidInput, match="accuracy"):
        nuclear_margin.decide(UNITS, (0, 0), accuracy)


def test_bad_selection():
    with pytest.raises(InvalidInput, match="selection"):
        nuclear_margin.decide(UNITS, (0, 2))
