"""What a proof text may use: the dataset, the facts, what was shown before, where data is filed."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from flint import fmpq, fmpq_mat

from conditions.certificates import Matrix, SparseVector
from conditions.dataset import AttentionDataset
from conditions.selection import Features, Row, Selection, features, optimal_selection
from verifier.report.latex import numbers, text
from verifier.report.latex.facts import FACTS

ITEMS = 16
"""The longest list that is written out."""
ENTRIES = 16
"""The largest matrix that is written out."""
_WIDTH = 90
"""Characters of a row of a matrix that fits into a line."""


@dataclass
class Context:
    """The state of one appendix while its propositions are written.

    ``labels`` begins every label; ``facts`` numbers the theorems used, in order of use; ``shown``
    tells in which proposition and part a witness was written out. ``entry``, ``label``, ``part``:
    of the verdict being written, its place in the file, its proposition, and its part of that;
    ``path`` leads to the certificate within its certificate that is being written, if one is.
    """

    dataset: AttentionDataset
    labels: str
    facts: dict[str, int] = field(default_factory=dict)
    shown: dict[Hashable, tuple[str, str]] = field(default_factory=dict)
    entry: str = ""
    label: str = ""
    part: str = ""
    path: str = ""

    # Data ------------------------------------------------------------------------------------

    def features(self, selection: Selection | None) -> Features:
        """The features of *selection*; with base token 0 for conditions without one."""
        return features(self.dataset, selection or (0,) * self.dataset.n)

    @property
    def opt(self) -> Features:
        """The features of the optimal tokens."""
        return features(self.dataset, optimal_selection(self.dataset))

    def gap(self, phi: Features, row: Row) -> fmpq:
        """Δ of a row."""
        scores = self.dataset.scores[row[0]]
        return scores[phi.selection[row[0]]] - scores[row[1]]

    def margins(self, phi: Features, W: Matrix | fmpq_mat) -> dict[Row, fmpq]:
        """The margins of a rational W."""
        exact = W if isinstance(W, fmpq_mat) else fmpq_mat([list(row) for row in W])
        return dict(zip(phi.rows, phi.margins(exact), strict=True))

    def combination(self, phi: Features, weights: SparseVector) -> fmpq_mat:
        """Σ λ φ, exact."""
        return phi.combination([phi.index[i, t] for i, t, _ in weights],
                               [x for _, _, x in weights])

    # References ------------------------------------------------------------------------------

    def fact(self, key: str) -> str:
        """A reference to a theorem, which is then listed."""
        assert key in FACTS, key
        return f"Fact~{self.facts.setdefault(key, len(self.facts) + 1)}"

    def filed(self, name: str) -> str:
        """Where the certificate file holds the field *name* of this verdict's certificate."""
        return rf"\texttt{{{text.escape(self.path + name)}}} of entry~{self.entry}"

    @contextmanager
    def inside(self, name: str) -> Iterator[None]:
        """Write about the certificate in the field *name* of the present one."""
        before, self.path = self.path, f"{self.path}{name}."
        try:
            yield
        finally:
            self.path = before

    def seen(self, key: Hashable) -> str | None:
        """Where the witness *key* was written out; if nowhere, it is written now."""
        if key not in self.shown:
            self.shown[key] = self.label, self.part
            return None
        label, part = self.shown[key]
        return part if label == self.label else rf"Proposition~\ref{{{label}}}{part}"

    # Values ----------------------------------------------------------------------------------

    def matrix(self, symbol: str, M: Matrix | fmpq_mat, name: str) -> str:
        """A rational matrix by all its entries if it is small, else by its place in the file."""
        rows = [list(row) for row in (M.tolist() if isinstance(M, fmpq_mat) else M)]
        if (found := spelled_matrix(rows)) is not None:
            return f"${symbol}={found}$"
        return f"${symbol}$, the {len(rows)} $\\times$ {len(rows[0])} matrix {self.filed(name)}"

    def rows(self, rows: Sequence[Row], name: str) -> str:
        """A list of rows, or its length and its place."""
        if len(rows) <= ITEMS:
            return text.listed([f"$({i},{t})$" for i, t in rows])
        return f"the {len(rows)} rows {self.filed(name)}"

    def sparse(self, symbol: str, weights: SparseVector, name: str) -> str:
        """Multipliers by rows: each one, or how many, between which bounds, and their place."""
        return self.by_row(symbol, {(i, t): x for i, t, x in weights}, name)

    def by_row(self, symbol: str, values: dict[Row, fmpq], name: str | None = None) -> str:
        """Exact numbers by row: each, or how many and their range.

        *name* is the field of the certificate that holds them, if one does.
        """
        if len(values) <= ITEMS:
            listed = text.listed([f"${symbol}_{{{i},{t}}}{numbers.value(x)}$"
                                  for (i, t), x in values.items()])
            inexact = any(numbers.short(x) is None for x in values.values())
            return f"{listed} (exactly: {self.filed(name)})" if inexact and name else listed
        least, most = min(values.values()), max(values.values())
        place = f" ({self.filed(name)})" if name else ""
        return (f"{len(values)} numbers ${symbol}_{{i,t}}{numbers.at_least(least)}$, "
                f"${numbers.at_most(most)}${place}")

    def margins_text(self, phi: Features, W: Matrix | fmpq_mat, of: str = "W") -> str:
        """The margins of *of*: each, or the least."""
        found = self.margins(phi, W)
        if len(found) <= ITEMS:
            return "its margins are " + self.by_row("m", found)
        return f"its {len(found)} margins are ${numbers.at_least(min(found.values()))}$"


def spelled_matrix(rows: Sequence[Sequence[fmpq]]) -> str | None:
    """A matrix in mathematics mode, every entry exact; None if it is large.

    Binary64 entries in all their digits share one ``fl`` in front, which acts on every entry.
    """
    if sum(map(len, rows)) > ENTRIES:
        return None
    fl, table = "", _all(rows, numbers.short)
    if table is None:
        fl, table = r"\mathrm{fl}", _all(rows, numbers.float_text)
    if table is None or max(sum(map(len, row)) for row in table) > _WIDTH:
        return None
    small = all(sum(map(len, row)) <= _WIDTH // 2 for row in table)
    return fl + (text.small_matrix(table) if small else text.big_matrix(table))


def _all(rows: Sequence[Sequence[fmpq]],
         spell: Callable[[fmpq], str | None]) -> list[list[str]] | None:
    """Every entry spelled, if all can be."""
    found = [[spell(x) for x in row] for row in rows]
    if any(x is None for row in found for x in row):
        return None
    return [[str(x) for x in row] for row in found]
