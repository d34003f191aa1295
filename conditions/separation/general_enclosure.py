"""Gen-SVM enclosed by verified floats: W^mm = Σ λ φ + Σ μ ψ on a support S and a basis of the ties.

The basis is exact, class of proportional queries by class. Floats suggest S on the complement of
the ties; verified floats solve K (λ, μ) = (1, 0) for the Gram matrix K of both together and decide.
Source: docs/theory.md, section 8, Theorem 8.8.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from flint import fmpq, fmpq_mat, fmpz, fmpz_mat
from scipy.linalg import lapack, solve_triangular

from conditions.certificates import GenEnclosure, GenSeparator
from conditions.dataset import FloatArray
from conditions.exact.rank_one import TokenRows
from conditions.exact.threads import one_blas_thread
from conditions.exact.verified import VerifiedSolution, verify_support
from conditions.selection import Row
from conditions.separation.enclosure import WIDEST, enclosure_parts
from conditions.separation.query_classes import QueryClasses, Span
from conditions.separation.rows import balanced_rows, float_rows
from conditions.separation.separator import power_above
from conditions.separation.suggestion import Suggestion, suggest
from conditions.separation.token_sets import Constraints

_BITS = (6, 12, 24, 50)


@dataclass(frozen=True)
class EnclosedGenSolution:
    """W^mm enclosed by verified floats; ``support`` is proved to be the set of support indices.

    ``rows`` has the rejected rows and then the ties of ``classes``; the first ``count`` of the
    verified positions are rejected, the others all of the ties.
    """

    constraints: Constraints
    classes: QueryClasses
    rows: TokenRows
    verified: VerifiedSolution
    count: int
    support: tuple[Row, ...]

    @property
    def norm_bounds(self) -> tuple[fmpq, fmpq]:
        """An enclosure of ‖W^mm‖²_F."""
        lo, hi = self.verified.norm_squared
        return fmpq(*lo.as_integer_ratio()), fmpq(*hi.as_integer_ratio())

    @property
    def float_W(self) -> FloatArray:
        """An approximation of W^mm in float64, (d, d)."""
        return self.verified.W

    @cached_property
    def certificate(self) -> GenEnclosure:
        """The enclosure in the form that a checker re-derives."""
        parts = enclosure_parts(self.rows, self.verified, self.count)
        assert parts is not None, "refused by `enclosed`"
        multipliers, inverse, bounds = parts
        chosen = self.verified.positions[:self.count]
        rows = tuple(self.constraints.rejected[k] for k in chosen)
        return GenEnclosure(self.constraints.sets, rows, self.classes.ties, multipliers, inverse,
                            self.support, bounds)

    @cached_property
    def separator(self) -> GenSeparator | None:
        """A W that meets the constraints exactly, if the directions of the queries are independent.

        None if they are not, or where rounding loses a margin.
        """
        W = exact_separator(self.classes, self.float_W)
        if W is None:
            return None
        return GenSeparator(self.constraints.sets, tuple(map(tuple, W.tolist())))


def enclosed(constraints: Constraints) -> EnclosedGenSolution | None:
    """The verified solution of *constraints*, which reject a token, or None if floats fail."""
    classes = QueryClasses(constraints)
    rejected, ties = constraints.rejected, classes.ties
    rows = constraints.features(rejected + ties)
    N = len(rejected)
    with one_blas_thread():
        found = _suggested(rows, N)
        if found is None:
            return None
        # The largest multipliers first: it is the others that dependent rows can do without.
        order = found.passive[np.argsort(-found.x, kind="stable")]
        chosen = sorted(classes.independent(rejected[k] for k in order))
        place = {row: k for k, row in enumerate(rejected)}
        alike = classes.determined(chosen)
        support, twins = (np.array([place[row] for row in some], dtype=np.intp)
                          for some in (chosen, alike))
        verified = verify_support(float_rows(rows), support, twins,
                                  np.arange(N, N + len(ties), dtype=np.intp))
    if verified is None or not verified.defect < WIDEST:
        return None
    return EnclosedGenSolution(constraints, classes, rows, verified, len(chosen),
                               tuple(sorted([*chosen, *alike])))


def _suggested(rows: TokenRows, N: int) -> Suggestion | None:
    """What floats suggest for the first *N* rows on the complement of the others."""
    deltas, queries, targets = balanced_rows(rows)
    if not targets.all():
        return None
    with np.errstate(all="ignore"):
        gram = (deltas @ deltas.T) * (queries @ queries.T)
        inner, targets = gram[:N, :N], targets[:N]
        if len(gram) > N:
            factor, failed = lapack.dpotrf(gram[N:, N:], lower=1)
            if failed:
                return None
            across = solve_triangular(factor, gram[N:, :N], lower=True, check_finite=False)
            inner = inner - across.T @ across
        sizes = inner.diagonal()
        if not (sizes > 0).all() or not np.isfinite(inner).all():
            return None
        # Rows of norm 1 again, after the projection.
        unit = 1 / np.sqrt(sizes)
        targets = targets * unit
        if not np.isfinite(targets).all() or not targets.all():
            return None
        values, vectors = np.linalg.eigh(inner * np.outer(unit, unit))
        factor = vectors * np.sqrt(np.maximum(values, 0.0))
        return suggest(factor, np.ones((N, 1)), targets)


def exact_separator(classes: QueryClasses, W: FloatArray) -> fmpq_mat | None:
    """A rational matrix near *W* that meets the constraints of *classes* exactly, or None.

    With p_c dual to the independent queries q_c it is Σ y_c p_cᵀ, up to factors: it maps q_c to a
    multiple of y_c, which is rounded from *W* q_c off the pivots of the ties and orthogonal to
    them by its entries at the pivots.
    """
    dual = classes.dual
    if dual is None:
        return None
    of = classes.constraints
    total = fmpq_mat(of.dataset.d, of.dataset.d)
    for query, rows in classes.split(of.rejected).items():
        if not rows:
            continue
        vectors, span = classes.vectors(rows), Span.of(classes.vectors(classes.tied[query]))
        target = W @ _direction(query)
        if not target.any():
            return None
        for bits in _BITS:
            y = span.orthogonal(_rounded(target, bits))
            least = min(_dot(w, y) for w in vectors)
            if least > 0:
                break
        else:
            return None
        outer = fmpz_mat([[a] for a in y]) * fmpz_mat([dual[query]])
        # W q = (p·q) y: the least margin of the class becomes at least 1.
        least *= _dot(dual[query], list(query))
        total += fmpq_mat(outer) * power_above(fmpq(of.features(()).scale, least))
    return total


def _dot(a: Iterable[fmpz], b: Iterable[fmpz]) -> fmpz:
    return sum((x * y for x, y in zip(a, b, strict=True)), fmpz(0))


def _direction(query: tuple[fmpz, ...]) -> FloatArray:
    """A positive multiple of *query* in float64."""
    shift = max(max(int(abs(a)).bit_length() for a in query) - 60, 0)
    return np.array([float(int(a) >> shift) for a in query])


def _rounded(target: FloatArray, bits: int) -> list[fmpz]:
    """*target* in units of 2^−bits of its largest entry, rounded."""
    top = int(np.frexp(np.abs(target).max())[1])
    return [fmpz(int(a)) for a in np.rint(np.ldexp(target, bits - top))]
