"""Are the features linearly independent (over-parameterization)?

Statement
    The N = Σ(T_i − 1) features φ_it are linearly independent for one selection α, hence for all:
    the row spaces agree sample by sample. Then Att-SVM(α) is feasible for every α.
Hypotheses
    None. Generic once d ≥ max(T − 1, n); failing it does not mean infeasible.
Certificate
    `independent_factors` or `independent_rows` (holds), `row_dependency` (fails); base token 0.
Decision procedure
    Ranks modulo a prime prove independence; a null vector of the Gram matrix over Q proves the
    opposite.
Reference
    arXiv 2308.16898 v1, Theorem 1 and Theorem 8; docs/theory.md, section 4.
"""

from __future__ import annotations

from flint import fmpq, fmpz_mat

from conditions.certificates import IndependentFactors, IndependentRows, RowDependency
from conditions.dataset import AttentionDataset
from conditions.exact.rank_one import take
from conditions.exact.ranks import PRIMES, modular_rank, pivot_columns
from conditions.selection import Features, features
from conditions.verdict import Status, Verdict, proved

CONDITION = "full_rank"


def independence(dataset: AttentionDataset) -> IndependentFactors | IndependentRows | None:
    """A proof that the features are independent, or None if they are not."""
    phi = _base_features(dataset)
    d = dataset.d
    if len(phi) > d * d:
        return None
    prime = _factor_prime(phi)
    if prime is not None:
        return IndependentFactors(prime)
    rank, prime = modular_rank(phi.gram())
    if rank == len(phi):
        return IndependentRows(prime)
    if dependency(dataset) is not None:
        return None
    return IndependentRows(_good_prime(phi.gram()))


def dependency(dataset: AttentionDataset) -> RowDependency | None:
    """A vanishing combination of features, or None if they are independent."""
    phi = _base_features(dataset)
    # More than d² rows are dependent, so no more of them are needed.
    candidates = list(range(min(len(phi), dataset.d**2 + 1)))
    gram = phi.gram(candidates)
    basis = pivot_columns(gram, PRIMES[0])
    for k in (k for k in candidates if k not in set(basis)):
        found = _dependency_on(phi, gram, basis, k)
        if found is not None:
            return found
    return None


def decide(dataset: AttentionDataset) -> Verdict:
    """Decide the condition; never undecided."""
    N = len(_base_features(dataset))
    proof = independence(dataset)
    if proof is not None:
        return proved(CONDITION, Status.HOLDS, proof,
                      f"the {N} features are independent: every selection is feasible",
                      number=f"rank {N} of {N}")
    found = dependency(dataset)
    assert found is not None
    return proved(CONDITION, Status.FAILS, found,
                  f"{len(found.coefficients)} of the {N} features are linearly dependent",
                  number=f"rank < {N}")


def _base_features(dataset: AttentionDataset) -> Features:
    return features(dataset, (0,) * dataset.n)


def _factor_prime(phi: Features) -> int | None:
    """A prime modulo which queries and all differences are independent, or None."""
    dataset = phi.dataset
    T = max(dataset.lengths)
    if dataset.n > dataset.d or dataset.d < T - 1:
        return None
    parts = [dataset.integers.queries]
    start = 0
    for length in dataset.lengths:
        parts.append(take(phi.differences, range(start, start + length - 1)))
        start += length - 1
    for prime in PRIMES:
        if all(len(pivot_columns(part.transpose(), prime)) == part.nrows() for part in parts):
            return prime
    return None


def _dependency_on(phi: Features, gram: fmpz_mat, basis: list[int],
                   k: int) -> RowDependency | None:
    """Row k as a combination of the rows in *basis*, if it is one."""
    if not basis:
        return RowDependency(((*phi.rows[k], fmpq(1)),))
    matrix = fmpz_mat([[gram[a, b] for b in basis] for a in basis])
    column = fmpz_mat([[gram[a, k]] for a in basis])
    weights = {a: -w for a, w in zip(basis, matrix.solve(column).entries(), strict=True) if w != 0}
    weights[k] = fmpq(1)
    total = phi.combination(list(weights), list(weights.values()))
    if any(a != 0 for a in total.entries()):
        return None
    return RowDependency(tuple((*phi.rows[a], w) for a, w in sorted(weights.items())))


def _good_prime(gram: fmpz_mat) -> int:
    """A word-size prime that does not divide the nonzero determinant."""
    from sympy import prevprime

    prime = PRIMES[-1]
    while len(pivot_columns(gram, prime)) < gram.nrows():
        prime = int(prevprime(prime))
    return prime
