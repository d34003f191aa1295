"""The least nuclear norm of a separating matrix, and separation by factors of few columns.

For feasible KQᵀ the least value is at most ‖K‖‖Q‖ ≤ ½(‖K‖² + ‖Q‖²). For λ ≥ 0 with ‖M‖_op ≤ 1,
M = Σλφ, it is at least Σλ, as ‖W‖_* ≥ ⟨M, W⟩ = Σ λ m(W).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from ..claim import ENCLOSED, Claim, Proved, number_text
from ..data import Index, read_row, read_sparse
from ..linear import dot, product, transpose
from ..numbers import common_denominator, integers
from ..reading import Node
from ..refusals import Code
from .feasibility import scaled_matrix
from .kkt import Combination, combine


def semidefinite(A: list[list[int]]) -> bool:
    """Whether a symmetric integer matrix is positive semidefinite: fraction-free elimination.

    A pivot that is 0 must stand in a row that is 0, since |a_kj|² ≤ a_kk a_jj; such a row is left
    out. All later entries are minors of the rest, so the divisions are exact.
    """
    rows = [list(row) for row in A]
    last = 1
    for k, pivot in enumerate(rows):
        head = pivot[k]
        if head < 0 or (head == 0 and any(pivot[k:])):
            return False
        if head == 0:
            continue
        for i in range(k + 1, len(rows)):
            factor = pivot[i]
            rows[i] = [(head * x - factor * y) // last for x, y in zip(rows[i], pivot,
                                                                       strict=True)]
        last = head
    return True


@dataclass(frozen=True)
class Factors:
    """K, Q (d × r) in integers, times `scale`; `margins` of KQᵀ, in units of 1/`one`."""

    K: list[list[int]]
    Q: list[list[int]]
    scale: int
    margins: dict[Index, int]
    one: int

    @property
    def value(self) -> Fraction:
        """½(‖K‖² + ‖Q‖²)."""
        return Fraction(_square(self.K) + _square(self.Q), 2 * self.scale**2)


def _square(matrix: list[list[int]]) -> int:
    return sum(x * x for row in matrix for x in row)


def read_factors(claim: Claim, K: Node, Q: Node) -> Factors:
    """K and Q, of the same number of columns, at least one, with every margin of KQᵀ ≥ 1."""
    features, d = claim.features, claim.dataset.d
    width = len(K.items(d)[0].items())
    if not width:
        raise K.refuse(Code.EMPTY, "at least one column is needed")
    given = [K.matrix(d, width), Q.matrix(d, width)]
    scale = common_denominator(x for matrix in given for row in matrix for x in row)
    k, q = ([integers(row, scale) for row in matrix] for matrix in given)
    one = scale**2 * features.scale
    margins = features.margins(list(product(k, transpose(q))))
    for (i, t), margin in margins.items():
        if margin < one:
            raise K.refuse(Code.MARGIN_TOO_SMALL, f"the margin of row ({i}, {t}) is below 1")
    return Factors(k, q, scale, margins, one)


@dataclass(frozen=True)
class Multipliers:
    """λ > 0 with ‖M‖_op ≤ 1, M = Σλφ in integers, and I − MᵀM, times the square of its scale."""

    weights: dict[Index, Fraction]
    M: Combination
    complement: list[list[int]]

    @property
    def value(self) -> Fraction:
        """Σ λ."""
        return sum(self.weights.values(), Fraction(0))


def read_multipliers(claim: Claim, node: Node) -> Multipliers:
    """λ > 0, on some rows, with I − MᵀM positive semidefinite."""
    weights = read_sparse(node, claim.features)
    if not weights:
        raise node.refuse(Code.EMPTY, "at least one multiplier is needed")
    M = combine(claim.features, weights)
    gram = product(transpose(M.matrix), M.matrix)
    complement = [[(M.scale**2 if a == b else 0) - x for b, x in enumerate(row)]
                  for a, row in enumerate(gram)]
    if not semidefinite(complement):
        raise node.refuse(Code.NOT_DEFINITE, "‖Σ λ φ‖_op is above 1")
    return Multipliers(weights, M, complement)


def read_rank(claim: Claim, node: Node, factors: Factors) -> int:
    """A rank that is the number of columns of K and Q, and at most min(n, d)."""
    rank = node.integer(1, min(claim.dataset.n, claim.dataset.d))
    if rank != len(factors.K[0]):
        raise node.refuse(Code.WRONG_RANK, "not the number of columns of K and Q")
    return rank


def nuclear_interval(claim: Claim, node: Node) -> Proved:
    """The interval holds Σλ and ½(‖K‖² + ‖Q‖²), K and Q of `rank` ≤ min(n, d) columns."""
    fields = node.object("kind", "K", "Q", "multipliers", "lower", "upper", "rank")
    factors = read_factors(claim, fields["K"], fields["Q"])
    rank = read_rank(claim, fields["rank"], factors)
    multipliers = read_multipliers(claim, fields["multipliers"])
    lower, upper = fields["lower"].number(), fields["upper"].number()
    if lower <= 0:
        raise fields["lower"].refuse(Code.NOT_POSITIVE, "a norm is positive")
    for name, inside in (("lower", lower <= multipliers.value), ("upper", upper >= factors.value)):
        if not inside:
            raise fields[name].refuse(Code.WRONG_NORM, "not a bound of the value that follows")
    return Proved(f"min ‖W‖_* is in [{number_text(lower)}, {number_text(upper)}], "
                  f"a W of rank ≤ {rank} is as small", ENCLOSED)


def nuclear_optima(claim: Claim, node: Node) -> Proved:
    """MP and MP', P and P' ⪰ 0 of trace Σλ: both have nuclear norm ≤ tr P, so are optimal."""
    fields = node.object("kind", "multipliers", "first", "second")
    multipliers = read_multipliers(claim, fields["multipliers"])
    found = [_optimum(claim, multipliers, fields[name]) for name in ("first", "second")]
    if found[0] == found[1]:
        raise fields["second"].refuse(Code.EQUAL_OPTIMA, "the two optima are equal")
    return Proved("two different matrices attain min ‖W‖_* = "
                  f"{number_text(multipliers.value)}")


def _optimum(claim: Claim, multipliers: Multipliers, node: Node) -> list[list[Fraction]]:
    d = claim.dataset.d
    P, scale = scaled_matrix(node.matrix(d, d))
    if transpose(P) != P or not semidefinite(P):
        raise node.refuse(Code.NOT_DEFINITE, "not symmetric, or not positive semidefinite")
    if Fraction(sum(P[a][a] for a in range(d)), scale) != multipliers.value:
        raise node.refuse(Code.WRONG_NORM, "its trace is not the sum of the multipliers")
    W = list(product(multipliers.M.matrix, P))
    one = multipliers.M.scale * scale * claim.features.scale
    for (i, t), margin in claim.features.margins(W).items():
        if margin < one:
            raise node.refuse(Code.MARGIN_TOO_SMALL, f"the margin of row ({i}, {t}) is below 1")
    return [[Fraction(x, multipliers.M.scale * scale) for x in row] for row in W]


def low_rank_pair(claim: Claim, node: Node) -> Proved:
    """K and Q of m columns with every margin of KQᵀ ≥ 1."""
    fields = node.object("kind", "K", "Q")
    factors = read_factors(claim, fields["K"], fields["Q"])
    return Proved(f"m = {len(factors.K[0])}")


def rank_one_infeasible(claim: Claim, node: Node) -> Proved:
    """No kqᵀ has all margins > 0: for every choice of the signs of z_i·q some rows cancel.

    The margin of (i, t) is (δ_it·k)(z_i·q), so all s_i z_i·q and all s_i δ_it·k are positive for
    some signs s. (−k)(−q)ᵀ = kqᵀ, so the first sample may have the sign +.
    """
    nodes = node.object("kind", "nodes")["nodes"]
    left = nodes.items()
    left.reverse()
    # Vertices to be read, the next one last: the signs of samples 0, 1, ….
    waiting: list[tuple[int, ...]] = [()]
    leaves = 0
    while waiting:
        signs = waiting.pop()
        if not left:
            raise nodes.refuse(Code.BROKEN_TREE, "the tree ends too early")
        entry = left.pop()
        if type(entry.value) is not dict:
            if len(signs) == claim.dataset.n:
                raise entry.refuse(Code.BROKEN_TREE, "every sample has a sign here")
            entry.integer(len(signs), len(signs))
            waiting += [(*signs, s) for s in ((-1, 1) if signs else (1,))]
            continue
        leaves += 1
        _check_signs(claim, signs, entry)
    if left:
        raise nodes.refuse(Code.BROKEN_TREE, "the tree ends before its entries do")
    return Proved(f"m = 1, all signs excluded in {leaves} cases")


def _check_signs(claim: Claim, signs: tuple[int, ...], entry: Node) -> None:
    """Σ y_i s_i z_i = 0 or Σ λ_it s_i δ_it = 0 over samples with a sign."""
    name = "queries" if isinstance(entry.value, dict) and "queries" in entry.value else "rows"
    part = entry.object(name)[name]
    terms: list[tuple[Fraction, list[int]]] = []
    keys: list[tuple[int, ...]] = []
    for item in part.items():
        *index, number = item.items(2 if name == "queries" else 3)
        weight = number.number()
        if weight <= 0:
            raise number.refuse(Code.NOT_POSITIVE, "a multiplier must be positive")
        i = index[0].index(len(signs))
        if name == "queries":
            keys.append((i,))
            vector = claim.dataset.integer_queries[i]
        else:
            row = read_row(Node([x.value for x in index], item.parent, item.key), claim.dataset,
                           claim.features.selection)
            keys.append(row)
            vector = claim.features.delta(row)
        terms.append((signs[i] * weight, vector))
    part.increasing(keys)
    if not terms:
        raise part.refuse(Code.EMPTY, "at least one multiplier is needed")
    scale = common_denominator(weight for weight, _ in terms)
    weights = integers([weight for weight, _ in terms], scale)
    if any(dot(weights, column) for column in transpose([vector for _, vector in terms])):
        raise part.refuse(Code.NOT_CANCELLING, "the combination is not zero")
