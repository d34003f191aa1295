"""Where does descent go from here? Proofs about the limit of a run, beside what it shows."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from flint import fmpq

from conditions import (
    basin,
    invariant_ray,
    large_first_step,
    low_norm_limit,
    selection_trap,
    verified_run,
)
from conditions.dataset import AttentionDataset, FloatArray
from conditions.exact.numbers import round_dyadic
from conditions.selection import optimal_selection
from conditions.separation.frobenius import Infeasible, solve
from conditions.smoothness import smoothness, within_range
from conditions.verdict import Verdict, undecided
from verifier.descent import LINEAR_HEAD, FactoredRun, Outcome, Run, descend

_FIRST_BLOCK = 125

_MOST_PRODUCTS = 500_000
"""Exact products up to which a ray is looked for: about a second."""
LIMITS = tuple(each.CONDITION for each in (basin, verified_run, invariant_ray, low_norm_limit,
                                           selection_trap, large_first_step))
"""The conditions that `limits` is about."""


def limits(dataset: AttentionDataset, run: Run, seconds: float,
           from_start: bool = False) -> Iterator[Verdict]:
    """What can be proved about the limit of descent from the iterates of *run*.

    The basin is tried at the final iterate, then the run is continued with its own rule and
    step, doubling, until a basin holds or *seconds* are over. The low-norm limit and the trap are
    about plain GD: with the run's step if it is plain, else with step 1/β, which they say.
    *from_start*: also repeat the run in enclosures from its exact start, so that the limit is
    that of exact descent from W(0) and not only from a recorded iterate; for small data. Whether
    exact descent from W(0) = 0 runs along a ray is told where it does.
    All of them are about descent on W, for the linear head and on the loss alone: for another
    run the basin is undecided and says so.
    """
    what = ("on K and Q" if isinstance(run, FactoredRun) else "with a penalty" if run.penalty
            else "with a resolution" if run.resolution
            else "" if run.head == LINEAR_HEAD else f"with the {run.head.name} head")
    if what:
        yield undecided(basin.CONDITION, f"the run is descent {what}: the theorems about limits "
                        "(basins, low norms, traps) are about descent on W, for the linear head, "
                        "without a penalty", selection=run.selected, loss=run.loss)
        return
    yield _basin(dataset, run, seconds)
    if from_start:
        yield verified_run.decide(dataset, run.start, run.rule, run.step, run.loss,
                                  seconds=seconds)
    pairs = sum(T * T for T in dataset.lengths)
    if not run.start.any() and pairs * dataset.d**2 <= _MOST_PRODUCTS:
        ray = invariant_ray.decide(dataset, run.loss)
        # The run itself leaves the ray by rounding: only the exact path from 0 stays on it.
        if ray.holds:
            yield ray
    plain = run.rule == "plain"
    if not plain and (run.selected != optimal_selection(dataset)
                      or not within_range(dataset, run.loss)):
        return
    # L is constant where β = 0; any step is short then.
    beta = smoothness(dataset, run.loss)
    step = run.step if plain else round_dyadic(1 / beta, 20) if beta else fmpq(1)
    for about_opt in (low_norm_limit, selection_trap):
        yield about_opt.decide(dataset, run.final, "plain", step, run.loss)
    if plain and not run.start.any():
        yield large_first_step.decide(dataset, run.step, run.step, run.loss)


def _basin(dataset: AttentionDataset, run: Run, seconds: float) -> Verdict:
    """The basin that the run, continued if need be, was proved to have entered."""
    deadline = time.monotonic() + seconds
    last, steps, infeasible = run, run.iterations, 0
    while True:
        verdict = basin.decide(dataset, last.selected, last.final, run.rule, run.step, run.loss)
        said = replace(verdict, reason=f"{_place(run, last.final, steps)}: {verdict.reason}")
        infeasible += isinstance(solve(dataset, last.selected), Infeasible)
        left = deadline - time.monotonic()
        # Two checks in a row, far apart, without a direction to go to: more steps are in vain.
        # A run that was interrupted or does not move any more is not continued either.
        ended = last.outcome is not Outcome.COMPLETED
        if verdict.holds or left <= 0 or infeasible > 1 or ended:
            return said
        last = descend(dataset, rule=run.rule, step=run.step, loss=run.loss,
                       iterations=max(steps, _FIRST_BLOCK), start=last.final, seconds=left)
        steps += last.iterations


def _place(run: Run, W: FloatArray, steps: int) -> str:
    return (f"from the recorded iterate, the run {'' if W is run.final else 'continued '}to step "
            f"{steps}, ‖W‖ = {np.linalg.norm(W):.4g}")
