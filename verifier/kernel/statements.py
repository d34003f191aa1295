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
        ("independent_rows", "independent_factors"), ("row_dependency",)),
    "rank_bound": Condition(
        "W^mm_α exists, and its rank, at most min(n, d), is this",
        "W^mm_α does not exist",
        ("exact_rank", "modular_rank"), ("farkas",), about_selection=True),
    "first_step_separates": Condition(
        "every optimal token is unique and every margin of -∇L(0) is > 0 for the optimal selection",
        "an optimal token is not unique, or a margin of -∇L(0) is ≤ 0 for the optimal selection",
        ("first_step_margins",), ("first_step_violation", "optimum_tie"), about_loss=True),
    "no_stationary_point": Condition(
        "∇L(W) ≠ 0 for every W", "∇L(W) = 0 for some W",
        ("injective_features", "monotone_direction", "separable_queries"),
        ("all_flat", "stationary_at_zero"), about_loss=True),
    "predicted_direction": Condition(
        "the recorded run converges in direction to W^mm_α",
        "the recorded run does not converge in direction to W^mm_α",
        (), (), about_selection=True, about_loss=True),
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
