"""Certificates in words and figures, so that a person can follow a small counterexample by hand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from flint import fmpq, fmpq_mat

from conditions.certificates import (
    Certificate,
    ExactKKT,
    Farkas,
    FirstStepMargins,
    InvariantRay,
    Krawczyk,
    OptimalTokens,
    ScoreLevels,
    Separator,
    ShorterSeparator,
    StalledDescent,
    TiedLogits,
    VerifiedRun,
)
from conditions.dataset import AttentionDataset
from conditions.exact.numbers import to_float
from conditions.gradient_at_zero import exact_pull
from conditions.losses import CUBIC
from conditions.selection import Selection, features, optimal_selection
from conditions.verdict import Verdict
from verifier.claims.steps import shown

Lines = list[str]


def vector(values: Sequence[fmpq]) -> str:
    """(a, b, …)."""
    return "(" + ", ".join(shown(x) for x in values) + ")"


def matrix(rows: Sequence[Sequence[fmpq]]) -> str:
    """[(a, b), (c, d)], row by row."""
    return "[" + ", ".join(vector(row) for row in rows) + "]"


def witness(dataset: AttentionDataset, verdict: Verdict) -> Lines:
    """The certificate of *verdict*, with the arithmetic that checks it where that is short."""
    certificate = verdict.certificate
    explain = _EXPLAIN.get(type(certificate)) if certificate is not None else None
    if certificate is None or explain is None:
        kind = "" if certificate is None else f" (certificate of kind {certificate.kind})"
        return [verdict.reason + kind]
    return explain(dataset, verdict, certificate)


def _selection(dataset: AttentionDataset, verdict: Verdict) -> Selection:
    return verdict.selection or optimal_selection(dataset)


def _scores(dataset: AttentionDataset, verdict: Verdict, certificate: Any) -> Lines:
    return [f"scores of sample {i}: {vector(scores)}" for i, scores in enumerate(dataset.scores)]


def _margins(dataset: AttentionDataset, alpha: Selection, W: Any, name: str) -> Lines:
    phi = features(dataset, alpha)
    return [f"margin of token {alpha[i]} over {t} in sample {i} under {name}: {shown(m)}"
            for (i, t), m in zip(phi.rows, phi.margins(fmpq_mat([list(r) for r in W])),
                                 strict=True)]


def _separator(dataset: AttentionDataset, verdict: Verdict, certificate: Separator) -> Lines:
    return [f"W = {matrix(certificate.W)} separates:",
            *_margins(dataset, _selection(dataset, verdict), certificate.W, "W")]


def _farkas(dataset: AttentionDataset, verdict: Verdict, certificate: Farkas) -> Lines:
    alpha = _selection(dataset, verdict)
    lines = ["a positive combination of features is 0, so that no W can separate:"]
    for i, t, weight in certificate.multipliers:
        delta = [a - b for a, b in zip(dataset.tokens[i][alpha[i]], dataset.tokens[i][t],
                                       strict=True)]
        lines.append(f"  {shown(weight)} times {vector(delta)} {vector(dataset.queries[i])}ᵀ "
                     f"(sample {i}, token {alpha[i]} over {t})")
    return lines


def _solution(dataset: AttentionDataset, verdict: Verdict, certificate: ExactKKT) -> Lines:
    alpha = _selection(dataset, verdict)
    phi = features(dataset, alpha)
    positions = [phi.index[i, t] for i, t, _ in certificate.multipliers]
    W = phi.combination(positions, [x for *_, x in certificate.multipliers])
    parts = ", ".join(f"{shown(x)} at ({i}, {t})" for i, t, x in certificate.multipliers)
    return [f"W^mm of α = {list(alpha)} is Σ λφ = {matrix(W.tolist())} with λ = {parts}; its "
            f"support indices are {[list(row) for row in certificate.support]}:",
            *_margins(dataset, alpha, W.tolist(), "W^mm")]


def _stalled(dataset: AttentionDataset, verdict: Verdict, certificate: StalledDescent) -> Lines:
    first = exact_pull(dataset, str(verdict.loss))
    assert first is not None, "the kind is about the cubic loss"
    first *= certificate.first_step
    solution = features(dataset, optimal_selection(dataset))
    W = solution.combination([solution.index[i, t] for i, t, _ in certificate.solution],
                             [x for _, _, x in certificate.solution])
    return [f"W(1) = −η₀∇L(0) = {matrix(first.tolist())}, W^mm of opt = {matrix(W.tolist())}",
            f"{verdict.reason}",
            f"in the ball of radius r = {to_float(certificate.radius):.4g} ‖∇f‖ lies between "
            f"{to_float(certificate.least_slope):.4g} and "
            f"{to_float(certificate.largest_slope):.4g}, and no later step leaves it; it misses "
            "every multiple of W^mm"]


def _ray(dataset: AttentionDataset, verdict: Verdict, certificate: InvariantRay) -> Lines:
    D = certificate.direction
    lines = [f"D = {matrix(D)}. Logits under D and pulls (γ_t − γ_τ)(x_t − x_τ)zᵀ:"]
    for i, (tokens, query, scores) in enumerate(zip(dataset.tokens, dataset.queries,
                                                    dataset.scores, strict=True)):
        field = [sum((a * b for a, b in zip(row, query, strict=True)), fmpq(0)) for row in D]
        logits = [sum((a * b for a, b in zip(x, field, strict=True)), fmpq(0)) for x in tokens]
        lines.append(f"  sample {i}: logits {vector(logits)}")
        for t, high in enumerate(scores):
            for s, low in enumerate(scores):
                if high > low:
                    pull = [(high - low) * (a - b) for a, b in zip(tokens[t], tokens[s],
                                                                    strict=True)]
                    lines.append(f"    token {t} against {s}: {vector(pull)} {vector(query)}ᵀ")
    lines.append("Pairs whose logits differ alike have equal weights at every rD, and their pulls "
                 "add up to a positive multiple of D, or to 0:")
    lines.append("  descent from any rD, W = 0 included, stays on the line of D, by any rule and "
                 "step.")
    exclusion = certificate.exclusion
    if isinstance(exclusion, TiedLogits):
        lines.append(f"D gives tokens {list(exclusion.tokens)} of sample {exclusion.sample} the "
                     "same largest logit, so it is a multiple of no W^mm_α.")
    elif isinstance(exclusion, ShorterSeparator):
        square = sum((x * x for row in exclusion.W for x in row), fmpq(0))
        lines.append("D is a multiple of no W^mm_α: the α that it selects is separated with "
                     f"margins ≥ 1 by the shorter {matrix(exclusion.W)}, of squared norm "
                     f"{shown(square)}.")
    else:
        lines.append("D is W^mm_α of the α that it selects, which is not locally optimal.")
    return lines


def _run(dataset: AttentionDataset, verdict: Verdict, certificate: VerifiedRun) -> Lines:
    basin = certificate.basin
    solution = basin.solution
    return [f"{certificate.rule} descent with η = {shown(certificate.step)} from W(0) = "
            f"{matrix(certificate.start)}: after {certificate.steps} steps, enclosed with "
            f"{certificate.precision} bits, W lies in a basin ({basin.kind}) of W^mm_α, "
            f"α = {list(_selection(dataset, verdict))}",
            *(_solution(dataset, verdict, solution) if isinstance(solution, ExactKKT) else ())]


def _first_step(dataset: AttentionDataset, verdict: Verdict, certificate: FirstStepMargins
                ) -> Lines:
    G = exact_pull(dataset, str(verdict.loss))
    if G is None:
        return [f"{verdict.reason} (certificate of kind {certificate.kind})"]
    slope = "3f_i² " if verdict.loss == CUBIC else ""
    return [f"−n∇L(0) = Σ {slope}(γ_it − f_i)/T_i x_it z_iᵀ = {matrix(G.tolist())}, f_i the mean "
            "score:", *_margins(dataset, optimal_selection(dataset), G.tolist(), "−n∇L(0)")]


def _zero(dataset: AttentionDataset, verdict: Verdict, certificate: Krawczyk) -> Lines:
    center = ", ".join(f"{to_float(y):.6f}" for y in certificate.center)
    return [f"∇L(W) = 0 at one W = Σ y_k (x_i0 − x_it)z_iᵀ, (i, t) in {list(certificate.basis)}, "
            f"with y within {shown(certificate.radius)} of ({center}), rounded here (Krawczyk)"]


_EXPLAIN: dict[type[Certificate], Callable[[AttentionDataset, Verdict, Any], Lines]] = {
    OptimalTokens: _scores, ScoreLevels: _scores, Separator: _separator, Farkas: _farkas,
    ExactKKT: _solution, FirstStepMargins: _first_step, InvariantRay: _ray, VerifiedRun: _run,
    Krawczyk: _zero, StalledDescent: _stalled}
