"""Lemma 6: how many tokens the best mixture takes, with the head v·x − λ‖x‖²."""

from __future__ import annotations

from itertools import combinations

from flint import fmpq

from conditions import simplex_support
from conditions.certificates import SimplexMaximizer
from conditions.dataset import AttentionDataset
from conditions.selection import Selection
from conditions.simplex_support import lemma_6_interval
from conditions.verdict import Status, Verdict
from verifier.claims.case import Case
from verifier.claims.outcome import Fact, Outcome, arithmetic, from_verdict, joined, undecided

_NO_LAMBDA = "no λ is given"


def orthonormal_tokens(case: Case, _: Selection) -> Outcome:
    """Whether there is one sample, of label 1, and its tokens are orthonormal."""
    data = case.dataset
    holds = data.n == 1 and data.labels == (1,) and _orthonormal(data)
    return arithmetic(holds, Fact("orthonormal_tokens", "the tokens of the one sample are "
                                  "orthonormal" if holds else "there are other samples, the label "
                                  "is −1, or some x_t·x_τ is not 0 or 1 as it should be"))


def best_mixture(case: Case, _: Selection) -> Verdict | Outcome:
    """Whether every sample has one best mixture."""
    return undecided(_NO_LAMBDA) if case.lam is None else simplex_support.decide(case.dataset,
                                                                                 case.lam)


def lambda_of_lemma6(case: Case, _: Selection) -> Outcome:
    """Whether γ^gap_1 < λ < τγ^gap_τ/2 for some 2 ≤ τ < T in sample 0."""
    if case.lam is None:
        return undecided(_NO_LAMBDA)
    found = _allowed(case.dataset, case.lam)
    return arithmetic(bool(found), Fact(
        "lambda_of_lemma6", f"λ = {case.lam}: " + ("; ".join(
            f"{low} < λ < {high} for τ = {tau}" for tau, (low, high) in found.items())
            or "in the interval of no τ"), (("lambda", str(case.lam)),)))


def count_of_lemma6(case: Case, alpha: Selection) -> Outcome:
    """Whether the best mixture of sample 0 takes 2 to τ tokens.

    τ is the least whose interval has λ; T where there is none.
    """
    decided = best_mixture(case, alpha)
    outcome = from_verdict(decided) if isinstance(decided, Verdict) else decided
    certificate = decided.certificate if isinstance(decided, Verdict) else None
    if case.lam is None or not isinstance(certificate, SimplexMaximizer):
        return outcome
    count = sum(s != 0 for s in certificate.weights[0])
    allowed = list(_allowed(case.dataset, case.lam))
    holds = 2 <= count <= min(allowed, default=case.dataset.lengths[0])
    fact = Fact("count_of_lemma6", f"the best mixture takes {count} of {case.dataset.lengths[0]} "
                f"tokens; τ = {', '.join(map(str, allowed)) or 'none'}")
    return joined(Status.HOLDS if holds else Status.FAILS,
                  [outcome, arithmetic(holds, fact)])


def _allowed(data: AttentionDataset, lam: fmpq) -> dict[int, tuple[fmpq, fmpq]]:
    """The interval of every τ that λ = *lam* lies in."""
    scores = data.scores[0]
    intervals = {tau: lemma_6_interval(scores, tau) for tau in range(2, len(scores))}
    return {tau: ends for tau, ends in intervals.items() if ends and ends[0] < lam < ends[1]}


def _orthonormal(data: AttentionDataset) -> bool:
    tokens = data.tokens[0]

    def dot(t: int, s: int) -> fmpq:
        return sum((a * b for a, b in zip(tokens[t], tokens[s], strict=True)), fmpq(0))

    return (all(dot(t, t) == 1 for t in range(len(tokens)))
            and not any(dot(t, s) for t, s in combinations(range(len(tokens)), 2)))
