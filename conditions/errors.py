"""The one error that bad input raises: name, value, type, rule and remedy on one line."""

from __future__ import annotations

_SHOWN = 60


def _shorten(value: object) -> str:
    """A one-line rendering of *value* that never costs more than a glance."""
    if isinstance(value, int) and value.bit_length() > 256:
        return f"an integer of {value.bit_length()} bits"
    if isinstance(value, str | bytes) and len(value) > _SHOWN:
        value = value[:_SHOWN]
        return repr(value) + "…"
    text = " ".join(repr(value).split())
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "…"


class InvalidInput(ValueError):  # noqa: N818 - a statement about the input, as the field says it
    """Input that cannot be accepted.

    Parameters
    ----------
    name: what the user would call the offending thing, e.g. ``"Y[3]"``.
    value: the offending value; shown shortened, with its type.
    rule: what it must satisfy.
    remedy: what to do about it.
    """

    def __init__(self, name: str, value: object, rule: str, remedy: str) -> None:
        self.name, self.value, self.rule, self.remedy = name, value, rule, remedy
        kind = type(value).__name__
        super().__init__(f"{name} = {_shorten(value)} ({kind}): {rule}; {remedy}")
