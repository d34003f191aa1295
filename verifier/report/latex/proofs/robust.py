"""Proofs that hold for every dataset in a ball around the given one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from flint import arb, arb_mat, fmpq, fmpq_mat
from flint import ctx as flint_context

from conditions.certificates import BallFactors, BallKKT, BallRows, BallSeparator, ScaledInverse
from conditions.dataset import Vector
from conditions.robustness.ball import exact_ball
from conditions.robustness.scores import score_slack
from conditions.selection import Features, Row
from conditions.verdict import Verdict
from verifier.report.latex import numbers, text
from verifier.report.latex.context import Context

_BITS = 192


def _radius(x: fmpq) -> str:
    return rf"$\varepsilon{numbers.parameter(x)}$"


def _length(values: Sequence[fmpq]) -> fmpq:
    """The sum of absolute values."""
    return sum((abs(x) for x in values), fmpq(0))


def _delta(phi: Features, row: Row) -> Vector:
    i, t = row
    tokens = phi.dataset.tokens[i]
    return tuple(a - b for a, b in zip(tokens[phi.selection[i]], tokens[t], strict=True))


def ball_separator(ctx: Context, verdict: Verdict, certificate: BallSeparator) -> str:
    """The least margin of W over the ball."""
    phi, eps = ctx.features(verdict.selection), certificate.radius
    W = fmpq_mat([list(row) for row in certificate.W])
    total, margins = _length(W.entries()), phi.margins(W)
    lowest = []
    for row, m in zip(phi.rows, margins, strict=True):
        z = phi.dataset.queries[row[0]]
        pull = (W * fmpq_mat(len(z), 1, list(z))).entries()
        push = (fmpq_mat(1, len(z), list(_delta(phi, row))) * W).entries()
        lowest.append(m - 2 * eps * _length(pull) - eps * _length(push) - 2 * eps * eps * total)
    return (f"For {ctx.matrix('W', certificate.W, 'W')} and {_radius(eps)}, "
            rf"$\delta^{{T}}Wz-2\varepsilon\|Wz\|_1-\varepsilon\|W^{{T}}\delta\|_1-2\varepsilon^2"
            rf"\sum|W|{numbers.at_least(min(lowest))}$ for all rows, $\delta=x_{{i,\alpha_i}}-"
            f"x_{{i,t}}$, $z=z_i${_scores(verdict, phi, phi.rows, eps)}. {ctx.fact('ball')} "
            "applies.")


def _scores(verdict: Verdict, phi: Features, rows: Sequence[Row], eps: fmpq) -> str:
    """What local optimality asks of the scores, if that is the question."""
    if verdict.condition != "robust_local_optimality":
        return ""
    least = min(score_slack(phi, row, eps) for row in rows)
    which = "all rows" if len(rows) == len(phi) else "the rows $S$"
    return (rf", and $\Delta-\varepsilon(2\|v\|_1+\|\delta\|_1)-2\varepsilon^2d"
            rf"{numbers.at_least(least)}$ for {which}")


def ball_kkt(ctx: Context, verdict: Verdict, certificate: BallKKT) -> str:
    """The multipliers and margins that remain over the ball."""
    phi, eps = ctx.features(verdict.selection), certificate.radius
    inside = [phi.index[row] for row in certificate.rows]
    outside = [k for k in range(len(phi)) if k not in set(inside)]
    ball = exact_ball(phi, eps)
    with flint_context.workprec(_BITS):
        unit = arb(int(ball.unit)) ** 2
        K, e = (_balls(A) * (1 / unit) for A in ball.gram(inside, inside))
        R, s = _inverse(certificate.inverse), len(inside)
        x = arb_mat(s, 1, [arb(a) for a in certificate.multipliers])
        one = arb_mat(s, s, 1)
        rho = _sums(_absolute(one - R * K) + _absolute(R) * e)
        c = (_absolute(R * (arb_mat(s, 1, [1] * s) - K * x)) + _absolute(R) * (e * x)).entries()
        worst = _largest(rho)
        width = _largest(c) / (1 - worst)
        r = [a + b * width for a, b in zip(c, rho, strict=True)]
        least = _least([arb(a) - b for a, b in zip(certificate.multipliers, r, strict=True)])
        rest = "every row is in $S$"
        if outside:
            G, f = (_balls(A) * (1 / unit) for A in ball.gram(outside, inside))
            error = arb_mat(s, 1, r)
            left = (G * x - _absolute(G) * error - f * (x + error)).entries()
            rest = f"all other margins are ${numbers.bottom(_least(left), fmpq(1))}>1$"
    return (f"Let $S$ be {ctx.rows(certificate.rows, 'rows')}, {_radius(eps)}, and $R$, $\\lambda$ "
            f"{ctx.filed('inverse')}, {ctx.filed('multipliers')}. Over the ball "
            rf"$\|I-RK\|_\infty{numbers.top(worst, fmpq(1))}<1$, the exact multipliers are "
            rf"${numbers.bottom(least)}>0$ and {rest}"
            f"{_scores(verdict, phi, certificate.rows, eps)}. {ctx.fact('ball_kkt')} applies.")


def ball_factors(ctx: Context, verdict: Verdict, certificate: BallFactors) -> str:
    """The right inverses of differences and queries."""
    phi, eps = ctx.features(None), certificate.radius
    with flint_context.workprec(_BITS):
        worst = []
        for i, inverse in enumerate(certificate.differences):
            A = [_delta(phi, (i, t)) for t in range(1, ctx.dataset.lengths[i])]
            worst.append(_defect(A, inverse, 2 * eps))
        query = _defect(ctx.dataset.queries, certificate.queries, eps)
    return (f"With {_radius(eps)} and right inverses $B$ ({ctx.filed('differences')}, "
            rf"\texttt{{queries}}), "
            rf"$\|I-AB\|_\infty+2\varepsilon\sum|B|{numbers.top(_largest(worst), fmpq(1))}"
            r"<1$ for the differences $A$ of every sample, and $\|I-ZB\|_\infty+\varepsilon\sum|B|"
            rf"{numbers.top(query, fmpq(1))}<1$ for the queries $Z$. {ctx.fact('ball_rank')} and "
            f"{ctx.fact('independence')} apply.")


def _defect(A: Sequence[Vector], inverse: ScaledInverse, reach: fmpq) -> arb:
    rows, B = arb_mat([[arb(x) for x in row] for row in A]), _inverse(inverse)
    defect = _largest(_sums(_absolute(arb_mat(len(A), len(A), 1) - rows * B)))
    return defect + arb(reach) * sum((abs(x) for x in B.entries()), arb(0))


def ball_rows(ctx: Context, verdict: Verdict, certificate: BallRows) -> str:
    """The right inverse of all features."""
    phi, eps, d = ctx.features(None), certificate.radius, ctx.dataset.d
    with flint_context.workprec(_BITS):
        B, e = _inverse(certificate.inverse), arb(eps)
        reach = _sums(_absolute(B))
        defects = []
        for k, row in enumerate(phi.rows):
            delta, z = _delta(phi, row), ctx.dataset.queries[row[0]]
            feature = arb_mat(1, d * d, [arb(a * b) for a in delta for b in z])
            product = (feature * B).entries()
            total = sum((abs(x - int(j == k)) for j, x in enumerate(product)), arb(0))
            for a in range(d):
                for b in range(d):
                    moved = e * arb(abs(delta[a])) + 2 * e * arb(abs(z[b])) + 2 * e * e
                    total += moved * reach[a * d + b]
            defects.append(total)
        worst = _largest(defects)
    return (f"With {_radius(eps)} and the right inverse $B$, {ctx.filed('inverse')}, of the "
            rf"{text.count(len(phi), 'feature')} $\Phi$, $\|I-\Phi "
            rf"B\|_\infty{numbers.top(worst, fmpq(1))}<1"
            rf"$ over the ball. {ctx.fact('ball_rank')} applies.")


def _inverse(inverse: ScaledInverse) -> arb_mat:
    return (arb_mat([[arb(a) for a in row] for row in inverse.entries])
            * (arb(2) ** inverse.exponent))


def _balls(table: Any) -> arb_mat:
    return arb_mat([[arb(int(a)) for a in row] for row in table.tolist()])


def _absolute(A: arb_mat) -> arb_mat:
    return arb_mat([[abs(x) for x in row] for row in A.tolist()])


def _sums(A: arb_mat) -> list[arb]:
    return [sum(row, arb(0)) for row in A.tolist()]


def _largest(values: Sequence[arb]) -> arb:
    top = arb(0)
    for x in values:
        top = top.max(x)
    return top


def _least(values: Sequence[arb]) -> arb:
    least = values[0]
    for x in values:
        least = least.min(x)
    return least
