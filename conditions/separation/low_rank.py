"""K, Q (d × m) with KQᵀ feasible for a given m, found in floats and rounded to exact pairs.

The nuclear norm optimum is such a pair where its rank is at most m. Otherwise K and Q are sought by
descent on the smoothed least margin; either factor alone is then a Frobenius problem whose
features are δ_k (Qᵀq_k)ᵀ, and solving these in turn lowers ½(‖K‖² + ‖Q‖²). Not finding a pair
proves nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.optimize import minimize

from conditions.dataset import FloatArray
from conditions.exact.threads import one_blas_thread
from conditions.selection import Features
from conditions.separation.nuclear import NuclearSolution
from conditions.separation.nuclear_frame import Frame, frame
from conditions.separation.nuclear_rounding import (
    Factors,
    feasible_factors,
    float_factors,
    rational_matrix,
)
from conditions.separation.suggestion import suggest

_BITS = 40
_RANDOM_STARTS = 8
_DESCENT_STEPS = 300
_ALTERNATIONS = 60
_SHARPNESS = (4.0, 16.0)


def low_rank_factors(phi: Features, optimum: NuclearSolution, width: int,
                     seed: int = 0) -> Factors | None:
    """Feasible factors of at most *width* columns, or None; each is the least for the other.

    *optimum*: the solution of the problem without a bound of the rank. *seed*: of the random
    starts.
    """
    if optimum.rank <= width:
        return optimum.factors
    form = frame(phi)
    if form is None:
        return None
    with one_blas_thread(), np.errstate(all="ignore"):
        for K, Q in _starts(form, optimum, width, seed):
            pair = _separating_pair(form, K, Q)
            if pair is None:
                continue
            K, Q = _alternated(form, *pair)
            unit = 2.0**form.exponent
            found = feasible_factors(phi, rational_matrix(unit * K), rational_matrix(unit * Q),
                                     _BITS)
            if found is not None:
                return found
    return None


def _starts(form: Frame, optimum: NuclearSolution, width: int,
            seed: int) -> Iterator[tuple[FloatArray, FloatArray]]:
    yield float_factors(optimum.float_W * 4.0**-form.exponent, width)
    rng = np.random.default_rng(seed)
    d = form.deltas.shape[1]
    for _ in range(_RANDOM_STARTS):
        yield rng.normal(size=(d, width)), rng.normal(size=(d, width))


def _margins(form: Frame, K: FloatArray, Q: FloatArray) -> FloatArray:
    """Margins over targets."""
    return np.asarray(((form.deltas @ K) * (form.queries @ Q)).sum(axis=1) / form.targets)


def _separating_pair(form: Frame, K: FloatArray,
                     Q: FloatArray) -> tuple[FloatArray, FloatArray] | None:
    """Factors of unit norm and positive margins, by descent on log Σ exp(−s·margin)."""
    shape = (2, *K.shape)
    point = np.stack([K / np.linalg.norm(K), Q / np.linalg.norm(Q)]).ravel()
    for sharpness in _SHARPNESS:
        def objective(x: FloatArray, sharpness: float = sharpness) -> tuple[float, FloatArray]:
            k, q = x.reshape(shape)
            left, right = form.deltas @ k, form.queries @ q
            exponents = -sharpness * (left * right).sum(axis=1) / form.targets
            top = float(exponents.max())
            weights = np.exp(exponents - top)
            value = top + float(np.log(weights.sum()))
            weights *= -sharpness / weights.sum() / form.targets
            slope = np.stack([form.deltas.T @ (weights[:, None] * right),
                              form.queries.T @ (weights[:, None] * left)])
            return value, slope.ravel()

        point = minimize(objective, point, jac=True, method="L-BFGS-B",
                         options={"maxiter": _DESCENT_STEPS}).x
        k, q = point.reshape(shape)
        k, q = k / np.linalg.norm(k), q / np.linalg.norm(q)
        if not (np.all(np.isfinite(k)) and np.all(np.isfinite(q))):
            return None
        if _margins(form, k, q).min() > 0:
            return k, q
        point = np.stack([k, q]).ravel()
    return None


def _alternated(form: Frame, K: FloatArray, Q: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Feasible factors near a minimum of ½(‖K‖² + ‖Q‖²), each optimal for the other."""
    K = K / float(_margins(form, K, Q).min())
    for _ in range(_ALTERNATIONS):
        before = np.linalg.norm(K) * np.linalg.norm(Q)
        better = _least_factor(form.deltas, form.queries @ Q, form.targets)
        if better is None:
            break
        K = better
        better = _least_factor(form.queries, form.deltas @ K, form.targets)
        if better is None:
            break
        Q = better
        if np.linalg.norm(K) * np.linalg.norm(Q) > before * (1 - 1e-7):
            break
    balance = np.sqrt(np.linalg.norm(K) / np.linalg.norm(Q))
    return K / balance, Q * balance


def _least_factor(vectors: FloatArray, mixed: FloatArray,
                  targets: FloatArray) -> FloatArray | None:
    """The least A with vector_k · A mixed_k ≥ target_k for all k, or None if floats find none."""
    norms = np.linalg.norm(vectors, axis=1) * np.linalg.norm(mixed, axis=1)
    if not norms.all():
        return None
    scaled = targets / norms
    found = suggest(vectors / norms[:, None], mixed, scaled)
    rows = found.passive
    A = vectors[rows].T @ ((found.x / norms[rows])[:, None] * mixed[rows])
    least = float((((vectors @ A) * mixed).sum(axis=1) / targets).min())
    return A / least if np.isfinite(least) and least > 0 else None
