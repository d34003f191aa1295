"""``attsvm descend``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from flint import fmpq

from conditions.errors import InvalidInput
from conditions.exact.numbers import to_float
from verifier import io
from verifier.commands.options import (
    Data,
    Headed,
    Iterations,
    Loss,
    Parameterized,
    Rule,
    Start,
    Step,
    Trial,
    check_output,
    parse_start,
)
from verifier.descent import FactoredRun, LinearHead, Run, descend
from verifier.report.terminal import shown_selection


def descend_command(
        data: Data,
        out: Annotated[Path, typer.Option(help="Write the run here, .npz.", show_default=False)],
        trial: Trial = None, head: Headed = None, parameterization: Parameterized = "W",
        loss: Loss = "logistic", rule: Rule = "normalized", step: Step = 0.1,
        iterations: Iterations = 2000, start: Start = "zero",
        penalty: Annotated[float, typer.Option(
            help="λ ≥ 0 of λ‖W‖², or λ(‖K‖² + ‖Q‖²), added to the loss.")] = 0.0,
        keep: Annotated[int, typer.Option(help="Iterates to keep, evenly spread.")] = 0) -> None:
    """Run gradient descent and keep the run. What it shows is observed, not proved."""
    if out.suffix != ".npz":
        raise InvalidInput("--out", str(out), "must end in .npz", "choose such a name")
    if keep < 0:
        raise InvalidInput("--keep", keep, "must not be negative", "give a number of iterates")
    check_output(out, "--out", data, start)
    dataset, chosen = io.load_dataset(data, trial), io.load_head(data, head, trial)
    kept = sorted({round(k) for k in np.linspace(0, iterations, keep)}) if keep else None
    run = descend(dataset, parameterization=parameterization, rule=rule, step=step,
                  penalty=penalty, loss=loss, head=chosen, iterations=iterations, keep=kept,
                  progress=True, start=parse_start(start, data, trial, parameterization))
    io.write_atomically(out, lambda stream: np.savez(stream, **_run_arrays(run)))
    of_head = "" if isinstance(chosen, LinearHead) else f"{chosen.name} head, "
    print(f"{run.outcome}: {run.iterations} steps, {of_head}‖W‖ = {np.linalg.norm(run.final):.6g}, "
          f"selected {shown_selection(run.selected)} (observed); run written to {out}")


def _run_arrays(run: Run) -> dict[str, Any]:
    arrays = {"parameterization": run.parameterization, "rule": run.rule, "step": run.step,
              "penalty": run.penalty, "loss": run.loss, "head": run.head.name,
              "iterations": run.iterations, "outcome": str(run.outcome),
              "selected": np.array(run.selected), "W0": run.start, "W": run.final,
              "kept_steps": np.array([k for k, _ in run.kept], dtype=int),
              "kept_W": np.array([W for _, W in run.kept])}
    arrays |= {name: to_float(value) if isinstance(value, fmpq) else np.array(value)
               for name, value in run.head.parameters().items()}
    if isinstance(run, FactoredRun):
        arrays |= {"K0": run.start_K, "Q0": run.start_Q, "K": run.final_K, "Q": run.final_Q,
                   "kept_K": np.array([K for _, K, _ in run.kept_factors]),
                   "kept_Q": np.array([Q for _, _, Q in run.kept_factors])}
    return arrays
