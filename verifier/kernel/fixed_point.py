"""e^-x for numbers in fixed point, fast and with a proved error."""

from __future__ import annotations

from functools import lru_cache
from math import isqrt

from .numbers import log_bounds, shift_down

_EXTRA = 80
MAX_TURNS = 1 << 40


def falling_exp(x: int, scale: int, p: int) -> tuple[int, int]:
    """(E, k): e^(-x/(scale·2^p)) is within 2 units of E·2^k, a unit being 2^(k-p), and E ≥ 2^p - 2.

    k is ≤ 0 for x ≥ 0, where E is never above. 64 ≤ p ≤ 65536. Raises ``OverflowError`` for
    |k| > 2^40.

    e^-x = 2^k e^r with 0 ≤ r < ln 2 and e^r = (e^y)^(2^s), y = r/2^s. In units of 2^-(p+80): x is
    floored and ln 2 is floored with an error below 2^3, so r is off by at most 1 + 2^43, which is
    2^-36 of a unit of the result.
    """
    step, s = _ln2(p + _EXTRA), isqrt(p) // 2 + 4
    k, r = divmod((-x << _EXTRA) // scale, step)
    if abs(k) > MAX_TURNS:
        raise OverflowError("an exponential beyond 2^(2^40)")
    # Taylor in units of 2^-u. y is floored, with a relative effect on e^y below 2 units. A floored
    # term is off by e_j ≤ e_(j-1) y/j + 2, so below 3; at the end the true term is below 3 and the
    # terms after it add less than 4: in all 3j + 6.
    u = p + s + 16
    y = r >> (_EXTRA - 16)
    term, total, j = 1 << u, 1 << u, 0
    while term:
        j += 1
        term = (term * y >> u) // j
        total += term
    # A square doubles the relative error, and its floor adds a unit: (3j + 7) 2^s units, which is
    # (3j + 7) 2^-16 units of 2^-p, times a value below 2. With y < 2^-s there are at most
    # u/s + 2 < 600 terms: less than 1/16 of a unit.
    for _ in range(s):
        total = total * total >> u
    return total >> (u - p), k


@lru_cache(maxsize=8)
def _ln2(fine: int) -> int:
    """The number ln 2·2^fine, floored, or less than 8 below it."""
    low, _, unit = log_bounds(1, 1, fine)
    return shift_down(low, unit - fine)
