"""One function per condition, named after it, which says what its verdict states."""

from __future__ import annotations

from collections.abc import Callable

from conditions.verdict import Verdict
from verifier.report.latex.context import Context
from verifier.report.latex.statements.descent import (
    basin,
    basin_cone,
    first_step_separates,
    invariant_ray,
    large_first_step,
    limit_from_start,
    low_norm_limit,
    no_stationary_point,
    selection_trap,
    stalled_descent,
)
from verifier.report.latex.statements.scores import (
    equal_scores,
    full_rank,
    no_flat_sample,
    nonnegative_features,
    unique_optimum,
)
from verifier.report.latex.statements.selection import (
    all_support,
    assumption_e,
    feasibility,
    local_optimality,
    low_rank_feasibility,
    nuclear_margin,
    rank_bound,
    robust_feasibility,
    robust_full_rank,
    robust_local_optimality,
    robust_support,
    support_indices,
    unique_nuclear_optimum,
)
from verifier.report.latex.statements.selections import (
    assumption_d,
    directions,
    gen_feasibility,
    multi_token_support,
    only_local_optimum,
    simplex_support,
)

STATEMENTS: dict[str, Callable[[Context, Verdict], str]] = {each.__name__: each for each in (
    unique_optimum, equal_scores, no_flat_sample, full_rank, nonnegative_features,
    feasibility, support_indices, all_support, local_optimality, rank_bound, assumption_e,
    robust_feasibility, robust_support, robust_local_optimality, robust_full_rank,
    nuclear_margin, unique_nuclear_optimum, low_rank_feasibility,
    first_step_separates, no_stationary_point, invariant_ray, stalled_descent,
    basin, basin_cone, limit_from_start, low_norm_limit, selection_trap, large_first_step,
    directions, only_local_optimum, assumption_d, gen_feasibility, multi_token_support,
    simplex_support)}


def statement(ctx: Context, verdict: Verdict) -> str:
    """What a proved verdict states."""
    return STATEMENTS[verdict.condition](ctx, verdict)
