"""Does gradient descent from W(0) = 0 run along a ray to a direction of no locally optimal α?

Statement
    Descent (normalized or plain with any constant step, or the flow) from every multiple rD of the
    stated D, W(0) = 0 included, stays on the line of D with r → ∞, so that W/‖W‖_F → D/‖D‖_F; and D
    is a positive multiple of W^mm_α for no locally optimal selection α.
Hypotheses
    None. That the weights along the ray agree is a matter of identical profiles (below), which is
    sufficient, not necessary.
Certificate
    `invariant_ray` (holds); never fails.
Decision procedure
    −∇L is a combination of pair terms s_it s_iτ |ℓ'(f_i)| (γ_it − γ_iτ)(x_it − x_iτ)z_iᵀ. Along rD
    two pairs have one weight for every r if their profiles, the logits of all tokens (for losses
    other than correlation with their scores) relative to the mean logit of the pair, are equal.
    If the matrices of every profile add up to a nonnegative multiple of D, one of them positive,
    the line is invariant. A direction may be given; by default it is that of −∇L(0). All exact.
Reference
    docs/theory/invariant_ray.md; refutes arXiv 2308.16898 v1, Theorem 4, from W(0) = 0.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from flint import fmpq, fmpq_mat, fmpz

from conditions import local_optimality
from conditions.certificates import InvariantRay, ShorterSeparator, TiedLogits
from conditions.certificates.rays import Exclusion
from conditions.dataset import AttentionDataset
from conditions.errors import InvalidInput
from conditions.excess_loss import exact_matrix
from conditions.gradient_at_zero import gradient_terms
from conditions.losses import check_loss
from conditions.selection import Selection, features
from conditions.separation.frobenius import ExactSolution, solve_exactly
from conditions.verdict import Status, Verdict, proved, undecided

CONDITION = "invariant_ray"

_Logits = tuple[tuple[fmpq, ...], ...]
_Profile = tuple[int, fmpq]


def decide(dataset: AttentionDataset, loss: str, direction: Any = None) -> Verdict:
    """Decide the condition for *loss* and D = *direction*, d × d numbers, exact as given.

    direction: None takes that of −∇L(0). Raises ``InvalidInput``, also for D = 0.
    """
    check_loss(loss)
    if direction is None:
        D = first_direction(dataset, loss)
        if D is None:
            return undecided(CONDITION, "no pull at W = 0 gives a direction", loss=loss)
    else:
        D = exact_matrix(direction, dataset.d)
        if not any(D.entries()):
            raise InvalidInput("direction", direction, "must not be 0", "give a direction")
    logits = _logits(dataset, D)
    speeds = ray_speeds(dataset, loss, D, logits)
    if speeds is None:
        return undecided(CONDITION, "the profiles do not show that −∇L is a positive multiple of D "
                         "along its line", loss=loss)
    excluded = _exclusion(dataset, D, logits)
    if isinstance(excluded, tuple):
        return undecided(CONDITION, "the ray is invariant and leads to W^mm_α of the locally "
                         f"optimal α = {excluded}", loss=loss)
    certificate = InvariantRay(tuple(map(tuple, D.tolist())), excluded)
    return proved(CONDITION, Status.HOLDS, certificate,
                  "descent from W = 0 stays on the line of D by any rule and step; "
                  + _meaning(excluded), loss=loss, number=f"{len(speeds)} profiles")


def first_direction(dataset: AttentionDataset, loss: str) -> fmpq_mat | None:
    """The only direction that an invariant line through 0 can have, as coprime integers.

    For correlation it is that of −∇L(0). For the other losses samples of one mean score f pull with
    one weight |ℓ'(f)|, and on such a line every group pulls along D or not at all. None if no group
    pulls.
    """
    pulls = list(gradient_terms(dataset).values())
    if loss == "correlation":
        pulls = [sum(pulls, fmpq_mat(dataset.d, dataset.d))]
    for pull in pulls:
        integers, _ = pull.numer_denom()
        common = fmpz(0)
        for a in integers.entries():
            common = common.gcd(a)
        if common:
            return fmpq_mat(integers) * fmpq(1, common)
    return None


def ray_speeds(dataset: AttentionDataset, loss: str, D: fmpq_mat,
               logits: _Logits | None = None) -> tuple[fmpq, ...] | None:
    """The c ≥ 0 of each profile's sum c·D, one of them positive; None where the line is not shown.

    −n∇L(rD) = (Σ c_k a_k(r)) D with weights a_k > 0 for every real r.
    """
    sums = _profile_sums(dataset, loss, _logits(dataset, D) if logits is None else logits)
    target = D.entries()
    lead = next(k for k, x in enumerate(target) if x)
    speeds = []
    for total in sums.values():
        c = total[lead] / target[lead]
        if c < 0 or any(a != c * b for a, b in zip(total, target, strict=True)):
            return None
        speeds.append(c)
    return tuple(speeds) if any(speeds) else None


def _logits(dataset: AttentionDataset, D: fmpq_mat) -> _Logits:
    """x_itᵀ D z_i, exact."""
    d = dataset.d
    return tuple(
        tuple((fmpq_mat([list(x) for x in tokens]) * (D * fmpq_mat(d, 1, list(query)))).entries())
        for tokens, query in zip(dataset.tokens, dataset.queries, strict=True))


def _profile_sums(dataset: AttentionDataset, loss: str, logits: _Logits
                  ) -> dict[_Profile, list[fmpq]]:
    """Per profile Σ (γ_it − γ_iτ)(x_it − x_iτ) z_iᵀ over its pairs, flattened.

    Equal profiles, equal weights |ℓ'(f)| s_t s_τ along the line. One is that of its sample's shape,
    moved so that its largest logit is 2h_max − h_t − h_τ.
    """
    d = dataset.d
    shapes: dict[tuple[Any, ...], int] = {}
    sums: defaultdict[_Profile, list[fmpq]] = defaultdict(lambda: [fmpq(0)] * (d * d))
    for tokens, query, scores, h in zip(dataset.tokens, dataset.queries, dataset.scores, logits,
                                        strict=True):
        shape, top = _shape(loss, h, scores), 2 * max(h)
        number = shapes.setdefault(shape, len(shapes))
        for t, high in enumerate(scores):
            for s, low in enumerate(scores):
                if high <= low:
                    continue
                total = sums[number, top - h[t] - h[s]]
                for a in range(d):
                    pull = (high - low) * (tokens[t][a] - tokens[s][a])
                    for b in range(d):
                        total[a * d + b] += pull * query[b]
    return sums


def _shape(loss: str, h: Sequence[fmpq], scores: Sequence[fmpq]) -> tuple[Any, ...]:
    """The logits relative to the largest, sorted, with their scores unless |ℓ'| = 1."""
    top = max(h)
    below = [x - top for x in h]
    return tuple(sorted(below if loss == "correlation" else zip(below, scores, strict=True)))


# Where the ray does not lead --------------------------------------------------------------------


def _exclusion(dataset: AttentionDataset, D: fmpq_mat, logits: _Logits
               ) -> Exclusion | Selection:
    """Why D is W^mm_α for no locally optimal α, or the α for which it is.

    All margins of W^mm_α, hence of its multiples, are positive: α can only be the argmax under D.
    """
    chosen = []
    for i, h in enumerate(logits):
        first, *others = [t for t, x in enumerate(h) if x == max(h)]
        if others:
            return TiedLogits(i, (first, others[0]))
        chosen.append(first)
    alpha = tuple(chosen)
    solution = solve_exactly(features(dataset, alpha))
    assert isinstance(solution, ExactSolution), "D separates α"
    margin = min(solution.features.margins(D))
    if solution.W * margin != D:
        return ShorterSeparator(tuple(map(tuple, solution.W.tolist())))
    if set(solution.support) & set(local_optimality.rivals(solution.features)):
        return solution.certificate
    return alpha


def _meaning(exclusion: Exclusion) -> str:
    if isinstance(exclusion, TiedLogits):
        return f"D ties tokens of sample {exclusion.sample}, so it is a multiple of no W^mm_α"
    what = ("is not W^mm_α" if isinstance(exclusion, ShorterSeparator)
            else "is W^mm_α and not locally optimal")
    return f"D selects one α and {what} of it"
