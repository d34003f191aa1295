"""Claims about the rank of the features, and about stationary points that follow from it."""

from __future__ import annotations

from flint import fmpz_mat

from conditions.certificates import (
    Certificate,
    IndependentFactors,
    InjectiveFeatures,
    MonotoneDirection,
    RowDependency,
    SeparableQueries,
)
from conditions.exact.rank_one import take
from conditions.full_rank import dependency
from conditions.selection import score_order
from verifier.formal.claims import (
    Claim,
    Definition,
    NotExportedError,
    Subject,
    demand_bits,
    matrix_definition,
)
from verifier.formal.inverses import Inverse
from verifier.formal.separation import dense
from verifier.formal.spelling import IntegerMatrix, natural, scaled_matrix

_MOST_ROWS = 80
_INDEPENDENT = "full_rank data /\\ every_selection_feasible data"
_NO_STATIONARY = "no_stationary_point data"


def independent_rows(subject: Subject) -> Claim:
    """The Gram matrix of all features has an approximate inverse."""
    arguments, proof = _rows(subject)
    return Claim(_INDEPENDENT, "Ranks", "independent_rows_sound", arguments, proof)


def independent_factors(subject: Subject) -> Claim:
    """So have that of the queries and those of the differences of every sample."""
    arguments, proof = _factors(subject)
    return Claim(_INDEPENDENT, "Ranks", "independent_factors_sound", arguments, proof)


def injective_features(subject: Subject) -> Claim:
    """Independent features, and a sample that is not flat."""
    certificate = subject.certificate
    assert isinstance(certificate, InjectiveFeatures)
    rank: Certificate = certificate.rank
    by_factors = isinstance(rank, IndependentFactors)
    arguments, proof = (_factors if by_factors else _rows)(subject)
    i = certificate.sample
    order = score_order(subject.dataset, i)
    theorem = f"injective_{'factors' if by_factors else 'rows'}_sound"
    return Claim(_NO_STATIONARY, "Stationary", theorem,
                 (*arguments, natural(i), natural(order[0]), natural(order[-1])), proof)


def _rows(subject: Subject) -> tuple[tuple[str, ...], tuple[Definition, ...]]:
    phi = subject.features
    if len(phi) > _MOST_ROWS:
        raise NotExportedError(f"the inverse of {len(phi)} rows is too large")
    return ("A",), Inverse.rounded(phi.gram(), int(phi.scale) ** 2).definitions("A")


def _factors(subject: Subject) -> tuple[tuple[str, ...], tuple[Definition, ...]]:
    dataset, differences = subject.dataset, subject.features.differences
    queries = dataset.integers.queries
    definitions = list(_inverse(queries).definitions("A"))
    names, start = [], 0
    for i, T in enumerate(dataset.lengths):
        names.append(f"A_{i}")
        definitions += _inverse(take(differences, range(start, start + T - 1))).definitions(
            names[-1])
        start += T - 1
    listed = Definition("As", "list inverse", f"[{'; '.join(names)}]")
    return ("A", "As"), (*definitions, listed)


def _inverse(vectors: fmpz_mat) -> Inverse:
    return Inverse.rounded(vectors * vectors.transpose(), 1)


def row_dependency(subject: Subject) -> Claim:
    """A combination of features is 0; that of more than d² of them is found here."""
    certificate = subject.certificate
    found = certificate if isinstance(certificate, RowDependency) else dependency(subject.dataset)
    if found is None:
        raise NotExportedError("no dependency was found")
    coefficients, _ = dense(subject, found.coefficients)
    i, t, _ = found.coefficients[0]
    return Claim("~ full_rank data", "Ranks", "dependent_sound", ("c", natural(i), natural(t)),
                 (matrix_definition("c", coefficients),))


def monotone_direction(subject: Subject) -> Claim:
    """A direction along which every sample's logits rise with its scores."""
    certificate = subject.certificate
    assert isinstance(certificate, MonotoneDirection)
    return _monotone(scaled_matrix(certificate.D)[0])


def separable_queries(subject: Subject) -> Claim:
    """The direction v uᵀ."""
    certificate = subject.certificate
    assert isinstance(certificate, SeparableQueries)
    return _monotone(scaled_matrix([[a * b for b in certificate.u]
                                    for a in subject.dataset.head])[0])


def _monotone(rows: IntegerMatrix) -> Claim:
    demand_bits(rows)
    return Claim(_NO_STATIONARY, "Monotone", "monotone_sound", ("V",),
                 (matrix_definition("V", rows),))
