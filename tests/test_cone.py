import math
from fractions import Fraction

import numpy as np
import pytest
from basin_cases import TWO, locally_optimal
from basin_oracle import accepts

from conditions import AttentionDataset
from conditions.basin import decide as basin
from conditions.basin.cone import decide, explicit_basin
from conditions.certificates import Certificate
from conditions.exact.numbers import to_float
from conditions.losses import LOSSES
from conditions.separation.frobenius import solve
from verifier.descent import descend
from verifier.descent.gradient import gradient

CASES = [*locally_optimal(6), (TWO, (0, 0)), (TWO, (0, 1))]
RULES = [("normalized", "1/10"), ("plain", "1/2"), ("flow", 0)]


@pytest.mark.parametrize(("rule", "step"), RULES)
@pytest.mark.parametrize("loss", LOSSES)
def test_every_local_direction_has_a_cone(rule, step, loss):
    for dataset, alpha in CASES:
        verdict = decide(dataset, alpha, rule, step, loss)
        assert verdict.holds, verdict.reason
        data = verdict.certificate.to_json()
        assert Certificate.from_json(data) == verdict.certificate
        assert accepts(dataset, alpha, loss, data)


def test_the_cone_is_tight_enough_that_a_smaller_radius_is_refused():
    for dataset, alpha in CASES:
        data = decide(dataset, alpha, "normalized", "1/10", "logistic").certificate.to_json()
        for key, factor in (("radius", 0.9), ("aperture", 1.01), ("clock", 0.5)):
            value = data[key] if isinstance(data[key], int) else float.fromhex(data[key])
            assert not accepts(dataset, alpha, "logistic", data | {key: (value * factor).hex()})


def test_starts_on_the_rim_are_basin_starts_and_runs_converge():
    rng = np.random.default_rng(2)
    for dataset, alpha in CASES:
        delta, omega, R = explicit_basin(dataset, alpha, "normalized", 0.1, "logistic")
        assert delta == pytest.approx(math.sqrt(2 * to_float(omega)))
        M = solve(dataset, alpha).float_W
        unit = M / np.linalg.norm(M)
        V = rng.standard_normal(M.shape)
        V -= (V * unit).sum() * unit
        V /= np.linalg.norm(V)
        # Just inside: the clock of the rim is exactly the one of the certificate.
        cosine = 1 - 0.98 * to_float(omega)
        W = 1.01 * to_float(R) * (cosine * unit + math.sqrt(1 - cosine**2) * V)
        assert basin(dataset, alpha, W, "normalized", 0.1, "logistic").holds
        assert np.linalg.norm(gradient(dataset, W).M) > 0
        run = descend(dataset, start=W, iterations=20_000, keep=[100, 20_000])
        angles = [1 - (X * unit).sum() / np.linalg.norm(X) for _, X in run.kept]
        assert max(angles) <= to_float(omega)
        assert angles[-1] <= angles[0] + 1e-12


def test_one_supported_row_by_hand():
    # (TWO, (0, 1)): M = e₁e₁ᵀ and E → 0, so R is small; the aperture stays below κ/v = 1.
    _, omega, R = explicit_basin(TWO, (0, 1), "flow", 0, "logistic")
    assert to_float(R) < 5
    assert to_float(omega) < 1 - 1 / math.sqrt(2)


@pytest.mark.parametrize("entry", [Fraction(1, 10**400), Fraction(10**400), 1e-300])
def test_data_out_of_the_range_of_floats_are_undecided(entry):
    # One row φ = entry²: no floats hold W^mm = entry^−2, or its square.
    dataset = AttentionDataset.build([[[entry], [0]]], [1], [[entry]], [1 / Fraction(entry)])
    for verdict in (decide(dataset, (0,), "normalized", "1/10", "logistic"),
                    basin(dataset, (0,), [[100]], "normalized", "1/10", "logistic")):
        assert verdict.undecided
        assert "out of the range of floats" in verdict.reason


def test_undecided_without_a_direction():
    assert "not locally optimal" in decide(TWO, (1, 1), "flow", 0, "logistic").reason
    assert explicit_basin(TWO, (1, 1), "flow", 0, "logistic") is None
