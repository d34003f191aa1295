"""Does this run converge in direction to W^mm_α?

Statement
    The recorded run converges in direction to W^mm_α, α the tokens it selects; a run on K and Q to
    the solutions of least nuclear norm.
Hypotheses
    Att-SVM(α) feasible; the theorems that predict it ask for more.
Certificate
    None: the correlation of the last iterate with W^mm_α is an observation.
Decision procedure
    corr = ⟨W, W^mm⟩/(‖W‖‖W^mm‖) in float64; for K and Q, where the optimum need not be unique, also
    ‖W‖_* over its least margin, against the certified lower bound of the optimum. Evidence
    `observed`; always undecided.
Reference
    arXiv 2308.16898 v1, Theorems 4, 6 and 7, section 3.2.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from conditions.dataset import AttentionDataset, FloatArray
from conditions.exact.numbers import to_float
from conditions.selection import Selection, check_selection
from conditions.separation import nuclear
from conditions.separation.frobenius import Infeasible, solve
from conditions.separation.nuclear import NuclearSolution
from conditions.verdict import Verdict, undecided

CONDITION = "predicted_direction"

_NOWHERE = "Att-SVM of the tokens selected is infeasible, so no direction is predicted"


def correlation(W: FloatArray, direction: FloatArray) -> float:
    """⟨W, direction⟩/(‖W‖_F‖direction‖_F) of two (d, d) arrays; 0 if either vanishes."""
    W, direction = _near_one(W), _near_one(direction)
    norms = float(np.linalg.norm(W) * np.linalg.norm(direction))
    return float((W * direction).sum()) / norms if norms else 0.0


def _near_one(W: FloatArray) -> FloatArray:
    """W times the power of two that brings its largest entry near 1: squares stay in range."""
    return np.ldexp(W, -int(np.frexp(np.abs(W).max())[1]))


@dataclass(frozen=True)
class NuclearComparison:
    """How near a W is in direction to a W⋆ of least nuclear norm, in float64: an observation.

    ``correlation``: ⟨W, W⋆⟩/(‖W‖_F‖W⋆‖_F). ``distance``: ‖W/‖W‖_* − W⋆/‖W⋆‖_*‖_F. Both are about
    the W⋆ that was found: where it is not the only optimum (`unique_nuclear_optimum`), the set
    of optima is at most that far. ``excess``: ‖W‖_*/min_it ⟨φ_it, W⟩ over the certified lower
    bound of min ‖W‖_*, minus 1, the certified measure of nearness to the set: 0 only in it; inf
    where W does not separate the selection.
    """

    correlation: float
    excess: float
    distance: float


def nuclear_comparison(optimum: NuclearSolution, W: FloatArray) -> NuclearComparison:
    """Compare *W* (d, d) with *optimum*, a solution of `separation.nuclear`; 0 stays 0 in W/‖W‖_*.

    Source: arXiv 2308.16898 v1, Theorem 2, whose limit set is {W⋆/‖W⋆‖_*}.
    """
    W, best = _near_one(W), _near_one(optimum.float_W)
    size, phi = float(np.linalg.norm(W, "nuc")), optimum.features
    least = float(((phi.float_differences @ W) * phi.float_queries).sum(axis=1).min())
    excess = size / least / to_float(optimum.lower) - 1 if least > 0 else math.inf
    distance = float(np.linalg.norm(W / (size or 1.0) - best / np.linalg.norm(best, "nuc")))
    return NuclearComparison(correlation(W, best), excess, distance)


def decide(dataset: AttentionDataset, selection: Selection, W: FloatArray, loss: str) -> Verdict:
    """Compare the last iterate *W* (d, d) of a run on *loss* with W^mm_α, α = *selection*."""
    selection = check_selection(dataset, selection)
    outcome = solve(dataset, selection)
    if isinstance(outcome, Infeasible):
        return undecided(CONDITION, _NOWHERE, selection=selection, loss=loss)
    if not np.isfinite(outcome.float_W).all():
        return undecided(CONDITION, "W^mm lies beyond the range of floats", selection=selection,
                         loss=loss)
    value = correlation(W, outcome.float_W)
    return undecided(CONDITION, f"observed: correlation 1 − {1 - value:.3g} with W^mm at "
                     f"‖W‖ = {math.hypot(*W.flat):.6g}", observed=True, selection=selection,
                     loss=loss, number=f"1 − corr {1 - value:.2g}")


def decide_factored(dataset: AttentionDataset, selection: Selection, W: FloatArray,
                    loss: str) -> Verdict:
    """Compare the product *W* = KQᵀ (d, d) of a run on K and Q with the least nuclear norm."""
    selection = check_selection(dataset, selection)
    optimum = nuclear.solve(dataset, selection)
    if optimum is None or isinstance(optimum, Infeasible):
        reason = _NOWHERE if optimum else "the nuclear norm problem is beyond the float solver"
        return undecided(CONDITION, reason, selection=selection, loss=loss)
    seen = nuclear_comparison(optimum, W)
    if not seen.excess < math.inf:
        return undecided(CONDITION, "observed: the last iterate does not separate the tokens it "
                         "selects yet", observed=True, selection=selection, loss=loss)
    return undecided(CONDITION, f"observed: ‖W‖_* over its least margin exceeds the certified "
                     f"optimum by {seen.excess:.3g} of it; correlation 1 − "
                     f"{1 - seen.correlation:.3g} with one optimum at ‖W‖ = "
                     f"{np.linalg.norm(W):.6g}", observed=True,
                     selection=selection, loss=loss, number=f"1 − corr {1 - seen.correlation:.2g}")
