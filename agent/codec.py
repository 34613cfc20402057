"""Turns the frozen types of ``model`` into JSON values and hostile JSON values back into them."""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from agent.errors import BundleError
from agent.model import Facts, Json

T = TypeVar("T")
Decoder = Callable[[Json], Any]

# An empty list under facts says "looked, found none"; elsewhere an empty optional member is noise.
_ALWAYS_WHOLE: tuple[type, ...] = (Facts,)


class _WrongType(Exception):  # noqa: N818 - carries a path outwards, never leaves this file
    """A value of the wrong type; each level on the way out adds where it stood."""

    def __init__(self, expected: str, value: Json) -> None:
        super().__init__(expected)
        self.expected = expected
        self.value = value
        self.path: list[str] = []


# ---------------------------------------------------------------- types to JSON
def to_json(value: Any) -> Json:
    """The JSON value of a model value.

    Members without a default are always written. Members with one are left out where they are
    None or empty, except in ``Facts``. Enumerations and numbers are written as they are.
    """
    if isinstance(value, (str, int, float, bool)) or value is None:
        return value
    if isinstance(value, (tuple, list)):
        return [to_json(item) for item in value]
    if isinstance(value, Mapping):
        return {str(key): to_json(item) for key, item in value.items()}
    cls: Any = type(value)
    members = {}
    for name, optional in _members(cls):
        member = getattr(value, name)
        if optional and (member is None or member == () or member == {}):
            continue
        members[name] = to_json(member)
    return members


@cache
def _members(cls: Any) -> tuple[tuple[str, bool], ...]:
    if not is_dataclass(cls):
        raise TypeError(f"{cls.__name__} has no JSON form")
    whole = cls in _ALWAYS_WHOLE
    return tuple(
        (
            item.name,
            not whole and not (item.default is MISSING and item.default_factory is MISSING),
        )
        for item in fields(cls)
    )


# ---------------------------------------------------------------- JSON to types
def from_json(cls: type[T], value: Json, pointer: str = "") -> T:
    """The ``cls`` that a JSON value describes; unknown members are ignored.

    ``pointer`` is where the value stands in its document. Raises ``BundleError`` with one sentence
    that names the JSON pointer of the first member of a wrong type.
    """
    hint: Any = cls  # mypy 2 does not take a type[T] for hashable
    try:
        decoded: T = _decoder(hint)(value)
    except _WrongType as wrong:
        where = pointer + "".join(f"/{part}" for part in reversed(wrong.path))
        raise BundleError(
            f"The bundle is malformed: {where or 'the whole document'} should be "
            f"{wrong.expected}, but is {_kind(wrong.value)}."
        ) from None
    return decoded


def _kind(value: Json) -> str:
    if value is None:
        return "missing"
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, (int, float)):
        return "a number"
    if isinstance(value, str):
        return f"the text {value[:40]!a}"
    return "a list" if isinstance(value, list) else "an object"


@cache
def _decoder(hint: Any) -> Decoder:
    """The function that checks and converts a JSON value for one type hint."""
    origin = get_origin(hint)
    if hint is Any:
        return lambda value: value
    if hint in _PLAIN:
        return _PLAIN[hint]
    if origin is Literal:
        return _literal(get_args(hint))
    if origin in (Union, types.UnionType):
        return _union(get_args(hint))
    if origin is tuple:
        return _items(_decoder(get_args(hint)[0]))
    if origin is not None and issubclass(origin, Mapping):
        return _mapping
    if is_dataclass(hint):
        return _object(hint)
    raise TypeError(f"no decoder for {hint!r}")


def _text(value: Json) -> str:
    if not isinstance(value, str):
        raise _WrongType("text", value)
    return value


def _whole(value: Json) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise _WrongType("a whole number", value)
    return value


def _number(value: Json) -> float:
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        raise _WrongType("a number", value)
    return float(value)


def _truth(value: Json) -> bool:
    if not isinstance(value, bool):
        raise _WrongType("true or false", value)
    return value


def _mapping(value: Json) -> Mapping[str, Json]:
    if not isinstance(value, dict):
        raise _WrongType("an object", value)
    return value


_PLAIN: dict[Any, Decoder] = {str: _text, int: _whole, float: _number, bool: _truth}


def _literal(words: tuple[str, ...]) -> Decoder:
    def decode(value: Json) -> str:
        if not isinstance(value, str) or value not in words:
            raise _WrongType("one of " + ", ".join(words), value)
        return value

    return decode


def _union(hints: tuple[Any, ...]) -> Decoder:
    decoders = tuple(_decoder(hint) for hint in hints if hint is not type(None))
    optional = type(None) in hints

    def decode(value: Json) -> Any:
        if value is None and optional:
            return None
        if len(decoders) == 1:
            return decoders[0](value)
        expected = []
        for decoder in decoders:
            try:
                return decoder(value)
            except _WrongType as wrong:
                expected.append(wrong.expected)
        raise _WrongType(" or ".join(expected), value)

    return decode


def _items(item: Decoder) -> Decoder:
    def decode(value: Json) -> tuple[Any, ...]:
        if not isinstance(value, list):
            raise _WrongType("a list", value)
        decoded = []
        try:
            for element in value:
                decoded.append(item(element))
        except _WrongType as wrong:
            wrong.path.append(str(len(decoded)))
            raise
        return tuple(decoded)

    return decode


def _object(cls: Any) -> Decoder:
    hints = get_type_hints(cls)
    members = tuple((item.name, _decoder(hints[item.name])) for item in fields(cls))
    # A member without a default may be left out only where its type allows None.
    required = {name for name, optional in _members(cls) if not optional} - {
        item.name
        for item in fields(cls)
        if item.default is not MISSING or item.default_factory is not MISSING
    }

    def decode(value: Json) -> Any:
        if not isinstance(value, dict):
            raise _WrongType("an object", value)
        found: dict[str, Any] = {}
        for name, decoder in members:
            if name in value or name in required:
                try:
                    found[name] = decoder(value.get(name))
                except _WrongType as wrong:
                    wrong.path.append(name)
                    raise
        return cls(**found)

    return decode
