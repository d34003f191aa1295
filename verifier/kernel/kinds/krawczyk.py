"""A stationary point, proved by Krawczyk's test in coordinates of the row space (S4).

G_k(y) = -n⟨∇L(W), B_k⟩ with W = Σ y_k B_k, and J its Jacobian. N(y) = y - C G(y) has N(y) - N(y') =
(I - C Ĵ)(y - y') with Ĵ, a mean of J on the segment, in any interval matrix around J(Y). If
|C G(c)|_k + ρ Σ_m |I - C J|_km < ρ in every row then N maps the box Y into itself and contracts in
the maximum norm: one fixed point, which is a zero of G as ‖I - C J‖ < 1 makes C nonsingular.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from ..claim import ENCLOSED, Claim, Proved, number_text, rows_text
from ..intervals import Interval, exp_interval, fraction, slope, total
from ..linear import dot
from ..numbers import common_denominator, integers
from ..reading import Node
from ..refusals import Code
from ..row_space import RowSpace, read_basis
from .first_step import MAX_PRECISION, MIN_PRECISION

_GUARD = 64
_SHOWN_BITS = 512

Entries = list[list[Interval]]


def krawczyk(claim: Claim, node: Node) -> Proved:
    """Exactly one zero of G in the box, and the inertia of the Hessian there if stated."""
    fields = node.object("kind", "basis", "center", "radius", "preconditioner", "precision",
                         "inertia")
    space = read_basis(fields["basis"], claim)
    r = space.dimension
    center = fields["center"].vector(r)
    radius = fields["radius"].number()
    if radius <= 0:
        raise fields["radius"].refuse(Code.NOT_POSITIVE, "a radius is positive")
    work = fields["precision"].integer(MIN_PRECISION, MAX_PRECISION) + _GUARD
    C = _points(fields["preconditioner"].matrix(r, r), work)
    box = _Box(claim, space, center, Fraction(0), work)
    at_center = [[entry] for entry in box.gradient()]
    jacobian = _Box(claim, space, center, radius, work).jacobian()
    rho = Interval.of(radius, work)
    for k, (moved, row) in enumerate(zip(_product(C, at_center, work),
                                         _product(C, jacobian, work), strict=True)):
        identity = [Interval.of(Fraction(k == m), work) for m in range(r)]
        norm = total([(one - entry).largest
                      for one, entry in zip(identity, row, strict=True)], work)
        if not (rho - moved[0].largest - rho * norm).positive:
            raise node.refuse(Code.NOT_CONTRACTING, f"the test fails in row {k}")
    kind = "" if fields["inertia"].is_null else _inertia(fields["inertia"], jacobian, work)
    where = ", ".join(number_text(c, _SHOWN_BITS) for c in center)
    return Proved(f"exactly one W = Σ y_k B_k with |y_k - c_k| ≤ {number_text(radius, _SHOWN_BITS)}"
                  f" is stationary, c = ({where}), B_k = (x_i0 - x_it) z_iᵀ of rows "
                  f"{rows_text(space.rows)}{kind}", ENCLOSED)


def _inertia(node: Node, jacobian: Entries, work: int) -> str:
    """The signs of -J, the Hessian of n L on the row space, by a congruence A = -Pᵀ J P.

    A strictly diagonally dominant in its whole enclosure is nonsingular, hence P is, and has as
    many negative eigenvalues as negative diagonal entries (Gershgorin); so has -J (Sylvester).
    """
    r = len(jacobian)
    fields = node.object("congruence", "negative")
    stated = fields["negative"].index(r + 1)
    P = _points(fields["congruence"].matrix(r, r), work)
    transposed = [list(column) for column in zip(*P, strict=True)]
    A = _product(transposed, _product(jacobian, P, work), work)
    found = 0
    for k, row in enumerate(A):
        others = [entry.largest for m, entry in enumerate(row) if m != k]
        if not (row[k].smallest - total(others, work)).positive:
            raise fields["congruence"].refuse(Code.WRONG_INERTIA, f"row {k} is not dominant")
        found += row[k].positive  # A without its sign: J is minus the Hessian
    if found != stated:
        raise fields["negative"].refuse(Code.WRONG_INERTIA,
                                        f"{found} diagonal entries are negative")
    name = {0: "a local minimum", r: "a maximum"}.get(found, "a saddle")
    return (f"; the Hessian on the row space has {found} negative and {r - found} positive "
            f"eigenvalues: {name} there")


@dataclass(frozen=True)
class _Sample:
    """One sample over the box: h as integers, and enclosures of what its softmax makes of them.

    `pulls` are s_t (γ_t - f); `slope` is |ℓ'(f)| and `bend` ℓ''(f).
    """

    h: list[tuple[int, ...]]
    weights: list[Interval]
    pulls: list[Interval]
    slope: Interval
    bend: Interval


class _Box:
    """G and J on |y_k - c_k| ≤ ρ. A flat sample adds nothing to either, whatever its weights."""

    def __init__(self, claim: Claim, space: RowSpace, center: Sequence[Fraction],
                 radius: Fraction, work: int) -> None:
        self._work, self._dimension = work, space.dimension
        self._unit = Interval.of(Fraction(1, space.scale), work)
        scale = common_denominator(center)
        at = integers(center, scale)
        self._samples = [
            self._sample(claim, i, space.coordinates(i),
                         [Fraction(dot(F, at), scale * space.scale) for F in space.logits[i]],
                         [[radius * sum(abs(a - b) for a, b in zip(F, E, strict=True))
                           / space.scale for E in space.logits[i]] for F in space.logits[i]])
            for i in range(claim.dataset.n) if not claim.dataset.is_flat(i)]

    def _sample(self, claim: Claim, i: int, h: list[tuple[int, ...]], logits: list[Fraction],
                reach: list[list[Fraction]]) -> _Sample:
        """s_t = 1/Σ_τ e^(logit_τ - logit_t); each difference stays within its reach of c."""
        work, scores = self._work, claim.dataset.scores[i]
        tokens = range(len(scores))
        weights = [total([exp_interval(logits[u] - logits[t] - reach[t][u],
                                       logits[u] - logits[t] + reach[t][u], work)
                          for u in tokens], work).inverse() for t in tokens]
        # f from its lowest score: a mean of nonnegative terms, so no cancellation.
        least, most = min(scores), max(scores)
        mean = total([Interval.of(score - least, work) * weight
                      for score, weight in zip(scores, weights, strict=True)], work)
        low = min(least + fraction(mean.lo), most)
        high = min(least + fraction(mean.hi), most)
        lo, hi = slope(claim.loss, low, high, work)
        steep = Interval(lo, hi, work)
        f = Interval(Interval.of(low, work).lo, Interval.of(high, work).hi, work)
        pulls = [weight * (Interval.of(score, work) - f)
                 for score, weight in zip(scores, weights, strict=True)]
        one = Interval.of(Fraction(1), work)
        bend = {"correlation": one - one, "exponential": steep,
                "logistic": steep * (one - steep)}[claim.loss or ""]
        return _Sample(h, weights, pulls, steep, bend)

    def gradient(self) -> list[Interval]:
        """G_k = Σ_i |ℓ'(f_i)| Σ_t s_t (γ_t - f) h_t^k."""
        work = self._work
        return [total([part.slope * _mean(part.pulls, h[k], work)
                       for part in self._samples for h in (part.h,)], work) * self._unit
                for k in range(self._dimension)]

    def jacobian(self) -> Entries:
        """J_km = ∂G_k/∂y_m, symmetric."""
        work, r = self._work, self._dimension
        terms: list[list[list[Interval]]] = [[[] for _ in range(r)] for _ in range(r)]
        for part in self._samples:
            covariances = [_mean(part.pulls, row, work) for row in part.h]
            means = [_mean(part.weights, row, work) for row in part.h]
            centered = [[Interval.of(Fraction(x), work) - mean for x in row]
                        for row, mean in zip(part.h, means, strict=True)]
            for k in range(r):
                pulled = [a * b for a, b in zip(part.pulls, centered[k], strict=True)]
                for m in range(k, r):
                    third = total([a * b for a, b in zip(pulled, centered[m], strict=True)], work)
                    terms[k][m].append(part.slope * third
                                       - part.bend * covariances[k] * covariances[m])
        unit = self._unit * self._unit
        upper = [[total(entry, work) * unit for entry in row] for row in terms]
        return [[upper[min(k, m)][max(k, m)] for m in range(r)] for k in range(r)]


def _mean(weights: Sequence[Interval], values: Sequence[int], work: int) -> Interval:
    return total([weight.scaled(x) for weight, x in zip(weights, values, strict=True) if x], work)


def _points(matrix: Sequence[Sequence[Fraction]], work: int) -> Entries:
    return [[Interval.of(x, work) for x in row] for row in matrix]


def _product(A: Entries, B: Entries, work: int) -> Entries:
    columns = list(zip(*B, strict=True))
    return [[total([a * b for a, b in zip(row, column, strict=True)], work)
             for column in columns] for row in A]
