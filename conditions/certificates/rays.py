"""Certificates of rays that descent never leaves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from conditions.certificates.base import DECODERS, Certificate, Indices, Json, Matrix
from conditions.certificates.separation import ExactKKT


@dataclass(frozen=True)
class TiedLogits(Json):
    """Two tokens of a sample that share its largest logit: no selection has positive margins.

    A part of `InvariantRay`; it proves no condition by itself.
    """

    sample: int
    tokens: Indices

    def to_json(self) -> dict[str, Any]:
        """The JSON form; its tag tells it from the other exclusions."""
        return {"kind": "tied_logits", **self._fields()}


@dataclass(frozen=True)
class ShorterSeparator(Json):
    """A separator of the tokens that a direction selects, shorter than any multiple of that.

    A part of `InvariantRay`; it proves no condition by itself.
    """

    W: Matrix

    def to_json(self) -> dict[str, Any]:
        """The JSON form; its tag tells it from the other exclusions."""
        return {"kind": "shorter_separator", **self._fields()}


Exclusion = TiedLogits | ShorterSeparator | ExactKKT


@dataclass(frozen=True)
class InvariantRay(Certificate):
    """−∇L is a positive multiple of ``direction`` on its whole line.

    ``exclusion`` shows that it is the direction of W^mm_α for no locally optimal α.
    """

    kind = "invariant_ray"
    direction: Matrix
    exclusion: Exclusion


def _exclusion(value: dict[str, Any]) -> Exclusion:
    if value["kind"] == "exact_kkt":
        solution = Certificate.from_json(value)
        assert isinstance(solution, ExactKKT)
        return solution
    part: Exclusion = (TiedLogits if value["kind"] == "tied_logits"
                       else ShorterSeparator).from_json(value)
    return part


DECODERS["Exclusion"] = _exclusion
