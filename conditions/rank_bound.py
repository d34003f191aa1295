"""Is the rank of W^mm_α at most min(n, d)?

Statement
    W^mm_α exists, has exactly the stated rank, and that rank is at most min(n, d).
Hypotheses
    None; fails when Att-SVM(α) is infeasible. Where W^mm_α exists the bound is Lemma 1.
Certificate
    `exact_rank` or `modular_rank` (holds), `farkas` (fails).
Decision procedure
    With W^mm exact: its rank over Q. With the support proved: λ = K_SS⁻¹1 modulo a prime gives
    W^mm modulo it and a lower bound; queries and differences of the support rows give an upper
    one; if they do not meet, W^mm is computed over Q.
Reference
    arXiv 2308.16898 v1, Lemma 1; docs/theory.md, section 1.
"""

from __future__ import annotations

from flint import fmpz_mat, nmod_mat

from conditions.certificates import ExactRank, ModularRank
from conditions.dataset import AttentionDataset
from conditions.exact.rank_one import take
from conditions.exact.ranks import PRIMES, integer_rows, rank, reduced
from conditions.feasibility import infeasible
from conditions.selection import Selection, check_selection
from conditions.separation.frobenius import (
    EnclosedSolution,
    ExactSolution,
    Infeasible,
    solve,
    solve_exactly,
)
from conditions.verdict import Status, Verdict, proved

CONDITION = "rank_bound"


def decide(dataset: AttentionDataset, selection: Selection) -> Verdict:
    """Decide the condition for α = *selection*; never undecided."""
    outcome = solve(dataset, check_selection(dataset, selection))
    certificate: ModularRank | ExactRank | None = None
    if isinstance(outcome, EnclosedSolution):
        certificate = _modular(outcome)
        if certificate is None:
            outcome = solve_exactly(outcome.features)
    if isinstance(outcome, Infeasible):
        return infeasible(CONDITION, outcome)
    if certificate is None:
        assert isinstance(outcome, ExactSolution)
        certificate = ExactRank(outcome.certificate.multipliers, rank(integer_rows(outcome.W)))
    return proved(CONDITION, Status.HOLDS, certificate,
                  f"rank W^mm = {certificate.rank} ≤ min(n, d) = {min(dataset.n, dataset.d)}",
                  selection=outcome.features.selection, number=f"rank {certificate.rank}")


def _modular(solution: EnclosedSolution) -> ModularRank | None:
    """The rank if a prime shows from below what the factors allow from above."""
    enclosure = solution.enclosure
    if enclosure is None:
        return None
    phi = solution.features
    positions = [int(k) for k in solution.verified.positions]
    deltas, queries = take(phi.differences, positions), take(phi.queries, positions)
    owners = sorted({phi.rows[k][0] for k in positions})
    upper = min(rank(take(phi.dataset.integers.queries, owners)), rank(deltas))
    gram = phi.gram(positions)
    for prime in PRIMES:
        lower = _rank_modulo(gram, deltas, queries, prime)
        if lower is not None and lower >= upper:
            return ModularRank(enclosure, prime, lower)
    return None


def _rank_modulo(gram: fmpz_mat, deltas: fmpz_mat, queries: fmpz_mat, prime: int) -> int | None:
    size = gram.nrows()
    try:
        weights = reduced(gram, prime).solve(nmod_mat(size, 1, [1] * size, prime))
    except ZeroDivisionError:
        # Singular modulo this prime; the next one may do.
        return None
    weighted = [[w * a for a in row] for w, row in
                zip(weights.entries(), reduced(deltas, prime).tolist(), strict=True)]
    W = nmod_mat([list(column) for column in zip(*weighted, strict=True)],
                 prime) * reduced(queries, prime)
    return int(W.rank())
