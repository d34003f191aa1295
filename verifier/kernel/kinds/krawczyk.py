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
from ..intervals import Interval, Undetermined, total
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
    bits = fields["precision"].integer(MIN_PRECISION, MAX_PRECISION) + _GUARD
    try:
        at_center = _Box(claim, space, center, Fraction(0), bits).gradient()
        jacobian = _Box(claim, space, center, radius, bits).jacobian()
    except Undetermined as error:
        raise fields["radius"].refuse(Code.NOT_CONTRACTING, f"the box is too wide: {error}"
                                      ) from None
    C = _points(fields["preconditioner"].matrix(r, r), bits)
    for k, (moved, row) in enumerate(zip(_product(C, [[entry] for entry in at_center], bits),
                                         _product(C, jacobian, bits), strict=True)):
        norm = total((_largest((k == m) - entry) for m, entry in enumerate(row)), bits)
        if not (_largest(moved[0]) + radius * norm).below(radius):
            raise node.refuse(Code.NOT_CONTRACTING, f"the test fails in row {k}")
    kind = "" if fields["inertia"].is_null else _inertia(fields["inertia"], jacobian, bits)
    where = ", ".join(number_text(c, _SHOWN_BITS) for c in center)
    return Proved(f"exactly one W = Σ y_k B_k with |y_k - c_k| ≤ {number_text(radius, _SHOWN_BITS)}"
                  f" is stationary, c = ({where}), B_k = (x_i0 - x_it) z_iᵀ of rows "
                  f"{rows_text(space.rows)}{kind}", ENCLOSED)


def _inertia(node: Node, jacobian: Entries, bits: int) -> str:
    """The signs of -J, the Hessian of n L on the row space, by a congruence A = -Pᵀ J P.

    A strictly diagonally dominant in its whole enclosure is nonsingular, hence P is, and has as
    many negative eigenvalues as negative diagonal entries (Gershgorin); so has -J (Sylvester).
    """
    r = len(jacobian)
    fields = node.object("congruence", "negative")
    stated = fields["negative"].index(r + 1)
    P = _points(fields["congruence"].matrix(r, r), bits)
    transposed = [list(column) for column in zip(*P, strict=True)]
    found = 0
    # The sign is left out: these are the rows of PᵀJP, J is minus the Hessian.
    for k, row in enumerate(_product(transposed, _product(jacobian, P, bits), bits)):
        others = total((_largest(entry) for m, entry in enumerate(row) if m != k), bits)
        if not others.below(_smallest(row[k])):
            raise fields["congruence"].refuse(Code.WRONG_INERTIA, f"row {k} is not dominant")
        found += row[k].is_positive()
    if found != stated:
        raise fields["negative"].refuse(Code.WRONG_INERTIA,
                                        f"{found} diagonal entries are negative")
    name = {0: "a local minimum", r: "a local maximum on it"}.get(found, "a saddle")
    return (f"; the Hessian on the row space has {found} negative and {r - found} positive "
            f"eigenvalues: {name} there")


@dataclass(frozen=True)
class _Sample:
    """One sample over the box: h^k_t times the scale, and enclosures of what its softmax makes.

    `pulls` are s_t (γ_t - f); `slope` is |ℓ'(f)| and `bend` ℓ''(f).
    """

    h: list[tuple[int, ...]]
    weights: list[Interval]
    pulls: list[Interval]
    slope: Interval
    bend: Interval


class _Box:
    """G and J on |y_k - c_k| ≤ ρ. A flat sample adds nothing to either, whatever its weights.

    Raises `Undetermined` if the box is so wide that a softmax weight is not enclosed.
    """

    def __init__(self, claim: Claim, space: RowSpace, center: Sequence[Fraction],
                 radius: Fraction, bits: int) -> None:
        self._space, self._bits = space, bits
        scale = common_denominator(center)
        at = integers(center, scale)
        self._samples = []
        for i, scores in enumerate(claim.dataset.scores):
            if not claim.dataset.is_flat(i):
                logits = [Fraction(dot(F, at), scale * space.scale) for F in space.logits[i]]
                reach = [[radius * sum(abs(a - b) for a, b in zip(F, E, strict=True)) / space.scale
                          for E in space.logits[i]] for F in space.logits[i]]
                self._samples.append(self._sample(claim.loss, scores, logits, reach,
                                                  space.coordinates(i)))

    def _sample(self, loss: str | None, scores: list[Fraction], logits: list[Fraction],
                reach: list[list[Fraction]], h: list[tuple[int, ...]]) -> _Sample:
        """s_t = 1/Σ_τ e^(logit_τ - logit_t); a difference of logits has a reach about c."""
        bits, tokens = self._bits, range(len(scores))
        weights = [1 / total((self._around(logits[u] - logits[t], reach[t][u]).exp()
                              for u in tokens), bits) for t in tokens]
        # From its lowest score f is a sum of nonnegative terms: nothing cancels.
        f = min(scores) + total((weight * (score - min(scores)) for score, weight
                                 in zip(scores, weights, strict=True)), bits)
        pulls = [weight * (score - f) for score, weight in zip(scores, weights, strict=True)]
        if loss == "correlation":
            slope, bend = Interval.of(1, bits), Interval.of(0, bits)
        elif loss == "exponential":
            slope = bend = (-f).exp()
        else:
            slope = 1 / (1 + f.exp())
            bend = slope * (1 - slope)
        return _Sample(h, weights, pulls, slope, bend)

    def _around(self, x: Fraction, reach: Fraction) -> Interval:
        size = Interval.of(reach, self._bits).hi, Interval.of(reach, self._bits).exponent
        return Interval.of(x, self._bits) + Interval(-size[0], *size, self._bits)

    def gradient(self) -> list[Interval]:
        """G_k = Σ_i |ℓ'(f_i)| Σ_t s_t (γ_t - f) h^k_t."""
        bits, unit = self._bits, Fraction(1, self._space.scale)
        return [total((part.slope * _mean(part.pulls, part.h[k], bits)
                       for part in self._samples), bits) * unit
                for k in range(self._space.dimension)]

    def jacobian(self) -> Entries:
        """J_km = ∂G_k/∂y_m, symmetric."""
        bits, r = self._bits, self._space.dimension
        upper = [[Interval.of(0, bits)] * r for _ in range(r)]
        for part in self._samples:
            means = [_mean(part.weights, row, bits) for row in part.h]
            centered = [[x - mean for x in row] for row, mean in zip(part.h, means, strict=True)]
            pulled = [[a * b for a, b in zip(part.pulls, row, strict=True)] for row in centered]
            covariances = [total(row, bits) for row in pulled]
            for k in range(r):
                for m in range(k, r):
                    third = total((a * b for a, b in zip(pulled[k], centered[m], strict=True)),
                                  bits)
                    upper[k][m] += (part.slope * third
                                    - part.bend * covariances[k] * covariances[m])
        unit = Fraction(1, self._space.scale**2)
        return [[upper[min(k, m)][max(k, m)] * unit for m in range(r)] for k in range(r)]


def _mean(weights: Sequence[Interval], values: Sequence[int], bits: int) -> Interval:
    return total((weight * x for weight, x in zip(weights, values, strict=True) if x), bits)


def _largest(x: Interval) -> Interval:
    """The largest absolute value, as a number on its own."""
    size = max(-x.lo, x.hi)
    return Interval(size, size, x.exponent, x.bits)


def _smallest(x: Interval) -> Interval:
    """The smallest absolute value, as a number on its own."""
    size = max(x.lo, -x.hi, 0)
    return Interval(size, size, x.exponent, x.bits)


def _points(matrix: Sequence[Sequence[Fraction]], bits: int) -> Entries:
    return [[Interval.of(x, bits) for x in row] for row in matrix]


def _product(A: Entries, B: Entries, bits: int) -> Entries:
    columns = list(zip(*B, strict=True))
    return [[total((a * b for a, b in zip(row, column, strict=True)), bits)
             for column in columns] for row in A]
