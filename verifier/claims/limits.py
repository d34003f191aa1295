"""Where the descent of a case goes, as far as it can be proved from its start.

Each prover answers for one reason why the limit is known. A limit is the direction of W^mm_σ for
one selection σ, or that descent stays where it is, or another direction altogether.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from conditions import (
    basin,
    feasibility,
    invariant_ray,
    large_first_step,
    local_optimality,
    low_norm_limit,
    no_stationary_point,
    nonnegative_features,
    stalled_descent,
    verified_run,
)
from conditions.certificates import ExactKKT, InvariantRay
from conditions.gradient_at_zero import exact_pull
from conditions.losses import CUBIC
from conditions.selection import Selection
from conditions.stationary import vanishing_gradient
from conditions.verdict import Status, Verdict
from verifier.claims.case import Case
from verifier.claims.outcome import Fact, Outcome, from_verdict, joined, undecided
from verifier.claims.steps import below_smoothness

_BUDGET = 1 << 17
"""Steps of a verified run; the seconds of the case end it first where steps are long."""

_PAIRS = 2_000_000
"""Products that the search for an invariant ray may take: a few seconds."""


@dataclass(frozen=True)
class Limit:
    """A proved limit of descent from the start of a case, and what proves it.

    ``selection``: σ where W(k)/‖W(k)‖ → W^mm_σ/‖W^mm_σ‖; None for other limits. For these
    ``excludes(α)`` gives the verdicts that show, with the proof, that W^mm_α has another
    direction, or None where that is not shown. ``diverges``: whether ‖W(k)‖ → ∞.
    ``locally_optimal``: whether the direction is that of a locally optimal selection, if known.
    """

    verdicts: tuple[Verdict, ...]
    facts: tuple[Fact, ...] = ()
    selection: Selection | None = None
    excludes: Callable[[Selection], tuple[Verdict, ...] | None] = lambda alpha: None
    diverges: bool = True
    locally_optimal: bool | None = True

    def outcome(self, holds: bool, *more: Verdict | Fact) -> Outcome:
        """An outcome that this limit proves together with *more*."""
        return Outcome(Status.HOLDS if holds else Status.FAILS,
                       (*self.verdicts, *(part for part in more if isinstance(part, Verdict))),
                       (*self.facts, *(part for part in more if isinstance(part, Fact))))


Answer = Limit | str
"""A limit, or why it is not proved."""

Prover = Callable[[Case], Answer]


def stays(case: Case) -> Answer:
    """Plain descent, or the flow, does not move where the gradient is 0."""
    if case.rule == "normalized" or vanishing_gradient.proof(case.dataset, case.loss) is None:
        return "the start is not seen to be stationary"
    verdict = no_stationary_point.decide(case.dataset, case.loss, budget=0)
    everywhere = verdict.certificate is not None and verdict.certificate.kind == "all_flat"
    if not (everywhere or case.starts_at_zero):
        return "the start is not seen to be stationary"
    fact = Fact("stays", "W(0) is stationary, so W(k) = W(0) for all k"
                + (" and W(k)/‖W(k)‖ is 0/0" if case.starts_at_zero else ""))
    return Limit((verdict,), (fact,), excludes=lambda _: () if case.starts_at_zero else None,
                 diverges=False, locally_optimal=False)


def nonnegative(case: Case) -> Answer:
    """The repaired Theorem 4: no two features of opt pull against each other."""
    if case.rule != "plain":
        return "the repaired Theorem 4 is about plain descent"
    verdict = nonnegative_features.decide(case.dataset)
    bound = below_smoothness(case)
    if not verdict.holds:
        return _open(verdict)
    if not bound.holds:
        return "repaired Theorem 4: η is not shown to be below 2/β"
    return Limit((verdict,), bound.facts, case.opt)


def low_norm(case: Case) -> Answer:
    """The loss of the start is so low that no other selection can be reached."""
    if case.rule == "normalized" or case.step is None or not case.constant_step:
        return "the low-norm limit is about plain descent with one step"
    verdict = low_norm_limit.decide(case.dataset, case.start_matrix(), case.rule, case.step,
                                    case.loss)
    return Limit((verdict,), (), case.opt) if verdict.holds else _open(verdict)


def first_step(case: Case) -> Answer:
    """A first step from 0 that is long enough (repaired Theorem 6)."""
    if (case.rule != "plain" or case.step is None or case.opening_step is None
            or not case.starts_at_zero):
        return "a long first step is one of plain descent from W(0) = 0"
    verdict = large_first_step.decide(case.dataset, case.opening_step, case.step, case.loss)
    return Limit((verdict,), (), case.opt) if verdict.holds else _open(verdict)


def on_ray(case: Case) -> Answer:
    """A line through the start that descent does not leave, to no locally optimal direction."""
    data = case.dataset
    if sum(T * T for T in data.lengths) * data.d**2 > _PAIRS:
        return "the dataset is too large to look for an invariant ray"
    W = case.start_matrix()
    # A line has two directions; descent may turn round on it.
    for direction in [None] if case.starts_at_zero else [W, -W]:
        verdict = invariant_ray.decide(case.dataset, case.loss, direction)
        if verdict.holds:
            break
    certificate = verdict.certificate
    if not isinstance(certificate, InvariantRay):
        return _open(verdict)
    known = isinstance(certificate.exclusion, ExactKKT)

    def excludes(alpha: Selection) -> tuple[Verdict, ...] | None:
        """D is W^mm_α for no α or, if ``known``, for one that is not locally optimal."""
        if not known:
            return ()
        for condition, excluding in ((local_optimality, Status.HOLDS), (feasibility, Status.FAILS)):
            found: Verdict = condition.decide(case.dataset, alpha)
            if found.status is excluding:
                return (found,)
        return None

    fact = Fact("on_ray", "W(0) is a multiple of the direction of the invariant ray")
    return Limit((verdict,), (fact,), excludes=excludes, locally_optimal=False)


def from_start(case: Case) -> Answer:
    """The run itself, repeated in enclosures until it is in a basin."""
    if case.step is None:
        return "no step size is given"
    W = case.start_matrix()
    facts: tuple[Fact, ...] = ()
    if not case.constant_step:
        pull = exact_pull(case.dataset, case.loss)
        if (pull is None or case.opening_step is None or case.rule != "plain"
                or not case.starts_at_zero):
            return "a verified run has one constant step"
        W = pull * (case.opening_step / case.dataset.n)
        facts = (Fact("first_step", "W(1) = −η₀∇L(0) is rational; the run starts there"),)
    if case.rule == "flow":
        # Only the start itself can be tested: the flow is not a run.
        for alpha in dict.fromkeys([case.selection, case.opt]):
            verdict = basin.decide(case.dataset, alpha, W, "flow", 0, case.loss)
            if verdict.holds:
                return Limit((verdict,), (), alpha)
        return _open(verdict)
    verdict = verified_run.decide(case.dataset, W, case.rule, case.step, case.loss,
                                  budget=_BUDGET, seconds=case.seconds)
    return Limit((verdict,), facts, verdict.selection) if verdict.holds else _open(verdict)


def stalls(case: Case) -> Answer:
    """A first step from 0 ends just before the zero of ℓ' of the cubic loss."""
    if (case.rule != "plain" or case.step is None or case.opening_step is None
            or not case.starts_at_zero):
        return "a first step that stalls is one of plain descent from W(0) = 0"
    verdict = stalled_descent.decide(case.dataset, case.opening_step, case.step, case.loss)
    if not verdict.holds:
        return _open(verdict)
    return Limit((verdict,), excludes=lambda alpha: () if alpha == case.opt else None,
                 diverges=False, locally_optimal=None)


PROVERS: tuple[Prover, ...] = (stays, nonnegative, low_norm, first_step, on_ray, from_start)
"""Tried in this order, cheap ones first, for losses with ℓ' < 0."""

SKEPTICAL_PROVERS: tuple[Prover, ...] = (stays, on_ray, from_start)
"""Those that follow the descent of the case itself."""

CUBIC_PROVERS: tuple[Prover, ...] = (stays, stalls)
"""The same for the cubic loss."""


@lru_cache(maxsize=64)
def limit(case: Case) -> Limit | tuple[str, ...]:
    """The first limit that is proved, or why none is. Cached: claims share the work."""
    reasons = []
    provers = SKEPTICAL_PROVERS if case.skeptical else PROVERS
    for prover in CUBIC_PROVERS if case.loss == CUBIC else provers:
        answer = prover(case)
        if isinstance(answer, Limit):
            return answer
        reasons.append(answer)
    return tuple(reasons)


def limit_is(case: Case, alpha: Selection) -> Outcome:
    """Whether W(k)/‖W(k)‖ → W^mm_α/‖W^mm_α‖."""
    found = limit(case)
    if not isinstance(found, Limit):
        return undecided(*found)
    if found.selection == alpha:
        return found.outcome(True)
    if found.selection is not None:
        i = next(i for i, (a, b) in enumerate(zip(found.selection, alpha, strict=True)) if a != b)
        s, t = found.selection[i], alpha[i]
        other = Fact("two selections, two directions",
                     f"in sample {i} the limit has a positive margin of token {s} over token {t}; "
                     f"any W^mm of {list(alpha)} has a negative one")
        return found.outcome(False, other)
    others = found.excludes(alpha)
    if others is not None:
        return found.outcome(False, *others)
    return undecided(f"the limit is known but not compared with W^mm of {list(alpha)}")


def limit_is_locally_optimal(case: Case, _: Selection) -> Outcome:
    """Whether W(k)/‖W(k)‖ has the direction of W^mm_α of a locally optimal α as its limit."""
    found = limit(case)
    if not isinstance(found, Limit):
        return undecided(*found)
    if found.locally_optimal is None:
        return undecided("descent stays bounded; its limit is not known")
    return found.outcome(found.locally_optimal)


def norm_diverges(case: Case, _: Selection) -> Outcome:
    """Whether ‖W(k)‖ → ∞.

    With η < 2/β the loss falls by at least η(1 − ηβ/2)‖∇L(W(k))‖² a step and is bounded below, so
    ∇L(W(k)) → 0, and a bounded subsequence would have a stationary point as a limit.
    """
    if case.rule == "plain" and below_smoothness(case).holds:
        verdict = no_stationary_point.decide(case.dataset, case.loss)
        if verdict.holds:
            return joined(Status.HOLDS, [from_verdict(verdict), below_smoothness(case)])
    found = limit(case)
    return found.outcome(found.diverges) if isinstance(found, Limit) else undecided(*found)


def _open(verdict: Verdict) -> str:
    return f"{verdict.condition}: {verdict.reason}"
