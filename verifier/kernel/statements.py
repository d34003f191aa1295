"""The conditions: what each says, what marks it has, and which kinds prove which status."""

from __future__ import annotations

from dataclasses import dataclass

from .claim import Claim

LOSSES = ("logistic", "exponential", "correlation")
STATUSES = ("holds", "fails", "undecided")


@dataclass(frozen=True)
class Condition:
    """A condition: its statement and negation, the kinds for either, and its marks.

    ``about_selection`` is the mark α of the specification, ``about_loss`` its mark ℓ.
    """

    holds: str
    fails: str
    holds_by: tuple[str, ...]
    fails_by: tuple[str, ...]
    about_selection: bool = False
    about_loss: bool = False


_KKT = ("exact_kkt", "kkt_enclosure")

CONDITIONS: dict[str, Condition] = {
    "unique_optimum": Condition(
        "in every sample one token has the strictly largest score",
        "in some sample several tokens share the largest score",
        ("optimal_tokens",), ("optimum_tie",)),
    "equal_scores": Condition(
        "in every sample all tokens below the largest score share one score",
        "in some sample two tokens below the largest score have different scores",
        ("score_levels",), ("unequal_scores",)),
    "no_flat_sample": Condition(
        "in every sample two tokens differ in score",
        "in some sample all tokens have the same score",
        ("score_gaps",), ("flat_samples",)),
    "feasibility": Condition(
        "some W has all margins ≥ 1", "no W has all margins ≥ 1",
        ("separator", "topological_order"), ("farkas", "query_cycle"), about_selection=True),
    "support_indices": Condition(
        "W^mm_α exists, and these are all its support indices and its squared norm",
        "W^mm_α does not exist",
        _KKT, ("farkas",), about_selection=True),
    "all_support": Condition(
        "W^mm_α exists and every row is a support index",
        "W^mm_α does not exist, or some row is no support index",
        _KKT, (*_KKT, "primal_dual", "farkas"), about_selection=True),
    "local_optimality": Condition(
        "W^mm_α exists and every support index scores below its selected token",
        "W^mm_α does not exist, or some support index scores no less than its selected token",
        (*_KKT, "primal_dual"), (*_KKT, "farkas"), about_selection=True),
    "full_rank": Condition(
        "the features are linearly independent, for every selection",
        "the features are linearly dependent, for every selection",
        ("independent_rows", "independent_factors"), ("row_dependency", "too_many_rows")),
    "rank_bound": Condition(
        "W^mm_α exists, and its rank, at most min(n, d), is this",
        "W^mm_α does not exist",
        ("exact_rank", "modular_rank"), ("farkas",), about_selection=True),
    "robust_feasibility": Condition(
        "whenever all entries of X, z and v are within ε of these, some W has all margins ≥ 1",
        "no W has all margins ≥ 1, so no ε > 0 will do",
        ("ball_separator",), ("farkas", "query_cycle"), about_selection=True),
    "robust_support": Condition(
        "whenever all entries of X, z and v are within ε of these, W^mm_α exists with these "
        "support indices",
        "W^mm_α does not exist, so no ε > 0 will do",
        ("ball_kkt",), ("farkas",), about_selection=True),
    "robust_local_optimality": Condition(
        "whenever all entries of X, z and v are within ε of these, α is locally optimal",
        "α is not locally optimal, so no ε > 0 will do",
        ("ball_separator", "ball_kkt"), (*_KKT, "farkas"), about_selection=True),
    "robust_full_rank": Condition(
        "whenever all entries of X, z and v are within ε of these, the features are linearly "
        "independent, for every selection",
        "the features are linearly dependent, so no ε > 0 will do",
        ("ball_factors", "ball_rows"), ("row_dependency", "too_many_rows")),
    "first_step_separates": Condition(
        "every optimal token is unique and every margin of -∇L(0) is > 0 for the optimal selection",
        "an optimal token is not unique, or a margin of -∇L(0) is ≤ 0 for the optimal selection",
        ("first_step_margins",), ("first_step_violation", "optimum_tie"), about_loss=True),
    "no_stationary_point": Condition(
        "∇L(W) ≠ 0 for every W", "∇L(W) = 0 for some W",
        ("injective_features", "monotone_direction", "separable_queries", "decision_tree",
         "simplex_cover"),
        ("all_flat", "stationary_at_zero", "krawczyk"), about_loss=True),
    "directions": Condition(
        "these are all the locally optimal selections", "the locally optimal selections are others",
        ("direction_tree",), ()),
    "only_local_optimum": Condition(
        "every optimal token is unique, and opt, their selection, is the only locally optimal one",
        "an optimal token is not unique, or opt is not the only locally optimal selection",
        ("direction_tree",), ("optimum_tie", "exceptional_selection")),
    "assumption_d": Condition(
        "every optimal token is unique, and every α ≠ opt for which W^mm_α exists has a sample i "
        "with α_i ≠ opt_i and (i, opt_i) a support index",
        "an optimal token is not unique, or W^mm_α exists for some α ≠ opt without a support index "
        "(i, opt_i) where α_i ≠ opt_i",
        ("direction_tree",), ("optimum_tie", "exceptional_selection")),
    "gen_feasibility": Condition(
        "for these sets O_i some W has equal logits in each and all margins over other tokens ≥ 1",
        "for these sets O_i no W has equal logits in each and all margins over other tokens ≥ 1",
        ("gen_separator", "gen_enclosure"), ("motzkin",)),
    "multi_token_support": Condition(
        "W^mm of Gen-SVM exists for these sets O_i, with these support indices and squared norm",
        "W^mm of Gen-SVM does not exist for these sets O_i",
        ("gen_kkt", "gen_enclosure"), ("motzkin",)),
    "simplex_support": Condition(
        "for the head v·x − λ‖x‖² of this λ exactly one mixture of the tokens of each sample gives "
        "the largest Y h, and its weights are these",
        "for the head v·x − λ‖x‖² of this λ several mixtures of the tokens of a sample give the "
        "largest Y h",
        ("simplex_maximizer",), ("simplex_tie",)),
    "assumption_e": Condition(
        "with this c, the largest such, every mixture of a selected token, with weight s, and "
        "tokens that score lower has an output of at most its score - c (1 - s)",
        "no c > 0 bounds the outputs of the mixtures of a selected token and tokens that score "
        "lower",
        ("top_score_gap",), (), about_selection=True),
    "low_norm_limit": Condition(
        "descent from this matrix converges in direction to W^mm_opt",
        "descent from this matrix does not converge in direction to W^mm_opt",
        ("low_norm_limit",), (), about_loss=True),
    "selection_trap": Condition(
        "along descent from this matrix every optimal token has softmax weight > 1/2 and every "
        "margin under opt is > 0 for ever, and ‖W‖_F never decreases",
        "along descent from this matrix an optimal token has softmax weight ≤ 1/2, or a margin "
        "under opt is ≤ 0, or ‖W‖_F decreases",
        ("selection_trap",), (), about_loss=True),
    "nonnegative_features": Condition(
        "every optimal token is unique, all other scores of a sample are equal, and under opt no "
        "feature is 0 and no two have a negative inner product",
        "an optimal token is not unique, or two lower scores of a sample differ, or under opt a "
        "feature is 0 or two have a negative inner product",
        ("nonnegative_products",),
        ("negative_product", "zero_feature", "unequal_scores", "optimum_tie")),
    "large_first_step": Condition(
        "descent from W = 0 with this first step and this later step converges in direction to "
        "W^mm_opt",
        "descent from W = 0 with this first step and this later step does not converge in "
        "direction to W^mm_opt",
        ("large_first_step",), (), about_loss=True),
    "invariant_ray": Condition(
        "descent from W = 0, and from every multiple of this matrix, converges in direction to it, "
        "and it is the direction of W^mm_α for no locally optimal α",
        "descent from a multiple of this matrix does not converge in direction to it, or it is the "
        "direction of W^mm_α for a locally optimal α",
        ("invariant_ray",), (), about_loss=True),
    "stalled_descent": Condition(
        "descent from W = 0 with this first step and this later step stays bounded and does not "
        "converge in direction to W^mm_opt",
        "descent from W = 0 with this first step and this later step is unbounded or converges in "
        "direction to W^mm_opt",
        ("stalled_descent",), (), about_loss=True),
    "limit_from_start": Condition(
        "descent from this start converges in direction to W^mm_α",
        "descent from this start does not converge in direction to W^mm_α",
        ("verified_run",), (), about_selection=True, about_loss=True),
    "nuclear_margin": Condition(
        "the least nuclear norm of a W with all margins ≥ 1 lies in this interval, whose upper "
        "end a W of this rank, at most min(n, d), does not exceed",
        "no W has all margins ≥ 1",
        ("nuclear_interval",), ("farkas", "query_cycle"), about_selection=True),
    "unique_nuclear_optimum": Condition(
        "exactly one W with all margins ≥ 1 has the least nuclear norm, and this is its rank",
        "no W with all margins ≥ 1 has the least nuclear norm, or several have",
        ("nuclear_uniqueness",), ("nuclear_optima", "farkas", "query_cycle"),
        about_selection=True),
    "low_rank_feasibility": Condition(
        "for this m some K, Q of m columns give K Qᵀ all margins ≥ 1",
        "for this m, or every m, no K, Q of m columns give K Qᵀ all margins ≥ 1",
        ("low_rank_pair",), ("farkas", "query_cycle", "rank_one_infeasible"),
        about_selection=True),
    "predicted_direction": Condition(
        "the recorded run converges in direction to W^mm_α",
        "the recorded run does not converge in direction to W^mm_α",
        (), (), about_selection=True, about_loss=True),
    "basin": Condition(
        "descent from these starts converges in direction to W^mm_α",
        "descent from one of these starts does not converge in direction to W^mm_α",
        ("basin_isotropic", "basin_residual"), (), about_selection=True, about_loss=True),
    "basin_cone": Condition(
        "descent from this cone converges in direction to W^mm_α, and ∇L(W) ≠ 0 in it",
        "descent from some W of this cone does not converge in direction to W^mm_α, or ∇L(W) = 0 "
        "in it", ("basin_cone",), (), about_selection=True, about_loss=True),
}


def subject(claim: Claim) -> str:
    """What a claim is about, e.g. ``feasibility for α = (0, 1)``."""
    parts = [claim.condition]
    if claim.selection is not None:
        parts.append(f"for α = ({', '.join(map(str, claim.selection))})")
    if claim.loss is not None:
        parts.append(f"with {claim.loss} loss")
    return " ".join(parts)


def sentence(claim: Claim) -> str:
    """The statement that the claim's status makes of its condition."""
    condition = CONDITIONS[claim.condition]
    return condition.holds if claim.status == "holds" else condition.fails
