from dataclasses import replace

import numpy as np
import pytest
from basin_cases import TWO, locally_optimal, random_dataset, step_along
from basin_oracle import accepts
from flint import arb, fmpq, fmpq_mat

from conditions.basin.enclosure import enclose
from conditions.basin.residual import eigenvalues_hold, parameters, residual_holds
from conditions.basin.residual_suggestion import float_start, residual_floats, suggest_ball
from conditions.certificates import BasinResidual
from conditions.dataset import AttentionDataset
from conditions.exact.numbers import rational
from conditions.losses import LOSSES
from conditions.selection import features
from conditions.separation.frobenius import solve

CASES = [c for c in locally_optimal(12) if residual_floats(features(*c)) is not None]
RULES = [("normalized", 0.1), ("plain", 0.5), ("flow", 0.0)]


class Trial:
    """A start on or near the curve sM + W̃, and what the conditions say about it."""

    def __init__(self, dataset, alpha, W, rule="normalized", step=0.1, loss="logistic",
                 radius=0.0):
        self.dataset, self.alpha, self.W, self.loss = dataset, alpha, W, loss
        self.phi = features(dataset, alpha)
        self.frame, self.view = enclose(self.phi), residual_floats(self.phi)
        self.rule, self.step, self.radius = rule, rational(step), rational(radius)
        exact = fmpq_mat([[rational(float(x)) for x in row] for row in W])
        self.margins = self.phi.margins(exact)
        floats = np.array([int(m.p) / int(m.q) for m in self.margins])
        self.start = float_start(self.view, loss, floats, radius)
        self.found = suggest_ball(self.view, loss, rule, float(step), self.start)
        self.given = parameters(self.view, self.start, self.found)

    def holds(self, given=None, step=None, radius=None):
        return residual_holds(
            self.frame, self.view, self.loss, self.rule, self.step if step is None else step,
            self.margins, self.radius if radius is None else radius, given or self.given)

    def json(self, given=None):
        g = given or self.given
        return BasinResidual(
            self.frame.solution.certificate,
            tuple(tuple(rational(float(x)) for x in row) for row in self.W), self.radius,
            self.rule, self.step, g.clock, g.ball, g.drift, (g.low, g.high), 160).to_json()

    def changed(self, **fields):
        return replace(self.given, **fields)


def curve(dataset, alpha, s, loss="logistic"):
    """The point sM + W̃ of the curve, in floats."""
    view = residual_floats(features(dataset, alpha))
    phi, p = view.problem.phi, view.problem
    y = view.inverse @ view.offsets(loss)
    tilde = (phi.float_differences[p.positions].T * y) @ phi.float_queries[p.positions]
    return s * p.solution.float_W + tilde


def trials(rule, step, loss, clocks=(15.0, 40.0, 150.0)):
    rng = np.random.default_rng(3)
    for dataset, alpha in [*CASES, (TWO, (0, 0))]:
        for s in clocks:
            noise = rng.standard_normal((dataset.d, dataset.d))
            yield Trial(dataset, alpha, curve(dataset, alpha, s, loss) + 0.02 * noise, rule, step,
                        loss)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize(("rule", "step"), RULES)
def test_what_holds_is_accepted_by_an_independent_checker(loss, rule, step):
    passed = 0
    for trial in trials(rule, step, loss):
        if trial.found.ratio < 1:
            assert trial.holds() == accepts(trial.dataset, trial.alpha, loss, trial.json())
            passed += trial.holds()
    assert passed >= 8


@pytest.mark.parametrize(("rule", "step"), RULES)
def test_runs_stay_in_the_tube(rule, step):
    """‖E‖ ≤ B, the drift across stays below Z and the clock rises, along float runs."""
    checked = 0
    for trial in trials(rule, step, "logistic", (15.0, 40.0)):
        if not trial.holds():
            continue
        view, p = trial.view, trial.view.problem
        B, Z = float(arb(trial.given.ball)), float(arb(trial.given.drift))
        W, last = trial.W, None
        origin = None
        for _ in range(200):
            margins = ((p.phi.float_differences @ W) * p.phi.float_queries).sum(axis=1)
            here = float_start(view, "logistic", margins, 0.0)
            assert here.size <= B * (1 + 1e-9) + 1e-9
            assert last is None or here.clock >= last * (1 - 1e-14)
            last = here.clock
            E = W - curve(trial.dataset, trial.alpha, here.clock)
            e = ((p.phi.float_differences @ E) * p.phi.float_queries).sum(axis=1)[p.positions]
            inside = (p.phi.float_differences[p.positions].T * (view.inverse @ e)
                      ) @ p.phi.float_queries[p.positions]
            origin = E - inside if origin is None else origin
            assert np.linalg.norm(E - inside - origin) <= Z * (1 + 1e-9) + 1e-9
            W = step_along(trial.dataset, W, rule, step, "logistic")
        checked += 1
    assert checked >= 6


# Each condition can be the one that fails -----------------------------------------------------


def good():
    """A start near the curve of a dataset with rows off the support, well inside."""
    trial = next(t for t in trials("normalized", 0.1, "logistic", (60.0,))
                 if len(t.view.others) and t.found.ratio < 0.5)
    assert trial.holds()
    return trial


def test_the_ball_must_hold_the_residual():
    trial = good()
    tight = trial.changed(ball=rational(trial.start.size * 0.999))
    assert not trial.holds(tight)
    assert not accepts(trial.dataset, trial.alpha, "logistic", trial.json(tight))


def test_the_force_must_not_leave_the_ball():
    trial = good()
    wide = trial.changed(ball=trial.given.ball * 100)
    assert not trial.holds(wide)
    assert not accepts(trial.dataset, trial.alpha, "logistic", trial.json(wide))
    # With B as it was, a weaker pull fails too: μ is what the force is compared with.
    assert not trial.holds(trial.changed(low=trial.given.low / 10**60))


def test_the_drift_must_fit_its_allowance():
    trial = good()
    # Forces of order e^−κs remain, so no allowance below them passes.
    small = trial.changed(drift=fmpq(1, 10**400))
    assert not trial.holds(small)
    assert not accepts(trial.dataset, trial.alpha, "logistic", trial.json(small))


def test_the_step_must_contract():
    trial = good()
    long = fmpq(10)
    assert not trial.holds(step=long)
    ratios = suggest_ball(trial.view, "logistic", "normalized", 10.0, trial.start)
    assert (ratios.binding, ratios.ratio >= 1) == ("step", True)


def test_the_clock_must_not_be_late():
    trial = good()
    late = trial.changed(clock=trial.given.clock + fmpq(1, 1000))
    assert not trial.holds(late)
    assert trial.holds(trial.changed(clock=trial.given.clock - fmpq(1, 1000)))


@pytest.mark.parametrize(("low", "high"), [("11/10", 1), (1, "9/10")])
def test_wrong_eigenvalue_bounds_are_refused(low, high):
    trial = good()
    values = trial.view.eigenvalues
    mu, top = rational(values[0]) * rational(low), rational(values[1]) * rational(high)
    assert not eigenvalues_hold(trial.frame, mu, top)
    bad = trial.changed(low=mu, high=top)
    assert not trial.holds(bad)
    assert not accepts(trial.dataset, trial.alpha, "logistic", trial.json(bad))


def test_eigenvalues_of_TWO_by_hand():
    # diag(√λ)Γdiag(√λ) with λ = (7, 3), Γ = [[1, −2], [−2, 5]] has eigenvalues 1 and 21.
    view = residual_floats(features(TWO, (0, 0)))
    assert view.eigenvalues == pytest.approx((21, 21))
    frame = enclose(features(TWO, (0, 0)))
    assert eigenvalues_hold(frame, fmpq(209, 10), fmpq(211, 10))
    assert not eigenvalues_hold(frame, fmpq(21), fmpq(22))
    assert not eigenvalues_hold(frame, fmpq(20), fmpq(21))


def test_smaller_steps_and_radii_are_covered():
    trial = good()
    for step in ("1/10", "1/100", "1/100000"):
        assert trial.holds(step=rational(step))
    spare = trial.given.ball - rational(trial.start.size)
    earlier = trial.changed(clock=trial.given.clock - 1)
    assert trial.holds(earlier, radius=spare / 10**3)
    assert not trial.holds(earlier, radius=spare * 2)


# Where it applies -----------------------------------------------------------------------------


def test_equal_support_rows_are_merged():
    # Every sample twice, every rejected token twice: two classes of four rows.
    X = [[[1, 0], [0, 0], [0, 0]], [[-2, 1], [0, 0], [0, 0]]]
    doubled = AttentionDataset.build(X + X, [1] * 4, [[1, 0]] * 4, [1, 3])
    view = residual_floats(features(doubled, (0, 0, 0, 0)))
    assert len(view.members) == 8
    assert len(view.problem.positions) == 2
    trial = Trial(doubled, (0, 0, 0, 0), curve(doubled, (0, 0, 0, 0), 25.0))
    assert trial.holds()
    assert accepts(doubled, (0, 0, 0, 0), "logistic", trial.json())


def test_dependent_supports_are_left_alone():
    # Margins 1, 1, 1 with φ₃ = (φ₁ + φ₂)/2: a support index of zero multiplier.
    degenerate = AttentionDataset.build([[[0, 0], [-1, 1], [-1, -1], [-1, 0]]], [1], [[1, 0]],
                                        [1, 0])
    assert len(solve(degenerate, (0,)).support) == 3
    assert residual_floats(features(degenerate, (0,))) is None


def test_infeasible_selections_have_no_view():
    dataset = AttentionDataset.build([[[1, 0], [1, 0]]], [1], [[1, 0]], [1, 0])
    assert residual_floats(features(dataset, (0,))) is None


def test_random_datasets_are_covered():
    assert len(CASES) >= 5
    assert random_dataset(0).n == 3
