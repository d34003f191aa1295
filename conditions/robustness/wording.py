"""What verdicts about a ball of datasets say."""

from __future__ import annotations

from dataclasses import replace

from flint import fmpq

from conditions.exact.numbers import to_float
from conditions.verdict import Verdict

NO_RADIUS = "floats suggest no radius that exact arithmetic confirms"


def radius_text(radius: fmpq) -> str:
    """ε for a table, cut to three digits."""
    return f"ε ≥ {_cut(to_float(radius))}"


def _cut(value: float) -> str:
    """*value* > 0 to three digits, rounded down."""
    mantissa, exponent = f"{value:.12e}".split("e")
    return f"{mantissa[:4]}e{int(exponent)}"


def renamed(verdict: Verdict, condition: str) -> Verdict:
    """The proof that the condition fails for the data itself, hence in every ball around it."""
    return replace(verdict, condition=condition)
