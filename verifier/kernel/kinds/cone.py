"""Basins by a cone around W^mm_α that descent does not leave: `basin_isotropic`, `basin_cone`.

M = W^mm_α; W = s'M + W_⊥ with W_⊥ ⊥ M has the clock s'. Consider the region of clocks s' ≥ s with
‖W_⊥‖ ≤ τs'. There every margin is at least s(a - τv). Rows with Δ > 0 are *worse*, others *rivals*.
-n∇L = Σ w φ with c⁻e^-m ≤ w ≤ c⁺e^-m on worse rows and |w| ≤ g⁺(|Δ| + D)e^-m on rivals; put
Q = Σ_worse w. Σ_S λ m = s'Σ_S λ and Jensen's inequality give Q ≥ Z e^-s', so a rival has |w| ≤ A Q,
also after s' has grown, when A(s') and s'A(s') have not. With G = -∇L

    n⟨G, M⟩ ≥ Q(1 - ε_a),  n⟨G, W_⊥⟩ ≤ Q(E + sτε_v),  n‖G_⊥‖ ≤ Q(v̄ + ε_v),

the second by the relative entropy of the weights w to c e^-s'κ. A step with η_k‖G_⊥‖ ≤ σ thus
raises the clock, and ‖W_⊥‖² by at most 2C times as much (docs/theory/basin.md).
"""

from __future__ import annotations

from fractions import Fraction

from ..claim import ENCLOSED, Claim, Proved
from ..data import Index
from ..intervals import Interval, Undetermined, total, upper_bound
from ..reading import Node
from ..refusals import Code
from .descent import (
    Descent,
    Weights,
    demand_moderate_scores,
    exact_text,
    iterate_text,
    read_clock,
    read_descent,
    read_positive,
    read_precision,
    read_radius,
)
from .solution import Solution, matrix_margins, read_solution


def basin_isotropic(claim: Claim, node: Node) -> Proved:
    """Every start near an iterate lies in the region and stays there.

    Let C bound as above and p ≥ ‖W_⊥‖ at the start, whose clock is ≥ s. While in the region,
    ‖W_⊥‖² ≤ p² + 2C(s' - s), so it stays if τ²x² > p² + 2C(x - s) for all x ≥ s: at x = s by p <
    τs, further on because the difference rises (C < τ²s) or has no zero (C² < τ²(2Cs - p²)).
    """
    fields = node.object("kind", "solution", "iterate", "radius", "rule", "step", "clock", "slope",
                         "precision")
    bits = read_precision(fields["precision"])
    iterate = fields["iterate"].matrix(claim.dataset.d, claim.dataset.d)
    radius, clock = read_radius(fields["radius"]), read_clock(fields["clock"])
    descent, slope = read_descent(fields["rule"], fields["step"]), read_positive(fields["slope"])
    demand_moderate_scores(claim, node)
    solution = read_solution(claim, fields["solution"], bits)
    margins = matrix_margins(solution, iterate)
    try:
        reached = solution.clock([Interval.of(margins[row], bits) for row in solution.rows])
        if not (clock + radius / solution.norm).at_most(reached):
            raise fields["clock"].refuse(Code.CLOCK_NOT_SHOWN, "the starts may have smaller clocks")
        square = sum((x * x for row in iterate for x in row), Fraction(0))
        p = ((square - reached.square() * solution.norm_squared).sqrt() + radius).top
        C = growth(solution, descent, clock, slope, node)
        rises = C.below(slope**2 * clock)
        apart = C.square().below((2 * clock * C - p.square()) * slope**2)
    except Undetermined as error:
        raise node.refuse(Code.CONE_NOT_SHOWN, f"at this precision {error}") from None
    if not p.below(slope * clock):
        raise fields["slope"].refuse(Code.NOT_KEPT, "a start may lie outside of the cone")
    if not (rises or apart):
        raise fields["slope"].refuse(Code.NOT_KEPT, "descent may leave the cone")
    near = f"every W within {exact_text(radius)} of " if radius else ""
    return Proved(f"exact {descent} from {near}{iterate_text(claim, iterate)}", ENCLOSED)


def basin_cone(claim: Claim, node: Node) -> Proved:
    """The region contains the cone of the condition, and is not left from anywhere in it.

    A W of the cone has a clock of at least (1 - μ)R/‖M‖ and ‖W_⊥‖ ≤ s'‖M‖√(μ(2 - μ))/(1 - μ).
    """
    fields = node.object("kind", "solution", "aperture", "radius", "rule", "step", "clock", "slope",
                         "precision")
    bits = read_precision(fields["precision"])
    aperture, radius = read_positive(fields["aperture"]), read_positive(fields["radius"])
    if aperture >= 1:
        raise fields["aperture"].refuse(Code.OUT_OF_RANGE, "an aperture is below 1")
    clock, slope = read_clock(fields["clock"]), read_positive(fields["slope"])
    descent = read_descent(fields["rule"], fields["step"])
    demand_moderate_scores(claim, node)
    solution = read_solution(claim, fields["solution"], bits)
    if clock**2 * solution.norm_high > ((1 - aperture) * radius)**2:
        raise fields["clock"].refuse(Code.CLOCK_NOT_SHOWN, "the cone may hold smaller clocks")
    if (slope * (1 - aperture))**2 < solution.norm_high * aperture * (2 - aperture):
        raise fields["aperture"].refuse(Code.NOT_KEPT, "the cone of the statement may be wider")
    try:
        kept = growth(solution, descent, clock, slope, node).below(slope**2 * clock)
    except Undetermined as error:
        raise node.refuse(Code.CONE_NOT_SHOWN, f"at this precision {error}") from None
    if not kept:
        raise fields["slope"].refuse(Code.NOT_KEPT, "descent may leave the cone")
    return Proved(f"exact {descent} from every W with ‖W‖_F ≥ {exact_text(radius)} and ⟨W, W^mm⟩ ≥ "
                  f"(1 - μ)‖W‖_F‖W^mm‖_F, μ = {exact_text(aperture)}", ENCLOSED)


def growth(solution: Solution, descent: Descent, clock: Fraction, slope: Fraction,
           node: Node) -> Interval:
    """An upper bound of C, after conditions (i) to (iv). Raises `Refusal`, `Undetermined`."""
    bits, gaps = solution.bits, solution.gaps
    worse = [row for row, gap in gaps.items() if gap > 0]
    rivals = [row for row, gap in gaps.items() if gap <= 0]
    spared = {row: solution.kappa[row] - slope * solution.v[row] for row in rivals}
    lowest: dict[Index, Interval] = {}
    for row in gaps:
        lowest[row] = clock * (solution.a[row] - slope * solution.v[row])
        if not lowest[row].is_positive():
            raise node.refuse(Code.CONE_NOT_SHOWN, f"(i): row {row} may have a margin of 0")
    for row, x in spared.items():
        if not Interval.of(1, bits).below(clock * x):
            raise node.refuse(Code.CONE_NOT_SHOWN, f"(ii): rival {row} may be too close")
    weights = Weights(solution, lowest)
    for row in solution.rows:
        if gaps[row] <= 0:
            raise node.refuse(Code.CONE_NOT_SHOWN, f"(iii): {row} does not score below")
    for row in worse:
        if not weights.deviation[row[0]].below(gaps[row]):
            raise node.refuse(Code.CONE_NOT_SHOWN, f"(iii): row {row} may pull the other way")
    shares = {row: x / solution.norm_squared for row, x in solution.multipliers.items()}
    log_Z = total((share * (weights.weakest(row) / share).log() for row, share in shares.items()),
                  bits)
    pulls = total((weights.strongest(row) * (-clock * solution.kappa[row]).exp() for row in worse),
                  bits)
    entropy = pulls.log() - log_Z
    A = {row: weights.strongest(row) * (-clock * x - log_Z).exp() for row, x in spared.items()}
    epsilon_a = total((x * solution.a[row] for row, x in A.items()), bits)
    epsilon_v = total((x * solution.v[row] for row, x in A.items()), bits)
    if not epsilon_a.below(1):
        raise node.refuse(Code.CONE_NOT_SHOWN, "(iv): the rivals may outweigh the worse rows")
    if descent.rule == "plain":
        length = descent.step / solution.claim.dataset.n * total(
            (weights.strongest(row) * solution.v[row] * e for row, e in weights.e.items()), bits)
    else:
        length = Interval.of(descent.step, bits)
    widest = upper_bound(solution.v[row] for row in worse) + epsilon_v
    C = solution.norm_squared * (entropy + clock * slope * epsilon_v
                                 + length * widest * Fraction(1, 2)) / (1 - epsilon_a)
    return C.top
