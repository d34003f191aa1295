"""Certificates about all selections of a dataset at once."""

from __future__ import annotations

from dataclasses import dataclass

from conditions.certificates.base import DECODERS, Certificate, Indices, SparseVector
from conditions.certificates.separation import ExactKKT, Farkas, KKTEnclosure, PrimalDual

Node = str | Certificate

BRANCH = "+"
"""The entry of a vertex whose children follow."""
OPTIMAL = "="
"""The entry of opt in a tree that says nothing about opt."""


@dataclass(frozen=True)
class DirectionTree(Certificate):
    """The tree of selections in preorder, every leaf or pruned vertex with its proof.

    ``selections`` are the exceptional ones, in the order of the tree. An entry of ``nodes`` is
    `BRANCH`, `OPTIMAL`, a string of hexadecimal multipliers or a certificate.
    """

    kind = "direction_tree"
    evidence = "enclosed"
    selections: tuple[Indices, ...]
    nodes: tuple[Node, ...]


@dataclass(frozen=True)
class Obstruction(Certificate):
    """y > 0 such that V = Σ y φ has no positive product with any feature that can be kept.

    An entry of `DirectionTree`; it proves no condition by itself.
    """

    kind = "obstruction"
    multipliers: SparseVector


@dataclass(frozen=True)
class ExceptionalSelection(Certificate):
    """A selection that contradicts a statement about all selections, with the proof."""

    kind = "exceptional_selection"
    selection: Indices
    certificate: ExactKKT | KKTEnclosure | PrimalDual | Farkas


DECODERS["tuple[Node, ...]"] = lambda value: tuple(
    node if isinstance(node, str) else Certificate.from_json(node) for node in value)
DECODERS["ExactKKT | KKTEnclosure | PrimalDual | Farkas"] = Certificate.from_json
