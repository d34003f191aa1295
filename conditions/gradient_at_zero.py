"""−n∇L(0) as an exact combination of the loss weights |ℓ'(f)|.

At W = 0 the softmax is uniform, so f_i is the mean score of sample i, rational, and
−n∇L(0) = Σ_f |ℓ'(f)| M_f with M_f = Σ_{i: f_i = f} Σ_t (γ_it − f_i)/T_i x_it z_iᵀ, rational.
Source: docs/theory.md, (G) at W = 0.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from flint import arb, arb_mat, ctx, fmpq, fmpq_mat, fmpz

from conditions.dataset import AttentionDataset
from conditions.losses import Terms, exact_slope, sign, weight
from conditions.selection import Features

_BITS = 64


@lru_cache(maxsize=64)
def gradient_terms(dataset: AttentionDataset) -> dict[fmpq, fmpq_mat]:
    """{f: M_f}, exact, each M_f of shape (d, d)."""
    d = dataset.d
    terms: dict[fmpq, fmpq_mat] = {}
    for tokens, query, scores in zip(dataset.tokens, dataset.queries, dataset.scores,
                                     strict=True):
        T = len(scores)
        mean = sum(scores, fmpq(0)) / T
        weights = fmpq_mat(1, T, [(score - mean) / T for score in scores])
        pull = weights * fmpq_mat([list(x) for x in tokens])
        matrix = pull.transpose() * fmpq_mat(1, d, list(query))
        terms[mean] = terms[mean] + matrix if mean in terms else matrix
    return terms


def exact_pull(dataset: AttentionDataset, loss: str) -> fmpq_mat | None:
    """−n∇L(0) if |ℓ'| is rational at rational scores, else None; shape (d, d)."""
    G = fmpq_mat(dataset.d, dataset.d)
    for f, matrix in gradient_terms(dataset).items():
        slope = exact_slope(loss, f)
        if slope is None:
            return None
        G += matrix * slope
    return G


def margin_terms(phi: Features, k: int) -> Terms:
    """{f: ⟨φ, M_f⟩} for row number k, exact."""
    d = phi.dataset.d
    delta = fmpq_mat(1, d, [phi.differences[k, j] for j in range(d)])
    query = fmpq_mat(d, 1, [phi.queries[k, j] for j in range(d)])
    return {f: (delta * matrix * query)[0, 0] / phi.scale
            for f, matrix in gradient_terms(phi.dataset).items()}


def margin_signs(phi: Features, loss: str) -> Iterator[tuple[int, int] | None]:
    """`conditions.losses.sign` of −n⟨φ, ∇L(0)⟩, one row after the other."""
    G = exact_pull(phi.dataset, loss)
    if G is not None:
        for margin in phi.margins(G):
            yield (margin > 0) - (margin < 0), _BITS
        return
    for k, clear in enumerate(_clear_signs(phi, loss)):
        yield (clear, _BITS) if clear else sign(loss, margin_terms(phi, k))


def _clear_signs(phi: Features, loss: str) -> list[int]:
    """The signs that `_BITS` bits show for all rows at once, else 0.

    The condition of `sign` with Σ_f |ℓ'(f)| ‖φ‖‖M_f‖ in the place of Σ_f |ℓ'(f) ⟨φ, M_f⟩|.
    """
    terms = gradient_terms(phi.dataset)
    with ctx.workprec(3 * _BITS):
        G, size = arb_mat(phi.dataset.d, phi.dataset.d), arb(0)
        for f, matrix in terms.items():
            slope = weight(loss, f, 2 * _BITS)
            G += arb_mat(matrix) * slope
            size += slope * arb(_square(matrix.entries())).sqrt()
        limit = size * arb(2) ** (8 - _BITS)
        pulls = (arb_mat(phi.differences) * G).tolist()
        signs = []
        for pull, delta, query in zip(pulls, phi.differences.tolist(), phi.queries.tolist(),
                                      strict=True):
            margin = sum((a * arb(b) for a, b in zip(pull, query, strict=True)), arb(0))
            norm = (arb(_square(delta)) * arb(_square(query))).sqrt()
            clear = abs(margin) > limit * norm
            signs.append(((margin > 0) - (margin < 0)) if clear else 0)
        return signs


def _square(entries: list[fmpz]) -> fmpz:
    return sum((a * a for a in entries), fmpz(0))
