"""Certificates about the nuclear norm and about factors of few columns, all derived by hand."""

from __future__ import annotations

from fractions import Fraction

from .builders import (
    CYCLIC,
    DIAGONAL,
    DIAGONAL_FARKAS,
    ENCLOSED,
    IDENTITY,
    OUTSCORED,
    UNITS,
    Case,
    data,
    verdict,
)

A00 = {"selection": [0, 0]}

# Features (3, 4)(5, 0)ᵀ of norm 25, (6, 9)(5, 0)ᵀ, and the first again, spelled (15, 20)(1, 0)ᵀ.
# The optimum (3/5, 4/5)(1, 0)ᵀ/25 has margins 1, 54/25 and 1; M = (3/5, 4/5)(1, 0)ᵀ.
PYTHAGOREAN = data([[[3, 4], [0, 0], [-3, -5]], [[15, 20], [0, 0]]], [1, 1], [[5, 0], [1, 0]],
                   [1, 0])
# Differences e1, e2 and e1, -e2, queries e1 and e2: feasible, and not by any k qᵀ.
TWISTED = data([[[0, 0], [-1, 0], [0, -1]], [[0, 0], [-1, 0], [0, 1]]], [1, 1], [[1, 0], [0, 1]],
               [1, 1])
# Differences 1, queries 1 and -1.
REFLECTED = data([[[1], [0]], [[1], [0]]], [1, 1], [[1], [-1]], [1])

INTERVAL = {"kind": "nuclear_interval", "K": IDENTITY, "Q": IDENTITY,
            "multipliers": [[0, 1, 1], [1, 1, 1]], "lower": 2, "upper": 2, "rank": 2}
# The same value by the matrix of ones.
THIN_INTERVAL = {**INTERVAL, "K": [[1], [1]], "Q": [[1], [1]], "rank": 1}
# W = (1/2, 1/2)(1, 0)ᵀ, M = 7/10 (1, 1)(1, 0)ᵀ; the optimum is √2/2.
WIDE_INTERVAL = {"kind": "nuclear_interval", "K": [["1/2"], ["1/2"]], "Q": [[1], [0]],
                 "multipliers": [[0, 1, "7/10"]], "lower": "7/10", "upper": "3/4", "rank": 1}
OPTIMA = {"kind": "nuclear_optima", "multipliers": [[0, 1, 1], [1, 1, 1]], "first": IDENTITY,
          "second": [[1, 1], [1, 1]]}
# Gap 0. AᵀA = 50, I - MᵀM + QQᵀ = diag(1/25, 1), QᵀQ = 1/25, B = 1.
UNIQUE = {"kind": "nuclear_uniqueness", "K": [["3/25"], ["4/25"]], "Q": [["1/5"], [0]],
          "multipliers": [[0, 1, "1/25"]], "near": [[0, 1]],
          "least_values": [7, "1/26", "1/6", "1/2"], "rank": 1}


def enlarged(excess):
    """UNIQUE with both factors larger by 1 + excess: a gap of about 2/25·excess."""
    def column(factor):
        return [[str(Fraction(x) * (1 + excess)) for x in row] for row in factor]

    return {**UNIQUE, "K": column(UNIQUE["K"]), "Q": column(UNIQUE["Q"])}


CYCLE = {"kind": "query_cycle", "edges": [[0, 1], [1, 0]]}
# s = (+, +) would need e2 and -e2 on the same side, s = (+, -) e1 and -e1.
SIGNS = {"kind": "rank_one_infeasible", "nodes": [
    0, 1, {"rows": [[0, 2, 1], [1, 2, 1]]}, {"rows": [[0, 1, 1], [1, 1, 1]]}]}
REFLECTED_SIGNS = {"kind": "rank_one_infeasible", "nodes": [
    0, 1, {"queries": [[0, 1], [1, 1]]}, {"rows": [[0, 1, 1], [1, 1, 1]]}]}


def _case(dataset, condition, status, certificate, says, **marks):
    return Case(dataset, verdict(condition, status, certificate, **marks), says)


def _infeasible(condition):
    return {
        f"{condition}_farkas": _case(DIAGONAL, condition, "fails", DIAGONAL_FARKAS, "no ",
                                     selection=[1, 0]),
        f"{condition}_cycle": _case(CYCLIC, condition, "fails", CYCLE, "no ", selection=[0, 1])}


NUCLEAR_CASES = {
    "nuclear_interval": _case(
        DIAGONAL, "nuclear_margin", "holds", INTERVAL,
        "min ‖W‖_* is in [2, 2], a W of rank ≤ 2 is as small", **A00, **ENCLOSED),
    "nuclear_interval_thin": _case(
        DIAGONAL, "nuclear_margin", "holds", THIN_INTERVAL, "a W of rank ≤ 1", **A00, **ENCLOSED),
    "nuclear_interval_wide": _case(
        OUTSCORED, "nuclear_margin", "holds", WIDE_INTERVAL, "[7/10, 3/4]", selection=[0],
        **ENCLOSED),
    **_infeasible("nuclear_margin"),
    "nuclear_unique": _case(
        PYTHAGOREAN, "unique_nuclear_optimum", "holds", UNIQUE, "has rank 1", **A00, **ENCLOSED),
    "nuclear_unique_gap": _case(
        PYTHAGOREAN, "unique_nuclear_optimum", "holds", enlarged(Fraction(1, 2**24)),
        "has rank 1", **A00, **ENCLOSED),
    "nuclear_optima": _case(
        UNITS, "unique_nuclear_optimum", "fails", OPTIMA, "attain min ‖W‖_* = 2", **A00),
    **_infeasible("unique_nuclear_optimum"),
    "low_rank_pair": _case(
        DIAGONAL, "low_rank_feasibility", "holds",
        {"kind": "low_rank_pair", "K": [[1], [1]], "Q": [[1], [1]]}, "m = 1", **A00),
    "rank_one_infeasible": _case(
        TWISTED, "low_rank_feasibility", "fails", SIGNS, "all signs excluded in 2 cases", **A00),
    "rank_one_reflected": _case(
        REFLECTED, "low_rank_feasibility", "fails", REFLECTED_SIGNS, "m = 1", **A00),
    **_infeasible("low_rank_feasibility"),
}
