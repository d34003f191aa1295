import itertools

import numpy as np
import pytest
from basin_cases import TWO, locally_optimal, random_dataset
from basin_oracle import accepts
from flint import fmpq

from conditions.basin import decide
from conditions.certificates import Certificate
from conditions.dataset import AttentionDataset
from conditions.errors import InvalidInput
from conditions.exact.numbers import rational
from conditions.losses import LOSSES
from conditions.selection import features
from conditions.separation.frobenius import Infeasible, solve
from verifier.descent import descend
from verifier.descent.selected import selected_tokens
from verifier.io import load_array, load_datasets

RULES = [("normalized", 0.1), ("plain", 0.5), ("flow", 0)]
# 1/L_W for TWO and the logistic loss, rounded: L_W = 90.28 by Lemma 4.
LIPSCHITZ_STEP = fmpq(1, 91)


def confirmed(dataset, verdict):
    """The verdict holds, and an independent evaluation of its JSON form agrees."""
    assert verdict.holds, verdict.reason
    data = verdict.certificate.to_json()
    assert Certificate.from_json(data) == verdict.certificate
    return accepts(dataset, verdict.selection, verdict.loss, data)


# The two-sample counterexample to Theorem 4 of v1 as printed ----------------------------------


@pytest.mark.parametrize(("rule", "step"), [("plain", LIPSCHITZ_STEP), ("normalized", 0.1)])
@pytest.mark.parametrize("loss", LOSSES)
def test_two_samples_from_a_multiple_of_e1(rule, step, loss):
    verdict = decide(TWO, (0, 1), [[20, 0], [0, 0]], rule, step, loss)
    assert verdict.certificate.kind == "basin_isotropic"
    assert confirmed(TWO, verdict)


@pytest.mark.parametrize(("rule", "step", "steps"),
                         [("plain", LIPSCHITZ_STEP, 1 << 16), ("normalized", 0.1, 256)])
def test_two_samples_from_zero(rule, step, steps):
    run = descend(TWO, rule=rule, step=int(step.p) / int(step.q) if rule == "plain" else step,
                  iterations=steps)
    assert run.selected == (0, 0)
    verdict = decide(TWO, (0, 0), run.final, rule, step, "logistic")
    assert verdict.certificate.kind == "basin_residual"
    assert confirmed(TWO, verdict)


# Ensembles ------------------------------------------------------------------------------------


def test_recorded_trials_all_end_in_a_basin():
    """All 50 runs of local_convergence.npz reach a proved basin within 32,000 steps."""
    datasets = load_datasets("examples/data/local_convergence.npz")
    starts = list(load_array("examples/data/local_convergence.npz", "W0"))
    keep = [2000 * 2**k for k in range(5)]
    runs = descend(datasets, start=starts, iterations=keep[-1], keep=keep)
    kinds = set()
    for dataset, run in zip(datasets, runs, strict=True):
        for _, W in run.kept:
            verdict = decide(dataset, selected_tokens(dataset, W), W, "normalized", 0.1,
                             "logistic")
            if verdict.holds:
                kinds.add(verdict.certificate.kind)
                break
        assert verdict.holds, verdict.reason
    assert kinds == {"basin_isotropic", "basin_residual"}
    # The last and hardest of them, independently.
    assert confirmed(dataset, verdict)


@pytest.mark.parametrize("loss", LOSSES)
def test_it_never_holds_where_runs_go_elsewhere(loss):
    """From random starts, any α: where it holds, a long float run tends to W^mm_α."""
    rng = np.random.default_rng(11)
    held = 0
    for seed in range(40):
        dataset = random_dataset(seed, n=2, T=3, d=3)
        for alpha in itertools.product(range(3), repeat=2):
            outcome = solve(dataset, alpha)
            if isinstance(outcome, Infeasible):
                continue
            M = outcome.float_W
            for size, noise in ((8, 1.0), (20, 2.0), (30, 12.0)):
                W = size * M + noise * rng.standard_normal(M.shape)
                verdict = decide(dataset, alpha, W, "normalized", 0.1, loss)
                if verdict.undecided:
                    continue
                held += 1
                final = descend(dataset, start=W, iterations=10_000, loss=loss).final
                assert selected_tokens(dataset, final) == alpha
                cosines = [(X * M).sum() / np.linalg.norm(X) / np.linalg.norm(M)
                           for X in (W, final)]
                assert cosines[1] > 1 - 1e-3 or 1 - cosines[1] < (1 - cosines[0]) / 4
    assert held >= 20


@pytest.mark.parametrize(("rule", "step"), RULES)
@pytest.mark.parametrize("loss", LOSSES)
def test_certificates_survive_an_independent_check(rule, step, loss):
    rng = np.random.default_rng(5)
    kinds = []
    for dataset, alpha in locally_optimal(6):
        M = solve(dataset, alpha).float_W
        for clock in (30, 200):
            W = clock * M + 0.3 * rng.standard_normal(M.shape)
            verdict = decide(dataset, alpha, W, rule, step, loss)
            if verdict.holds:
                kinds.append(verdict.certificate.kind)
                assert confirmed(dataset, verdict)
    assert len(kinds) >= 6


def test_smaller_steps_hold_too():
    for dataset, alpha in locally_optimal(6):
        W = 60 * solve(dataset, alpha).float_W
        for rule in ("normalized", "plain"):
            held = [decide(dataset, alpha, W, rule, step, "logistic").holds
                    for step in ("1/1000", "1/10", 1, 10)]
            assert held == sorted(held, reverse=True)
        assert decide(dataset, alpha, W, "flow", 0, "logistic").holds >= held[0]


# Enclosures of starts -------------------------------------------------------------------------


def test_a_radius_shrinks_what_can_be_proved():
    W = np.array([[20.0, 0.0], [0.0, 0.0]])
    for radius in (0, "1/1000", 2):
        verdict = decide(TWO, (0, 1), W, "normalized", 0.1, "logistic", radius=radius)
        assert confirmed(TWO, verdict)
        assert verdict.certificate.radius == rational(radius)
        # The clock of every start is at least the stated one.
        assert verdict.certificate.clock <= 20 - rational(radius)
    assert decide(TWO, (0, 1), W, "normalized", 0.1, "logistic", radius=12).undecided


def test_residual_certificates_take_a_radius():
    W = descend(TWO, iterations=2000).final
    verdict = decide(TWO, (0, 0), W, "normalized", 0.1, "logistic", radius="1/100")
    assert confirmed(TWO, verdict)


# Undecided ------------------------------------------------------------------------------------


def test_infeasible_and_not_locally_optimal_selections():
    same = AttentionDataset.build([[[1, 0], [1, 0]]], [1], [[1, 0]], [1, 0])
    assert "infeasible" in decide(same, (0,), [[1, 0], [0, 1]], "flow", 0, "logistic").reason
    verdict = decide(TWO, (1, 1), [[-9, 0], [0, 0]], "normalized", 0.1, "logistic")
    assert verdict.undecided
    assert "not locally optimal" in verdict.reason


def test_too_small_a_radius_names_the_condition_and_what_would_do():
    verdict = decide(TWO, (0, 1), [[1, 0], [0, 0]], "normalized", 0.1, "logistic")
    assert verdict.undecided
    assert "condition " in verdict.reason
    assert "would be enough" in verdict.reason
    enough = float(verdict.reason.split("‖W‖ = ")[-1].split()[0])
    far = [[enough * 1.1, 0], [0, 0]]
    assert decide(TWO, (0, 1), far, "normalized", 0.1, "logistic").holds


def test_the_wrong_side_is_undecided():
    for W in ([[0, 0], [0, 0]], [[-40, 0], [0, 0]], [[1, 0], [500, 0]]):
        assert decide(TWO, (0, 1), W, "normalized", 0.1, "logistic").undecided


def test_extreme_numbers_end_in_an_answer():
    for size in (1e150, 2.0**-500):
        assert decide(TWO, (0, 1), [[size, 0], [0, 0]], "normalized", 0.1, "logistic").undecided
    huge = AttentionDataset.build([[[10**6, 0], [0, 0]]], [1], [[1, 0]], [1, 0])
    assert "range" in decide(huge, (0,), [[1, 0], [0, 0]], "flow", 0, "exponential").reason
    assert decide(huge, (0,), [[1, 0], [0, 0]], "flow", 0, "correlation").holds


@pytest.mark.parametrize("arguments", [
    {"rule": "adam"}, {"step": 0}, {"step": -1}, {"rule": "flow"}, {"loss": "hinge"},
    {"W": [[1, 0]]}, {"W": [[1, 0], [0, float("nan")]]}, {"radius": -1}, {"selection": (0, 2)}])
def test_bad_input(arguments):
    given = {"selection": (0, 1), "W": [[20, 0], [0, 0]], "rule": "normalized", "step": 0.1,
             "loss": "logistic"} | arguments
    with pytest.raises(InvalidInput):
        decide(TWO, **given)


def test_the_features_are_shared():
    assert features(TWO, (0, 1)) is features(TWO, (0, 1))
