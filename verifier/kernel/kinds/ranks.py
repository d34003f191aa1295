"""Whether the features are linearly independent (full rank), base token 0.

The row space Σ_t span φ_it does not depend on the selection, so one selection speaks for all.
*Modular rank*: a rational matrix is scaled to integers row by row; if elimination modulo p finds
r unit pivots then some r × r minor is not 0 modulo p, so it is not 0 (see `linear.unit_pivots`).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd

from ..claim import Claim, Proved
from ..data import Vector, read_sparse
from ..linear import product, transpose, unit_pivots
from ..numbers import common_denominator, integers
from ..reading import Node
from ..refusals import Code

MAX_MODULUS = 2**64 - 1


def read_modulus(node: Node) -> int:
    """A modulus 2 ≤ p < 2^64; it need not be prime."""
    return node.integer(2, MAX_MODULUS)


def integer_rows(rows: Sequence[Vector]) -> list[list[int]]:
    """A rational matrix scaled to integers, each row by its own least factor."""
    return [integers(row, common_denominator(row)) for row in rows]


def _differences(claim: Claim, i: int) -> list[list[int]]:
    first, *others = claim.dataset.tokens[i]
    return integer_rows([tuple(a - b for a, b in zip(first, token, strict=True))
                         for token in others])


def independent_rows(claim: Claim, node: Node) -> Proved:
    """All φ_it, t ≥ 1, are independent: by their Gram matrix modulo p, or by themselves."""
    modulus = node.object("kind", "modulus")["modulus"]
    p = read_modulus(modulus)
    d = claim.dataset.d
    count = sum(T - 1 for T in claim.dataset.lengths)
    if count <= d * d:
        deltas, queries = _feature_factors(claim)
        gram = (
            [x * y for x, y in zip(a, b, strict=True)]
            for a, b in zip(product(deltas, transpose(deltas)),
                            product(queries, transpose(queries)), strict=True))
        if unit_pivots(list(gram), p) == count:
            return Proved()
        # A Gram matrix may vanish modulo p where its rows do not.
        if unit_pivots([[x * y for x in a for y in b]
                        for a, b in zip(deltas, queries, strict=True)], p) == count:
            return Proved()
    raise modulus.refuse(Code.NOT_INDEPENDENT, "the features are not shown independent")


def _feature_factors(claim: Claim) -> tuple[list[list[int]], list[list[int]]]:
    """Integer δ, q for each row: δ qᵀ is its feature times the least factor that makes integers.

    Scaled on their own, by a and b, the entries of a δ have no common divisor with a, those of
    b q none with b. What the product a b has in common with all entries is thus the product of
    gcd(b, a δ) and gcd(a, b q), which are divided out.
    """
    deltas, queries = [], []
    for i, z in enumerate(claim.dataset.queries):
        first, *others = claim.dataset.tokens[i]
        b = common_denominator(z)
        q = integers(z, b)
        for token in others:
            difference = tuple(x - y for x, y in zip(first, token, strict=True))
            a = common_denominator(difference)
            delta = integers(difference, a)
            g, h = gcd(b, *delta), gcd(a, *q)
            deltas.append([x // g for x in delta])
            queries.append([x // h for x in q])
    return deltas, queries


def independent_factors(claim: Claim, node: Node) -> Proved:
    """The queries are independent, and the differences x_i0 - x_it of each sample are.

    Then Σ c_it φ_it = Σ_i (Σ_t c_it (x_i0 - x_it)) z_iᵀ = 0 forces each inner sum, hence c, to 0.
    """
    modulus = node.object("kind", "modulus")["modulus"]
    p = read_modulus(modulus)
    data = claim.dataset
    if unit_pivots(integer_rows(data.queries), p) < data.n:
        raise modulus.refuse(Code.NOT_INDEPENDENT, "the queries are not shown independent")
    for i, T in enumerate(data.lengths):
        if unit_pivots(_differences(claim, i), p) < T - 1:
            raise modulus.refuse(Code.NOT_INDEPENDENT,
                                 f"the differences of sample {i} are not shown independent")
    return Proved()


def too_many_rows(claim: Claim, node: Node) -> Proved:
    """More than d² matrices of size d × d are dependent."""
    node.object("kind")
    count, d = sum(T - 1 for T in claim.dataset.lengths), claim.dataset.d
    if count <= d * d:
        raise node.refuse(Code.NOT_DEPENDENT, f"{count} features are no more than d² = {d * d}")
    return Proved(f"{count} features in a space of {d * d} dimensions")


def row_dependency(claim: Claim, node: Node) -> Proved:
    """Coefficients, not all 0, with Σ c_it φ_it = 0."""
    coefficients = node.object("kind", "coefficients")["coefficients"]
    vector = read_sparse(coefficients, claim.features, positive=False)
    if not vector:
        raise coefficients.refuse(Code.EMPTY, "at least one coefficient is needed")
    weights = integers(list(vector.values()), common_denominator(vector.values()))
    if any(map(any, claim.features.combination(dict(zip(vector, weights, strict=True))))):
        raise coefficients.refuse(Code.NOT_CANCELLING, "Σ c φ is not zero")
    return Proved(f"a combination of {len(vector)} features is zero")
