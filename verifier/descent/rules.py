"""The step rules: how far an iterate moves along a gradient given in log scale."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from conditions.errors import unknown

PLAIN, NORMALIZED = 0, 1
"""Codes of the step rules in compiled code."""


@dataclass(frozen=True)
class StepRule:
    """W ← W + factor · M, where −n∇L(W) = e^{log_scale} M.

    ``factor(step, log_scale, norm, n, resolution)`` takes the step size, log_scale, ‖M‖_F, n and
    ε; ``code`` names the rule in compiled code (`verifier.descent.kernels.step_factor`).
    """

    name: str
    code: int
    factor: Callable[[float, float, float, int, float], float]


def _exp(x: float) -> float:
    # 0 and saturated where the compiled exponential is, so that the engines agree.
    return math.exp(min(x, 709.0)) if x > -708.0 else 0.0


def _plain(step: float, log_scale: float, norm: float, n: int, resolution: float) -> float:
    return step * _exp(log_scale) / n


def _normalized(step: float, log_scale: float, norm: float, n: int, resolution: float) -> float:
    if not norm > 0:
        return 0.0
    return step / (norm + (_exp(math.log(n * resolution) - log_scale) if resolution else 0.0))


STEP_RULES: dict[str, StepRule] = {
    rule.name: rule for rule in (
        # W ← W − η∇L
        StepRule("plain", PLAIN, _plain),
        # W ← W − η∇L/(‖∇L‖_F + ε), no step where ∇L = 0
        StepRule("normalized", NORMALIZED, _normalized),
    )
}
"""The shipped rules by name: plain W − η∇L and normalized W − η∇L/‖∇L‖_F, or over ‖∇L‖_F + ε."""


def rule_named(name: str) -> StepRule:
    """The step rule called *name*. Raises ``InvalidInput``."""
    if not isinstance(name, str) or name not in STEP_RULES:
        raise unknown("rule", name, STEP_RULES)
    return STEP_RULES[name]
