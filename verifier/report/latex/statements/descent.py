"""What verdicts about descent say."""

from __future__ import annotations

from flint import fmpq

from conditions.certificates import (
    BasinCone,
    BasinIsotropic,
    BasinResidual,
    InvariantRay,
    Krawczyk,
    LargeFirstStep,
    LowNormLimit,
    OptimumTie,
    SelectionTrap,
    StalledDescent,
    VerifiedRun,
)
from conditions.verdict import Verdict
from verifier.report.latex import numbers
from verifier.report.latex.context import Context
from verifier.report.latex.statements.phrases import (
    WMM,
    WOPT,
    descent_text,
    start_text,
    tie_text,
)


def first_step_separates(ctx: Context, verdict: Verdict) -> str:
    """Assumption C."""
    if verdict.holds:
        return ("The optimal token is unique in every sample and "
                r"every margin of $-\nabla L(0)$ under opt is positive (Assumption C of "
                r"\cite{attsvm:theory}).")
    if isinstance(verdict.certificate, OptimumTie):
        return f"{tie_text(verdict.certificate)}, so Assumption C of \\cite{{attsvm:theory}} fails."
    return (r"Not every margin of $-\nabla L(0)$ under opt is "
            r"positive (Assumption C of \cite{attsvm:theory} fails).")


def no_stationary_point(ctx: Context, verdict: Verdict) -> str:
    """∇L(W) ≠ 0."""
    if verdict.holds:
        return r"$\nabla L(W)\ne0$ for every $W$."
    if isinstance(verdict.certificate, Krawczyk):
        return (r"$\nabla L(W)=0$ for some $W$, in the box of the "
                f"proof{_inertia(verdict.certificate)}.")
    where = "$W=0$" if verdict.certificate and verdict.certificate.kind == "stationary_at_zero" \
        else "every $W$"
    return rf"$\nabla L(W)=0$ at {where}."


def _inertia(certificate: Krawczyk) -> str:
    if certificate.inertia is None:
        return ""
    negative, r = certificate.inertia.negative, len(certificate.basis)
    return (f"; the Hessian of $L$ on the row space of the features has {negative} negative and "
            f"{r - negative} positive eigenvalues there")


def basin(ctx: Context, verdict: Verdict) -> str:
    """A start whose limit is known."""
    certificate = verdict.certificate
    assert isinstance(certificate, BasinIsotropic | BasinResidual)
    starts = start_text(ctx, certificate.iterate, "iterate")
    near = (rf"from every $W$ with $\|W-W_0\|_F\le {numbers.lower(certificate.radius)}$, {starts}, "
            if certificate.radius else f"from {starts} ")
    return _limit(ctx, verdict, descent_text(certificate.rule, certificate.step), near)


def _limit(ctx: Context, verdict: Verdict, descent: str, start: str) -> str:
    return (f"Exact {descent} {start}"
            f"converges in direction to ${WMM}$.")


def basin_cone(ctx: Context, verdict: Verdict) -> str:
    """A cone of starts."""
    certificate = verdict.certificate
    assert isinstance(certificate, BasinCone)
    return _limit(ctx, verdict, descent_text(certificate.rule, certificate.step),
                  rf"from every $W$ with $\|W\|_F\ge R$ and $\langle W,{WMM}\rangle\ge(1-\mu)"
                  rf"\|W\|_F\|{WMM}\|_F$, where $R={numbers.upper(certificate.radius)}$ and "
                  rf"$\mu={numbers.lower(certificate.aperture)}$, "
                  ) + r" There $\nabla L(W)\ne0$."


def limit_from_start(ctx: Context, verdict: Verdict) -> str:
    """The limit from W(0) itself."""
    certificate = verdict.certificate
    assert isinstance(certificate, VerifiedRun)
    return _limit(ctx, verdict, descent_text(certificate.rule, certificate.step),
                  f"from {start_text(ctx, certificate.start, 'start', 'W(0)')} ")


def low_norm_limit(ctx: Context, verdict: Verdict) -> str:
    """The limit is opt's."""
    certificate = verdict.certificate
    assert isinstance(certificate, LowNormLimit)
    return (f"Exact {_plain(certificate.step)} from {start_text(ctx, certificate.W, 'W')} "
            f"converges in direction to ${WOPT}$.")


def _plain(step: fmpq) -> str:
    return descent_text("plain" if step else "flow", step)


def selection_trap(ctx: Context, verdict: Verdict) -> str:
    """The optimal tokens stay selected."""
    certificate = verdict.certificate
    assert isinstance(certificate, SelectionTrap)
    return (f"Along exact {_plain(certificate.step)} from "
            f"{start_text(ctx, certificate.W, 'W')}, for ever every optimal token has softmax "
            r"weight $>\frac12$, every margin under opt is positive and $\|W\|_F$ does not "
            "decrease.")


def large_first_step(ctx: Context, verdict: Verdict) -> str:
    """A first step that fixes the limit."""
    certificate = verdict.certificate
    assert isinstance(certificate, LargeFirstStep)
    return ("Exact plain gradient descent from $W_0=0$ with the first "
            rf"step $\eta_0{numbers.parameter(certificate.first_step)}$ and all later steps $\eta"
            rf"{numbers.parameter(certificate.step)}$ converges in direction to "
            f"${WOPT}$.")


def stalled_descent(ctx: Context, verdict: Verdict) -> str:
    """A first step after which descent does not get far."""
    certificate = verdict.certificate
    assert isinstance(certificate, StalledDescent)
    return ("Exact plain gradient descent from $W_0=0$ with the first "
            rf"step $\eta_0{numbers.parameter(certificate.first_step)}$ and all later steps $\eta"
            rf"{numbers.parameter(certificate.step)}$ stays bounded and does not converge in "
            f"direction to ${WOPT}$.")


def invariant_ray(ctx: Context, verdict: Verdict) -> str:
    """A line that descent does not leave."""
    assert isinstance(verdict.certificate, InvariantRay)
    return ("Exact gradient descent, normalized or plain with any "
            r"constant step, and gradient flow, from every multiple $rD$ of the $D$ of the proof, "
            r"$W=0$ included, converges in direction to $D$; and $D$ is a "
            rf"positive multiple of ${WMM}$ for no locally optimal $\alpha$.")
