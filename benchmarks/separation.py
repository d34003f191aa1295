"""Certified separation against uncertified solvers and against an exact solver, in one run.

    python benchmarks/separation.py [--repeats R] [--limit SECONDS]

Part 1: W^mm with proved support set against quadprog, daqp, scipy nnls and cvxpy + Clarabel, each
on its faster of two formulations (the primal over W, the dual over the Gram matrix), all given
ready arrays. Part 2: feasibility decided with a certificate against z3's linear real arithmetic.
The last line is JSON with every time in seconds and every ratio.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
import warnings
from collections.abc import Callable

import cvxpy
import daqp
import numpy as np
import quadprog
import z3
from scipy.optimize import nnls

from conditions import AttentionDataset, feasibility
from conditions.full_rank import decide as decide_full_rank
from conditions.selection import features, optimal_selection
from conditions.separation import frobenius

SIZES = [(6, 8, 10), (20, 16, 32), (40, 20, 40), (60, 30, 64)]
EXACT_SIZES = [("feasible", (6, 8, 10), 0), ("feasible", (6, 8, 3), 0),
               ("infeasible", (6, 8, 3), 1), ("infeasible", (6, 8, 3), 4)]
DECIDED = [(10, 10, 20), (30, 10, 5)]


def unit(rng: np.random.Generator, *shape: int) -> np.ndarray:
    x = rng.normal(size=shape)
    return x / np.linalg.norm(x, axis=-1, keepdims=True)


def sample(n: int, T: int, d: int, seed: int) -> AttentionDataset:
    rng = np.random.default_rng([n, T, d, seed])
    data = AttentionDataset.build(unit(rng, n, T, d), rng.choice([-1.0, 1.0], n), unit(rng, n, d),
                                  unit(rng, d))
    # The views are part of having the data, as the arrays of the other solvers are.
    _ = data.floats.moderate, data.integers.bits
    return data


def forget() -> None:
    for cached in (features, frobenius._solve, frobenius.suggest_support,
                   frobenius.solve_exactly):
        cached.cache_clear()


def timed(work: Callable[[], object], repeats: int, budget: float) -> tuple[object, float]:
    """(result, median seconds) over *repeats* runs after a warm-up, or of the first run if slow."""
    start = time.perf_counter()
    result = work()
    times = [time.perf_counter() - start]
    if times[0] * repeats < budget:
        times = []
        for _ in range(repeats):
            start = time.perf_counter()
            work()
            times.append(time.perf_counter() - start)
    return result, statistics.median(times)


# Uncertified solvers ---------------------------------------------------------------------------


def quadprog_primal(phi, gram):
    N, D = phi.shape
    return quadprog.solve_qp(np.eye(D), np.zeros(D), phi.T, np.ones(N))[0]


def quadprog_dual(phi, gram):
    N = len(gram)
    return phi.T @ quadprog.solve_qp(gram, np.ones(N), np.eye(N), np.zeros(N))[0]


def daqp_primal(phi, gram):
    N, D = phi.shape
    return daqp.solve(np.eye(D), np.zeros(D), phi, np.full(N, 1e30), np.ones(N),
                      np.zeros(N, dtype=np.int32))[0]


def daqp_dual(phi, gram):
    N = len(gram)
    multipliers = daqp.solve(gram, -np.ones(N), np.zeros((0, N)), np.full(N, 1e30), np.zeros(N),
                             np.zeros(N, dtype=np.int32))[0]
    return phi.T @ multipliers


def nnls_distance(phi, gram):
    N, D = phi.shape
    x, _ = nnls(np.vstack([phi.T, np.ones(N)]), np.append(np.zeros(D), 1.0))
    return phi.T @ x / (1 - x.sum())


def clarabel_primal(phi, gram):
    W = cvxpy.Variable(phi.shape[1])
    cvxpy.Problem(cvxpy.Minimize(cvxpy.sum_squares(W)), [phi @ W >= 1]).solve(solver="CLARABEL")
    return W.value


def clarabel_dual(phi, gram):
    x = cvxpy.Variable(len(gram), nonneg=True)
    factor = np.linalg.cholesky(gram)
    cvxpy.Problem(cvxpy.Minimize(cvxpy.sum_squares(factor.T @ x) / 2 - cvxpy.sum(x))).solve(
        solver="CLARABEL")
    return phi.T @ x.value


SOLVERS = {"quadprog": (quadprog_primal, quadprog_dual), "daqp": (daqp_primal, daqp_dual),
           "nnls": (nnls_distance,), "clarabel": (clarabel_primal, clarabel_dual)}


def compare_solvers(size: tuple[int, int, int], repeats: int, limit: float,
                    slow: set[Callable]) -> dict:
    """One row of part 1; formulations found slow at one size are left out at the next."""
    data = sample(*size, seed=0)
    alpha = optimal_selection(data)
    phi = features(data, alpha)
    dense = (phi.float_differences[:, :, None] * phi.float_queries[:, None, :]).reshape(
        len(phi), -1)
    gram = dense @ dense.T

    def certified():
        forget()
        return frobenius.solve(data, alpha)

    solution, spent = timed(certified, repeats, limit)
    assert isinstance(solution, frobenius.EnclosedSolution), "the support set must be proved"
    row = {"size": size, "rows": len(phi), "support": len(solution.support), "certified": spent}
    for name, forms in SOLVERS.items():
        best = None
        for form in forms:
            if form in slow:
                continue
            W, spent = timed(lambda form=form: form(dense, gram), repeats, limit)
            error = np.abs(W.reshape(data.d, data.d) - solution.float_W).max()
            assert error < 1e-3 * np.abs(solution.float_W).max(), (name, size, error)
            if spent > limit / 20:
                slow.add(form)
            best = spent if best is None else min(best, spent)
        row[name] = best
    fastest = min(row[name] for name in SOLVERS if row[name] is not None)
    row["certified / fastest"] = row["certified"] / fastest
    row["certified / clarabel"] = (None if row["clarabel"] is None
                                   else row["certified"] / row["clarabel"])
    return row


# Exact solvers ---------------------------------------------------------------------------------


def z3_feasible(phi, limit: float) -> tuple[str, float]:
    d = phi.dataset.d
    W = [[z3.Real(f"w{a}_{b}") for b in range(d)] for a in range(d)]
    solver = z3.SolverFor("QF_LRA")
    solver.set("timeout", int(1000 * limit))
    for delta, query in zip(phi.differences.tolist(), phi.queries.tolist(), strict=True):
        solver.add(z3.Sum([z3.IntVal(int(x) * int(q)) * W[a][b] for a, x in enumerate(delta)
                           for b, q in enumerate(query)]) >= 1)
    start = time.perf_counter()
    answer = str(solver.check())
    return answer, time.perf_counter() - start


def compare_exact(kind: str, size: tuple[int, int, int], seed: int, limit: float,
                  repeats: int) -> dict:
    # Seeds are tried in order until the data are of the kind wanted.
    while True:
        data = sample(*size, seed=seed)
        alpha = optimal_selection(data)
        forget()
        if feasibility.decide(data, alpha).holds == (kind == "feasible"):
            break
        seed += 1

    def certified():
        forget()
        verdict = feasibility.decide(data, alpha)
        return verdict.certificate.to_json()

    _, ours = timed(certified, repeats, limit)
    answer, theirs = z3_feasible(features(data, alpha), limit)
    assert answer in (("sat" if kind == "feasible" else "unsat"), "unknown"), answer
    return {"size": size, "kind": kind, "seed": seed, "certified": ours, "z3": theirs,
            "z3 finished": answer != "unknown", "z3 / certified": theirs / ours}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--limit", type=float, default=60.0, help="seconds for a slow solver")
    options = parser.parse_args()
    warnings.filterwarnings("ignore", module="cvxpy")
    slow: set[Callable] = set()
    solvers = []
    for size in SIZES:
        row = compare_solvers(size, options.repeats, options.limit, slow)
        solvers.append(row)
        print("W^mm", {k: v if not isinstance(v, float) else float(f"{v:.4g}")
                       for k, v in row.items()}, flush=True)
    exact = []
    for kind, size, seed in EXACT_SIZES:
        row = compare_exact(kind, size, seed, options.limit, options.repeats)
        exact.append(row)
        print("exact", {k: v if not isinstance(v, float) else float(f"{v:.4g}")
                        for k, v in row.items()}, flush=True)
    decided = []
    for size in DECIDED:
        data = sample(*size, seed=0)
        alpha = optimal_selection(data)
        verdict = feasibility.decide(data, alpha)

        def work(data=data, alpha=alpha):
            forget()
            return feasibility.decide(data, alpha)

        decided.append({"size": size, "status": str(verdict.status),
                        "seconds": timed(work, options.repeats, options.limit)[1],
                        "full_rank": str(decide_full_rank(data).status)})
        print("decided", decided[-1], flush=True)
    print(json.dumps({"solvers": solvers, "exact": exact, "decided": decided}))


if __name__ == "__main__":
    main()
