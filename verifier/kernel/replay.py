"""Gradient descent replayed in fixed-point integers, with a proved bound of the error.

One *unit* is 2^-p. The center of the enclosure is a matrix of integers, in units; `radius`, an
integer number of units, bounds the Frobenius distance of the true iterate from it. The step is
evaluated at the center, with an error that the comments bound in units, and the radius grows by the
Lipschitz constant of the step (docs/certificates.md, `verified_run`).

Softmax weights may be as small as e^-1000 although only their ratios matter for a normalized step.
So each sample has a block exponent b: its weights are integers in units of 2^(b-p).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from math import isqrt
from operator import mul

from .data import Dataset
from .fixed_point import falling_exp
from .numbers import common_denominator, integers

COARSE = 40
"""Bits after the point of the numbers that bound the growth of the radius, rounded up."""
_NEAR = 20


class NotEnclosed(ArithmeticError):  # noqa: N818 - an outcome, not a fault
    """The enclosure is too wide to go on, or the gradient may be 0."""


def divide_up(a: int, b: int) -> int:
    """The ceiling of a/b for b > 0."""
    return -(-a // b)


def root_up(x: int) -> int:
    """The ceiling of √x."""
    return isqrt(x - 1) + 1 if x else 0


@dataclass(frozen=True)
class _Pairs:
    """One sample against its token a: the tokens t with x_t ≠ x_a, and how many are equal to it.

    The gaps γ_a - γ_t are times the score scale; sizes u_t and gaps are also given in coarse bits.
    """

    equal: int
    tokens: list[int]
    differences: list[list[int]]
    gaps: list[int]
    sizes: list[int]
    coarse_gaps: list[int]


@dataclass(frozen=True)
class Sample:
    """What one sample gives to a step, in its block: pull and curvature times 2^-exponent.

    ``pull`` is Σ w_t (x_a - x_t) times the token and score scales; ``curvature`` is H_i, coarse.
    """

    pull: list[int]
    curvature: int
    exponent: int


class Replay:
    """Exact descent from a start, followed step by step."""

    def __init__(self, data: Dataset, loss: str, rule: str, step: Fraction,
                 start: Sequence[Sequence[Fraction]], bits: int) -> None:
        self.data, self.loss, self.rule, self.step, self.bits = data, loss, rule, step, bits
        scores = [x for row in data.scores for x in row]
        self.score_scale = common_denominator(scores)
        self.scores = [integers(row, self.score_scale) for row in data.scores]
        self.scale = data.token_scale * data.query_scale
        # A flat sample and one with query 0 have no part in the gradient.
        self.samples = [i for i in range(data.n)
                        if not data.is_flat(i) and any(data.integer_queries[i])]
        queries = sorted({tuple(data.integer_queries[i]) for i in self.samples})
        self.queries = [list(query) for query in queries]
        self._query_of = {i: queries.index(tuple(data.integer_queries[i])) for i in self.samples}
        self.center = [[(x.numerator << bits) // x.denominator for x in row] for row in start]
        exact = all((1 << bits) % x.denominator == 0 for row in start for x in row)
        self.radius = 0 if exact else data.d
        self._pairs = lru_cache(maxsize=None)(self._against)
        self._slope_errors = {i: self._slope_error(i) for i in self.samples}
        self._errors = {i: self._error(i) for i in self.samples}

    def advance(self) -> None:
        """One step. Raises `NotEnclosed`."""
        try:
            self._advance()
        except OverflowError as error:
            raise NotEnclosed from error

    def _advance(self) -> None:
        if self.radius * self._reach > 1 << (self.bits + COARSE - _NEAR):
            raise NotEnclosed
        d, W = self.data.d, self.center
        fields = [[_dot(row, query) for row in W] for query in self.queries]
        found = {i: self._sample(i, fields[self._query_of[i]]) for i in self.samples}
        block = max((part.exponent for part in found.values()), default=0)
        pulls = [[0] * d for _ in self.queries]
        error, curvature = 0, 1
        for i, part in found.items():
            # Moved to the common block: every entry loses less than 1.
            fall = block - part.exponent
            pull = pulls[self._query_of[i]]
            for k, x in enumerate(part.pull):
                pull[k] += x >> fall
            size, query = self._errors[i]
            error += ((size >> fall) + 1 + d) * query
            curvature += (part.curvature >> fall) + 1
        curvature += curvature >> (_NEAR - 1)
        G = [[sum(pull[k] * query[j] for pull, query in zip(pulls, self.queries, strict=True))
              for j in range(d)] for k in range(d)]
        move = self._plain if self.rule == "plain" else self._normalized
        move(G, error, curvature + 1, block)

    # One sample ---------------------------------------------------------------------------------

    def _against(self, i: int, a: int) -> _Pairs:
        tokens, scores = self.data.integer_tokens[i], self.scores[i]
        others = [t for t, x in enumerate(tokens) if x != tokens[a]]
        differences = [[x - y for x, y in zip(tokens[a], tokens[t], strict=True)] for t in others]
        query = self.data.integer_queries[i]
        gaps = [scores[a] - scores[t] for t in others]
        one = 1 << COARSE
        return _Pairs(
            len(tokens) - len(others), others, differences, gaps,
            [divide_up(root_up(_dot(x, x) * _dot(query, query) * one * one), self.scale)
             for x in differences],
            [divide_up(abs(gap) * one, self.score_scale) for gap in gaps])

    def _sample(self, i: int, field: list[int]) -> Sample:
        """The pull and the curvature of sample i; *field* is W z times 2^p and the query scale."""
        p, one = self.bits, 1 << self.bits
        logits = [_dot(x, field) for x in self.data.integer_tokens[i]]
        a = logits.index(max(logits))
        pairs = self._pairs(i, a)
        # With T tokens, errors in units: e^-m below 2, in its block; the total from 1 on below 2T;
        # so s_t, at most 2 in its block, is within 4T, and within 4T + 1 out of the block.
        powers = [falling_exp(logits[a] - logits[t], self.scale, p) for t in pairs.tokens]
        block = max(k for _, k in powers)
        inside = [E >> (block - k) for E, k in powers]
        total = pairs.equal * one + sum(E >> -block for E in inside)
        s = [(E << p) // total for E in inside]
        mean = sum((x >> -block) * gap for x, gap in zip(s, pairs.gaps, strict=True))
        slope, exponent = self._slope((self.scores[i][a] << p) - mean)
        weights = [(x * ((gap << p) - mean) >> p) * slope >> p
                   for x, gap in zip(s, pairs.gaps, strict=True)]
        pull = [_dot(weights, column) for column in zip(*pairs.differences, strict=True)]
        return Sample(pull, self._curvature(i, pairs, s, -block, slope), block + exponent)

    def _slope(self, f: int) -> tuple[int, int]:
        """|ℓ'| at f, given times 2^p and the score scale: (mantissa below 3·2^p, exponent).

        The mantissa is within 9 units: e^x within 2, 1 + e^x within 3, the quotient within
        2 + 2·3 + 1.
        """
        p, one = self.bits, 1 << self.bits
        if self.loss == "correlation":
            return one, 0
        if self.loss == "exponential":
            return falling_exp(f, self.score_scale, p)
        E, k = falling_exp(abs(f), self.score_scale, p)
        below = one + (E >> -k)
        return ((E << p) // below, k) if f >= 0 else ((one << p) // below, 0)

    def _curvature(self, i: int, pairs: _Pairs, s: list[int], fall: int, slope: int) -> int:
        """H_i in the block of the sample, coarse; every step rounds up.

        Of each product one factor is inside the block (``in``), the others are not.
        """
        down, slack = self.bits - COARSE, 4 * self.data.lengths[i]
        inner = [(x + slack >> down) + 1 for x in s]
        outer = [(x >> fall) + 1 for x in inner]
        u = pairs.sizes
        q_in, q, D = (_coarse(_dot(x, y)) for x, y in
                      ((inner, u), (outer, u), (outer, pairs.coarse_gaps)))
        rises = [gap + D for gap in pairs.coarse_gaps]
        # Four coarse factors each, exactly.
        H = (q_in * q * D << COARSE) + sum([
            x * (size + q)**2 * rise for x, size, rise in zip(inner, u, rises, strict=True)])
        if self.loss != "correlation":
            forces = [*map(mul, u, rises)]
            H += _dot(inner, forces) * _dot(outer, forces) + (1 << 2 * COARSE) >> 2 * COARSE
        return -(-H * ((slope + self._slope_errors[i] >> down) + 1) >> 4 * COARSE)

    # Errors -------------------------------------------------------------------------------------

    def _slope_error(self, i: int) -> int:
        """In units: f is within (4T + 1) Σ|γ_a - γ_t|, and |(log|ℓ'|)'| ≤ 1 where |ℓ'| < 3.

        e^x - 1 is at most 4/3 x for x ≤ 1/2; `_error` sees to that.
        """
        if self.loss == "correlation":
            return 0
        T = self.data.lengths[i]
        return 9 + divide_up(4 * (4 * T + 1) * T * self._range(i), self.score_scale)

    def _range(self, i: int) -> int:
        return max(self.scores[i]) - min(self.scores[i])

    def _error(self, i: int) -> tuple[int, int]:
        """(a bound of the error of the pull of sample i, ‖z_i‖ rounded up), scaled as they are.

        With R the range of the scores and |γ_a - γ_t - mean| within (4T + 1)TR of its value, which
        is at most R (2R after rounding), s_t times it is within 2(4T + 1)TR + 8TR + 1, and at most
        4R; times the slope within 3 times that + 4R·(error of the slope) + 1.
        """
        T, R, tokens = self.data.lengths[i], self._range(i), self.data.integer_tokens[i]
        slope = self._slope_errors[i]
        if max(8 * slope, 8 * T * (4 * T + 1)) >> self.bits:
            raise NotEnclosed
        weight = 3 * (2 * (4 * T + 1) * T * R + 8 * T * R + 1) + 4 * R * slope + 1
        spread = max(sum((x - y)**2 for x, y in zip(first, second, strict=True))
                     for first in tokens for second in tokens)
        query = self.data.integer_queries[i]
        return weight * T * root_up(spread), root_up(_dot(query, query))

    @cached_property
    def _reach(self) -> int:
        """The largest (8 + R_i) u, coarse."""
        return max((_coarse((8 << COARSE) * u)
                    + divide_up(self._range(i) * u, self.score_scale)
                    for i in self.samples for a in range(self.data.lengths[i])
                    for u in self._pairs(i, a).sizes), default=0)

    # The two rules ------------------------------------------------------------------------------
    # G, scaled by 2^(p - block) and by tokens, queries and scores, is within *error* of n times
    # the descent direction; *curvature* is H times 2^-block, coarse. Rounding costs d units.

    def _plain(self, G: list[list[int]], error: int, curvature: int, block: int) -> None:
        top = self.step.numerator << max(block, 0)
        bottom = self.step.denominator * self.data.n << max(-block, 0)
        below = bottom * self.scale * self.score_scale
        self._move([[top * x // below for x in row] for row in G],
                   divide_up(self.radius * top * curvature, bottom << COARSE)
                   + divide_up(error * top, below))

    def _normalized(self, G: list[list[int]], error: int, curvature: int, block: int) -> None:
        """Directions of two matrices differ by at most 2·(distance)/(norm of either).

        The norm is floored, which is another 1 in the distance.
        """
        norm = isqrt(sum(x * x for row in G for x in row))
        scale = self.scale * self.score_scale
        least = norm - error - divide_up(self.radius * curvature * scale, 1 << COARSE)
        if least <= 0:
            raise NotEnclosed
        top, bottom = self.step.numerator << self.bits, self.step.denominator
        below = bottom * norm
        growth = divide_up(self.radius * top * curvature * scale, bottom * least << COARSE)
        self._move([[top * x // below for x in row] for row in G],
                   growth + divide_up(top * (2 * error + 1), below))

    def _move(self, change: list[list[int]], growth: int) -> None:
        self.center = [[x + y for x, y in zip(row, other, strict=True)]
                       for row, other in zip(self.center, change, strict=True)]
        self.radius += growth + self.data.d

    def within(self, center: Sequence[Sequence[Fraction]], radius: Fraction) -> bool:
        """Whether the enclosure is inside the ball ‖W - center‖ ≤ radius."""
        one = 1 << self.bits
        room = radius - Fraction(self.radius, one)
        distance = sum((Fraction(x, one) - y)**2
                       for row, other in zip(self.center, center, strict=True)
                       for x, y in zip(row, other, strict=True))
        return room >= 0 and distance <= room * room


def _coarse(product: int) -> int:
    """A product of two coarse numbers, rounded up."""
    return -(-product >> COARSE)


def _dot(a: Sequence[int], b: Sequence[int]) -> int:
    """As `linear.dot`, for the many short rows of a step."""
    return sum(map(mul, a, b))
