"""Certificates that enclose the solution of Gen-SVM by an approximate inverse.

Let S be rejected rows and E tied ones, K the Gram matrix of both. As in `enclosure`, K is shown to
be nonsingular, and the solution of K (λ, μ) = (1, 0) enclosed: W = Σ λ φ + Σ μ φ has margin 1 on S
and 0 on E exactly. If λ > 0, all other tied rows have margin 0 and all other rejected ones a margin
≥ 1, then W is W^mm by KKT. Those margins follow in two ways. Let o be a row whose query is
proportional to those of rows k, and φ_o = Σ c_k φ_k with Σ c_k m_k(W) = m: then m_o(W) = m.
Whatever is not shown so must be a rejected row whose margin is > 1 for all multipliers near (λ, μ).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from ..claim import ENCLOSED, Claim, Proved, number_text, rows_text
from ..data import Features, Index, read_rows
from ..linear import rank
from ..reading import Node
from ..refusals import Code
from .enclosure import least_margins, read_norm, solve
from .general import Sets


def gen_enclosure(claim: Claim, node: Node) -> Proved:
    """W^mm of Gen-SVM exists: its support indices, and its squared norm to 2^-20."""
    fields = node.object("kind", "sets", "rows", "ties", "multipliers", "inverse", "support",
                         "norm_squared")
    sets = Sets.read(claim, fields["sets"])
    features = sets.features
    rows, ties = (_side(sets, fields[name], inside=name == "ties") for name in ("rows", "ties"))
    if not rows:
        raise fields["rows"].refuse(Code.EMPTY, "without rows W would be 0")
    found = solve(features, rows + ties, len(rows), fields)
    known = Known(features, {**dict.fromkeys(rows, 1), **dict.fromkeys(ties, 0)})
    left = set(features.rows) - set(found.rows)
    tied = sorted(filter(sets.holds, left))
    if (row := known.first_free(tied, 0)) is not None:
        raise fields["ties"].refuse(Code.UNEQUAL_LOGITS, f"token {row[1]} of sample {row[0]} is "
                                    "not shown to have the logit of the others of its set")
    near = [row for row, margin in least_margins(features, found, sorted(left - set(tied)))
            if margin <= 1]
    if (row := known.first_free(near, 1)) is not None:
        raise fields["rows"].refuse(Code.MARGIN_TOO_SMALL,
                                    f"row {row} is not shown to have a margin of 1 or more")
    support = sorted(rows + near)
    stated = _side(sets, fields["support"], inside=False)
    if stated != support:
        raise fields["support"].refuse(Code.WRONG_SUPPORT, "not `rows` and those that follow")
    low, high = read_norm(fields["norm_squared"], found.multipliers[:len(rows)], found.error)
    return Proved(f"{sets}; support indices {rows_text(support)}; ‖W^mm‖² in "
                  f"[{number_text(low)}, {number_text(high)}]", ENCLOSED)


def _side(sets: Sets, node: Node, *, inside: bool) -> list[Index]:
    rows = read_rows(node, sets.features)
    sets.expect(node, rows, inside=inside)
    return rows


@dataclass(frozen=True)
class Known:
    """Independent rows with their margins 0 or 1, and what follows for rows of the same query."""

    features: Features
    margins: dict[Index, int]

    @cached_property
    def classes(self) -> dict[tuple[int, ...], list[list[int]]]:
        """Per direction of the query the rows as vectors δ and margin; all δ are independent."""
        found: dict[tuple[int, ...], list[list[int]]] = {}
        for row, margin in self.margins.items():
            delta, query = self.features.factors(row)
            found.setdefault(query, []).append([*delta, margin])
        return found

    def first_free(self, rows: Iterable[Index], margin: int) -> Index | None:
        """The first of *rows* whose margin does not follow to be *margin*, or None.

        It does where the vector of the row is a combination of those of its class.
        """
        asked: dict[tuple[int, ...], list[tuple[Index, list[int]]]] = {}
        for row in rows:
            delta, query = self.features.factors(row)
            asked.setdefault(query, []).append((row, [*delta, margin]))
        free = []
        for query, vectors in asked.items():
            known = self.classes.get(query, [])
            if rank([*known, *(vector for _, vector in vectors)]) > len(known):
                free += [row for row, vector in vectors if rank([*known, vector]) > len(known)]
        return min(free, default=None)
