"""One frozen dataclass per certificate kind: data only, to and from JSON-able dicts.

docs/certificates.md says what each kind proves and how it is checked. Indices are 0-based.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Self

from flint import fmpq

from conditions.exact.numbers import number_to_json, rational

Row = tuple[int, int]
Rows = tuple[Row, ...]
Vector = tuple[fmpq, ...]
Matrix = tuple[tuple[fmpq, ...], ...]
SparseVector = tuple[tuple[int, int, fmpq], ...]
Levels = tuple[tuple[fmpq, fmpq | None], ...]
Indices = tuple[int, ...]
Triple = tuple[int, int, int]


def _encode(value: Any) -> Any:
    if isinstance(value, fmpq):
        return number_to_json(value)
    if isinstance(value, tuple):
        return [_encode(item) for item in value]
    if isinstance(value, Certificate | QueryClass | ScaledInverse):
        return value.to_json()
    return value


def _number(value: Any) -> fmpq:
    return rational(value, "certificate number")


def _vector(value: Any) -> Vector:
    return tuple(map(_number, value))


def _matrix(value: Any) -> Matrix:
    return tuple(map(_vector, value))


def _indices(value: Any) -> Any:
    return tuple(map(int, value))


def _rows(value: Any) -> Any:
    return tuple(map(_indices, value))


def _sparse(value: Any) -> SparseVector:
    return tuple((int(i), int(t), _number(x)) for i, t, x in value)


def _levels(value: Any) -> Levels:
    return tuple((_number(a), None if b is None else _number(b)) for a, b in value)


class _Json:
    """Encoding by field, shared by certificates and their parts."""

    def _fields(self) -> dict[str, Any]:
        return {f.name: _encode(getattr(self, f.name)) for f in fields(self)}  # type: ignore[arg-type]

    @classmethod
    def _decode(cls, data: dict[str, Any]) -> Self:
        names = {f.name: f.type for f in fields(cls)}  # type: ignore[arg-type]
        return cls(**{name: _DECODERS[str(kind)](data[name]) for name, kind in names.items()})


@dataclass(frozen=True)
class QueryClass(_Json):
    """The samples of one query and their distinct tokens, best potential first."""

    samples: Indices
    order: Rows

    def to_json(self) -> dict[str, Any]:
        """The JSON form."""
        return self._fields()

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> QueryClass:
        """From the JSON form."""
        return cls._decode(data)


@dataclass(frozen=True)
class ScaledInverse(_Json):
    """The matrix 2^exponent · entries, an approximate inverse in few digits."""

    exponent: int
    entries: tuple[Indices, ...]

    def to_json(self) -> dict[str, Any]:
        """The JSON form."""
        return self._fields()

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> ScaledInverse:
        """From the JSON form."""
        return cls._decode(data)


@dataclass(frozen=True)
class Certificate(_Json):
    """Base of all kinds; ``kind`` and ``evidence`` belong to the kind."""

    kind: ClassVar[str] = ""
    evidence: ClassVar[str] = "exact"
    registry: ClassVar[dict[str, type[Certificate]]] = {}

    def __init_subclass__(cls) -> None:
        Certificate.registry[cls.kind] = cls

    def to_json(self) -> dict[str, Any]:
        """The JSON form, led by its kind."""
        return {"kind": self.kind, **self._fields()}

    @staticmethod
    def from_json(data: dict[str, Any]) -> Certificate:
        """The certificate that *data* spells. Raises ``KeyError`` for an unknown kind."""
        return Certificate.registry[data["kind"]]._decode(data)


# Scores ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class OptimalTokens(Certificate):
    """The strict maximum of each sample's scores."""

    kind = "optimal_tokens"
    tokens: Indices


@dataclass(frozen=True)
class OptimumTie(Certificate):
    """Two tokens that share the largest score of a sample."""

    kind = "optimum_tie"
    sample: int
    tokens: Row


@dataclass(frozen=True)
class ScoreLevels(Certificate):
    """Per sample the largest score and the single score below it, if any."""

    kind = "score_levels"
    levels: Levels


@dataclass(frozen=True)
class UnequalScores(Certificate):
    """Two tokens below the optimum whose scores differ."""

    kind = "unequal_scores"
    sample: int
    tokens: Row


@dataclass(frozen=True)
class ScoreGaps(Certificate):
    """Per sample two tokens (higher, lower) whose scores differ."""

    kind = "score_gaps"
    pairs: Rows


@dataclass(frozen=True)
class FlatSamples(Certificate):
    """Exactly the samples whose scores are all equal."""

    kind = "flat_samples"
    samples: Indices


# Separation --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Separator(Certificate):
    """A W with every margin at least 1; shape (d, d)."""

    kind = "separator"
    W: Matrix


@dataclass(frozen=True)
class Farkas(Certificate):
    """λ > 0 with Σ λ φ = 0."""

    kind = "farkas"
    multipliers: SparseVector


@dataclass(frozen=True)
class QueryCycle(Certificate):
    """A directed cycle of selected → rejected edges within one query class."""

    kind = "query_cycle"
    edges: Rows


@dataclass(frozen=True)
class TopologicalOrder(Certificate):
    """Independent tokens and queries, and per query class an order that selections lead."""

    kind = "topological_order"
    modulus: int
    classes: tuple[QueryClass, ...]


@dataclass(frozen=True)
class ExactKKT(Certificate):
    """W^mm = Σ λ φ exactly, with all its support indices and its squared norm."""

    kind = "exact_kkt"
    multipliers: SparseVector
    support: Rows
    norm_squared: fmpq


@dataclass(frozen=True)
class KKTEnclosure(Certificate):
    """A verified solution of K_SS λ = 1 that proves the support set and encloses W^mm."""

    kind = "kkt_enclosure"
    evidence = "enclosed"
    rows: Rows
    multipliers: Vector
    inverse: ScaledInverse
    support: Rows
    norm_squared: Vector


@dataclass(frozen=True)
class PrimalDual(Certificate):
    """A feasible W and multipliers λ whose gap excludes rows from the support."""

    kind = "primal_dual"
    evidence = "enclosed"
    W: Matrix
    multipliers: SparseVector
    excluded: Rows


# Ranks -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class IndependentRows(Certificate):
    """All features are independent modulo ``modulus``."""

    kind = "independent_rows"
    modulus: int


@dataclass(frozen=True)
class IndependentFactors(Certificate):
    """Queries, and each sample's token differences, are independent modulo ``modulus``."""

    kind = "independent_factors"
    modulus: int


@dataclass(frozen=True)
class RowDependency(Certificate):
    """Coefficients, not all 0, with Σ c φ = 0 (base token 0)."""

    kind = "row_dependency"
    coefficients: SparseVector


@dataclass(frozen=True)
class ExactRank(Certificate):
    """W^mm = Σ λ φ exactly, and its rank."""

    kind = "exact_rank"
    multipliers: SparseVector
    rank: int


@dataclass(frozen=True)
class ModularRank(Certificate):
    """The rank of W^mm, met from below modulo a prime and from above by its factors."""

    kind = "modular_rank"
    evidence = "enclosed"
    enclosure: KKTEnclosure
    modulus: int
    rank: int


# First step and stationary points ------------------------------------------------------------


@dataclass(frozen=True)
class FirstStepMargins(Certificate):
    """Every margin of −∇L(0) is positive at this working precision, in bits."""

    kind = "first_step_margins"
    precision: int


@dataclass(frozen=True)
class FirstStepViolation(Certificate):
    """A margin of −∇L(0) that is negative, or exactly 0."""

    kind = "first_step_violation"
    row: Row
    sign: int
    precision: int


@dataclass(frozen=True)
class InjectiveFeatures(Certificate):
    """Independent features and a sample that is not flat (S1)."""

    kind = "injective_features"
    rank: IndependentRows | IndependentFactors
    sample: int


@dataclass(frozen=True)
class MonotoneDirection(Certificate):
    """D along which every sample's logits rise with its scores, one strictly (S2)."""

    kind = "monotone_direction"
    D: Matrix
    witness: Triple


@dataclass(frozen=True)
class SeparableQueries(Certificate):
    """u on the right side of every Y_i z_i that pulls, strictly of one (S2a)."""

    kind = "separable_queries"
    u: Vector


@dataclass(frozen=True)
class AllFlat(Certificate):
    """Every sample is flat."""

    kind = "all_flat"


@dataclass(frozen=True)
class StationaryAtZero(Certificate):
    """The gradient at W = 0 is exactly zero."""

    kind = "stationary_at_zero"


_DECODERS: dict[str, Callable[[Any], Any]] = {
    "int": int,
    "fmpq": _number,
    "Row": _indices,
    "Triple": _indices,
    "Indices": _indices,
    "Rows": _rows,
    "tuple[Indices, ...]": _rows,
    "Vector": _vector,
    "Matrix": _matrix,
    "SparseVector": _sparse,
    "Levels": _levels,
    "ScaledInverse": ScaledInverse.from_json,
    "tuple[QueryClass, ...]": lambda value: tuple(map(QueryClass.from_json, value)),
    "KKTEnclosure": Certificate.from_json,
    "IndependentRows | IndependentFactors": Certificate.from_json,
}
