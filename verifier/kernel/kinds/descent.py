"""What the kinds about limits of descent share: rule, step, iterate, and weights of the softmax.

The statements are about exact descent from a stated matrix, not about the rounded run that led to
it: W ← W - η∇L(W)/‖∇L(W)‖_F (normalized), W ← W - η∇L(W) (plain), dW/dt = -∇L(W) (flow).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction

from ..claim import Claim, number_text
from ..data import Index, Vector
from ..intervals import Interval, total
from ..reading import Node
from ..refusals import Code
from .solution import Solution

MAX_SCORE = 100_000
MAX_CLOCK = 2**40
MIN_PRECISION, MAX_PRECISION = 64, 4096
SPARE_BITS = 64


@dataclass(frozen=True)
class Descent:
    """A rule with its step η, 0 for the flow."""

    rule: str
    step: Fraction

    def __str__(self) -> str:
        if self.rule == "flow":
            return "gradient flow dW/dt = -∇L(W)"
        direction = "∇L(W)/‖∇L(W)‖_F" if self.rule == "normalized" else "∇L(W)"
        return f"gradient descent W ← W - η{direction}, η = {exact_text(self.step)},"


def read_descent(rule: Node, step: Node) -> Descent:
    """A rule and its step. Raises `Refusal`."""
    name = rule.choice(["normalized", "plain", "flow"])
    eta = step.number()
    if (eta != 0) if name == "flow" else (eta <= 0):
        raise step.refuse(Code.STEP_UNFIT, "a step is positive, and 0 for the flow alone")
    return Descent(name, eta)


def read_precision(node: Node) -> int:
    """The bits to compute with: the stated ones and some more."""
    return node.integer(MIN_PRECISION, MAX_PRECISION) + SPARE_BITS


def read_positive(node: Node) -> Fraction:
    """A number > 0. Raises `Refusal`."""
    if (x := node.number()) <= 0:
        raise node.refuse(Code.NOT_POSITIVE, "this number must be positive")
    return x


def read_radius(node: Node) -> Fraction:
    """A Frobenius radius, ≥ 0. Raises `Refusal`."""
    if (x := node.number()) < 0:
        raise node.refuse(Code.OUT_OF_RANGE, "a radius is not negative")
    return x


def read_clock(node: Node) -> Fraction:
    """A clock, 0 < s ≤ 2^40. Raises `Refusal`."""
    if (x := read_positive(node)) > MAX_CLOCK:
        raise node.refuse(Code.OUT_OF_RANGE, "a clock is at most 2^40")
    return x


def exact_text(x: Fraction) -> str:
    """A number for a statement, exact where it is short or a binary64 number."""
    if (x.denominator & (x.denominator - 1) == 0 and x.numerator.bit_length() <= 53
            and 10 < x.denominator.bit_length() < 1000 and float(x) == x):
        return f"{float(x)!r} (binary64)"
    return number_text(x)


def iterate_text(claim: Claim, W: Sequence[Vector]) -> str:
    """A matrix for a statement: its norm, and whether it is 0 or one of the recorded run."""
    square = sum((x * x for row in W for x in row), Fraction(0))
    if not square:
        name = "W = 0"
    else:
        context = Context(prec=7, Emin=-10**9, Emax=10**9)
        norm = context.sqrt(context.divide(Decimal(square.numerator), Decimal(square.denominator)))
        name = f"the stated iterate, of ‖W‖_F ≈ {norm}"
    if claim.run is not None:
        places = [place for place, other in (("final", claim.run.final),
                                             ("start", claim.run.start)) if other == tuple(W)]
        if places:
            name += f", the {' and the '.join(places)} matrix of the recorded run"
    return name


def demand_moderate_scores(claim: Claim, node: Node) -> None:
    """Refuse scores beyond 100,000 in size, unless |ℓ'| is 1."""
    if claim.loss != "correlation":
        for i, scores in enumerate(claim.dataset.scores):
            if max(map(abs, scores)) > MAX_SCORE:
                raise node.refuse(Code.SCORE_LIMIT, f"sample {i} has a score beyond {MAX_SCORE}")


def slope(loss: str | None, f: Interval) -> Interval:
    """|ℓ'(f)|, which does not rise with f."""
    if loss == "correlation":
        return Interval.of(1, f.bits)
    return (-f).exp() if loss == "exponential" else 1 / (1 + f.exp())


class Weights:
    """Bounds of the softmax weights where every margin m_it is at least a given number.

    s_it = s_{iα_i} e^-m_it ≤ e_it = e^-(the number), s_{iα_i} ≥ `selected`[i] = 1/(1 + Σ_t e_it),
    and `deviation`[i] D = Σ_t |Δ_it| e_it bounds |γ_{iα_i} - f_i| = |Σ_t s_it Δ_it|, as does the
    largest |Δ_it|. So |ℓ'(f_i)| lies between `least`[i] and `most`[i], its values at γ_{iα_i} ± D.
    """

    def __init__(self, solution: Solution, margins: Mapping[Index, Interval]) -> None:
        claim, bits, gaps = solution.claim, solution.bits, solution.gaps
        features = claim.features
        self.e = {row: (-m).exp() for row, m in margins.items()}
        self.deviation, self.selected, self.most, self.least = [], [], [], []
        for i, T in enumerate(claim.dataset.lengths):
            rows = [(i, t) for t in range(T) if t != features.selection[i]]
            D = total((self.e[row] * abs(gaps[row]) for row in rows), bits)
            furthest = Interval.of(max(abs(gaps[row]) for row in rows), bits).top
            if furthest.below(D):
                D = furthest
            score = claim.dataset.scores[i][features.selection[i]]
            self.deviation.append(D)
            self.selected.append(1 / (1 + total((self.e[row] for row in rows), bits)))
            self.most.append(slope(claim.loss, score - D))
            self.least.append(slope(claim.loss, score + D))
        self._gaps = gaps

    def strongest(self, row: Index) -> Interval:
        """g⁺(|Δ| + D): above |w_it| e^m_it."""
        i = row[0]
        return self.most[i] * (abs(self._gaps[row]) + self.deviation[i])

    def weakest(self, row: Index) -> Interval:
        """g⁻S(Δ - D): below w_it e^m_it, if it is positive."""
        i = row[0]
        return self.least[i] * self.selected[i] * (self._gaps[row] - self.deviation[i])
