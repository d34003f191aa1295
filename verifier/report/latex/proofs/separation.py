"""Proofs about Att-SVM(α): separators, Farkas vectors, KKT points and their enclosures."""

from __future__ import annotations

from collections.abc import Sequence

from flint import arb, arb_mat, fmpq, fmpq_mat, fmpz
from flint import ctx as flint_context

from conditions.certificates import (
    ExactKKT,
    Farkas,
    KKTEnclosure,
    PrimalDual,
    QueryCycle,
    ScaledInverse,
    Separator,
    SparseVector,
    TopologicalOrder,
    Vector,
)
from conditions.certificates.base import Matrix
from conditions.exact.rank_one import TokenRows
from conditions.selection import Features, Row
from conditions.separation.nuclear_uniqueness import square_of_row
from conditions.smoothness import rational_above
from conditions.verdict import Verdict
from verifier.report.latex import numbers, text
from verifier.report.latex.context import ITEMS, Context

WMM = r"{W}^{\mathrm{mm}}_{\alpha}"
_BITS = 192


# Feasibility ----------------------------------------------------------------------------------


def separator(ctx: Context, verdict: Verdict, certificate: Separator) -> str:
    """A matrix and its margins."""
    return separates(ctx, ctx.features(verdict.selection), certificate.W, "W") + "."


def separates(ctx: Context, phi: Features, W: Matrix, name: str) -> str:
    """The phrase that *W* has all margins ≥ 1."""
    key = ("separator", phi.selection, W)
    if (place := ctx.seen(key)) is not None:
        return f"The matrix of {place} has all margins $\\ge1$"
    return f"For {ctx.matrix('W', W, name)}, {ctx.margins_text(phi, W)}; all are $\\ge1$"


def farkas(ctx: Context, verdict: Verdict, certificate: Farkas) -> str:
    """λ with Σ λ φ = 0."""
    return (f"{farkas_text(ctx, ctx.features(verdict.selection), certificate)}. "
            f"{ctx.fact('gordan')} applies.")


def farkas_text(ctx: Context, phi: Features, certificate: Farkas) -> str:
    """The phrase with the Farkas vector."""
    if (place := ctx.seen(("farkas", phi.selection, certificate))) is not None:
        return f"The multipliers of {place} have $\\sum\\lambda_{{i,t}}\\varphi_{{i,t}}=0$"
    listed = ctx.sparse(r"\lambda", certificate.multipliers, "multipliers")
    zero = ""
    if len(certificate.multipliers) == 1:
        i, t, _ = certificate.multipliers[0]
        zero = rf" ($\varphi_{{{i},{t}}}$ itself is $0$)"
    return (f"With {listed} and $\\lambda=0$ elsewhere, exactly "
            rf"$\sum\lambda_{{i,t}}\varphi_{{i,t}}=0${zero}")


def query_cycle(ctx: Context, verdict: Verdict, certificate: QueryCycle) -> str:
    """The edges of a cycle."""
    alpha = ctx.features(verdict.selection).selection
    edges = certificate.edges
    if len(edges) > ITEMS:
        walk = f"{len(edges)} edges, {ctx.filed('edges')}"
    else:
        walk = text.listed([rf"$x_{{{i},{alpha[i]}}}\to x_{{{i},{t}}}$" for i, t in edges])
    return (f"The edges {walk} close a cycle: each rejected token equals the next selected one as "
            "a vector, and the queries of their samples are nonzero positive multiples of each "
            f"other. {ctx.fact('cycle')} applies.")


def topological_order(ctx: Context, verdict: Verdict, certificate: TopologicalOrder) -> str:
    """The orders of the query classes."""
    parts = []
    for each in certificate.classes:
        samples = text.listed(list(map(str, each.samples)))
        order = r"\succ ".join(f"x_{{{i},{t}}}" for i, t in each.order)
        parts.append(f"samples {samples}: ${order}$")
    shown = ("; ".join(parts) if sum(len(c.order) for c in certificate.classes) <= 2 * ITEMS
             else f"{text.count(len(parts), 'order')}, {ctx.filed('classes')}")
    return (f"Modulo $p={certificate.modulus}$ the distinct tokens have as many unit pivots as "
            f"there are of them, and so have the distinct queries; by {ctx.fact('modular')} both "
            f"are linearly independent. Order, by query, the distinct tokens of its samples: "
            f"{shown}. Every selected token precedes the rejected ones of its sample, and "
            f"{ctx.fact('order')} applies.")


# The exact solution ---------------------------------------------------------------------------


def exact_kkt(ctx: Context, verdict: Verdict, certificate: ExactKKT) -> str:
    """Multipliers, W and its margins; then what the condition asks."""
    phi = ctx.features(verdict.selection)
    return f"{solution_text(ctx, phi, certificate)} {conclusion(ctx, verdict, phi, certificate)}"


def multipliers_text(ctx: Context, phi: Features, multipliers: SparseVector) -> str:
    """The sentence that Σ λ φ is W^mm."""
    key = ("solution", phi.selection, multipliers)
    if (place := ctx.seen(key)) is not None:
        return f"${WMM}=\\sum\\lambda\\varphi$ is that of {place}."
    W = ctx.combination(phi, multipliers)
    listed = ctx.sparse(r"\lambda", multipliers, "multipliers")
    if W.nrows() * W.ncols() <= ITEMS and _short(W):
        named = ctx.matrix("W", W, "W")
    else:
        named = r"$W=\sum\lambda_{i,t}\varphi_{i,t}$"
    return (f"With {listed}, {named} equals $\\sum\\lambda\\varphi$, and {ctx.margins_text(phi, W)}"
            f"; all are $\\ge1$, and $=1$ where $\\lambda>0$. By {ctx.fact('kkt')}, $W={WMM}$.")


def _short(W: fmpq_mat) -> bool:
    return all(numbers.short(x) is not None for x in W.entries())


def solution_text(ctx: Context, phi: Features, certificate: ExactKKT | KKTEnclosure) -> str:
    """What a certificate proves about W^mm_α whatever the condition."""
    if isinstance(certificate, KKTEnclosure):
        return enclosure_text(ctx, phi, certificate)
    return multipliers_text(ctx, phi, certificate.multipliers)


def conclusion(ctx: Context, verdict: Verdict, phi: Features,
               certificate: ExactKKT | KKTEnclosure) -> str:
    """What follows for the condition from the support indices."""
    support = certificate.support
    if verdict.condition == "support_indices":
        norm = (r"$\|W\|_F^2=\sum\lambda$" if isinstance(certificate, ExactKKT) else
                r"$\|" + WMM + r"\|_F^2=\sum\lambda^*$")
        return f"The rows of margin $1$ are those stated, and {norm}."
    if verdict.condition == "all_support":
        if verdict.holds:
            return f"All {text.count(len(support), 'row')} have margin $1$."
        others = [row for row in phi.rows if row not in set(support)]
        return f"Row $({others[0][0]},{others[0][1]})$ has a larger margin than $1$."
    if verdict.holds:
        return f"{support_gaps(ctx, phi, support)} on the support indices{_unasked(ctx, phi)}."
    rival = next(row for row in support if ctx.gap(phi, row) <= 0)
    i, t = rival
    return (f"Row $({i},{t})$ is a support index with $\\Delta_{{{i},{t}}}"
            f"{numbers.value(ctx.gap(phi, rival))}\\le0$.")


def support_gaps(ctx: Context, phi: Features, support: Sequence[Row]) -> str:
    """The gaps of the support indices, all positive."""
    gaps = {row: ctx.gap(phi, row) for row in support}
    if len(gaps) <= ITEMS:
        return ctx.by_row(r"\Delta", gaps)
    return rf"$\Delta_{{i,t}}{numbers.at_least(min(gaps.values()))}$"


def _unasked(ctx: Context, phi: Features) -> str:
    rivals = [row for row in phi.rows if ctx.gap(phi, row) <= 0]
    if not rivals or len(rivals) > ITEMS:
        return ""
    word = "is" if len(rivals) == 1 else "are"
    return (f"; {text.listed([f'$({i},{t})$' for i, t in rivals])}, which "
            rf"{'has' if len(rivals) == 1 else 'have'} $\Delta\le0$, {word} not among them")


# Enclosures -----------------------------------------------------------------------------------


def kkt_enclosure(ctx: Context, verdict: Verdict, certificate: KKTEnclosure) -> str:
    """β, ε and the margins that they leave; then what the condition asks."""
    phi = ctx.features(verdict.selection)
    return f"{solution_text(ctx, phi, certificate)} {conclusion(ctx, verdict, phi, certificate)}"


def enclosure_text(ctx: Context, phi: Features, certificate: KKTEnclosure) -> str:
    """The hypotheses of the verified KKT theorem, with their bounds."""
    if (place := ctx.seen(("enclosure", phi.selection, certificate))) is not None:
        return f"${WMM}$ and its support indices are those of {place}."
    positions = [phi.index[row] for row in certificate.rows]
    beta, epsilon = inverse_bounds(phi, positions, certificate.multipliers, certificate.inverse,
                                   len(positions))
    least = min(certificate.multipliers) - rational_above(epsilon)
    others = sorted(set(range(len(phi))) - {phi.index[row] for row in certificate.support})
    margin = least_margin(phi, others, positions, certificate.multipliers, epsilon)
    what = (f"Let $S$ be {ctx.rows(certificate.rows, 'rows')}, $R$ {ctx.filed('inverse')} and "
            f"$\\lambda$ {ctx.filed('multipliers')}. Then $\\|I-RK\\|_\\infty\\le\\beta"
            f"{numbers.top(beta, fmpq(1))}<1$, $\\epsilon{numbers.top(epsilon)}$, "
            f"$\\lambda_\\sigma-\\epsilon{numbers.at_least(least)}$")
    if margin is None:
        what += ", and every row has a feature of $S$"
    else:
        what += (", and the margins of all rows whose feature is not one of $S$, less what "
                 f"$\\epsilon$ can change, are ${numbers.bottom(margin, fmpq(1))}>1$")
    return f"{what}. {ctx.fact('inverse')} applies."


def inverse_bounds(phi: TokenRows, positions: list[int], multipliers: Vector,
                   inverse: ScaledInverse, count: int) -> tuple[arb, arb]:
    """β and ε of the rows at *positions*, whose first *count* have margin 1, the others 0."""
    s = len(positions)
    with flint_context.workprec(_BITS):
        K = arb_mat(fmpq_mat(phi.gram(positions)) * fmpq(1, phi.scale * phi.scale))
        R = arb_mat(s, s, [arb(a) for row in inverse.entries for a in row])
        R = R * (arb(2) ** inverse.exponent)
        beta = _row_norm(arb_mat(s, s, 1) - R * K)
        weights = arb_mat(s, 1, [arb(x) for x in multipliers])
        left = R * (arb_mat(s, 1, [int(k < count) for k in range(s)]) - K * weights)
        return beta, arb(_largest([abs(x) for x in left.entries()]) / (1 - beta)).upper()


def least_margin(phi: TokenRows, others: list[int], positions: list[int], multipliers: Vector,
                 epsilon: arb) -> arb | None:
    """A lower bound of the margins of *others*, for all multipliers within *epsilon*."""
    if not others:
        return None
    margins = phi.margins(phi.combination(positions, multipliers))
    gram = phi.gram([*others, *positions]).tolist()
    found = []
    with flint_context.workprec(_BITS):
        factor = arb(fmpq(1, phi.scale * phi.scale))
        for k, row in zip(others, gram, strict=False):
            reach = sum((abs(a) for a in row[len(others):]), fmpz(0))
            found.append(arb(margins[k]) - epsilon * arb(reach) * factor)
        least = found[0]
        for x in found:
            least = least.min(x)
    return least


def _row_norm(A: arb_mat) -> arb:
    return _largest([sum((abs(x) for x in row), arb(0)) for row in A.tolist()]).upper()


def _largest(values: Sequence[arb]) -> arb:
    top = arb(0)
    for x in values:
        top = top.max(x)
    return top


# A primal-dual pair ---------------------------------------------------------------------------


def primal_dual(ctx: Context, verdict: Verdict, certificate: PrimalDual) -> str:
    """The gap, and how it excludes rows from the support."""
    text_ = pair_text(ctx, ctx.features(verdict.selection), certificate)
    if verdict.condition == "all_support":
        return f"{text_} So not every row is a support index."
    if not certificate.excluded:
        return f"{text_} All rejected tokens have $\\Delta_{{i,t}}>0$, so nothing else is asked."
    return (f"{text_} Every rejected token with $\\Delta_{{i,t}}\\le0$ is among these, so "
            "$\\Delta>0$ on the support indices.")


def pair_text(ctx: Context, phi: Features, certificate: PrimalDual) -> str:
    """W has margins ≥ 1, the gap is g, and these rows are excluded."""
    margins = ctx.margins(phi, certificate.W)
    dual = ctx.combination(phi, certificate.multipliers)
    size = sum((x * x for row in certificate.W for x in row), fmpq(0))
    total = sum((x for _, _, x in certificate.multipliers), fmpq(0))
    gap = size - 2 * total + sum((x * x for x in dual.entries()), fmpq(0))
    W = ctx.matrix("W", certificate.W, "W")
    what = (f"For {W}, all margins are ${numbers.at_least(min(margins.values()))}$, and with "
            f"$\\lambda>0$, {text.count(len(certificate.multipliers), 'multiplier')} "
            f"{ctx.filed('multipliers')}, the gap is $g{numbers.value(gap)}$; {ctx.fact('gap')} "
            "applies.")
    if not certificate.excluded:
        return what
    if len(certificate.excluded) > ITEMS // 2:
        return (f"{what} Hence the {len(certificate.excluded)} rows {ctx.filed('excluded')} are no "
                "support indices: each has $m>1$ and $(m-1)^2>\\|\\varphi\\|_F^2\\,g$.")
    parts = []
    for i, t in certificate.excluded:
        m = margins[i, t]
        bound = square_of_row(phi, phi.index[i, t]) * gap
        below = numbers.strictly(r"\|\varphi\|_F^2g", bound, "(m-1)^2", (m - 1) ** 2)
        parts.append(f"$({i},{t})$, where {below}")
    return f"{what} Hence no support index: {'; '.join(parts)}."
