"""Descent on K and Q, W = K Qᵀ: the steps, the recorded runs, the run as a value, the commands."""

import json
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from conditions import AttentionDataset, Evidence
from conditions.errors import InvalidInput
from conditions.predicted_direction import correlation
from verifier import io
from verifier.certify import Report, certify
from verifier.cli import main
from verifier.descent import (
    LOSSES,
    STEP_RULES,
    FactoredRun,
    Outcome,
    descend,
    gradient,
    schedule,
)
from verifier.descent.gradient import score_floats
from verifier.descent.selected import selected_tokens
from verifier.kernel import check_text
from verifier.limits import limits

EXAMPLES = Path(__file__).parent.parent / "examples" / "data"
LOCAL = EXAMPLES / "local_convergence.npz"
with np.load(LOCAL) as _file:
    RECORDED = dict(_file)
TRIALS = io.load_datasets(LOCAL)
STARTS = list(zip(RECORDED["K0"], RECORDED["Q0"], strict=True))
ENGINES = ["lanes", "blas"]


def ragged(seed, *, n=None, d=None, integers=False):
    rng = np.random.default_rng(seed)
    n, d = n or int(rng.integers(1, 6)), d or int(rng.integers(1, 6))

    def draw(*shape):
        return rng.integers(-2, 3, shape) if integers else rng.normal(size=shape)

    X = [draw(int(rng.integers(2, 8)), d) for _ in range(n)]
    return AttentionDataset.build(X, rng.choice([-1, 1], n), draw(n, d), draw(d))


def normal_start(seed, d, m=None):
    rng = np.random.default_rng(1000 + seed)
    return tuple(rng.normal(size=(2, d, m or int(rng.integers(1, 8)))))


def reference_iterates(dataset, start, rule, step, loss, iterations, penalty=0.0):
    """(K(0), Q(0)), … by the reference gradient and the rule, one factor at a time."""
    iterates = [start]
    for _ in range(iterations):
        K, Q = iterates[-1]
        at = gradient(dataset, K @ Q.T, loss)
        pulls = (at.M @ Q, at.M.T @ K)
        if penalty:
            scale = np.exp(at.log_scale) / dataset.n
            pulls = tuple(scale * G - 2 * penalty * F for G, F in zip(pulls, (K, Q), strict=True))
        elif rule == "plain":
            pulls = tuple(np.exp(at.log_scale) / dataset.n * G for G in pulls)
        if rule == "normalized":
            pulls = tuple(G / (np.linalg.norm(G) or 1.0) for G in pulls)
        iterates.append((K + step * pulls[0], Q + step * pulls[1]))
    return iterates


# The steps ----------------------------------------------------------------------------------


@pytest.mark.parametrize("penalty", [0.0, 0.03])
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("rule", STEP_RULES)
@pytest.mark.parametrize("loss", LOSSES)
def test_every_step_is_that_of_the_reference(engine, rule, loss, penalty):
    datasets = [ragged(seed) for seed in range(12)]
    starts = [normal_start(k, data.d) for k, data in enumerate(datasets)]
    runs = descend(datasets, parameterization="KQ", rule=rule, loss=loss, step=0.05,
                   penalty=penalty, iterations=12, start=starts, keep=range(13), engine=engine)
    for dataset, start, run in zip(datasets, starts, runs, strict=True):
        expected = reference_iterates(dataset, start, rule, 0.05, loss, 12, penalty)
        assert [k for k, *_ in run.kept_factors] == list(range(13))
        for (_, K, Q), reference in zip(run.kept_factors, expected, strict=True):
            assert np.allclose(K, reference[0], rtol=1e-9, atol=1e-9)
            assert np.allclose(Q, reference[1], rtol=1e-9, atol=1e-9)


def loss_at(dataset, K, Q, loss, penalty):
    view, total = dataset.floats, 0.0
    for X, gamma, z in zip(view.tokens, score_floats(dataset), view.queries, strict=True):
        e = np.exp(X @ K @ (Q.T @ z))
        total += float(LOSSES[loss].value(np.asarray(e @ gamma / e.sum())))
    return total / dataset.n + penalty * ((K**2).sum() + (Q**2).sum())


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("loss", LOSSES)
def test_a_plain_step_is_minus_the_differences_of_the_loss(engine, loss):
    dataset, h = ragged(8, n=4, d=3), 1e-6
    K, Q = normal_start(8, 3, 2)
    run = descend(dataset, parameterization="KQ", rule="plain", step=1.0, penalty=0.2, loss=loss,
                  iterations=1, start=(K, Q), engine=engine)
    for moved, given, other, order in ((run.final_K, K, Q, 1), (run.final_Q, Q, K, -1)):
        for place in np.ndindex(given.shape):
            bump = np.zeros_like(given)
            bump[place] = h
            up, down = (loss_at(dataset, *(given + s * bump, other)[::order], loss, 0.2)
                        for s in (1, -1))
            assert moved[place] - given[place] == pytest.approx(-(up - down) / (2 * h), abs=1e-7)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("rule", STEP_RULES)
@pytest.mark.parametrize("norm", [1.0, 1e3, 1e5])
def test_one_step_is_right_with_ties_and_at_large_norms(engine, rule, norm):
    compared = 0
    for seed in range(60):
        dataset = ragged(seed, integers=True)
        rng = np.random.default_rng(seed)
        start = tuple(rng.integers(-3, 4, (2, dataset.d, 3)) * norm)
        run = descend(dataset, parameterization="KQ", rule=rule, step=1.0, iterations=1,
                      start=start, engine=engine)
        at = gradient(dataset, start[0] @ start[1].T)
        sizes = [np.linalg.norm(G) for G in (at.M @ start[1], at.M.T @ start[0])]
        if min(sizes) < 1e-6 * norm:  # the pulls cancel: the direction is rounding, or none
            continue
        expected = reference_iterates(dataset, start, rule, 1.0, "logistic", 1)[1]
        for moved, reference, given in zip((run.final_K, run.final_Q), expected, start,
                                           strict=True):
            # The logits are known to u‖K‖‖Q‖, and a logit is an exponent.
            assert np.allclose(moved - given, reference - given, atol=1e-9 + 1e-15 * norm**2)
        compared += 1
    assert compared >= 20


@pytest.mark.parametrize("engine", ENGINES)
def test_a_step_where_the_weights_underflow_is_not_lost(engine):
    # One rejected token: M is its feature, however small its weight e^{-10^6}.
    dataset = AttentionDataset.build([[[1, 0], [0, 0]]], [1], [[1, 0]], [1, 3])
    K, Q = np.array([[1e3, 0.0], [0.0, 0.0]]), np.array([[1e3, 0.0], [0.0, 5.0]])
    run = descend(dataset, parameterization="KQ", iterations=10, start=(K, Q), engine=engine)
    assert run.final_K[0, 0] == pytest.approx(1001, abs=1e-9)
    assert run.final_Q[0, 0] == pytest.approx(1001, abs=1e-9)
    assert np.array_equal(run.final_Q[1], Q[1])


@pytest.mark.parametrize("engine", ENGINES)
def test_a_factor_of_zero_moves_alone_at_first(engine):
    dataset = ragged(8, n=4, d=3)
    _, Q = normal_start(8, 3, 2)
    run = descend(dataset, parameterization="KQ", start=(np.zeros((3, 2)), Q), iterations=2,
                  keep=[1], engine=engine)
    _, K1, Q1 = run.kept_factors[0]
    assert np.linalg.norm(K1) == pytest.approx(0.1)
    assert np.array_equal(Q1, Q) and not np.array_equal(run.final_Q, Q)


# What must not change a bit -----------------------------------------------------------------


@pytest.mark.parametrize("engine", ENGINES)
def test_results_do_not_depend_on_threads_batches_or_pieces(monkeypatch, engine):
    datasets = [ragged(seed) for seed in range(30)]
    starts = [normal_start(k, data.d) for k, data in enumerate(datasets)]
    settings = {"parameterization": "KQ", "iterations": 150, "keep": [0, 7, 150],
                "engine": engine, "penalty": 1e-9}

    def bits(runs):
        return [(run.final_K.tobytes(), run.final_Q.tobytes(), run.iterations, run.outcome,
                 run.selected, [(k, K.tobytes(), Q.tobytes()) for k, K, Q in run.kept_factors])
                for run in runs]

    expected = bits(descend(datasets, start=starts, threads=1, **settings))
    assert bits(descend(datasets, start=starts, threads=4, **settings)) == expected
    assert bits([descend(data, start=start, **settings)
                 for data, start in zip(datasets, starts, strict=True)]) == expected
    assert bits(descend(datasets[::-1], start=starts[::-1], **settings)[::-1]) == expected
    monkeypatch.setattr(schedule, "_FIRST_PIECE", 1)
    monkeypatch.setattr(schedule, "_PIECE_SECONDS", 1e-9)
    assert bits(descend(datasets, start=starts, **settings)) == expected


def test_one_pair_of_factors_may_start_every_dataset():
    datasets = [ragged(seed, d=3) for seed in range(3)]
    pair = normal_start(0, 3)
    shared = descend(datasets, parameterization="KQ", start=pair, iterations=20)
    for dataset, run in zip(datasets, shared, strict=True):
        alone = descend(dataset, parameterization="KQ", start=[pair], iterations=20)
        assert np.array_equal(run.final_K, alone.final_K)


# The recorded runs --------------------------------------------------------------------------


def test_with_their_penalty_the_recorded_runs_are_reproduced():
    runs = descend(TRIALS, parameterization="KQ", start=STARTS, step=0.1, iterations=2000,
                   penalty=2.0**-52)
    assert [list(run.selected) for run in runs] == RECORDED["selected_KQ"].tolist()
    reached = [correlation(run.final, W) for run, W in zip(runs, RECORDED["KQ_end"], strict=True)]
    assert min(reached) > 0.999 and np.median(reached) > 0.9999
    norms = [np.linalg.norm(run.final) / np.linalg.norm(W)
             for run, W in zip(runs, RECORDED["KQ_end"], strict=True)]
    assert min(norms) > 0.97 and max(norms) < 1.03


def test_without_it_the_norm_goes_on_growing_and_few_selections_differ():
    # The gradient meets the penalty, 1e-14, at a norm of about 125; without it nothing stops it.
    runs = descend(TRIALS, parameterization="KQ", start=STARTS, step=0.1, iterations=2000,
                   keep=[1000])
    assert min(np.linalg.norm(run.final) for run in runs) > 5000
    same = [list(run.selected) == tokens.tolist()
            for run, tokens in zip(runs, RECORDED["selected_KQ"], strict=True)]
    reached = [correlation(run.final, W) for run, W in zip(runs, RECORDED["KQ_end"], strict=True)]
    assert sum(same) >= 45 and np.median(reached) > 0.99
    # Where the tokens differ, they already did when the norm was a third of the last one.
    for dataset, run in zip(TRIALS, runs, strict=True):
        _, K, Q = run.kept_factors[0]
        assert selected_tokens(dataset, K, Q) == run.selected


def test_engines_agree_along_a_run():
    settings = {"parameterization": "KQ", "start": STARTS[:3], "iterations": 200,
                "keep": [100, 200]}
    lanes, blas = (descend(TRIALS[:3], engine=engine, **settings) for engine in ENGINES)
    for a, b in zip(lanes, blas, strict=True):
        for (_, K, Q), (_, other_K, other_Q) in zip(a.kept_factors, b.kept_factors, strict=True):
            assert np.allclose(K, other_K, atol=1e-9) and np.allclose(Q, other_Q, atol=1e-9)


# The penalty --------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("rule", STEP_RULES)
def test_the_penalty_of_W(engine, rule):
    dataset = ragged(8, n=4, d=3)
    start = np.random.default_rng(8).normal(size=(3, 3))
    run = descend(dataset, rule=rule, penalty=0.3, iterations=9, start=start, engine=engine)
    W = start
    for _ in range(9):
        G = gradient(dataset, W).value + 0.6 * W
        W = W - 0.1 * G / (np.linalg.norm(G) if rule == "normalized" else 1.0)
    assert np.allclose(run.final, W, rtol=1e-11, atol=1e-11)
    assert run.penalty == 0.3


@pytest.mark.parametrize("engine", ENGINES)
def test_where_the_gradient_underflows_the_penalty_alone_moves(engine):
    # The weight of the rejected token is e^{-10^6}: only the penalty is left, and both shrink.
    dataset = AttentionDataset.build([[[1, 0], [0, 0]]], [1], [[1, 0]], [1, 3])
    K, Q = np.array([[1e3, 0.0], [0.0, 0.0]]), np.array([[1e3, 0.0], [0.0, 0.0]])
    run = descend(dataset, parameterization="KQ", iterations=10, start=(K, Q), penalty=1e-300,
                  engine=engine)
    assert run.final_K[0, 0] == pytest.approx(999) and run.final_Q[0, 0] == pytest.approx(999)


def test_a_flat_dataset_shrinks_by_the_penalty():
    dataset = AttentionDataset.build([[[1, 0], [0, 1]]], [1], [[1, 2]], [3, 3])
    K, Q = normal_start(0, 2, 2)
    for engine in ENGINES:
        run = descend(dataset, parameterization="KQ", rule="plain", start=(K, Q), iterations=1,
                      penalty=0.5, engine=engine)
        assert np.allclose(run.final_K, 0.9 * K, rtol=1e-15)
        assert np.allclose(run.final_Q, 0.9 * Q, rtol=1e-15)


# Outcomes -----------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("rule", STEP_RULES)
def test_zero_is_stationary(engine, rule):
    run = descend(ragged(8, n=4, d=3), parameterization="KQ", rule=rule, engine=engine,
                  start=(np.zeros((3, 2)), np.zeros((3, 2))))
    assert (run.outcome, run.iterations) == (Outcome.STATIONARY, 0)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_step_out_of_range_stops_at_the_last_iterate(engine):
    datasets = [ragged(3, n=3, d=3), ragged(4, n=2, d=3)]
    runs = descend(datasets, parameterization="KQ", rule="plain", step=1e200, iterations=9,
                   start=normal_start(0, 3), engine=engine)
    for run in runs:
        assert run.outcome is Outcome.STOPPED and run.iterations == 0
        assert np.array_equal(run.final_K, run.start_K)
        assert np.array_equal(run.final_Q, run.start_Q)


@pytest.mark.parametrize("engine", ENGINES)
def test_steps_below_rounding_are_stationary(engine):
    dataset = AttentionDataset.build([[[1, 0], [0, 1]]], [1], [[1, 2]], [3, 1])
    start = (np.diag([1e2, -1e2]), np.diag([1e2, 1e2]))
    run = descend(dataset, parameterization="KQ", rule="plain", start=start, engine=engine)
    assert (run.outcome, run.iterations) == (Outcome.STATIONARY, 0)
    assert -np.inf < gradient(dataset, run.final).log_norm < -2e4


# Selected tokens ----------------------------------------------------------------------------


def brute_selected(dataset, K, Q):
    def exact(rows):
        return [[Fraction(float(x)) for x in row] for row in rows]

    K, Q, result = exact(K), exact(Q), []
    for tokens, z in zip(dataset.tokens, dataset.queries, strict=True):
        def fractions(vector):
            return [Fraction(int(x.p), int(x.q)) for x in vector]

        inner = [sum(q[j] * x for q, x in zip(Q, fractions(z), strict=True))
                 for j in range(len(K[0]))]
        logits = [sum(x * sum(a * b for a, b in zip(row, inner, strict=True))
                      for x, row in zip(fractions(token), K, strict=True)) for token in tokens]
        result.append(logits.index(max(logits)))
    return tuple(result)


@pytest.mark.parametrize("integers", [False, True])
def test_selected_tokens_are_the_exact_argmax(integers):
    for seed in range(60):
        dataset = ragged(seed, integers=integers)
        K, Q = normal_start(seed, dataset.d)
        if integers:
            K, Q = np.round(K), np.round(Q)
        assert selected_tokens(dataset, K, Q) == brute_selected(dataset, K, Q)


def test_the_exact_product_decides_not_the_rounded_one():
    # K Qᵀ = 2^-70 e₁e₁ᵀ up to sign, lost in 1 - 1 + 2^-70 if 1 + 2^-70 is rounded first.
    dataset = AttentionDataset.build([[[1], [0]]], [1], [[1]], [1])
    for sign, selected in ((1.0, 0), (-1.0, 1)):
        K, Q = np.array([[sign * 2.0**-70, 1.0, 1.0]]), np.array([[1.0, 1.0, -1.0]])
        run = descend(dataset, parameterization="KQ", start=(K, Q), iterations=0)
        assert run.selected == (selected,)
        assert check_text(Report(dataset, "", (), (), run).certificate_text()).accepted


# Runs as values -----------------------------------------------------------------------------


def test_a_run_is_written_as_the_certificate_specification_says():
    dataset = ragged(7, n=3, d=2)
    run = descend(dataset, parameterization="KQ", rule="plain", step=0.25, loss="exponential",
                  iterations=6, start=normal_start(7, 2, 3), penalty=0.125)
    record = run.to_json()
    assert list(record) == ["parameterization", "rule", "step", "penalty", "loss", "iterations",
                            "selected", "outcome", "start", "final"]
    assert record["parameterization"] == run.parameterization == "KQ"
    assert float.fromhex(record["penalty"]) == 0.125
    for place, K, Q in (("start", run.start_K, run.start_Q), ("final", run.final_K, run.final_Q)):
        for name, matrix in (("K", K), ("Q", Q)):
            spelled = record[place][name]
            assert [[float.fromhex(x) for x in row] for row in spelled] == matrix.tolist()
    report = Report(dataset, "", (), (), run)
    assert check_text(report.certificate_text()).accepted
    forged = json.loads(report.certificate_text())
    forged["run"]["selected"][0] = (run.selected[0] + 1) % dataset.lengths[0]
    (refusal,) = check_text(json.dumps(forged)).refusals
    assert refusal.code.name == "WRONG_SELECTED"


def test_products_and_factors_agree_and_cannot_be_changed():
    start = normal_start(7, 2, 3)
    run = descend(ragged(7, n=3, d=2), parameterization="KQ", iterations=3, start=start, keep=[1])
    assert isinstance(run, FactoredRun)
    assert np.array_equal(run.start, start[0] @ start[1].T)
    assert np.array_equal(run.final, run.final_K @ run.final_Q.T)
    (k, K, Q), = run.kept_factors
    assert (k, run.norms) == (1, (pytest.approx(np.linalg.norm(K @ Q.T)),))
    kept = run.start_K.copy()
    start[0][0, 0] += 1
    assert np.array_equal(run.start_K, kept)
    for matrix in (run.start, run.final, run.start_K, run.start_Q, run.final_K, run.final_Q, K, Q,
                   run.kept[0][1]):
        with pytest.raises(ValueError, match="read-only"):
            matrix[0, 0] = 1.0


PAIR = (np.ones((2, 3)), np.ones((2, 3)))


@pytest.mark.parametrize(("settings", "name"), [
    ({"parameterization": "QK"}, "parameterization"), ({"parameterization": None},
                                                       "parameterization"),
    ({"start": None}, "start .* stationary"), ({"start": 3}, "start"),
    ({"start": [PAIR, PAIR]}, "start"), ({"start": [list(PAIR)]}, r"start\[0\]"),
    ({"start": np.ones((1, 2, 2, 3))}, r"start\[0\]"), ({"start": (*PAIR, PAIR[0])}, r"start\[0\]"),
    ({"start": (np.ones((3, 2)), PAIR[1])}, r"start\[0\].K"),
    ({"start": (np.ones(2), PAIR[1])}, r"start\[0\].K"),
    ({"start": (np.ones((2, 0)), np.ones((2, 0)))}, r"start\[0\].K"),
    ({"start": (np.ones((1, 2, 3)), PAIR[1])}, r"start\[0\].K"),
    ({"start": (PAIR[0], np.ones((2, 2)))}, r"start\[0\].Q"),
    ({"start": ("ab", PAIR[1])}, r"start\[0\].K"),
    ({"start": (PAIR[0], np.full((2, 3), np.nan))}, r"start\[0\].Q"),
    ({"start": (PAIR[0], np.full((2, 3), 1e18))}, r"start\[0\].Q"),
    ({"start": (PAIR[0], np.full((2, 3), 1e-30))}, r"start\[0\].Q"),
    ({"penalty": -1e-9}, "penalty"), ({"penalty": float("nan")}, "penalty"),
    ({"penalty": float("inf")}, "penalty"), ({"penalty": "0"}, "penalty"),
    ({"penalty": False}, "penalty"),
])
def test_bad_settings_are_refused(settings, name):
    with pytest.raises(InvalidInput, match=rf"^{name}"):
        descend(ragged(7, n=3, d=2), **{"parameterization": "KQ", "start": PAIR, **settings})


# Reports and commands -----------------------------------------------------------------------


def test_the_limit_of_a_run_on_K_and_Q_is_only_observed():
    report = certify(TRIALS[0], selection="gd", parameterization="KQ", start=STARTS[0])
    verdicts = {v.condition: v for v in report.verdicts}
    assert verdicts["feasibility"].holds and verdicts["full_rank"].holds
    assert verdicts["basin"].undecided and verdicts["basin"].evidence is None
    assert "descent on K and Q" in verdicts["basin"].reason
    predicted = verdicts["predicted_direction"]
    assert predicted.undecided and predicted.evidence is Evidence.OBSERVED
    assert "least margin exceeds the certified optimum" in predicted.reason
    for name in ("nuclear_margin", "unique_nuclear_optimum", "low_rank_feasibility"):
        assert verdicts[name].holds and verdicts[name].selection == report.run.selected
    assert not {"low_norm_limit", "selection_trap", "limit_from_start"} & set(verdicts)
    result = check_text(report.certificate_text())
    assert result.accepted
    assert result.counts["undecided"] == 1 and result.counts["observed"] == 1


def test_nor_of_a_run_with_a_penalty():
    run = descend(TRIALS[0], penalty=1e-12, start=RECORDED["W0"][0], iterations=1500)
    (verdict,) = limits(TRIALS[0], run, 0.0)
    assert verdict.undecided and "with a penalty" in verdict.reason


@pytest.fixture
def attsvm(capsys, monkeypatch):
    """Run the command in this process: (exit code, stdout, stderr)."""
    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["attsvm", *map(str, arguments)])
        monkeypatch.setenv("COLUMNS", "200")
        with pytest.raises(SystemExit) as stop:
            main()
        captured = capsys.readouterr()
        return stop.value.code or 0, captured.out, captured.err
    return run


def test_the_commands_take_K0_and_Q0_of_the_file(attsvm, tmp_path):
    target, kept = tmp_path / "c.json", tmp_path / "run.npz"
    chosen = [LOCAL, "--trial", "4", "--parameterization", "KQ", "--start", "data"]
    code, out, _ = attsvm("certify", *chosen, "--json", target)
    assert code == 0 and "normalized GD on K and Q, m = 10, η = 0.1" in out
    assert attsvm("check", target)[0] == 0
    record = json.loads(target.read_text())["run"]
    assert float.fromhex(record["start"]["Q"][0][1]) == RECORDED["Q0"][4, 0, 1]
    code, out, _ = attsvm("descend", *chosen, "--out", kept, "--keep", "3", "--penalty", "1e-9")
    assert code == 0 and "observed" in out
    with np.load(kept) as file:
        run = dict(file)
    assert run["penalty"] == 1e-9 and run["parameterization"] == "KQ"
    assert np.array_equal(run["W"], run["K"] @ run["Q"].T)
    assert np.array_equal(run["K0"], RECORDED["K0"][4])
    assert run["kept_K"].shape == run["kept_Q"].shape == (3, 10, 10)


@pytest.mark.parametrize(("arguments", "words"), [
    (["certify", LOCAL, "--trial", "0", "--parameterization", "KQ"], "--start"),
    (["certify", LOCAL, "--trial", "0", "--parameterization", "kq"], "parameterization"),
    (["certify", EXAMPLES / "plane_3_tokens.npz", "--parameterization", "KQ", "--start", "data"],
     "K0"),
    (["descend", LOCAL, "--trial", "0", "--out", "r.npz", "--penalty", "-1"], "penalty"),
])
def test_bad_input_is_one_line_and_exit_2(attsvm, arguments, words):
    code, _, err = attsvm(*arguments)
    assert code == 2
    assert len(err.strip().splitlines()) == 1
    assert words in err
