"""Reads and writes JSON: fast for our own data, strict for what a stranger signed."""

from __future__ import annotations

import json
from typing import Any, NoReturn

from agent.errors import BundleError
from agent.model import Json

MAX_BYTES = 20_000_000
MAX_DEPTH = 64
MAX_INTEGER = 2**53 - 1  # the largest that every JSON reader keeps exactly


# ---------------------------------------------------------------- our own data
def dumps(value: Json, *, indent: bool = False) -> bytes:
    """UTF-8 JSON of a value, keys in their own order, with a final newline if indented.

    Values must have passed ``canonical.sanitise``: orjson would write NaN as null and refuses
    lone surrogates. Never the bytes that are signed; those are ``canonical.canonical_bytes``.
    """
    try:
        import orjson
    except ImportError:
        return _plain_dumps(value, indent)
    options = orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE if indent else 0
    return orjson.dumps(value, option=options)


def _plain_dumps(value: Json, indent: bool) -> bytes:
    if indent:
        return (json.dumps(value, ensure_ascii=False, allow_nan=False, indent=2) + "\n").encode()
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


def loads(data: bytes | str) -> Json:
    """The value of JSON text that this program wrote; raises ``ValueError`` if it is not JSON."""
    return json.loads(data)


# ---------------------------------------------------------------- a stranger's data
def strict_loads(data: bytes) -> dict[str, Json]:
    """The object in ``data`` if every JSON reader would understand it in the same way.

    Refused with a sentence of its own each, as ``BundleError``: more than 20 MB, bytes that are
    not UTF-8, a byte order mark, broken JSON, duplicate keys, NaN and infinities, numbers too
    large for a double, integers of 2**53 and more, lone surrogates, nesting deeper than 64, and a
    document that is not an object.
    """
    if len(data) > MAX_BYTES:
        raise BundleError("The file is larger than 20 MB, which no bundle is.")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise BundleError(f"The file is not UTF-8 text: byte {error.start} is invalid.") from None
    if text.startswith("\ufeff"):
        raise BundleError("The file begins with a byte order mark, which JSON does not allow.")
    try:
        value = json.loads(
            text,
            object_pairs_hook=_object,
            parse_int=_integer,
            parse_float=_float,
            parse_constant=_constant,
        )
    except json.JSONDecodeError as error:
        raise BundleError(
            f"The file is not valid JSON: {error.msg} at line {error.lineno}, column {error.colno}."
        ) from None
    except RecursionError:
        _too_deep()
    _check_tree(value)
    if not isinstance(value, dict):
        raise BundleError("The file is JSON but not an object, so it is not a bundle.")
    return value


def _too_deep() -> NoReturn:
    raise BundleError(f"The file is nested deeper than {MAX_DEPTH} levels.") from None


def _object(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    found = dict(pairs)
    if len(found) != len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise BundleError(f"The key {key[:40]!a} stands twice in one object.")
            seen.add(key)
    return found


def _integer(digits: str) -> int:
    # The length is checked first: int() of thousands of digits is slow and may be refused.
    if len(digits) > 17 or abs(int(digits)) > MAX_INTEGER:
        raise BundleError(
            f"The whole number {digits[:20]}{'…' if len(digits) > 20 else ''} is 2^53 or more, "
            "where JSON readers disagree."
        )
    return int(digits)


def _float(digits: str) -> float:
    number = float(digits)
    if number in (float("inf"), float("-inf")):
        raise BundleError(f"The number {digits[:20]} is too large for any JSON reader.")
    return number


def _constant(word: str) -> NoReturn:
    raise BundleError(f"The file holds {word}, which is not JSON.")


def _check_tree(value: Json) -> None:
    """Refuses lone surrogates and deep nesting, without recursion of its own."""
    level: list[Any] = [value]
    depth = 0
    while level:
        depth += 1
        deeper: list[Any] = []
        for item in level:
            if isinstance(item, str):
                _check_text(item)
            elif isinstance(item, dict):
                for key in item:
                    _check_text(key)
                deeper.extend(item.values())
            elif isinstance(item, list):
                deeper.extend(item)
        if depth > MAX_DEPTH and any(isinstance(item, (dict, list)) for item in level):
            _too_deep()
        level = deeper


def _check_text(text: str) -> None:
    if text.isascii():
        return
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise BundleError(
            "The file holds half of a surrogate pair, which is not a character."
        ) from None
