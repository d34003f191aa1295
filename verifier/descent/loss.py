"""The three losses of the paper's experiments, stable at any argument."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from conditions.dataset import FloatArray
from conditions.errors import unknown

LOGISTIC, EXPONENTIAL, CORRELATION = 0, 1, 2
"""Codes of the losses in compiled code."""


@dataclass(frozen=True)
class Loss:
    """A decreasing loss ℓ(u) with ℓ' < 0 everywhere.

    ``value(u)`` is ℓ(u) and ``log_slope(u)`` is log|ℓ'(u)|, elementwise in float64; ``code``
    names the loss in compiled code. ``log_slope`` neither overflows nor underflows for finite u.
    """

    name: str
    code: int
    value: Callable[[FloatArray], FloatArray]
    log_slope: Callable[[FloatArray], FloatArray]


def _exponential(u: FloatArray) -> FloatArray:
    with np.errstate(over="ignore"):
        return np.asarray(np.exp(-np.asarray(u)))


LOSSES: dict[str, Loss] = {
    loss.name: loss for loss in (
        # log(1 + e^{−u}), |ℓ'| = 1/(1 + e^u)
        Loss("logistic", LOGISTIC, lambda u: np.logaddexp(0.0, -np.asarray(u)),
             lambda u: -np.logaddexp(0.0, u)),
        # e^{−u} = |ℓ'|; inf where it exceeds float64
        Loss("exponential", EXPONENTIAL, _exponential, lambda u: -np.asarray(u)),
        # −u, |ℓ'| = 1
        Loss("correlation", CORRELATION, lambda u: -np.asarray(u),
             lambda u: np.zeros_like(u)),
    )
}
"""The shipped losses by name: logistic log(1 + e^{−u}), exponential e^{−u}, correlation −u."""


def loss_named(name: str) -> Loss:
    """The loss called *name*. Raises ``InvalidInput``."""
    if not isinstance(name, str) or name not in LOSSES:
        raise unknown("loss", name, LOSSES)
    return LOSSES[name]
