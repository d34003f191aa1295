"""Proofs about limits of descent: cones, residuals, verified runs."""

from __future__ import annotations

from flint import arb, fmpq, fmpq_mat
from flint import ctx as flint_context

from conditions.basin.enclosure import Enclosure, enclose_stated
from conditions.basin.isotropic import ConeValues, cone_values
from conditions.basin.residual import Parameters, residual_values
from conditions.certificates import (
    BasinCone,
    BasinIsotropic,
    BasinResidual,
    ExactKKT,
    KKTEnclosure,
    VerifiedRun,
)
from conditions.selection import Features
from conditions.separation.rows import equal_rows
from conditions.smoothness import rational_above, rational_below
from conditions.verdict import Verdict
from verifier.report.latex import numbers, text
from verifier.report.latex.context import Context
from verifier.report.latex.proofs.separation import solution_text


def basin_isotropic(ctx: Context, verdict: Verdict, certificate: BasinIsotropic) -> str:
    """The cone that holds the start."""
    phi = ctx.features(verdict.selection)
    solved = _solved(ctx, phi, certificate.solution)
    frame = enclose_stated(phi, certificate.solution)
    values = None if frame is None else _cone(frame, verdict, certificate)
    if frame is None or values is None:
        return f"{solved} {_unseen(certificate)} {ctx.fact('cone')} applies."
    s, tau = certificate.clock, certificate.slope
    with flint_context.workprec(frame.bits):
        clock, across = _place(frame, certificate)
        C = rational_above(values.C)
        left = arb(tau * tau) * (2 * values.C * arb(s) - across * across)
    kept = numbers.strictly("C", C, r"\tau^2s", tau * tau * s)
    if tau * tau * s <= C:
        kept = numbers.strictly("C^2", C * C, r"\tau^2(2Cs-p^2)", rational_below(left))
    inside = numbers.strictly(r"\|W_\perp\|\le p", rational_above(across), r"\tau s",
                              tau * s)
    near = r" less $\varrho/\|M\|$" if certificate.radius else ""
    return (f"{solved} Take {_chosen(certificate)}. The clock $\\langle W_0,M\\rangle/\\|M\\|^2$"
            f"{near} is ${numbers.bottom(clock, s)}\\ge s$; {inside}. {_cone_text(values)}; "
            f"{kept}. "
            f"{ctx.fact('cone')} applies.")


def basin_cone(ctx: Context, verdict: Verdict, certificate: BasinCone) -> str:
    """The cone of the statement and the region that holds it."""
    phi = ctx.features(verdict.selection)
    solved = _solved(ctx, phi, certificate.solution)
    frame = enclose_stated(phi, certificate.solution)
    values = None if frame is None else _cone(frame, verdict, certificate)
    last = (f"{ctx.fact('cone')} applies from every point of the cone, and excludes "
            r"$\nabla L(W)=0$ there.")
    if frame is None or values is None:
        return f"{solved} {_unseen(certificate)} {last}"
    mu, R, s, tau = (certificate.aperture, certificate.radius, certificate.clock,
                     certificate.slope)
    with flint_context.workprec(frame.bits):
        reach = arb(s) * frame.norm
        wide = frame.norm * arb(mu * (2 - mu)).sqrt()
    clocks = numbers.strictly(r"s\|M\|", rational_above(reach), r"(1-\mu)R", (1 - mu) * R)
    apertures = numbers.strictly(r"\|M\|\sqrt{\mu(2-\mu)}", rational_above(wide),
                                 r"\tau(1-\mu)", tau * (1 - mu))
    rounded = ("" if numbers.short(mu) and numbers.short(R) else
               f" ($\\mu$, $R$ exactly: {ctx.filed('aperture')}, \\texttt{{radius}}; the statement "
               "rounds both to the safe side)")
    kept = numbers.strictly("C", rational_above(values.C), r"\tau^2s", tau * tau * s)
    return (rf"{solved} Take {_chosen(certificate)}{rounded}. Clocks in the cone are "
            rf"$\ge(1-\mu)R/\|M\|\ge s$, as {clocks}; and $\|W_\perp\|\le\tau s'$, as {apertures}. "
            rf"{_cone_text(values)}; {kept}. {last}")


def _solved(ctx: Context, phi: Features, solution: ExactKKT | KKTEnclosure) -> str:
    """What the certificate proves about W^mm."""
    with ctx.inside("solution"):
        return solution_text(ctx, phi, solution)


def _unseen(certificate: BasinIsotropic | BasinCone | BasinResidual) -> str:
    """For a certificate whose checker must be more precise than the figures here could be."""
    return (f"All inequalities hold for the parameters of the certificate, by enclosures of "
            f"relative width $2^{{-{certificate.precision}}}$.")


def _cone(frame: Enclosure, verdict: Verdict,
          certificate: BasinIsotropic | BasinCone) -> ConeValues | None:
    return cone_values(frame, str(verdict.loss), certificate.rule, certificate.step,
                       certificate.clock, certificate.slope)


def _place(frame: Enclosure, certificate: BasinIsotropic) -> tuple[arb, arb]:
    """The least clock and the largest ‖W_⊥‖ of a start."""
    W = fmpq_mat([list(row) for row in certificate.iterate])
    margins = frame.phi.margins(W)
    radius = arb(certificate.radius)
    pull = sum((x * arb(margins[k]) for k, x in
                zip(frame.positions, frame.multipliers, strict=True)), arb(0))
    clock = pull / frame.norm_squared
    square = sum((x * x for x in W.entries()), fmpq(0))
    rest = (arb(square) - clock * clock * frame.norm_squared).upper()
    across = rest.sqrt().upper() if rest > 0 else arb(0)
    return clock - radius / frame.norm, across + radius


def _chosen(certificate: BasinIsotropic | BasinCone) -> str:
    return (f"$s{numbers.parameter(certificate.clock)}$, "
            f"$\\tau{numbers.parameter(certificate.slope)}$")


def _cone_text(values: ConeValues) -> str:
    """The conditions and the constants, rounded outward."""
    first = rf"(i) $s(a-\tau v){numbers.bottom(values.least)}$"
    third = rf"(iii) $D_i/\Delta_{{i,t}}{numbers.top(values.deviation, fmpq(1))}<1$"
    if values.lead is None:
        met = rf"{first}; {third}; there are no rivals, so $\epsilon_a=\epsilon_v=0$"
    else:
        met = (rf"{first}; (ii) $s(\kappa-\tau v){numbers.bottom(values.lead, fmpq(1))}>1$; "
               rf"{third}; "
               rf"(iv) $\epsilon_a{numbers.top(values.eps_a, fmpq(1))}<1$, "
               rf"$\epsilon_v{numbers.top(values.eps_v)}$")
    return (rf"{met}; $E{numbers.top(values.entropy)}$, $\sigma{numbers.top(values.length)}$, "
            rf"$\bar v{numbers.top(values.across)}$")


def basin_residual(ctx: Context, verdict: Verdict, certificate: BasinResidual) -> str:
    """The ball that holds the residual for ever."""
    phi = ctx.features(verdict.selection)
    solved = _solved(ctx, phi, certificate.solution)
    frame = enclose_stated(phi, certificate.solution)
    given = Parameters(certificate.clock, certificate.ball, certificate.drift,
                       *certificate.eigenvalues)
    margins = phi.margins(fmpq_mat([list(row) for row in certificate.iterate]))
    v = None if frame is None else residual_values(
        frame, _owners(frame), str(verdict.loss), certificate.rule, certificate.step, margins,
        certificate.radius, given)
    if frame is None or v is None:
        return f"{solved} {_unseen(certificate)} {ctx.fact('residual')} applies."
    with flint_context.workprec(frame.bits):
        room = (1 + v.shift) * v.low * arb(certificate.ball)
        twist = v.step * (1 + v.shift) * (v.low + v.high)
    low, high = certificate.eigenvalues
    pushed = numbers.strictly("P", rational_above(v.push), r"(1+\bar\nu)\mu_BB",
                              rational_below(room))
    moved = numbers.apart(rational_above(v.moved), certificate.drift)[0]
    return (f"{solved} Take $s{numbers.parameter(certificate.clock)}$, "
            f"$B{numbers.parameter(certificate.ball)}$, $Z{numbers.parameter(certificate.drift)}$, "
            f"$\\mu{numbers.parameter(low)}$, $\\mu'{numbers.parameter(high)}$ ($\\mu$ and $\\mu'$ "
            "by two definite matrices). All starts have a clock "
            f"${numbers.bottom(v.clock, certificate.clock)}\\ge s$ and "
            f"$\\|E_\\parallel\\|{numbers.top(v.size, certificate.ball)}\\le "
            f"B$. Then $\\nu^+{numbers.top(v.up)}$, $\\nu^-{numbers.top(v.down)}$, $\\bar\\nu"
            f"{numbers.ball(v.shift)}$, $\\vartheta{numbers.bottom(v.pace)}>0$; {pushed}; the "
            f"drift is "
            f"$\\le {moved}<Z$; $h{numbers.top(v.step)}$ and "
            f"$h(1+\\bar\\nu)(\\mu_B+\\mu'_B){numbers.top(twist, fmpq(2))}<2$. "
            f"{ctx.fact('residual')} applies.")


def _owners(frame: Enclosure) -> dict[int, int]:
    """Per support row the place in S of the row with its feature."""
    first = equal_rows(frame.phi)
    place = {int(first[k]): j for j, k in enumerate(frame.positions)}
    return {k: place[int(first[k])] for k in sorted(frame.support)}


def verified_run(ctx: Context, verdict: Verdict, certificate: VerifiedRun) -> str:
    """The steps, enclosed, and the basin in which they end."""
    basin = certificate.basin
    steps, rule = text.count(certificate.steps, "step"), ctx.fact("run")
    with ctx.inside("basin"):
        start = ctx.matrix("W_0", basin.iterate, "iterate")
        proof = (basin_isotropic(ctx, verdict, basin) if isinstance(basin, BasinIsotropic)
                 else basin_residual(ctx, verdict, basin))
    return (f"Repeat {steps} in ball arithmetic of {certificate.precision} bits from the exact "
            f"$W(0)$ ({rule}): the iterate $W({certificate.steps})$ of exact descent is "
            f"within $\\varrho{numbers.parameter(basin.radius)}$ of {start}, and all starts that "
            f"near "
            f"converge, as is shown now. {proof}")
