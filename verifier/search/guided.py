"""Where the conclusion is about the limit of descent: look first in floats, then prove."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from conditions import basin, invariant_ray
from conditions.exact.numbers import to_float
from conditions.losses import CUBIC
from conditions.stationary import vanishing_gradient
from verifier.claims.case import Case
from verifier.descent import descend
from verifier.search.choices import descents, far_starts
from verifier.search.problem import Problem

LIMITS = frozenset({"limit_is", "limit_is_opt", "limit_is_locally_optimal", "norm_diverges"})
"""Predicates about the limit of a descent."""

_LONGEST = {"plain": 1 << 17, "normalized": 1 << 12}
"""The steps that a run may take until floats see it in a basin."""


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


def leaves_opt(case: Case) -> bool:
    """Whether in floats descent from 0 enters a basin of another selection than opt."""
    if case.step is None or not case.constant_step:
        return False
    run = descend(case.dataset, rule=case.rule, step=to_float(case.step), loss=case.loss,
                  iterations=_LONGEST[case.rule], seconds=5.0)
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
