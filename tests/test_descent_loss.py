import mpmath
import numpy as np
import pytest

from conditions.errors import InvalidInput
from verifier.descent.loss import LOSSES, loss_named
from verifier.descent.rules import STEP_RULES, rule_named

ARGUMENTS = [-1e6, -745.5, -40.0, -1.0, -1e-9, 0.0, 0.3, 2.0, 37.0, 800.0, 1e6]
FORMULAS = {
    "logistic": (lambda u: mpmath.log1p(mpmath.exp(-u)), lambda u: -mpmath.log1p(mpmath.exp(u))),
    "exponential": (lambda u: mpmath.exp(-u), lambda u: -u),
    "correlation": (lambda u: -u, lambda u: mpmath.mpf(0)),
}


def test_the_three_losses_are_registered_under_their_names():
    assert set(LOSSES) == set(FORMULAS)
    assert all(name == loss.name for name, loss in LOSSES.items())
    assert len({loss.code for loss in LOSSES.values()}) == len(LOSSES)


@pytest.mark.parametrize("name", FORMULAS)
@pytest.mark.parametrize("u", ARGUMENTS)
def test_value_and_log_slope_agree_with_high_precision(name, u):
    loss, (value, log_slope) = LOSSES[name], FORMULAS[name]
    with mpmath.workdps(60):
        expected, slope = value(mpmath.mpf(u)), log_slope(mpmath.mpf(u))
        got = float(loss.value(np.array(u)))
        if expected > mpmath.mpf("1.8e308"):
            assert got == np.inf
        else:
            assert abs(got - expected) <= 4e-16 * abs(expected) + mpmath.mpf("1e-320")
        error = abs(float(loss.log_slope(np.array(u))) - slope)
        assert error <= 4e-16 * abs(slope) + mpmath.mpf("1e-320")


@pytest.mark.parametrize("name", FORMULAS)
def test_log_slope_is_the_logarithm_of_the_derivative(name):
    loss = LOSSES[name]
    with mpmath.workdps(40):
        for u in (-3.0, 0.0, 0.7, 5.0):
            slope = mpmath.diff(FORMULAS[name][0], mpmath.mpf(u))
            assert slope < 0
            assert float(loss.log_slope(np.array(u))) == pytest.approx(
                float(mpmath.log(-slope)), abs=1e-14)


@pytest.mark.parametrize(("named", "name"), [(loss_named, "hinge"), (loss_named, 3),
                                             (loss_named, ["logistic"]), (rule_named, "adam"),
                                             (rule_named, None)])
def test_unknown_names_are_refused_with_the_choices(named, name):
    with pytest.raises(InvalidInput, match="must be one of"):
        named(name)


def test_plain_steps_scale_the_gradient_and_normalized_steps_its_direction():
    plain, normalized = STEP_RULES["plain"].factor, STEP_RULES["normalized"].factor
    assert plain(0.5, np.log(3.0), 7.0, 4, 0.0) == pytest.approx(0.5 * 3 / 4)
    assert plain(0.5, -1e6, 7.0, 4, 0.0) == 0.0
    assert np.isfinite(plain(0.5, 1e6, 7.0, 4, 0.0))
    assert normalized(0.5, -1e6, 7.0, 4, 0.0) == pytest.approx(0.5 / 7)
    assert normalized(0.5, -1e6, 0.0, 4, 0.0) == 0.0
    # ∇L/(‖∇L‖ + ε) with ‖∇L‖ = 7e/4 and ε = 1/4.
    assert normalized(0.5, 1.0, 7.0, 4, 0.25) == pytest.approx(
        0.5 * (np.e / 4) / (7 * np.e / 4 + 0.25))
