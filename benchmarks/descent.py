"""Gradient descent here against eager PyTorch in float64: seconds and ratios.

    python benchmarks/descent.py [--repeats R] [--torch-trials K] [--full] [--crossover]

Per size (n, T, d): B trials of S steps of normalized gradient descent (step 0.1, logistic loss,
W(0) = 0, or K(0) and Q(0) random with m = d) on unit-sphere data, by

- `descend` on prebuilt datasets, default threads, compiled code warmed up (median of about R
  repeats, taken in turns with the PyTorch trials, of which the median counts too);
- a PyTorch loop per trial with autograd, as published experiment code runs it;
- a PyTorch loop over all trials at once, one graph a step for the whole batch.

Each PyTorch loop is timed with one thread and with the default number and the faster one counts.
Loops are timed over fewer trials or steps where stated (``--full`` times every trial and step
at the first size); seconds are per-trial-step times scaled to B·S, which is linear: nothing is
shared between trials or steps. ``cold`` adds the one-time conversion of the exact datasets to
floats. The last line is JSON with all figures.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from conditions import AttentionDataset
from verifier.descent import descend
from verifier.descent.engines import BlasEngine, LaneEngine
from verifier.descent.loss import LOSSES
from verifier.descent.parameterization import PARAMETERIZATIONS
from verifier.descent.rules import STEP_RULES

SIZES = [(6, 8, 10, 100, 2000), (20, 16, 32, 100, 1000), (40, 20, 40, 32, 500)]
STEP = 0.1
Arrays = dict[str, np.ndarray[Any, np.dtype[np.float64]]]


def draw(B: int, n: int, T: int, d: int, seed: int = 0) -> Arrays:
    """Unit-sphere tokens, queries and heads, random labels; leading axis B."""
    rng = np.random.default_rng(seed)

    def sphere(*shape: int) -> np.ndarray[Any, np.dtype[np.float64]]:
        x = rng.normal(size=shape)
        return x / np.linalg.norm(x, axis=-1, keepdims=True)

    return {"X": sphere(B, n, T, d), "Y": rng.choice([-1.0, 1.0], (B, n)),
            "z": sphere(B, n, d), "v": sphere(B, d)}


def build(arrays: Arrays) -> list[AttentionDataset]:
    return [AttentionDataset.build(*row)
            for row in zip(*(arrays[name] for name in "XYzv"), strict=True)]


def seconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


# PyTorch ------------------------------------------------------------------------------------


def torch_factored_loop(X: Any, Y: Any, z: Any, v: Any, K: Any, Q: Any, steps: int) -> Any:
    """One trial on K and Q: the head applied in advance, each gradient normalized separately."""
    K, Q = (factor.clone().requires_grad_() for factor in (K, Q))
    values = X @ v
    for _ in range(steps):
        attention = torch.softmax((X @ (z @ Q @ K.T).unsqueeze(-1)).squeeze(-1), dim=-1)
        f = Y * (attention * values).sum(-1)
        torch.nn.functional.softplus(-f).mean().backward()
        with torch.no_grad():
            for factor in (K, Q):
                factor -= STEP * factor.grad / factor.grad.norm()
                factor.grad = None
    return (K @ Q.T).detach()


def torch_loop(X: Any, Y: Any, z: Any, v: Any, steps: int) -> Any:
    """One trial: eager forward, autograd backward, normalized step."""
    W = torch.zeros(X.shape[-1], X.shape[-1], dtype=torch.float64, requires_grad=True)
    for _ in range(steps):
        logits = torch.einsum("ntd,de,ne->nt", X, W, z)
        attention = torch.softmax(logits, dim=-1)
        f = Y * torch.einsum("nt,ntd,d->n", attention, X, v)
        loss = torch.nn.functional.softplus(-f).mean()
        loss.backward()
        with torch.no_grad():
            W -= STEP * W.grad / W.grad.norm()
            W.grad = None
    return W.detach()


def torch_matmul_loop(X: Any, Y: Any, z: Any, v: Any, steps: int) -> Any:
    """`torch_loop` with the products written as matmul and the head applied in advance."""
    W = torch.zeros(X.shape[-1], X.shape[-1], dtype=torch.float64, requires_grad=True)
    values = X @ v
    for _ in range(steps):
        attention = torch.softmax((X @ (z @ W.T).unsqueeze(-1)).squeeze(-1), dim=-1)
        f = Y * (attention * values).sum(-1)
        torch.nn.functional.softplus(-f).mean().backward()
        with torch.no_grad():
            W -= STEP * W.grad / W.grad.norm()
            W.grad = None
    return W.detach()


def torch_batched_loop(X: Any, Y: Any, z: Any, v: Any, steps: int) -> Any:
    """All trials in one graph a step; the loss is summed, so gradients stay apart."""
    B, d = v.shape
    W = torch.zeros(B, d, d, dtype=torch.float64, requires_grad=True)
    values = (X @ v[:, None, :, None]).squeeze(-1)
    for _ in range(steps):
        pulled = z @ W.transpose(1, 2)
        attention = torch.softmax((X @ pulled.unsqueeze(-1)).squeeze(-1), dim=-1)
        f = Y * (attention * values).sum(-1)
        torch.nn.functional.softplus(-f).mean(-1).sum().backward()
        with torch.no_grad():
            W -= STEP * W.grad / torch.linalg.matrix_norm(W.grad, keepdim=True)
            W.grad = None
    return W.detach()


def fastest(loop: Callable[..., Any], tensors: list[Any], steps: int, default: int
            ) -> tuple[float, int]:
    """Seconds of one call of *loop* and the number of threads that gave it."""
    timed = []
    for threads in sorted({1, default}):
        torch.set_num_threads(threads)
        loop(*tensors, 5)
        timed.append((seconds(lambda: loop(*tensors, steps)), threads))
    torch.set_num_threads(default)
    return min(timed)


# Measurements -------------------------------------------------------------------------------


def measure(size: tuple[int, int, int, int, int], repeats: int, torch_trials: int,
            full: bool) -> dict[str, Any]:
    n, T, d, B, S = size
    arrays = draw(B, n, T, d)
    datasets = build(arrays)
    tensors = {name: torch.from_numpy(array) for name, array in arrays.items()}
    default = torch.get_num_threads()

    cold = seconds(lambda: [(data.floats, data.scores) for data in datasets])
    descend(datasets, iterations=1)
    runs = descend(datasets, iterations=50)
    for k in range(min(B, 3)):
        ours, theirs = runs[k].final, torch_loop(*(tensors[a][k] for a in "XYzv"), 50).numpy()
        if not np.allclose(ours, theirs, atol=1e-8):
            raise SystemExit(f"trial {k}: the two programs differ after 50 steps")
    trials, steps = (B, S) if full else (min(B, torch_trials), min(S, 500))
    per_step = {}
    for name, loop in (("einsum", torch_loop), ("matmul", torch_matmul_loop)):
        best, threads = fastest(loop, [tensors[a][0] for a in "XYzv"], min(steps, 200), default)
        per_step[name] = (best, threads, loop)
    name, (_, threads, loop) = min(per_step.items(), key=lambda item: item[1][0])
    torch.set_num_threads(threads)
    times, each = [], []
    for k in range(trials):
        # Taken in turns, so that other load on the machine meets both programs.
        if k % max(1, trials // repeats) == 0:
            times.append(seconds(lambda: descend(datasets, step=STEP, iterations=S)))
        each.append(seconds(lambda k=k: loop(*(tensors[a][k] for a in "XYzv"), steps)))
    torch.set_num_threads(default)
    ours, per_trial = statistics.median(times), statistics.median(each) / steps
    batched, batched_threads = fastest(torch_batched_loop, [tensors[a] for a in "XYzv"], steps,
                                       default)
    loop_seconds, batched_seconds = per_trial * B * S, batched / steps * S
    return {
        "n": n, "T": T, "d": d, "trials": B, "steps": S,
        "descend_seconds": ours, "descend_seconds_all": times, "load_average": os.getloadavg()[0],
        "descend_cold_seconds": ours + cold,
        "torch_loop_seconds": loop_seconds, "torch_loop_form": name,
        "torch_loop_threads": threads, "torch_loop_us_per_trial_step": per_trial * 1e6,
        "torch_loop_measured": {"trials": trials, "steps": steps},
        "torch_batched_seconds": batched_seconds, "torch_batched_threads": batched_threads,
        "torch_batched_measured": {"trials": B, "steps": steps},
        "ratio": loop_seconds / ours, "ratio_cold": loop_seconds / (ours + cold),
        "ratio_batched": batched_seconds / ours,
    }


def measure_factored(size: tuple[int, int, int, int, int], repeats: int, torch_trials: int
                     ) -> dict[str, Any]:
    """`measure` for descent on K and Q against a loop per trial."""
    n, T, d, B, S = size
    arrays = draw(B, n, T, d)
    datasets = build(arrays)
    rng = np.random.default_rng(1)
    starts = [tuple(rng.normal(size=(2, d, d)) / d) for _ in range(B)]
    tensors = [[torch.from_numpy(np.ascontiguousarray(part)) for part in
                (*(arrays[a][k] for a in "XYzv"), *starts[k])] for k in range(B)]
    default = torch.get_num_threads()

    def ours(iterations: int) -> Any:
        return descend(datasets, parameterization="KQ", start=starts, step=STEP,
                       iterations=iterations)

    for k, run in enumerate(ours(50)[:3]):
        if not np.allclose(run.final, torch_factored_loop(*tensors[k], 50).numpy(), atol=1e-8):
            raise SystemExit(f"trial {k}: the two programs differ after 50 steps on K and Q")
    trials, steps = min(B, torch_trials), min(S, 500)
    _, threads = fastest(torch_factored_loop, tensors[0], min(steps, 200), default)
    torch.set_num_threads(threads)
    times, each = [], []
    for k in range(trials):
        if k % max(1, trials // repeats) == 0:
            times.append(seconds(lambda: ours(S)))
        each.append(seconds(lambda k=k: torch_factored_loop(*tensors[k], steps)))
    torch.set_num_threads(default)
    median, per_trial = statistics.median(times), statistics.median(each) / steps
    return {"descend_seconds": median, "descend_seconds_all": times,
            "torch_loop_seconds": per_trial * B * S, "torch_loop_threads": threads,
            "torch_loop_us_per_trial_step": per_trial * 1e6,
            "torch_loop_measured": {"trials": trials, "steps": steps},
            "ratio": per_trial * B * S / median}


def crossover() -> list[dict[str, Any]]:
    """µs a step of both engines for one dataset: what `schedule._lanes_faster` is fitted to."""
    rows = []
    for n, T, d in [(6, 8, 10), (20, 16, 32), (30, 16, 32), (40, 20, 40), (60, 40, 60),
                    (100, 50, 100)]:
        datasets = build(draw(1, n, T, d))
        row: dict[str, Any] = {"n": n, "T": T, "d": d, "products": 2 * n * d * (T + d)}
        for name, engine in (("lanes", LaneEngine), ("blas", BlasEngine)):
            running = engine(datasets, [(np.zeros((d, d)),)], PARAMETERIZATIONS["W"],
                             STEP_RULES["normalized"], STEP, 0.0, LOSSES["logistic"])
            running.advance(2)
            steps = max(1, int(2e6 / row["products"]))
            row[name] = min(seconds(lambda r=running, s=steps: r.advance(s)) / steps * 1e6
                            for _ in range(15))
        rows.append(row)
        print(f"({n:3}, {T:3}, {d:3})  {row['products']:9} products   "
              f"lanes {row['lanes']:9.1f} µs   blas {row['blas']:9.1f} µs")
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--torch-trials", type=int, default=10)
    parser.add_argument("--full", action="store_true",
                        help="time every trial and step of the PyTorch loop at the first size")
    parser.add_argument("--crossover", action="store_true")
    options = parser.parse_args()
    report: dict[str, Any] = {"benchmark": "descent", "cpus": os.cpu_count(),
                              "torch": torch.__version__}
    if options.crossover:
        report["crossover"] = crossover()
        print(json.dumps(report))
        return
    print("(n, T, d)       trials × steps   descend s (cold)     torch loop s   ratio   "
          "batched torch s   ratio")
    report["sizes"] = []
    for position, size in enumerate(SIZES):
        row = measure(size, options.repeats, options.torch_trials,
                      options.full and position == 0)
        report["sizes"].append(row)
        print(f"({row['n']:2}, {row['T']:2}, {row['d']:2})    "
              f"{row['trials']:6} × {row['steps']:<6} "
              f"{row['descend_seconds']:11.3f} ({row['descend_cold_seconds']:.3f}) "
              f"{row['torch_loop_seconds']:14.1f} {row['ratio']:8.0f} "
              f"{row['torch_batched_seconds']:14.2f} {row['ratio_batched']:9.1f}", flush=True)
        measured = row["torch_loop_measured"]
        print(f"    PyTorch loop: {row['torch_loop_us_per_trial_step']:.0f} µs a trial and step, "
              f"measured on {measured['trials']} trials × {measured['steps']} steps, "
              f"{row['torch_loop_form']} form, {row['torch_loop_threads']} thread(s)")
        row["KQ"] = factored = measure_factored(size, options.repeats, options.torch_trials)
        print(f"    on K and Q, m = d: {factored['descend_seconds']:.3f} s, PyTorch loop "
              f"{factored['torch_loop_seconds']:.1f} s "
              f"({factored['torch_loop_us_per_trial_step']:.0f} µs a trial and step), ratio "
              f"{factored['ratio']:.0f}", flush=True)
    print(json.dumps(report))


if __name__ == "__main__":
    main()
