"""Certificates about scores."""

from __future__ import annotations

from dataclasses import dataclass

from conditions.certificates.base import Certificate, Indices, Levels, Row, Rows


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
