"""Expressions from text: ``feasible & unique_optimum >> no_stationary_point``.

    implication:  disjunction [">>" implication]
    disjunction:  conjunction {"|" conjunction}
    conjunction:  negation {"&" negation}
    negation:     "~" negation | "(" implication ")" | name ["(" argument ")"]
    argument:     "alpha" | "opt" | index {"," index}

So ``~`` binds most, then ``&``, ``|`` and ``>>``. Nothing is evaluated: names are looked up.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass

from conditions.errors import InvalidInput
from verifier.claims.expression import Atom, Expression
from verifier.claims.predicates import PREDICATES

MAX_CHARACTERS = 10_000
MAX_OPERATORS = 100
"""Operators of one expression, and levels of parentheses: recursion stays far from its limit."""

_TOKEN = re.compile(r"\s*(?:(>>|[&|~(),])|([A-Za-z_][A-Za-z_0-9]*)|([0-9]+))")
_OPERATORS = frozenset({"&", "|", "~", ">>"})
_INDEX_DIGITS = 9


def parse(text: str, known: Mapping[str, Atom] = PREDICATES) -> Expression:
    """The expression that *text* spells. Raises ``InvalidInput`` with the place of an error.

    >>> str(parse("~feasible(opt) | unique_optimum & local_optimal(0, 1) >> full_rank"))
    '(~feasible(opt) | unique_optimum & local_optimal(0, 1)) >> full_rank'
    """
    if len(text) > MAX_CHARACTERS:
        raise InvalidInput("expression", text, f"must have at most {MAX_CHARACTERS:,} characters",
                           "shorten it")
    tokens = _tokens(text)
    operators = sum(token.text in _OPERATORS for token in tokens)
    if operators > MAX_OPERATORS:
        raise InvalidInput("expression", f"{operators} operators",
                           f"must have at most {MAX_OPERATORS}", "shorten it")
    reader = _Reader(tokens, known)
    parsed = reader.implication()
    reader.expect("")
    return parsed


def unknown(kind: str, name: str, known: Mapping[str, object]) -> InvalidInput:
    """The error for a *name* that is none of *known*: close ones, or all if none is close."""
    close = difflib.get_close_matches(name, known, n=3)
    return InvalidInput(kind, name, "is not known", f"did you mean {' or '.join(close)}?" if close
                        else f"known are {', '.join(sorted(known))}")


@dataclass(frozen=True)
class _Token:
    text: str
    place: int


def _tokens(text: str) -> list[_Token]:
    found, place = [], 0
    end = len(text.rstrip())
    while place < end:
        match = _TOKEN.match(text, place)
        if match is None:
            place += len(text[place:]) - len(text[place:].lstrip())
            raise InvalidInput("expression", text[place], f"is not expected at character {place}",
                               "use names, & | ~ >> ( ) and token indices")
        found.append(_Token(match.group().strip(), match.end() - len(match.group().strip())))
        place = match.end()
    return [*found, _Token("", end)]


class _Reader:
    """Recursive descent over the tokens, the last of which is empty."""

    def __init__(self, tokens: list[_Token], known: Mapping[str, Atom]) -> None:
        self.tokens, self.known = tokens, known
        self.position = self.depth = 0

    @property
    def next(self) -> str:
        """The token ahead."""
        return self.tokens[self.position].text

    def take(self) -> str:
        """The token ahead, which is left behind."""
        token = self.next
        self.position += 1
        return token

    def expect(self, wanted: str) -> None:
        """Take the token *wanted*; the empty one is the end."""
        if self.next != wanted:
            raise self.error(f"{wanted!r} is expected" if wanted else
                             "an operator & | >> or the end is expected")
        self.position += 1

    def error(self, rule: str) -> InvalidInput:
        """The error that something else was expected at the token ahead."""
        place = self.tokens[self.position].place
        return InvalidInput("expression", self.next or "the end", f"at character {place} {rule}",
                            "write e.g. feasible & unique_optimum >> no_stationary_point")

    def implication(self) -> Expression:
        """An implication, which nests to the right."""
        left = self.disjunction()
        if self.next != ">>":
            return left
        self.take()
        return left >> self.implication()

    def disjunction(self) -> Expression:
        """One conjunction or several."""
        left = self.conjunction()
        while self.next == "|":
            self.take()
            left = left | self.conjunction()
        return left

    def conjunction(self) -> Expression:
        """One negation or several."""
        left = self.negation()
        while self.next == "&":
            self.take()
            left = left & self.negation()
        return left

    def negation(self) -> Expression:
        """A negation, a group, or a predicate."""
        if self.next == "~":
            self.take()
            return ~self.negation()
        if self.next == "(":
            if self.depth == MAX_OPERATORS:
                raise self.error(f"{MAX_OPERATORS} parentheses are open and no further one is "
                                 "allowed")
            self.take()
            self.depth += 1
            inside = self.implication()
            self.expect(")")
            self.depth -= 1
            return inside
        return self.predicate()

    def predicate(self) -> Expression:
        """A name, and its argument if it has one."""
        if not self.next.isidentifier():
            raise self.error("the name of a predicate, ~ or ( is expected")
        name = self.take()
        if name not in self.known:
            raise unknown("predicate", name, self.known)
        atom = self.known[name]
        if self.next != "(":
            return atom
        self.take()
        argument: list[str | int] = [self.argument()]
        while self.next == ",":
            self.take()
            argument.append(self.argument())
        self.expect(")")
        return atom(*argument)

    def argument(self) -> str | int:
        """A word or an index."""
        if self.next.isidentifier():
            return self.take()
        if self.next.isdecimal() and len(self.next) <= _INDEX_DIGITS:
            return int(self.take())
        raise self.error("alpha, opt or token indices are expected")
