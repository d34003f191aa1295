"""A claim: hypotheses, each of which can be dropped, and a conclusion."""

from __future__ import annotations

import enum
from dataclasses import dataclass, replace
from functools import reduce
from operator import and_
from typing import Self

from verifier.claims.expression import And, Expression, Implies
from verifier.claims.parsing import unknown

PAPER = "arXiv 2308.16898 v1"


class Standing(enum.StrEnum):
    """Who vouches for a claim."""

    PROVED = "proved here"
    LITERATURE = "literature"
    CONJECTURE = "conjecture"
    QUESTION = "question"


class Form(enum.StrEnum):
    """Whose words a claim is in."""

    PRINTED = "as printed"
    REPAIRED = "repaired"
    HERE = "stated here"


@dataclass(frozen=True)
class Hypothesis:
    """A hypothesis: its name, what it is formally, and in words."""

    name: str
    expression: Expression
    text: str


@dataclass(frozen=True)
class Claim:
    """Hypotheses ⇒ conclusion, for every case.

    ``number``: that of version 1 of arXiv 2308.16898, "–" for others. ``conclusion`` is None where
    no condition certifies it: such a claim is only observed, and ``observed_by`` names how.
    ``almost_all``: the claim excepts a null set of datasets, so that one exception does not refute
    it. ``counterpart``: the repaired or printed form. ``proof``: where its proof lives; "" if
    there is none here.
    """

    name: str
    number: str
    statement: str
    hypotheses: tuple[Hypothesis, ...]
    conclusion: Expression | None
    standing: Standing = Standing.LITERATURE
    form: Form = Form.PRINTED
    source: str = PAPER
    proof: str = ""
    observed_by: str = ""
    almost_all: bool = False
    counterpart: str | None = None

    @property
    def premise(self) -> Expression | None:
        """All hypotheses together; None if there are none."""
        parts = [hypothesis.expression for hypothesis in self.hypotheses]
        return reduce(and_, parts) if parts else None

    @property
    def expression(self) -> Expression | None:
        """The whole claim; None if its conclusion is not certifiable."""
        if self.conclusion is None or self.premise is None:
            return self.conclusion
        return self.premise >> self.conclusion

    def hypothesis(self, name: str) -> Hypothesis:
        """The hypothesis *name*. Raises ``InvalidInput`` listing all."""
        named = {hypothesis.name: hypothesis for hypothesis in self.hypotheses}
        if name not in named:
            raise unknown(f"hypothesis of {self.name}", name, named)
        return named[name]

    def without(self, *names: str) -> Self:
        """The claim with hypotheses dropped: no longer proved, nor printed by anyone.

        Raises ``InvalidInput`` for a name that is not one of its hypotheses.
        """
        for name in names:
            self.hypothesis(name)
        kept = tuple(h for h in self.hypotheses if h.name not in names)
        return replace(self, hypotheses=kept, standing=Standing.QUESTION, form=Form.HERE, proof="",
                       number="–")


def claim_of(expression: Expression, name: str = "expression") -> Claim:
    """A user's own claim: the conjuncts left of ``>>`` are its hypotheses."""
    left, right = ((expression.left, expression.right) if isinstance(expression, Implies)
                   else (None, expression))
    parts = [] if left is None else _conjuncts(left)
    hypotheses = {str(part): Hypothesis(str(part), part, _text(part)) for part in parts}
    return Claim(name, "–", f"{expression}", tuple(hypotheses.values()), right, Standing.QUESTION,
                 Form.HERE, "given")


def _conjuncts(expression: Expression) -> list[Expression]:
    if isinstance(expression, And):
        return _conjuncts(expression.left) + _conjuncts(expression.right)
    return [expression]


def _text(expression: Expression) -> str:
    return "; ".join(f"{atom}: {atom.predicate.statement}" for atom in expression.atoms())
