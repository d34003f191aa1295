"""Proofs about limits on the 50 reference trials: basins, and the low-norm global limit.

    python benchmarks/limits.py [--trials N] [--no-check]

Every trial runs normalized GD (η = 0.1, logistic loss) from its recorded start and is checked
after 125, 250, 500, … steps until its basin is proved; then, where the limit is opt, the
earliest of these iterates from which plain GD (η = 1/β) is proved to reach it. All certificates
go through the independent checker. The last line is JSON.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from pathlib import Path

import numpy as np

from conditions import basin, low_norm_limit
from conditions.exact.numbers import round_dyadic
from conditions.selection import optimal_selection
from conditions.smoothness import smoothness
from verifier import io
from verifier.certify import Report
from verifier.descent import descend
from verifier.kernel import check_text

DATA = Path(__file__).parent.parent / "examples" / "data" / "local_convergence.npz"
STEP, LOSS, FIRST, LAST = 0.1, "logistic", 125, 1 << 20


def accepted(dataset, verdict) -> bool:
    return check_text(Report(dataset, "", (verdict,), (), None).certificate_text()).accepted


def first_basin(dataset, start) -> dict:
    """The first checked iterate in a proved basin, and the iterates before it."""
    W, steps, iterates = start, 0, []
    while steps < LAST:
        run = descend(dataset, start=W, iterations=max(steps, FIRST), step=STEP, loss=LOSS)
        W, steps = run.final, steps + run.iterations
        iterates.append((steps, W))
        verdict = basin.decide(dataset, run.selected, W, "normalized", STEP, LOSS)
        if verdict.holds:
            return {"steps": steps, "norm": float(np.linalg.norm(W)), "verdict": verdict,
                    "kind": verdict.certificate.kind, "selected": run.selected,
                    "iterates": iterates}
    return {"steps": None, "iterates": iterates, "selected": run.selected}


def first_low_norm(dataset, iterates) -> dict | None:
    """The first checked iterate from which plain GD provably reaches opt."""
    step = round_dyadic(1 / smoothness(dataset, LOSS), 20)
    for steps, W in iterates:
        verdict = low_norm_limit.decide(dataset, W, "plain", step, LOSS)
        if verdict.holds:
            return {"steps": steps, "norm": float(np.linalg.norm(W)), "verdict": verdict}
    return None


def spread(values) -> dict:
    return {"min": min(values), "median": statistics.median(values), "max": max(values)}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--trials", type=int, default=50)
    parser.add_argument("--no-check", action="store_true", help="leave the checker out")
    options = parser.parse_args()
    datasets = io.load_datasets(DATA)[:options.trials]
    starts = np.load(DATA)["W0"]
    clock = time.perf_counter()
    found = [first_basin(data, W0) for data, W0 in zip(datasets, starts, strict=False)]
    spent_basins = time.perf_counter() - clock
    clock = time.perf_counter()
    global_ = [k for k, f in enumerate(found) if f["selected"] == optimal_selection(datasets[k])]
    low = {k: first_low_norm(datasets[k], found[k]["iterates"]) for k in global_}
    spent_low = time.perf_counter() - clock
    for k, f in enumerate(found):
        lower = low.get(k)
        print(f"trial {k:2}: basin {f.get('kind', 'not proved')} after {f['steps']} steps at ‖W‖ = "
              f"{f.get('norm', float('nan')):.4g}; low norm "
              + (f"{lower['norm']:.4g}" if lower else "–"), flush=True)
    proved = [f for f in found if f["steps"]]
    lows = [lower for lower in low.values() if lower]
    row = {"trials": len(found), "basins proved": len(proved), "seconds": spent_basins,
           "steps": spread([f["steps"] for f in proved]),
           "norm": spread([f["norm"] for f in proved]),
           "kinds": {k: sum(f["kind"] == k for f in proved) for k in {f["kind"] for f in proved}},
           "limit is opt": len(global_), "low-norm proved": len(lows),
           "low-norm below 200": sum(x["norm"] < 200 for x in lows),
           "low-norm seconds": spent_low, "low-norm norm": spread([x["norm"] for x in lows])}
    if not options.no_check:
        clock = time.perf_counter()
        row["basins accepted"] = sum(accepted(d, f["verdict"]) for d, f in
                                     zip(datasets, found, strict=True) if f["steps"])
        row["low-norm accepted"] = sum(accepted(datasets[k], lower["verdict"])
                                       for k, lower in low.items() if lower)
        row["checker seconds"] = time.perf_counter() - clock
    print(json.dumps(row))


if __name__ == "__main__":
    main()
