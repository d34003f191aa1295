"""What verdicts about all selections, and about sets of tokens, say."""

from __future__ import annotations

from conditions.certificates import (
    DirectionTree,
    ExceptionalSelection,
    GenEnclosure,
    GenKKT,
    GenSeparator,
    Motzkin,
    OptimumTie,
    SimplexMaximizer,
    SimplexTie,
)
from conditions.selection import optimal_selection
from conditions.verdict import Verdict
from verifier.report.latex import numbers, text
from verifier.report.latex.context import ITEMS, Context
from verifier.report.latex.statements.phrases import (
    WMM,
    opt_text,
    selection_text,
    sets_text,
    tie_text,
)


def directions(ctx: Context, verdict: Verdict) -> str:
    """All locally optimal selections."""
    certificate = verdict.certificate
    assert isinstance(certificate, DirectionTree)
    total = 1
    for T in ctx.dataset.lengths:
        total *= T
    found = certificate.selections
    if not found:
        return f"None of the {total} selections is locally optimal."
    which = ""
    if len(found) * ctx.dataset.n <= 4 * ITEMS:
        which = ": " + text.listed([f"${text.vector(list(map(str, one)))}$" for one in found])
    else:
        which = f", {ctx.filed('selections')}"
    return (f"Of the {total} selections exactly {len(found)} "
            rf"{'is' if len(found) == 1 else 'are'} locally optimal "
            rf"\cite[Definition 2]{{attsvm:theory}}{which}.")


def only_local_optimum(ctx: Context, verdict: Verdict) -> str:
    """Opt is the only one."""
    return _about_all(ctx, verdict, "is the only locally optimal selection",
                      "is not the only locally optimal selection")


def assumption_d(ctx: Context, verdict: Verdict) -> str:
    """Assumption D."""
    if verdict.holds:
        return (rf"Assumption D of \cite{{attsvm:theory}} holds: the optimal token is unique in "
                rf"every sample, and every $\alpha\ne\mathrm{{opt}}$ for which ${WMM}$ exists has "
                rf"a "
                r"sample $i$ with $\alpha_i\ne\mathrm{opt}_i$ and $(i,\mathrm{opt}_i)$ a support "
                "index.")
    if isinstance(verdict.certificate, OptimumTie):
        return f"{tie_text(verdict.certificate)}, so Assumption D of \\cite{{attsvm:theory}} fails."
    assert isinstance(verdict.certificate, ExceptionalSelection)
    alpha = selection_text(ctx, verdict.certificate.selection)
    return (rf"Assumption D of \cite{{attsvm:theory}} fails: for {alpha}, ${WMM}$ exists and no "
            r"$(i,\mathrm{opt}_i)$ with $\alpha_i\ne\mathrm{opt}_i$ is a support index.")


def _about_all(ctx: Context, verdict: Verdict, yes: str, no: str) -> str:
    if verdict.holds:
        return f"The optimal token is unique in every sample, and {opt_text(ctx)} {yes}."
    if isinstance(verdict.certificate, OptimumTie):
        return f"{tie_text(verdict.certificate)}; the optimum is not unique."
    assert isinstance(verdict.certificate, ExceptionalSelection)
    alpha = verdict.certificate.selection
    if alpha == optimal_selection(ctx.dataset):
        return f"{opt_text(ctx)} {no}: it is not locally optimal."
    return f"{opt_text(ctx)} {no}: {selection_text(ctx, alpha)} is locally optimal."


def gen_feasibility(ctx: Context, verdict: Verdict) -> str:
    """Gen-SVM is feasible."""
    certificate = verdict.certificate
    assert isinstance(certificate, GenSeparator | GenEnclosure | Motzkin)
    word = "some $W$ has" if verdict.holds else "no $W$ has"
    return (f"For {sets_text(ctx, certificate.sets)}, {word} $(x_{{i,t}}-x_{{i,\\tau}})^{{T}}Wz_i="
            r"0$ for all $t,\tau\in O_i$ and $\ge1$ for all $t\in O_i$, $\tau\notin O_i$.")


def multi_token_support(ctx: Context, verdict: Verdict) -> str:
    """The solution of Gen-SVM."""
    certificate = verdict.certificate
    if not isinstance(certificate, GenKKT | GenEnclosure):
        return f"{gen_feasibility(ctx, verdict)} So Gen-SVM has no solution."
    norm = (numbers.value(certificate.norm_squared) if isinstance(certificate, GenKKT)
            else numbers.between(*certificate.norm_squared))
    return (f"For {sets_text(ctx, certificate.sets)}, Gen-SVM has the solution $W$ of the proof, "
            rf"$\|W\|_F^2{norm}$, and "
            + (f"its support indices are exactly {ctx.rows(certificate.support, 'support')}."
               if certificate.support else "no support indices."))


# Mixtures of tokens ---------------------------------------------------------------------------


def simplex_support(ctx: Context, verdict: Verdict) -> str:
    """The best mixture of every sample, or two of one."""
    certificate = verdict.certificate
    assert isinstance(certificate, SimplexMaximizer | SimplexTie)
    head = (rf"For the head $h(x)=v\cdot x-\lambda\|x\|^2$, $\lambda"
            rf"{numbers.parameter(certificate.lam)}$, ")
    largest = r"the largest $Y_ih(\sum_ts_tx_{i,t})$ among all $s\ge0$ of sum $1$"
    if isinstance(certificate, SimplexTie):
        return f"{head}several $s$ have {largest} in sample {certificate.sample}."
    values = {(i, t): x for i, row in enumerate(certificate.weights)
              for t, x in enumerate(row) if x != 0}
    shown = (ctx.by_row("s", values, "weights") if len(values) <= ITEMS
             else f"those {ctx.filed('weights')}")
    return f"{head}in every sample exactly one $s$ has {largest}; its positive weights are {shown}."
