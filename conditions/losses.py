"""The losses, as far as conditions need them: |ℓ'| at exact scores.

logistic ℓ(u) = log(1 + e^−u), exponential e^−u, correlation −u; all have ℓ' < 0 everywhere. The
cubic loss −u³ decreases strictly, but ℓ'(0) = 0: it shows what ℓ' < 0 is needed for, and only
conditions that name it accept it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache

from flint import arb, ctx, fmpq

from conditions.errors import InvalidInput

LOSSES = ("logistic", "exponential", "correlation")
CUBIC = "cubic"
ALL_LOSSES = (*LOSSES, CUBIC)

MAX_SCORE = 100_000
"""|f| beyond which conditions that add e^f to other numbers do not evaluate it."""

MAX_PRECISION = 65_536

Terms = Mapping[fmpq, fmpq]
"""Σ c_f |ℓ'(f)| as {f: c_f} with rational scores f and coefficients c."""


def check_loss(loss: object, known: tuple[str, ...] = LOSSES) -> str:
    """*loss* if it is one of *known*. Raises ``InvalidInput``."""
    if loss not in known:
        raise InvalidInput("loss", loss, f"must be one of {', '.join(known)}", "choose one")
    return str(loss)


def exact_slope(loss: str, f: fmpq) -> fmpq | None:
    """|ℓ'(f)| if it is rational at every rational f, else None."""
    return {"correlation": fmpq(1), CUBIC: 3 * f * f}.get(loss)


def largest_slopes(loss: str, low: fmpq, high: fmpq) -> tuple[fmpq, fmpq] | None:
    """The largest |ℓ'| and |ℓ''| on [low, high] if they are rational there, else None."""
    if loss == "correlation":
        return fmpq(1), fmpq(0)
    if loss == CUBIC:
        largest = max(abs(low), abs(high))
        return 3 * largest * largest, 6 * largest
    return None


def decreasing(loss: str, low: fmpq, high: fmpq) -> bool:
    """Whether ℓ' < 0 on [low, high]."""
    return loss != CUBIC or not low <= 0 <= high


def is_zero(loss: str, terms: Terms) -> bool:
    """Whether Σ c_f |ℓ'(f)| is 0, decided as an identity.

    Exponential: e^−f at distinct rationals are independent over Q (Lindemann–Weierstrass).
    Logistic: 1/(1+e^−k) = 1 − 1/(1+e^k) leaves a constant and terms at k > 0; with e^k = t^m for
    t = e^(1/q), transcendental, 1 and the 1/(1+t^m) with distinct m > 0 are independent (the least
    m with a coefficient alone has t^m in its power series).

    >>> is_zero("logistic", {fmpq(1): fmpq(1), fmpq(-1): fmpq(1), fmpq(0): fmpq(-2)})
    True
    """
    total = _exact_total(loss, terms)
    if total is not None:
        return bool(total == 0)
    if loss == "exponential":
        return all(c == 0 for c in terms.values())
    constant, folded = fmpq(0), dict[fmpq, fmpq]()
    for f, c in terms.items():
        if f > 0:
            folded[f] = folded.get(f, fmpq(0)) + c
        else:
            constant += c if f < 0 else c / 2
            folded[-f] = folded.get(-f, fmpq(0)) - c
    return constant == 0 and all(c == 0 for f, c in folded.items() if f != 0)


def sign(loss: str, terms: Terms) -> tuple[int, int] | None:
    """(sign of Σ c_f |ℓ'(f)|, bits of precision that showed it), or None beyond `MAX_PRECISION`.

    Never wrong and never a guess: 0 is an identity, anything else is shown by balls.
    """
    if is_zero(loss, terms):
        return 0, 64
    exact = _exact_total(loss, terms)
    if exact is not None:
        return (1 if exact > 0 else -1), 64
    for precision in _precisions():
        # Guard bits: a checker that encloses each weight to 2^−precision must see it too.
        with ctx.workprec(precision):
            total = arb(0)
            size = arb(0)
            for f, c in terms.items():
                term = arb(c) * weight(loss, f, precision)
                total += term
                size += abs(term)
            if abs(total) > size * arb(2) ** (8 - precision):
                return (1 if total > 0 else -1), precision
    return None


def _exact_total(loss: str, terms: Terms) -> fmpq | None:
    """Σ c_f |ℓ'(f)| where it is rational."""
    total = fmpq(0)
    for f, c in terms.items():
        slope = exact_slope(loss, f)
        if slope is None:
            return None
        total += c * slope
    return total


@lru_cache(maxsize=4096)
def weight(loss: str, f: fmpq, precision: int) -> arb:
    """|ℓ'(f)| in a ball of about *precision* bits, however large f is."""
    with ctx.workprec(precision + int(abs(f).ceil()).bit_length() + 16):
        return (-arb(f)).exp() if loss == "exponential" else 1 / (1 + arb(f).exp())


def _precisions() -> Iterator[int]:
    precision = 64
    while precision <= MAX_PRECISION:
        yield precision
        precision *= 2
