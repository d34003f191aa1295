"""The quantities of the basin conditions in float64, over grids of parameters. They prove nothing.

Arrays end with the row axis (N rejected tokens) or the sample axis (n); leading axes are grids.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from conditions.basin.enclosure import positive_positions, score_gaps
from conditions.dataset import FloatArray
from conditions.exact.numbers import to_float
from conditions.selection import Features
from conditions.separation.frobenius import Infeasible, Solution, solve

BoolArray = np.ndarray[tuple[int, ...], np.dtype[np.bool_]]
IntArray = np.ndarray[tuple[int, ...], np.dtype[np.intp]]

_LEAST = 2.0**-300

OUT_OF_RANGE = ("W^mm, its rows or the score gaps are out of the range of floats, which must "
                "suggest the basin; rescale the data")
"""Why nothing is tried where `FloatProblem.in_range` is false."""


@dataclass(frozen=True)
class FloatWeights:
    """D (…, n); log S, log g^− and log g^+ at every row (…, N)."""

    D: FloatArray
    log_share: FloatArray
    log_least: FloatArray
    log_most: FloatArray


@dataclass(frozen=True, eq=False)
class FloatProblem:
    """W^mm_α and its rows in float64; the names are those of `conditions.basin.enclosure`."""

    solution: Solution

    @property
    def phi(self) -> Features:
        """The features of the selection."""
        return self.solution.features

    @cached_property
    def in_range(self) -> bool:
        """Whether floats hold W^mm, its rows and the score gaps; if not, they suggest nothing."""
        with np.errstate(over="ignore", invalid="ignore"):
            squares = np.concatenate([self.multipliers, self.sizes**2, [self.norm_squared]])
        gaps = [gap for gap, exact in zip(self.gaps, score_gaps(self.phi), strict=True) if exact]
        values = np.concatenate([squares, np.abs(gaps), np.abs(self.selected_scores)])
        least = min(squares.min(), np.abs(gaps).min(initial=1.0))
        # Far from the ends of the range, so that products and quotients stay inside it.
        return bool(np.all(np.isfinite(values)) and least > _LEAST and values.max() < 1 / _LEAST)

    @cached_property
    def positions(self) -> IntArray:
        """The positions of S, (s,)."""
        return np.array(positive_positions(self.solution), dtype=np.intp)

    @cached_property
    def multipliers(self) -> FloatArray:
        """λ of S, (s,)."""
        given = self.solution.float_multipliers
        return np.array([given[self.phi.rows[k]] for k in self.positions])

    @cached_property
    def support(self) -> BoolArray:
        """Which rows are support indices, (N,)."""
        mask = np.zeros(len(self.phi), dtype=bool)
        mask[[self.phi.index[row] for row in self.solution.support]] = True
        return mask

    @cached_property
    def norm_squared(self) -> float:
        """‖M‖²."""
        return float(self.multipliers.sum())

    @cached_property
    def gaps(self) -> FloatArray:
        """Δ, (N,)."""
        return np.array([to_float(x) for x in score_gaps(self.phi)])

    @cached_property
    def selected_scores(self) -> FloatArray:
        """γ_{iα_i}, (n,)."""
        scores = self.phi.dataset.scores
        return np.array([to_float(scores[i][a]) for i, a in enumerate(self.phi.selection)])

    @cached_property
    def cross(self) -> FloatArray:
        """⟨φ_k, φ_σ⟩, (N, s)."""
        deltas, queries = self.phi.float_differences, self.phi.float_queries
        return np.asarray((deltas @ deltas[self.positions].T)
                          * (queries @ queries[self.positions].T))

    @cached_property
    def sizes(self) -> FloatArray:
        """The norms u of the features, (N,)."""
        deltas, queries = self.phi.float_differences, self.phi.float_queries
        return np.asarray(np.sqrt((deltas**2).sum(axis=1) * (queries**2).sum(axis=1)))

    @cached_property
    def reach(self) -> FloatArray:
        """The margins a of M, (N,)."""
        return np.where(self.support, 1.0, self.cross @ self.multipliers)

    @cached_property
    def across(self) -> FloatArray:
        """v, (N,)."""
        return np.sqrt(np.maximum(self.sizes**2 - self.reach**2 / self.norm_squared, 0.0))

    def weights(self, loss: str, lower_margins: FloatArray) -> FloatWeights:
        """As `Enclosure.weights`, for *lower_margins* of shape (…, N)."""
        e = np.exp(-lower_margins)
        owners, starts = self.phi.owners, self._starts
        D = np.add.reduceat(np.abs(self.gaps) * e, starts, axis=-1)
        total = np.add.reduceat(e, starts, axis=-1)
        f = self.selected_scores
        return FloatWeights(D, -np.log1p(total)[..., owners], log_slope(loss, f + D)[..., owners],
                            log_slope(loss, f - D)[..., owners])

    @cached_property
    def _starts(self) -> IntArray:
        # Every sample has a rejected token, so the owners run through all samples.
        return np.searchsorted(self.phi.owners, np.arange(self.phi.dataset.n)).astype(np.intp)


def log_slope(loss: str, f: FloatArray) -> FloatArray:
    """The logarithm of |ℓ'(f)|."""
    if loss == "correlation":
        return np.zeros_like(f)
    return -f if loss == "exponential" else -np.logaddexp(0.0, f)


@lru_cache(maxsize=64)
def float_problem(phi: Features) -> FloatProblem | None:
    """The float view of Att-SVM(α)'s solution, None if it has none; cached."""
    solution = solve(phi.dataset, phi.selection)
    return None if isinstance(solution, Infeasible) else FloatProblem(solution)
