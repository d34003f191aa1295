"""Intervals contain what they stand for, logarithms included; definite matrices are told apart."""

import operator
import random
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest

from verifier.kernel.definite import factor, positive_definite
from verifier.kernel.intervals import Interval, Undetermined, total, upper_bound
from verifier.kernel.numbers import log_bounds

BITS = 80


def ends(x):
    unit = Fraction(2)**x.exponent
    return x.lo * unit, x.hi * unit


def rational(generator):
    return Fraction(generator.randint(-10**6, 10**6), generator.randint(1, 10**6)) * Fraction(
        2)**generator.randint(-90, 90)


def wide(generator):
    """Two rationals and an interval that holds both, and all between."""
    a, b = sorted((rational(generator), rational(generator)))
    x = Interval.of(a, BITS)
    gap = Interval.of(b - a, BITS)
    return a, b, x + Interval(0, gap.hi, gap.exponent, BITS)


@pytest.mark.parametrize("operation", [operator.add, operator.sub, operator.mul])
def test_arithmetic_encloses_and_is_close(operation):
    generator = random.Random(31)
    for _ in range(400):
        a, b = rational(generator), rational(generator)
        lo, hi = ends(operation(Interval.of(a, BITS), Interval.of(b, BITS)))
        assert lo <= operation(a, b) <= hi
        assert (hi - lo) * 2**(BITS - 6) <= max(abs(a), abs(b), abs(operation(a, b)))
        assert ends(operation(a, Interval.of(b, BITS))) == (lo, hi)
        p, q, x = wide(generator)
        r, s, y = wide(generator)
        lo, hi = ends(operation(x, y))
        for u in (p, q, (p + q) / 2):
            for v in (r, s, (r + s) / 2):
                assert lo <= operation(u, v) <= hi


def test_quotients_and_roots_enclose_and_are_close():
    generator = random.Random(32)
    undetermined = 0
    for _ in range(400):
        a, b = rational(generator), rational(generator)
        if b:
            lo, hi = ends(Interval.of(a, BITS) / Interval.of(b, BITS))
            assert lo <= a / b <= hi
            assert (hi - lo) * 2**(BITS - 6) <= abs(a / b)
        p, q, x = wide(generator)
        lo, hi = ends(x.square())
        assert lo >= 0 and all(lo <= u * u <= hi for u in (p, q, (p + q) / 2))
        # A positive p far below q may be rounded to 0.
        if x.lo <= 0 <= x.hi:
            undetermined += 1
            assert p <= 0 <= q or max(abs(p), abs(q)) > 2**70 * min(abs(p), abs(q))
            with pytest.raises(Undetermined):
                1 / x
        else:
            lo, hi = ends(1 / x)
            assert lo <= min(1 / p, 1 / q) and max(1 / p, 1 / q) <= hi
        lo, hi = ends(Interval.of(abs(a), BITS).sqrt())
        assert lo**2 <= abs(a) <= hi**2
        assert (hi - lo) * 2**(BITS - 6) <= hi
        if x.hi < 0:
            with pytest.raises(Undetermined):
                x.sqrt()
        elif p < 0:
            assert ends(x.sqrt())[0] == 0
    assert undetermined > 100


def test_numbers_of_any_exponents_meet():
    huge, tiny = Interval(3, 3, 10**30, BITS), Interval(5, 7, -10**30, BITS)
    assert (huge + tiny - huge).top.below(huge) and tiny.is_positive()
    assert tiny.below(huge) and (-huge).below(-tiny) and not huge.below(huge + tiny)
    assert tiny.below(huge - tiny) and not (huge - huge).is_positive()
    assert ends(huge * tiny) == (15, 21)
    assert (0 - tiny).below(0) and Interval.of(0, BITS).at_most(0)
    assert total([tiny, huge, -huge], BITS).at_most(huge)
    top = upper_bound([tiny, huge, -huge, huge + tiny])
    assert huge.at_most(top) and (huge + tiny).at_most(top)


def test_exponentials_and_logarithms_against_mpmath():
    generator = random.Random(33)
    with mp.workprec(400):
        for _ in range(200):
            x = rational(generator) / Fraction(2)**80
            lo, hi = (mp.mpf(e.numerator) / e.denominator for e in ends(Interval.of(x, 200).exp()))
            exact = mp.exp(mp.mpf(x.numerator) / x.denominator)
            assert lo <= exact <= hi and (hi - lo) <= exact * mp.mpf(2)**-180
            for y in (abs(x) + Fraction(1, 2**70), 1 + x / 2**30, Fraction(1)):
                if y > 0:
                    lo, hi = (mp.mpf(e.numerator) / e.denominator
                              for e in ends(Interval.of(y, 200).log()))
                    exact = mp.log(mp.mpf(y.numerator) / y.denominator)
                    assert lo <= exact <= hi and hi - lo <= mp.mpf(2)**-190 * (1 + abs(exact))


@pytest.mark.parametrize("bits", [8, 64, 300, 2000])
def test_logarithm_bounds_have_their_width(bits):
    generator = random.Random(34)
    with mp.workprec(bits + 200):
        for _ in range(40):
            m, e = generator.randint(1, 10**generator.randint(1, 60)), generator.randint(-900, 900)
            lo, hi, unit = log_bounds(m, e, bits)
            exact = (mp.log(m) + e * mp.log(2)) * mp.mpf(2)**unit
            assert lo <= exact <= hi and hi - lo <= 1 << unit - bits
    # e·ln 2 at exponents beyond any machine number.
    lo, hi, unit = log_bounds(1, 10**40, bits)
    low, high, same = log_bounds(1, -10**40, bits)
    assert unit == same and 0 < lo <= -low and -high <= hi <= lo + (1 << unit - bits)


def test_logarithm_of_zero_is_undetermined():
    with pytest.raises(Undetermined):
        Interval(0, 1, 0, BITS).log()


def test_exponentials_of_anything():
    far = Interval(1, 1, 10**30, BITS)
    assert (-far).exp().below(Interval(1, 1, -10**29, BITS)) and (-far).exp().lo == 0
    assert (far * Interval(-1, 0, 0, BITS)).exp().at_most(Interval.of(1, BITS) + Fraction(1, 2**70))
    with pytest.raises(Undetermined):
        far.exp()
    assert Interval(1, 1, -10**30, BITS).exp().below(Fraction(2**70 + 1, 2**70))
    # e^-(2^99) is below 2^-(2^99) and above 2^-(2^100).
    x = Interval(-1, -1, 99, BITS).exp()
    assert x.below(Interval(1, 1, -2**99, BITS)) and Interval(1, 1, -2**100, BITS).below(x)


def test_wide_exponentials_keep_their_ends():
    x = Interval(-10**6, 3, 0, BITS).exp()
    assert x.lo >= 0 and Interval.of(20, BITS).below(x.top) and x.top.below(21)
    assert x.below(21) and not x.is_positive()


def _matrix(generator, size, least):
    """A symmetric integer matrix in units of 2^-60 with a smallest eigenvalue close to *least*."""
    basis, _ = np.linalg.qr(generator.standard_normal((size, size)))
    values = np.concatenate([[least], generator.uniform(max(least, 0) + 0.5, 4, size - 1)])
    A = (basis * values) @ basis.T
    return [[int(np.ldexp((A[k, m] + A[m, k]) / 2, 60)) for m in range(size)] for k in range(size)]


@pytest.mark.parametrize("size", [1, 2, 5, 12])
def test_positive_definite_against_eigenvalues(size):
    generator = np.random.default_rng(35)
    for _ in range(20):
        for least, expected in ((1e-6, True), (0.3, True), (-1e-6, False), (-0.3, False)):
            A = _matrix(generator, size, least)
            assert positive_definite(A, A, 60) == expected
            # A spread of the entries is a spread of the eigenvalues.
            wide_ = [[x + 2**58 for x in row] for row in A]
            assert not positive_definite(A, wide_, 60) or least > 0.25


def test_singular_matrices_are_not_definite():
    generator = random.Random(36)
    for size in (2, 3, 6):
        rows = [[generator.randint(-9, 9) << 40 for _ in range(size - 1)] for _ in range(size)]
        gram = [[sum(x * y for x, y in zip(a, b, strict=True)) >> 40 for b in rows] for a in rows]
        assert not positive_definite(gram, gram, 40)
    assert factor([[0]], 10) is None and not positive_definite([[-1]], [[-1]], 10)


def test_factors_solve():
    generator = np.random.default_rng(37)
    A = _matrix(generator, 8, 0.2)
    found = factor(A, 60)
    b = [int(x) for x in generator.integers(-2**60, 2**60, 8)]
    x = found.solve(b)
    residual = [y * 2**60 - sum(p * q for p, q in zip(row, x, strict=True))
                for y, row in zip(b, A, strict=True)]
    assert max(map(abs, residual)) < 2**70
