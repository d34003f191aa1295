"""A counterexample made small, while all its certificates still pass."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from verifier.claims.case import Case
from verifier.search.choices import descents
from verifier.search.draft import Draft
from verifier.search.guided import LIMITS, limit_cases, starts_in_other_basin
from verifier.search.problem import Counterexample, Problem

_PROOF_SECONDS = 20.0


@dataclass(frozen=True)
class Shrunk:
    """A small counterexample. ``minimal``: no move leads to a smaller one; else time ran out.

    ``moves`` names the moves that were tried at the end, ``steps`` counts those that were taken.
    """

    found: Counterexample
    minimal: bool
    moves: tuple[str, ...]
    steps: int


def shrink(problem: Problem, found: Counterexample, *, seconds: float = 60.0,
           keep_size: bool = False, progress: Callable[[str], None] | None = None) -> Shrunk:
    """Take every move that makes the counterexample smaller and leaves it one, until none does.

    "Smaller": fewer samples, tokens, coordinates, zero queries and repeated tokens, a simpler loss,
    a smaller rank, a smaller sum of the sizes of all numbers (|p| + 4(q − 1) for p/q), fewer
    negative labels and numbers, canonical order, compared in this order.
    Steps are chosen anew after each move, as the hypotheses about them ask for. keep_size: leave
    out the moves that drop samples, tokens and coordinates.
    """
    deadline = time.monotonic() + seconds
    steps, names = 0, dict[str, None]()
    smaller = True
    while smaller:
        smaller = False
        draft = Draft.of(found.case)
        names = {}
        tried = set()
        for name, moved in draft.moves():
            if keep_size and name.startswith("drop"):
                continue
            names[name] = None
            if not moved.measure < draft.measure or moved.measure in tried:
                continue
            tried.add(moved.measure)
            if time.monotonic() > deadline:
                return Shrunk(found, False, tuple(names), steps)
            better = again(problem, moved.built())
            # A search for descents may have gone back to a larger start.
            if better is not None and Draft.of(better.case).measure < draft.measure:
                found, smaller, steps = better, True, steps + 1
                if progress is not None:
                    size = found.case.dataset
                    progress(f"shrinking: {steps} moves, n = {size.n}, T = {max(size.lengths)}, "
                             f"d = {size.d}")
                break
    return Shrunk(found, True, tuple(names), steps)


def again(problem: Problem, case: Case) -> Counterexample | None:
    """The counterexample on the data of *case*, if it is one; its steps are chosen anew."""
    if not problem.admits(case):
        return None
    for each in _cases(problem, replace(case, seconds=_PROOF_SECONDS)):
        outcome = problem.check(each)
        if isinstance(outcome, Counterexample):
            return outcome
    return None


def _cases(problem: Problem, case: Case) -> Iterator[Case]:
    if not problem.about_descent:
        yield case
    elif problem.refuted_by & LIMITS and case.starts_at_zero:
        yield from limit_cases(problem, case, case.seconds)
        if not problem.refuted_by <= LIMITS:
            yield from descents(problem, case)
    else:
        # From afar only starts that lie in a basin themselves: no run is needed to follow those.
        yield from (each for each in descents(problem, case)
                    if each.rule == case.rule and (not problem.refuted_by & LIMITS
                                                   or starts_in_other_basin(each)))
