"""Are the features linearly independent (over-parameterization)?

Statement
    The N = Σ(T_i − 1) features φ_it are linearly independent for one selection α, hence for all:
    the row spaces agree sample by sample. Then Att-SVM(α) is feasible for every α.
Hypotheses
    None. Generic once d ≥ max(T − 1, n); failing it does not mean infeasible.
Certificate
    `independent_factors` or `independent_rows` (holds), `row_dependency` or `too_many_rows`
    (fails); base token 0.
Decision procedure
    Ranks modulo a prime prove independence; a null vector of the Gram matrix over Q proves the
    opposite, and so does a plain count of rows against d².
Reference
    arXiv 2308.16898 v1, Theorem 1 and Theorem 8; docs/theory.md, section 4.
"""

from __future__ import annotations

from functools import lru_cache

from flint import fmpq, fmpq_mat, fmpz, fmpz_mat

from conditions.certificates import (
    IndependentFactors,
    IndependentRows,
    RowDependency,
    TooManyRows,
)
from conditions.dataset import AttentionDataset
from conditions.exact.rank_one import RankOneRows, take
from conditions.exact.ranks import PRIMES, circuits_modulo, gcd, modular_rank, pivot_columns
from conditions.selection import Features, features
from conditions.verdict import Status, Verdict, proved

CONDITION = "full_rank"


@lru_cache(maxsize=64)
def independence(dataset: AttentionDataset) -> IndependentFactors | IndependentRows | None:
    """A proof that the features are independent, or None if they are not. Cached."""
    phi = _base_features(dataset)
    d = dataset.d
    if len(phi) > d * d:
        return None
    prime = _factor_prime(phi)
    if prime is not None:
        return IndependentFactors(prime)
    gram = _primitive_rows(phi, list(range(len(phi))))[0].gram()
    rank, prime = modular_rank(gram)
    if rank == len(phi):
        return IndependentRows(prime)
    if dependency(dataset) is not None:
        return None
    return IndependentRows(_good_prime(gram))


@lru_cache(maxsize=64)
def dependency(dataset: AttentionDataset) -> RowDependency | None:
    """A vanishing combination of features, or None if they are independent. Cached."""
    phi = _base_features(dataset)
    # More than d² rows are dependent, so no more of them are needed.
    candidates = list(range(min(len(phi), dataset.d**2 + 1)))
    rows, content = _primitive_rows(phi, candidates)
    gram = rows.gram()
    basis, circuits = circuits_modulo(gram, PRIMES[0])
    for k, circuit in sorted(circuits.items(), key=lambda item: len(item[1])):
        # The circuit lacks a row only where a coefficient vanishes modulo the prime alone.
        for chosen in (circuit, basis):
            weights = _combination_of(rows, gram, chosen, k)
            if weights is not None:
                return RowDependency(tuple(
                    (*phi.rows[a], w) for a, w in sorted(_integral(weights, content).items())))
    return None


def decide(dataset: AttentionDataset) -> Verdict:
    """Decide the condition; never undecided."""
    N = len(_base_features(dataset))
    proof = independence(dataset)
    if proof is not None:
        return proved(CONDITION, Status.HOLDS, proof,
                      f"the {N} features are independent: every selection is feasible",
                      number=f"rank {N} of {N}")
    d = dataset.d
    if d * d < N:
        return proved(CONDITION, Status.FAILS, TooManyRows(),
                      f"{N} features in a space of d² = {d * d} dimensions",
                      number=f"{N} > d² = {d * d}")
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


def _primitive_rows(phi: Features, positions: list[int]) -> tuple[RankOneRows, list[fmpz]]:
    """The features at *positions* in coprime integers, and the integers divided out."""
    deltas, queries, contents = [], [], []
    for delta, query in zip(take(phi.differences, positions).tolist(),
                            take(phi.queries, positions).tolist(), strict=True):
        g, h = gcd(*delta) or fmpz(1), gcd(*query) or fmpz(1)
        deltas.append([a // g for a in delta])
        queries.append([a // h for a in query])
        contents.append(g * h)
    return RankOneRows(fmpz_mat(deltas), fmpz_mat(queries), fmpz(1)), contents


def _combination_of(rows: RankOneRows, gram: fmpz_mat, basis: list[int],
                    k: int) -> dict[int, fmpq] | None:
    """Weights with weight 1 at row k that combine *rows* to 0, if it depends on *basis*."""
    weights = {k: fmpq(1)}
    if basis:
        matrix = fmpz_mat([[gram[a, b] for b in basis] for a in basis])
        column = fmpz_mat([[gram[a, k]] for a in basis])
        solved = matrix.solve(column).entries()
        weights |= {a: -w for a, w in zip(basis, solved, strict=True) if w != 0}
    total = rows.combination(list(weights), list(weights.values()))
    return None if any(a != 0 for a in total.entries()) else weights


def _integral(weights: dict[int, fmpq], contents: list[fmpz]) -> dict[int, fmpq]:
    """Weights of primitive rows as coprime integer weights of the rows themselves."""
    scaled = [w / contents[k] for k, w in weights.items()]
    integers = fmpq_mat(1, len(scaled), scaled).numer_denom()[0].entries()
    common = gcd(*integers)
    return {k: fmpq(a, common) for k, a in zip(weights, integers, strict=True)}


def _good_prime(gram: fmpz_mat) -> int:
    """A word-size prime that does not divide the nonzero determinant."""
    from sympy import prevprime

    prime = PRIMES[-1]
    while len(pivot_columns(gram, prime)) < gram.nrows():
        prime = int(prevprime(prime))
    return prime
