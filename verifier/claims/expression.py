"""Statements built from predicates with ``&``, ``|``, ``~`` and ``>>`` (implies), and their truth.

Strong Kleene logic on proved statuses: a conjunction fails as soon as one part is proved false,
holds when all are proved true, and is undecided otherwise. Parts are evaluated in the order of
their cost, and no more of them than the answer needs.
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from conditions.errors import InvalidInput
from conditions.selection import Selection, check_selection
from conditions.verdict import Status, Verdict
from verifier.claims.case import Case
from verifier.claims.outcome import Outcome, from_verdict, joined, negated, undecided

Argument = str | Selection | None
"""Which selection a predicate is about: "alpha", "opt", token indices; None for no argument."""


class Cost(enum.IntEnum):
    """What deciding a predicate takes, cheapest first."""

    ARITHMETIC = 0
    EXACT = 1
    SEARCH = 2
    DESCENT = 3


@dataclass(frozen=True)
class Predicate:
    """A named property of a case.

    ``decide(case, selection)`` gives a verdict or an outcome; *selection* is that of the
    argument, α by default, and None for a predicate that is not about a selection (``selective``).
    ``about`` says what it needs beside the dataset, ``statement`` what it says, in one line.
    """

    name: str
    statement: str = field(compare=False)
    decide: Callable[[Case, Selection], Verdict | Outcome] = field(compare=False, repr=False)
    cost: Cost = field(compare=False)
    about: str = field(compare=False, default="")
    selective: bool = field(compare=False, default=False)


Memo = dict[tuple[Predicate, Selection, Case], Outcome]


class Expression:
    """A statement about a case. Combine with ``&``, ``|``, ``~`` and ``>>``.

    Python gives ``>>`` the higher precedence: write ``(a & b) >> c``. The text of an expression has
    the parentheses that both Python and `verifier.claims.parsing` need.
    """

    def __and__(self, other: Expression) -> And:
        return And(self, _checked(other))

    def __or__(self, other: Expression) -> Or:
        return Or(self, _checked(other))

    def __rshift__(self, other: Expression) -> Implies:
        return Implies(self, _checked(other))

    def __invert__(self) -> Not:
        return Not(self)

    def __bool__(self) -> bool:
        raise TypeError("an expression has no truth value before it is evaluated; combine with "
                        "& | ~ >> instead of and, or, not")

    @property
    def cost(self) -> int:
        """The cost of its dearest predicate."""
        return max(atom.predicate.cost for atom in self.atoms())

    def atoms(self) -> tuple[Atom, ...]:
        """Its predicates with their arguments, each once, in reading order."""
        return tuple(dict.fromkeys(a for part in self._parts() for a in part.atoms()))

    def evaluate(self, case: Case, memo: Memo | None = None) -> Outcome:
        """Its status on *case*, with what proves it.

        *memo* keeps the outcomes of predicates, for other expressions on the same case.
        """
        return self._evaluate(case, {} if memo is None else memo)

    def _parts(self) -> tuple[Expression, ...]:
        raise NotImplementedError

    def _evaluate(self, case: Case, memo: Memo) -> Outcome:
        raise NotImplementedError


def _checked(other: Any) -> Expression:
    if not isinstance(other, Expression):
        raise InvalidInput("expression", other, "must be built from predicates",
                           "combine predicates with & | ~ >>")
    return other


def _inside(part: Expression, *bare: type[Expression]) -> str:
    """The text of a part of another expression: in parentheses unless it is one of *bare*."""
    return str(part) if isinstance(part, (Atom, Not, *bare)) else f"({part})"


@dataclass(frozen=True)
class Atom(Expression):
    """A predicate, with the selection that it is about.

    Call it to name another selection: ``local_optimal("opt")``, ``local_optimal(0, 1)``.
    """

    predicate: Predicate
    argument: Argument = None

    def __call__(self, *argument: str | int) -> Atom:
        """The same predicate about "alpha", "opt" or token indices. Raises ``InvalidInput``."""
        name = self.predicate.name
        if not self.predicate.selective:
            raise InvalidInput(name, argument, "takes no argument", "leave it out")
        if argument in (("alpha",), ("opt",)):
            return Atom(self.predicate, str(argument[0]))
        indices = [a for a in argument if isinstance(a, int) and not isinstance(a, bool) and a >= 0]
        if not indices or len(indices) < len(argument):
            raise InvalidInput(f"the argument of {name}", argument,
                               "must be alpha, opt or token indices",
                               "give one index per sample, from 0")
        return Atom(self.predicate, tuple(indices))

    def __str__(self) -> str:
        if self.argument is None:
            return self.predicate.name
        named = self.argument if isinstance(self.argument, str) else ", ".join(
            map(str, self.argument))
        return f"{self.predicate.name}({named})"

    def atoms(self) -> tuple[Atom, ...]:
        """Itself."""
        return (self,)

    def selection(self, case: Case) -> Selection:
        """The selection that it is about on *case*. Raises ``InvalidInput``."""
        if self.argument is None or self.argument == "alpha":
            return case.selection
        return case.opt if self.argument == "opt" else check_selection(case.dataset, self.argument)

    def _evaluate(self, case: Case, memo: Memo) -> Outcome:
        selection = self.selection(case)
        key = self.predicate, selection, case
        if key not in memo:
            decided = self.predicate.decide(case, selection)
            memo[key] = from_verdict(decided) if isinstance(decided, Verdict) else decided
        return memo[key]


@dataclass(frozen=True)
class Not(Expression):
    """The negation of an expression."""

    part: Expression

    def __str__(self) -> str:
        return f"~{_inside(self.part)}"

    def _parts(self) -> tuple[Expression, ...]:
        return (self.part,)

    def _evaluate(self, case: Case, memo: Memo) -> Outcome:
        return negated(self.part._evaluate(case, memo))


@dataclass(frozen=True)
class And(Expression):
    """Both of two expressions."""

    left: Expression
    right: Expression

    def __str__(self) -> str:
        return f"{_inside(self.left, And)} & {_inside(self.right)}"

    def _parts(self) -> tuple[Expression, ...]:
        return self.left, self.right

    def _evaluate(self, case: Case, memo: Memo) -> Outcome:
        return _all(self._parts(), case, memo)


@dataclass(frozen=True)
class Or(Expression):
    """At least one of two expressions."""

    left: Expression
    right: Expression

    def __str__(self) -> str:
        return f"{_inside(self.left, And, Or)} | {_inside(self.right, And)}"

    def _parts(self) -> tuple[Expression, ...]:
        return self.left, self.right

    def _evaluate(self, case: Case, memo: Memo) -> Outcome:
        return negated(_all(tuple(Not(part) for part in self._parts()), case, memo))


@dataclass(frozen=True)
class Implies(Expression):
    """If the left expression, then the right one."""

    left: Expression
    right: Expression

    def __str__(self) -> str:
        return f"{_inside(self.left)} >> {_inside(self.right)}"

    def _parts(self) -> tuple[Expression, ...]:
        return self.left, self.right

    def _evaluate(self, case: Case, memo: Memo) -> Outcome:
        return negated(_all((self.left, Not(self.right)), case, memo))


def _all(parts: tuple[Expression, ...], case: Case, memo: Memo) -> Outcome:
    """The conjunction of *parts*, the cheap ones first."""
    outcomes = []
    for part in sorted(parts, key=lambda part: part.cost):
        outcome = part._evaluate(case, memo)
        if outcome.fails:
            return outcome
        outcomes.append(outcome)
    if all(outcome.holds for outcome in outcomes):
        return joined(Status.HOLDS, outcomes)
    return undecided(*(reason for outcome in outcomes for reason in outcome.reasons))
