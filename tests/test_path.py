"""Regularization paths: closed forms, an independent solver, the reference trials, the command."""

import csv
import json
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import minimize as scipy_minimize

from conditions import AttentionDataset, InvalidInput
from conditions.selection import optimal_selection
from conditions.separation.frobenius import solve
from verifier import io
from verifier.cli import main
from verifier.descent import LOSSES
from verifier.descent.gradient import score_floats
from verifier.path import regularization_path
from verifier.path.coordinates import COORDINATES

EXAMPLES = Path(__file__).parent.parent / "examples" / "data"
PLANE, LOCAL = EXAMPLES / "plane_3_tokens.npz", EXAMPLES / "local_convergence.npz"
TRIALS = io.load_datasets(LOCAL)
with np.load(LOCAL) as _file:
    SELECTED = [tuple(tokens) for tokens in _file["selected_W"].tolist()]
ONE = AttentionDataset.build([[[1, 2], [0, 0]]], [1], [[1, 2]], [1, 1])
"""φ = (1, 2)ᵀ(1, 2) of norm 5: W_R = Rφ/5 for either norm, with the margin 5R."""
TWO = AttentionDataset.build([[[1, 0], [0, 0]], [[-2, 1], [0, 0]]], [1, 1], [[1, 0], [1, 0]],
                             [1, 3])


def loss_at(dataset, W, loss):
    view, total = dataset.floats, 0.0
    for X, gamma, z in zip(view.tokens, score_floats(dataset), view.queries, strict=True):
        h = X @ W @ z
        e = np.exp(h - h.max())
        total += float(LOSSES[loss].value(np.asarray(e @ gamma / e.sum())))
    return total / dataset.n


# The path -----------------------------------------------------------------------------------


@pytest.mark.parametrize("parameterization", COORDINATES)
@pytest.mark.parametrize("loss", LOSSES)
def test_one_rejected_token(parameterization, loss):
    path = regularization_path(ONE, parameterization=parameterization, loss=loss, radii=4, starts=3)
    assert path.unique and path.cone is None and path.limit == pytest.approx(
        float(LOSSES[loss].value(np.asarray(3.0))))
    for point in path.points:
        # L − L_α = ℓ(3/(1 + e^{−5R})) − ℓ(3); the last digits are lost in the difference.
        if point.R < 2:
            f = 3 / (1 + np.exp(-5 * point.R))
            gap = LOSSES[loss].value(np.asarray(f)) - LOSSES[loss].value(np.asarray(3.0))
            assert point.excess_log == pytest.approx(np.log(gap), abs=1e-6)
        assert np.allclose(point.W, point.R / 5 * np.outer([1, 2], [1, 2]), rtol=1e-6,
                           atol=1e-6 * point.R)
        assert point.distance < 1e-6 and point.correlation == pytest.approx(1, abs=1e-12)
        assert point.norm == pytest.approx(point.R) and point.selected == (0,)
        assert point.residual < 1e-6 and 3 <= point.agreeing <= path.seeded == 6
    assert [point.set_excess is None for point in path.points] == [parameterization == "W"] * 4


@pytest.mark.parametrize("parameterization", COORDINATES)
def test_no_other_solver_finds_less(parameterization):
    # SLSQP on the loss itself, written out once more, at radii where nothing underflows.
    dataset = io.load_dataset(PLANE)
    path = regularization_path(dataset, parameterization=parameterization, radii=4,
                               max_radius=40.0, starts=4)
    size = 4 if parameterization == "W" else 8

    def product(x):
        return x.reshape(2, 2) if size == 4 else x[:4].reshape(2, 2) @ x[4:].reshape(2, 2).T

    for point in path.points:
        bound = point.R**2 if size == 4 else 2 * point.R
        rng, found = np.random.default_rng(0), []
        for _ in range(6):
            start = rng.normal(size=size)
            start *= np.sqrt(bound) / np.linalg.norm(start)
            result = scipy_minimize(
                lambda x: loss_at(dataset, product(x), "logistic"), start, method="SLSQP",
                constraints={"type": "ineq", "fun": lambda x, b=bound: b - x @ x},
                options={"ftol": 1e-15, "maxiter": 400})
            if result.x @ result.x <= bound * (1 + 1e-9):
                found.append(loss_at(dataset, product(result.x), "logistic"))
        here = loss_at(dataset, point.W, "logistic")
        assert here == pytest.approx(path.limit + np.exp(point.excess_log), rel=1e-12)
        assert here <= min(found) + 1e-9
        assert min(found) <= here + 1e-4  # the other solver does come near


@pytest.mark.parametrize(("parameterization", "trial"), [("W", 2), ("KQ", 0)])
def test_the_direction_tends_to_the_optimum(parameterization, trial):
    path = regularization_path(TRIALS[trial], parameterization=parameterization, radii=7, starts=2)
    distances = [point.distance for point in path.points]
    assert all(a > b for a, b in pairwise(distances[1:]))
    assert distances[-1] < 5e-3 and distances[0] > 0.5
    assert path.points[-1].selected == optimal_selection(TRIALS[trial])
    values = [point.excess_log for point in path.points]
    assert all(a > b for a, b in pairwise(values))
    # log(L − L_α) ≈ −R/‖W^mm‖, far below what L itself can show.
    assert values[-1] == pytest.approx(-1000, abs=5)
    assert max(point.residual for point in path.points) < 1e-4
    if parameterization == "KQ":
        excess = [point.set_excess for point in path.points[2:]]
        assert path.unique and all(a > b > 0 for a, b in pairwise(excess))


def test_the_same_seed_gives_the_same_path():
    first, second = (regularization_path(ONE, radii=3, starts=2, seed=5) for _ in range(2))
    assert all(np.array_equal(a.W, b.W) for a, b in zip(first.points, second.points, strict=True))


def test_infeasible_data_have_a_path_but_no_prediction():
    dataset = AttentionDataset.build([[[1], [0]], [[1], [0]]], [1, -1], [[1], [1]], [1])
    path = regularization_path(dataset, radii=3, starts=2)
    assert path.predicted is None
    for point in path.points:
        assert point.distance is None and point.correlation is None
        W = np.linspace(-point.R, point.R, 2001)
        assert np.exp(point.excess_log) + path.limit <= min(
            loss_at(dataset, np.array([[w]]), "logistic") for w in W) + 1e-12


# Local paths --------------------------------------------------------------------------------


@pytest.mark.parametrize("parameterization", COORDINATES)
def test_a_sample_without_demand(parameterization):
    path = regularization_path(TWO, parameterization=parameterization, selection=(0, 1), cone=0.0,
                               radii=3, starts=3)
    assert path.cone.printed == -np.inf
    assert path.cone.epsilon == pytest.approx(path.cone.largest / 2)
    assert all(point.distance < 1e-3 and point.residual < 1e-4 for point in path.points)
    assert all(point.selected == (0, 1) and point.norm >= path.cone.radius
               for point in path.points)


def test_a_local_path_tends_to_its_own_direction():
    alpha = SELECTED[15]
    assert alpha != optimal_selection(TRIALS[15])
    path = regularization_path(TRIALS[15], selection=alpha, cone=0.05, radii=3, starts=3)
    assert path.cone.epsilon == 0.05 < path.cone.largest
    assert path.points[-1].distance < 1e-3 < path.points[0].distance
    best = solve(TRIALS[15], alpha).float_W
    assert path.points[-1].correlation > 0.999999 and np.array_equal(path.predicted, best)
    assert {point.selected for point in path.points} == {alpha}


@pytest.mark.parametrize(("settings", "name"), [
    ({"selection": (1, 1)}, "selection.*cone_ε"), ({"selection": (0, 1), "cone": 10.0}, "cone"),
    ({"selection": (1, 1), "cone": 0.0}, "selection"), ({"cone": -1.0}, "cone"),
    ({"selection": (0,)}, "selection"), ({"radii": 1}, "radii"), ({"starts": 0}, "starts"),
    ({"seed": -1}, "seed"), ({"max_radius": 1e-3}, "max_radius"), ({"loss": "hinge"}, "loss"),
    ({"max_radius": float("nan")}, "max_radius"), ({"parameterization": "QK"}, "parameterization"),
])
def test_bad_settings_are_refused(settings, name):
    with pytest.raises(InvalidInput, match=rf"^{name}"):
        regularization_path(TWO, **settings)


def test_constant_losses_are_refused():
    flat = AttentionDataset.build([[[1, 0], [0, 1]]], [1], [[1, 0]], [2, 2])
    with pytest.raises(InvalidInput, match="constant"):
        regularization_path(flat)


# The command --------------------------------------------------------------------------------


@pytest.fixture
def attsvm(capsys, monkeypatch):
    """Run the command in this process: (exit code, stdout, stderr)."""
    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["attsvm", *map(str, arguments)])
        monkeypatch.setenv("COLUMNS", "100")
        with pytest.raises(SystemExit) as stop:
            main()
        captured = capsys.readouterr()
        return stop.value.code or 0, captured.out, captured.err
    return run


def test_the_command_writes_what_it_shows(attsvm, tmp_path):
    files = {name: tmp_path / name for name in ("p.json", "p.npz", "p.csv", "plots")}
    common = ["path", PLANE, "--radii", "3", "--starts", "2"]
    code, out, _ = attsvm(*common, "--json", files["p.json"], "--out", files["p.npz"],
                          "--plots", files["plots"])
    assert code == 0 and "observed" in out and "nothing here is proved" in out
    record = json.loads(files["p.json"].read_text())
    assert record["evidence"] == "observed" and record["cone"] is None
    assert record["dataset"] == io.load_dataset(PLANE).fingerprint
    with np.load(files["p.npz"]) as file:
        arrays = dict(file)
    assert arrays["W"].tolist() == [point["W"] for point in record["points"]]
    assert np.isnan(arrays["set_excess"]).all() and arrays["selection"].tolist() == [0, 2]
    drawn = (files["plots"] / "path.svg").read_text()
    assert "<svg" in drawn and len(drawn) > 5000
    assert attsvm(*common, "--out", files["p.csv"])[0] == 0
    rows = list(csv.DictReader(files["p.csv"].read_text().splitlines()))
    assert [float(row["R"]) for row in rows] == arrays["R"].tolist()
    assert rows[-1]["selected"] == "0 2" and rows[-1]["set_excess"] == ""
    for row in rows:
        assert f"{float(row['R']):.5g}" in out and f"{float(row['distance']):.3g}" in out


def test_the_command_follows_local_paths_of_descent(attsvm, tmp_path):
    data = tmp_path / "two.json"
    io.save_dataset(TWO, data)
    code, out, _ = attsvm("path", data, "--selection", "0,1", "--cone", "auto", "--radii", "2",
                          "--parameterization", "KQ", "--starts", "2",
                          "--json", tmp_path / "p.json")
    assert code == 0 and "cone_ε(α)" in out and "as printed it is in none" in out
    assert json.loads((tmp_path / "p.json").read_text())["cone"]["printed"] is None
    code, out, _ = attsvm("path", PLANE, "--selection", "gd", "--cone", "0.1", "--radii", "2",
                          "--starts", "1")
    assert code == 0 and "the cone is the whole space" in out


@pytest.mark.parametrize(("arguments", "words"), [
    (["--cone", "wide"], "--cone"), (["--cone", "0"], "--cone"), (["--out", "p.txt"], "--out"),
    (["--selection", "1,1"], "selection"), (["--max-radius", "1"], "max_radius"),
    (["--plots", "pyproject.toml"], "--plots"),
])
def test_bad_input_is_one_line_and_exit_2(attsvm, arguments, words):
    code, _, err = attsvm("path", PLANE, "--radii", "2", "--starts", "1", *arguments)
    assert code == 2 and len(err.strip().splitlines()) == 1 and words in err
