"""Real algebraic numbers as roots of irreducible polynomials, compared and used exactly."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache, total_ordering
from itertools import pairwise

from flint import arb, ctx, fmpq, fmpq_poly, fmpz_poly

from conditions.exact.numbers import to_float


@lru_cache(maxsize=4096)
def _isolated(coefficients: tuple[int, ...]) -> tuple[tuple[fmpq, fmpq], ...]:
    """Disjoint intervals with rational ends, one a real root, in increasing order."""
    polynomial = fmpz_poly(list(coefficients))
    if polynomial.degree() == 1:
        root = fmpq(-coefficients[0], coefficients[1])
        return ((root, root),)
    bits = 64
    while True:
        with ctx.workprec(bits):
            # Of the isolated roots the real ones have the imaginary part 0, exactly.
            balls = sorted((ball.real for ball, _ in polynomial.complex_roots()
                            if ball.imag == 0), key=lambda ball: _rational(ball.mid()))
            ends = [(_rational(ball.lower()), _rational(ball.upper())) for ball in balls]
        if all(a[1] < b[0] for a, b in pairwise(ends)):
            return tuple(ends)
        bits *= 2


def _rational(ball: arb) -> fmpq:
    mantissa, exponent = ball.man_exp()
    return fmpq(mantissa) * (fmpq(2) ** int(exponent))


@total_ordering
@dataclass(frozen=True)
class Point:
    """The real root number ``index`` (from 0, increasing) of an irreducible integer polynomial.

    ``coefficients``: lowest first, coprime, the last one positive. So equal points are equal.
    """

    coefficients: tuple[int, ...]
    index: int

    @classmethod
    def of(cls, value: fmpq) -> Point:
        """A rational point."""
        return cls((-int(value.p), int(value.q)), 0)

    @cached_property
    def polynomial(self) -> fmpq_poly:
        """The minimal polynomial, up to a factor."""
        return fmpq_poly(list(self.coefficients))

    @property
    def rational(self) -> fmpq | None:
        """The value if it is rational."""
        return fmpq(-self.coefficients[0], self.coefficients[1]) \
            if len(self.coefficients) == 2 else None

    @property
    def interval(self) -> tuple[fmpq, fmpq]:
        """Rational ends around this root and no other of its polynomial."""
        return _isolated(self.coefficients)[self.index]

    def enclosure(self, bits: int) -> tuple[fmpq, fmpq]:
        """Ends at most 2^−bits apart around the point."""
        low, high = self.interval
        if low == high:
            return low, high
        at_low = self.polynomial(low)
        if at_low == 0:
            return low, low
        while high - low > fmpq(1, 1 << bits):
            middle = (low + high) / 2
            value = self.polynomial(middle)
            if (value > 0) == (at_low > 0) and value != 0:
                low = middle
            else:
                high = middle
        return low, high

    def sign(self, polynomial: fmpq_poly) -> int:
        """The sign of *polynomial* at the point."""
        if polynomial == 0 or polynomial % self.polynomial == 0:
            return 0
        bits = 16
        while True:
            low, high = self.enclosure(bits)
            value = _range(polynomial, low, high)
            if value[0] > 0:
                return 1
            if value[1] < 0:
                return -1
            bits *= 2

    def __lt__(self, other: Point) -> bool:
        if self == other:
            return False
        bits = 16
        while True:
            (a, b), (c, e) = self.enclosure(bits), other.enclosure(bits)
            if b < c:
                return True
            if e < a:
                return False
            bits *= 2

    def __float__(self) -> float:
        low, high = self.enclosure(64)
        return to_float((low + high) / 2)


def _range(polynomial: fmpq_poly, low: fmpq, high: fmpq) -> tuple[fmpq, fmpq]:
    """An interval that contains the values on [low, high], by Taylor's formula at the middle."""
    middle, radius = (low + high) / 2, (high - low) / 2
    value, spread, factor, power = polynomial(middle), fmpq(0), 1, fmpq(1)
    derivative = polynomial
    for k in range(1, polynomial.degree() + 1):
        derivative, factor, power = derivative.derivative(), factor * k, power * radius
        spread += abs(derivative(middle)) * power / factor
    return value - spread, value + spread


@lru_cache(maxsize=4096)
def _factors(coefficients: tuple[fmpq, ...]) -> tuple[tuple[int, ...], ...]:
    polynomial = fmpq_poly(list(coefficients)).numer()
    return tuple(tuple(int(c) for c in factor.coeffs()) if factor.leading_coefficient() > 0
                 else tuple(-int(c) for c in factor.coeffs())
                 for factor, _ in polynomial.factor()[1] if factor.degree() > 0)


def real_roots(polynomial: fmpq_poly) -> list[Point]:
    """The distinct real roots of a polynomial other than 0, not sorted."""
    return [Point(factor, k) for factor in _factors(tuple(polynomial.coeffs()))
            for k in range(len(_isolated(factor)))]


def between(low: Point, high: Point, position: int = 0) -> fmpq:
    """A short rational strictly between two points; there are ever new ones for new positions."""
    bits = 8
    while True:
        left, right = low.enclosure(bits)[1], high.enclosure(bits)[0]
        if left < right:
            break
        bits *= 2
    # 1/2, 1/4, 3/4, 1/8, 5/8, …, on a grid fine enough to tell values of one denominator apart.
    # Whatever is special about some of them is not about all: no finite set holds them.
    count = position + 1
    depth = count.bit_length()
    share = fmpq(int(f"{count:b}"[::-1], 2), 1 << depth)
    target, width = left + (right - left) * share, (right - left) / (32 << depth)
    scale = fmpq(1)
    while scale > width:
        scale /= 2
    return (target / scale).floor() * scale
