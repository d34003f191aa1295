"""Step sizes against the bounds that theorems put on them: arithmetic, no certificate needed.

The paper leaves the constants of its O(·) open; here they are 1: η ≤ 1/L_W and η₀ ≤ 1/‖W^mm‖_F.
"""

from __future__ import annotations

from flint import arb, fmpq

from conditions import first_step_separates, support_indices
from conditions.exact.numbers import to_float
from conditions.large_first_step import sufficient_first_step
from conditions.losses import MAX_SCORE
from conditions.selection import Selection
from conditions.separation.frobenius import Infeasible, solve
from conditions.smoothness import lemma4_constant, smoothness, within_range
from conditions.verdict import Evidence, Status
from verifier.claims.case import Case
from verifier.claims.outcome import Fact, Outcome, arithmetic, from_verdict, joined, undecided

_NO_STEP = "no step size is given"
_PLAIN = "the bound is about plain descent"
_RANGE = f"scores beyond ±{MAX_SCORE:,} are not evaluated"


def shown(value: fmpq) -> str:
    """*value* as it is if short, else to 12 digits."""
    text = str(value)
    return text if len(text) <= 24 else f"{to_float(value):.12g}"


def _missing(case: Case) -> str | None:
    if case.rule == "normalized":
        return _PLAIN
    if case.step is None:
        return _NO_STEP
    return None if within_range(case.dataset, case.loss) else _RANGE


def _evidence(case: Case) -> Evidence:
    """Of β: its bounds of |ℓ'| and |ℓ''| are exact for the correlation loss alone."""
    return Evidence.EXACT if case.loss == "correlation" else Evidence.ENCLOSED


def below_smoothness(case: Case, _: Selection = ()) -> Outcome:
    """Whether η < 2/β with the certified smoothness constant β of `conditions.smoothness`."""
    missing = _missing(case)
    if missing or case.step is None:
        return undecided(missing or _NO_STEP)
    beta = smoothness(case.dataset, case.loss)
    holds = case.step * beta < 2
    relation = "<" if holds else "≥"
    return arithmetic(holds, Fact(
        "step_below_smoothness", f"η β = {shown(case.step)} · {shown(beta)} = "
        f"{shown(case.step * beta)} {relation} 2", (("eta", str(case.step)), ("beta", str(beta))),
        _evidence(case)))


def within_lemma4(case: Case, _: Selection = ()) -> Outcome:
    """Whether η ≤ 1/L_W with the constant L_W of Lemma 4, which is enclosed to ten digits."""
    missing = _missing(case)
    if missing or case.step is None:
        return undecided(missing or _NO_STEP)
    lower, upper = lemma4_constant(case.dataset, case.loss)
    values = (("eta", str(case.step)), ("L_W lower", str(lower)), ("L_W upper", str(upper)))
    for holds, bound, relation in ((True, upper, "≤"), (False, lower, ">")):
        product = case.step * bound
        if product <= 1 if holds else product > 1:
            return arithmetic(holds, Fact(
                "step_within_lemma4", f"η L_W {relation} 1: η = {shown(case.step)}, L_W between "
                f"{to_float(lower):.12g} and {to_float(upper):.12g}", values,
                Evidence.ENCLOSED))
    return undecided(f"η L_W is within ten digits of 1: L_W between {to_float(lower):.12g} and "
                     f"{to_float(upper):.12g}")


def first_step_within_theorem6(case: Case, _: Selection = ()) -> Outcome:
    """Whether η₀ ≤ 1/‖W^mm_opt‖_F."""
    first = case.opening_step
    if case.rule != "plain" or first is None:
        return undecided(_PLAIN if case.rule != "plain" else _NO_STEP)
    outcome = solve(case.dataset, case.opt)
    verdict = support_indices.decide(case.dataset, case.opt)
    if isinstance(outcome, Infeasible):
        return from_verdict(verdict)
    lower, upper = outcome.norm_squared
    name = "first_step_within_theorem6"
    values = (("eta_0", str(first)), ("|W^mm|^2 lower", str(lower)),
              ("|W^mm|^2 upper", str(upper)))
    for holds, bound, relation in ((True, upper, "≤"), (False, lower, ">")):
        product = first * first * bound
        if product <= 1 if holds else product > 1:
            fact = Fact(name, f"η₀² ‖W^mm‖² = {shown(first)}² · {shown(bound)} {relation} 1",
                        values)
            return joined(Status.HOLDS if holds else Status.FAILS,
                          [from_verdict(verdict), arithmetic(holds, fact)])
    return undecided("η₀ ‖W^mm‖ is too close to 1 for the enclosure of ‖W^mm‖")


def first_step_sufficient(case: Case, _: Selection = ()) -> Outcome:
    """Whether η₀ ≥ `sufficient_first_step`; fails where the first step does not separate at all."""
    first = case.opening_step
    if case.rule != "plain" or first is None:
        return undecided(_PLAIN if case.rule != "plain" else _NO_STEP)
    separates = first_step_separates.decide(case.dataset, case.loss)
    if not separates.holds:
        return from_verdict(separates)
    needed = sufficient_first_step(case.dataset, case.loss)
    if needed is None:
        return undecided(_RANGE)
    holds = first >= needed
    fact = Fact("first_step_sufficient",
                f"η₀ = {shown(first)} {'≥' if holds else '<'} {shown(needed)}, which is "
                "(1/μ) log(Σ_i M_i Σ_t Δ_it / min_i [ℓ(γ_i(2)) − ℓ(γ_i(1))]) rounded up to 20 "
                "bits, μ the least margin of −∇L(0)",
                (("eta_0", str(first)), ("sufficient", str(needed))), Evidence.ENCLOSED)
    return joined(Status.HOLDS if holds else Status.FAILS,
                  [from_verdict(separates)] * holds + [arithmetic(holds, fact)])


def smooth_as_lemma4_says(case: Case, _: Selection = ()) -> Outcome:
    """Whether β ≤ L_W/4: ∇L is β-Lipschitz (docs/theory/global_limits.md), so L_W-Lipschitz."""
    if not within_range(case.dataset, case.loss):
        return undecided(_RANGE)
    beta = smoothness(case.dataset, case.loss)
    lower, upper = lemma4_constant(case.dataset, case.loss)
    if not 4 * beta <= upper:
        return undecided("β is above L_W/4")
    if 4 * beta > lower and beta > 0:
        return undecided("4 β is within ten digits of L_W")
    return arithmetic(True, Fact(
        "lipschitz_with_lemma4", f"β = {shown(beta)} ≤ L_W/4 = {to_float(lower / 4):.12g}, and "
        "∇L is β-Lipschitz", (("beta", str(beta)), ("L_W lower", str(lower))),
        Evidence.ENCLOSED))


def longest_lemma4_step(case: Case) -> fmpq | None:
    """A short dyadic η with η ≤ 1/L_W < 2η; None where scores are out of range or L_W = 0."""
    if not within_range(case.dataset, case.loss):
        return None
    upper = lemma4_constant(case.dataset, case.loss)[1]
    if upper == 0:
        return None
    bits = int(arb(upper).log_base(2).floor().unique_fmpz() or 0) + 1
    while fmpq(2) ** -bits * upper > 1:
        bits += 1
    return fmpq(2) ** -bits
