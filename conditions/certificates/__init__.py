"""One frozen dataclass per certificate kind: data only, to and from JSON-able dicts.

docs/certificates.md says what each kind proves and how it is checked. Indices are 0-based.
"""

from conditions.certificates.base import (
    Certificate,
    Indices,
    Levels,
    Matrix,
    Row,
    Rows,
    SparseVector,
    Triple,
    Vector,
)
from conditions.certificates.enumeration import DirectionTree, ExceptionalSelection, Obstruction
from conditions.certificates.general import GenKKT, GenSeparator, Motzkin
from conditions.certificates.global_limits import (
    LargeFirstStep,
    LowNormLimit,
    NegativeProduct,
    NonnegativeProducts,
    SelectionTrap,
    ZeroFeature,
)
from conditions.certificates.limits import (
    BasinCone,
    BasinIsotropic,
    BasinResidual,
    VerifiedRun,
)
from conditions.certificates.nuclear import NuclearInterval
from conditions.certificates.ranks import (
    ExactRank,
    IndependentFactors,
    IndependentRows,
    ModularRank,
    RowDependency,
)
from conditions.certificates.scores import (
    FlatSamples,
    OptimalTokens,
    OptimumTie,
    ScoreGaps,
    ScoreLevels,
    UnequalScores,
)
from conditions.certificates.search import DecisionTree, Inertia, Krawczyk, SimplexCover
from conditions.certificates.separation import (
    ExactKKT,
    Farkas,
    KKTEnclosure,
    PrimalDual,
    QueryClass,
    QueryCycle,
    ScaledInverse,
    Separator,
    TopologicalOrder,
)
from conditions.certificates.stationary import (
    AllFlat,
    FirstStepMargins,
    FirstStepViolation,
    InjectiveFeatures,
    MonotoneDirection,
    SeparableQueries,
    StationaryAtZero,
)

__all__ = [
    "AllFlat",
    "BasinCone",
    "BasinIsotropic",
    "BasinResidual",
    "Certificate",
    "DecisionTree",
    "DirectionTree",
    "ExactKKT",
    "ExactRank",
    "ExceptionalSelection",
    "Farkas",
    "FirstStepMargins",
    "FirstStepViolation",
    "FlatSamples",
    "GenKKT",
    "GenSeparator",
    "IndependentFactors",
    "IndependentRows",
    "Indices",
    "Inertia",
    "InjectiveFeatures",
    "KKTEnclosure",
    "Krawczyk",
    "LargeFirstStep",
    "Levels",
    "LowNormLimit",
    "Matrix",
    "ModularRank",
    "MonotoneDirection",
    "Motzkin",
    "NegativeProduct",
    "NonnegativeProducts",
    "NuclearInterval",
    "Obstruction",
    "OptimalTokens",
    "OptimumTie",
    "PrimalDual",
    "QueryClass",
    "QueryCycle",
    "Row",
    "RowDependency",
    "Rows",
    "ScaledInverse",
    "ScoreGaps",
    "ScoreLevels",
    "SelectionTrap",
    "SeparableQueries",
    "Separator",
    "SimplexCover",
    "SparseVector",
    "StationaryAtZero",
    "TopologicalOrder",
    "Triple",
    "UnequalScores",
    "Vector",
    "VerifiedRun",
    "ZeroFeature",
]
