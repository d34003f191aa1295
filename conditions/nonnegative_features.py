"""Do the features of the optimal selection never pull against each other?

Statement
    The optimum is unique, all other scores of a sample are equal (B.2), no feature φ_it under opt
    is 0, and ⟨φ_it, φ_jτ⟩ ≥ 0 for all rejected tokens (i, t), (j, τ).
Hypotheses
    None. If it holds, gradient descent from every W(0), with any constant step η < 2/β
    (`conditions.smoothness`), converges in direction to W^mm_opt, for each of the three losses.
Certificate
    `nonnegative_products` (holds); `optimum_tie`, `unequal_scores`, `zero_feature`,
    `negative_product` (fails).
Decision procedure
    ⟨φ_it, φ_jτ⟩ = (x_{i opt_i} − x_it)·(x_{j opt_j} − x_jτ) z_i·z_j, in integers, pair by pair.
Reference
    docs/theory/global_limits.md: Theorem 4 of arXiv 2308.16898 v1, repaired.
"""

from __future__ import annotations

from itertools import combinations

from flint import fmpz_mat

from conditions import equal_scores
from conditions.certificates import NegativeProduct, NonnegativeProducts, ZeroFeature
from conditions.dataset import AttentionDataset
from conditions.selection import Row, features, optimal_selection
from conditions.unique_optimum import tie
from conditions.verdict import Status, Verdict, proved

CONDITION = "nonnegative_features"

_Block = tuple[list[Row], fmpz_mat]


def decide(dataset: AttentionDataset) -> Verdict:
    """Decide the condition; never undecided."""
    tied = tie(dataset)
    if tied is not None:
        return proved(CONDITION, Status.FAILS, tied,
                      f"the optimal token of sample {tied.sample} is not unique",
                      number=f"tie in sample {tied.sample}")
    levels = equal_scores.decide(dataset)
    if levels.certificate is not None and levels.fails:
        return proved(CONDITION, Status.FAILS, levels.certificate, levels.reason,
                      number=levels.number)
    row = zero_feature(dataset)
    if row is not None:
        return proved(CONDITION, Status.FAILS, ZeroFeature(row),
                      f"the feature of token {row[1]} of sample {row[0]} is 0",
                      number=f"zero row {row}")
    pair = negative_pair(dataset)
    if pair is not None:
        return proved(CONDITION, Status.FAILS, NegativeProduct(pair),
                      f"the features of rows {pair[0]} and {pair[1]} have a negative inner product",
                      number=f"rows {pair[0]}, {pair[1]}")
    count = sum(dataset.lengths) - dataset.n
    return proved(CONDITION, Status.HOLDS, NonnegativeProducts(),
                  f"no two of the {count} features have a negative inner product",
                  number=f"{count} features")


def zero_feature(dataset: AttentionDataset) -> Row | None:
    """The first row (i, t) under opt with φ_it = 0, if any."""
    for i, a in enumerate(optimal_selection(dataset)):
        tokens = dataset.tokens[i]
        for t, x in enumerate(tokens):
            if t != a and (x == tokens[a] or not any(dataset.queries[i])):
                return i, t
    return None


def negative_pair(dataset: AttentionDataset) -> tuple[Row, Row] | None:
    """Two rows under opt, increasing, with a negative inner product, if any."""
    blocks = _blocks(dataset)
    queries = dataset.integers.queries
    products = (queries * queries.transpose()).tolist()
    own = [(i, i) for i in range(dataset.n)]
    for i, j in (*own, *combinations(range(dataset.n), 2)):
        if products[i][j] == 0:
            continue
        (first, left), (second, right) = blocks[i], blocks[j]
        if products[i][j] < 0:
            right = -right
        for row, entries in zip(first, (left * right.transpose()).tolist(), strict=True):
            least = min(entries)
            if least < 0:
                other = second[entries.index(least)]
                return min(row, other), max(row, other)
    return None


def _blocks(dataset: AttentionDataset) -> list[_Block]:
    """Per sample its rows and their token differences, scaled to integers."""
    phi = features(dataset, optimal_selection(dataset))
    differences = phi.differences.tolist()
    parts: list[_Block] = []
    start = 0
    for T in dataset.lengths:
        stop = start + T - 1
        parts.append((list(phi.rows[start:stop]), fmpz_mat(differences[start:stop])))
        start = stop
    return parts
