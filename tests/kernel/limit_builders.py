"""Certificates about the limits of gradient descent, derived by hand.

In the basins of UNITS the solution is M = diag(1, 1), ‖M‖² = 2, with u = a = 1 and v² = 1/2 in both
rows, no rival and κ = 0: diag(s, s) has the clock s. In those of OUTSCORED M is (1, 1)/2 in the
first column, ‖M‖² = 1/2; its support row has v = 0, the other one is a rival with a = 3/2, u² = 17
and v² = 25/2.
"""

from __future__ import annotations

from .builders import (
    A00,
    A000,
    DIAGONAL,
    ENCLOSED,
    FLAT,
    IDENTITY,
    OPPOSED,
    OUTSCORED,
    OUTSCORED_ENCLOSURE,
    REPEATED,
    TIED,
    TIED_KKT,
    UNITS,
    UNITS_KKT,
    Case,
    enclosure,
    exact_kkt,
    verdict,
)

# UNITS with a query that is zero.
BLIND = {**UNITS, "z": [[1, 0], [0, 0]]}
OUTSCORED_KKT = exact_kkt([[0, 1, "1/2"]], [[0, 1]], "1/2")


def diagonal(a, b):
    return [[a, 0], [0, b]]


def isotropic(solution, iterate, radius, rule, step, clock, slope):
    return {"kind": "basin_isotropic", "solution": solution, "iterate": iterate, "radius": radius,
            "rule": rule, "step": step, "clock": clock, "slope": slope, "precision": 64}


def cone(solution, aperture, radius, rule, step, clock, slope):
    return {"kind": "basin_cone", "solution": solution, "aperture": aperture, "radius": radius,
            "rule": rule, "step": step, "clock": clock, "slope": slope, "precision": 64}


def residual(solution, iterate, radius, rule, step, clock, ball, drift, eigenvalues):
    return {"kind": "basin_residual", "solution": solution, "iterate": iterate, "radius": radius,
            "rule": rule, "step": step, "clock": clock, "ball": ball, "drift": drift,
            "eigenvalues": eigenvalues, "precision": 64}


def low_norm(W, step, beta):
    return {"kind": "low_norm_limit", "W": W, "step": step, "beta": beta, "separator": IDENTITY,
            "precision": 64}


def trap(W, step, beta):
    return {"kind": "selection_trap", "W": W, "step": step, "beta": beta, "precision": 64}


def first_step(first, step, beta):
    return {"kind": "large_first_step", "first_step": first, "step": step, "beta": beta,
            "separator": IDENTITY, "precision": 64}


def _basin(dataset, certificate, says, loss, **marks):
    return Case(dataset, verdict("basin", "holds", certificate, loss=loss, **(ENCLOSED | marks)),
                says)


def _cone(dataset, certificate, says, loss, **marks):
    return Case(dataset, verdict("basin_cone", "holds", certificate, loss=loss,
                                 **(ENCLOSED | marks)), says)


def _global(dataset, certificate, says, loss):
    return Case(dataset, verdict(certificate["kind"], "holds", certificate, loss=loss, **ENCLOSED),
                says)


def _features(dataset, status, certificate, says):
    return Case(dataset, verdict("nonnegative_features", status, certificate), says)


A0 = {"selection": [0]}

LIMIT_CASES = {
    # Margins ≥ 20 (1 - √½/2) > 12.9, so E < 10^-4; σ = 1/10 and C ≈ σ v̄ < 0.08 < τ² s = 5.
    "isotropic_normalized": _basin(
        UNITS, isotropic(UNITS_KKT, diagonal(24, 24), 1, "normalized", "1/10", 20, "1/2"),
        "W ← W - η∇L(W)/‖∇L(W)‖_F, η = 1/10, from every W within 1 of the stated iterate, of "
        "‖W‖_F ≈ 33.94113", "logistic", **A00),
    "isotropic_float_step": _basin(
        UNITS, isotropic(UNITS_KKT, diagonal(24, 24), 0, "plain", "0x1.999999999999ap-4", 20,
                         "1/2"),
        "exact gradient descent W ← W - η∇L(W), η = 0.1 (binary64), from the stated iterate",
        "correlation", **A00),
    # C ≈ 10 v̄ ≈ 7.07 > τ² s = 5, but C² ≈ 50 < τ² 2Cs ≈ 70.
    "isotropic_apart": _basin(
        UNITS, isotropic(UNITS_KKT, diagonal(20, 21), 0, "normalized", 10, 20, "1/2"),
        "η = 10, from the stated iterate", "exponential", **A00),
    # τ v < 0.221 + …: the rival keeps s(κ - τv) > 17 and A < 10^-7.
    "isotropic_rival": _basin(
        OUTSCORED, isotropic(OUTSCORED_KKT, [[64, 0], [64, 0]], 0, "plain", 1, 64, "1/16"),
        "for α = (0) with exponential loss holds (enclosed, basin_isotropic)", "exponential", **A0),
    "isotropic_flow": _basin(
        OUTSCORED, isotropic(OUTSCORED_ENCLOSURE, [[64, 0], [64, 0]], "1/2", "flow", 0, 64, "1/16"),
        "exact gradient flow dW/dt = -∇L(W) from every W within 1/2", "logistic", **A0),
    "isotropic_repeated": _basin(
        REPEATED, isotropic(enclosure([[0, 1], [1, 1], [2, 1]]), diagonal(24, 24), "1/3",
                            "normalized", "1/10", 22, "1/2"),
        "for α = (0, 0, 0)", "logistic", **A000),
    # √(μ(2 - μ)) ‖M‖ = 0.4416 < τ(1 - μ) = 0.475, and s‖M‖ = 28.29 < (1 - μ) 30 = 28.5.
    "cone_normalized": _cone(
        UNITS, cone(UNITS_KKT, "1/20", 30, "normalized", "1/10", 20, "1/2"),
        "from every W with ‖W‖_F ≥ 30 and ⟨W, W^mm⟩ ≥ (1 - μ)‖W‖_F‖W^mm‖_F, μ = 1/20",
        "logistic", **A00),
    # μ(2 - μ)/2 ≤ τ²(1 - μ)² = (1 - μ)²/256 at μ = 1/512.
    "cone_rival": _cone(
        OUTSCORED, cone(OUTSCORED_ENCLOSURE, "1/512", 64, "flow", 0, 64, "1/16"),
        "gradient flow dW/dt = -∇L(W) from every W with ‖W‖_F ≥ 64", "exponential", **A0),
    # l = log(c/λ) < 0 is the same in both rows: clock ≈ 26.1, e = ±1/8, ‖E‖ = 0.177, s‖M‖ to spare.
    "residual_normalized": _basin(
        UNITS, residual(UNITS_KKT, diagonal(24, "97/4"), "1/4", "normalized", "1/10", 25, "1/2",
                        "1/2", ["3/4", "5/4"]),
        "η = 1/10, from every W within 1/4 of the stated iterate", "logistic", **A00),
    # Clock and margin 64; the rival has t ≈ 32 - 3.54 (B + Z) and A < 10^-10.
    "residual_rival": _basin(
        OUTSCORED, residual(OUTSCORED_KKT, [[32, 0], [32, 0]], 0, "normalized", "1/10", 63, 1, 1,
                            [1, 1]), "from the stated iterate", "logistic", **A0),
    "residual_plain": _basin(
        OUTSCORED, residual(OUTSCORED_ENCLOSURE, [[32, 0], [32, 0]], "1/8", "plain", 1000, 62, 1, 1,
                            ["1/2", 2]), "η = 1000, from every W within 1/8", "exponential", **A0),
    # The class of (0, 1) is (0, 1) and (2, 1); O is (0, 2) with the feature 2 E11.
    "residual_repeated": _basin(
        REPEATED, residual(enclosure([[0, 1], [1, 1], [2, 1]]), diagonal(24, 22), "1/8", "flow", 0,
                           24, "1/2", "1/2", ["3/4", "5/4"]),
        "gradient flow dW/dt = -∇L(W) from every W within 1/8", "logistic", **A000),
    # At W = 0 each D is 1/2: P = (1 + 0.269·0.649)² - 1 = 0.38 < 0.269·1.718 = 0.46. B = 9/64.
    "low_norm_zero": _global(
        UNITS, low_norm([[0, 0], [0, 0]], 10, "1/7"),
        "opt = (0, 0); exact gradient descent W ← W - η∇L(W), η = 10, from W = 0, converges in "
        "direction to W^mm_opt", "logistic"),
    "low_norm_flow": _global(
        UNITS, low_norm(diagonal(3, 3), 0, "1/3"),
        "exact gradient flow dW/dt = -∇L(W) from the stated iterate", "exponential"),
    # B = 1/4 exactly. D = 1/(1 + e^m) twice, 2D < 1. A margin of 10^6 leaves next to nothing.
    "low_norm_correlation": _global(
        UNITS, low_norm(diagonal(1, 1_000_000), "7999/1000", "1/4"), "η = 7999/1000",
        "correlation"),
    "trap_logistic": _global(
        UNITS, trap(diagonal(3, 3), 10, "1/7"),
        "has softmax weight > 1/2 and every margin under opt is > 0 for ever, and ‖W‖_F never "
        "decreases; opt = (0, 0); exact gradient descent", "logistic"),
    "trap_exponential": _global(
        UNITS, trap(diagonal(3, 3), 5, "1/3"), "η = 5, from the stated iterate", "exponential"),
    "trap_correlation": _global(
        UNITS, trap(diagonal(3, 3), 0, 1), "gradient flow", "correlation"),
    # -n∇L(0) = |ℓ'(1/2)|/4 · I: margins η₀|ℓ'(1/2)|/8, 3.02 and 4.85; η₀/8 for correlation.
    "first_step_limit_logistic": _global(
        UNITS, first_step(64, 10, "1/7"),
        "exact gradient descent from W = 0, first step 64, all later steps 10, converges in "
        "direction to W^mm_opt", "logistic"),
    "first_step_limit_exponential": _global(
        UNITS, first_step(64, 5, "1/3"), "first step 64, all later steps 5", "exponential"),
    "first_step_limit_correlation": _global(
        UNITS, first_step(8, 7, "1/4"), "first step 8, all later steps 7", "correlation"),
    "nonnegative_products": _features(
        UNITS, "holds", {"kind": "nonnegative_products"},
        "with η < 2/B, B the smoothness bound of the loss, and gradient flow converge in direction "
        "to W^mm_opt from every W"),
    "negative_product": _features(
        OPPOSED, "fails", {"kind": "negative_product", "rows": [[0, 1], [1, 0]]},
        "the features of rows (0, 1) and (1, 0) have a negative inner product"),
    "zero_feature": _features(
        BLIND, "fails", {"kind": "zero_feature", "row": [1, 1]},
        "the feature of row (1, 1) is zero"),
    "nonnegative_unequal": _features(
        DIAGONAL, "fails", {"kind": "unequal_scores", "sample": 0, "tokens": [1, 2]},
        "tokens 1 and 2 of sample 0"),
    "nonnegative_tie": _features(
        FLAT, "fails", {"kind": "optimum_tie", "sample": 0, "tokens": [0, 1]},
        "tokens 0 and 1 of sample 0"),
}

# A support row of zero multiplier: no residual is bounded by `basin_residual`.
DEGENERATE = Case({**TIED, "v": [1, 0]}, verdict(
    "basin", "holds", residual(TIED_KKT, [[32, 0], [32, 0]], 0, "flow", 0, 60, 1, 1, [1, 1]),
    loss="logistic", **A0, **ENCLOSED), "")
