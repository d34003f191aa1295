"""Proofs about the nuclear norm, and about factors of few columns."""

from __future__ import annotations

from flint import fmpq, fmpq_mat

from conditions.certificates import (
    LowRankPair,
    NuclearInterval,
    NuclearOptima,
    NuclearUniqueness,
    OppositeQueries,
    OppositeRows,
    RankOneInfeasible,
)
from conditions.certificates.base import Matrix
from conditions.selection import Features
from conditions.separation.nuclear_uniqueness import square_of_row
from conditions.separation.rows import equal_rows
from conditions.verdict import Verdict
from verifier.report.latex import numbers, text
from verifier.report.latex.context import ITEMS, Context

_LEAVES = 4


def _square(M: Matrix) -> fmpq:
    return sum((x * x for row in M for x in row), fmpq(0))


def _product(K: Matrix, Q: Matrix) -> fmpq_mat:
    return fmpq_mat([list(r) for r in K]) * fmpq_mat([list(r) for r in Q]).transpose()


def _pair(ctx: Context, phi: Features,
          certificate: NuclearInterval | NuclearUniqueness) -> tuple[fmpq, fmpq, str]:
    """(Σλ, ½(‖K‖² + ‖Q‖²), the sentence that both are bounds)."""
    low = sum((x for _, _, x in certificate.multipliers), fmpq(0))
    high = (_square(certificate.K) + _square(certificate.Q)) / 2
    listed = ctx.sparse(r"\lambda", certificate.multipliers, "multipliers")
    margins = ctx.margins(phi, _product(certificate.K, certificate.Q))
    return low, high, (
        f"Take {ctx.matrix('K', certificate.K, 'K')}, {ctx.matrix('Q', certificate.Q, 'Q')}; all "
        f"margins of $KQ^{{T}}$ are ${numbers.at_least(min(margins.values()))}$, and "
        rf"$\frac12(\|K\|_F^2+\|Q\|_F^2){numbers.value(high)}$. With {listed} and $M=\sum\lambda"
        rf"\varphi$, $I-M^{{T}}M\succeq0$ by elimination over $\mathbf Q$, and $\sum\lambda"
        rf"{numbers.value(low)}$.")


def nuclear_interval(ctx: Context, verdict: Verdict, certificate: NuclearInterval) -> str:
    """The pair and its two values."""
    _, _, pair = _pair(ctx, ctx.features(verdict.selection), certificate)
    return (f"{pair} {ctx.fact('nuclear')} applies; $K$ and $Q$ have {certificate.rank} "
            f"{'column' if certificate.rank == 1 else 'columns'}.")


def nuclear_uniqueness(ctx: Context, verdict: Verdict, certificate: NuclearUniqueness) -> str:
    """The pair, the least singular values, and the inequalities that they close."""
    phi = ctx.features(verdict.selection)
    low, high, pair = _pair(ctx, phi, certificate)
    b = closing_bounds(phi, certificate, high - low)
    names = text.listed([f"${name}{numbers.value(x)}$" for name, x in
                         zip(("a", r"\kappa", r"\rho", "b"), certificate.least_values,
                             strict=True)])
    shown = "; ".join(numbers.strictly(*each) for each in (
        (r"\epsilon", b["epsilon"], r"\min\lambda", b["least"]),
        (r"2\omega", 2 * b["omega"], "1", fmpq(1)),
        (r"\|Q\|_F^2U\zeta", b["left"], r"b(1-2\omega)", b["right"]),
        (r"U\zeta\,\frac12(\|K\|_F^2+\|Q\|_F^2)+\delta", b["rank"], "b",
         certificate.least_values[3])))
    return (f"{pair} Here $g{numbers.value(high - low)}$. Near rows: "
            f"{ctx.rows(certificate.near, 'near')}; least singular values {names}, each by a "
            rf"definite matrix. Then {shown}, with $\delta=(\sum_{{\lambda>0}}(m-1)^2)^{{1/2}}$. "
            f"{ctx.fact('nuclear')} and {ctx.fact('nuclear_one')} apply.")


def closing_bounds(phi: Features, certificate: NuclearUniqueness, gap: fmpq) -> dict[str, fmpq]:
    """The numbers of the theorem, every root rounded up."""
    a, kappa, rho, b = certificate.least_values
    margins = phi.margins(_product(certificate.K, certificate.Q))
    first = [int(k) for k in equal_rows(phi)]
    near = {first[phi.index[row]] for row in certificate.near}
    outside = gap * max((_up(square_of_row(phi, k)) / (margins[k] - 1)
                         for k in range(len(phi)) if first[k] not in near), default=fmpq(0))
    size = _up(max(_square(certificate.K), _square(certificate.Q)))
    reach = _up(sum((square_of_row(phi, phi.index[row]) for row in certificate.near), fmpq(0)))
    epsilon = (4 * _up(gap) + fmpq(3, 2) * outside * size) / a
    tangent = fmpq(3, 2) * _up(gap) / rho
    omega = (2 * (outside + reach * epsilon) + 2 * tangent) / kappa
    zeta = tangent + 2 * omega
    value = (_square(certificate.K) + _square(certificate.Q)) / 2
    excess = _up(sum(((margins[phi.index[i, t]] - 1) ** 2
                      for i, t, _ in certificate.multipliers), fmpq(0)))
    return {"epsilon": epsilon, "omega": omega,
            "least": min(x for _, _, x in certificate.multipliers),
            "left": _square(certificate.Q) * reach * zeta, "right": b * (1 - 2 * omega),
            "rank": reach * zeta * value + excess}


def _up(square: fmpq) -> fmpq:
    return numbers.root_between(square, square)[1]


def nuclear_optima(ctx: Context, verdict: Verdict, certificate: NuclearOptima) -> str:
    """Two semidefinite factors of one trace."""
    phi = ctx.features(verdict.selection)
    listed = ctx.sparse(r"\lambda", certificate.multipliers, "multipliers")
    total = sum((x for _, _, x in certificate.multipliers), fmpq(0))
    M = ctx.combination(phi, certificate.multipliers)
    least = [min(ctx.margins(phi, M * fmpq_mat([list(r) for r in P])).values())
             for P in (certificate.first, certificate.second)]
    other = ctx.matrix("P'", certificate.second, "second")
    return (rf"With {listed}, $\sum\lambda{numbers.value(total)}$ and $M=\sum\lambda\varphi$, "
            rf"$I-M^{{T}}M\succeq0$. {ctx.matrix('P', certificate.first, 'first')} and "
            f"{other} are positive "
            rf"semidefinite of trace $\sum\lambda$, all margins of $MP$ are "
            f"${numbers.at_least(least[0])}$, those of $MP'$ ${numbers.at_least(least[1])}$, and "
            rf"$MP\ne MP'$. {ctx.fact('nuclear_two')} applies to both.")


def low_rank_pair(ctx: Context, verdict: Verdict, certificate: LowRankPair) -> str:
    """K and Q, and the margins of their product."""
    phi = ctx.features(verdict.selection)
    W = _product(certificate.K, certificate.Q)
    shown = ctx.margins_text(phi, W).replace("its", "the", 1)
    return (f"Take {ctx.matrix('K', certificate.K, 'K')}, {ctx.matrix('Q', certificate.Q, 'Q')}: "
            f"for "
            f"$KQ^{{T}}$ {shown}; all are $\\ge1$.")


def rank_one_infeasible(ctx: Context, verdict: Verdict, certificate: RankOneInfeasible) -> str:
    """The tree of signs and the multipliers that close its leaves."""
    leaves = [node for node in certificate.nodes if not isinstance(node, int)]
    queries = sum(isinstance(node, OppositeQueries) for node in leaves)
    start = (f"By {ctx.fact('signs')} it is enough to exclude every choice of signs. Their tree "
             f"has "
             f"{text.count(len(leaves), 'leaf', 'leaves')}, {queries} closed by $y>0$ with "
             rf"$\sum y_is_iz_i=0$ and {len(leaves) - queries} by $\lambda>0$ with "
             rf"$\sum\lambda_{{i,t}}"
             r"s_i(x_{i,\alpha_i}-x_{i,t})=0$")
    if len(leaves) > _LEAVES:
        return f"{start} ({ctx.filed('nodes')})."
    return f"{start}: {'; '.join(_leaf(node) for node in _leaves(certificate))}."


def _leaves(certificate: RankOneInfeasible
            ) -> list[tuple[tuple[int, ...], OppositeQueries | OppositeRows]]:
    """Each leaf with the signs above it."""
    found: list[tuple[tuple[int, ...], OppositeQueries | OppositeRows]] = []
    nodes = iter(certificate.nodes)

    def visit(signs: tuple[int, ...]) -> None:
        node = next(nodes)
        if not isinstance(node, int):
            found.append((signs, node))
            return
        for sign in (1, -1) if signs else (1,):
            visit((*signs, sign))

    visit(())
    return found


def _leaf(leaf: tuple[tuple[int, ...], OppositeQueries | OppositeRows]) -> str:
    signs, node = leaf
    if isinstance(node, OppositeQueries):
        parts = [f"$y_{{{i}}}{numbers.value(x)}$" for i, x in node.queries]
    else:
        parts = [rf"$\lambda_{{{i},{t}}}{numbers.value(x)}$" for i, t, x in node.rows]
    shown = text.listed(parts) if len(parts) <= ITEMS else f"{len(parts)} multipliers"
    return f"for $s={text.vector([f'{s:+d}'[0] for s in signs])}$, {shown}"
