"""Descent on K and Q against the solutions of least nuclear norm, on the 50 reference trials.

    OPENBLAS_NUM_THREADS=1 python benchmarks/factored.py [--steps 2000 20000 200000] [--trials N]

Normalized GD, logistic loss, from the recorded K0 and Q0, by three schedules: without a penalty;
with the penalty 2^-52·(‖K‖² + ‖Q‖²) of the recorded runs; and with a penalty that falls, where
each further length continues the run at η/10 and a penalty whose logarithm is four times that
before, so that the norm at which gradient and penalty balance grows. Per length: how many trials
select the recorded tokens, and how near K Qᵀ is to the nuclear optimum of the tokens it selects
(`conditions.predicted_direction.nuclear_comparison`); optima that are proved unique are counted.
The last line is JSON with the figures of every trial.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from conditions import AttentionDataset, unique_nuclear_optimum
from conditions.predicted_direction import nuclear_comparison
from conditions.separation import nuclear
from conditions.separation.nuclear import NuclearSolution
from verifier import io
from verifier.descent import FactoredRun, descend

DATA = Path(__file__).parent.parent / "examples" / "data" / "local_convergence.npz"
STEPS = (2000, 20_000, 200_000)
SCHEDULES = ("no penalty", "2^-52", "falling")
STEP = 0.1


def settings(schedule: str, stage: int) -> dict:
    """Step and penalty of the *stage*-th part of a run."""
    if schedule == "falling":
        return {"step": STEP / 10**stage, "penalty": 2.0**(-52 * 4**stage)}
    return {"step": STEP, "penalty": 2.0**-52 if schedule == "2^-52" else 0.0}


def compare(schedule: str, trials: int, steps: Sequence[int]) -> list[dict]:
    """One row per length of the run, of the first *trials* trials."""
    with np.load(DATA) as file:
        starts = list(zip(file["K0"][:trials], file["Q0"][:trials], strict=True))
        recorded = [tuple(tokens) for tokens in file["selected_KQ"][:trials].tolist()]
    datasets = io.load_datasets(DATA)[:trials]
    rows, done, seconds = [], 0, 0.0
    for stage, length in enumerate(sorted(steps)):
        began = time.perf_counter()
        runs = descend(datasets, parameterization="KQ", start=starts, iterations=length - done,
                       **settings(schedule, stage))
        seconds += time.perf_counter() - began
        starts = [(run.final_K, run.final_Q) for run in runs]
        done = length
        same = [run.selected == tokens for run, tokens in zip(runs, recorded, strict=True)]
        rows.append({"schedule": schedule, "steps": length, "trials": trials,
                     "recorded tokens": sum(same),
                     "others in": [k for k, equal in enumerate(same) if not equal],
                     **nearness(datasets, runs), "seconds of all": seconds})
    return rows


def nearness(datasets: Sequence[AttentionDataset], runs: Sequence[FactoredRun]) -> dict:
    """How near the runs are to the nuclear optima of the tokens that they select."""
    seen, unique = [], 0
    for k, (data, run) in enumerate(zip(datasets, runs, strict=True)):
        optimum = nuclear.solve(data, run.selected)
        if isinstance(optimum, NuclearSolution):
            seen.append((k, float(np.linalg.norm(run.final)),
                         nuclear_comparison(optimum, run.final)))
            unique += unique_nuclear_optimum.decide(data, run.selected).holds
    _, norms, found = zip(*seen, strict=True)
    return {"feasible": len(seen), "unique": unique, "median norm": statistics.median(norms),
            "mean correlation": statistics.fmean(c.correlation for c in found),
            "least correlation": min(c.correlation for c in found),
            "median excess": statistics.median(c.excess for c in found),
            "mean distance": statistics.fmean(c.distance for c in found),
            "median distance": statistics.median(c.distance for c in found),
            "each": [[k, norm, c.correlation, c.excess, c.distance] for k, norm, c in seen]}


def shown(row: dict) -> dict:
    return {k: v if not isinstance(v, float) else float(f"{v:.5g}") for k, v in row.items()
            if k != "each"}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, nargs="+", default=list(STEPS))
    parser.add_argument("--trials", type=int, default=50)
    options = parser.parse_args()
    rows = []
    for schedule in SCHEDULES:
        for row in compare(schedule, options.trials, options.steps):
            rows.append(row)
            print(shown(row), flush=True)
    print(json.dumps(rows))


if __name__ == "__main__":
    main()
