"""What verdicts about scores and features say."""

from __future__ import annotations

from conditions.certificates import FlatSamples
from conditions.verdict import Verdict
from verifier.report.latex import text
from verifier.report.latex.context import ITEMS, Context
from verifier.report.latex.statements.phrases import WOPT, opt_text, tie_text


def unique_optimum(ctx: Context, verdict: Verdict) -> str:
    """One token with the largest score."""
    if verdict.holds:
        return ("In every sample exactly one token has the largest score; the selection of these "
                rf"tokens is {opt_text(ctx)}.")
    return f"{tie_text(verdict.certificate)}, so the optimum is not unique."




def equal_scores(ctx: Context, verdict: Verdict) -> str:
    """Assumption B.2."""
    if verdict.holds:
        return ("In every sample all tokens below the largest score share one score "
                r"(Assumption B.2 of \cite{attsvm:theory} asks this, and a unique optimum).")
    return (r"Not all tokens below the largest score of a sample share one score (the scores of "
            r"Assumption B.2 of \cite{attsvm:theory}).")


def no_flat_sample(ctx: Context, verdict: Verdict) -> str:
    """No sample whose scores are all equal."""
    certificate = verdict.certificate
    if isinstance(certificate, FlatSamples):
        flat = certificate.samples
        if len(flat) == ctx.dataset.n:
            return "In every sample all tokens have one score."
        which = (text.listed(list(map(str, flat))) if len(flat) <= ITEMS
                 else ctx.filed("samples"))
        return (f"The samples with one score for all tokens are exactly {which} "
                f"({len(flat)} of {ctx.dataset.n}).")
    return "In every sample two tokens differ in score."


def full_rank(ctx: Context, verdict: Verdict) -> str:
    """Independent features."""
    count = sum(ctx.dataset.lengths) - ctx.dataset.n
    if verdict.holds:
        return (f"The {text.count(count, 'feature')} of a selection "
                f"{'is' if count == 1 else 'are'} linearly independent, for "
                r"every selection; so Att-SVM$(\alpha)$ is feasible for every $\alpha$.")
    return f"The {text.count(count, 'feature')} of a selection are linearly dependent, for every " \
           "selection."


def nonnegative_features(ctx: Context, verdict: Verdict) -> str:
    """The hypotheses of the repaired Theorem 4."""
    body = ("the optimal token is unique in every sample, all other scores of a sample are equal, "
            "no feature under opt is $0$ and no two have a negative inner product")
    if verdict.holds:
        return (f"{body[0].upper()}{body[1:]}. So plain gradient descent with "
                r"$\eta B<2$ ($B$ of the proof) converges in direction to "
                f"${WOPT}$ from every $W_0$, for each of the three losses.")
    return f"It is not true that {body}."
