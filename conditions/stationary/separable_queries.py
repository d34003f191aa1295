"""S2a: queries on one side, sign by label, leave no stationary point, whatever the tokens.

Statement
    ∇L(W) ≠ 0 for every W.
Hypotheses
    ℓ' < 0 on the range of the scores; linear head; some u has Y_i u·z_i ≥ 0 for every sample
    that is not flat, and > 0 for one.
Certificate
    `separable_queries`.
Decision procedure
    Exact: the least-norm combination Σ ν_i Y_i z_i with ν ≥ 1 is such a u, or 0, and then there is
    none (Stiemke).
Reference
    docs/theory.md, section 5, S2a.
"""

from __future__ import annotations

from flint import fmpz_mat

from conditions.certificates import SeparableQueries
from conditions.dataset import AttentionDataset
from conditions.exact.nonnegative import ConeProblem, nonnegative_minimizer
from conditions.exact.rank_one import RankOneRows, take
from conditions.no_flat_sample import flat_samples
from conditions.stationary.cone import primitive


def proof(dataset: AttentionDataset) -> SeparableQueries | None:
    """The proof, or None where S2a does not apply."""
    flat = set(flat_samples(dataset))
    pulling = [i for i in range(dataset.n) if i not in flat]
    if not pulling:
        return None
    signs = fmpz_mat(len(pulling), 1, [dataset.labels[i] for i in pulling])
    integers = dataset.integers
    rows = RankOneRows(signs, take(integers.queries, pulling), integers.query_scale)
    problem = ConeProblem(rows)
    x = nonnegative_minimizer(problem, [])
    u = problem.direction(list(x), list(x.values()))
    return SeparableQueries(primitive(u)) if any(a != 0 for a in u.entries()) else None
