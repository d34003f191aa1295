"""Where the conclusion is about the limit of descent: look first in floats, then prove."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from conditions import basin, invariant_ray
from conditions.exact.numbers import to_float
from conditions.losses import CUBIC
from conditions.stationary import vanishing_gradient
from verifier.claims.case import Case
from verifier.descent import descend, gradient
from verifier.search.choices import descents, far_starts
from verifier.search.problem import Problem

LIMITS = frozenset({"limit_is", "limit_is_opt", "limit_is_locally_optimal", "norm_diverges"})
"""Predicates about the limit of a descent."""

_LONGEST = {"plain": 1 << 17, "normalized": 1 << 12}
"""The steps that a run may take until floats see it in a basin."""

_STARTS = 3


def limit_cases(problem: Problem, case: Case, seconds: float) -> Iterator[Case]:
    """The descents on the dataset of *case* whose limit may refute the claim.

    From 0 where descent stays there or runs along a ray. Else from far out, towards another locally
    optimal selection, where W(0) is free; or from 0 where floats see it enter such a basin.
    seconds: budget of each proof.
    """
    chosen = list(descents(problem, case))
    towards = bool(problem.refuted_by & {"limit_is", "limit_is_opt"})
    if case.loss == CUBIC:
        # Its descents are not run: they stay where they start, or come to a halt.
        yield from (replace(each, seconds=seconds) for each in chosen if each.starts_at_zero)
        return
    exact = (vanishing_gradient.proof(case.dataset, case.loss) is not None
             or invariant_ray.decide(case.dataset, case.loss).holds)
    for each in chosen:
        if exact:
            yield replace(each, seconds=seconds)
        elif towards and "starts_at_zero" not in problem.demanded:
            for started in far_starts(each, seconds):
                yield replace(started, seconds=seconds)
        elif towards and leaves_opt(each):
            yield replace(each, seconds=seconds)
    if towards and problem.skeptical and not exact:
        yield from _from_random_starts(problem, chosen, seconds)


def _from_random_starts(problem: Problem, chosen: Sequence[Case], seconds: float
                        ) -> Iterator[Case]:
    """The descents from a few random W(0), or from W(1), that floats see in another basin."""
    for each in chosen:
        if "starts_at_zero" not in problem.demanded:
            rng = np.random.default_rng(_STARTS)
            shape = (_STARTS, each.dataset.d, each.dataset.d)
            starts = [each.with_start(W.tolist()) for W in rng.integers(-8, 9, size=shape)]
        else:
            starts = [each]
        for start in starts:
            if leaves_opt(start):
                yield replace(start, seconds=seconds)


def leaves_opt(case: Case) -> bool:
    """Whether in floats descent enters a basin of another selection than opt."""
    if case.step is None or case.opening_step is None:
        return False
    W = np.array([[to_float(x) for x in row] for row in case.start])
    if not case.constant_step:
        W -= to_float(case.opening_step) * gradient(case.dataset, W, case.loss).value
    run = descend(case.dataset, rule=case.rule, step=to_float(case.step), loss=case.loss,
                  iterations=_LONGEST[case.rule], start=W, seconds=5.0)
    return run.selected != case.opt and basin.decide(
        case.dataset, run.selected, run.final, case.rule, case.step, case.loss).holds


def starts_in_other_basin(case: Case) -> bool:
    """Whether W(0) lies in a basin of another selection than opt."""
    if case.step is None or case.loss == CUBIC:
        return False
    W = np.array([[to_float(x) for x in row] for row in case.start])
    view = case.dataset.floats
    alpha = tuple(int(np.argmax(tokens @ W @ query))
                  for tokens, query in zip(view.tokens, view.queries, strict=True))
    return alpha != case.opt and basin.decide(case.dataset, alpha, case.start, case.rule,
                                              case.step, case.loss).holds
