"""What a head does with mixtures of tokens: Assumption E, and the best mixture under v·x − λ‖x‖².

With h(x) = v·x − λ‖x‖², λ > 0, and o = Xᵀs: where Y = 1, Y h is strictly concave in o, and s has
the largest value iff (x_t − o)·(v − 2λo) ≤ 0 for every token. Where Y = −1, Y h is convex in s: the
largest value is that of a token.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from ..claim import Claim, Proved, number_text
from ..data import Vector, read_row
from ..linear import rank
from ..numbers import common_denominator, integers
from ..reading import Node
from ..refusals import Code


def top_score_gap(claim: Claim, node: Node) -> Proved:
    """The least gap from a selected token to a lower one of its sample; 1 if there is none.

    By linearity Y h(x(s)) = γ_α − Σ_t s_t (γ_α − γ_t), which is at most γ_α − c(1 − s_α) for all s
    iff no gap is below c.
    """
    fields = node.object("kind", "constant", "rows")
    data, selection = claim.dataset, claim.features.selection
    gaps = {(i, t): scores[a] - score
            for i, (scores, a) in enumerate(zip(data.scores, selection, strict=True))
            for t, score in enumerate(scores) if score < scores[a]}
    constant = fields["constant"].number()
    rows = [read_row(entry, data, selection)
            for entry in fields["rows"].items(min(len(gaps), 1))]
    if constant != min(gaps.values(), default=1):
        raise fields["constant"].refuse(Code.WRONG_CONSTANT, "not the least gap to a lower token")
    for row in rows:
        if gaps.get(row) != constant:
            raise fields["rows"].refuse(Code.NO_GAP, f"the gap to row {row} is another")
    return Proved(f"c = {number_text(constant)}" if gaps
                  else "no token scores lower, any c will do")


def simplex_maximizer(claim: Claim, node: Node) -> Proved:
    """The s of each sample has the largest value, and no other has.

    Where Y = 1, o is the only best point. w·x_t is largest exactly on the tokens of s, so any other
    s' with Xᵀs' = o has no other tokens; and these are affinely independent.
    """
    fields = node.object("kind", "lam", "weights", "normals")
    lam, data = _lam(fields["lam"]), claim.dataset
    counts = []
    for i, (entry, normal) in enumerate(zip(fields["weights"].items(data.n),
                                            fields["normals"].items(data.n), strict=True)):
        s = _largest(claim, entry, i, lam)
        support = [t for t, weight in enumerate(s) if weight]
        counts.append(len(support))
        tokens = data.tokens[i]
        if data.labels[i] == 1:
            w = normal.vector(data.d)
            heights = [_dot(w, x) for x in tokens]
            if [t for t, h in enumerate(heights) if h == max(heights)] != support:
                raise normal.refuse(Code.NOT_ALONE, "it is not largest on the tokens of positive "
                                    "weight alone")
            if not _affinely_independent([tokens[t] for t in support]):
                raise entry.refuse(Code.NOT_ALONE, "the tokens of positive weight are dependent")
        else:
            normal.items(0)
            values = [_value(data.head, lam, x) for x in tokens]
            if len(support) > 1 or values.count(min(values)) > 1:
                raise entry.refuse(Code.NOT_ALONE, "several tokens have the largest value")
    return Proved(f"λ = {number_text(lam)}; tokens taken: {', '.join(map(str, counts))}")


def simplex_tie(claim: Claim, node: Node) -> Proved:
    """Two different s of one sample have the largest value."""
    fields = node.object("kind", "lam", "sample", "weights")
    lam, i = _lam(fields["lam"]), fields["sample"].index(claim.dataset.n)
    first, second = (_largest(claim, entry, i, lam) for entry in fields["weights"].items(2))
    if first == second:
        raise fields["weights"].refuse(Code.EQUAL_OPTIMA, "the two mixtures are equal")
    return Proved(f"λ = {number_text(lam)}, sample {i}")


def _lam(node: Node) -> Fraction:
    lam = node.number()
    if lam <= 0:
        raise node.refuse(Code.NOT_POSITIVE, "λ must be positive")
    return lam


def _largest(claim: Claim, node: Node, i: int, lam: Fraction) -> Vector:
    """Weights of the simplex that give sample i its largest value. Raises `Refusal`."""
    data = claim.dataset
    tokens, head = data.tokens[i], data.head
    s = node.vector(data.lengths[i])
    if min(s) < 0 or sum(s) != 1:
        raise node.refuse(Code.NOT_A_MIXTURE, "weights are ≥ 0 and their sum is 1")
    o = tuple(_dot(s, column) for column in zip(*tokens, strict=True))
    if data.labels[i] == 1:
        slope = [v - 2 * lam * x for v, x in zip(head, o, strict=True)]
        best = max(_dot(slope, x) for x in tokens) <= _dot(slope, o)
    else:
        best = _value(head, lam, o) == min(_value(head, lam, x) for x in tokens)
    if not best:
        raise node.refuse(Code.NOT_LARGEST, f"another mixture of sample {i} has a larger value")
    return s


def _value(head: Vector, lam: Fraction, x: Vector) -> Fraction:
    """h(x) = v·x − λ‖x‖²."""
    return _dot(head, x) - lam * _dot(x, x)


def _affinely_independent(points: Sequence[Vector]) -> bool:
    """Whether no nonzero combination of sum 0 of *points* vanishes."""
    rows = [(*point, Fraction(1)) for point in points]
    return rank([integers(row, common_denominator(row)) for row in rows]) == len(rows)


def _dot(a: Sequence[Fraction], b: Sequence[Fraction]) -> Fraction:
    return sum((x * y for x, y in zip(a, b, strict=True)), Fraction(0))
