"""One function per certificate kind, named after it, which writes the proof out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from conditions.losses import CUBIC
from conditions.verdict import Verdict
from verifier.report.latex.context import Context
from verifier.report.latex.proofs.enumeration import direction_tree, exceptional_selection
from verifier.report.latex.proofs.general import gen_enclosure, gen_kkt, gen_separator, motzkin
from verifier.report.latex.proofs.global_limits import (
    large_first_step,
    low_norm_limit,
    selection_trap,
    stalled_descent,
)
from verifier.report.latex.proofs.heads import (
    invariant_ray,
    simplex_maximizer,
    simplex_tie,
    top_score_gap,
)
from verifier.report.latex.proofs.limits import (
    basin_cone,
    basin_isotropic,
    basin_residual,
    verified_run,
)
from verifier.report.latex.proofs.nuclear import (
    low_rank_pair,
    nuclear_interval,
    nuclear_optima,
    nuclear_uniqueness,
    rank_one_infeasible,
)
from verifier.report.latex.proofs.ranks import (
    exact_rank,
    independent_factors,
    independent_rows,
    modular_rank,
    row_dependency,
    too_many_rows,
)
from verifier.report.latex.proofs.robust import (
    ball_factors,
    ball_kkt,
    ball_rows,
    ball_separator,
)
from verifier.report.latex.proofs.scores import (
    flat_samples,
    negative_product,
    nonnegative_products,
    optimal_tokens,
    optimum_tie,
    score_gaps,
    score_levels,
    unequal_scores,
    zero_feature,
)
from verifier.report.latex.proofs.search import decision_tree, krawczyk, simplex_cover
from verifier.report.latex.proofs.separation import (
    exact_kkt,
    farkas,
    kkt_enclosure,
    primal_dual,
    query_cycle,
    separator,
    topological_order,
)
from verifier.report.latex.proofs.stationary import (
    all_flat,
    first_step_margins,
    first_step_violation,
    injective_features,
    monotone_direction,
    separable_queries,
    stationary_at_zero,
)

PROOFS: dict[str, Callable[[Context, Verdict, Any], str]] = {each.__name__: each for each in (
    optimal_tokens, optimum_tie, score_levels, unequal_scores, score_gaps, flat_samples,
    separator, farkas, query_cycle, topological_order, exact_kkt, kkt_enclosure, primal_dual,
    gen_separator, motzkin, gen_kkt, gen_enclosure,
    nuclear_interval, nuclear_uniqueness, nuclear_optima, low_rank_pair, rank_one_infeasible,
    independent_rows, independent_factors, row_dependency, too_many_rows, exact_rank, modular_rank,
    first_step_margins, first_step_violation, injective_features, monotone_direction,
    separable_queries, all_flat, stationary_at_zero, decision_tree, krawczyk, simplex_cover,
    direction_tree, exceptional_selection, low_norm_limit, selection_trap, large_first_step,
    nonnegative_products, negative_product, zero_feature,
    ball_separator, ball_kkt, ball_factors, ball_rows,
    top_score_gap, simplex_maximizer, simplex_tie, invariant_ray, stalled_descent,
    basin_isotropic, basin_cone, basin_residual, verified_run)}


_NEED_SLOPE = {"injective_features", "monotone_direction", "separable_queries", "decision_tree"}
_SLOPE = r" No sample that has two scores has $0$ on their range, where alone $\ell'$ vanishes."


def proof(ctx: Context, verdict: Verdict) -> str:
    """The proof of a proved verdict, from its certificate."""
    certificate = verdict.certificate
    assert certificate is not None, "a proved verdict has a certificate"
    text = PROOFS[certificate.kind](ctx, verdict, certificate)
    return text + _SLOPE if verdict.loss == CUBIC and certificate.kind in _NEED_SLOPE else text
