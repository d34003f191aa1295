"""Token selections α and the features of their rejected tokens."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from conditions.dataset import AttentionDataset
from conditions.errors import InvalidInput, counted
from conditions.exact.rank_one import TokenRows

Selection = tuple[int, ...]
Row = tuple[int, int]


def check_selection(dataset: AttentionDataset, selection: Iterable[object]) -> Selection:
    """*selection* as a tuple of n token indices, 0-based. Raises ``InvalidInput``."""
    if isinstance(selection, str | bytes) or not isinstance(selection, Iterable):
        raise InvalidInput("selection", selection, "must be a list of token indices",
                           "give n indices")
    given = list(selection)
    if len(given) != dataset.n:
        raise InvalidInput("selection", counted(len(given), "entry", "entries"),
                           f"must name one token for each of the {dataset.n} samples",
                           "give n comma-separated indices")
    for i, (a, T) in enumerate(zip(given, dataset.lengths, strict=True)):
        if not isinstance(a, int | np.integer) or isinstance(a, bool) or not 0 <= a < T:
            raise InvalidInput(f"selection[{i}]", a, f"must be an integer in 0..{T - 1}",
                               "count tokens from 0")
    return tuple(int(a) for a in given)  # type: ignore[call-overload]


def score_order(dataset: AttentionDataset, i: int) -> list[int]:
    """The tokens of sample i by falling score, lowest index first on ties."""
    scores = dataset.scores[i]
    return sorted(range(len(scores)), key=lambda t: (-scores[t], t))


def optimal_selection(dataset: AttentionDataset) -> Selection:
    """opt: per sample the token with the largest score, lowest index on ties."""
    return tuple(score_order(dataset, i)[0] for i in range(dataset.n))


@dataclass(frozen=True, eq=False)
class Features(TokenRows):
    """The features φ_it = (x_{iα_i} − x_it) z_iᵀ of the N rejected tokens.

    ``rows`` lists (i, t) in increasing order. Source: arXiv 2308.16898 v1, section 2.
    """

    selection: Selection
    rows: tuple[Row, ...]

    @cached_property
    def index(self) -> dict[Row, int]:
        """The position of each row."""
        return {row: k for k, row in enumerate(self.rows)}


@lru_cache(maxsize=64)
def features(dataset: AttentionDataset, selection: Selection) -> Features:
    """The features of *selection*; cached, so that conditions share the work."""
    rows = tuple((i, t) for i, (a, T) in enumerate(zip(selection, dataset.lengths, strict=True))
                 for t in range(T) if t != a)
    pairs = tuple((i, selection[i], t) for i, t in rows)
    return Features(dataset, pairs, selection, rows)
