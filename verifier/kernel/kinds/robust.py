"""Certificates about every dataset of a ball: all entries of X, z and v within ε, labels fixed.

A difference δ of two tokens moves by at most 2ε in every entry, a query q and the head by at most
ε. Tokens and queries are scaled to integers such that ε becomes an integer in either scale, so
every bound is an integer.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm

from ..claim import ENCLOSED, Claim, Proved, number_text, rows_text
from ..data import Index, read_rows
from ..linear import dot, product, transpose
from ..numbers import MAX_EXPONENT, common_denominator, integers
from ..reading import Node
from ..refusals import Code
from .feasibility import scaled_matrix

Matrix = list[list[int]]


@dataclass(frozen=True)
class Ball:
    """ε as an integer in the scale of the tokens and in that of the queries."""

    claim: Claim
    radius: Fraction
    token_scale: int
    query_scale: int

    @classmethod
    def read(cls, claim: Claim, node: Node) -> Ball:
        """The ball of the radius that *node* spells, which must be positive."""
        radius = node.number()
        if radius <= 0:
            raise node.refuse(Code.NOT_POSITIVE, "the radius must be above 0")
        data = claim.dataset
        return cls(claim, radius, lcm(data.token_scale, radius.denominator),
                   lcm(data.query_scale, radius.denominator))

    @property
    def token(self) -> int:
        """ε in the scale of the tokens."""
        return int(self.radius * self.token_scale)

    @property
    def query(self) -> int:
        """ε in the scale of the queries."""
        return int(self.radius * self.query_scale)

    @property
    def scale(self) -> int:
        """The factor of a feature."""
        return self.token_scale * self.query_scale

    def deltas(self, rows: Iterable[Index]) -> Matrix:
        """x_{iα_i} - x_it of the rows."""
        factor = self.token_scale // self.claim.dataset.token_scale
        return [[factor * x for x in self.claim.features.delta(row)] for row in rows]

    def queries(self, rows: Iterable[Index]) -> Matrix:
        """z_i of the rows."""
        factor = self.query_scale // self.claim.dataset.query_scale
        return [[factor * x for x in self.claim.features.query(row)] for row in rows]

    def gram(self, left: Sequence[Index], right: Sequence[Index]) -> tuple[Matrix, Matrix]:
        """⟨φ, φ'⟩ for all pairs, and a bound of how far each moves in the ball.

        |(δ+e)·(δ'+e') - δ·δ'| ≤ 2ε(‖δ‖₁ + ‖δ'‖₁) + 4ε²d, likewise for queries with ε, and
        |P'Q' - PQ| ≤ |P| b + |Q| a + a b where P moves by a and Q by b.
        """
        p, q, d = self.token, self.query, self.claim.dataset.d
        D, E = self.deltas(left), self.deltas(right)
        A, B = self.queries(left), self.queries(right)
        grams, moves = [], []
        for x, y, inner, turn in zip(D, A, product(D, transpose(E)), product(A, transpose(B)),
                                     strict=True):
            a = [2 * p * (_one(x) + _one(u)) + 4 * p * p * d for u in E]
            b = [q * (_one(y) + _one(u)) + q * q * d for u in B]
            grams.append([P * Q for P, Q in zip(inner, turn, strict=True)])
            moves.append([abs(P) * s + abs(Q) * r + r * s
                          for P, Q, r, s in zip(inner, turn, a, b, strict=True)])
        return grams, moves

    def outscored(self, row: Index) -> bool:
        """Whether γ_{iα_i} > γ_it is shown on the whole ball.

        (δ + e)·(v + h) ≥ δ·v - 2ε‖v‖₁ - ε‖δ‖₁ - 2ε²d.
        """
        data, (i, t) = self.claim.dataset, row
        a = self.claim.features.selection[i]
        gap = data.scores[i][a] - data.scores[i][t]
        move = 2 * sum(map(abs, data.head)) + sum(
            (abs(x - y) for x, y in zip(data.tokens[i][a], data.tokens[i][t], strict=True)),
            Fraction(0))
        return gap > self.radius * move + 2 * self.radius**2 * data.d

    def demand_outscored(self, rows: Iterable[Index], node: Node) -> None:
        """Refuse unless every one of *rows* scores below its selected token on the ball."""
        for row in rows:
            if not self.outscored(row):
                raise node.refuse(Code.NOT_LOCALLY_OPTIMAL,
                                  f"row {row} is not shown to score below its selected token")

    def within(self) -> str:
        """For a statement."""
        return f"for ε = {number_text(self.radius)}"


def _one(row: Sequence[int]) -> int:
    return sum(map(abs, row))


def _inverse(node: Node, rows: int, columns: int) -> tuple[Matrix, int, int]:
    """A matrix 2^e·entries as integers and (2^e as) numerator, denominator."""
    fields = node.object("exponent", "entries")
    exponent = fields["exponent"].integer(-MAX_EXPONENT, MAX_EXPONENT)
    entries = [[x.integer() for x in row.items(columns)] for row in fields["entries"].items(rows)]
    return entries, 1 << max(exponent, 0), 1 << max(-exponent, 0)


def ball_separator(claim: Claim, node: Node) -> Proved:
    """One W with all margins > 0 on the ball; for local optimality, scores below as well.

    (δ + e)ᵀW(q + g) ≥ δᵀWq - 2ε‖Wq‖₁ - ε‖Wᵀδ‖₁ - 2ε²Σ|W_ab|.
    """
    fields = node.object("kind", "radius", "W")
    ball, rows, d = Ball.read(claim, fields["radius"]), claim.features.rows, claim.dataset.d
    W, _ = scaled_matrix(fields["W"].matrix(d, d))
    corner = 2 * ball.token * ball.query * sum(map(_one, W))
    for row, delta, query in zip(rows, ball.deltas(rows), ball.queries(rows), strict=True):
        pull = [dot(w, query) for w in W]
        push = [dot(delta, column) for column in zip(*W, strict=True)]
        if dot(delta, pull) <= 2 * ball.token * _one(pull) + ball.query * _one(push) + corner:
            raise fields["W"].refuse(Code.MARGIN_TOO_SMALL,
                                     f"the margin of row {row} is not shown to stay above 0")
    if claim.condition == "robust_local_optimality":
        ball.demand_outscored(rows, fields["radius"])
    return Proved(ball.within(), ENCLOSED)


def ball_kkt(claim: Claim, node: Node) -> Proved:
    """The support of W^mm_α is `rows` on the whole ball.

    For K' = K + E, |E| ≤ e: ρ_i bounds row i of |I - R K'|, c_i entry i of |R(1 - K'λ)|. If
    max ρ < 1 then K' is nonsingular and λ' = K'⁻¹1 has |λ' - λ|_i ≤ r_i = c_i + ρ_i max c / (1 -
    max ρ). Then λ' > 0 and margins > 1 off `rows` are the KKT conditions.
    """
    fields = node.object("kind", "radius", "rows", "multipliers", "inverse")
    ball, features = Ball.read(claim, fields["radius"]), claim.features
    rows = read_rows(fields["rows"], features)
    if not rows:
        raise fields["rows"].refuse(Code.EMPTY, "without rows W would be 0")
    s = len(rows)
    multipliers = fields["multipliers"].vector(s)
    R, up, down = _inverse(fields["inverse"], s, s)
    absolute = [[abs(x) for x in row] for row in R]
    K, e = ball.gram(rows, rows)
    unit = ball.scale**2
    rho = [Fraction(_one([unit * down * (i == j) - up * x for j, x in enumerate(line)])
                    + up * sum(moved), unit * down)
           for i, (line, moved) in enumerate(zip(product(R, K), product(absolute, e),
                                                 strict=True))]
    if max(rho) >= 1:
        raise fields["inverse"].refuse(Code.COARSE_INVERSE, "‖I - R K‖ is not below 1 on the ball")
    common = common_denominator(multipliers)
    weights = integers(multipliers, common)
    if min(weights) <= 0:
        raise fields["multipliers"].refuse(Code.NOT_POSITIVE, "a multiplier is 0 or less")
    left = [unit * common - dot(line, weights) for line in K]
    right = [dot(line, weights) for line in e]
    c = [Fraction(up * (abs(dot(a, left)) + dot(b, right)), unit * common * down)
         for a, b in zip(R, absolute, strict=True)]
    width = max(c) / (1 - max(rho))
    errors = [a + b * width for a, b in zip(c, rho, strict=True)]
    if any(x <= r for x, r in zip(multipliers, errors, strict=True)):
        raise fields["multipliers"].refuse(Code.NOT_POSITIVE, "a multiplier may be 0 or less")
    chosen = set(rows)
    others = [row for row in features.rows if row not in chosen]
    top = common_denominator(errors)
    steps = integers(errors, top)
    for row, line, moved in zip(others, *ball.gram(others, rows), strict=True):
        margin = dot(line, weights) - dot(moved, weights) - unit * common
        loss = dot([abs(x) + y for x, y in zip(line, moved, strict=True)], steps)
        if margin * top <= loss * common:
            raise fields["rows"].refuse(Code.MARGIN_TOO_SMALL,
                                        f"row {row} is not shown to exceed margin 1")
    if claim.condition == "robust_local_optimality":
        ball.demand_outscored(rows, fields["radius"])
    return Proved(f"{ball.within()}; support indices {rows_text(rows)}", ENCLOSED)


def ball_factors(claim: Claim, node: Node) -> Proved:
    """Independent queries and, per sample, independent differences, on the whole ball.

    A has full row rank if ‖I - A B‖_∞ < 1 for some B. Entries of A move by at most ω, so row sums
    of A B by at most ω Σ|B|.
    """
    fields = node.object("kind", "radius", "differences", "queries")
    ball, data = Ball.read(claim, fields["radius"]), claim.dataset
    n, d = data.n, data.d
    for i, inverse in enumerate(fields["differences"].items(n)):
        rows = [row for row in claim.features.rows if row[0] == i]
        _demand_rank(ball.deltas(rows), inverse, d, 2 * ball.token, ball.token_scale)
    queries = ball.queries((i, 1) for i in range(n))
    _demand_rank(queries, fields["queries"], d, ball.query, ball.query_scale)
    return Proved(ball.within(), ENCLOSED)


def _demand_rank(A: Matrix, node: Node, d: int, reach: int, unit: int) -> None:
    B, up, down = _inverse(node, d, len(A))
    moved = up * reach * sum(map(_one, B))
    for k, line in enumerate(product(A, B)):
        if _one([unit * down * (k == j) - up * x for j, x in enumerate(line)]) + moved \
                >= unit * down:
            raise node.refuse(Code.NOT_INDEPENDENT, f"row {k} is not shown independent")


def ball_rows(claim: Claim, node: Node) -> Proved:
    """Independent features on the whole ball: ‖I - Φ B‖_∞ < 1.

    Entry (a, b) of a feature moves by at most ε|δ_a| + 2ε|q_b| + 2ε².
    """
    fields = node.object("kind", "radius", "inverse")
    ball, rows, d = Ball.read(claim, fields["radius"]), claim.features.rows, claim.dataset.d
    B, up, down = _inverse(fields["inverse"], d * d, len(rows))
    reach = list(map(_one, B))
    by_token = [sum(reach[a * d:(a + 1) * d]) for a in range(d)]
    by_query = [sum(reach[b::d]) for b in range(d)]
    corner = 2 * ball.token * ball.query * sum(reach)
    D, Q = ball.deltas(rows), ball.queries(rows)
    features = [[x * y for x in delta for y in query] for delta, query in zip(D, Q, strict=True)]
    for k, line in enumerate(product(features, B)):
        moved = (ball.query * dot([abs(x) for x in D[k]], by_token)
                 + 2 * ball.token * dot([abs(x) for x in Q[k]], by_query) + corner)
        off = _one([ball.scale * down * (k == j) - up * x for j, x in enumerate(line)])
        if off + up * moved >= ball.scale * down:
            raise fields["inverse"].refuse(Code.NOT_INDEPENDENT, f"row {rows[k]} is not shown "
                                           "independent")
    return Proved(ball.within(), ENCLOSED)
