"""Does α stay locally optimal when every entry of the data moves a little?

Statement
    α is locally optimal for every dataset of the same sizes and labels whose entries of X, z and
    v are each within the certificate's ε > 0 of the given ones.
Hypotheses
    None; fails, for every ε, when α is not locally optimal.
Certificate
    `ball_separator`, `ball_kkt` (holds); those of `local_optimality` that show the opposite
    (fails).
Decision procedure
    Either the support stays and scores below the selected tokens on the whole ball, or every
    rejected token does and α stays feasible. The larger ε is taken.
Reference
    docs/theory.md, robustness.
"""

from __future__ import annotations

from conditions import local_optimality
from conditions.dataset import AttentionDataset
from conditions.robustness.kkt import ball_kkt
from conditions.robustness.separator import ball_separator
from conditions.robustness.wording import NO_RADIUS, radius_text, renamed
from conditions.selection import Selection, check_selection
from conditions.separation.frobenius import Infeasible, solve
from conditions.verdict import Status, Verdict, proved, undecided

CONDITION = "robust_local_optimality"


def decide(dataset: AttentionDataset, selection: Selection) -> Verdict:
    """Decide the condition for α = *selection*; undecided where floats suggest no radius."""
    alpha = check_selection(dataset, selection)
    plain = local_optimality.decide(dataset, alpha)
    if plain.fails:
        return renamed(plain, CONDITION)
    outcome = solve(dataset, alpha)
    assert not isinstance(outcome, Infeasible), "a locally optimal selection is feasible"
    tries = (ball_kkt(outcome, outscored=True),
             None if local_optimality.rivals(outcome.features)
             else ball_separator(outcome, outscored=True))
    found = max((c for c in tries if c is not None), key=lambda c: c.radius, default=None)
    if found is None:
        return undecided(CONDITION, f"{NO_RADIUS}, or the support is degenerate", selection=alpha)
    return proved(CONDITION, Status.HOLDS, found,
                  "α stays locally optimal within this distance of every entry",
                  selection=alpha, number=radius_text(found.radius))
