"""Which tokens does the best mixture of a sample take, with the head v·x − λ‖x‖² (Lemma 6)?

Statement
    In every sample exactly one s of the simplex has the largest Y_i h(X_iᵀ s), where
    h(x) = v·x − λ‖x‖² with the λ of the certificate, and it is the certificate's.
Hypotheses
    λ > 0. The tokens are any: for orthonormal ones the nonzeros of s are counted by Lemma 6.
Certificate
    `simplex_maximizer` (holds), `simplex_tie` (fails).
Decision procedure
    Where Y_i = 1, X_iᵀ s is the point of the hull of the tokens nearest to v/(2λ), which is an
    Att-SVM: that point against each token (`conditions.separation.frobenius`, exact). s is unique
    iff Gen-SVM separates its tokens from the others at the same height. Where Y_i = −1 the largest
    value is at a token. Never undecided.
Reference
    arXiv 2308.16898 v1, Lemma 6; docs/theory/general.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from flint import fmpq

from conditions.certificates import SimplexMaximizer, SimplexTie, Vector
from conditions.dataset import AttentionDataset
from conditions.errors import InvalidInput
from conditions.exact.numbers import rational, to_float
from conditions.selection import features
from conditions.separation.frobenius import solve_exactly
from conditions.separation.general import GenInfeasible
from conditions.separation.general import solve_exactly as solve_sets
from conditions.verdict import Status, Verdict, proved

CONDITION = "simplex_support"


@dataclass(frozen=True)
class Mixture:
    """The only weights of the largest value, and a normal that shows it; () where Y = −1."""

    weights: Vector
    normal: Vector

    @property
    def support(self) -> tuple[int, ...]:
        """The tokens of positive weight."""
        return tuple(t for t, s in enumerate(self.weights) if s != 0)


@dataclass(frozen=True)
class Tie:
    """Two different weights, both of the largest value."""

    first: Vector
    second: Vector


def decide(dataset: AttentionDataset, lam: Any) -> Verdict:
    """Decide the condition for λ = *lam*, any exact number > 0. Raises ``InvalidInput``."""
    exact = rational(lam, "lambda")
    if exact <= 0:
        raise InvalidInput("lambda", lam, "must be positive", "with λ = 0 the head is linear")
    found: list[Mixture] = []
    for i in range(dataset.n):
        best = best_mixture(dataset, i, exact)
        if isinstance(best, Tie):
            return proved(CONDITION, Status.FAILS,
                          SimplexTie(exact, i, (best.first, best.second)),
                          f"two mixtures of the tokens of sample {i} have the largest output",
                          number=f"tie in sample {i}")
        found.append(best)
    counts = {len(best.support) for best in found}
    shown = str(min(counts)) if len(counts) == 1 else f"{min(counts)}–{max(counts)}"
    return proved(CONDITION, Status.HOLDS,
                  SimplexMaximizer(exact, tuple(best.weights for best in found),
                                   tuple(best.normal for best in found)),
                  f"with λ ≈ {to_float(exact):.6g} the best mixtures take {shown} tokens: "
                  + "; ".join(",".join(map(str, best.support)) for best in found),
                  number=f"{shown} tokens")


def orthonormal_count(scores: Sequence[fmpq], lam: fmpq) -> int:
    """How many tokens the best mixture takes if they are orthonormal, their scores being *scores*.

    The weights are then the projection of γ/(2λ) on the simplex: the k best tokens are all taken
    iff Σ_{t ≤ k} (γ_t − γ_k) < 2λ, in falling order.

    >>> orthonormal_count([fmpq(3), fmpq(1), fmpq(0)], fmpq(3, 2))
    2
    """
    falling = sorted(scores, reverse=True)
    taken, total = 0, fmpq(0)
    for score in falling:
        if total - taken * score >= 2 * lam:
            break
        taken, total = taken + 1, total + score
    return taken


def lemma_6_interval(scores: Sequence[fmpq], tau: int) -> tuple[fmpq, fmpq] | None:
    """The open interval of λ for which Lemma 6 says 2..τ tokens, or None if it is empty.

    γ^gap_1 < λ < τ γ^gap_τ / 2 with γ^gap_t = γ_t − γ_{t+1} in falling order, for 2 ≤ τ < T, else
    ``InvalidInput``.
    """
    if not 2 <= tau < len(scores):
        raise InvalidInput("tau", tau, f"must be in 2..{len(scores) - 1}", "choose another")
    falling = sorted(scores, reverse=True)
    low = falling[0] - falling[1]
    high = fmpq(tau, 2) * (falling[tau - 1] - falling[tau])
    return (low, high) if low < high else None


def best_mixture(dataset: AttentionDataset, i: int, lam: fmpq) -> Mixture | Tie:
    """The weights of the largest Y_i h(X_iᵀ s) in sample *i*, for λ = *lam* > 0, exact."""
    if dataset.labels[i] == 1:
        return _nearest(dataset.tokens[i], [v / (2 * lam) for v in dataset.head])
    head, tokens = dataset.head, dataset.tokens[i]
    # Y h is convex in s: its largest value is that of a token.
    values = [lam * _dot(x, x) - _dot(head, x) for x in tokens]
    best = [t for t, value in enumerate(values) if value == max(values)]
    first, *others = [_unit(t, len(tokens)) for t in best]
    return Tie(first, others[0]) if others else Mixture(first, ())


def _nearest(tokens: tuple[Vector, ...], target: list[fmpq]) -> Mixture | Tie:
    """The weights s whose mixture o = Σ s_t x_t is nearest to *target*."""
    weights = _normalized(_attracting(tokens, target), len(tokens))
    mixture = [sum((s * x[k] for s, x in zip(weights, tokens, strict=True)), fmpq(0))
               for k in range(len(target))]
    outward = [a - b for a, b in zip(target, mixture, strict=True)]
    heights = [_dot(outward, x) for x in tokens]
    face = [t for t, height in enumerate(heights) if height == max(heights)]
    inside = [k for k, t in enumerate(face) if weights[t] != 0]
    if len(inside) == len(face):
        return Mixture(weights, tuple(outward))
    # Others at the height of the support: a mixture of them may move the weights, or a plane may
    # keep them away. Which, is Gen-SVM with one query.
    level = _one_query([tokens[t] for t in face])
    outcome = solve_sets(level, (tuple(inside),))
    if isinstance(outcome, GenInfeasible):
        change = {face[t]: value for parts in (outcome.multipliers, outcome.equality_multipliers)
                  for (_, t), value in parts.items()}
        return Tie(weights, _moved(weights, change, face[inside[0]]))
    tilt = [row[0] for row in outcome.W.tolist()]
    return Mixture(weights, _between(outward, tilt, tokens, heights, face))


def _attracting(tokens: tuple[Vector, ...], target: list[fmpq]) -> dict[int, fmpq]:
    """Multipliers > 0 whose mixture of the tokens is the nearest to *target*.

    W^mm of the selection of *target* against all tokens is a multiple of target − o, o the nearest
    point: a nonnegative combination of the target − x_t. In the hull, that combination is 0.
    """
    against = _one_query([tuple(target), *tokens])
    return solve_exactly(features(against, (0,))).multipliers


def _one_query(tokens: list[Vector]) -> AttentionDataset:
    """One sample of these tokens with the query e_1: W z is the first column of W."""
    d = len(tokens[0])
    first = tuple(fmpq(int(k == 0)) for k in range(d))
    return AttentionDataset((tuple(tokens),), (1,), (first,), first)


def _between(outward: list[fmpq], tilt: list[fmpq], tokens: tuple[Vector, ...],
             heights: list[fmpq], face: list[int]) -> Vector:
    """outward·c + tilt, c so large that the tokens off the face stay below those of the support."""
    top = max(heights)
    level = max(_dot(tilt, tokens[t]) for t in face)
    rise = [(_dot(tilt, x) - level) / (top - height)
            for x, height in zip(tokens, heights, strict=True) if height != top]
    factor = max([fmpq(0), *rise]) + 1
    return tuple(factor * a + b for a, b in zip(outward, tilt, strict=True))


def _moved(weights: Vector, change: dict[int, fmpq], base: int) -> Vector:
    """Other weights of the same mixture: along *change*, Σ change_t (x_base − x_t) = 0.

    Only tokens of positive weight lose any, so that the step is positive.
    """
    direction = [change.get(t, fmpq(0)) for t in range(len(weights))]
    direction[base] -= sum(direction, fmpq(0))
    step = min(s / -move for s, move in zip(weights, direction, strict=True) if move < 0)
    return tuple(s + step * move for s, move in zip(weights, direction, strict=True))


def _normalized(multipliers: dict[int, fmpq], count: int) -> Vector:
    total = sum(multipliers.values(), fmpq(0))
    return tuple(multipliers.get(t, fmpq(0)) / total for t in range(count))


def _unit(t: int, count: int) -> Vector:
    return tuple(fmpq(int(k == t)) for k in range(count))


def _dot(a: Any, b: Any) -> fmpq:
    return sum((x * y for x, y in zip(a, b, strict=True)), fmpq(0))
