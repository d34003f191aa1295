"""The parameterizations of W as plug-ins: W itself, or W = K Qᵀ with its two factors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from conditions.dataset import FloatArray
from conditions.errors import unknown
from verifier.descent.packing import LARGEST_NORM

Factors = tuple[FloatArray, ...]
"""The matrices that descent moves: (W,), or (K, Q)."""

_SERIAL_PRODUCTS = 2**18


def serial_product(A: FloatArray, B: FloatArray) -> FloatArray:
    """A @ B in row blocks below the size from which OpenBLAS starts its own threads.

    Those would compete with the workers of the run, and spin while they wait for one another.
    """
    rows = max(1, _SERIAL_PRODUCTS // B.size)
    if rows >= len(A):
        return np.asarray(A @ B)
    return np.concatenate([A[k:k + rows] @ B for k in range(0, len(A), rows)])


@dataclass(frozen=True)
class Parameterization:
    """How W depends on the matrices that descent moves, its factors.

    ``product(factors)`` is W, d × d, and ``pulled(factors, Z)`` has the rows W z_i, for the rows
    z_i of Z (n × d). Where −n∇L(W) = CᵀZ with C n × d, ``directions(factors, C, Z)`` are −n times
    the gradients for the factors, in their order. A run stops before the sum of the factors'
    Frobenius norms would reach ``largest_norm``; the largest entry of a factor at the start is 0 or
    at least ``smallest_start``.
    """

    name: str
    product: Callable[[Factors], FloatArray]
    pulled: Callable[[Factors, FloatArray], FloatArray]
    directions: Callable[[Factors, FloatArray, FloatArray], Factors]
    largest_norm: float
    smallest_start: float


def _pulled_by_W(factors: Factors, Z: FloatArray) -> FloatArray:
    return serial_product(Z, factors[0].T)


def _direction_of_W(factors: Factors, C: FloatArray, Z: FloatArray) -> Factors:
    return (serial_product(C.T, Z),)


def _pulled_by_KQ(factors: Factors, Z: FloatArray) -> FloatArray:
    K, Q = factors
    return serial_product(serial_product(Z, Q), K.T)


def _directions_of_KQ(factors: Factors, C: FloatArray, Z: FloatArray) -> Factors:
    # With M = CᵀZ: M Q for K and Mᵀ K for Q.
    K, Q = factors
    return (serial_product(C.T, serial_product(Z, Q)), serial_product(Z.T, serial_product(C, K)))


PARAMETERIZATIONS: dict[str, Parameterization] = {
    each.name: each for each in (
        Parameterization("W", lambda factors: factors[0], _pulled_by_W, _direction_of_W,
                         LARGEST_NORM, 0.0),
        # The range keeps the squares of M Q and Mᵀ K inside float64, as M is within 2^±400.
        Parameterization("KQ", lambda factors: np.asarray(factors[0] @ factors[1].T),
                         _pulled_by_KQ, _directions_of_KQ, 2.0**60, 2.0**-60),
    )
}
"""The shipped parameterizations by name: W, and KQ for W = K Qᵀ with K and Q d × m."""


def parameterization_named(name: str) -> Parameterization:
    """The parameterization called *name*. Raises ``InvalidInput``."""
    if not isinstance(name, str) or name not in PARAMETERIZATIONS:
        raise unknown("parameterization", name, PARAMETERIZATIONS)
    return PARAMETERIZATIONS[name]
