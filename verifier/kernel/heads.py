"""The form of the head of a run that is not linear; a run proves nothing, and so does its head."""

from __future__ import annotations

from .data import Dataset
from .reading import Node
from .refusals import Code

_FIELDS = {"quadratic": ("lambda",), "relu": ("V", "a"),
           "multiclass": ("class_heads", "class_labels"), "callable": ()}


def check_head(node: Node, data: Dataset) -> None:
    """A head as the specification spells it, of the sizes of the dataset. Raises `Refusal`."""
    name = node.field("name").choice(list(_FIELDS))
    fields = node.object("name", *_FIELDS[name])
    if name == "quadratic" and fields["lambda"].number() < 0:
        raise fields["lambda"].refuse(Code.OUT_OF_RANGE, "λ is not negative")
    if name == "relu":
        fields["a"].vector(_rows(fields["V"], data.d, 1))
    if name == "multiclass":
        classes = _rows(fields["class_heads"], data.d, 2)
        for label in fields["class_labels"].items(data.n):
            label.index(classes)


def _rows(node: Node, columns: int, least: int) -> int:
    """The number of rows of a matrix of at least *least*."""
    rows = node.items()
    if len(rows) < least:
        raise node.refuse(Code.EMPTY, f"at least {least} rows are needed")
    for row in rows:
        row.vector(columns)
    return len(rows)
