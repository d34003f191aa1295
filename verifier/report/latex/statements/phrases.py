"""Phrases that statements share."""

from __future__ import annotations

from flint import fmpq

from conditions.certificates import OptimumTie
from conditions.certificates.base import Indices, Matrix
from conditions.losses import CUBIC
from conditions.selection import Selection, optimal_selection
from conditions.verdict import Verdict
from verifier.report.latex import numbers, text
from verifier.report.latex.context import ITEMS, Context

WMM = r"{W}^{\mathrm{mm}}_{\alpha}"
WOPT = r"{W}^{\mathrm{mm}}_{\mathrm{opt}}"
_LOSS = {"logistic": r"$\ell(u)=\log(1+e^{-u})$", "exponential": r"$\ell(u)=e^{-u}$",
         "correlation": r"$\ell(u)=-u$", CUBIC: r"$\ell(u)=-u^3$"}


def selection_text(ctx: Context, selection: Selection) -> str:
    """α = (…), and whether it is opt."""
    name = r"$\alpha=\mathrm{opt}" if selection == optimal_selection(ctx.dataset) else r"$\alpha"
    if len(selection) <= ITEMS:
        return f"{name}={text.vector(list(map(str, selection)))}$"
    return rf"{name}$, the \texttt{{selection}} of entry~{ctx.entry}"


def hypotheses(ctx: Context, verdict: Verdict) -> str:
    """The sentence that fixes the selection and the loss that a verdict is about; or nothing."""
    parts = []
    if verdict.selection is not None:
        parts.append(selection_text(ctx, verdict.selection))
    if verdict.loss is not None:
        formula = "" if ctx.seen(("loss", verdict.loss)) else f", {_LOSS[verdict.loss]}"
        parts.append(rf"$\ell$ be the {verdict.loss} loss{formula}")
    if not parts:
        return ""
    if verdict.selection is None:
        return f"Let {parts[0]}."
    return f"Let {' and let '.join(parts)}."


def descent_text(rule: str, step: fmpq) -> str:
    """A rule of exact descent and its step."""
    if rule == "flow":
        return "gradient flow"
    return rf"{rule} gradient descent, $\eta{numbers.parameter(step)}$,"


def start_text(ctx: Context, W: Matrix, name: str, symbol: str = "W_0") -> str:
    """A start, exactly or by its place and norm."""
    square = sum((x * x for row in W for x in row), fmpq(0))
    if square == 0:
        return f"${symbol}=0$"
    if (place := ctx.seen(("start", W))) is not None:
        return f"${symbol}$ (the start of {place})"
    low, high = numbers.root_between(square, square)
    shown = ctx.matrix(symbol, W, name)
    if all(numbers.short(x) is not None for row in W for x in row):
        return shown
    return rf"{shown} ($\|{symbol}\|_F{numbers.between(low, high)}$)"


def sets_text(ctx: Context, sets: tuple[Indices, ...]) -> str:
    """The sets O_i."""
    if sum(map(len, sets)) <= 2 * ITEMS:
        return text.listed([rf"$O_{{{i}}}=\{{{','.join(map(str, one))}\}}$"
                            for i, one in enumerate(sets)])
    return f"the sets $O_i$, {ctx.filed('sets')}"


def opt_text(ctx: Context) -> str:
    """The selection opt = (…), or its name alone."""
    opt = optimal_selection(ctx.dataset)
    if len(opt) > ITEMS:
        return r"$\mathrm{opt}$"
    return rf"$\mathrm{{opt}}={text.vector(list(map(str, opt)))}$"


def tie_text(certificate: object) -> str:
    """Two best tokens of one sample."""
    assert isinstance(certificate, OptimumTie)
    t, s = certificate.tokens
    return f"In sample {certificate.sample} tokens {t} and {s} both have the largest score"
