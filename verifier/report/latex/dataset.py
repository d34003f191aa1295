"""The dataset section: exact matrices where they are short, the fingerprint always."""

from __future__ import annotations

from collections.abc import Sequence

from flint import fmpq

from verifier.report.latex import numbers, text
from verifier.report.latex.context import Context, spelled_matrix

_NUMBERS = 64
"""The most numbers of a dataset that is written out."""


def dataset_text(ctx: Context, source: str) -> str:
    """Shape, fingerprint and, if they are few, all numbers of the dataset."""
    data = ctx.dataset
    shortest, longest = min(data.lengths), max(data.lengths)
    T = f"T={shortest}" if shortest == longest else rf"T_i\in[{shortest},{longest}]"
    name = f"{text.code(source)}: " if source else ""
    positive = sum(y == 1 for y in data.labels)
    found = _written_out(ctx)
    where = (f"{found}" if found else
             "All numbers, exact, are in the field \\texttt{dataset} of the certificate file.")
    return (rf"{{\raggedright\attsvmlead{{Dataset.}} {name}$n={data.n}$ samples of ${T}$ tokens in "
            rf"$\mathbf R^{{{data.d}}}$, {positive} of label $1$ and {data.n - positive} of label "
            rf"$-1$; sha256 of its canonical form {text.digest(data.fingerprint)}. {where}\par}}")


def _written_out(ctx: Context) -> str | None:
    """Every sample and the head, or None if that is too much."""
    data = ctx.dataset
    count = sum(data.lengths) * data.d + (data.n + 1) * data.d
    head = _row(data.head)
    if count > _NUMBERS or head is None:
        return None
    samples = []
    scores = [_row(row) for row in data.scores]
    printed = all(row is not None and r"\mathrm" not in row for row in scores)
    for i, (tokens, y, query) in enumerate(zip(data.tokens, data.labels, data.queries,
                                               strict=True)):
        X, z = spelled_matrix(tokens), _row(query)
        if X is None or z is None:
            return None
        gamma = f", $\\gamma_{{{i}}}={scores[i]}$" if printed else ""
        samples.append(rf"$X_{{{i}}}={X}$, $z_{{{i}}}={z}$, $Y_{{{i}}}={y}${gamma}")
    if printed:
        ctx.shown["scores",] = ctx.labels, ""
    what = ", and $\\gamma_i$ lists the scores" if printed else ""
    return f"Rows of $X_i$ are tokens{what}: {'; '.join(samples)}; $v={head}$."


def _row(values: Sequence[fmpq]) -> str | None:
    """A row vector, every entry exact."""
    spelled = [numbers.short(x) for x in values]
    if None not in spelled:
        return text.vector([str(x) for x in spelled])
    digits = [numbers.float_text(x) for x in values]
    if None in digits:
        return None
    return r"\mathrm{fl}" + text.vector([str(x) for x in digits])
