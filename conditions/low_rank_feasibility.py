"""Can the selected tokens be separated with key and query matrices of m columns?

Statement
    Some K, Q ∈ R^{d×m} have ⟨φ_it, KQᵀ⟩ ≥ 1 for all rejected t; m is that of the certificate.
Hypotheses
    None. Feasible Att-SVM(α) implies it for m ≥ min(n, d), and not for smaller m.
Certificate
    `low_rank_pair` (holds); `farkas` or `query_cycle`, which exclude every m, and for m = 1
    `rank_one_infeasible` (fails).
Decision procedure
    The nuclear norm optimum, or a pair found by descent, rounded and checked exactly. For m = 1 a
    search over the signs of z_i·q, each refuted by exact linear programming: decided unless the
    tree grows beyond a stated size. For 2 ≤ m < min(n, d) undecided when no pair is found.
Reference
    arXiv 2308.16898 v1, (Att-SVM⋆) with rank ≤ m; docs/theory/nuclear.md.
"""

from __future__ import annotations

import numpy as np
from flint import fmpq, fmpq_mat

from conditions.certificates import LowRankPair, RankOneInfeasible
from conditions.dataset import AttentionDataset
from conditions.errors import InvalidInput
from conditions.exact.numbers import to_float
from conditions.nuclear_margin import no_separator
from conditions.selection import Features, Selection, check_selection, features
from conditions.separation.frobenius import Infeasible, solve_exactly
from conditions.separation.low_rank import low_rank_factors
from conditions.separation.nuclear import solve
from conditions.separation.nuclear_rounding import square
from conditions.separation.rank_one_factors import Exhausted, decide_rank_one
from conditions.verdict import Status, Verdict, proved, undecided

CONDITION = "low_rank_feasibility"


def decide(dataset: AttentionDataset, selection: Selection, m: int, seed: int = 0) -> Verdict:
    """Decide the condition for α = *selection* and *m* columns.

    *seed*: of the random starts of the search. Raises ``InvalidInput`` unless 1 ≤ m ≤ d.
    """
    selection = check_selection(dataset, selection)
    if not isinstance(m, int | np.integer) or isinstance(m, bool) or not 1 <= m <= dataset.d:
        raise InvalidInput("m", m, f"must be an integer in 1..{dataset.d}",
                           "more columns than d change nothing")
    m = int(m)
    phi = features(dataset, selection)
    optimum = solve(dataset, selection)
    if isinstance(optimum, Infeasible):
        return no_separator(CONDITION, dataset, optimum)
    if optimum is not None:
        factors = low_rank_factors(phi, optimum, m, seed)
        if factors is not None:
            return _pair(phi, factors.K, factors.Q, m)
    if m == 1:
        return _rank_one(phi)
    if optimum is None:
        outcome = solve_exactly(phi)
        if isinstance(outcome, Infeasible):
            return no_separator(CONDITION, dataset, outcome)
        K, Q = _factored(outcome.W)
        if K.ncols() <= m:
            return _pair(phi, K, Q, m)
    return undecided(CONDITION, f"no K, Q of {m} columns was found, nor a proof that there is none",
                     selection=selection, number=f"m = {m}")


def _pair(phi: Features, K: fmpq_mat, Q: fmpq_mat, m: int) -> Verdict:
    value = to_float((square(K) + square(Q)) / 2)
    return proved(CONDITION, Status.HOLDS, LowRankPair(_widened(K, m), _widened(Q, m)),
                  f"K, Q of {m} columns have all {len(phi)} margins at least 1; "
                  f"½(‖K‖² + ‖Q‖²) ≈ {value:.6g}", selection=phi.selection,
                  number=f"m = {m}, value {value:.6g}")


def _widened(A: fmpq_mat, m: int) -> tuple[tuple[fmpq, ...], ...]:
    """The rows of *A* with zeros appended, up to m columns."""
    return tuple((*row, *[fmpq(0)] * (m - A.ncols())) for row in A.tolist())


def _factored(W: fmpq_mat) -> tuple[fmpq_mat, fmpq_mat]:
    """K, Q with KQᵀ = W and as many columns as the rank of W."""
    form, rank = W.rref()
    rows = form.tolist()[:rank]
    pivots = [next(j for j, a in enumerate(row) if a != 0) for row in rows]
    table = W.tolist()
    return (fmpq_mat([[row[j] for j in pivots] for row in table]), fmpq_mat(rows).transpose())


def _rank_one(phi: Features) -> Verdict:
    outcome = decide_rank_one(phi)
    if isinstance(outcome, RankOneInfeasible):
        leaves = sum(not isinstance(node, int) for node in outcome.nodes)
        return proved(CONDITION, Status.FAILS, outcome,
                      f"no W of rank 1 separates: all signs of z_i·q are excluded in {leaves} "
                      "linear programs", selection=phi.selection,
                      number=f"m = 1, {leaves} refutations")
    if isinstance(outcome, Exhausted):
        return undecided(CONDITION, f"the search over signs stopped after {outcome.nodes:,} nodes",
                         selection=phi.selection, number="m = 1")
    return _pair(phi, outcome.k, outcome.q, 1)
