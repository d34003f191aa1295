"""Small certificate files, every certificate derived by hand.

`CASES` holds at least one valid verdict for every kind and every status that the kind can prove.
The datasets are written so that the features are multiples of unit matrices, mostly.
"""

from __future__ import annotations

import copy
import json
from dataclasses import dataclass
from fractions import Fraction

DELETE = object()


def data(X, Y, z, v):
    return {"X": X, "Y": Y, "z": z, "v": v}


# Scores (1, 0, -1) and (2, 1). With α = (0, 0) the features are E11, 2 E11 and E22.
DIAGONAL = data([[[1, 0], [0, 0], [-1, 0]], [[0, 2], [0, 1]]], [1, -1], [[1, 0], [0, 1]], [1, -1])
# The same and a third sample whose feature is E11 again, spelled (2, 0)(1/2, 0)ᵀ.
REPEATED = data([*DIAGONAL["X"], [[2, 1], [0, 1]]], [1, -1, 1], [[1, 0], [0, 1], ["1/2", 0]],
                [1, -1])
# Features E11 and E22, scores (1, 0) twice, every row a support index.
UNITS = data([[[1, 0], [0, 0]], [[0, 1], [0, 0]]], [1, 1], [[1, 0], [0, 1]], [1, 1])
# Features (1, 1)(1, 0)ᵀ and (4, -1)(1, 0)ᵀ: w = (1/2, 1/2) has margins 1 and 3/2.
# Scores (0, -1, 1): the second row outscores the selected token.
OUTSCORED = data([[[1, 0], [0, -1], [-3, 1]]], [1], [[1, 0]], [0, 1])
# The features of OUTSCORED with scores (1, 1, -4): the support index (0, 1) ties.
EQUAL = {**OUTSCORED, "v": [1, -1]}
# Features (1, 1)(1, 0)ᵀ and (3, -1)(1, 0)ᵀ: w = (1/2, 1/2) has margin 1 on both, λ = (1/2, 0).
TIED = data([[[1, 0], [0, -1], [-2, 1]]], [1], [[1, 0]], [0, 1])
# Features E11 and 2 E21: W has the one column (1, 1/2), λ = (1, 1/4).
PARALLEL = data([[[1, 0], [0, 0]], [[0, 1], [0, 0]]], [1, 1], [[1, 0], [2, 0]], [1, 1])
# Features E11, E21, E32 and E33: three differences and three queries of rank 3, W of rank 2.
DIVIDED = data([[[1, 1, 0], [0, 1, 0], [1, 0, 0]], [[0, 0, 1], [0, 0, 0]], [[0, 0, 1], [0, 0, 0]]],
               [1, 1, 1], [[1, 0, 0], [0, 1, 0], [0, 0, 1]], [1, 1, 1])
# Orthonormal tokens a, b, c; samples abc and bc share a query, ca has another.
ORDERED = data([[[1, 0, 0], [0, 1, 0], [0, 0, 1]], [[0, 1, 0], [0, 0, 1]],
                [[0, 0, 1], [1, 0, 0]]], [1, 1, 1], [[1, 0, 0], [1, 0, 0], [0, 1, 0]], [3, 2, 1])
# α = (0, 1) leads a → b in sample 0 and b → a in sample 1, whose query is twice the first.
CYCLIC = data([[[1, 0], [0, 1]], [[1, 0], [0, 1]]], [1, 1], [[1, 0], [2, 0]], [2, 1])
# Scores (1, 0) and (0, -3); the samples pull W in opposite directions, the second more.
OPPOSED = data([[[1], [0]], [[3], [0]]], [1, -1], [[1], [1]], [1])
# Scores (1, 0) twice, mean 1/2 twice, and opposite pulls of equal size: ∇L(0) = 0 for every loss.
BALANCED = data([[[1], [0]], [[-1], [0]]], [1, -1], [[1], [1]], [1])
# Mean scores 1, -1, 0 and pulls 1, 1, -2: 1/(1+e) + 1/(1+1/e) - 2/2 = 0, for logistic alone.
LOGISTIC = data([[[2], [0]], [[0], [-2]], [[1], [-1]]], [1, 1, 1], [[1], [1], [-2]], [1])
# One flat sample.
FLAT = data([[[0, 1], [0, 2]]], [1], [[1, 1]], [1, 0])
# Sample 0 is flat, sample 1 is not.
HALF_FLAT = data([[[0, 1], [0, 2]], [[1, 0], [0, 0]]], [1, 1], [[1, 1], [1, 0]], [1, 0])
# The features 2·(1, 1) and 3·(1, 1) of d = 1, n = 2 are dependent; queries 1/2 and 1.
NARROW = data([[["0x1.8p+1"], [1]], [[3], [0]]], [1, 1], [["1/2"], [1]], [1])

RUN = {"parameterization": "W", "rule": "normalized", "step": "1/10", "penalty": 0,
       "loss": "logistic", "iterations": 20, "selected": [0, 0], "outcome": "completed",
       "start": [[0, 0], [0, 0]], "final": [["0x1.8p+0", 0], [0, 2]]}

IDENTITY = [[1, 0], [0, 1]]


def verdict(condition, status, certificate=None, *, evidence="exact", selection=None, loss=None):
    return {"condition": condition, "selection": selection, "loss": loss, "status": status,
            "evidence": evidence, "certificate": certificate, "reason": "by hand"}


def document(dataset, *verdicts, run=None):
    return copy.deepcopy({"format": "attsvm-certificate", "version": 1, "dataset": dataset,
                          "run": run, "verdicts": list(verdicts)})


def changed(value, path, new):
    """A deep copy of *value* with the entry at *path* replaced, added, or deleted."""
    result = copy.deepcopy(value)
    at = result
    for step in path[:-1]:
        at = at[step]
    if new is DELETE:
        del at[path[-1]]
    elif isinstance(at, list) and path[-1] == len(at):
        at.append(copy.deepcopy(new))
    else:
        at[path[-1]] = copy.deepcopy(new)
    return result


# λ is 2^-30 short of 1 and R is 2^-10 short of the inverse of K = 1, so β = 2^-10, R ρ =
# (1 - 2^-10) 2^-30 and ε = 2^-30 exactly.
SHORT = str(1 - Fraction(1, 2**30))
EPSILON = Fraction(1, 2**30)


def enclosure(support, size=2):
    """The `kkt_enclosure` of DIAGONAL and REPEATED, α = 0: K = I on the rows (0, 1), (1, 1)."""
    total = size * (1 - EPSILON)
    return {"kind": "kkt_enclosure", "rows": [[0, 1], [1, 1]], "multipliers": [SHORT, SHORT],
            "inverse": {"exponent": -10, "entries": [[1023, 0], [0, 1023]]}, "support": support,
            "norm_squared": [str(total - size * EPSILON), str(total + size * EPSILON)]}


def exact_kkt(multipliers, support, norm):
    return {"kind": "exact_kkt", "multipliers": multipliers, "support": support,
            "norm_squared": norm}


# The rows are (1, 1)(1, 0)ᵀ alone, K = 2, λ = 1/2, R = 1/2.
OUTSCORED_ENCLOSURE = {
    "kind": "kkt_enclosure", "rows": [[0, 1]], "multipliers": ["0x1p-1"],
    "inverse": {"exponent": -1, "entries": [[1]]}, "support": [[0, 1]],
    "norm_squared": ["1/2", "1/2"]}
UNITS_ENCLOSURE = {
    "kind": "kkt_enclosure", "rows": [[0, 1], [1, 1]], "multipliers": [1, 1],
    "inverse": {"exponent": 0, "entries": IDENTITY}, "support": [[0, 1], [1, 1]],
    "norm_squared": [2, 2]}
PARALLEL_ENCLOSURE = {
    "kind": "kkt_enclosure", "rows": [[0, 1], [1, 1]], "multipliers": [1, "1/4"],
    "inverse": {"exponent": -2, "entries": [[4, 0], [0, 1]]}, "support": [[0, 1], [1, 1]],
    "norm_squared": ["5/4", "5/4"]}
DIVIDED_ENCLOSURE = {
    "kind": "kkt_enclosure", "rows": [[0, 1], [0, 2], [1, 1], [2, 1]], "multipliers": [1, 1, 1, 1],
    "inverse": {"exponent": 0, "entries": [[int(a == b) for b in range(4)] for a in range(4)]},
    "support": [[0, 1], [0, 2], [1, 1], [2, 1]], "norm_squared": [4, 4]}
DIAGONAL_KKT = exact_kkt([[0, 1, 1], [1, 1, 1]], [[0, 1], [1, 1]], 2)
REVERSED_KKT = exact_kkt([[0, 1, 1], [1, 1, 1]], [[0, 1], [1, 1]], 2)
UNITS_KKT = exact_kkt([[0, 1, 1], [1, 1, 1]], [[0, 1], [1, 1]], 2)
TIED_KKT = exact_kkt([[0, 1, "1/2"]], [[0, 1], [0, 2]], "0x1p-1")
# With α = (1, 0) sample 0 asks for both signs of W_11.
DIAGONAL_FARKAS = {"kind": "farkas", "multipliers": [[0, 0, 1], [0, 2, 1]]}
# ‖W‖² = 2·0.505², 2Σλ = 1, ‖Σλφ‖² = 1/2: gap 0.01005; row (0, 2): 0.515² > 17·0.01005.
PRIMAL_DUAL = {"kind": "primal_dual", "W": [["101/200", 0], ["101/200", 0]],
               "multipliers": [[0, 1, "1/2"]], "excluded": [[0, 2]]}
ORDER = {"kind": "topological_order", "modulus": 3, "classes": [
    {"samples": [0, 1], "order": [[0, 0], [1, 0], [0, 2]]},
    {"samples": [2], "order": [[2, 0], [2, 1]]}]}


@dataclass(frozen=True)
class Case:
    """A valid verdict about a dataset, and a part of the statement that it proves."""

    dataset: dict
    verdict: dict
    says: str

    def document(self):
        return document(self.dataset, self.verdict)

    @property
    def kind(self):
        return self.verdict["certificate"]["kind"]


def _case(dataset, condition, status, certificate, says, **marks):
    return Case(dataset, verdict(condition, status, certificate, **marks), says)


def _first_step(dataset, status, certificate, says, loss, evidence):
    return _case(dataset, "first_step_separates", status, certificate, says, loss=loss,
                 evidence=evidence)


def _violation(row, sign):
    return {"kind": "first_step_violation", "row": row, "sign": sign, "precision": 32}


def _stationary(dataset, status, certificate, says, loss="logistic"):
    return _case(dataset, "no_stationary_point", status, certificate, says, loss=loss)


ENCLOSED = {"evidence": "enclosed"}
A00, A000 = {"selection": [0, 0]}, {"selection": [0, 0, 0]}

CASES = {
    "unique_optimum": _case(
        DIAGONAL, "unique_optimum", "holds", {"kind": "optimal_tokens", "tokens": [0, 0]},
        "one token has the strictly largest score; optimal tokens (0, 0)"),
    "optimum_tie": _case(
        FLAT, "unique_optimum", "fails", {"kind": "optimum_tie", "sample": 0, "tokens": [0, 1]},
        "tokens 0 and 1 of sample 0 share its largest score"),
    "equal_scores": _case(
        HALF_FLAT, "equal_scores", "holds",
        {"kind": "score_levels", "levels": [[0, None], [1, "0/1"]]}, "share one score"),
    "unequal_scores": _case(
        DIAGONAL, "equal_scores", "fails",
        {"kind": "unequal_scores", "sample": 0, "tokens": [1, 2]}, "tokens 1 and 2 of sample 0"),
    "no_flat_sample": _case(
        DIAGONAL, "no_flat_sample", "holds", {"kind": "score_gaps", "pairs": [[0, 2], [0, 1]]},
        "in every sample two tokens differ"),
    "flat_samples": _case(
        HALF_FLAT, "no_flat_sample", "fails", {"kind": "flat_samples", "samples": [0]},
        "flat samples: 0"),
    "separator": _case(
        DIAGONAL, "feasibility", "holds", {"kind": "separator", "W": IDENTITY},
        "for α = (0, 0) holds (exact, separator): some W has all margins ≥ 1", **A00),
    "topological_order": _case(
        ORDERED, "feasibility", "holds", ORDER, "for α = (0, 0, 0) holds", **A000),
    "farkas": _case(
        DIAGONAL, "feasibility", "fails", DIAGONAL_FARKAS, "no W has all margins ≥ 1",
        selection=[1, 0]),
    "query_cycle": _case(
        CYCLIC, "feasibility", "fails", {"kind": "query_cycle", "edges": [[0, 1], [1, 0]]},
        "no W has all margins ≥ 1; the features of a cycle of 2 edges", selection=[0, 1]),
    "support_exact": _case(
        DIAGONAL, "support_indices", "holds", DIAGONAL_KKT,
        "support indices (0, 1), (1, 1); ‖W^mm‖² = 2", **A00),
    "support_tied": _case(
        TIED, "support_indices", "holds", TIED_KKT, "‖W^mm‖² = 1/2", selection=[0]),
    "support_enclosed": _case(
        REPEATED, "support_indices", "holds", enclosure([[0, 1], [1, 1], [2, 1]]),
        "support indices (0, 1), (1, 1), (2, 1); ‖W^mm‖² in [", **A000, **ENCLOSED),
    "support_farkas": _case(
        DIAGONAL, "support_indices", "fails", DIAGONAL_FARKAS, "W^mm_α does not exist",
        selection=[1, 0]),
    "all_support_exact": _case(
        UNITS, "all_support", "holds", UNITS_KKT, "every row is a support index", **A00),
    "all_support_enclosed": _case(
        UNITS, "all_support", "holds", UNITS_ENCLOSURE, "every row is a support index", **A00,
        **ENCLOSED),
    "not_all_support_exact": _case(
        DIAGONAL, "all_support", "fails", DIAGONAL_KKT, "some row is no support index", **A00),
    "not_all_support_enclosed": _case(
        DIAGONAL, "all_support", "fails", enclosure([[0, 1], [1, 1]]),
        "some row is no support index", **A00, **ENCLOSED),
    "not_all_support_primal_dual": _case(
        OUTSCORED, "all_support", "fails", PRIMAL_DUAL, "no support indices: (0, 2)",
        selection=[0], **ENCLOSED),
    "not_all_support_farkas": _case(
        DIAGONAL, "all_support", "fails", DIAGONAL_FARKAS, "is infeasible", selection=[1, 0]),
    "local_exact": _case(
        DIAGONAL, "local_optimality", "holds", DIAGONAL_KKT, "scores below", **A00),
    "local_enclosed": _case(
        OUTSCORED, "local_optimality", "holds", OUTSCORED_ENCLOSURE, "scores below",
        selection=[0], **ENCLOSED),
    "local_primal_dual": _case(
        OUTSCORED, "local_optimality", "holds", PRIMAL_DUAL, "scores below", selection=[0],
        **ENCLOSED),
    # W = diag(-1, 1), margins 2, 1 and 1; the support index (0, 1) scores 0 > -1.
    "not_local_exact": _case(
        DIAGONAL, "local_optimality", "fails", REVERSED_KKT, "scores no less", selection=[2, 0]),
    "not_local_enclosed": _case(
        DIAGONAL, "local_optimality", "fails", enclosure([[0, 1], [1, 1]]), "scores no less",
        selection=[2, 0], **ENCLOSED),
    "not_local_tied": _case(
        EQUAL, "local_optimality", "fails", exact_kkt([[0, 1, "1/2"]], [[0, 1]], "1/2"),
        "scores no less", selection=[0]),
    "not_local_farkas": _case(
        DIAGONAL, "local_optimality", "fails", DIAGONAL_FARKAS, "is infeasible",
        selection=[1, 0]),
    "full_rank_rows": _case(
        UNITS, "full_rank", "holds", {"kind": "independent_rows", "modulus": 3},
        "linearly independent"),
    "full_rank_square": _case(
        data([[[1], [0]]], [1], [[1]], [1]), "full_rank", "holds",
        {"kind": "independent_rows", "modulus": 2}, "linearly independent"),
    "full_rank_factors": _case(
        UNITS, "full_rank", "holds", {"kind": "independent_factors", "modulus": 6},
        "linearly independent"),
    "row_dependency": _case(
        DIAGONAL, "full_rank", "fails",
        {"kind": "row_dependency", "coefficients": [[0, 1, 2], [0, 2, -1]]},
        "linearly dependent"),
    "row_dependency_narrow": _case(
        NARROW, "full_rank", "fails",
        {"kind": "row_dependency", "coefficients": [[0, 1, 3], [1, 1, -1]]},
        "linearly dependent"),
    "too_many_rows": _case(
        NARROW, "full_rank", "fails", {"kind": "too_many_rows"}, "2 features in a space of 1"),
    "exact_rank": _case(
        DIAGONAL, "rank_bound", "holds",
        {"kind": "exact_rank", "multipliers": [[0, 1, 1], [1, 1, 1]], "rank": 2},
        "rank W^mm = 2", **A00),
    "modular_rank": _case(
        REPEATED, "rank_bound", "holds",
        {"kind": "modular_rank", "enclosure": enclosure([[0, 1], [1, 1], [2, 1]]),
         "modulus": 101, "differences": [], "rank": 2}, "rank W^mm = 2", **A000, **ENCLOSED),
    "modular_rank_one": _case(
        OUTSCORED, "rank_bound", "holds",
        {"kind": "modular_rank", "enclosure": OUTSCORED_ENCLOSURE, "modulus": 2**61 - 1,
         "differences": [], "rank": 1}, "rank W^mm = 1", selection=[0], **ENCLOSED),
    "modular_rank_parallel": _case(
        PARALLEL, "rank_bound", "holds",
        {"kind": "modular_rank", "enclosure": PARALLEL_ENCLOSURE, "modulus": 3, "differences": [],
         "rank": 1}, "rank W^mm = 1", **A00, **ENCLOSED),
    "modular_rank_divided": _case(
        DIVIDED, "rank_bound", "holds",
        {"kind": "modular_rank", "enclosure": DIVIDED_ENCLOSURE, "modulus": 7,
         "differences": [[1, 1], [2, 1]], "rank": 2}, "rank W^mm = 2", selection=[0, 0, 0],
        **ENCLOSED),
    "rank_farkas": _case(
        DIAGONAL, "rank_bound", "fails", DIAGONAL_FARKAS, "W^mm_α does not exist",
        selection=[1, 0]),
    **{f"first_step_{loss}": _first_step(
        DIAGONAL, "holds", {"kind": "first_step_margins", "precision": 16},
        f"with {loss} loss holds", loss, evidence)
       for loss, evidence in (("logistic", "enclosed"), ("exponential", "enclosed"),
                              ("correlation", "exact"))},
    **{f"first_step_negative_{loss}": _first_step(
        OPPOSED, "fails", _violation([0, 1], -1), "row (0, 1) is negative", loss, evidence)
       for loss, evidence in (("logistic", "enclosed"), ("exponential", "enclosed"),
                              ("correlation", "exact"))},
    **{f"first_step_zero_{loss}": _first_step(
        BALANCED, "fails", _violation([1, 1], 0), "row (1, 1) is zero", loss, "exact")
       for loss in ("logistic", "exponential", "correlation")},
    "first_step_zero_reflected": _first_step(
        LOGISTIC, "fails", _violation([2, 1], 0), "row (2, 1) is zero", "logistic", "exact"),
    "first_step_tie": _first_step(
        FLAT, "fails", {"kind": "optimum_tie", "sample": 0, "tokens": [0, 1]},
        "an optimal token is not unique", "exponential", "exact"),
    "injective_rows": _stationary(
        UNITS, "holds", {"kind": "injective_features", "sample": 1,
                         "rank": {"kind": "independent_rows", "modulus": 5}}, "∇L(W) ≠ 0"),
    "injective_factors": _stationary(
        UNITS, "holds", {"kind": "injective_features", "sample": 0,
                         "rank": {"kind": "independent_factors", "modulus": 5}}, "∇L(W) ≠ 0",
        "correlation"),
    "monotone_direction": _stationary(
        DIAGONAL, "holds", {"kind": "monotone_direction", "D": IDENTITY, "witness": [0, 0, 2]},
        "for every W"),
    "separable_queries": _stationary(
        DIAGONAL, "holds", {"kind": "separable_queries", "u": [1, "-1/2"]}, "for every W",
        "exponential"),
    "separable_boundary": _stationary(
        DIAGONAL, "holds", {"kind": "separable_queries", "u": [1, 0]}, "for every W",
        "correlation"),
    "separable_flat": _stationary(
        HALF_FLAT, "holds", {"kind": "separable_queries", "u": [1, -7]}, "for every W"),
    "all_flat": _stationary(FLAT, "fails", {"kind": "all_flat"}, "∇L(W) = 0 for some W"),
    **{f"stationary_{loss}": _stationary(
        BALANCED, "fails", {"kind": "stationary_at_zero"}, "∇L(0) = 0", loss)
       for loss in ("logistic", "exponential", "correlation")},
    "stationary_reflected": _stationary(
        LOGISTIC, "fails", {"kind": "stationary_at_zero"}, "∇L(0) = 0"),
}


def mixed_document():
    """Proved, observed and undecided verdicts about DIAGONAL, with a run."""
    proved = [case.verdict for name, case in CASES.items()
              if case.dataset is DIAGONAL and name not in (
                  "not_all_support_enclosed", "separable_queries", "not_local_enclosed",
                  "separable_boundary")]
    return document(
        DIAGONAL, *proved,
        verdict("predicted_direction", "undecided", evidence="observed", loss="logistic", **A00),
        verdict("feasibility", "undecided", evidence=None, selection=[0, 1]),
        verdict("predicted_direction", "undecided", evidence=None, loss="correlation", **A00),
        run=RUN)


def text(value):
    return json.dumps(value)
