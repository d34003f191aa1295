"""Claims about attention: hypotheses and conclusions as expressions, theorems as rows.

`Case` is what a claim is evaluated on, `predicates` the vocabulary, `parse` reads an expression
from text, and ``expression.evaluate(case)`` gives an `Outcome` with the verdicts that prove it.
"""

from __future__ import annotations

from verifier.claims.case import Case
from verifier.claims.expression import Expression, Predicate
from verifier.claims.outcome import Fact, Outcome
from verifier.claims.parsing import parse

__all__ = ["Case", "Expression", "Fact", "Outcome", "Predicate", "parse"]
