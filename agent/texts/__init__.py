"""What a person reads about each cause: kept apart from the rules, keyed by code and place."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """One cause in words.

    `{names}` are filled from the case. What stands in ⟦ ⟧ is left out where one of its values is
    not known, and a step that is empty then as well; `PHRASES` says what stands elsewhere.
    `fix_at` holds the steps for a place (container, bare, wsl, windows) where they differ.
    `message` is what to send to the provider where the renter cannot act.
    """

    title: str
    cause: str
    fix: tuple[str, ...]
    fix_at: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    message: str = ""


SEND = "Send your provider: "  # how the step begins that holds the message in quotes

# What a text says where the value is not known.
PHRASES: dict[str, str] = {
    "torch": "the installed version",
    "build": "its build",
    "torch_cuda": "its CUDA version",
    "driver": "the installed version",
    "driver_cuda": "an older CUDA version",
    "gpu": "the GPU",
    "architecture": "its architecture",
    "python": "this Python version",
    "python_path": "python",
    "wheel": "python -m pip install torch --index-url "
    "https://download.pytorch.org/whl/<build that fits the GPU and the driver>",
    "wheel_reason": "",
    "library": "the library",
    "package": "the package",
    "version": "the version found",
    "wanted": "the version wanted",
    "found": "what was found",
    "path": "the path shown in the evidence",
    "value": "the value shown in the evidence",
    "count": "several",
    "limit": "the limit",
    "tool": "the tool",
    "toolkit": "the toolkit",
}


class _Values(dict[str, str]):
    def __missing__(self, key: str) -> str:
        return PHRASES[key]


def all_texts() -> Mapping[str, Text]:
    """Every text by code."""
    from agent.texts import en

    return en.TEXTS


def text_for(code: str, place: str = "unknown", values: Mapping[str, str] | None = None) -> Text:
    """The text of a code for a place, filled in.

    Raises KeyError for a code without a text; a test makes sure that every rule has one.
    """
    text = all_texts()[code]
    known = _Values(values or {})

    def fill(template: str) -> str:
        return _known_parts(template, known).format_map(known).strip()

    return Text(
        title=fill(text.title),
        cause=fill(text.cause),
        fix=tuple(step for step in map(fill, text.fix_at.get(place, text.fix)) if step),
        message=fill(text.message),
    )


def _known_parts(template: str, known: Mapping[str, str]) -> str:
    """The template without the optional parts that name a value which is not known."""

    def part(match: re.Match[str]) -> str:
        names = re.findall(r"\{(\w+)\}", match.group(1))
        return match.group(1) if all(known.get(name) for name in names) else ""

    return re.sub(r"⟦([^⟦⟧]*)⟧", part, template)
