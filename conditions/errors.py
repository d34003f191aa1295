"""The one error that bad input raises: name, value, rule and remedy on one line."""

from __future__ import annotations

import reprlib
from collections.abc import Iterable
from difflib import get_close_matches

_SHOWN = 60
_DESCRIBED = 200
_MANY_BITS = 256
_CLOSE = 0.8
"""The least similarity of what was written to what may have been meant."""
_EVIDENT = {"str", "bytes", "int", "float", "complex", "bool", "list", "tuple", "dict", "set",
            "fmpq", "fmpz"}
"""The types that a reader sees, or need not know."""


class _Glance(reprlib.Repr):
    """Renderings that stay short however large or deep the value is."""

    def __init__(self) -> None:
        super().__init__()
        self.maxlevel = 4
        self.maxstring = self.maxother = _SHOWN

    def repr_int(self, x: int, level: int) -> str:
        # Python refuses to spell integers of more than 4300 digits.
        if x.bit_length() > _MANY_BITS:
            return f"an integer of {x.bit_length()} bits"
        return repr(x)


def _shorten(value: object) -> str:
    """A one-line rendering of *value* that never costs more than a glance."""
    if isinstance(value, str | bytes) and len(value) > _SHOWN:
        return repr(value[:_SHOWN]) + "…"
    text = " ".join(_Glance().repr(value).split())
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "…"


class Description(str):
    """What a value is like, such as ``2 entries``, where that says more than the value would."""

    __slots__ = ()


def counted(count: int, one: str, many: str = "") -> Description:
    """How many there are of what; *many* is the plural, unless it is *one* with an s.

    >>> counted(1, "entry", "entries"), counted(20_000, "token")
    ('1 entry', '20,000 tokens')
    """
    return Description(f"{count:,} {one if count == 1 else many or one + 's'}")


class InvalidInput(ValueError):  # noqa: N818 - a statement about the input, as the field says it
    """Input that cannot be accepted; its text is one line.

    Parameters
    ----------
    name: what the user would call the offending thing, e.g. ``"Y[3]"``.
    value: the offending value, or a `Description` of it, or None where none was given. Values are
        shown shortened, with their type where they do not show it.
    rule: what it must satisfy.
    remedy: what to do about it.

    >>> print(InvalidInput("Y[3]", 0.5, "must be 1 or -1", "encode the two classes so"))
    Y[3] = 0.5: must be 1 or -1; encode the two classes so
    >>> print(InvalidInput("z", counted(1, "entry"), "must have one for each sample", "add one"))
    z (1 entry): must have one for each sample; add one
    >>> print(InvalidInput("W0", None, "must be in the file", "add it"))
    W0 is not given: must be in the file; add it
    """

    def __init__(self, name: str, value: object, rule: str, remedy: str) -> None:
        # All four are arguments of the base class, so that the error can cross processes.
        super().__init__(name, value, rule, remedy)
        self.name, self.value, self.rule, self.remedy = name, value, rule, remedy

    def __str__(self) -> str:
        return " ".join(f"{self._subject()}: {self.rule}; {self.remedy}".split())

    def __repr__(self) -> str:
        return f"InvalidInput({str(self)!r})"

    def _subject(self) -> str:
        if self.value is None:
            return f"{self.name} is not given"
        if isinstance(self.value, Description):
            more = "…" if len(self.value) > _DESCRIBED else ""
            return f"{self.name} ({self.value[:_DESCRIBED]}{more})"
        text, kind = _shorten(self.value), type(self.value).__name__
        known = kind in _EVIDENT or kind in text
        return f"{self.name} = {text}" + ("" if known else f" ({kind})")


def unknown(name: str, value: object, known: Iterable[str]) -> InvalidInput:
    """The refusal of a *value* that is none of the *known* names.

    Asks whether the closest one was meant, or lists them all if none is close.

    >>> print(unknown("loss", "logstic", ["logistic", "exponential"]))
    loss = 'logstic': is not known; did you mean logistic?
    >>> print(unknown("loss", "hinge", ["logistic", "exponential"]))
    loss = 'hinge': must be one of logistic, exponential; choose one
    """
    names = list(known)
    if isinstance(value, str):
        spelled = {name.lower(): name for name in names}
        close = get_close_matches(value[:_SHOWN].lower(), spelled, 1, _CLOSE)
        if close:
            return InvalidInput(name, value, "is not known", f"did you mean {spelled[close[0]]}?")
    return InvalidInput(name, value, f"must be one of {', '.join(names)}", "choose one")
