"""All selections at once: which of them are exceptional (see `exceptional_selection`).

The vertices of the tree fix the tokens of samples 0, …, k - 1. Below each either all children are
walked, or no completion is exceptional by an *obstruction*, or it is a leaf. Two facts are used.

An exceptional α has W^mm = Σ λ φ, λ ≥ 0, over kept rows alone (KKT: λ = 0 off the support). So if
V = Σ y φ, y ≥ 0, y ≠ 0, over rejected rows has ⟨V, φ⟩ ≤ 0 for all features that can be kept, then
⟨V, W^mm⟩ ≤ 0; but it is Σ y m ≥ Σ y > 0.

By the same KKT conditions W^mm of an exceptional α is also the least-norm U with margins ≥ 1 on
the kept rows. For multipliers μ ≥ 0 on these let V = Σ μ φ, q = ‖V‖², L = Σ μ, and m > 0 the least
margin of V on them. V/m is feasible for that problem and (L/q) μ dual with value L²/q, so ‖V/m -
U‖² is at most q/m² - L²/q, and a tested row of margin p under V has at most p/m + ‖φ‖ √(q/m² -
L²/q) under U. That is ≤ 1, and α is not exceptional, if p < m and (m - p)² q ≥ ‖φ‖² (q² - L² m²).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import mul
from struct import Struct

from ..claim import ENCLOSED, Claim, Proved
from ..data import Index, read_sparse
from ..linear import dot, product, transpose
from ..numbers import common_denominator, integers
from ..reading import Node
from ..refusals import Code
from .exceptional_selection import Splitting

_ENTRY_BITS = 46
"""Bits of a rounded Gram entry, so that slots of 64 bits hold sums of weight below 2^16."""
_MAX_WEIGHT = 1 << 15

_DIGITS = bytes("0123456789abcdef".find(chr(c)) & 0xff for c in range(256))
"""The value of each lower-case hexadecimal digit by its character, 255 for any other."""


def direction_tree(claim: Claim, node: Node) -> Proved:
    """The tree in preorder with a proof at every leaf, and the condition that follows."""
    fields = node.object("kind", "selections", "nodes")
    splitting = Splitting.of(claim, node)
    lengths = claim.dataset.lengths
    stated = [entry.selection(lengths) for entry in fields["selections"].items()]
    found = _walk(splitting, fields["nodes"])
    if stated != found:
        raise fields["selections"].refuse(Code.WRONG_SELECTIONS,
                                          f"{len(found)} selections are shown exceptional")
    if claim.condition == "directions":
        return Proved(f"{len(found)} in all: {', '.join(map(str, found))}" if found else
                      "there is none", ENCLOSED)
    opt = splitting.optimal
    if found != ([opt] if claim.condition == "only_local_optimum" else []):
        raise fields["selections"].refuse(Code.STATUS_UNPROVED, f"listed are {len(found)}")
    return Proved(f"opt = {opt}", ENCLOSED)


def _walk(splitting: Splitting, nodes: Node) -> list[tuple[int, ...]]:
    """The exceptional selections, every vertex of the tree accounted for."""
    lengths = splitting.claim.dataset.lengths
    multipliers: _Multipliers | None = None
    found: list[tuple[int, ...]] = []
    pending: list[tuple[int, ...]] = [()]
    entries = iter(nodes.items())
    while pending:
        vertex = pending.pop()
        entry = next(entries, None)
        if entry is None:
            raise nodes.refuse(Code.BROKEN_TREE, "the nodes end before the tree")
        depth, value = len(vertex), entry.value
        if depth < len(lengths):
            if value == "+":
                pending += [(*vertex, a) for a in range(lengths[depth] - 1, -1, -1)]
            else:
                _check_obstruction(splitting, vertex, entry)
        elif value == "=":
            if splitting.claim.condition != "assumption_d" or vertex != splitting.optimal:
                raise entry.refuse(Code.MISPLACED_ENTRY, "this is said of opt in assumption_d only")
        elif type(value) is str:
            multipliers = multipliers or _Multipliers(splitting)
            multipliers.check(vertex, value, entry)
        elif splitting.is_exceptional(vertex, entry)[0]:
            found.append(vertex)
    if (rest := next(entries, None)) is not None:
        raise rest.refuse(Code.BROKEN_TREE, "the tree ends before the nodes")
    return found


def _check_obstruction(splitting: Splitting, vertex: tuple[int, ...], entry: Node) -> None:
    """V = Σ y φ over rows fixed so far has no positive product with a feature that can be kept."""
    data, depth = splitting.claim.dataset, len(vertex)
    if not depth or type(entry.value) is str:
        raise entry.refuse(Code.MISPLACED_ENTRY, f"at depth {depth} of {data.n}")
    entry.field("kind").choice(["obstruction"])
    place = entry.object("kind", "multipliers")["multipliers"]
    # Where no token is fixed none is selected; a row there is refused below.
    about = replace(splitting.claim, selection=vertex + (-1,) * (data.n - depth))
    vector = read_sparse(place, about.features)
    if not vector:
        raise place.refuse(Code.EMPTY, "at least one multiplier is needed")
    if max(vector)[0] >= depth:
        raise place.refuse(Code.OUT_OF_RANGE, f"sample {max(vector)[0]} is not fixed here")
    weights = integers(list(vector.values()), common_denominator(vector.values()))
    V = about.features.combination(dict(zip(vector, weights, strict=True)))
    for i, query in enumerate(data.integer_queries):
        pull = [dot(row, query) for row in V]
        logits = [dot(token, pull) for token in data.integer_tokens[i]]
        for a in (vertex[i],) if i < depth else range(data.lengths[i]):
            if any(logits[a] > logits[t] for t in splitting.kept(i, a)):
                raise place.refuse(Code.NOT_OBSTRUCTED, f"a kept row of sample {i} has a positive "
                                   f"product where token {a} is selected")


@dataclass(frozen=True)
class _Rows:
    """Kept and tested rows of some samples, by the slots of the tokens that they compare.

    `features` are the packed Gram rows of the kept ones: selected minus rejected. A tested row has
    ‖φ‖² twice, rounded up in units of the packed entries and exact.
    """

    kept: tuple[tuple[int, int], ...] = ()
    features: tuple[int, ...] = ()
    tested: tuple[tuple[int, int, int, int], ...] = ()

    def joined(self, other: _Rows) -> _Rows:
        """These rows and those of later samples."""
        return _Rows(self.kept + other.kept, self.features + other.features,
                     self.tested + other.tested)


class _Multipliers:
    """Leaves closed by hexadecimal multipliers.

    All that is asked of V are the logits x_jτᵀ V z_j, sums of entries of the Gram matrix of tokens,
    (x_it·x_jτ)(z_i·z_j). Its rows are rounded to entries of 46 bits and packed, a slot of 64 bits a
    token, so that one sum yields all logits. An entry is off by at most 1/2 (0 where nothing was
    rounded) and the weights of a sum add up to 2 L, so a logit is off by at most L, a margin by
    2 L, q by 2 L². The inequality, divided by q, holds for the true numbers if it does for a lower
    m and upper p, q, ‖φ‖². Where that does not decide, the unrounded matrix does.
    """

    def __init__(self, splitting: Splitting) -> None:
        data = splitting.claim.dataset
        self._splitting = splitting
        self._slots = {row: s for s, row in enumerate(
            (i, t) for i, T in enumerate(data.lengths) for t in range(T))}
        tokens = [data.integer_tokens[i][t] for i, t in self._slots]
        turns = list(product(data.integer_queries, transpose(data.integer_queries)))
        self._gram = [[x * turns[i][j] for x, (j, _) in zip(row, self._slots, strict=True)]
                      for row, (i, _) in zip(product(tokens, transpose(tokens)), self._slots,
                                             strict=True)]
        # No entry of a Gram matrix exceeds the largest on its diagonal.
        largest = max(row[s] for s, row in enumerate(self._gram))
        self._shift = max(largest.bit_length() - _ENTRY_BITS, 0)
        half = (1 << self._shift) >> 1
        self._packed = [sum(((x + half) >> self._shift) << 64 * s for s, x in enumerate(row))
                        for row in self._gram]
        self._bias = sum(1 << 64 * s + 63 for s in range(len(self._slots)))
        self._layout = Struct(f"<{len(self._slots)}Q")
        self._above: tuple[tuple[int, ...], _Rows] = ((), _Rows())
        self._found: dict[Index, _Rows] = {}

    def check(self, vertex: tuple[int, ...], text: str, entry: Node) -> None:
        """Refuse unless the multipliers that *text* spells show that α is not exceptional."""
        rows = self._rows(vertex)
        if not rows.kept:
            if text != "1":
                raise entry.refuse(Code.WRONG_LENGTH, "without a kept row there are no digits")
            return
        multipliers = _digits(text, len(rows.kept), entry)
        size = sum(multipliers)
        if size < _MAX_WEIGHT:
            packed = sum(map(mul, multipliers, rows.features), self._bias)
            logits = self._layout.unpack(packed.to_bytes(self._layout.size, "little"))
            error = 2 * size if self._shift else 0
            if _closes(rows, multipliers, size, logits, error, exact=False):
                return
        weights = [0] * len(self._slots)
        for (a, t), y in zip(rows.kept, multipliers, strict=True):
            weights[a] += y
            weights[t] -= y
        true = [dot(weights, column) for column in self._gram]
        if not _closes(rows, multipliers, size, true, 0, exact=True):
            raise entry.refuse(Code.NOT_CLOSED, f"selection {vertex} may be exceptional")

    def _rows(self, vertex: tuple[int, ...]) -> _Rows:
        """The rows of a selection; those of its samples but the last serve its siblings too."""
        if self._above[0] != vertex[:-1]:
            self._above = vertex[:-1], reduce(
                _Rows.joined, (self._own(i, a) for i, a in enumerate(vertex[:-1])), _Rows())
        return self._above[1].joined(self._own(len(vertex) - 1, vertex[-1]))

    def _own(self, i: int, a: int) -> _Rows:
        """The rows of sample i where token a is selected."""
        if (i, a) not in self._found:
            top = self._slots[i, a]
            kept = [self._slots[i, t] for t in self._splitting.kept(i, a)]
            tested = []
            for t in self._splitting.tested(i, a):
                s = self._slots[i, t]
                size = self._gram[top][top] + self._gram[s][s] - 2 * self._gram[top][s]
                tested.append((top, s, -(-size >> self._shift), size))
            self._found[i, a] = _Rows(
                tuple((top, s) for s in kept),
                tuple(self._packed[top] - self._packed[s] for s in kept), tuple(tested))
        return self._found[i, a]


def _digits(text: str, count: int, entry: Node) -> Sequence[int]:
    """The multipliers: a digit w, then w digits for each of *count* rows."""
    values = text.encode("latin-1", "replace").translate(_DIGITS)
    if not values or max(values) > 15:
        raise entry.refuse(Code.NOT_HEXADECIMAL, "lower-case hexadecimal digits are asked for")
    width = values[0]
    if not width or len(values) != 1 + width * count:
        raise entry.refuse(Code.WRONG_LENGTH, f"not w ≥ 1 and w digits for {count} rows")
    multipliers: Sequence[int] = values[1::width]
    for place in range(2, width + 1):
        multipliers = [x << 4 | y for x, y in zip(multipliers, values[place::width], strict=True)]
    return multipliers


def _closes(rows: _Rows, multipliers: Sequence[int], size: int, logits: Sequence[int], error: int,
            exact: bool) -> bool:
    """Whether a tested row is shown to have margin ≤ 1; every margin is within *error* of this."""
    margins = [logits[a] - logits[t] for a, t in rows.kept]
    least = min(margins) - error
    if least <= 0:
        return False
    q = sum(map(mul, multipliers, margins)) + size * error
    gap = q * q - (size * least)**2
    for a, t, rounded, true in rows.tested:
        short = least - (logits[a] - logits[t] + error)
        if short > 0 and short * short * q >= (true if exact else rounded) * gap:
            return True
    return False
