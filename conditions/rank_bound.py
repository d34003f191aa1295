"""Is the rank of W^mm_α at most min(n, d)?

Statement
    W^mm_α exists, has exactly the stated rank, and that rank is at most min(n, d).
Hypotheses
    None; fails when Att-SVM(α) is infeasible. Where W^mm_α exists the bound is Lemma 1.
Certificate
    `exact_rank` or `modular_rank` (holds), `farkas` (fails).
Decision procedure
    λ = K_SS⁻¹1 modulo a prime gives W^mm modulo it and a lower bound. From above, for any set A of
    rows in the support S, rank W^mm ≤ rank{x_{iα_i} − x_it : A} + rank{z_i : S∖A}; A is S, ∅, or
    read off the null spaces modulo the prime. Where the two do not meet: the rank of W^mm over Q.
Reference
    arXiv 2308.16898 v1, Lemma 1; docs/theory.md, section 1.
"""

from __future__ import annotations

from dataclasses import dataclass

from flint import fmpz_mat, nmod_mat

from conditions.certificates import ExactRank, ModularRank
from conditions.dataset import AttentionDataset
from conditions.exact.rank_one import take
from conditions.exact.ranks import PRIMES, integer_rows, null_space, rank, reduced
from conditions.feasibility import infeasible
from conditions.selection import Row, Selection, check_selection
from conditions.separation.frobenius import (
    EnclosedSolution,
    ExactSolution,
    Infeasible,
    Solution,
    solve,
    solve_exactly,
)
from conditions.verdict import Status, Verdict, proved

CONDITION = "rank_bound"


def decide(dataset: AttentionDataset, selection: Selection) -> Verdict:
    """Decide the condition for α = *selection*; never undecided."""
    outcome = solve(dataset, check_selection(dataset, selection))
    if isinstance(outcome, Infeasible):
        return infeasible(CONDITION, outcome)
    certificate = _certificate(outcome)
    return proved(CONDITION, Status.HOLDS, certificate,
                  f"rank W^mm = {certificate.rank} ≤ min(n, d) = {min(dataset.n, dataset.d)}",
                  selection=outcome.features.selection, number=f"rank {certificate.rank}")


@dataclass(frozen=True)
class Bounds:
    """The rank of W^mm, met from below modulo ``modulus`` and from above by its factors.

    ``differences`` are the rows A whose differences count, not their queries.
    """

    rank: int
    modulus: int
    differences: tuple[Row, ...]


def bounds(solution: Solution) -> Bounds | None:
    """The rank where the bounds from below and above meet, else None."""
    phi = solution.features
    positions = (sorted(solution.multipliers) if isinstance(solution, ExactSolution)
                 else [int(k) for k in solution.verified.positions])
    deltas, queries = take(phi.differences, positions), take(phi.queries, positions)
    names = [phi.rows[k] for k in positions]
    whole = min((rank(queries), ()), (rank(deltas), tuple(names)))
    gram = phi.gram(positions)
    for prime in PRIMES:
        W = _solution_modulo(gram, deltas, queries, prime)
        if W is None:
            continue
        lower = int(W.rank())
        if lower >= whole[0]:
            return Bounds(whole[0], prime, whole[1])
        outside, inside = _divided(queries, W, prime)
        if _rank(deltas, outside) + _rank(queries, inside) <= lower:
            return Bounds(lower, prime, tuple(names[k] for k in outside))
        outside, inside = _divided(deltas, W.transpose(), prime)
        if _rank(queries, outside) + _rank(deltas, inside) <= lower:
            return Bounds(lower, prime, tuple(names[k] for k in inside))
    return None


def _certificate(solution: Solution) -> ModularRank | ExactRank:
    met = bounds(solution)
    if met is not None and isinstance(solution, EnclosedSolution):
        enclosure = solution.enclosure
        if enclosure is not None:
            return ModularRank(enclosure, met.modulus, met.differences, met.rank)
    exact = solve_exactly(solution.features)
    assert isinstance(exact, ExactSolution), "a verified solution is a solution"
    return ExactRank(exact.certificate.multipliers,
                     rank(integer_rows(exact.W)) if met is None else met.rank)


def _solution_modulo(gram: fmpz_mat, deltas: fmpz_mat, queries: fmpz_mat,
                     prime: int) -> nmod_mat | None:
    """W^mm modulo *prime*, up to a factor, or None where K_SS is singular modulo it."""
    size = gram.nrows()
    try:
        weights = reduced(gram, prime).solve(nmod_mat(size, 1, [1] * size, prime))
    except ZeroDivisionError:
        return None
    weighted = [[w * a for a in row] for w, row in
                zip(weights.entries(), reduced(deltas, prime).tolist(), strict=True)]
    return nmod_mat([list(column) for column in zip(*weighted, strict=True)],
                    prime) * reduced(queries, prime)


def _divided(vectors: fmpz_mat, W: nmod_mat, prime: int) -> tuple[list[int], list[int]]:
    """The positions of *vectors* off the row space of *W* modulo *prime*, and in it.

    With A the rows off it the bound meets the rank where the multipliers are in general position.
    """
    null = null_space(W, prime)
    everything = range(vectors.nrows())
    if null is None:
        return [], list(everything)
    images = (reduced(vectors, prime) * null).tolist()
    outside = [k for k in everything if any(a != 0 for a in images[k])]
    return outside, [k for k in everything if k not in set(outside)]


def _rank(vectors: fmpz_mat, positions: list[int]) -> int:
    return rank(take(vectors, positions)) if positions else 0
