"""Proofs that a search found: trees of directions, boxes with a zero, covers by cells."""

from __future__ import annotations

from collections.abc import Iterator

from flint import arb, arb_mat, fmpq
from flint import ctx as flint_context

from conditions.certificates import DecisionTree, Krawczyk, SimplexCover
from conditions.stationary.coordinates import row_space
from conditions.stationary.gradient import ball_gradient
from conditions.verdict import Verdict
from verifier.report.latex import numbers, text
from verifier.report.latex.context import ITEMS, Context

_LEAVES = 8


def decision_tree(ctx: Context, verdict: Verdict, certificate: DecisionTree) -> str:
    """The cells and their directions: all of a small tree, a summary of a large one."""
    nodes = certificate.nodes
    leaves = [node for node in nodes if len(node) > 1]
    branches = sorted({node[0] for node in nodes if len(node) == 1})
    split = f"; samples split: {text.listed(list(map(str, branches)))}" if branches else ""
    rule = ctx.fact("s3")
    start = (f"Branch on where $f_i(W)$ lies among the score levels of its sample{split}. The tree "
             f"has {text.count(len(leaves), 'leaf', 'leaves')} and "
             f"{text.count(len(nodes) - len(leaves), 'branching')}, and each leaf has its "
             f"$D_k$ ({text.count(len(certificate.directions), 'direction')} in all)")
    if len(leaves) > _LEAVES or ctx.dataset.d**2 * len(certificate.directions) > 4 * ITEMS:
        return (f"{start} ({ctx.filed('directions')}, \\texttt{{nodes}}). In every leaf's cell "
                f"{rule} applies, and the cells cover all $W$.")
    shown = [ctx.matrix(f"D_{{{k}}}", D, "directions")
             for k, D in enumerate(certificate.directions)]
    cells = "; ".join(f"{cell}: $D_{{{k}}}$, strict for tokens {t}, {s} of sample {i}"
                      for cell, (k, i, t, s) in zip(_cells(ctx, certificate), leaves, strict=True))
    return (f"{start}: {text.listed(shown)}. Cells: {cells}. In each {rule} applies, and "
            "they cover all $W$.")


def _cells(ctx: Context, certificate: DecisionTree) -> Iterator[str]:
    """The cell of each leaf, in preorder."""
    nodes = iter(certificate.nodes)

    def visit(above: list[str]) -> Iterator[str]:
        node = next(nodes)
        if len(node) > 1:
            yield text.listed([f"${cell}$" for cell in above]) if above else "everywhere"
            return
        i = node[0]
        levels = _levels(ctx, i)
        for k in range(len(levels) - 1):
            yield from visit([*above, f"{levels[k]}<f_{{{i}}}<{levels[k + 1]}"])
            if k + 2 < len(levels):
                yield from visit([*above, f"f_{{{i}}}={levels[k + 1]}"])

    return visit([])


def _levels(ctx: Context, i: int) -> list[str]:
    """The score levels of sample i, rising: by value where that is short, else by a token."""
    scores = ctx.dataset.scores[i]
    levels = sorted(set(scores))
    return [numbers.short(x) or rf"\gamma_{{{i},{scores.index(x)}}}" for x in levels]


def krawczyk(ctx: Context, verdict: Verdict, certificate: Krawczyk) -> str:
    """The box and the contraction of Newton's map in it."""
    space = row_space(ctx.dataset)
    r = len(certificate.basis)
    with flint_context.workprec(max(certificate.precision, 128)):
        C = arb_mat([[arb(a) for a in row] for row in certificate.preconditioner])
        G, _ = ball_gradient(space, str(verdict.loss), [arb(a) for a in certificate.center])
        radius = arb(certificate.radius)
        box = [arb(a) + _symmetric(radius) for a in certificate.center]
        _, J = ball_gradient(space, str(verdict.loss), box)
        rows = [sum((abs(a - int(p == q)) for q, a in enumerate(row)), arb(0))
                for p, row in enumerate((C * J).tolist())]
        ratios = [(abs(a) + radius * b) / radius
                  for a, b in zip((C * G).entries(), rows, strict=True)]
    worst = ratios[0]
    for x in ratios:
        worst = worst.max(x)
    bound = numbers.top(worst, fmpq(1))
    basis = (text.listed([f"$({i},{t})$" for i, t in certificate.basis]) if r <= ITEMS
             else ctx.filed("basis"))
    center = (text.listed([f"$c_{{{k}}}{numbers.value(x)}$"
                           for k, x in enumerate(certificate.center)]) if r <= ITEMS
              else f"$c$, {ctx.filed('center')}")
    inertia = ""
    if certificate.inertia is not None:
        negative = text.count(certificate.inertia.negative, "negative diagonal entry",
                              "negative diagonal entries")
        inertia = (" With $P$ of the certificate, $-P^{T}JP$ is strictly diagonally dominant for "
                   f"all $J$ in the enclosure on the box, with {negative}; by Gershgorin and "
                   f"Sylvester these are the signs of the eigenvalues.")
    return (f"Let $B_k=(x_{{i,0}}-x_{{i,t}})z_i^{{T}}$ for {basis}, a basis of the row space "
            f"of the features, and $W=\\sum_ky_kB_k$ with "
            f"$|y_k-c_k|\\le\\rho={_exact(certificate)}$, "
            f"{center} (exactly: {ctx.filed('center')}). With $C$, {ctx.filed('preconditioner')}, "
            r"interval arithmetic gives $\max_k\bigl(|(CG(c))_k|+\rho\sum_m\sup|(I-CJ)_{km}|\bigr)/"
            rf"\rho{bound}<1$; {ctx.fact('krawczyk')} applies.{inertia}")


def _exact(certificate: Krawczyk) -> str:
    return numbers.short(certificate.radius) or str(certificate.radius)


def _symmetric(radius: arb) -> arb:
    """The ball around 0 of this radius."""
    return radius.union(-radius)


def simplex_cover(ctx: Context, verdict: Verdict, certificate: SimplexCover) -> str:
    """How many cells cover the row space."""
    r, n = len(certificate.basis), ctx.dataset.n
    leaves = sum(len(node) == 4 + n for node in certificate.nodes)
    basis = (text.listed([f"$({i},{t})$" for i, t in certificate.basis]) if r <= ITEMS
             else ctx.filed("basis"))
    return (f"Let $B_k=(x_{{i,0}}-x_{{i,t}})z_i^{{T}}$ for {basis}, a basis of the row space of "
            f"the features, $W=\\sum_ky_kB_k$, $y\\in\\mathbf R^{{{r}}}$. Starting from the "
            f"{2**r} orthants, {text.count(len(certificate.nodes) - leaves, 'split')} lead to "
            f"{text.count(leaves, 'cell')}, convex hulls of points and rays, that cover "
            f"$\\mathbf R^{{{r}}}$ ({ctx.filed('nodes')}). On each cell "
            f"some $c$ ({text.count(len(certificate.directions), 'direction')} in all) makes a "
            f"lower "
            f"bound of "
            r"$e^{-E_0\cdot y}\sum_i|\ell'(f_i)|\sum_{t<\tau}s_{i,t}s_{i,\tau}(\gamma_{i,t}-"
            r"\gamma_{i,\tau})(F_{i,t\tau}\cdot c)$ positive, $F_{i,t\tau}\cdot "
            r"y=(x_{i,t}-x_{i,\tau})^{T}Wz_i$, "
            f"exponentials enclosed to a relative width of $2^{{-{certificate.precision}}}$ and "
            f"rounded outward; "
            f"{ctx.fact('cover')} applies.")
