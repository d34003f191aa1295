"""Claims that Att-SVM(α), or its form with K and Q of few columns, is feasible or is not."""

from __future__ import annotations

from flint import fmpq

from conditions.certificates import Farkas, LowRankPair, QueryCycle, Separator
from conditions.certificates.base import SparseVector
from conditions.separation.separator import short_separator
from verifier.formal.claims import (
    Claim,
    NotExportedError,
    Subject,
    demand_bits,
    matrix_definition,
)
from verifier.formal.spelling import IntegerMatrix, natural, positive, scaled, scaled_matrix

# The conclusion of a Farkas certificate, by condition: predicate, negated or not, and theorem.
_NEGATIONS = {
    "feasibility": ("infeasible", "infeasible_sound"),
    "nuclear_margin": ("infeasible", "infeasible_sound"),
    "unique_nuclear_optimum": ("infeasible", "infeasible_sound"),
    "support_indices": ("~ solvable", "infeasible_no_support"),
    "rank_bound": ("~ solvable", "infeasible_no_support"),
    "all_support": ("~ all_support", "infeasible_not_all_support"),
    "local_optimality": ("~ locally_optimal", "infeasible_not_locally_optimal"),
}


def dense(subject: Subject, vector: SparseVector) -> tuple[list[list[int]], int]:
    """A sparse vector as a list for every sample of an integer for every token, and its scale."""
    numbers, scale = scaled(x for _, _, x in vector)
    rows = [[0] * T for T in subject.dataset.lengths]
    for (i, t, _), x in zip(vector, numbers, strict=True):
        rows[i][t] = x
    demand_bits(rows)
    return rows, scale


def separator(subject: Subject) -> Claim:
    """A W with all margins at least 1."""
    certificate = subject.certificate
    assert isinstance(certificate, Separator)
    return _feasible(subject, *scaled_matrix(certificate.W))


def topological_order(subject: Subject) -> Claim:
    """The same; the order is replaced by a short separating matrix."""
    W = short_separator(subject.features)
    if W is None:
        raise NotExportedError("floats suggest no separating matrix")
    return _feasible(subject, *scaled_matrix(W.tolist()))


def _feasible(subject: Subject, rows: IntegerMatrix, scale: int) -> Claim:
    demand_bits(rows)
    return Claim(subject.says("feasible"), "Feasibility", "feasible_sound", ("W", positive(scale)),
                 (matrix_definition("W", rows),))


def farkas(subject: Subject) -> Claim:
    """A combination of features with positive weights is 0."""
    certificate = subject.certificate
    assert isinstance(certificate, Farkas)
    return _infeasible(subject, certificate.multipliers)


def query_cycle(subject: Subject) -> Claim:
    """The features of a cycle add up to 0, each divided by its query's multiple of the first."""
    certificate = subject.certificate
    assert isinstance(certificate, QueryCycle)
    queries = subject.dataset.queries
    first = queries[certificate.edges[0][0]]
    k = next(k for k, entry in enumerate(first) if entry != 0)
    weights: dict[tuple[int, int], fmpq] = {}
    for i, t in certificate.edges:
        weights[i, t] = weights.get((i, t), fmpq(0)) + first[k] / queries[i][k]
    return _infeasible(subject, tuple((i, t, x) for (i, t), x in sorted(weights.items())))


def _infeasible(subject: Subject, multipliers: SparseVector) -> Claim:
    rows, _ = dense(subject, multipliers)
    definitions = (matrix_definition("lambda", rows),)
    if subject.verdict.condition == "low_rank_feasibility":
        # Farkas multipliers exclude every number of columns.
        statement = f"forall m, ~ {subject.says('low_rank_feasible', 'm')}"
        return Claim(statement, "Feasibility", "low_rank_infeasible", ("lambda",),
                     definitions)
    predicate, theorem = _NEGATIONS[subject.verdict.condition]
    return Claim(subject.says(predicate), "Feasibility", theorem, ("lambda",), definitions)


def low_rank_pair(subject: Subject) -> Claim:
    """K and Q whose product separates."""
    certificate = subject.certificate
    assert isinstance(certificate, LowRankPair)
    m = len(certificate.K[0])
    both, scale = scaled_matrix((*certificate.K, *certificate.Q))
    demand_bits(both)
    K, Q = both[:len(certificate.K)], both[len(certificate.K):]
    return Claim(subject.says("low_rank_feasible", natural(m)), "Feasibility", "low_rank_sound",
                 (natural(m), "K", "Q", positive(scale)),
                 (matrix_definition("K", K), matrix_definition("Q", Q)))
