"""Proofs about mixtures of tokens under a head, and about lines that descent does not leave."""

from __future__ import annotations

from flint import fmpq, fmpq_mat

from conditions.certificates import (
    ExactKKT,
    InvariantRay,
    SimplexMaximizer,
    SimplexTie,
    TopScoreGap,
)
from conditions.certificates.base import Matrix, Vector
from conditions.certificates.rays import ShorterSeparator, TiedLogits
from conditions.invariant_ray import ray_speeds
from conditions.verdict import Verdict
from verifier.report.latex import numbers, text
from verifier.report.latex.context import ITEMS, Context
from verifier.report.latex.proofs.separation import multipliers_text


def top_score_gap(ctx: Context, verdict: Verdict, certificate: TopScoreGap) -> str:
    """The least gap, which is the constant."""
    if not certificate.rows:
        return "No token scores below the selected one of its sample: nothing is asked."
    i, t = certificate.rows[0]
    return (rf"The least positive gap is "
            rf"$\Delta_{{{i},{t}}}{numbers.value(certificate.constant)}$, "
            r"and $Y_iv\cdot\sum_ts_tx_{i,t}=\gamma_{i,\alpha_i}-\sum_ts_t\Delta_{i,t}\le"
            r"\gamma_{i,\alpha_i}-c\sum_{t\ne\alpha_i}s_t$, with equality for weight on that token "
            "alone.")


def mixture(ctx: Context, values: Vector, name: str, i: int) -> str:
    """The weights of one sample that are not 0."""
    positive = {t: x for t, x in enumerate(values) if x != 0}
    if len(positive) > ITEMS:
        return f"the weights {ctx.filed(name)}"
    return text.listed([f"$s_{{{i},{t}}}{numbers.value(x)}$" for t, x in positive.items()])


def simplex_maximizer(ctx: Context, verdict: Verdict, certificate: SimplexMaximizer) -> str:
    """Why the mixtures are the best ones, and the only ones."""
    positive = sum(y == 1 for y in ctx.dataset.labels)
    parts = []
    if positive:
        where = "" if positive == ctx.dataset.n else r" Where $Y_i=1$,"
        parts.append(
            rf"{where} the output $o=\sum_ts_tx_{{i,t}}$ has $(x_{{i,t}}-o)\cdot(v-2\lambda "
            rf"o)\le0$ "
            "for every token, so it is best and, $h$ being strictly concave, the only best output; "
            f"the normals $w$ ({ctx.filed('normals')}) have $w\\cdot x_{{i,t}}$ largest exactly at "
            "the tokens of positive weight, which are affinely independent, so $s$ is unique.")
    if positive < ctx.dataset.n:
        parts.append(r" Where $Y_i=-1$, $h$ is smallest at the one token of weight $1$, and $-h$ "
                     r"is "
                     "convex, so that mixtures do not exceed its largest value at a token.")
    return f"{''.join(parts).strip()} {ctx.fact('mixture')} applies.".replace("  ", " ")


def simplex_tie(ctx: Context, verdict: Verdict, certificate: SimplexTie) -> str:
    """Two best mixtures."""
    i = certificate.sample
    first, second = (mixture(ctx, s, "weights", i) for s in certificate.weights)
    return (f"In sample {i} two different mixtures have the largest value, {first}, and {second} "
            f"({ctx.fact('mixture')}).")


def invariant_ray(ctx: Context, verdict: Verdict, certificate: InvariantRay) -> str:
    """The profiles along the line, and why it leads to no locally optimal direction."""
    D = fmpq_mat([list(row) for row in certificate.direction])
    speeds = ray_speeds(ctx.dataset, str(verdict.loss), D)
    assert speeds is not None, "a proved ray is invariant"
    named = ctx.matrix("D", certificate.direction, "direction")
    if len(speeds) <= ITEMS:
        what = text.listed([f"$c_{{{k}}}{numbers.value(c)}$" for k, c in enumerate(speeds)])
    else:
        what = (f"{len(speeds)} numbers $c_k\\ge0$, the largest "
                f"${numbers.value(max(speeds))[2:]}$")
    return (f"For {named}, the pairs of tokens of different score fall into "
            f"{text.count(len(speeds), 'profile')}, whose sums are $c_kD$ with {what}. "
            f"{ctx.fact('ray')} applies. {_exclusion(ctx, certificate, D)}")


def _exclusion(ctx: Context, certificate: InvariantRay, D: fmpq_mat) -> str:
    part, h = certificate.exclusion, _logits(ctx, certificate.direction)
    if isinstance(part, TiedLogits):
        i, (t, s) = part.sample, part.tokens
        return (rf"Tokens {t} and {s} of sample {i} share the largest logit $x^{{T}}Dz_{{{i}}}"
                rf"{numbers.value(h[i][t])}$, so $D$ has all margins positive for no $\alpha$.")
    alpha = tuple(row.index(max(row)) for row in h)
    phi = ctx.features(alpha)
    chosen = (rf"The tokens of largest logit are $\alpha={text.vector(list(map(str, alpha)))}$"
              if len(alpha) <= ITEMS else r"Let $\alpha$ be the tokens of largest logit")
    if isinstance(part, ShorterSeparator):
        margins = ctx.margins(phi, D)
        size, own = (sum((x * x for x in A), fmpq(0)) for A in (
            [x for row in part.W for x in row], D.entries()))
        m = min(margins.values())
        shorter = numbers.strictly(r"\|W\|_F^2m^2", size * m * m, r"\|D\|_F^2", own)
        return (f"{chosen}. {ctx.matrix('W', part.W, 'exclusion.W')} has all margins $\\ge1$ and "
                f"{shorter}, for the least margin $m{numbers.value(m)}$ of $D$, so $D$ is not a "
                f"multiple of "
                r"$W^{\mathrm{mm}}_\alpha$.")
    assert isinstance(part, ExactKKT)
    i, t = next(row for row in part.support if ctx.gap(phi, row) <= 0)
    return (f"{chosen}. {multipliers_text(ctx, phi, part.multipliers)} Row $({i},{t})$ is a "
            f"support "
            rf"index with $\Delta_{{{i},{t}}}{numbers.value(ctx.gap(phi, (i, t)))}\le0$, so "
            r"$\alpha$ is not locally optimal.")


def _logits(ctx: Context, D: Matrix) -> list[list[fmpq]]:
    W, d = fmpq_mat([list(row) for row in D]), ctx.dataset.d
    return [(fmpq_mat([list(x) for x in tokens]) * (W * fmpq_mat(d, 1, list(z)))).entries()
            for tokens, z in zip(ctx.dataset.tokens, ctx.dataset.queries, strict=True)]
