"""Gradient descent in ball arithmetic: exact centers, and one number that bounds the error.

A step is evaluated at the center of the enclosure, an exact matrix, so that its balls hold nothing
but rounding. The distance of the true iterate grows by at most the Lipschitz constant of the step
near the center, which falls with the softmax weights: no wrapping, and a growth that precision
can pay for. Source: docs/theory/basin.md, "Verified runs".
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from flint import arb, ctx, fmpq, fmpq_mat

from conditions.dataset import AttentionDataset
from conditions.smoothness import slope

NEAR = fmpq(1, 1 << 20)
"""Largest r(8 + R)ū at which the Lipschitz constant at the center, times 1 + 2^−19, holds on the
ball of radius r."""

Flat = list[arb]
"""A d × d matrix, row by row."""


class Stalled(Exception):  # noqa: N818 - an outcome, not a fault
    """The gradient is not shown to be nonzero, so that no normalized step is defined."""


class Coarse(Exception):  # noqa: N818 - an outcome, not a fault
    """The enclosure is too wide at this precision."""


@dataclass(frozen=True)
class _Pairs:
    """What one sample shows against a reference token a: x_a − x_t, u_t and Δ_t for t ≠ a."""

    others: list[int]
    differences: list[Flat]
    sizes: list[arb]
    gaps: list[arb]
    absolute: list[arb]


@dataclass(frozen=True, eq=False)
class Step:
    """One step from an exact center: the next iterate in balls, H, and ‖G‖ if it is normalized."""

    W: Flat
    curvature: arb
    size: arb | None


class Descent:
    """Steps of one rule, step size and loss on one dataset, with balls of *bits* bits."""

    def __init__(self, dataset: AttentionDataset, rule: str, step: fmpq, loss: str,
                 bits: int) -> None:
        self.dataset, self.rule, self.loss, self.bits = dataset, rule, loss, bits
        with ctx.workprec(bits):
            self.step = arb(step)
            self._tokens = [[[arb(x) for x in token] for token in sample]
                            for sample in dataset.tokens]
            queries = list(dict.fromkeys(dataset.queries))
            self._queries = [[arb(x) for x in query] for query in queries]
            self._query_of = [queries.index(query) for query in dataset.queries]
            norms = [_norm(query) for query in self._queries]
            self._norms = [norms[q] for q in self._query_of]
            self._scores = [[arb(x) for x in row] for row in dataset.scores]
        self._pairs = lru_cache(maxsize=None)(self._against)
        self.reach = self._reach()

    def _against(self, i: int, a: int) -> _Pairs:
        tokens, scores = self._tokens[i], self._scores[i]
        others = [t for t in range(len(tokens)) if t != a]
        differences = [[x - y for x, y in zip(tokens[a], tokens[t], strict=True)]
                       for t in others]
        gaps = [scores[a] - scores[t] for t in others]
        return _Pairs(others, differences, [_norm(x) * self._norms[i] for x in differences], gaps,
                      [abs(x) for x in gaps])

    def _reach(self) -> arb:
        """The largest (8 + R_i)u over all samples and pairs of tokens."""
        top = arb(0)
        with ctx.workprec(self.bits):
            for i, scores in enumerate(self.dataset.scores):
                spread = 8 + max(scores) - min(scores)
                for a in range(len(scores)):
                    for u in self._pairs(i, a).sizes:
                        top = top.max(u * spread)
        return arb(top.upper())

    def at(self, W: Flat) -> Step:
        """The step from *W* (exact entries). Raises `Stalled`."""
        d, n = self.dataset.d, self.dataset.n
        fields = [[_dot(W[k * d:k * d + d], query) for k in range(d)] for query in self._queries]
        pulls = [[arb(0)] * d for _ in self._queries]
        curvature = arb(0)
        for i, q in enumerate(self._query_of):
            weights, pairs, bend = self._sample(i, fields[q])
            curvature += bend
            pull = pulls[q]
            for w, x in zip(weights, pairs.differences, strict=True):
                for k in range(d):
                    pull[k] += w * x[k]
        G = [sum((p[k] * query[j] for p, query in zip(pulls, self._queries, strict=True)), arb(0))
             for k in range(d) for j in range(d)]
        size = None if self.rule == "plain" else _norm(G)
        if size is None:
            factor = self.step / n
        elif size > 0:
            factor = self.step / size
        else:
            raise Stalled
        return Step([w + factor * g for w, g in zip(W, G, strict=True)],
                    curvature * (1 + 2 * arb(NEAR)), size)

    def _sample(self, i: int, field: Flat) -> tuple[Flat, _Pairs, arb]:
        """Weights g s_t(Δ_t − Δ̄) for t ≠ a, what they weigh, and H_i; a has the largest logit."""
        logits = [_dot(x, field) for x in self._tokens[i]]
        a = max(range(len(logits)), key=[float(h) for h in logits].__getitem__)
        pairs = self._pairs(i, a)
        e = [(logits[t] - logits[a]).exp() for t in pairs.others]
        s = [x / (1 + sum(e, arb(0))) for x in e]
        mean = _dot(s, pairs.gaps)
        g = slope(self.loss, self._scores[i][a] - mean)
        q, D = _dot(s, pairs.sizes), _dot(s, pairs.absolute)
        bend, first = q * q * D, arb(0)
        for x, u, gap in zip(s, pairs.sizes, pairs.absolute, strict=True):
            bend += x * (u + q) ** 2 * (gap + D)
            first += x * u * (gap + D)
        if self.loss != "correlation":
            bend += first * first
        return ([g * x * (gap - mean) for x, gap in zip(s, pairs.gaps, strict=True)], pairs,
                g * bend)

    def growth(self, step: Step, radius: arb) -> arb:
        """Λ: how much the step stretches distances within *radius* of its start, at most.

        Raises `Coarse` if the bound does not reach that far.
        """
        if not radius * self.reach <= NEAR:
            raise Coarse
        if step.size is None:
            return 1 + self.step * step.curvature / self.dataset.n
        least = step.size - radius * step.curvature
        if not least > 0:
            raise Coarse
        return 1 + self.step * step.curvature / least


@dataclass
class Iterate:
    """W(k) within ``radius`` of ``center`` (exact entries); ``stretch`` is log₂ of ΠΛ, a float."""

    center: Flat
    radius: arb
    k: int = 0
    stretch: float = 0.0

    @classmethod
    def start(cls, W: fmpq_mat, bits: int) -> Iterate:
        """The exact start, rounded to *bits* bits."""
        with ctx.workprec(bits):
            balls = [arb(x) for x in W.entries()]
            return cls([x.mid() for x in balls], _error(balls))

    def advance(self, descent: Descent, *, enclosing: bool = True) -> None:
        """One step. Raises `Stalled` and, where *enclosing*, `Coarse`.

        Without *enclosing* the radius is left alone and ``center`` is an approximation.
        """
        with ctx.workprec(descent.bits):
            step = descent.at(self.center)
            growth = descent.growth(step, self.radius if enclosing else arb(0))
            if enclosing:
                self.radius = arb((growth * self.radius + _error(step.W)).upper())
            self.center = [x.mid() for x in step.W]
        self.stretch += math.log2(float(growth))
        self.k += 1


def _dot(a: Sequence[arb], b: Sequence[arb]) -> arb:
    total = a[0] * b[0]
    for x, y in zip(a[1:], b[1:], strict=True):
        total += x * y
    return total


def _norm(entries: Sequence[arb]) -> arb:
    """√Σx², an enclosure that never goes below 0."""
    return _dot(entries, entries).max(arb(0)).sqrt()


def _error(balls: Sequence[arb]) -> arb:
    """An upper bound of the Frobenius distance of the true matrix from the centers."""
    return arb(sum((x.rad() for x in balls), arb(0)).upper())
