"""Lines of text for a screen of a given width: wrapped by what characters occupy on a terminal."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass

WIDTH = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A line and how it may be set off: plain, strong, good, bad, warn, faint.

    The tone only repeats what the words say; without colour nothing is lost.
    """

    text: str = ""
    tone: str = "plain"


def plain_text(rows: list[Row]) -> str:
    """The rows as text without any styling."""
    return "".join(row.text.rstrip() + "\n" for row in rows)


def cells(text: str) -> int:
    """How many columns a text takes on a terminal."""
    if text.isascii():
        return len(text)
    return sum(_width(letter) for letter in text)


def _width(letter: str) -> int:
    if unicodedata.combining(letter):
        return 0
    return 2 if unicodedata.east_asian_width(letter) in ("W", "F") else 1


def wrap(
    text: str, *, first: str = "", rest: str | None = None, width: int = WIDTH, hard: bool = False
) -> list[str]:
    """The text in lines of at most ``width`` columns, ``first`` and ``rest`` put before them.

    A single word that is too long (a path, an address to type) stays whole and runs over, so that
    it can be copied; ``hard`` breaks it, as befits a stranger's text.
    """
    rest = " " * cells(first) if rest is None else rest
    lines: list[str] = []
    line, empty = first, True
    for word in text.split():
        while True:
            gap = "" if empty else " "
            if cells(line) + len(gap) + cells(word) <= width:
                line, empty = line + gap + word, False
                break
            if not empty:
                lines.append(line)
                line, empty = rest, True
            elif not hard:
                line, empty = line + word, False
                break
            else:
                head = _head(word, width - cells(line))
                lines.append(line + head)
                line, word = rest, word[len(head) :]
                if not word:
                    break
    return [*lines, line] if not empty or not lines else lines


def _head(word: str, columns: int) -> str:
    taken = 0
    for index, letter in enumerate(word):
        taken += _width(letter)
        if taken > columns:
            return word[: max(index, 1)]
    return word


def shortened(text: str, columns: int) -> str:
    """The text cut to a number of columns, with an ellipsis where something was cut."""
    if cells(text) <= columns:
        return text
    return _head(text, columns - 1) + "…"


def seconds(value: float) -> str:
    """A duration with the precision a person needs: 0.04 s, 1.3 s, 12 s, 3 min 5 s."""
    if value < 0.1:
        return f"{value:.2f} s"
    if value < 10:
        return f"{value:.1f} s"
    if value < 120:
        return f"{value:.0f} s"
    return f"{int(value) // 60} min {int(value) % 60} s"


def size(value: object) -> str | None:
    """A number of bytes in words, None for anything else: 512 KiB, 23.5 MiB, 139.8 GiB."""
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return None
    if value < 1 << 20:
        return f"{value / 1024:.0f} KiB"
    if value < 10 << 30:
        return f"{value / (1 << 20):.1f} MiB"
    return f"{value / (1 << 30):.1f} GiB"
