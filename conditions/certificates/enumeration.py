"""Certificates about all selections of a dataset at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from conditions.certificates.base import DECODERS, Certificate, Indices, Json, SparseVector
from conditions.certificates.separation import ExactKKT, Farkas, KKTEnclosure, PrimalDual

BRANCH = "+"
"""The entry of a vertex whose children follow."""
OPTIMAL = "="
"""The entry of opt in a tree that says nothing about opt."""


@dataclass(frozen=True)
class Obstruction(Json):
    """y > 0 such that V = Σ y φ has no positive product with any feature that can be kept.

    A part of `DirectionTree`; it proves no condition by itself.
    """

    multipliers: SparseVector

    def to_json(self) -> dict[str, Any]:
        """The JSON form; its tag tells it from the certificates beside it."""
        return {"kind": "obstruction", **self._fields()}


Node = str | Certificate | Obstruction


@dataclass(frozen=True)
class DirectionTree(Certificate):
    """The tree of selections in preorder, every leaf or pruned vertex with its proof.

    ``selections`` are the exceptional ones, in the order of the tree. An entry of ``nodes`` is
    `BRANCH`, `OPTIMAL`, a string of hexadecimal multipliers, an obstruction or a certificate.
    """

    kind = "direction_tree"
    evidence = "enclosed"
    selections: tuple[Indices, ...]
    nodes: tuple[Node, ...]


@dataclass(frozen=True)
class ExceptionalSelection(Certificate):
    """A selection that contradicts a statement about all selections, with the proof."""

    kind = "exceptional_selection"
    selection: Indices
    certificate: ExactKKT | KKTEnclosure | PrimalDual | Farkas


def _node(value: Any) -> Node:
    if isinstance(value, str):
        return value
    obstructs = value["kind"] == "obstruction"
    return Obstruction.from_json(value) if obstructs else Certificate.from_json(value)


DECODERS["tuple[Node, ...]"] = lambda value: tuple(map(_node, value))
DECODERS["ExactKKT | KKTEnclosure | PrimalDual | Farkas"] = Certificate.from_json
