"""What a certificate is asked to prove, and what checking it gives back."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from functools import cached_property

from .data import Dataset, Features, Index, Vector
from .reading import Node
from .refusals import Code

EXACT, ENCLOSED = "exact", "enclosed"
_SHOWN_ROWS = 40


@dataclass(frozen=True)
class Run:
    """The matrices of a recorded run that a statement may name."""

    start: tuple[Vector, ...]
    final: tuple[Vector, ...]


@dataclass(frozen=True)
class Claim:
    """A condition with its status, for this dataset, selection (if any) and loss (if any)."""

    dataset: Dataset
    condition: str
    status: str
    selection: tuple[int, ...] | None
    loss: str | None
    run: Run | None = None

    @cached_property
    def features(self) -> Features:
        """The features of the selection; of base token 0 for conditions without one."""
        return Features(self.dataset, self.selection or (0,) * self.dataset.n)

    def demand(self, follows: bool, node: Node) -> None:
        """Refuse unless the condition *follows* just when the claim says that it holds."""
        if follows != (self.status == "holds"):
            says = "holds" if follows else "fails"
            raise node.refuse(Code.STATUS_UNPROVED,
                              f"this proves that {self.condition} {says}, not {self.status}")

    def conclude(self, support: Collection[Index], node: Node) -> None:
        """Demand the status that the support indices give to the condition."""
        features = self.features
        if self.condition == "all_support":
            self.demand(len(support) == len(features.rows), node)
        elif self.condition in ("local_optimality", "robust_local_optimality"):
            self.demand(not any(map(features.outscores, support)), node)


@dataclass(frozen=True)
class Proved:
    """What a check has shown: a detail for the reader, and the evidence of the verdict."""

    detail: str = ""
    evidence: str = EXACT


def rows_text(rows: Collection[Index]) -> str:
    """Rows for a statement, the first few if they are many."""
    text = ", ".join(f"({i}, {t})" for i, t in list(rows)[:_SHOWN_ROWS])
    return text if len(rows) <= _SHOWN_ROWS else f"{text}, … ({len(rows)} in all)"


def number_text(x: Fraction, bits: int = 64) -> str:
    """A rational for a statement: exact up to *bits* bits, else rounded to 12 digits and marked."""
    if x.numerator.bit_length() + x.denominator.bit_length() <= bits:
        return str(x)
    context = Context(prec=12, Emin=-10**9, Emax=10**9)
    return f"{context.divide(Decimal(x.numerator), Decimal(x.denominator))} (rounded)"
