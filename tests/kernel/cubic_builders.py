"""The cubic loss ℓ(u) = -u³, |ℓ'| = 3u², and a first step that stalls, derived by hand."""

from __future__ import annotations

from .builders import Case, changed, data, verdict

# Mean score 0: ∇L(0) = 0, though the features are independent.
CENTRED = data([[[1], [-1]]], [1], [[1]], [1])
# Mean scores 2 and -1: |ℓ'| = 12 and 3, features 2 and 4 with pulls 1·2/2 and 2·4/2 of gaps 2, 4:
# G = 12·1·1 - 3·2·2 = 0, with queries 1 and -1.
BALANCED_CUBIC = data([[[3], [1]], [[1], [-3]]], [1, 1], [[1], [-1]], [1])
# Scores 2 and 1: ℓ' < 0 on their range.
STEEP = data([[[2], [1]]], [1], [[1]], [1])
# Features (5, -1) and (5, 0), so W^mm = (1/5, 0), λ = 1/25 at the second. Mean score -7/3 and
# G = 49/3·(50/9, -5/9). With η₀ = 37/8192 f(W(1)) = -0.008, ‖∇f‖ = 4.04, H = 26·5/4 = 32.5.
STALLED = data([[[1, 0], [-4, 1], [-4, 0]]], [1], [[1, 0]], [1, 0])


def stalled(first="37/8192", step="1/2048", radius="1/100", least=3, largest=5,
            solution=((0, 2, "1/25"),), precision=64):
    return {"kind": "stalled_descent", "first_step": first, "step": step, "radius": radius,
            "least_slope": least, "largest_slope": largest, "solution": [list(r) for r in solution],
            "precision": precision}


def _stationary(dataset):
    return Case(dataset, verdict("no_stationary_point", "fails", {"kind": "stationary_at_zero"},
                                 loss="cubic"), "∇L(0) = 0")


CUBIC_CASES = {
    "cubic_centred": _stationary(CENTRED),
    "cubic_balanced": _stationary(BALANCED_CUBIC),
    "cubic_first_step": Case(STALLED, verdict(
        "first_step_separates", "holds", {"kind": "first_step_margins", "precision": 64},
        loss="cubic"), "optimal tokens (0,)"),
    "cubic_first_step_zero": Case(CENTRED, verdict(
        "first_step_separates", "fails",
        {"kind": "first_step_violation", "row": [0, 1], "sign": 0, "precision": 64},
        loss="cubic"), "the margin of row (0, 1) is zero"),
    "cubic_monotone": Case(STEEP, verdict(
        "no_stationary_point", "holds",
        {"kind": "monotone_direction", "D": [[1]], "witness": [0, 0, 1]}, loss="cubic"),
        "⟨∇L(W), D⟩ < 0 for every W"),
    "cubic_stalled": Case(STALLED, verdict("stalled_descent", "holds", stalled(),
                                           evidence="enclosed", loss="cubic"),
                          "never leaves the ball of radius 1/100 around W(1)"),
}

_C = ("verdicts", 0, "certificate")


def _file(name, path, new):
    return changed(CUBIC_CASES[name].document(), path, new)


# (code in lower case, slug): the file
CUBIC_INVALID = {
    ("not_stalled", "past-zero"): _file("cubic_stalled", (*_C, "first_step"), "1/128"),
    ("not_stalled", "small-ball"): _file("cubic_stalled", (*_C, "radius"), "1/200"),
    ("loss_unfit", "cubic-crosses-zero"): _file("cubic_monotone", ("dataset", "X"), [[[1], [-1]]]),
    ("loss_unfit", "stalled-logistic"): _file("cubic_stalled", ("verdicts", 0, "loss"), "logistic"),
}
