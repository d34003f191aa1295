"""What the abbreviations in the figures of a report mean."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from conditions.verdict import Verdict


class _Term(NamedTuple):
    """An abbreviation, and the pattern of its figures for these conditions; () is for all."""

    name: str
    figure: str
    conditions: tuple[str, ...]
    meaning: str


_STATIONARY = ("no_stationary_point",)
_TERMS = (
    _Term("opt", "^opt = ", (), "the token of the largest score in each sample"),
    _Term("k of N", r"^\d+ of \d+$", ("support_indices", "all_support", "multi_token_support"),
          "support indices (margin exactly 1 under W^mm) among the rejected tokens"),
    _Term("k of N rivals", "rivals$", (), "support indices among the rejected tokens that score no "
          "less than the selected one"),
    _Term("c", "^c = ", ("assumption_e",), "the constant of Assumption E, the largest possible"),
    _Term("S1", "^S1$", _STATIONARY, "the features are linearly independent"),
    _Term("S2", "^S2$", _STATIONARY, "along one direction every logit rises with its score"),
    _Term("S2a", "^S2a$", _STATIONARY, "a half-space holds every query times its label"),
    _Term("S3", "^S3$", _STATIONARY, "a direction of descent in each cell of score levels"),
    _Term("S4", "^S4", _STATIONARY, "a box that holds a stationary point, proved"),
    _Term("S5", "^S5$", _STATIONARY, "a direction of descent in each cell of a cover of all W"),
    _Term("Farkas", "^Farkas", (), "a positive combination of features that is 0, so that no W has "
          "all margins ≥ 1"),
    _Term("cycle", "^cycle", (), "selected and rejected tokens of one query that follow each other "
          "in a circle, so that no W has all margins ≥ 1"),
    _Term("Motzkin", "^Motzkin", (), "a combination of features that is 0, so that no W separates "
          "the sets"),
    _Term("corr", " corr ", ("predicted_direction",), "⟨W, W^mm⟩/(‖W‖ ‖W^mm‖) at the last iterate"),
    _Term("x < y", " [<≥=] ", ("low_norm_limit", "selection_trap", "large_first_step"),
          "x = n(L − L_*), L_* the loss of the optimal tokens; the proof needs x < y"),
    _Term("ε", "^ε ", (), "how far every entry of the data may move"),
)


def glossary(verdicts: Iterable[Verdict]) -> list[tuple[str, str]]:
    """The abbreviations in the figures of *verdicts* with their meanings, each once."""
    given = list(verdicts)
    return [(term.name, term.meaning) for term in _TERMS
            if any(re.search(term.figure, verdict.number) for verdict in given
                   if not term.conditions or verdict.condition in term.conditions)]
