"""Runs from a stated start that end in a basin, all derived by hand."""

from __future__ import annotations

from .builders import ENCLOSED, UNITS, Case, changed, data, exact_kkt, verdict

# One feature, 1 × 1. The gradient is positive: a normalized step of 1 leads from W to W + 1.
LINE = data([[[1], [0]]], [1], [[1]], [1])
LINE_KKT = exact_kkt([[0, 1, 1]], [[0, 1]], 1)
# a = 1, v = 0, D = e^-7: C = E is about 4 e^-7, below τ²s = 7.
LINE_CONE = {"kind": "basin_isotropic", "solution": LINE_KKT, "iterate": [[8]], "radius": "1/1024",
             "rule": "normalized", "step": 1, "clock": 7, "slope": 1, "precision": 64}
# With exponential loss l = log e^-1, so the clock of W is W + 1. All forces vanish with v; h is
# about 1.
LINE_RESIDUAL = {"kind": "basin_residual", "solution": LINE_KKT, "iterate": [["23/3"]],
                 "radius": "1/1024", "rule": "normalized", "step": 1, "clock": 8, "ball": "1/8",
                 "drift": 1, "eigenvalues": ["1/2", "1/2"], "precision": 64}
# Features 1 and 2, score gaps 1 and -1/2. ∇L(0) = 0 for correlation: 1/4 · 1 · 1 = 1/4 · 1/2 · 2.
# From W = 1 on the rival is the weaker one. κ = 1 and ε_a is about e^-7.
RIVAL = data([[[1], [0]], [["1/2"], [0]]], [1, -1], [[1], [4]], [1])


def run(basin, start, steps, precision=64):
    return {"kind": "verified_run", "start": start, "rule": basin["rule"], "step": basin["step"],
            "steps": steps, "precision": precision, "basin": basin}


# Both weights of the softmax are 1/2 at W = 0, and the loss is linear: a plain step of 32 adds
# 32 · 1/2 · (1 - 1/2) = 8.
LINE_PLAIN = {**LINE_CONE, "rule": "plain", "step": 32}
# By symmetry the gradient is a multiple of I: 8 steps of 2 add 16/√2 = 11.31370… to the diagonal.
# a = 1, v = √(1/2), D below e^-7: C is about ‖M‖² · 2v/2 = 1.41, below τ²s = 2.75.
UNITS_CONE = {"kind": "basin_isotropic", "iterate": [["11313/1000", 0], [0, "11313/1000"]],
              "solution": exact_kkt([[0, 1, 1], [1, 1, 1]], [[0, 1], [1, 1]], 2),
              "radius": "1/500", "rule": "normalized", "step": 2, "clock": 11, "slope": "1/2",
              "precision": 64}
ZERO = [[0, 0], [0, 0]]


def _case(dataset, certificate, says, loss="logistic", selection=(0,)):
    marks = {"selection": list(selection), "loss": loss, **ENCLOSED}
    return Case(dataset, verdict("limit_from_start", "holds", certificate, **marks), says)


RUN_CASES = {
    "run_cone": _case(LINE, run(LINE_CONE, [[0]], 8), "from W = 0; in a basin at step 8"),
    "run_residual": _case(LINE, run(LINE_RESIDUAL, [["-1/3"]], 8),
                          "of ‖W‖_F ≈ 0.3333333; in a basin at step 8", "exponential"),
    "run_plain": _case(LINE, run(LINE_PLAIN, [[0]], 1),
                       "W ← W - η∇L(W), η = 32, from W = 0; in a basin at step 1",
                       "correlation"),
    "run_of_no_steps": _case(LINE, run(LINE_CONE, [[8]], 0), "from the stated start"),
    "run_units": _case(UNITS, run(UNITS_CONE, ZERO, 8), "at step 8", selection=(0, 0)),
    "run_rival": _case(RIVAL, run(LINE_CONE, [[1]], 7), "of ‖W‖_F ≈ 1; in a basin at step 7",
                       "correlation", (0, 0)),
}

_C = ("verdicts", 0, "certificate")
_FIRST = RUN_CASES["run_cone"].document()

# (code in lower case, slug): the file
RUN_INVALID = {
    ("other_descent", "step"): changed(_FIRST, (*_C, "step"), 2),
    ("other_descent", "rule"): changed(_FIRST, (*_C, "rule"), "plain"),
    ("not_in_ball", "one-step-less"): changed(_FIRST, (*_C, "steps"), 7),
    ("not_in_ball", "other-start"): changed(_FIRST, (*_C, "start"), [["1/512"]]),
    ("not_enclosed", "too-long"): changed(_FIRST, (*_C, "steps"), 200),
    ("not_enclosed", "stationary"): changed(
        RUN_CASES["run_rival"].document(), (*_C, "start"), [[0]]),
}
