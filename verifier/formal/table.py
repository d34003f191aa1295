"""Which verdicts have a formal statement: by condition, status and kind of certificate."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from conditions.losses import CUBIC
from conditions.verdict import Status, Verdict
from verifier.formal import limits, ranks, scores, separation, solutions
from verifier.formal.claims import Claim, Subject

Maker = Callable[[Subject], Claim]

_FARKAS: Mapping[str, Maker] = {"farkas": separation.farkas}
_INFEASIBLE: Mapping[str, Maker] = {**_FARKAS, "query_cycle": separation.query_cycle}
_KKT: Mapping[str, Maker] = {"exact_kkt": solutions.exact_kkt,
                             "kkt_enclosure": solutions.kkt_enclosure}
_PAIR: Mapping[str, Maker] = {"primal_dual": solutions.primal_dual}

TABLE: Mapping[str, tuple[Mapping[str, Maker], Mapping[str, Maker]]] = {
    # Condition: the kinds by which it holds, and by which it fails.
    "unique_optimum": ({"optimal_tokens": scores.optimal_tokens},
                       {"optimum_tie": scores.optimum_tie}),
    "equal_scores": ({"score_levels": scores.score_levels},
                     {"unequal_scores": scores.unequal_scores}),
    "no_flat_sample": ({"score_gaps": scores.score_gaps}, {"flat_samples": scores.flat_samples}),
    "feasibility": ({"separator": separation.separator,
                     "topological_order": separation.topological_order}, _INFEASIBLE),
    "support_indices": (_KKT, _FARKAS),
    "all_support": (_KKT, {**_KKT, **_PAIR, **_FARKAS}),
    "local_optimality": ({**_KKT, **_PAIR}, {**_KKT, **_FARKAS}),
    "rank_bound": ({}, _FARKAS),
    "full_rank": ({"independent_rows": ranks.independent_rows,
                   "independent_factors": ranks.independent_factors},
                  {"row_dependency": ranks.row_dependency, "too_many_rows": ranks.row_dependency}),
    "no_stationary_point": ({"injective_features": ranks.injective_features,
                             "monotone_direction": ranks.monotone_direction,
                             "separable_queries": ranks.separable_queries}, {}),
    "low_norm_limit": ({"low_norm_limit": limits.low_norm_limit}, {}),
    "selection_trap": ({"selection_trap": limits.selection_trap}, {}),
    "nuclear_margin": ({}, _INFEASIBLE),
    "unique_nuclear_optimum": ({}, _INFEASIBLE),
    "low_rank_feasibility": ({"low_rank_pair": separation.low_rank_pair}, _INFEASIBLE),
}


def maker(verdict: Verdict) -> Maker | None:
    """What makes the claim of *verdict*, or None if its kind has no theorem.

    The theorems are about losses with ℓ' < 0 everywhere.
    """
    if (verdict.certificate is None or verdict.condition not in TABLE
            or verdict.loss == CUBIC):
        return None
    return TABLE[verdict.condition][verdict.status is Status.FAILS].get(verdict.certificate.kind)


def covered(verdict: Verdict) -> bool:
    """Whether the verdict is of a kind that Coq can check (see docs/formal.md)."""
    return maker(verdict) is not None
