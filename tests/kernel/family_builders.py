"""A family in one parameter, derived by hand.

Differences (1, 0) and (p, 1), p = θ² − 1, query (1, 0), score gaps 1 and p. The Gram matrix has the
determinant 1 and gives the multipliers p² + 1 − p = θ⁴ − 3θ² + 3 > 0 and 1 − p = 2 − θ², which is
positive up to √2; beyond, the margin of row 2 under the multiplier 1 of row 1 is p > 1. Locally
optimal where p > 0, that is θ > 1.
"""

from __future__ import annotations

import copy
import json

from .builders import changed

_BOTH = [[0, 1, [3, 0, -3, 0, 1]], [0, 2, [2, 0, -1]]]
_FIRST = [[0, 1, [1]]]
_ROWS = [[0, 1], [0, 2]]
ROOT = {"polynomial": [-2, 0, 1], "interval": [1, 2]}


def piece(multipliers, support, violating=None):
    # Pieces share nothing, so that one can be changed alone.
    return copy.deepcopy({"status": "feasible", "multipliers": multipliers, "scale": [1],
                          "support": support, "violating": violating})


FAMILY = {
    "format": "attsvm-family", "version": 1, "parameter": "theta",
    "family": {"X": {"denominator": [1], "vectors": [[[[], []], [[-1], []], [[1, 0, -1], [-1]]]]},
               "Y": [1], "z": {"denominator": [1], "vectors": [[[1], []]]},
               "v": {"denominator": [1], "vectors": [[[1], []]]}},
    "selection": [0], "points": [-1, 1, ROOT, 2],
    "pieces": [piece(_BOTH, _ROWS, [0, 2]), piece(_BOTH, _ROWS, [0, 2]),
               piece(_BOTH, _ROWS, [0, 2]), piece(_BOTH, _ROWS), piece(_FIRST, _ROWS),
               piece(_FIRST, [[0, 1]]), piece(_FIRST, [[0, 1]])]}

# 1/θ against 0: a pole at 0, where nothing is stated. And θ against 0: infeasible at 0.
_LINE = {"Y": [1], "z": {"denominator": [1], "vectors": [[[1]]]},
         "v": {"denominator": [1], "vectors": [[[1]]]}}
_NOTHING = {"multipliers": [], "scale": None, "support": None, "violating": None}
_LINE_PIECE = {"status": "feasible", "multipliers": [[0, 1, [1]]], "scale": [0, 0, 1],
               "support": [[0, 1]], "violating": [0, 1]}
_POSITIVE = {**_LINE_PIECE, "violating": None}
POLE = {**FAMILY, "points": [-1, 0, 1],
        "family": {**_LINE, "X": {"denominator": [0, 1], "vectors": [[[[1]], [[]]]]}},
        "pieces": [_LINE_PIECE, _LINE_PIECE, {"status": "undefined", **_NOTHING}, _POSITIVE,
                   _POSITIVE]}
VANISHING = {**POLE, "family": {**_LINE, "X": {"denominator": [1], "vectors": [[[[0, 1]], [[]]]]}},
             "pieces": [_LINE_PIECE, _LINE_PIECE,
                        {**_NOTHING, "status": "infeasible", "multipliers": [[0, 1, [1]]]},
                        _POSITIVE, _POSITIVE]}

FAMILIES = {"family": FAMILY, "family_pole": POLE, "family_vanishing": VANISHING}

FAMILY_INVALID = {
    ("not_a_point", "two-roots"): changed(FAMILY, ("points", 2, "interval"), [-2, 2]),
    ("not_a_point", "no-root"): changed(FAMILY, ("points", 2, "interval"), [2, 3]),
    ("sign_unproved", "scale"): changed(FAMILY, ("pieces", 3, "scale"), [-1]),
    ("sign_unproved", "root-inside"): changed(FAMILY, ("points", 2), "3/2"),
}


def text(document):
    return json.dumps(document)
