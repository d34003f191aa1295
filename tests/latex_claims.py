"""The numbers of an appendix, parsed from its text and computed again without its code.

Exact ones with `fractions.Fraction` from dataset and certificate in JSON form, transcendental ones
with mpmath at 60 digits from docs/theory. What is parsed is taken out of the text; what is left
must hold no number that is not listed as structure.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import mpmath as mp

mp.mp.dps = 60

NUMBER = (r"(?:\\mathrm\{fl\}\([^()]*\)|-?\d+\^\{-?\d+\}"
          r"|-?\d+(?:\.\d+)?(?:/\d+)?(?:\\cdot \d+\^\{-?\d+\})?)")
MATRIX = r"(?:\\mathrm\{fl\})?\\bigl\(\\begin\{smallmatrix\}.*?\\end\{smallmatrix\}\\bigr\)"
WMM = r"\{W\}\^\{\\mathrm\{mm\}\}_\{\\alpha\}"


def number(text: str) -> Fraction:
    """What a spelling denotes."""
    if text.startswith(r"\mathrm{fl}"):
        return Fraction(float(number(text[len(r"\mathrm{fl}"):].strip("()"))))
    if (power := re.fullmatch(r"(-?)(\d+)\^\{(-?\d+)\}", text)) is not None:
        value = Fraction(int(power[2])) ** int(power[3])
        return -value if power[1] else value
    factor, _, scale = text.partition(r"\cdot ")
    return Fraction(factor) * (number(scale) if scale else 1)


def given(value: Any) -> Fraction:
    """A number of a certificate."""
    if isinstance(value, str) and "x" in value:
        return Fraction(*float.fromhex(value).as_integer_ratio())
    return Fraction(value)


def table(text: str) -> list[list[Fraction]]:
    """A matrix."""
    body = re.search(r"smallmatrix\}(.*?)\\end", text)[1]
    read = (lambda x: Fraction(float(number(x)))) if text.startswith(r"\mathrm") else number
    return [[read(x) for x in row.split("&")] for row in body.split(r"\\")]


def real(x: Fraction) -> mp.mpf:
    return mp.mpf(x.numerator) / x.denominator


def dot(a, b):
    return sum((x * y for x, y in zip(a, b, strict=True)), Fraction(0))


@dataclass
class Data:
    """A dataset and one selection, over the rationals."""

    dataset: dict[str, Any]
    alpha: tuple[int, ...]

    def __post_init__(self):
        d = self.dataset
        self.X = [[[given(a) for a in x] for x in sample] for sample in d["X"]]
        self.z = [[given(a) for a in q] for q in d["z"]]
        self.v, self.Y, self.n = [given(a) for a in d["v"]], d["Y"], len(d["Y"])
        self.scores = [[y * dot(self.v, x) for x in sample]
                       for y, sample in zip(self.Y, self.X, strict=True)]
        self.rows = [(i, t) for i, sample in enumerate(self.X) for t in range(len(sample))
                     if t != self.alpha[i]]

    def phi(self, i, t):
        x, y = self.X[i][self.alpha[i]], self.X[i][t]
        return [[(a - b) * q for q in self.z[i]] for a, b in zip(x, y, strict=True)]

    def inner(self, A, B):
        return sum(dot(a, b) for a, b in zip(A, B, strict=True))

    def margin(self, W, i, t):
        return self.inner(self.phi(i, t), W)

    def gap(self, i, t):
        return self.scores[i][self.alpha[i]] - self.scores[i][t]

    def combined(self, weights):
        d = len(self.v)
        W = [[Fraction(0)] * d for _ in range(d)]
        for (i, t), x in weights.items():
            for a, row in enumerate(self.phi(i, t)):
                for b, entry in enumerate(row):
                    W[a][b] += x * entry
        return W


def near(shown: Fraction, true: mp.mpf, *, up: bool) -> None:
    """A rounded bound is on the right side and not far off."""
    value = real(shown)
    assert (value >= true if up else value <= true), (shown, true)
    assert abs(value - true) <= mp.mpf("2e-5") * abs(true) + mp.mpf(10) ** -36, (shown, true)


@dataclass
class Claims:
    """A text from which verified numbers are taken out."""

    text: str
    taken: int = 0
    left: str = field(init=False)

    def __post_init__(self):
        self.left = self.text

    def take(self, pattern: str, check: Callable[[re.Match[str]], Any], *, some: bool = True):
        """Verify every match of *pattern* and take it out; there must be *some*."""
        found = list(re.finditer(pattern, self.left))
        assert found or not some, pattern
        for match in found:
            assert check(match) is not False, match[0]
            self.taken += len(re.findall(NUMBER, match[0]))
        self.left = re.sub(pattern, " ", self.left)

    def bound(self, name: str, true: Fraction | mp.mpf, *, some: bool = True):
        r"""``name ≤ u``, ``≥ l``, ``= v`` or ``∈ [a, b]`` about a number known to 60 digits."""
        value = real(true) if isinstance(true, Fraction) else true

        def check(m):
            relation = m["relation"]
            if relation == "=":
                assert number(m["a"]) == true
            elif relation == r"\in":
                near(number(m["a"]), value, up=False)
                near(number(m["b"]), value, up=True)
            else:
                near(number(m["a"]), value, up=relation == r"\le")

        self.take(rf"{name}(?P<relation>=|\\in|\\le|\\ge) ?\[?(?P<a>{NUMBER})"
                  rf"(?:,\\,(?P<b>{NUMBER})\])?", check, some=some)

    def finish(self, structure: list[str]) -> None:
        """No number is left but in what is only structure."""
        for pattern in structure:
            self.left = re.sub(pattern, " ", self.left)
        assert not re.search(r"\d", self.left), re.findall(r".{0,60}\d.{0,40}", self.left)
