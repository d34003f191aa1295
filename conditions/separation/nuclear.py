"""The nuclear norm problem: min ‖W‖_* subject to ⟨φ_it, W⟩ ≥ 1 for every rejected token.

An interior point method suggests W and λ; the factors of W, cut to the rank that complementarity
shows, and λ are rounded to short rationals that are feasible exactly:

    Σλ ≤ min ‖W‖_* ≤ ½(‖K‖² + ‖Q‖²)    for λ ≥ 0, ‖Σλφ‖_op ≤ 1, and KQᵀ feasible.

Source: arXiv 2308.16898 v1, (Att-SVM⋆); proofs in docs/theory/nuclear.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from flint import fmpq

from conditions.certificates import NuclearInterval
from conditions.dataset import AttentionDataset, FloatArray
from conditions.exact.numbers import round_dyadic, to_float
from conditions.exact.threads import one_blas_thread
from conditions.selection import Features, Selection, features
from conditions.separation.frobenius import Infeasible, solve_exactly, suggest_support
from conditions.separation.nuclear_frame import Frame, frame
from conditions.separation.nuclear_polish import KKTPoint, refine
from conditions.separation.nuclear_program import FloatPair, minimize
from conditions.separation.nuclear_rounding import (
    Factors,
    Multipliers,
    contracting_multipliers,
    feasible_factors,
    float_factors,
    rational_matrix,
)
from conditions.separation.rows import balanced_rows, equal_rows

ACCURACY = 1e-6
_FINEST_FLOATS = 1e-8
_START = 1.5


@dataclass(frozen=True)
class NuclearSolution:
    """A bracket of the optimal value: feasible factors, and multipliers below them.

    ``point`` is the refined KKT point where a small bracket was asked for and found.
    """

    features: Features
    factors: Factors
    multipliers: Multipliers
    point: KKTPoint | None

    @property
    def lower(self) -> fmpq:
        """Σ λ, a lower bound of min ‖W‖_*."""
        return self.multipliers.value

    @property
    def upper(self) -> fmpq:
        """½(‖K‖² + ‖Q‖²), an upper bound of min ‖W‖_*."""
        return self.factors.value

    @property
    def gap(self) -> float:
        """(upper − lower)/upper."""
        return to_float((self.upper - self.lower) / self.upper)

    @property
    def rank(self) -> int:
        """A bound of the rank of KQᵀ, namely its number of columns; at most min(n, d)."""
        return self.factors.width

    @cached_property
    def float_W(self) -> FloatArray:
        """KQᵀ rounded to float64, (d, d)."""
        W = self.factors.K * self.factors.Q.transpose()
        return np.array([[to_float(a) for a in row] for row in W.tolist()])

    @cached_property
    def certificate(self) -> NuclearInterval:
        """The bracket with its proof; the bounds are rounded outwards."""
        bits = 12 - math.floor(math.log2(max(self.gap, 2.0**-400)))
        slack = fmpq(1, 1 << (bits - 8))
        return NuclearInterval(
            tuple(map(tuple, self.factors.K.tolist())), tuple(map(tuple, self.factors.Q.tolist())),
            tuple((*self.features.rows[k], x) for k, x in self.multipliers.weights.items()),
            min(self.lower, round_dyadic(self.lower * (1 - slack), bits)),
            max(self.upper, round_dyadic(self.upper * (1 + slack), bits)), self.rank)


def solve(dataset: AttentionDataset, selection: Selection,
          accuracy: float = ACCURACY) -> NuclearSolution | Infeasible | None:
    """A bracket of relative width *accuracy* or near it, or a proof of infeasibility. Cached.

    The bracket is proved whatever its width is; None beyond the limits of `nuclear_frame`.
    """
    return _solve(features(dataset, selection), accuracy)


@lru_cache(maxsize=64)
def _solve(phi: Features, accuracy: float) -> NuclearSolution | Infeasible | None:
    form = frame(phi)
    with one_blas_thread(), np.errstate(all="ignore"):
        start = None if form is None else _start(phi, form)
        if form is None or start is None:
            outcome = solve_exactly(phi)
            if isinstance(outcome, Infeasible):
                return outcome
            start = None if form is None else _enlarged(form, outcome.float_W)
        if form is None or start is None:
            return None
        pair = suggest_pair(form, start, accuracy)
        return None if pair is None else _bracket(phi, form, pair, accuracy)


def suggest_pair(form: Frame, start: FloatArray, accuracy: float) -> FloatPair | None:
    """The float optimum within the spans of *form*, well below *accuracy* if floats allow."""
    left, right = form.bases
    return minimize(form.deltas @ left, form.queries @ right, form.targets,
                    left.T @ start @ right, max(accuracy / 100, _FINEST_FLOATS))


def _start(phi: Features, form: Frame) -> FloatArray | None:
    """A W whose margins exceed the targets of *form*, from the Frobenius problem."""
    suggestion = suggest_support(phi)
    if suggestion is None:
        return None
    chosen = suggestion.passive
    deltas, queries, _ = balanced_rows(phi)
    return _enlarged(form, deltas[chosen].T @ (suggestion.x[:, None] * queries[chosen]))


def _enlarged(form: Frame, W: FloatArray) -> FloatArray | None:
    """The multiple of *W* whose margins are at least `_START` times the targets, if any."""
    least = float((((form.deltas @ W) * form.queries).sum(axis=1) / form.targets).min())
    return W * (_START / least) if np.isfinite(least) and least > 0 else None


def _bracket(phi: Features, form: Frame, pair: FloatPair,
             accuracy: float) -> NuclearSolution | None:
    """The first bracket narrower than *accuracy*, or the narrowest found.

    First the rank that complementarity shows, then the same from the KKT equations, and only
    then larger ranks.
    """
    bits = _bits(phi, max(accuracy, 2.0**-40))
    multipliers = _rounded_multipliers(phi, form, pair, bits)
    best: NuclearSolution | None = None
    least = complementary_rank(pair)
    for width in range(least, min(pair.W.shape) + 1):
        K, Q = original_factors(form, pair, width)
        factors = feasible_factors(phi, rational_matrix(K), rational_matrix(Q), bits)
        found = (None if factors is None or multipliers is None
                 else NuclearSolution(phi, factors, multipliers, None))
        best = _narrower(best, found)
        if width == least and (best is None or best.gap > accuracy):
            best = _narrower(best, refined(phi, form, pair, accuracy))
        if best is not None and best.gap <= accuracy:
            break
    return best


def _narrower(best: NuclearSolution | None,
              found: NuclearSolution | None) -> NuclearSolution | None:
    if best is None or found is None:
        return best or found
    return found if found.gap < best.gap else best


def _bits(phi: Features, accuracy: float) -> int:
    """Digits that lose less than *accuracy* when N numbers are rounded."""
    return 8 + math.ceil(math.log2(len(phi) / accuracy))


def _rounded_multipliers(phi: Features, form: Frame, pair: FloatPair,
                         bits: int) -> Multipliers | None:
    """Those of *pair* without the negligible ones, or with them where that is better."""
    kept = positive_rows(form, pair)
    found = []
    for x in (np.where(kept, pair.x, 0.0), pair.x):
        M = form.deltas.T @ (x[:, None] * form.queries)
        x = x / max(1.0, float(np.linalg.norm(M, 2)))
        weights = {k: fmpq(*float(w).as_integer_ratio())
                   for k, w in enumerate(x * form.weights)}
        multipliers = contracting_multipliers(phi, weights, bits)
        if multipliers is not None:
            found.append(multipliers)
            if to_float(multipliers.value) * 4.0**-form.exponent >= form.targets @ pair.x * (
                    1 - 2.0**(12 - bits)):
                break
    return max(found, key=lambda m: m.value, default=None)


def positive_rows(form: Frame, pair: FloatPair) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Which rows have a positive multiplier rather than a margin above 1."""
    left, right = form.bases
    slack = ((form.deltas @ left @ pair.W @ right.T) * form.queries).sum(axis=1) - form.targets
    return np.asarray(pair.x * np.linalg.norm(pair.W, 2) > slack)


def complementary_rank(pair: FloatPair) -> int:
    """How many singular values of M are 1 rather than those of W 0; at least 1."""
    large = np.linalg.svd(pair.W, compute_uv=False)
    deficit = 1 - np.linalg.svd(pair.M, compute_uv=False)
    return max(1, int(np.count_nonzero(large > large[0] * deficit)))


def original_factors(form: Frame, pair: FloatPair,
                     width: int) -> tuple[FloatArray, FloatArray]:
    """K, Q (d × width) of the original problem, from W of *pair*."""
    left, right = form.bases
    K, Q = float_factors(pair.W, width)
    return 2.0**form.exponent * (left @ K), 2.0**form.exponent * (right @ Q)


def refined(phi: Features, form: Frame, pair: FloatPair, accuracy: float) -> NuclearSolution | None:
    """A bracket from the KKT equations, if they determine the optimum near *pair*."""
    K, Q = original_factors(form, pair, complementary_rank(pair))
    # Equal rows would leave their multipliers undetermined.
    first = equal_rows(phi)
    weights: dict[int, float] = {}
    for k in np.flatnonzero(positive_rows(form, pair)):
        row = int(first[k])
        weights[row] = weights.get(row, 0.0) + float(pair.x[k] * form.weights[k])
    bits = _bits(phi, accuracy)
    point = refine(phi, form, K, Q, weights, bits)
    if point is None:
        return None
    multipliers = contracting_multipliers(phi, point.weights, bits)
    factors = feasible_factors(phi, point.K, point.Q, bits)
    if multipliers is None or factors is None:
        return None
    return NuclearSolution(phi, factors, multipliers, point)
