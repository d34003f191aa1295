"""Proofs about scores: comparisons of rationals."""

from __future__ import annotations

from flint import fmpq

from conditions.certificates import (
    FlatSamples,
    NegativeProduct,
    NonnegativeProducts,
    OptimalTokens,
    OptimumTie,
    ScoreGaps,
    ScoreLevels,
    UnequalScores,
    ZeroFeature,
)
from conditions.verdict import Verdict
from verifier.report.latex import numbers, text
from verifier.report.latex.context import ITEMS, Context


def score(ctx: Context, i: int, t: int) -> str:
    """γ_it and its value."""
    return rf"\gamma_{{{i},{t}}}{numbers.value(ctx.dataset.scores[i][t])}"


def difference(ctx: Context, i: int, t: int, s: int) -> str:
    """γ_it − γ_is and its value."""
    scores = ctx.dataset.scores[i]
    return rf"\gamma_{{{i},{t}}}-\gamma_{{{i},{s}}}{numbers.value(scores[t] - scores[s])}"


def _few(ctx: Context, parts: list[str], kind: str) -> str:
    """The parts, or the first of them and how many there are."""
    if len(parts) <= ITEMS:
        return f"{text.listed(parts)}."
    return (f"{text.listed(parts[:3])}, and so on for all {len(parts)} samples ({kind}); the "
            f"scores "
            r"follow from the dataset.")


def optimal_tokens(ctx: Context, verdict: Verdict, certificate: OptimalTokens) -> str:
    """The largest score and the next, per sample."""
    if _printed(ctx):
        return "See the scores."
    parts = []
    for i, t in enumerate(certificate.tokens):
        others = [s for s in range(len(ctx.dataset.scores[i])) if s != t]
        second = max(others, key=lambda s: ctx.dataset.scores[i][s])
        parts.append(f"${difference(ctx, i, t, second)}$")
    return "The largest score exceeds the next: " + _few(ctx, parts, ctx.filed("tokens"))


def _index(row: tuple[int, int]) -> str:
    return f"{row[0]},{row[1]}"


def _printed(ctx: Context) -> bool:
    """Whether the dataset section lists all scores."""
    return ("scores",) in ctx.shown


def optimum_tie(ctx: Context, verdict: Verdict, certificate: OptimumTie) -> str:
    """Two equal largest scores."""
    i, (t, s) = certificate.sample, certificate.tokens
    return (f"${score(ctx, i, t)}$ and $\\gamma_{{{i},{s}}}=\\gamma_{{{i},{t}}}$; no score of "
            f"sample {i} is larger.")


def score_levels(ctx: Context, verdict: Verdict, certificate: ScoreLevels) -> str:
    """The two levels, per sample."""
    if _printed(ctx):
        return "See the scores."
    parts = []
    for i, (high, low) in enumerate(certificate.levels):
        rest = "" if low is None else rf", all others $\gamma{numbers.value(low)}$"
        parts.append(rf"in sample {i} the largest $\gamma{numbers.value(high)}${rest}")
    return "The scores are " + _few(ctx, parts, ctx.filed("levels"))


def unequal_scores(ctx: Context, verdict: Verdict, certificate: UnequalScores) -> str:
    """Two different scores below the largest."""
    i, (t, s) = certificate.sample, certificate.tokens
    best = max(range(len(ctx.dataset.scores[i])), key=lambda u: ctx.dataset.scores[i][u])
    return (f"In sample {i}, ${difference(ctx, i, t, s)}$, and both scores are below that of token "
            f"{best}: ${difference(ctx, i, best, t)}$, ${difference(ctx, i, best, s)}$.")


def score_gaps(ctx: Context, verdict: Verdict, certificate: ScoreGaps) -> str:
    """Two different scores, per sample."""
    if _printed(ctx):
        return "See the scores."
    parts = [f"${difference(ctx, i, t, s)}$"
             for i, (t, s) in enumerate(certificate.pairs)]
    return "Scores differ: " + _few(ctx, parts, ctx.filed("pairs"))


def flat_samples(ctx: Context, verdict: Verdict, certificate: FlatSamples) -> str:
    """The common scores."""
    if _printed(ctx):
        return "See the scores."
    parts = [f"${score(ctx, i, 0)}$ in sample {i}" for i in certificate.samples]
    return ("Their common scores are, " + _few(ctx, parts, ctx.filed("samples"))
            + " In every other sample two scores differ.")


def nonnegative_products(ctx: Context, verdict: Verdict, certificate: NonnegativeProducts) -> str:
    """All inner products of features."""
    phi = ctx.opt
    gram = phi.gram().tolist()
    square = phi.scale * phi.scale
    values = [(k, m, numbers.value(fmpq(gram[k][m], square)))
              for k in range(len(phi)) for m in range(k, len(phi))]
    parts = [rf"$\langle\varphi_{{{_index(phi.rows[k])}}},\varphi_{{{_index(phi.rows[m])}}}"
             rf"\rangle{found}$" for k, m, found in values]
    shown = (text.listed(parts) if len(parts) <= ITEMS else
             f"the {len(parts)} inner products of two features, rational numbers of the data, are "
             r"all $\ge0$, and those of a feature with itself are $>0$")
    return (f"The score conditions are a comparison of scores. Under opt, {shown}. "
            f"{ctx.fact('smooth')} gives $B$; {ctx.fact('products')} applies.")


def negative_product(ctx: Context, verdict: Verdict, certificate: NegativeProduct) -> str:
    """A negative inner product."""
    phi = ctx.opt
    k, m = (phi.index[row] for row in certificate.rows)
    found = fmpq(phi.gram([k, m]).tolist()[0][1], phi.scale * phi.scale)
    return (rf"Under opt $\langle\varphi_{{{_index(phi.rows[k])}}},\varphi_{{"
            rf"{_index(phi.rows[m])}}}\rangle{numbers.value(found)}<0$.")


def zero_feature(ctx: Context, verdict: Verdict, certificate: ZeroFeature) -> str:
    """A feature that vanishes."""
    i, t = certificate.row
    a = ctx.opt.selection[i]
    why = (f"$z_{{{i}}}=0$" if not any(ctx.dataset.queries[i])
           else f"$x_{{{i},{a}}}=x_{{{i},{t}}}$")
    return rf"Under opt $\varphi_{{{i},{t}}}=0$, since {why}."
