"""The registry of certificate kinds: the function that checks each.

A function reads its certificate field by field and returns what is `Proved`, or raises `Refusal`.
Which kind proves what is the business of `verifier.kernel.statements`.
"""

from __future__ import annotations

from collections.abc import Callable

from ..claim import Claim, Proved
from ..reading import Node
from .cone import basin_cone, basin_isotropic
from .decision_tree import decision_tree
from .direction_tree import direction_tree
from .enclosure import kkt_enclosure, modular_rank
from .exceptional_selection import exceptional_selection
from .feasibility import farkas, query_cycle, separator, topological_order
from .first_step import first_step_margins, first_step_violation, stationary_at_zero
from .general import gen_kkt, gen_separator, motzkin
from .general_enclosure import gen_enclosure
from .global_limits import large_first_step, low_norm_limit, selection_trap
from .heads import simplex_maximizer, simplex_tie, top_score_gap
from .invariant_ray import invariant_ray
from .kkt import exact_kkt, exact_rank, primal_dual
from .krawczyk import krawczyk
from .nuclear import low_rank_pair, nuclear_interval, nuclear_optima, rank_one_infeasible
from .nuclear_uniqueness import nuclear_uniqueness
from .products import negative_product, nonnegative_products, zero_feature
from .ranks import independent_factors, independent_rows, row_dependency, too_many_rows
from .residual import basin_residual
from .robust import ball_factors, ball_kkt, ball_rows, ball_separator
from .scores import (
    flat_samples,
    optimal_tokens,
    optimum_tie,
    score_gaps,
    score_levels,
    unequal_scores,
)
from .simplex_cover import simplex_cover
from .stalled_descent import stalled_descent
from .stationary import all_flat, injective_features, monotone_direction, separable_queries
from .verified_run import verified_run

KINDS: dict[str, Callable[[Claim, Node], Proved]] = {check.__name__: check for check in (
    optimal_tokens, optimum_tie, score_levels, unequal_scores, score_gaps, flat_samples,
    separator, farkas, query_cycle, topological_order,
    exact_kkt, kkt_enclosure, primal_dual,
    gen_separator, motzkin, gen_kkt, gen_enclosure,
    top_score_gap, simplex_maximizer, simplex_tie,
    nuclear_interval, nuclear_uniqueness, nuclear_optima, low_rank_pair, rank_one_infeasible,
    independent_rows, independent_factors, row_dependency, too_many_rows, exact_rank, modular_rank,
    first_step_margins, first_step_violation,
    injective_features, monotone_direction, separable_queries, all_flat, stationary_at_zero,
    decision_tree, krawczyk, simplex_cover, direction_tree, exceptional_selection,
    ball_separator, ball_kkt, ball_factors, ball_rows,
    low_norm_limit, selection_trap, large_first_step, stalled_descent,
    nonnegative_products, negative_product, zero_feature, invariant_ray,
    basin_isotropic, basin_residual, basin_cone, verified_run)}
