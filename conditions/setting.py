"""Which conditions mean something for a prediction head, and for descent on W or on K and Q.

Scores γ_it = Y_i v·x_it exist for the linear head alone, and with them everything that compares
tokens by score: the unique optimum, B.2, C, D, E, local optimality, stationary points, basins and
limits. The geometry (feasibility, support, W^mm, ranks, nuclear norms, Gen-SVM) is about tokens and
queries only, so it is there for any head. The theorems about limits are about descent on W.
Source: arXiv 2308.16898 v1, sections 2 and 6; docs/theory.md, section 8.
"""

from __future__ import annotations

from conditions.errors import Description, InvalidInput

ABOUT_TOKENS = frozenset({
    "all_support", "feasibility", "full_rank", "gen_feasibility", "low_rank_feasibility",
    "multi_token_support", "nuclear_margin", "predicted_direction", "rank_bound",
    "robust_feasibility", "robust_full_rank", "robust_support", "support_indices",
    "unique_nuclear_optimum"})
"""The conditions in which neither the labels nor the head of the dataset have a part."""

ABOUT_QUADRATIC_HEAD = frozenset({"simplex_support"})

ABOUT_DESCENT_ON_W = frozenset({
    "basin", "basin_cone", "invariant_ray", "large_first_step", "limit_from_start",
    "low_norm_limit", "selection_trap", "stalled_descent"})


def unmet(condition: str, head: str = "linear", parameterization: str = "W") -> str | None:
    """What *condition* needs that this setting does not have, or None.

    *head*: ``linear`` or any other name; *parameterization*: ``W`` or ``KQ``. A condition that is
    not known to be about tokens alone needs the linear head.

    >>> unmet("feasibility", "relu"), unmet("basin", "linear", "KQ")
    (None, 'is about descent on W, not on K and Q')
    """
    if condition in ABOUT_QUADRATIC_HEAD:
        return None if head == "quadratic" else f"is about the quadratic head, not the {head} one"
    if head != "linear" and condition not in ABOUT_TOKENS:
        return f"needs the scores Y v·x of the linear head; the {head} head has none"
    if parameterization != "W" and condition in ABOUT_DESCENT_ON_W:
        return "is about descent on W, not on K and Q"
    return None


def require(condition: str, head: str = "linear", parameterization: str = "W") -> None:
    """Raise ``InvalidInput`` that names *condition* where it is not met (`unmet`)."""
    lacking = unmet(condition, head, parameterization)
    if lacking is not None:
        raise InvalidInput(condition, Description(f"{head} head, {parameterization}"), lacking,
                           "ask for conditions about the tokens, or for another setting")
