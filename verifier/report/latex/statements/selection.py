"""What verdicts about one selection say."""

from __future__ import annotations

from conditions.certificates import (
    BallFactors,
    BallKKT,
    BallRows,
    BallSeparator,
    ExactKKT,
    ExactRank,
    Farkas,
    KKTEnclosure,
    LowRankPair,
    ModularRank,
    NuclearInterval,
    NuclearOptima,
    NuclearUniqueness,
    QueryCycle,
    RankOneInfeasible,
    TopScoreGap,
)
from conditions.verdict import Verdict
from verifier.report.latex import numbers, text
from verifier.report.latex.context import Context
from verifier.report.latex.statements.phrases import WMM

_B1 = r"(Assumption B.1 of \cite{attsvm:theory} asks this of opt)"


def feasibility(ctx: Context, verdict: Verdict) -> str:
    """Att-SVM is feasible."""
    if verdict.holds:
        return r"Att-SVM$(\alpha)$ is feasible."
    return r"Att-SVM$(\alpha)$ is infeasible: no $W$ has all margins positive."



def _none(ctx: Context, verdict: Verdict) -> str | None:
    """What an infeasible selection says of a condition about W^mm."""
    if isinstance(verdict.certificate, Farkas | QueryCycle):
        return f"${WMM}$ does not exist"
    return None


def support_indices(ctx: Context, verdict: Verdict) -> str:
    """The support indices and the norm."""
    if none := _none(ctx, verdict):
        return f"{none}, so there are no support indices."
    certificate = verdict.certificate
    assert isinstance(certificate, ExactKKT | KKTEnclosure)
    norm = (numbers.value(certificate.norm_squared) if isinstance(certificate, ExactKKT)
            else numbers.between(*certificate.norm_squared))
    total = len(ctx.features(verdict.selection))
    return (f"${WMM}$ exists, $\\|{WMM}\\|_F^2{norm}$, and its support "
            f"indices are exactly {ctx.rows(certificate.support, 'support')} "
            f"({len(certificate.support)} of {text.count(total, 'row')}).")


def all_support(ctx: Context, verdict: Verdict) -> str:
    """Assumption B.1."""
    if none := _none(ctx, verdict):
        return f"{none}, so not every row is a support index."
    if verdict.holds:
        return (f"${WMM}$ exists and every row is a support index "
                rf"{_B1}.")
    return (f"Not every row is a support index of ${WMM}$ {_B1}.")


def local_optimality(ctx: Context, verdict: Verdict) -> str:
    """Definition 2."""
    if none := _none(ctx, verdict):
        return f"{none}, so $\\alpha$ is not locally optimal."
    word = "is" if verdict.holds else "is not"
    return (rf"$\alpha$ {word} locally optimal "
            r"\cite[Definition 2]{attsvm:theory}.")


def rank_bound(ctx: Context, verdict: Verdict) -> str:
    """The rank of W^mm."""
    if none := _none(ctx, verdict):
        return f"{none}, so it has no rank."
    certificate = verdict.certificate
    assert isinstance(certificate, ExactRank | ModularRank)
    bound = min(ctx.dataset.n, ctx.dataset.d)
    return (f"${WMM}$ exists and has rank ${certificate.rank}"
            rf"\le\min(n,d)={bound}$ \cite[Lemma 1]{{attsvm:theory}}.")


def nuclear_margin(ctx: Context, verdict: Verdict) -> str:
    """The least nuclear norm."""
    if _none(ctx, verdict):
        return feasibility(ctx, verdict)
    certificate = verdict.certificate
    assert isinstance(certificate, NuclearInterval)
    found = numbers.between(certificate.lower, certificate.upper)
    return (f"$\\min\\|W\\|_*{found}$ over all $W$ with margins "
            rf"$\ge1$, and a $W$ of rank at most ${certificate.rank}\le\min(n,d)$ has margins "
            rf"$\ge1$ and $\|W\|_*{numbers.at_most(certificate.upper)}$.")


def unique_nuclear_optimum(ctx: Context, verdict: Verdict) -> str:
    """One W of least nuclear norm, or several."""
    if _none(ctx, verdict):
        return f"{feasibility(ctx, verdict)} So no $W$ with margins $\\ge1$ is of least norm."
    certificate = verdict.certificate
    if isinstance(certificate, NuclearOptima):
        return ("Several $W$ with margins $\\ge1$ have the least "
                "nuclear norm.")
    assert isinstance(certificate, NuclearUniqueness)
    return (f"Exactly one $W$ with margins $\\ge1$ has the least "
            f"nuclear norm, and its rank is ${certificate.rank}$.")


def low_rank_feasibility(ctx: Context, verdict: Verdict) -> str:
    """Feasible K Qᵀ of m columns."""
    certificate = verdict.certificate
    if isinstance(certificate, LowRankPair):
        m = len(certificate.K[0])
        return (f"For $m={m}$ some $K,Q\\in\\mathbf R^{{d\\times m}}$ "
                r"give $KQ^{T}$ all margins $\ge1$.")
    which = "$m=1$" if isinstance(certificate, RankOneInfeasible) else "every $m$"
    return (f"For {which} no $K,Q\\in\\mathbf R^{{d\\times m}}$ give "
            r"$KQ^{T}$ all margins positive.")


def assumption_e(ctx: Context, verdict: Verdict) -> str:
    """Assumption E with its constant."""
    certificate = verdict.certificate
    assert isinstance(certificate, TopScoreGap)
    if not certificate.rows:
        return (r"Assumption E of \cite{attsvm:theory} holds with every $c>0$: no"
                " token scores below a selected one.")
    return (f"The largest $c$ with $Y_iv\\cdot\\sum_ts_tx_{{i,t}}"
            r"\le\gamma_{i,\alpha_i}-c(1-s_{\alpha_i})$, for all $i$ and all weights $s\ge0$ of "
            r"sum "
            r"$1$ on $\alpha_i$ and the tokens with $\Delta_{i,t}>0$, is "
            rf"$c{numbers.value(certificate.constant)}$ (Assumption E of \cite{{attsvm:theory}}).")


# On balls of datasets -------------------------------------------------------------------------


def _on_ball(verdict: Verdict, what: str, but: str) -> str:
    certificate = verdict.certificate
    if isinstance(certificate, BallSeparator | BallKKT | BallFactors | BallRows):
        return (r"For every dataset of the same sizes and labels whose entries of $X$, $z$ and $v$ "
                rf"are within $\varepsilon={numbers.lower(certificate.radius)}$ of the given ones, "
                f"{what}.")
    return f"{but}, for the given dataset and so for every $\\varepsilon$-ball around it."


def robust_feasibility(ctx: Context, verdict: Verdict) -> str:
    """Feasible on a ball."""
    return _on_ball(verdict, r"Att-SVM$(\alpha)$ is feasible", r"Att-SVM$(\alpha)$ is infeasible")


def robust_support(ctx: Context, verdict: Verdict) -> str:
    """One support on a ball."""
    certificate = verdict.certificate
    rows = ctx.rows(certificate.rows, "rows") if isinstance(certificate, BallKKT) else ""
    return _on_ball(verdict, f"${WMM}$ exists and its support indices are exactly {rows}",
                    f"${WMM}$ does not exist")


def robust_local_optimality(ctx: Context, verdict: Verdict) -> str:
    """Locally optimal on a ball."""
    return _on_ball(verdict, r"$\alpha$ is locally optimal \cite[Definition 2]{attsvm:theory}",
                    r"$\alpha$ is not locally optimal")


def robust_full_rank(ctx: Context, verdict: Verdict) -> str:
    """Independent features on a ball."""
    return _on_ball(verdict, "the features are linearly independent, for every selection",
                    "The features are linearly dependent")
