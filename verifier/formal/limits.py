"""Claims about the limit of gradient descent from a small loss.

theories/TrapCheck.v bounds exponentials by integers over 2^p, from powers (1 ± u)^(2^k). The same
integers are formed here, to find a precision that suffices.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain

from conditions.certificates import LowNormLimit, SelectionTrap
from conditions.dataset import AttentionDataset
from conditions.selection import optimal_selection
from verifier.formal.claims import (
    Claim,
    Definition,
    NotExportedError,
    Subject,
    demand_bits,
    matrix_definition,
)
from verifier.formal.spelling import (
    IntegerMatrix,
    natural,
    naturals,
    positive,
    scaled,
    scaled_matrix,
)

_PRECISIONS = ((64, 24), (96, 30), (128, 40), (256, 60))


def low_norm_limit(subject: Subject) -> Claim:
    """Descent from a matrix of small loss converges to the solution; a separator is given."""
    certificate = subject.certificate
    assert isinstance(certificate, LowNormLimit)
    separator, scale = scaled_matrix(certificate.separator)
    demand_bits(separator)
    return _claim(subject, certificate, "limit_from", "low_norm_sound", False,
                  (matrix_definition("V", separator),), ("V", positive(scale)))


def selection_trap(subject: Subject) -> Claim:
    """Descent from a matrix of smaller loss is trapped as well."""
    certificate = subject.certificate
    assert isinstance(certificate, SelectionTrap)
    return _claim(subject, certificate, "trapped_from", "trap_sound", True, (), ())


def _claim(subject: Subject, certificate: LowNormLimit | SelectionTrap, predicate: str,
           theorem: str, halfway: bool, proof: tuple[Definition, ...],
           arguments: tuple[str, ...]) -> Claim:
    loss = subject.verdict.loss
    step = certificate.step
    if step == 0:
        raise NotExportedError("gradient flow has no theorem")
    assert loss is not None
    rows, scale = scaled_matrix(certificate.W)
    demand_bits([*rows, [scale, int(step.p), int(step.q)]])
    size, splits = _precision(subject.dataset, loss, rows, scale, (int(step.p), int(step.q)),
                              halfway)
    selection, start = f"optimum_{subject.number}", f"W_{subject.number}"
    matrix = f"(rational {start} {positive(scale)})"
    ratio = f"(ratio {int(step.p)} {positive(int(step.q))})"
    return Claim(f"{predicate} {loss} data {selection} {matrix} {ratio}", "TrapSound", theorem,
                 (selection, loss.capitalize(), natural(size), natural(splits), start,
                  positive(scale), positive(int(step.p)), positive(int(step.q)), *arguments),
                 proof,
                 (Definition(selection, "selection",
                             naturals(optimal_selection(subject.dataset))),
                  matrix_definition(start, rows)))


def _precision(dataset: AttentionDataset, loss: str, rows: IntegerMatrix, scale: int,
               step: tuple[int, int], halfway: bool) -> tuple[int, int]:
    """Precisions p and k with which theories/TrapCheck.v accepts. Raises `NotExportedError`."""
    for size, splits in _PRECISIONS:
        if Check(dataset, loss, size, splits).accepts(rows, scale, step, halfway):
            return size, splits
    raise NotExportedError("too close for the precision that Coq is given")


class Check:
    """The integers of theories/TrapCheck.v and AnalysisExp.v, under the names they have there."""

    def __init__(self, dataset: AttentionDataset, loss: str, size: int, splits: int) -> None:
        self.loss, self.p, self.k, self.one = loss, size, splits, 1 << size
        view = dataset.integers
        head, head_scale = scaled(dataset.head)
        self.scale = int(view.token_scale) * int(view.query_scale)
        self.score_den = head_scale * int(view.token_scale)
        self.tokens = [[[int(a) for a in x] for x in tokens.tolist()] for tokens in view.tokens]
        self.queries = [[int(a) for a in z] for z in view.queries.tolist()]
        self.scores = [[label * _dot(head, x) for x in tokens]
                       for label, tokens in zip(dataset.labels, self.tokens, strict=True)]
        self.fine = True

    def accepts(self, rows: IntegerMatrix, scale: int, step: tuple[int, int],
                halfway: bool) -> bool:
        """``check_step`` and ``check_start``."""
        smoothness = sum(map(self._smoothness, range(len(self.scores))))
        if step[0] * smoothness >= 2 * len(self.scores) * step[1] * self.one:
            return False
        excess = self.one if self.loss == "logistic" else 0
        for i in range(len(self.scores)):
            deficit = self._deficit(i, rows, scale)
            term = self._term(i, deficit)
            excess = self._mul_up(excess, term) if self.loss == "logistic" else excess + term
            # Coq asks for these bounds whatever the loss.
            for a, b in ((-min(self.scores[i]), 0), (-max(self.scores[i]), 0),
                         self._output(i, deficit)):
                self._exp_up(a, b)
        limits = [self._limit(i, halfway) for i in range(len(self.scores))]
        return self.fine and excess < min(limits)

    def _smoothness(self, i: int) -> int:
        low, query, tokens = min(self.scores[i]), self.queries[i], self.tokens[i]
        diameter = max(_dot(u, u) for u in _differences(tokens)) * _dot(query, query)
        slope, bend = self._derivatives(low)
        width = self._div_up(max(self.scores[i]) - low, self.score_den)
        inner = slope + self._div_up(self._mul_up(width, bend), 4 * self.one)
        return self._mul_up(self._div_up(diameter, 4 * self.scale**2), self._mul_up(width, inner))

    def _derivatives(self, low: int) -> tuple[int, int]:
        """Bounds of |l'| and |l''| on scores of at least *low*."""
        if self.loss == "logistic":
            return self._div_up(self.one, self.one + self._exp_down(low)), self._div_up(1, 4)
        return (self._exp_up(-low),) * 2 if self.loss == "exponential" else (self.one, 0)

    def _deficit(self, i: int, rows: IntegerMatrix, scale: int) -> int:
        turned = [_dot(row, self.queries[i]) for row in rows]
        logits, scores = [_dot(x, turned) for x in self.tokens[i]], self.scores[i]
        best, unit = scores.index(max(scores)), scale * self.scale
        rest = [t for t in range(len(scores)) if t != best]
        falls = [logits[t] - logits[best] for t in rest]
        above = sum(self._mul_up(self._exp_up(fall, unit),
                                 self._div_up(scores[best] - scores[t], self.score_den))
                    for t, fall in zip(rest, falls, strict=True))
        return self._div_up(above, self.one + sum(self._exp_down(fall, unit) for fall in falls))

    def _term(self, i: int, deficit: int) -> int:
        if self.loss == "correlation":
            return deficit
        high, low = self._exp_up(*self._output(i, deficit)), self._exp_down(-max(self.scores[i]))
        return self._div_up(self.one + high, self.one + low) if self.loss == "logistic" \
            else high - low

    def _output(self, i: int, deficit: int) -> tuple[int, int]:
        """A bound of -f_i, as a numerator and a denominator."""
        return (deficit * self.score_den - max(self.scores[i]) * self.one,
                self.one * self.score_den)

    def _limit(self, i: int, halfway: bool) -> int:
        second, top = sorted(self.scores[i])[-2:]
        level = second + (top if halfway else second)
        if self.loss == "correlation":
            return (2 * top - level) * self.one // (2 * self.score_den)
        low, high = self._exp_down(-level, 2 * self.score_den), self._exp_up(-top)
        return (self.one + low) * self.one // (self.one + high) if self.loss == "logistic" \
            else low - high

    def _div_up(self, a: int, b: int) -> int:
        return -(-a * self.one // b)

    def _mul_up(self, a: int, b: int) -> int:
        return -(-a * b >> self.p)

    def _power(self, x: int, square: Callable[[int], int]) -> int:
        for _ in range(self.k):
            x = square(x)
        return x

    def _decay(self, a: int, b: int) -> tuple[int, int]:
        """Bounds of exp(-a / b), a ≥ 0."""
        parts = b << self.k
        low = max(0, self.one - self._div_up(a, parts))
        return (self._power(low, lambda x: x * x >> self.p),
                self._power(self._div_up(parts, parts + a), lambda x: self._mul_up(x, x)))

    def _exp_down(self, a: int, b: int = 0) -> int:
        low, high = self._decay(abs(a), b or self.score_den)
        return low if a <= 0 else self.one * self.one // high

    def _exp_up(self, a: int, b: int = 0) -> int:
        low, high = self._decay(abs(a), b or self.score_den)
        if a <= 0:
            return high
        self.fine = self.fine and low > 0
        return self._div_up(self.one, low or 1)


def _dot(u: Sequence[int], w: Sequence[int]) -> int:
    return sum(a * b for a, b in zip(u, w, strict=True))


def _differences(tokens: list[list[int]]) -> Iterator[list[int]]:
    return chain.from_iterable(
        ([a - b for a, b in zip(x, y, strict=True)] for y in tokens) for x in tokens)
