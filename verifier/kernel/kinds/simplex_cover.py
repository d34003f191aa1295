"""A direction for each cell of a cover of the row space (S5).

A generator (w, q), w ≥ 0, is the point q/w or, for w = 0, the ray q; the cell of r + 1 generators
is the convex hull of its points plus the cone of its rays: all q/w of nonnegative combinations
with w > 0. With g = α g_a + β g_b, every combination of g_a and g_b is one of g and g_b or of g_a
and g, so the cells with g for g_a and with g for g_b cover the cell. The 2^r orthants cover R^r.

On a cell, with D = Σ c_k B_k and s_t s_τ = s_a² e^(E_tτ·y), E_tτ = F_ta + F_τa,

    e^(-E_0·y) (-n)⟨∇L, D⟩ = Σ_i N_i S_i,  N_i = |ℓ'(f_i)| s_ia²,
    S_i = Σ_{t<τ} p_tτ e^((E_tτ - E_0)·y),  p_tτ = (γ_it - γ_iτ) F_{i,tτ}·c,

where N_i > 0; a lower bound S⁻ of S_i gives N_i S_i ≥ N⁻S⁻ if S⁻ ≥ 0, and ≥ N⁺S⁻ if not.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from ..bounds import End, inverse_down, inverse_up, mean_score, slope, sum_down, times
from ..claim import ENCLOSED, Claim, Proved, rows_text
from ..linear import dot
from ..numbers import Enclosure, common_denominator, exp_enclosure, integers
from ..reading import Node
from ..refusals import Code
from ..row_space import RowSpace, read_basis
from .first_step import MAX_PRECISION, MIN_PRECISION

_GUARD = 32

Generator = tuple[int, ...]
"""w, then the integer logits F_it·q of all tokens: all that is asked of q is linear in them."""
Cell = list[Generator]
Pair = tuple[int, int, int]
"""Tokens t < τ with p_tτ ≠ 0, times a positive factor that is the same for all samples."""


def simplex_cover(claim: Claim, node: Node) -> Proved:
    """2^r trees of cells in preorder, every leaf with a direction along which L moves."""
    fields = node.object("kind", "basis", "directions", "nodes", "precision")
    space = read_basis(fields["basis"], claim)
    r = space.dimension
    bounds = _Bounds(claim, space,
                     [entry.vector(r) for entry in fields["directions"].items()],
                     fields["precision"].integer(MIN_PRECISION, MAX_PRECISION) + _GUARD)
    entries = iter(fields["nodes"].items())
    axes = list(zip(*(F for sample in space.logits for F in sample), strict=True))
    origin = (1, *(0 for _ in axes[0]))
    leaves = 0
    for signs in range(1 << r):
        pending = [[origin, *((0, *(-x if signs >> k & 1 else x for x in axis))
                              for k, axis in enumerate(axes))]]
        while pending:
            cell = pending.pop()
            entry = next(entries, None)
            if entry is None:
                raise fields["nodes"].refuse(Code.BROKEN_TREE, "the nodes end before the trees")
            parts = entry.items()
            if len(parts) == 4:
                pending += _halves(cell, parts)
            else:
                bounds.check_leaf(cell, entry)
                leaves += 1
    if (rest := next(entries, None)) is not None:
        raise rest.refuse(Code.BROKEN_TREE, "the trees end before the nodes")
    return Proved(f"a direction D with ⟨∇L(W), D⟩ < 0 on each of {leaves} cells that cover all "
                  f"W = Σ y_k B_k, B_k = (x_i0 - x_it) z_iᵀ of rows {rows_text(space.rows)}",
                  ENCLOSED)


def _halves(cell: Cell, parts: Sequence[Node]) -> tuple[Cell, Cell]:
    """The two parts of a cell, the second first."""
    a, b = (part.index(len(cell)) for part in parts[:2])
    alpha, beta = (part.integer(1) for part in parts[2:])
    if a == b:
        raise parts[1].refuse(Code.BROKEN_TREE, "a generator is split from itself")
    # No common factor is taken out: later splits weigh this generator as it is.
    between = tuple(alpha * x + beta * y for x, y in zip(cell[a], cell[b], strict=True))
    first, second = list(cell), list(cell)
    first[a] = second[b] = between
    return second, first


@dataclass(frozen=True)
class _Bounds:
    """Lower bounds of the derivative along the certificate's directions."""

    claim: Claim
    space: RowSpace
    directions: Sequence[Sequence[Fraction]]
    bits: int
    _exps: dict[Fraction, Enclosure] = field(default_factory=dict)
    _pairs: dict[int, list[list[Pair]]] = field(default_factory=dict)

    def check_leaf(self, cell: Cell, entry: Node) -> None:
        """Demand a positive lower bound on the cell."""
        data = self.claim.dataset
        number, sample, *rest = entry.items(4 + data.n)
        k = number.index(len(self.directions))
        j = sample.index(data.n)
        t, u = (token.index(data.lengths[j]) for token in rest[:2])
        if t == u:
            raise entry.refuse(Code.OUT_OF_RANGE, "a reference pair has two tokens")
        bases = [token.index(T) for token, T in zip(rest[2:], data.lengths, strict=True)]
        view = _View(cell, data.lengths, self.space.scale)
        reference = view.exponent(j, t, u, bases[j])
        terms = []
        for i, pairs in enumerate(self._signed_pairs(k)):
            if pairs:
                low = self._lower_sum(view, i, bases[i], pairs, reference)
                if low is None:
                    raise entry.refuse(Code.DESCENT_NOT_SHOWN, f"sample {i} is unbounded below")
                least, most = self._factor(view, i, bases[i])
                terms.append(times(low, least if low[0] >= 0 else most))
        if sum_down(terms, self.bits)[0] <= 0:
            raise entry.refuse(Code.DESCENT_NOT_SHOWN, "no positive lower bound on this cell")

    def _signed_pairs(self, k: int) -> list[list[Pair]]:
        """Per sample the pairs with p_tτ ≠ 0 for direction k."""
        if k not in self._pairs:
            data, c = self.claim.dataset, self.directions[k]
            weights = integers(c, common_denominator(c))
            scale = common_denominator(x for scores in data.scores for x in scores)
            self._pairs[k] = []
            for scores, logits in zip(data.scores, self.space.logits, strict=True):
                h, gamma = [dot(F, weights) for F in logits], integers(scores, scale)
                found = [(t, u, (gamma[t] - gamma[u]) * (h[t] - h[u]))
                         for u in range(len(h)) for t in range(u)]
                self._pairs[k].append([pair for pair in found if pair[2]])
        return self._pairs[k]

    def _lower_sum(self, view: _View, i: int, base: int, pairs: list[Pair],
                   reference: list[int]) -> End | None:
        """S⁻, or None for -∞."""
        terms = []
        for t, u, p in pairs:
            low, high = view.extent(view.minus(view.exponent(i, t, u, base), reference))
            if p < 0:
                if high is None:
                    return None
                e = self._exp(high)
                terms.append((p * e.hi, e.exponent))
            elif low is not None:
                e = self._exp(low)
                terms.append((p * e.lo, e.exponent))
        return sum_down(terms, self.bits)

    def _factor(self, view: _View, i: int, base: int) -> tuple[End, End]:
        """Bounds of N = |ℓ'(f)| s_a²."""
        scores = self.claim.dataset.scores[i]
        tokens = range(len(scores))
        if self.claim.loss == "correlation":
            weight, slopes = self._weight(view, i, base), ((1, 0), (1, 0))
        else:
            weights = [self._weight(view, i, t) for t in tokens]
            weight = weights[base]
            slopes = slope(self.claim.loss, *mean_score(scores, base, weights, self.bits),
                           self.bits)
        least, most = (times(end, times(w, w)) for end, w in zip(slopes, weight, strict=True))
        return least, most

    def _weight(self, view: _View, i: int, t: int) -> tuple[End, End]:
        """Bounds of s_t = 1/Σ_τ e^(F_τt·y)."""
        low: list[End] = [(1, 0)]
        high: list[End] | None = [(-1, 0)]
        for u in range(self.claim.dataset.lengths[i]):
            if u != t:
                least, most = view.extent(view.rise(i, u, t))
                if least is not None:
                    e = self._exp(least)
                    low.append((e.lo, e.exponent))
                if high is not None and most is not None:
                    e = self._exp(most)
                    high.append((-e.hi, e.exponent))
                else:
                    high = None
        most_end = inverse_up(sum_down(low, self.bits), self.bits)
        if high is None:
            return (0, 0), most_end
        m, exponent = sum_down(high, self.bits)
        return inverse_down((-m, exponent), self.bits), most_end

    def _exp(self, x: Fraction) -> Enclosure:
        if x not in self._exps:
            self._exps[x] = exp_enclosure(x, self.bits)
        return self._exps[x]


class _View:
    """A cell seen token by token: the logits of its generators, and extents of their differences.

    A linear function is the list of its values at the generators' q, times the scale.
    """

    def __init__(self, cell: Cell, lengths: Sequence[int], scale: int) -> None:
        self._rays = [k for k, g in enumerate(cell) if not g[0]]
        self._points = [(k, g[0] * scale) for k, g in enumerate(cell) if g[0]]
        columns = iter(zip(*cell, strict=True))
        next(columns)
        self._logits = [[next(columns) for _ in range(T)] for T in lengths]

    def rise(self, i: int, t: int, u: int) -> list[int]:
        """F_{i,tu}."""
        return self.minus(self._logits[i][t], self._logits[i][u])

    def exponent(self, i: int, t: int, u: int, base: int) -> list[int]:
        """F_{i,ta} + F_{i,ua} for the base token a."""
        logits = self._logits[i]
        return [x + y - 2 * z for x, y, z in zip(logits[t], logits[u], logits[base], strict=True)]

    @staticmethod
    def minus(a: Iterable[int], b: Iterable[int]) -> list[int]:
        """The difference of two linear functions."""
        return [x - y for x, y in zip(a, b, strict=True)]

    def extent(self, values: Sequence[int]) -> tuple[Fraction | None, Fraction | None]:
        """Infimum and supremum over the cell, None where infinite.

        Bounded above iff no ray raises the function, and then by its points; likewise below.
        """
        at_points = [Fraction(values[k], w) for k, w in self._points]
        return (None if any(values[k] < 0 for k in self._rays) else min(at_points),
                None if any(values[k] > 0 for k in self._rays) else max(at_points))
