"""Proofs about limits that need no cone: the loss never rises, and is low enough at the start."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from flint import arb, fmpq
from flint import ctx as flint_context

from conditions.certificates import (
    LargeFirstStep,
    LowNormLimit,
    SelectionTrap,
    StalledDescent,
)
from conditions.certificates.base import Matrix
from conditions.excess_loss import combined, deficit, excess, rise
from conditions.gradient_at_zero import exact_pull, margin_terms
from conditions.smoothness import rational_above, rational_below, score_curvature, slope
from conditions.stalled_descent import score_and_slope
from conditions.verdict import Verdict
from verifier.report.latex import numbers, text
from verifier.report.latex.context import ITEMS, Context
from verifier.report.latex.proofs.separation import WMM, multipliers_text, separates
from verifier.report.latex.proofs.stationary import gradient_text


def low_norm_limit(ctx: Context, verdict: Verdict, certificate: LowNormLimit) -> str:
    """The excess at W is below every gap, and opt is feasible."""
    known, shown = _exact_margins(ctx, certificate.W)
    return (f"{separates(ctx, ctx.opt, certificate.separator, 'separator')}, so "
            rf"Att-SVM$(\mathrm{{opt}})$ is feasible. {_descent(ctx, verdict, certificate)} {shown}"
            f"{_excess(ctx, verdict, known, fmpq(1), certificate.precision)}. "
            f"{ctx.fact('low_norm')} applies.")


def selection_trap(ctx: Context, verdict: Verdict, certificate: SelectionTrap) -> str:
    """The excess at W is below half of every gap."""
    known, shown = _exact_margins(ctx, certificate.W)
    return (f"{_descent(ctx, verdict, certificate)} {shown}"
            f"{_excess(ctx, verdict, known, fmpq(1, 2), certificate.precision)}. "
            f"{ctx.fact('trap')} applies.")


def large_first_step(ctx: Context, verdict: Verdict, certificate: LargeFirstStep) -> str:
    """The excess after the first step is below every gap, and opt is feasible."""
    loss, rows = str(verdict.loss), ctx.opt.rows
    scale = certificate.first_step / ctx.dataset.n
    with flint_context.workprec(certificate.precision):
        known = [sum((arb(scale * c) * slope(loss, f) for f, c in
                      margin_terms(ctx.opt, k).items()), arb(0)) for k in range(len(rows))]
    parts = [f"$m_{{{i},{t}}}{numbers.ball(m)}$" for (i, t), m in zip(rows, known, strict=True)]
    shown = (text.listed(parts) if len(parts) <= ITEMS else
             f"${numbers.bottom(_least(known))}$ for all {len(parts)} rows")
    return (f"{separates(ctx, ctx.opt, certificate.separator, 'separator')}, so "
            rf"Att-SVM$(\mathrm{{opt}})$ is feasible. {_descent(ctx, verdict, certificate)} "
            rf"{gradient_text(ctx, loss)} At $W_0=(\eta_0/n)G$ the margins are {shown}. "
            f"{_excess(ctx, verdict, known, fmpq(1), certificate.precision)}. "
            f"{ctx.fact('first_step')} and {ctx.fact('low_norm')} apply.")


def stalled_descent(ctx: Context, verdict: Verdict, certificate: StalledDescent) -> str:
    """The ball around W(1) that is never left misses the line of W^mm_opt."""
    first = exact_pull(ctx.dataset, str(verdict.loss))
    assert first is not None, "the kind is about the cubic loss"
    first *= certificate.first_step
    with flint_context.workprec(certificate.precision):
        score, steepness = score_and_slope(ctx.dataset, first)
    H = score_curvature(ctx.dataset, 0)
    W = ctx.combination(ctx.opt, certificate.solution)
    along = sum((a * b for a, b in zip(first.entries(), W.entries(), strict=True)), fmpq(0))
    sizes = [sum((x * x for x in M.entries()), fmpq(0)) for M in (first, W)]
    distance = sizes[0] - along**2 / sizes[1]
    chosen = {"g_-": certificate.least_slope, "g_+": certificate.largest_slope,
              "r": certificate.radius}
    given = text.listed([f"$H{numbers.value(H)}$", *(
        f"${name}{numbers.parameter(x)}$" for name, x in chosen.items())])
    return (rf"{gradient_text(ctx, str(verdict.loss))} At $W_1=\eta_0G$, $f{numbers.ball(score)}$ "
            rf"and $\|\nabla f\|_F{numbers.ball(steepness)}$. {ctx.fact('stalled')} applies with "
            rf"{given}. Let $\alpha=\mathrm{{opt}}$. "
            f"{multipliers_text(ctx, ctx.opt, certificate.solution)} The square of the distance "
            rf"of $W_1$ from the line of ${WMM}$ is $\|W_1\|^2-\langle W_1,{WMM}\rangle^2/\|{WMM}"
            rf"\|^2{numbers.value(distance)}$, above $r^2$: no multiple of ${WMM}$ is in the ball.")


def _descent(ctx: Context, verdict: Verdict,
             certificate: LowNormLimit | SelectionTrap | LargeFirstStep) -> str:
    """β bounds the Hessian, and the step is short enough."""
    product = certificate.step * certificate.beta
    key = ("smooth", verdict.loss, certificate.step, certificate.beta)
    if (place := ctx.seen(key)) is not None:
        return f"$\\eta B<2$ as in {place}."
    beta = numbers.parameter(certificate.beta)
    return (f"By {ctx.fact('smooth')}, $B\\le\\beta{beta}$ "
            f"and $\\eta\\beta\\le {numbers.apart(product, fmpq(2))[0]}<2$.")


def _exact_margins(ctx: Context, W: Matrix) -> tuple[list[arb], str]:
    """The margins of W under opt, for balls, and the sentence that gives them."""
    found = ctx.margins(ctx.opt, W)
    with flint_context.workprec(256):
        known = [arb(m) for m in found.values()]
    if ctx.seen(("margins under opt", W)) is not None:
        return known, ""
    if len(found) <= ITEMS // 2:
        return known, f"The margins of $W_0$ under opt are {ctx.by_row('m', found)}. "
    return known, (f"The {len(found)} margins of $W_0$ under opt are "
                   f"${numbers.at_least(min(found.values()))}$. ")


def _excess(ctx: Context, verdict: Verdict, margins: Sequence[arb], share: fmpq,
            precision: int) -> str:
    """The excess and the least gap, outward."""
    loss, opt = str(verdict.loss), ctx.opt.selection
    scores = ctx.dataset.scores
    drops = [[row[a] - x for t, x in enumerate(row) if t != a]
             for row, a in zip(scores, opt, strict=True)]
    tops = [row[a] for row, a in zip(scores, opt, strict=True)]
    with flint_context.workprec(max(precision, 128)):
        left = iter(margins)
        deficits = [deficit(list(islice(left, len(row))), row) for row in drops]
        total = excess(loss, combined(loss, [rise(loss, top, D) for top, D in
                                             zip(tops, deficits, strict=True)]))
        gaps = [excess(loss, rise(loss, top, arb(share * min(row))))
                for top, row in zip(tops, drops, strict=True)]
        high, low = rational_above(total), rational_below(_least(gaps))
    shown = ""
    if (place := ctx.seen(("deficits", loss, tuple(map(str, deficits))))) is not None:
        shown = f"With the deficits of {place}, "
    elif len(deficits) <= ITEMS // 2:
        shown = ("The deficits $D_i=\\gamma_i(1)-f_i(W_0)$ are "
                 + text.listed([f"$D_{{{i}}}{numbers.top(D)}$" for i, D in enumerate(deficits)])
                 + ", so ")
    second = (r"\gamma_i(2)" if share == 1 else r"\tfrac12(\gamma_i(1)+\gamma_i(2))")
    return shown + numbers.strictly("n(L(W_0)-L_*)", high,
                                    rf"\min_i[\ell({second})-\ell(\gamma_i(1))]", low)


def _least(values: Sequence[arb]) -> arb:
    least = values[0]
    for x in values:
        least = least.min(x)
    return least
