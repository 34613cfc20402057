"""The one sequence of bytes that stands for a JSON value (RFC 8785), and values fit for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agent.errors import BundleError
from agent.jsonio import MAX_INTEGER
from agent.model import Json

# A bundle wraps observed values in a few levels of its own; both must stay below jsonio.MAX_DEPTH.
MAX_OBSERVED_DEPTH = 40


def canonical_bytes(value: Json) -> bytes:
    """The RFC 8785 form of a JSON value; raises ``BundleError`` if it has none."""
    import rfc8785

    try:
        return bytes(rfc8785.dumps(value))
    except (rfc8785.CanonicalizationError, RecursionError) as error:
        raise BundleError(f"This value has no canonical JSON form: {error}.") from None


def sanitise(value: Any, depth: int = 0) -> Json:
    """The nearest JSON value that has a canonical form and that every reader reads alike.

    Lone surrogates (from file names that are not UTF-8) become ``\\udcXX`` spelled out; integers of
    2**53 and more, NaN and infinities become text; anything deeper than 40 levels or of a foreign
    type becomes a word in angle brackets.
    """
    if isinstance(value, str):
        return clean_text(value)
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return value if -MAX_INTEGER <= value <= MAX_INTEGER else _long_text(value)
    if isinstance(value, float):
        return value if value - value == 0 else str(value)
    if depth >= MAX_OBSERVED_DEPTH:
        return "<too deep>"
    if isinstance(value, Mapping):
        return {clean_text(str(key)): sanitise(item, depth + 1) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [sanitise(item, depth + 1) for item in value]
    return f"<{type(value).__name__}>"


def clean_text(text: str) -> str:
    """``text`` with each lone surrogate spelled out as a backslash escape."""
    if text.isascii():
        return text
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _long_text(number: int) -> str:
    # str() refuses more than 4,300 digits; hexadecimal has no such limit.
    return str(number) if number.bit_length() < 4096 else "<a number of over 4096 bits>"
