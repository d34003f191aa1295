"""Datasets whose entries are rational functions of one parameter θ, decided for all θ at once.

`partition` cuts an interval of θ into open cells and points, real algebraic numbers, such that
feasibility, the support set and local optimality are one each; docs/theory/family.md.
"""

from conditions.family.family import Family
from conditions.family.partition import Cell, Piece, Span, merged, partition
from conditions.family.roots import Point

__all__ = ["Cell", "Family", "Piece", "Point", "Span", "merged", "partition"]
