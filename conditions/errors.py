"""The one error that bad input raises: name, value, type, rule and remedy on one line."""

from __future__ import annotations

import reprlib

_SHOWN = 60
_MANY_BITS = 256


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


class InvalidInput(ValueError):  # noqa: N818 - a statement about the input, as the field says it
    """Input that cannot be accepted; its text is one line.

    Parameters
    ----------
    name: what the user would call the offending thing, e.g. ``"Y[3]"``.
    value: the offending value; shown shortened, with its type.
    rule: what it must satisfy.
    remedy: what to do about it.
    """

    def __init__(self, name: str, value: object, rule: str, remedy: str) -> None:
        # All four are arguments of the base class, so that the error can cross processes.
        super().__init__(name, value, rule, remedy)
        self.name, self.value, self.rule, self.remedy = name, value, rule, remedy

    def __str__(self) -> str:
        kind = type(self.value).__name__
        text = f"{self.name} = {_shorten(self.value)} ({kind}): {self.rule}; {self.remedy}"
        return " ".join(text.split())

    def __repr__(self) -> str:
        return f"InvalidInput({str(self)!r})"
