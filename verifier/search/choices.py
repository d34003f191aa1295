"""The cases of a dataset: selections, ranks, token sets, losses, steps and starts to try."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations, islice, product
from math import gcd, prod

from flint import fmpq, fmpz

from conditions import basin, directions
from conditions.dataset import AttentionDataset
from conditions.exact.numbers import round_dyadic
from conditions.large_first_step import sufficient_first_step
from conditions.losses import CUBIC, LOSSES
from conditions.selection import features
from conditions.separation.frobenius import ExactSolution, Infeasible, solve, solve_exactly
from conditions.simplex_support import lemma_6_interval
from conditions.smoothness import smoothness, within_range
from conditions.stalled_descent import stalling_first_step
from verifier.claims.case import Case
from verifier.claims.steps import longest_lemma4_step
from verifier.search.problem import STEPS, Problem

SEARCH_LOSSES = (*sorted(LOSSES), CUBIC)
"""Correlation first: its gradients are rational at 0 and along rays."""

MAX_SELECTIONS = 64
_LONG_STEPS = (fmpq(1), fmpq(16), fmpq(256))
_DOUBLINGS = 12
_SHARES = (fmpq(1, 2), fmpq(1, 64), fmpq(63, 64))
_BEYOND = (fmpq(1, 64), fmpq(64))


def losses(problem: Problem) -> tuple[str, ...]:
    """The losses to try: one if no predicate is about ℓ; the cubic one where ℓ' < 0 is dropped.

    It is left out elsewhere: with it alone a claim fails for a reason that others do not share.
    """
    if "ℓ" not in problem.about:
        return SEARCH_LOSSES[:1]
    return (CUBIC,) if "decreasing_loss" in problem.let_go else SEARCH_LOSSES[:-1]


def variants(problem: Problem, base: Case) -> Iterator[Case]:
    """*base* with every α, m and O_i, and some λ, that the claim may be about; opt first.

    For factors of m columns the screens see opt alone, and so do the cases.
    """
    dataset = base.dataset
    selections = [base.opt]
    if (problem.about_selection and prod(dataset.lengths) <= MAX_SELECTIONS
            and "low_rank_feasible" not in problem.refuted_by):
        selections += [alpha for alpha in product(*map(range, dataset.lengths))
                       if alpha != base.opt]
    lambdas = list(_lambdas(dataset)) if "λ" in problem.about else [None]
    ranks = range(1, dataset.d + 1) if "m" in problem.about else [None]
    sets = list(_token_sets(dataset)) if "O_i" in problem.about else [None]
    for alpha in selections:
        for rank in ranks:
            for chosen in sets:
                for lam in lambdas:
                    yield replace(base, selection=alpha, rank=rank, token_sets=chosen, lam=lam)


def _lambdas(dataset: AttentionDataset) -> Iterator[fmpq]:
    """Within the intervals of Lemma 6, near their ends too, and beyond all of them."""
    scores = dataset.scores[0]
    intervals = [ends for tau in range(2, len(scores))
                 if (ends := lemma_6_interval(scores, tau)) and ends[0] < ends[1]]
    for low, high in intervals:
        yield from (low + (high - low) * share for share in _SHARES)
    spread = max(scores) - min(scores)
    yield from (factor * spread for factor in _BEYOND if spread)


def _token_sets(dataset: AttentionDataset) -> Iterator[tuple[tuple[int, ...], ...]]:
    each = [[c for size in range(1, T + 1) for c in combinations(range(T), size)]
            for T in dataset.lengths]
    return islice(product(*each), MAX_SELECTIONS)


# Rules and steps ----------------------------------------------------------------------------------


def descents(problem: Problem, case: Case) -> Iterator[Case]:
    """*case* with rules and steps that meet the hypotheses about them, where some exist."""
    names = problem.demanded
    plain = list(_plain_steps(problem, case))
    if not names & (STEPS - {"constant_step"}):
        yield replace(case, rule="normalized", step=fmpq(1, 10), first_step=None)
    yield from plain


def _plain_steps(problem: Problem, case: Case) -> Iterator[Case]:
    names, dataset = problem.demanded, case.dataset
    base = replace(case, rule="plain", step=None, first_step=None)
    if not within_range(dataset, case.loss):
        return
    beta = smoothness(dataset, case.loss)
    below = round_dyadic(fmpq(3, 2) / beta, 8) if beta else fmpq(1)
    if "step_within_lemma4" in names:
        longest = longest_lemma4_step(base)
        steps = [below if longest is None else longest]
    elif "step_below_smoothness" in names:
        steps = [below]
    else:
        steps = [below * factor for factor in _LONG_STEPS]
    for step in steps:
        if "first_step_within_theorem6" in names:
            step = min(step, _within_theorem6(base) or step)
        first = None
        if names & {"first_step_sufficient", "large_first_step"} and "constant_step" not in names:
            first = sufficient_first_step(dataset, case.loss)
            # One constant step will do if it is long enough, and more is known about those.
            first = None if first is None or first <= step else first
        yield replace(base, step=step, first_step=first)
        if case.loss == CUBIC and "constant_step" not in names:
            stalling = stalling_first_step(dataset, first or step, step)
            if stalling is not None:
                yield replace(base, step=step, first_step=stalling)


def _within_theorem6(case: Case) -> fmpq | None:
    """A power of 2 that is at most 1/‖W^mm_opt‖_F."""
    outcome = solve(case.dataset, case.opt)
    if isinstance(outcome, Infeasible):
        return None
    bits = 0
    while fmpq(4) ** -bits * outcome.norm_squared[1] > 1:
        bits += 1
    return fmpq(2) ** -bits


# Starts -------------------------------------------------------------------------------------------


def far_starts(case: Case, seconds: float) -> Iterator[Case]:
    """*case* from integer multiples of W^mm_α, α ≠ opt locally optimal, that lie in its basin."""
    if case.step is None:
        return
    found = directions.enumerate_directions(case.dataset, seconds=seconds)
    for direction in found.directions:
        if direction.selection == case.opt:
            continue
        solution = solve_exactly(features(case.dataset, direction.selection))
        assert isinstance(solution, ExactSolution), "a locally optimal selection is feasible"
        ray = _primitive(solution)
        for k in range(_DOUBLINGS):
            start = tuple(tuple(x * (1 << k) for x in row) for row in ray)
            if basin.decide(case.dataset, direction.selection, start, case.rule, case.step,
                            case.loss).holds:
                yield case.with_start(start)
                break


def _primitive(solution: ExactSolution) -> tuple[tuple[fmpq, ...], ...]:
    """The shortest integer matrix on the ray of W^mm."""
    integers, _ = solution.W.numer_denom()
    common = gcd(*(int(x) for x in integers.entries()))
    return tuple(tuple(fmpq(x, fmpz(common)) for x in row) for row in integers.tolist())
