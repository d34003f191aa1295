"""Is the selection locally optimal?

Statement
    W^mm_α exists and γ_{iα_i} > γ_it for every support index (i, t) of α.
Hypotheses
    None; fails when Att-SVM(α) is infeasible. A sample without support index demands nothing.
Certificate
    `exact_kkt`, `kkt_enclosure` (either way), `primal_dual` (holds), `farkas` (fails).
Decision procedure
    Only rows with γ_it ≥ γ_{iα_i} matter. A short primal-dual pair that excludes them all from the
    support is preferred; the proved support set decides otherwise.
Reference
    arXiv 2308.16898 v1, Definition 2; docs/theory.md, section 2.
"""

from __future__ import annotations

from flint import fmpq

from conditions.certificates import PrimalDual
from conditions.dataset import AttentionDataset
from conditions.exact.numbers import round_dyadic
from conditions.feasibility import infeasible
from conditions.selection import Features, Row, Selection, check_selection
from conditions.separation.frobenius import EnclosedSolution, Infeasible, Solution, solve
from conditions.separation.separator import rounded
from conditions.verdict import Status, Verdict, proved

CONDITION = "local_optimality"

_BITS = (16, 30, 50)


def rivals(phi: Features) -> tuple[Row, ...]:
    """The rejected tokens whose score is at least that of the selected one."""
    scores, selection = phi.dataset.scores, phi.selection
    return tuple((i, t) for i, t in phi.rows if scores[i][t] >= scores[i][selection[i]])


def decide(dataset: AttentionDataset, selection: Selection) -> Verdict:
    """Decide the condition for α = *selection*; never undecided."""
    outcome = solve(dataset, check_selection(dataset, selection))
    if isinstance(outcome, Infeasible):
        return infeasible(CONDITION, outcome)
    phi = outcome.features
    better = rivals(phi)
    violating = sorted(set(better) & set(outcome.support))
    if violating:
        i, t = violating[0]
        return proved(CONDITION, Status.FAILS, outcome.certificate,
                      f"support index ({i},{t}) scores at least as high as selected token "
                      f"{phi.selection[i]}; {len(violating)} such", selection=phi.selection,
                      number=f"{len(violating)} of {len(better)} rivals")
    pair = primal_dual(outcome, better) if isinstance(outcome, EnclosedSolution) else None
    return proved(CONDITION, Status.HOLDS, pair or outcome.certificate,
                  f"all {len(better)} rejected tokens that score at least as high are off the "
                  f"support" if better else "no rejected token scores as high",
                  selection=phi.selection, number=f"0 of {len(better)} rivals")


def primal_dual(solution: Solution, excluded: tuple[Row, ...]) -> PrimalDual | None:
    """A short primal-dual pair that proves *excluded* to be off the support, or None."""
    phi = solution.features
    for bits in _BITS:
        W = rounded(solution.float_W, bits)
        margins = phi.margins(W)
        least = min(margins)
        if least <= 0:
            continue
        if least < 1:
            stretch = round_dyadic(1 / least, bits + 2)
            while stretch * least < 1:
                stretch += fmpq(1, 1 << bits)
            W, margins = W * stretch, [m * stretch for m in margins]
        multipliers = {phi.index[row]: round_dyadic(fmpq(*x.as_integer_ratio()), bits)
                       for row, x in solution.float_multipliers.items()}
        if not _excludes(phi, W.entries(), margins, multipliers, excluded):
            continue
        sparse = tuple((*phi.rows[k], x) for k, x in sorted(multipliers.items()))
        return PrimalDual(tuple(map(tuple, W.tolist())), sparse, excluded)
    return None


def _excludes(phi: Features, W: list[fmpq], margins: list[fmpq], multipliers: dict[int, fmpq],
              excluded: tuple[Row, ...]) -> bool:
    """(m − 1)² > ‖φ‖² g and m > 1 for every excluded row, g the primal-dual gap."""
    dual = phi.combination(list(multipliers), list(multipliers.values())).entries()
    gap = (sum((a * a for a in W), fmpq(0)) - 2 * sum(multipliers.values(), fmpq(0))
           + sum((a * a for a in dual), fmpq(0)))
    scale = fmpq(1, phi.scale * phi.scale)
    for row in excluded:
        k = phi.index[row]
        norm_squared = phi.gram([k])[0, 0] * scale
        if margins[k] <= 1 or (margins[k] - 1) ** 2 <= norm_squared * gap:
            return False
    return True
