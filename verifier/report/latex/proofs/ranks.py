"""Proofs about ranks and linear independence."""

from __future__ import annotations

from conditions.certificates import (
    ExactRank,
    IndependentFactors,
    IndependentRows,
    ModularRank,
    RowDependency,
    TooManyRows,
)
from conditions.verdict import Verdict
from verifier.report.latex import text
from verifier.report.latex.context import Context
from verifier.report.latex.proofs.separation import enclosure_text, multipliers_text


def independence(ctx: Context, certificate: IndependentRows | IndependentFactors) -> str:
    """The sentence that the features are independent."""
    if (place := ctx.seen(("independent", certificate))) is not None:
        return f"By {place} the features are linearly independent."
    p = certificate.modulus
    if isinstance(certificate, IndependentRows):
        rows = sum(ctx.dataset.lengths) - ctx.dataset.n
        return (f"Scaled to integers, the features $(x_{{i,0}}-x_{{i,t}})z_i^{{T}}$, or their Gram "
                f"matrix, have {text.count(rows, 'pivot')} modulo $p={p}$, as many as there are "
                f"features; by {ctx.fact('modular')} they are linearly independent, and by "
                f"{ctx.fact('independence')} those of every selection.")
    return (f"Scaled to integers, the {text.count(ctx.dataset.n, 'query', 'queries')}, and each "
            rf"sample's differences $x_{{i,0}}-x_{{i,t}}$, have as many unit pivots modulo $p={p}$ "
            f"as there are of them; by {ctx.fact('modular')} they are linearly independent, and by "
            f"{ctx.fact('independence')} so are all features.")


def independent_rows(ctx: Context, verdict: Verdict, certificate: IndependentRows) -> str:
    """Pivots of all features modulo p."""
    return independence(ctx, certificate)


def independent_factors(ctx: Context, verdict: Verdict, certificate: IndependentFactors) -> str:
    """Pivots of queries and differences modulo p."""
    return independence(ctx, certificate)


def row_dependency(ctx: Context, verdict: Verdict, certificate: RowDependency) -> str:
    """A vanishing combination."""
    listed = ctx.sparse("c", certificate.coefficients, "coefficients")
    return (rf"With {listed} and $c=0$ elsewhere, exactly $\sum c_{{i,t}}(x_{{i,0}}-x_{{i,t}})"
            f"z_i^{{T}}=0$. By {ctx.fact('independence')} this does not depend on the selection.")


def too_many_rows(ctx: Context, verdict: Verdict, certificate: TooManyRows) -> str:
    """More features than dimensions."""
    rows, d = sum(ctx.dataset.lengths) - ctx.dataset.n, ctx.dataset.d
    return f"There are ${rows}>d^2={d * d}$ features in a space of dimension $d^2$."


def exact_rank(ctx: Context, verdict: Verdict, certificate: ExactRank) -> str:
    """W^mm, whose rank over Q is read off."""
    phi = ctx.features(verdict.selection)
    return (f"{multipliers_text(ctx, phi, certificate.multipliers)} Elimination over $\\mathbf Q$ "
            f"gives rank {certificate.rank}; the bound is {ctx.fact('rank')}.")


def modular_rank(ctx: Context, verdict: Verdict, certificate: ModularRank) -> str:
    """The rank from below modulo p, and from above by the factors."""
    phi = ctx.features(verdict.selection)
    p, r = certificate.modulus, certificate.rank
    with ctx.inside("enclosure"):
        solved = enclosure_text(ctx, phi, certificate.enclosure)
    named = certificate.differences
    if len(named) in (0, len(certificate.enclosure.rows)):
        above = f"The {'differences' if named else 'queries'} of $S$ have rank at most {r}"
    else:
        above = (f"With $A$ the rows {ctx.rows(named, 'differences')}, the differences of $A$ and "
                 rf"the queries of $S\setminus A$ have ranks of sum at most {r}")
    return (f"{solved} Modulo $p={p}$, $\\det K$ (scaled "
            f"to integers) is a unit, and $\\sum\\lambda^*_\\sigma\\varphi_\\sigma$, "
            f"$K\\lambda^*=\\mathbf1$, has {text.count(r, 'unit pivot')}, so its rank is at least "
            f"{r} ({ctx.fact('modular')}, with Cramer's rule). {above}, and {ctx.fact('rank')} "
            "bounds the rank from above.")
