"""Claims about scores."""

from __future__ import annotations

from conditions.certificates import (
    FlatSamples,
    OptimalTokens,
    OptimumTie,
    ScoreGaps,
    ScoreLevels,
    UnequalScores,
)
from verifier.formal.claims import Claim, Definition, Subject
from verifier.formal.spelling import natural, naturals


def optimal_tokens(subject: Subject) -> Claim:
    """The tokens of strictly largest score."""
    certificate = subject.certificate
    assert isinstance(certificate, OptimalTokens)
    name = f"optimum_{subject.number}"
    return Claim(f"optimal data {name}", "Scores", "optimal_sound", (name,), (),
                 (Definition(name, "selection", naturals(certificate.tokens)),))


def optimum_tie(subject: Subject) -> Claim:
    """Two tokens of one largest score."""
    certificate = subject.certificate
    assert isinstance(certificate, OptimumTie)
    return Claim("~ unique_optimum data", "Scores", "tie_sound",
                 tuple(map(natural, (certificate.sample, *certificate.tokens))))


def score_levels(subject: Subject) -> Claim:
    """A token of each of the two levels of every sample."""
    certificate = subject.certificate
    assert isinstance(certificate, ScoreLevels)
    high, low = [], []
    for scores, (top, other) in zip(subject.dataset.scores, certificate.levels, strict=True):
        high.append(scores.index(top))
        low.append(high[-1] if other is None else scores.index(other))
    return Claim("equal_scores data", "Scores", "equal_scores_sound", ("high", "low"),
                 (Definition("high", "list nat", naturals(high)),
                  Definition("low", "list nat", naturals(low))))


def unequal_scores(subject: Subject) -> Claim:
    """Two different scores below a third."""
    certificate = subject.certificate
    assert isinstance(certificate, UnequalScores)
    scores = subject.dataset.scores[certificate.sample]
    top = scores.index(max(scores))
    return Claim("~ equal_scores data", "Scores", "unequal_scores_sound",
                 tuple(map(natural, (certificate.sample, *certificate.tokens, top))))


def score_gaps(subject: Subject) -> Claim:
    """Two tokens of different scores in every sample."""
    certificate = subject.certificate
    assert isinstance(certificate, ScoreGaps)
    above, lower = zip(*certificate.pairs, strict=True)
    return Claim("no_flat_sample data", "Scores", "gaps_sound", ("above", "lower"),
                 (Definition("above", "list nat", naturals(above)),
                  Definition("lower", "list nat", naturals(lower))))


def flat_samples(subject: Subject) -> Claim:
    """A flat sample."""
    certificate = subject.certificate
    assert isinstance(certificate, FlatSamples)
    return Claim("~ no_flat_sample data", "Scores", "flat_sound",
                 (natural(certificate.samples[0]),))
