"""What all certificate kinds share: field types, and their encoding to and from JSON-able dicts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Self

from flint import fmpq

from conditions.exact.numbers import number_to_json, rational

Row = tuple[int, int]
Rows = tuple[Row, ...]
Vector = tuple[fmpq, ...]
Matrix = tuple[tuple[fmpq, ...], ...]
SparseVector = tuple[tuple[int, int, fmpq], ...]
Levels = tuple[tuple[fmpq, fmpq | None], ...]
Indices = tuple[int, ...]
Triple = tuple[int, int, int]


def _encode(value: Any) -> Any:
    if isinstance(value, fmpq):
        return number_to_json(value)
    if isinstance(value, tuple):
        return [_encode(item) for item in value]
    if isinstance(value, Json):
        return value.to_json()
    return value


def _numbers(value: tuple[Any, ...]) -> Iterator[fmpq]:
    for item in value:
        if isinstance(item, fmpq):
            yield item
        elif isinstance(item, tuple):
            yield from _numbers(item)
        elif isinstance(item, Json):
            yield from item.numbers()


def _number(value: Any) -> fmpq:
    return rational(value, "certificate number")


def _vector(value: Any) -> Vector:
    return tuple(map(_number, value))


def _matrix(value: Any) -> Matrix:
    return tuple(map(_vector, value))


def _indices(value: Any) -> Any:
    return tuple(map(int, value))


def _rows(value: Any) -> Any:
    return tuple(map(_indices, value))


def _sparse(value: Any) -> SparseVector:
    return tuple((int(i), int(t), _number(x)) for i, t, x in value)


def _levels(value: Any) -> Levels:
    return tuple((_number(a), None if b is None else _number(b)) for a, b in value)


class Json:
    """Encoding by field, shared by certificates and their parts."""

    def to_json(self) -> dict[str, Any]:
        """The JSON form."""
        return self._fields()

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Any:
        """The part that *data* spells."""
        return cls._decode(data)

    def numbers(self) -> Iterator[fmpq]:
        """Its rational numbers, those of its parts included."""
        return _numbers(tuple(getattr(self, f.name) for f in fields(self)))  # type: ignore[arg-type]

    def _fields(self) -> dict[str, Any]:
        return {f.name: _encode(getattr(self, f.name)) for f in fields(self)}  # type: ignore[arg-type]

    @classmethod
    def _decode(cls, data: dict[str, Any]) -> Self:
        names = {f.name: f.type for f in fields(cls)}  # type: ignore[arg-type]
        return cls(**{name: DECODERS[str(kind)](data[name]) for name, kind in names.items()})


@dataclass(frozen=True)
class Certificate(Json):
    """Base of all kinds; ``kind`` and ``evidence`` belong to the kind."""

    kind: ClassVar[str] = ""
    evidence: ClassVar[str] = "exact"
    registry: ClassVar[dict[str, type[Certificate]]] = {}

    def __init_subclass__(cls) -> None:
        Certificate.registry[cls.kind] = cls

    def to_json(self) -> dict[str, Any]:
        """The JSON form, led by its kind."""
        return {"kind": self.kind, **self._fields()}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Certificate:
        """The certificate that *data* spells. Raises ``KeyError`` for an unknown kind."""
        return Certificate.registry[data["kind"]]._decode(data)


DECODERS: dict[str, Callable[[Any], Any]] = {
    # By the annotation of the field; a module with field types of its own adds them.
    "int": int,
    "fmpq": _number,
    "Row": _indices,
    "Triple": _indices,
    "Indices": _indices,
    "Rows": _rows,
    "tuple[Indices, ...]": _rows,
    "Vector": _vector,
    "Matrix": _matrix,
    "SparseVector": _sparse,
    "Levels": _levels,
}
