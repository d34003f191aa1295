"""Certified nuclear norm optima against cvxpy + SCS, and the ranks of both, in one run.

    OPENBLAS_NUM_THREADS=1 python benchmarks/nuclear.py [--repeats R] [--trials N] [--grid]

Part 1: a bracket of relative width 1e-6 with its certificate, a bracket of 1e-12, the proof that
the optimum is unique, and the independent check of the first, against SCS at its default
accuracy on the same problem. SCS is timed as cvxpy calls it (`problem`) and within SCS alone
(`solver`). Part 2: certified rank bounds on random data next to min(n, d); with --grid over all
sizes of v1's Figure 4, and the ranks of W^mm with them. The last line is JSON with every time in
seconds and every ratio.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
import warnings
from collections.abc import Callable

import cvxpy
import numpy as np

from conditions import AttentionDataset, nuclear_margin, unique_nuclear_optimum
from conditions.exact.numbers import to_float
from conditions.selection import features, optimal_selection
from conditions.separation import frobenius, nuclear, rows
from verifier.certify import dataset_to_json, verdict_to_json
from verifier.experiments.ranks import CELLS, NORMS, rank_trials, summary
from verifier.experiments.samples import unit_sphere_dataset
from verifier.kernel import check_text

SIZES = [(6, 8, 10), (15, 15, 20)]
SEEDS = 3


def sample(n: int, T: int, d: int, seed: int) -> AttentionDataset:
    data = unit_sphere_dataset(n, T, d, (n, T, d, seed))
    _ = data.floats.moderate, data.integers.bits
    return data


def forget() -> None:
    for cached in (features, frobenius._solve, frobenius.suggest_support, frobenius.solve_exactly,
                   rows.float_rows, nuclear._solve):
        cached.cache_clear()


def timed(work: Callable[[], object], repeats: int) -> tuple[object, float]:
    """(result, median seconds) after a warm-up."""
    result = work()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        result = work()
        times.append(time.perf_counter() - start)
    return result, statistics.median(times)


def scs(data: AttentionDataset, selection: tuple[int, ...]) -> tuple[float, np.ndarray, float]:
    """(value, W, seconds within SCS) at SCS's default accuracy."""
    phi = features(data, selection)
    dense = (phi.float_differences[:, :, None] * phi.float_queries[:, None, :]).reshape(
        len(phi), -1)
    W = cvxpy.Variable((data.d, data.d))
    problem = cvxpy.Problem(cvxpy.Minimize(cvxpy.normNuc(W)),
                            [dense @ cvxpy.vec(W, order="C") >= 1])
    value = problem.solve(solver="SCS")
    return value, W.value, problem.solver_stats.solve_time


def compare(size: tuple[int, int, int], seed: int, repeats: int) -> dict:
    data = sample(*size, seed)
    alpha = optimal_selection(data)

    def fresh(work: Callable[[], object]) -> Callable[[], object]:
        def run() -> object:
            forget()
            return work()
        return run

    verdict, ours = timed(fresh(lambda: nuclear_margin.decide(data, alpha)), repeats)
    _, fine = timed(fresh(lambda: nuclear_margin.decide(data, alpha, 1e-12)), repeats)
    unique, proof = timed(fresh(lambda: unique_nuclear_optimum.decide(data, alpha)), repeats)
    document = json.dumps({
        "format": "attsvm-certificate", "version": 1, "dataset": dataset_to_json(data),
        "run": None, "verdicts": [verdict_to_json(verdict)]})
    result, check = timed(lambda: check_text(document), repeats)
    assert result.accepted, "the checker must accept"
    (value, W, inner), whole = timed(lambda: scs(data, alpha), repeats)
    certificate = verdict.certificate
    lower, upper = to_float(certificate.lower), to_float(certificate.upper)
    sizes = np.linalg.svd(W, compute_uv=False)
    return {"size": size, "seed": seed, "certified": ours, "certified 1e-12": fine,
            "unique": proof, "unique status": str(unique.status), "check": check,
            "problem": whole, "solver": inner, "certified / problem": ours / whole,
            "certified / solver": ours / inner, "width": (upper - lower) / upper,
            "rank": certificate.rank, "certificate bytes": len(json.dumps(certificate.to_json())),
            "SCS error": (value - lower) / lower,
            "SCS rank": int(np.count_nonzero(sizes > 1e-6 * sizes[0]))}


def ranks(size: tuple[int, int, int], trials: int, seed: int) -> dict:
    """Certified ranks in the feasible trials of one size: every one at most min(n, d)."""
    start = time.perf_counter()
    row = {"size": size, "trials": trials, "min(n, d)": min(size[0], size[2])}
    for norm in NORMS:
        found = summary(rank_trials(*size, trials, seed, norm))
        assert found.undecided == 0, "a trial is infeasible or has a rank"
        assert all(rank <= found.bound for rank in found.ranks), "Lemma 1"
        assert row.setdefault("infeasible", found.infeasible) == found.infeasible
        row |= {f"{norm} mean": found.mean, f"{norm} largest": found.largest}
    return row | {"seconds": time.perf_counter() - start}


def shown(row: dict) -> dict:
    return {k: v if not isinstance(v, float) else float(f"{v:.4g}") for k, v in row.items()}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--trials", type=int, default=20, help="of each size in part 2")
    parser.add_argument("--seed", type=int, default=0, help="of the trials of part 2")
    parser.add_argument("--grid", action="store_true", help="all sizes of Figure 4 in part 2")
    options = parser.parse_args()
    warnings.filterwarnings("ignore", module="cvxpy")
    comparisons = []
    for size in SIZES:
        for seed in range(SEEDS):
            comparisons.append(compare(size, seed, options.repeats))
            print("nuclear", shown(comparisons[-1]), flush=True)
    grid = []
    for size in CELLS if options.grid else [(5, 5, 5), (5, 15, 10), (6, 8, 10)]:
        grid.append(ranks(size, options.trials, options.seed))
        print("ranks", shown(grid[-1]), flush=True)
    print(json.dumps({"comparisons": comparisons, "ranks": grid}))


if __name__ == "__main__":
    main()
