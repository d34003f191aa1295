"""The predicted direction is compared, never proved."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from acceptance import accepted

from conditions import AttentionDataset, Evidence, InvalidInput, predicted_direction
from conditions.predicted_direction import (
    correlation,
    decide,
    decide_factored,
    nuclear_comparison,
)
from conditions.separation import nuclear
from verifier import io
from verifier.descent import descend

# z = e1, rows (1, 0) and (0, 1): W^mm = (1, 1)ᵀ e1ᵀ, of rank one, also of least nuclear norm √2.
DATASET = AttentionDataset.build([[[0, 0], [-1, 0], [0, -1]]], [1], [[1, 0]], [1, 1])
SOLUTION = np.array([[1.0, 0.0], [1.0, 0.0]])
ZERO = np.zeros((2, 2))


def observed(verdict):
    assert verdict.undecided and verdict.certificate is None
    assert verdict.evidence is Evidence.OBSERVED
    assert accepted(DATASET, verdict)[0].startswith("observed")
    return verdict.reason


def test_correlation():
    # ⟨(1, 1), (1, 0)⟩/(√2·1) = 1/√2; scale does not matter, 0 has no direction.
    axis = np.array([[3.0, 0.0], [0.0, 0.0]])
    assert correlation(SOLUTION, axis) == pytest.approx(2**-0.5, rel=1e-15)
    assert correlation(-2 * SOLUTION, SOLUTION) == pytest.approx(-1, rel=1e-15)
    assert correlation(ZERO, SOLUTION) == 0.0


@pytest.mark.parametrize(("W", "expected"), [
    (7 * SOLUTION, 1.0), (-SOLUTION, -1.0), (ZERO, 0.0),
    # Orthogonal: the second column plays no part in W^mm.
    (np.array([[0.0, 1.0], [0.0, 2.0]]), 0.0),
])
def test_runs_on_W(W, expected):
    reason = observed(decide(DATASET, (0,), W, "logistic"))
    shown = float(reason.split("1 − ")[1].split(" ")[0])
    assert shown == pytest.approx(1 - expected, abs=1e-12)
    assert f"‖W‖ = {np.linalg.norm(W):.6g}" in reason


def test_runs_on_K_and_Q():
    # ‖5 W^mm‖_* = 5√2 over the least margin 5 is the optimum.
    reason = observed(decide_factored(DATASET, (0,), 5 * SOLUTION, "logistic"))
    assert abs(float(reason.split("optimum by ")[1].split(" ")[0])) < 1e-3
    # diag-like W = (1, 2)ᵀ e1ᵀ: norm √5 over the least margin 1, √(5/2) - 1 = 0.5811 too much.
    reason = observed(decide_factored(DATASET, (0,), np.array([[1.0, 0], [2, 0]]), "logistic"))
    assert float(reason.split("optimum by ")[1].split(" ")[0]) == pytest.approx(0.581, abs=2e-3)


def test_nearness_to_the_nuclear_optimum():
    optimum = nuclear.solve(DATASET, (0,), 1e-12)
    for scale in (1e-30, 1.0, 1e30):
        seen = nuclear_comparison(optimum, scale * SOLUTION)
        assert seen.correlation == pytest.approx(1, abs=1e-12)
        assert abs(seen.excess) < 1e-11 and seen.distance < 1e-11
    # (1, 2)ᵀ e1ᵀ: correlation 3/√10; √5 over the least margin 1 against √2; both of rank one, so
    # the distance of the unit vectors.
    seen = nuclear_comparison(optimum, np.array([[3.0, 0.0], [6.0, 0.0]]))
    assert seen.correlation == pytest.approx(3 / 10**0.5)
    assert seen.excess == pytest.approx(2.5**0.5 - 1)
    assert seen.distance == pytest.approx((2 - 6 / 10**0.5)**0.5)
    # 0 and what does not separate.
    assert nuclear_comparison(optimum, ZERO).distance == pytest.approx(1)
    for W in (ZERO, -SOLUTION, np.array([[1.0, 0.0], [0.0, 0.0]])):
        assert nuclear_comparison(optimum, W).excess == np.inf


def test_the_reference_runs_on_K_and_Q_come_nearer_as_their_penalty_falls():
    # The first part of benchmarks/factored.py: the recorded penalty, then a smaller one.
    path = Path(__file__).parent.parent / "examples" / "data" / "local_convergence.npz"
    datasets = io.load_datasets(path)
    with np.load(path) as file:
        starts = list(zip(file["K0"], file["Q0"], strict=True))
        recorded = [tuple(tokens) for tokens in file["selected_KQ"].tolist()]
    distances = []
    for step, penalty, iterations in ((0.1, 2.0**-52, 2000), (0.01, 2.0**-208, 8000)):
        runs = descend(datasets, parameterization="KQ", start=starts, step=step, penalty=penalty,
                       iterations=iterations)
        starts = [(run.final_K, run.final_Q) for run in runs]
        seen = [nuclear_comparison(nuclear.solve(data, run.selected), run.final)
                for data, run in zip(datasets, runs, strict=True)]
        assert sum(run.selected == tokens for run, tokens in
                   zip(runs, recorded, strict=True)) >= 48
        assert np.mean([c.correlation for c in seen]) >= 0.996
        assert all(0 < c.excess < np.inf for c in seen)
        distances.append([c.distance for c in seen])
    assert all(b < a for a, b in zip(*distances, strict=True))
    assert np.mean(distances[1]) < 0.5 * np.mean(distances[0])


def test_a_product_that_does_not_separate():
    reason = observed(decide_factored(DATASET, (0,), ZERO, "logistic"))
    assert "does not separate" in reason


@pytest.mark.parametrize("compare", [decide, decide_factored])
def test_infeasible_selections_predict_nothing(compare):
    # Selected 0 between 1 and -1.
    dataset = AttentionDataset.build([[[0], [1], [-1]]], [1], [[1]], [1])
    verdict = compare(dataset, (0,), np.ones((1, 1)), "logistic")
    assert verdict.undecided and verdict.evidence is None
    assert "infeasible" in verdict.reason
    assert accepted(dataset, verdict)[0].startswith("undecided")


def test_bad_selections_are_refused():
    with pytest.raises(InvalidInput, match="selection"):
        predicted_direction.decide(DATASET, (3,), ZERO, "logistic")
