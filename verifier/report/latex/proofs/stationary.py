"""Proofs about the first step and about stationary points."""

from __future__ import annotations

from flint import arb, fmpq
from flint import ctx as flint_context

from conditions.certificates import (
    AllFlat,
    FirstStepMargins,
    FirstStepViolation,
    InjectiveFeatures,
    MonotoneDirection,
    SeparableQueries,
    StationaryAtZero,
)
from conditions.certificates.base import Matrix
from conditions.gradient_at_zero import gradient_terms, margin_terms
from conditions.losses import CUBIC, exact_slope, weight
from conditions.selection import Row
from conditions.verdict import Verdict
from verifier.report.latex import numbers, text
from verifier.report.latex.context import ITEMS, Context, spelled_matrix
from verifier.report.latex.proofs.ranks import independence

_BITS = 128


# The gradient at 0 ----------------------------------------------------------------------------


def gradient_text(ctx: Context, loss: str) -> str:
    """−n∇L(0) as a combination of |ℓ'| at the mean scores."""
    key = ("gradient at zero", loss)
    if (place := ctx.seen(key)) is not None:
        return f"Let $G=-n\\nabla L(0)$ be as in {place}."
    terms = gradient_terms(ctx.dataset)
    start = f"By {ctx.fact('gradient')}, $G=-n\\nabla L(0)=\\sum_f|\\ell'(f)|A_f$ over the "
    shown = [(numbers.short(f), spelled_matrix(A.tolist())) for f, A in terms.items()]
    if len(shown) * ctx.dataset.d**2 <= 2 * ITEMS and all(f and A for f, A in shown):
        parts = [f"$A_{{{f}}}={A}$" for f, A in shown]
        return (f"{start}mean scores $f$, with {text.listed(parts)}, "
                rf"${slope_formula(loss)}$.")
    return f"{start}{text.count(len(terms), 'mean score')} $f$, with rational $A_f$, " \
           rf"${slope_formula(loss)}$."


def slope_formula(loss: str) -> str:
    """|ℓ'|."""
    return {"logistic": r"|\ell'(f)|=1/(1+e^{f})", "exponential": r"|\ell'(f)|=e^{-f}",
            "correlation": r"|\ell'|=1", CUBIC: r"|\ell'(f)|=3f^2"}[loss]


def _why_zero(ctx: Context, loss: str) -> str:
    """How a combination of |ℓ'| is known to be 0."""
    rational = exact_slope(loss, fmpq(0)) is not None
    return "in rational arithmetic" if rational else f"identically ({ctx.fact('zero')})"


def _margin(ctx: Context, row: Row, loss: str, precision: int) -> str:
    """⟨φ, G⟩ of a row under opt, enclosed; exact where |ℓ'| is rational."""
    terms = margin_terms(ctx.opt, ctx.opt.index[row])
    exact = {f: exact_slope(loss, f) for f in terms}
    if None not in exact.values():
        return numbers.value(sum((c * exact[f] for f, c in terms.items()), fmpq(0)))
    with flint_context.workprec(max(precision, _BITS)):
        total = arb(0)
        for f, c in terms.items():
            total += arb(c) * weight(loss, f, max(precision, _BITS))
        return numbers.ball(total)


def first_step_margins(ctx: Context, verdict: Verdict, certificate: FirstStepMargins) -> str:
    """All margins of −n∇L(0) under opt."""
    loss, rows = str(verdict.loss), ctx.opt.rows
    start = gradient_text(ctx, loss)
    shown = rows if len(rows) <= ITEMS else rows[:3]
    bits = certificate.precision
    parts = [rf"$\langle\varphi_{{{i},{t}}},G\rangle{_margin(ctx, (i, t), loss, bits)}$"
             for i, t in shown]
    rest = "" if len(rows) <= ITEMS else (
        f", and so on: all {len(rows)} are positive, with $|\\ell'|$ enclosed to a relative width "
        f"of $2^{{-{bits}}}$")
    return f"{start} Under opt {text.listed(parts)}{rest}."


def first_step_violation(ctx: Context, verdict: Verdict, certificate: FirstStepViolation) -> str:
    """One margin of −n∇L(0) that is not positive."""
    loss, (i, t) = str(verdict.loss), certificate.row
    start = gradient_text(ctx, loss)
    name = rf"\langle\varphi_{{{i},{t}}},G\rangle"
    if certificate.sign:
        found = _margin(ctx, (i, t), loss, certificate.precision)
        return f"{start} Under opt ${name}{found}<0$."
    why = _why_zero(ctx, loss)
    return f"{start} Under opt ${name}=0$, {why}."


def stationary_at_zero(ctx: Context, verdict: Verdict, certificate: StationaryAtZero) -> str:
    """Every entry of −n∇L(0) is 0."""
    loss = str(verdict.loss)
    start = gradient_text(ctx, loss)
    why = _why_zero(ctx, loss)
    return f"{start} Every entry of $G$ is $0$, {why}."


# No stationary point --------------------------------------------------------------------------


def all_flat(ctx: Context, verdict: Verdict, certificate: AllFlat) -> str:
    """All samples are flat."""
    return f"In every sample all scores are equal, so by {ctx.fact('flat')} $\\nabla L\\equiv0$."


def injective_features(ctx: Context, verdict: Verdict, certificate: InjectiveFeatures) -> str:
    """Independent features and a sample that is not flat."""
    i = certificate.sample
    scores = ctx.dataset.scores[i]
    t = max(range(len(scores)), key=lambda u: scores[u])
    s = min(range(len(scores)), key=lambda u: scores[u])
    return (f"{independence(ctx, certificate.rank)} Moreover $\\gamma_{{{i},{t}}}-\\gamma_{{{i},{s}"
            f"}}{numbers.value(scores[t] - scores[s])}$. {ctx.fact('s1')} applies.")


def _logit(ctx: Context, D: Matrix, i: int, t: int) -> fmpq:
    x, z = ctx.dataset.tokens[i][t], ctx.dataset.queries[i]
    return sum((a * sum((b * c for b, c in zip(row, z, strict=True)), fmpq(0))
                for a, row in zip(x, D, strict=True)), fmpq(0))


def monotone_direction(ctx: Context, verdict: Verdict, certificate: MonotoneDirection) -> str:
    """D and the logits that it gives the tokens."""
    i, t, s = certificate.witness
    D = certificate.D
    rise = _logit(ctx, D, i, t) - _logit(ctx, D, i, s)
    gap = ctx.dataset.scores[i][t] - ctx.dataset.scores[i][s]
    total = sum(ctx.dataset.lengths)
    shown = ""
    if total <= ITEMS:
        parts = [f"$h_{{{j}}}={text.vector(row)}$" for j in range(ctx.dataset.n)
                 if (row := _spelled([_logit(ctx, D, j, u)
                                      for u in range(ctx.dataset.lengths[j])])) is not None]
        if len(parts) == ctx.dataset.n:
            shown = f" The logits $h_i=(x_{{i,t}}^{{T}}Dz_i)_t$ are {text.listed(parts)}."
    return (f"Take {ctx.matrix('D', D, 'D')}.{shown} In every sample they rise, or stay, with the "
            f"scores; strictly from token {s} to token {t} of sample {i}, where "
            rf"$h_{{{i},{t}}}-h_{{{i},{s}}}{numbers.value(rise)}$ and $\gamma_{{{i},{t}}}-"
            rf"\gamma_{{{i},{s}}}{numbers.value(gap)}$. {ctx.fact('s2')} applies.")


def _spelled(values: list[fmpq]) -> list[str] | None:
    found = [numbers.short(x) for x in values]
    return None if None in found else [x for x in found if x is not None]


def separable_queries(ctx: Context, verdict: Verdict, certificate: SeparableQueries) -> str:
    """U and its products with the queries."""
    u, data = certificate.u, ctx.dataset
    flat = [i for i, row in enumerate(data.scores) if min(row) == max(row)]
    values = {i: y * sum((a * b for a, b in zip(u, z, strict=True)), fmpq(0))
              for i, (y, z) in enumerate(zip(data.labels, data.queries, strict=True))
              if i not in flat}
    spelled = _spelled(list(u))
    named = (f"$u={text.vector(spelled)}$" if spelled is not None and len(u) <= ITEMS
             else f"$u$, {ctx.filed('u')}")
    if len(values) <= ITEMS:
        shown = text.listed([f"$Y_{{{i}}}\\,u\\cdot z_{{{i}}}{numbers.value(x)}$"
                             for i, x in values.items()])
    else:
        shown = (rf"$Y_i\,u\cdot z_i{numbers.at_least(min(values.values()))}$ for all "
                 f"{len(values)} samples, the largest ${numbers.value(max(values.values()))}$")
    rest = f" (flat samples, here {len(flat)}, do not count)" if flat else ""
    return f"With {named}, {shown}{rest}. {ctx.fact('s2a')} applies."
