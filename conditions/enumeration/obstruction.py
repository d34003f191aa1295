"""Partial selections without exceptional completion, by a direction that W^mm cannot have.

Let V = Σ y φ, y ≥ 0, y ≠ 0, over rejected rows of the fixed samples. Every margin of W^mm is ≥ 1,
so ⟨V, W^mm⟩ > 0; but for an exceptional completion W^mm is a nonnegative combination of kept
features. If ⟨V, ·⟩ ≤ 0 on all features that can be kept, there is none. V = 0 is infeasibility
(Gordan).
Source: docs/theory/directions.md, section 3.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from flint import fmpq
from scipy.optimize import linprog

from conditions.certificates import Obstruction
from conditions.dataset import AttentionDataset, FloatArray
from conditions.enumeration.problem import Problem
from conditions.exact.rank_one import TokenRows
from conditions.selection import Features, Selection, features
from conditions.separation.frobenius import Infeasible, solve_exactly
from conditions.separation.separator import short_separator

_BITS = (6, 12, 24)
_LEVEL = 1e-7


class Obstructions:
    """The search for obstructions at the vertices of one problem's tree."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        data = problem.dataset
        self._prefixes = [
            AttentionDataset(data.tokens[:k], data.labels[:k], data.queries[:k], data.head)
            for k in range(1, data.n + 1)]
        self._unfixed = cache(self._possible)

    def find(self, prefix: Selection) -> Obstruction | None:
        """A proof that no completion of *prefix*, not empty, is exceptional, or None."""
        phi = features(self._prefixes[len(prefix) - 1], prefix)
        pairs = tuple((i, a, t) for i, a, t in phi.pairs if (i, a, t) not in self.problem.tested)
        cone = TokenRows(self.problem.dataset, pairs + self._unfixed(len(prefix)))
        suggestion = _suggest(phi, cone)
        if suggestion is None:
            return _infeasible(phi)
        y, level = suggestion
        found = self._rounded(phi, cone, y) if level < 0 else None
        # V = 0 needs level 0; well above it the exact search would only confirm that.
        return found or (_infeasible(phi) if level < _LEVEL else None)

    def _rounded(self, phi: Features, cone: TokenRows, y: FloatArray) -> Obstruction | None:
        """*y* rounded to an obstruction, if all of its inequalities have room for that."""
        for bits in _BITS:
            whole = np.rint(np.ldexp(y / y.max(), bits)).astype(int).tolist()
            weights = {k: fmpq(a) for k, a in enumerate(whole) if a > 0}
            V = phi.combination(list(weights), list(weights.values()))
            if len(cone) == 0 or max(cone.margins(V)) <= 0:
                return Obstruction(tuple((*phi.rows[k], a) for k, a in weights.items()))
        return None

    def _possible(self, depth: int) -> tuple[tuple[int, int, int], ...]:
        """The rows (i, a, t) of samples from *depth* on that are kept where a is selected."""
        lengths = self.problem.dataset.lengths
        return tuple((i, a, t) for i in range(depth, len(lengths)) for a in range(lengths[i])
                     for t in range(lengths[i])
                     if a != t and (i, a, t) not in self.problem.tested)


def _infeasible(phi: Features) -> Obstruction | None:
    """The Farkas vector of the fixed samples, if their constraints contradict each other."""
    if short_separator(phi) is not None:
        return None
    outcome = solve_exactly(phi)
    return Obstruction(outcome.certificate.multipliers) if isinstance(outcome, Infeasible) else None


def _suggest(phi: Features, cone: TokenRows) -> tuple[FloatArray, float] | None:
    """Find y ≥ 0 for which the largest ⟨V, φ⟩/‖φ‖ over the cone's rows is least, and that level.

    In floats, with Σ y_k‖φ_k‖ = 1 for the program; None where floats cannot tell.
    """
    if len(cone) == 0:
        return np.ones(len(phi)), -1.0
    with np.errstate(all="ignore"):
        rows, generators = _unit_rows(phi), _unit_rows(cone)
        products = (generators[0] @ rows[0].T) * (generators[1] @ rows[1].T)
    if not np.all(np.isfinite(products)):
        return None
    count = len(phi)
    result = linprog(
        np.append(np.zeros(count), 1.0),
        A_ub=np.column_stack([products, -np.ones(len(cone))]), b_ub=np.zeros(len(cone)),
        A_eq=np.append(np.ones(count), 0.0)[None, :], b_eq=np.ones(1),
        bounds=[(0, None)] * count + [(None, None)])
    if result.x is None:
        return None
    with np.errstate(all="ignore"):
        y = np.maximum(result.x[:-1], 0.0) / (rows[2] * rows[3])
    return (y, float(result.x[-1])) if np.all(np.isfinite(y)) and y.max() > 0 else None


def _unit_rows(rows: TokenRows) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Differences and queries of norm 1, and their norms."""
    deltas, queries = rows.float_differences, rows.float_queries
    lengths = np.sqrt((deltas * deltas).sum(axis=1)), np.sqrt((queries * queries).sum(axis=1))
    return deltas / lengths[0][:, None], queries / lengths[1][:, None], *lengths
