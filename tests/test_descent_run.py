import itertools
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import nnls

from conditions import AttentionDataset
from conditions.errors import InvalidInput
from verifier.descent import (
    LOSSES,
    STEP_RULES,
    Outcome,
    descend,
    gradient,
    parameterization,
    schedule,
)
from verifier.descent.engines import BlasEngine, LaneEngine
from verifier.descent.selected import selected_tokens

DATA = Path(__file__).parent.parent / "examples" / "data" / "local_convergence.npz"


def ragged(seed, *, n=None, d=None, integers=False):
    rng = np.random.default_rng(seed)
    n, d = n or int(rng.integers(1, 6)), d or int(rng.integers(1, 6))

    def draw(*shape):
        return rng.integers(-2, 3, shape) if integers else rng.normal(size=shape)

    X = [draw(int(rng.integers(2, 8)), d) for _ in range(n)]
    return AttentionDataset.build(X, rng.choice([-1, 1], n), draw(n, d), draw(d))


def reference_iterates(dataset, start, rule, step, loss, iterations):
    """W(0), W(1), … by the reference gradient and the step rule as written in the paper."""
    iterates = [start]
    for _ in range(iterations):
        g, W = gradient(dataset, iterates[-1], loss), iterates[-1]
        if rule == "plain":
            iterates.append(W - step * g.value)
        else:
            norm = np.linalg.norm(g.M)
            iterates.append(W + step * g.M / norm if norm > 0 else W)
    return iterates


@pytest.fixture(scope="module")
def published():
    with np.load(DATA) as file:
        arrays = {name: file[name] for name in file.files}
    datasets = [AttentionDataset.build(*row)
                for row in zip(*(arrays[name] for name in "XYzv"), strict=True)]
    return datasets, arrays


# The steps ----------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", ["lanes", "blas"])
@pytest.mark.parametrize("rule", STEP_RULES)
@pytest.mark.parametrize("loss", LOSSES)
def test_every_step_is_that_of_the_reference(engine, rule, loss):
    datasets = [ragged(seed) for seed in range(12)]
    starts = [np.random.default_rng(k).normal(size=(data.d, data.d))
              for k, data in enumerate(datasets)]
    runs = descend(datasets, rule=rule, loss=loss, step=0.05, iterations=12, start=starts,
                   keep=range(13), engine=engine)
    for dataset, start, run in zip(datasets, starts, runs, strict=True):
        expected = reference_iterates(dataset, start, rule, 0.05, loss, 12)
        assert [k for k, _ in run.kept] == list(range(13))
        for (_, W), reference in zip(run.kept, expected, strict=True):
            assert np.allclose(W, reference, rtol=1e-10, atol=1e-10)
        assert np.array_equal(run.final, run.kept[-1][1])


@pytest.mark.parametrize("engine", ["lanes", "blas"])
@pytest.mark.parametrize("rule", STEP_RULES)
@pytest.mark.parametrize("norm", [0.0, 1e3, 1e6])
def test_one_step_is_right_with_ties_and_at_large_norms(engine, rule, norm):
    # Small integers: equal tokens, equal scores, zero queries, flat samples.
    compared = 0
    for seed in range(60):
        dataset = ragged(seed, integers=True)
        start = np.random.default_rng(seed).integers(-4, 5, (dataset.d, dataset.d)) * norm / 4
        run = descend(dataset, rule=rule, step=1.0, iterations=1, start=start, engine=engine)
        reference = gradient(dataset, start)
        size = np.linalg.norm(reference.M)
        if size < 1e-6:  # the pulls cancel: the direction is rounding, or there is none
            continue
        expected = (reference.M / size if rule == "normalized" else -reference.value)
        assert np.allclose(run.final - start, expected, atol=1e-9 + 1e-15 * norm)
        compared += 1
    assert compared >= 20


def test_equal_scores_at_the_top_move_every_engine():
    dataset = AttentionDataset.build([[[1, 1], [1, 0], [0, 0]]], [1], [[1, 0]], [1, 0])
    start = np.array([[1000.0, 0.0], [0.0, 0.0]])
    expected = start + np.array([[1, 0], [0.5, 0]]) / np.sqrt(1.25)
    for engine in ("lanes", "blas"):
        run = descend(dataset, step=1.0, iterations=1, start=start, engine=engine)
        assert np.allclose(run.final, expected, rtol=1e-14)


def test_blas_and_lanes_agree_along_a_run(published):
    datasets, arrays = published
    settings = {"start": arrays["W0"][:4], "iterations": 300, "keep": [100, 300]}
    lanes = descend(datasets[:4], engine="lanes", **settings)
    blas = descend(datasets[:4], engine="blas", **settings)
    for a, b in zip(lanes, blas, strict=True):
        for (_, left), (_, right) in zip(a.kept, b.kept, strict=True):
            assert np.allclose(left, right, atol=1e-9)


def test_the_serial_product_is_the_product():
    rng = np.random.default_rng(0)
    A, B = rng.normal(size=(70, 150)), rng.normal(size=(150, 90))
    assert parameterization._SERIAL_PRODUCTS // B.size < len(A)  # it is cut
    assert np.allclose(parameterization.serial_product(A, B), A @ B, rtol=1e-12)


def test_auto_takes_lanes_for_batches_and_blas_for_one_large_dataset():
    small = [schedule.Trial(ragged(k, n=2, d=3), (np.zeros((3, 3)),)) for k in range(9)]
    large = schedule.Trial(ragged(0, n=60, d=30), (np.zeros((30, 30)),))
    chosen = schedule.blocks([*small, large], "auto")
    assert {block.engine for block in chosen if len(block.trials) > 1} == {LaneEngine}
    assert [block.engine for block in chosen if block.trials[0] is large] == [BlasEngine]
    assert sum(len(block.trials) for block in chosen) == 10


# What must not change a bit -----------------------------------------------------------------


@pytest.mark.parametrize("engine", ["lanes", "blas"])
def test_results_do_not_depend_on_threads_batches_or_pieces(monkeypatch, engine):
    datasets = [ragged(seed) for seed in range(30)]
    settings = {"iterations": 150, "keep": [0, 7, 150], "engine": engine}

    def bits(runs):
        return [(run.final.tobytes(), run.iterations, run.outcome, run.selected,
                 [(k, W.tobytes()) for k, W in run.kept]) for run in runs]

    expected = bits(descend(datasets, threads=1, **settings))
    assert bits(descend(datasets, threads=4, **settings)) == expected
    assert bits([descend(dataset, **settings) for dataset in datasets]) == expected
    assert bits(descend(datasets[::-1], **settings)[::-1]) == expected
    monkeypatch.setattr(schedule, "_FIRST_PIECE", 1)
    monkeypatch.setattr(schedule, "_PIECE_SECONDS", 1e-9)
    assert bits(descend(datasets, **settings)) == expected


# Large norms --------------------------------------------------------------------------------


def max_margin(dataset, selection):
    """W^mm of *selection* by NNLS on the dual (Lawson and Hanson's least-distance problem)."""
    view = dataset.floats
    rows = np.array([np.outer(X[a] - X[t], z).ravel()
                     for X, a, z in zip(view.tokens, selection, view.queries, strict=True)
                     for t in range(len(X)) if t != a])
    system = np.vstack([rows.T, np.ones(len(rows))])
    target = np.zeros(len(system))
    target[-1] = 1.0
    multipliers, _ = nnls(system, target)
    residual = system @ multipliers - target
    return (-residual[:-1] / residual[-1]).reshape(dataset.d, dataset.d)


def cosine(A, B):
    return float((A * B).sum() / np.linalg.norm(A) / np.linalg.norm(B))


@pytest.mark.parametrize("loss", LOSSES)
def test_the_direction_keeps_improving_up_to_norm_one_million(published, loss):
    datasets, arrays = published
    keep = [200, 2000, 20_000]
    for trial in range(3):
        run = descend(datasets[trial], step=200.0, loss=loss, iterations=20_000, keep=keep,
                      start=arrays["W0"][trial])
        limit = max_margin(datasets[trial], run.selected)
        distances = [1 - cosine(W, limit) for _, W in run.kept]
        assert run.norms[-1] > 1e6
        assert distances == sorted(distances, reverse=True)
        assert distances[-1] < 2e-6


def test_a_start_of_norm_one_million_moves(published):
    datasets, arrays = published
    limit = max_margin(datasets[0], descend(datasets[0], start=arrays["W0"][0]).selected)
    start = 1e6 * (limit / np.linalg.norm(limit)) + 100 * arrays["W0"][0]
    run = descend(datasets[0], start=start, iterations=5000)
    assert run.outcome is Outcome.COMPLETED
    assert cosine(run.final, limit) > cosine(start, limit)


# The published runs -------------------------------------------------------------------------


def test_published_runs_select_the_recorded_tokens(published):
    datasets, arrays = published
    runs = descend(datasets, start=arrays["W0"], step=0.1, iterations=2000)
    selected = [list(run.selected) for run in runs]
    assert selected == arrays["selected_W"].tolist()
    # The recorded W_end is not reproduced entry by entry (its exact step is not recorded); the
    # bounds on the directions are as observed.
    cosines = [cosine(run.final, W) for run, W in zip(runs, arrays["W_end"], strict=True)]
    assert min(cosines) > 0.996 and np.median(cosines) > 0.999
    limits = [max_margin(data, run.selected) for data, run in zip(datasets, runs, strict=True)]
    ours = [cosine(run.final, W) for run, W in zip(runs, limits, strict=True)]
    theirs = [cosine(W, limit) for W, limit in zip(arrays["W_end"], limits, strict=True)]
    assert np.allclose(theirs, arrays["corr_frobenius_W"], atol=1e-3)
    assert np.median(ours) > np.median(theirs)


def test_two_hundred_thousand_steps(published):
    datasets, arrays = published
    run = descend(datasets[0], start=arrays["W0"][0], iterations=200_000, keep=[2000])
    limit = max_margin(datasets[0], run.selected)
    assert run.iterations == 200_000
    assert 1 - cosine(run.final, limit) < (1 - cosine(run.kept[0][1], limit)) / 50


# Outcomes -----------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", ["lanes", "blas"])
@pytest.mark.parametrize("rule", STEP_RULES)
def test_flat_samples_are_stationary_at_the_start(engine, rule):
    dataset = AttentionDataset.build([[[1, 0], [0, 1]]], [1], [[1, 2]], [3, 3])
    run = descend(dataset, rule=rule, iterations=5, engine=engine, keep=[0, 5])
    assert (run.outcome, run.iterations) == (Outcome.STATIONARY, 0)
    assert [k for k, _ in run.kept] == [0]
    assert gradient(dataset, run.final).log_norm == -np.inf


@pytest.mark.parametrize("engine", ["lanes", "blas"])
def test_plain_steps_below_rounding_are_stationary_yet_the_gradient_is_not_zero(engine):
    dataset = AttentionDataset.build([[[1, 0], [0, 1]]], [1], [[1, 2]], [3, 1])
    start = np.array([[1e4, 0.0], [0.0, -1e4]])
    run = descend(dataset, rule="plain", start=start, engine=engine)
    assert (run.outcome, run.iterations) == (Outcome.STATIONARY, 0)
    assert np.array_equal(run.final, start)
    assert -np.inf < gradient(dataset, run.final).log_norm < -2e4


@pytest.mark.parametrize("engine", ["lanes", "blas"])
def test_a_step_out_of_range_stops_at_the_last_iterate(engine):
    datasets = [ragged(3, n=3, d=3), ragged(4, n=2, d=3)]
    runs = descend(datasets, rule="plain", step=1e200, iterations=9, engine=engine)
    for run in runs:
        assert run.outcome is Outcome.STOPPED and run.iterations == 0
        assert np.array_equal(run.final, run.start)


def test_a_lane_that_stands_still_leaves_the_others_alone():
    flat = AttentionDataset.build([[[1, 0], [0, 1]]], [1], [[1, 2]], [3, 3])
    other = ragged(5, n=2, d=2)
    runs = descend([flat, other], iterations=40, engine="lanes")
    assert [run.outcome for run in runs] == [Outcome.STATIONARY, Outcome.COMPLETED]
    alone = descend(other, iterations=40, engine="lanes")
    assert np.array_equal(runs[1].final, alone.final)


@pytest.mark.parametrize("engine", ["lanes", "blas"])
def test_the_caller_can_stop_a_run(engine, published):
    asked = itertools.count()
    run = descend(published[0][0], iterations=10**9, stop=lambda: next(asked) >= 1,
                  engine=engine)
    assert run.outcome is Outcome.STOPPED
    assert 0 < run.iterations < 10**9
    assert np.linalg.norm(run.final) > 0


def test_the_clock_can_stop_a_run(published):
    runs = descend(published[0][:3], iterations=10**9, seconds=0.2, keep=[5, 10**9])
    for run in runs:
        assert run.outcome is Outcome.STOPPED and 0 < run.iterations < 10**9
        assert [k for k, _ in run.kept] == [5]


def test_an_interrupt_stops_a_run_and_keeps_the_iterate(published):
    def interrupt():
        raise KeyboardInterrupt

    run = descend(published[0][0], iterations=10**9, stop=interrupt)
    assert run.outcome is Outcome.STOPPED and run.iterations > 0


def test_an_error_of_the_caller_is_not_swallowed(published):
    def fail():
        raise RuntimeError("mine")

    with pytest.raises(RuntimeError, match="mine"):
        descend(published[0][0], iterations=10**9, stop=fail)


def test_a_progress_bar_appears_in_long_runs_only(published, capfd, monkeypatch):
    descend(published[0][0], iterations=100, progress=True)
    assert capfd.readouterr().err == ""
    monkeypatch.setattr(schedule, "_SILENT_SECONDS", 0.0)
    descend(published[0][0], iterations=10**9, seconds=0.3, progress=True)
    assert capfd.readouterr().err == ""
    monkeypatch.setenv("FORCE_COLOR", "1")  # as on a terminal
    descend(published[0][0], iterations=10**9, seconds=0.3, progress=True)
    assert "gradient descent" in capfd.readouterr().err


# Selected tokens ----------------------------------------------------------------------------


def brute_selected(dataset, W):
    def fraction(x):
        return Fraction(int(x.p), int(x.q))

    result = []
    for tokens, z in zip(dataset.tokens, dataset.queries, strict=True):
        logits = [sum(fraction(a) * Fraction(float(W[r][k])) * fraction(b)
                      for r, a in enumerate(x) for k, b in enumerate(z)) for x in tokens]
        result.append(logits.index(max(logits)))
    return tuple(result)


@pytest.mark.parametrize("integers", [False, True])
def test_selected_tokens_are_the_exact_argmax(integers):
    for seed in range(60):
        dataset = ragged(seed, integers=integers)
        rng = np.random.default_rng(seed)
        shape = (dataset.d, dataset.d)
        W = rng.integers(-1, 2, shape).astype(float) if integers else rng.normal(size=shape)
        assert selected_tokens(dataset, W) == brute_selected(dataset, W)


def test_exact_ties_go_to_the_lowest_index_and_near_ties_to_the_larger():
    tiny = Fraction(1, 2**80)
    X = [[[0, 0], ["1/3", 0], ["1/3", 5]],           # a tie of 1 and 2
         [["1/3", 0], [Fraction(1, 3) + tiny, 0]],   # equal as floats, token 1 is larger
         [[Fraction(1, 3) + tiny, 0], ["1/3", 0]]]
    dataset = AttentionDataset.build(X, [1, 1, 1], [[1, 0]] * 3, [1, 0])
    assert selected_tokens(dataset, np.array([[0.1, 0.0], [0.0, 0.7]])) == (1, 1, 0)
    assert descend(dataset, iterations=0).selected == (0, 0, 0)
    # 0.1 + 0.2 > 0.3 in floats added up; the exact dyadics decide otherwise than decimals.
    rounded = AttentionDataset.build([[["3/10", 0], [0.1, 0.2]]], [1], [[1, 1]], [1, 0])
    W = np.array([[1.0, 0.0], [1.0, 0.0]])
    assert selected_tokens(rounded, W) == brute_selected(rounded, W) == (1,)


# Runs as values -----------------------------------------------------------------------------


def test_a_run_is_written_as_the_certificate_specification_says():
    dataset = ragged(7, n=3, d=2)
    run = descend(dataset, rule="plain", step=0.25, loss="exponential", iterations=6,
                  start=[np.full((2, 2), 0.1)])
    record = run.to_json()
    assert list(record) == ["parameterization", "rule", "step", "penalty", "loss", "iterations",
                            "selected", "outcome", "start", "final"]
    assert record["parameterization"] == "W" and float.fromhex(record["penalty"]) == 0
    assert (record["rule"], record["loss"], record["outcome"]) == (
        "plain", "exponential", "completed")
    assert float.fromhex(record["step"]) == 0.25 and record["iterations"] == 6
    assert tuple(record["selected"]) == run.selected
    for name, W in (("start", run.start), ("final", run.final)):
        assert [[float.fromhex(x) for x in row] for row in record[name]] == W.tolist()


def test_arrays_of_a_run_cannot_be_changed_nor_does_it_hold_the_callers():
    start = np.zeros((2, 2))
    run = descend(ragged(7, n=3, d=2), iterations=3, start=start, keep=[1])
    start[0, 0] = 5.0
    assert not run.start.any()
    for W in (run.start, run.final, run.kept[0][1]):
        with pytest.raises(ValueError, match="read-only"):
            W[0, 0] = 1.0
    assert run.norms == (pytest.approx(0.1),)


def test_an_empty_batch_gives_no_runs():
    assert descend([]) == []


@pytest.mark.parametrize(("settings", "name"), [
    ({"rule": "adam"}, "rule"), ({"loss": "hinge"}, "loss"), ({"step": 0}, "step"),
    ({"step": -0.1}, "step"), ({"step": float("nan")}, "step"), ({"step": float("inf")}, "step"),
    ({"step": "0.1"}, "step"), ({"step": True}, "step"), ({"iterations": -1}, "iterations"),
    ({"iterations": 2.5}, "iterations"), ({"keep": [3000]}, "keep"), ({"keep": [-1]}, "keep"),
    ({"engine": "gpu"}, "engine"), ({"threads": 0}, "threads"), ({"seconds": 0}, "seconds"),
    ({"start": np.zeros((3, 2))}, "start"), ({"start": np.zeros((2, 2, 2))}, "start"),
    ({"start": [[["a", 0], [0, 0]]]}, "start"), ({"start": np.full((2, 2), np.inf)}, "start"),
    ({"start": np.full((2, 2), np.nan)}, "start"), ({"start": np.full((2, 2), 1e200)}, "start"),
])
def test_bad_settings_are_refused(settings, name):
    with pytest.raises(InvalidInput, match=rf"^{name}"):
        descend(ragged(7, n=3, d=2), **settings)


@pytest.mark.parametrize("scale", ["1e40", "1e-40"])
def test_data_outside_the_float_range_are_refused(scale):
    dataset = AttentionDataset.build([[[scale, 0], [0, scale]]], [1], [[1, 2]], [3, 1])
    with pytest.raises(InvalidInput, match="rescale"):
        descend([dataset])
