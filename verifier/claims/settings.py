"""Properties of a case that are counted or compared: sizes, the start, the rule, the selection."""

from __future__ import annotations

import time
from itertools import product
from math import prod

from flint import fmpq

from conditions import feasibility, full_rank
from conditions import no_stationary_point as stationary
from conditions.losses import CUBIC, decreasing
from conditions.nonnegative_features import negative_pair, zero_feature
from conditions.selection import Selection, features
from conditions.stationary import krawczyk
from conditions.verdict import Status, Verdict
from verifier.claims.case import Case
from verifier.claims.outcome import (
    Fact,
    Outcome,
    arithmetic,
    from_verdict,
    joined,
    undecided,
)

MAX_SELECTIONS = 4096
"""Selections that `every_selection_feasible` decides one by one."""


def overparameterized_dimension(case: Case, _: Selection) -> Outcome:
    """Whether d ≥ max(T − 1, n), T the longest sample."""
    n, d, T = case.dataset.n, case.dataset.d, max(case.dataset.lengths)
    needed = max(T - 1, n)
    return arithmetic(d >= needed, Fact(
        "overparameterized_dimension", f"d = {d} {'≥' if d >= needed else '<'} "
        f"max(T − 1, n) = max({T - 1}, {n}) = {needed}",
        (("n", str(n)), ("T", str(T)), ("d", str(d)))))


def two_tokens(case: Case, _: Selection) -> Outcome:
    """Whether T_i = 2 for all i."""
    longest = max(case.dataset.lengths)
    return arithmetic(longest == 2, Fact("two_tokens", f"the longest sample has {longest} tokens",
                                         (("T", str(longest)),)))


def rank_suffices(case: Case, _: Selection) -> Outcome:
    """Whether m ≥ min(n, d)."""
    n, d, m = case.dataset.n, case.dataset.d, case.rank
    if m is None:
        return undecided("no rank m is given")
    holds = m >= min(n, d)
    return arithmetic(holds, Fact(
        "rank_suffices", f"m = {m} {'≥' if holds else '<'} min(n, d) = min({n}, {d})",
        (("m", str(m)), ("n", str(n)), ("d", str(d)))))


def not_all_optimal(case: Case, _: Selection) -> Outcome:
    """Whether some sample has two different scores."""
    i = next((i for i, scores in enumerate(case.dataset.scores) if min(scores) < max(scores)), None)
    return arithmetic(i is not None, Fact(
        "not_all_optimal", "in every sample all scores are equal" if i is None else
        f"the scores of sample {i} run from {min(case.dataset.scores[i])} to "
        f"{max(case.dataset.scores[i])}"))


def no_zero_feature(case: Case, _: Selection) -> Outcome:
    """Whether φ_it ≠ 0 for all rejected tokens under opt."""
    row = zero_feature(case.dataset)
    return arithmetic(row is None, Fact(
        "no_zero_feature", "no rejected token equals its optimal token, and no query is 0"
        if row is None else f"under opt the feature of token {row[1]} of sample {row[0]} is 0"))


def nonnegative_products(case: Case, _: Selection) -> Outcome:
    """Whether ⟨φ_it, φ_jτ⟩ ≥ 0 for all rejected tokens under opt."""
    phi = features(case.dataset, case.opt)
    pair = negative_pair(case.dataset)
    if pair is None:
        return arithmetic(True, Fact(
            "nonnegative_products", f"no two of the {len(phi)} features under opt have a negative "
            "inner product"))
    gram = phi.gram([phi.index[row] for row in pair])
    product = fmpq(gram[0, 1]) / fmpq(phi.scale * phi.scale)
    return arithmetic(False, Fact(
        "nonnegative_products", f"the features of rows {pair[0]} and {pair[1]} under opt have the "
        f"inner product {product} < 0", (("product", str(product)),)))


def starts_at_zero(case: Case, _: Selection) -> Outcome:
    """Whether W(0) = 0."""
    zero = case.starts_at_zero
    return arithmetic(zero, Fact("starts_at_zero", f"W(0) {'=' if zero else '≠'} 0"))


def plain_descent(case: Case, _: Selection) -> Outcome:
    """Whether the rule is W ← W − η∇L(W)."""
    return arithmetic(case.rule == "plain", Fact("plain_descent", f"the rule is {case.rule}"))


def constant_step(case: Case, _: Selection) -> Outcome:
    """Whether η₀ = η."""
    if case.step is None:
        return undecided("no step size is given")
    return arithmetic(case.constant_step, Fact(
        "constant_step", f"η₀ = {case.opening_step}, η = {case.step}",
        (("eta_0", str(case.opening_step)), ("eta", str(case.step)))))


def selects_opt(case: Case, alpha: Selection) -> Outcome:
    """Whether α = opt."""
    same = alpha == case.opt
    return arithmetic(same, Fact("selects_opt", f"α = {list(alpha)} {'=' if same else '≠'} "
                                 f"opt = {list(case.opt)}"))


def decreasing_loss(case: Case, _: Selection) -> Outcome:
    """Whether ℓ' < 0 on the range of the scores: always so but for the cubic loss."""
    slope = {"logistic": "−1/(1 + e^u)", "exponential": "−e^−u", "correlation": "−1",
             CUBIC: "−3u²"}[case.loss]
    if case.loss != CUBIC:
        return arithmetic(True, Fact("decreasing_loss", f"ℓ'(u) = {slope} < 0 for every u"))
    for i, scores in enumerate(case.dataset.scores):
        if not decreasing(CUBIC, min(scores), max(scores)):
            return arithmetic(False, Fact(
                "decreasing_loss", f"ℓ'(u) = {slope} is 0 at u = 0, and the scores of sample {i} "
                f"run from {min(scores)} to {max(scores)}"))
    return arithmetic(True, Fact("decreasing_loss", f"ℓ'(u) = {slope} < 0, as no scores of a "
                                 "sample have 0 between them"))


def no_stationary_point(case: Case, _: Selection) -> Verdict:
    """Whether ∇L(W) ≠ 0 for every W; to a sceptic only if no zero is found either."""
    if case.skeptical and case.loss != CUBIC:
        zero = krawczyk.proof(case.dataset, case.loss)
        if zero is not None:
            return stationary.refuted(zero, case.loss)
    return stationary.decide(case.dataset, case.loss)


def every_selection_feasible(case: Case, _: Selection) -> Outcome:
    """Whether Att-SVM(α) is feasible for every α: by independence, else one by one."""
    dataset = case.dataset
    independent = full_rank.decide(dataset)
    if independent.holds:
        return from_verdict(independent)
    count = prod(dataset.lengths)
    if count > MAX_SELECTIONS:
        return undecided(f"the features are dependent, and {count:,} selections are more than "
                         f"{MAX_SELECTIONS:,}, which are decided one by one")
    deadline = time.monotonic() + case.seconds
    verdicts = []
    for alpha in product(*map(range, dataset.lengths)):
        verdict = feasibility.decide(dataset, alpha)
        if verdict.fails:
            return from_verdict(verdict)
        verdicts.append(from_verdict(verdict))
        if time.monotonic() > deadline:
            return undecided(f"the features are dependent, and {case.seconds:g} seconds were over "
                             f"after {len(verdicts)} of {count:,} selections, all feasible")
    return joined(Status.HOLDS, verdicts)
