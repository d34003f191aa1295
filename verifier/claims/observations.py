"""What runs show of a claim whose conclusion is not certified: figures, all of them observed."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from conditions import predicted_direction
from conditions.dataset import FloatArray
from conditions.exact.numbers import to_float
from conditions.losses import LOSSES
from conditions.separation.frobenius import Infeasible, solve
from verifier import multi_token
from verifier.claims.assessment import Assessment, Finding
from verifier.claims.case import Case
from verifier.claims.claim import Claim
from verifier.descent import Run, descend
from verifier.descent.loss import loss_named
from verifier.path import PathPoint, regularization_path

_SCALES = (1, 10, 100, 1000)
_RADII, _STARTS = 5, 3

Observer = Callable[[Case, int], tuple[str, ...]]
"""(case, iterations of a run) ↦ lines."""


def observe(assessment: Assessment, iterations: int = 2000) -> tuple[str, ...]:
    """Lines about a run of the case, or how else the claim is observed.

    Descent is run for claims about descent whose conclusion the assessment leaves undecided. ()
    where there is nothing to observe, and where the claim does not apply.
    """
    claim, case = assessment.claim, assessment.case
    if assessment.finding is Finding.NOT_APPLICABLE:
        return ()
    if claim.observed_by in OBSERVERS and case.loss not in LOSSES:
        return (f"nothing is run with the {case.loss} loss",)
    if claim.observed_by in OBSERVERS:
        return OBSERVERS[claim.observed_by](case, iterations)
    if claim.observed_by:
        return (f"observed by: {claim.observed_by}",)
    undecided = assessment.conclusion is not None and assessment.conclusion.undecided
    return _descent(case, iterations) if undecided and _about_descent(claim) else ()


def _about_descent(claim: Claim) -> bool:
    return claim.conclusion is not None and any(
        "W(0)" in atom.predicate.about for atom in claim.conclusion.atoms())


def _run(case: Case, iterations: int) -> Run | str:
    """The descent of the case in floats, or why there is none."""
    if case.rule == "flow":
        return "gradient flow is not run"
    if case.step is None or not case.constant_step:
        return "a run needs one constant step"
    if case.loss not in LOSSES:
        return f"descent is not run with the {case.loss} loss"
    start = np.array([[to_float(x) for x in row] for row in case.start])
    return descend(case.dataset, rule=case.rule, step=to_float(case.step), loss=case.loss,
                   iterations=iterations, start=start)


def _descent(case: Case, iterations: int) -> tuple[str, ...]:
    """Which tokens the run selects, and its correlation with their W^mm and with W^mm_opt."""
    run = _run(case, iterations)
    if isinstance(run, str):
        return (run,)
    lines = [f"observed: {run.rule} descent selects {list(run.selected)} after {run.iterations} "
             f"steps, ‖W‖ = {np.linalg.norm(run.final):.6g}; opt = {list(case.opt)}"]
    for alpha in dict.fromkeys([run.selected, case.opt]):
        verdict = predicted_direction.decide(case.dataset, alpha, run.final, case.loss)
        lines.append(f"α = {list(alpha)}: {verdict.reason}")
    return tuple(lines)


def _path(parameterization: str, cone: float | None) -> Observer:
    """The regularization path against its prediction; local, in the cone of α, if *cone* is 0."""
    def observed(case: Case, _: int) -> tuple[str, ...]:
        alpha = case.opt if cone is None else case.selection
        path = regularization_path(case.dataset, parameterization=parameterization, loss=case.loss,
                                   selection=alpha, cone=cone, radii=_RADII, starts=_STARTS)
        return tuple(f"observed: path at R = {point.R:.4g} selects {list(point.selected)}, "
                     + _compared(point) for point in path.points)
    return observed


def _compared(point: PathPoint) -> str:
    if point.set_excess is not None:
        return f"‖W‖_* over its least margin exceeds the optimum by {point.set_excess:.3g} of it"
    if point.correlation is None:
        return "W^mm lies beyond the range of floats"
    return f"correlation 1 − {1 - point.correlation:.3g} with W^mm"


def _loss(case: Case, _: int) -> tuple[str, ...]:
    """L(RW) − L_* along W^mm_opt for growing R."""
    outcome = solve(case.dataset, case.opt)
    if isinstance(outcome, Infeasible):
        return ("Att-SVM(opt) is infeasible: there is no W to follow",)
    figures = [f"{_excess(case, scale * outcome.float_W):.3g} at R = {scale}" for scale in _SCALES]
    return ("observed: L(R·W^mm) − L_* = " + ", ".join(figures),)


def _excess(case: Case, W: FloatArray) -> float:
    """L(W) − L_*, in floats: the mean of ℓ(f_i) − ℓ(γ_iopt)."""
    loss = loss_named(case.loss)
    scores = [np.array([to_float(x) for x in row]) for row in case.dataset.scores]
    weights = multi_token.softmax_weights(case.dataset, W)
    return float(np.mean([loss.value(s @ row) - loss.value(row.max())
                          for s, row in zip(weights, scores, strict=True)]))


def _token_sets(case: Case, iterations: int) -> tuple[str, ...]:
    """The prediction of Gen-SVM for the sets of the case, or those that the run selects."""
    run = _run(case, iterations)
    if isinstance(run, str):
        return (run,)
    found = multi_token.observed_sets(case.dataset, run.final)
    sets = case.token_sets or found.sets
    if sets is None:
        return (f"observed: after {run.iterations} steps {len(found.between)} tokens are neither "
                "selected nor masked; give the sets, or more iterations",)
    seen = multi_token.observe(case.dataset, run.final, sets,
                               multi_token.head_loss(case.dataset, case.loss))
    if seen.direction is None or seen.beyond is None:
        return (f"observed: sets {[list(one) for one in sets]}; Gen-SVM gives no direction",)
    return (f"observed: sets {[list(one) for one in sets]}, correlation of W with W^mm "
            f"{seen.direction:.6f}, of W without its part in S_fin {seen.beyond:.6f}; distance of "
            f"that part from W^fin {seen.distance:.3g}",)


OBSERVERS: dict[str, Observer] = {
    "loss": _loss, "token sets": _token_sets, "regularization path": _path("W", None),
    "path of K and Q": _path("KQ", None), "local path": _path("W", 0.0)}
"""By the name that a claim gives in ``observed_by``; any other name is a command or a script."""
