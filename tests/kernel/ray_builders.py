"""Invariant rays, derived by hand; all queries are e1, so that W acts by its first column."""

from __future__ import annotations

from .builders import Case, changed, data, exact_kkt, verdict

# Features (1, 0) and (-2, 1) with gaps 3 and 1: 3(1, 0) + (-2, 1) = (1, 1), along which the margins
# are 1 and -1. It selects (0, 1); w = (1, 0) has the margins 1 and 2 there.
CROSSED = data([[[1, 0], [0, 0]], [[-2, 1], [0, 0]]], [1, 1], [[1, 0], [1, 0]], [3, 7])
# Scores (1, 0) twice and features (1, ±1), then a flat sample of equal logits along (1, 0).
FORKED = data([[[1, 1], [0, 0]], [[1, -1], [0, 0]], [[0, 1], [0, 0]]], [1, 1, 1],
              [[1, 0], [1, 0], [1, 0]], [1, 0])
# Feature (1, 0), and a flat sample with the feature (1, 1): W^mm = (1, 0) has margin 1 on both.
LEANING = data([[[1, 0], [0, 0]], [[1, 1], [0, 0]]], [1, 1], [[1, 0], [1, 0]], [1, -1])
LEANING_KKT = exact_kkt([[0, 1, 1]], [[0, 1], [1, 1]], 1)


def column(a, b):
    return [[a, 0], [b, 0]]


def ray(direction, exclusion):
    return {"kind": "invariant_ray", "direction": direction, "exclusion": exclusion}


def shorter(W):
    return {"kind": "shorter_separator", "W": W}


def tied(sample, tokens):
    return {"kind": "tied_logits", "sample": sample, "tokens": tokens}


def _case(dataset, certificate, says, loss):
    return Case(dataset, verdict("invariant_ray", "holds", certificate, loss=loss), says)


RAY_CASES = {
    "ray_shorter": _case(CROSSED, ray(column(1, 1), shorter(column(1, 0))),
                         "D selects α = (0, 1) and is no multiple of W^mm_α", "correlation"),
    # The scores of both samples are (1, 0), and so are their margins along (1, 0).
    "ray_tied": _case(FORKED, ray(column("1/2", 0), tied(2, [0, 1])),
                      "D ties tokens 0 and 1 of sample 2", "logistic"),
    "ray_not_optimal": _case(LEANING, ray(column(3, 0), LEANING_KKT),
                             "D selects α = (0, 0), which is not locally optimal", "exponential"),
}

_C = ("verdicts", 0, "certificate")


def _file(name, path, new):
    return changed(RAY_CASES[name].document(), path, new)


# (code in lower case, slug): the file
RAY_INVALID = {
    ("ray_left", "backwards"): _file("ray_shorter", (*_C, "direction"), column(-1, -1)),
    ("ray_left", "other-loss"): _file("ray_shorter", ("verdicts", 0, "loss"), "logistic"),
    ("not_stray", "local-optimum"): _file(
        "ray_not_optimal", ("dataset", "X", 1), [[1, 0], [0, 0]]),
    ("not_stray", "not-shorter"): _file(
        "ray_shorter", (*_C, "exclusion", "W"), column(1, 1)),
}
