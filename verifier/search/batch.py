"""Many datasets of one size side by side, as arrays."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from conditions.dataset import AttentionDataset, FloatArray

BoolArray = np.ndarray[Any, np.dtype[np.bool_]]
IntArray = np.ndarray[Any, np.dtype[np.int64]]


class Size(NamedTuple):
    """n samples of T tokens in R^d."""

    n: int
    T: int
    d: int

    @property
    def numbers(self) -> int:
        """The numbers of a dataset whose first tokens are 0: tokens, queries, head."""
        return self.n * (self.T - 1) * self.d + self.n * self.d + self.d

    def __str__(self) -> str:
        return f"({self.n}, {self.T}, {self.d})"


@dataclass(frozen=True, eq=False)
class Batch:
    """B datasets of one size; every number is *numerator* / ``denominator``.

    ``tokens`` B × n × T × d, ``queries`` B × n × d, ``head`` B × d, ``labels`` B × n, all float64
    (integers there for lattices, and exact in any case).
    """

    tokens: FloatArray
    queries: FloatArray
    head: FloatArray
    labels: FloatArray
    denominator: int = 1

    def __len__(self) -> int:
        return len(self.tokens)

    @property
    def size(self) -> Size:
        """(n, T, d)."""
        return Size(*self.tokens.shape[1:])

    @cached_property
    def scores(self) -> FloatArray:
        """γ_it times the denominator squared, B × n × T."""
        return np.asarray(self.labels[:, :, None]
                          * np.einsum("bntd,bd->bnt", self.tokens, self.head))

    @cached_property
    def optimal(self) -> IntArray:
        """The first token of largest score, B × n."""
        return np.asarray(self.scores.argmax(axis=2))

    @cached_property
    def gaps(self) -> FloatArray:
        """γ_{i opt} − γ_it over the rejected tokens in order, B × n × (T − 1)."""
        best = np.take_along_axis(self.scores, self.optimal[:, :, None], 2)
        return self._rejected(best - self.scores)

    @cached_property
    def differences(self) -> FloatArray:
        """x_{i opt} − x_it over the rejected tokens, B × n × (T − 1) × d."""
        best = np.take_along_axis(self.tokens, self.optimal[:, :, None, None], 2)
        return self._rejected(best - self.tokens)

    @cached_property
    def features(self) -> FloatArray:
        """φ_it under opt, flattened: B × N × d²."""
        B, (n, T, d) = len(self), self.size
        products = np.einsum("bntd,bne->bntde", self.differences, self.queries)
        return np.asarray(products.reshape(B, n * (T - 1), d * d))

    def _rejected(self, values: FloatArray) -> FloatArray:
        """*values* (B × n × T × …) without the entries of the optimal tokens."""
        B, (n, T, _) = len(self), self.size
        keep = np.arange(T) != self.optimal[:, :, None]
        return np.asarray(values[keep].reshape(B, n, T - 1, *values.shape[3:]))

    def take(self, chosen: BoolArray | IntArray) -> Batch:
        """The datasets at *chosen*."""
        return Batch(self.tokens[chosen], self.queries[chosen], self.head[chosen],
                     self.labels[chosen], self.denominator)

    def dataset(self, k: int) -> AttentionDataset:
        """Dataset number k, exact."""
        def exact(values: FloatArray) -> list[Any]:
            if values.ndim > 1:
                return [exact(part) for part in values]
            return [Fraction(x) / self.denominator for x in values.tolist()]

        return AttentionDataset.build(exact(self.tokens[k]), self.labels[k].astype(int).tolist(),
                                      exact(self.queries[k]), exact(self.head[k]))
