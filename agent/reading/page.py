"""A pasted text after cleaning: its lines, their numbers in the original, and where each begins."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field

from agent.model import Gap, Line


@dataclass(frozen=True, slots=True)
class Page:
    """The cleaned text that every reader searches.

    ``numbers`` holds, for each line of ``text``, its number in what was pasted (from 1);
    ``gaps`` says what of the original was left out.
    """

    text: str
    numbers: tuple[int, ...]
    gaps: tuple[Gap, ...] = ()
    starts: tuple[int, ...] = field(default=(), repr=False)

    def index_at(self, offset: int) -> int:
        """Return which line of ``text`` holds this offset (from 0)."""
        return max(0, bisect_right(self.starts, offset) - 1)

    def number_at(self, offset: int) -> int:
        """Return the original number of the line that holds this offset."""
        index = self.index_at(offset)
        return self.numbers[index] if index < len(self.numbers) else 1

    def find(self, pattern: re.Pattern[str]) -> Iterator[tuple[re.Match[str], int]]:
        """Yield each match in the text with its original line number."""
        for match in pattern.finditer(self.text):
            yield match, self.number_at(match.start())

    def lines(self) -> list[str]:
        """Return the cleaned lines, in step with ``numbers``."""
        return self.text.split("\n")

    def observed_lines(self) -> tuple[Line, ...]:
        """Return the lines that are not empty, each pointing at its place in the original."""
        return tuple(
            Line(text=line.rstrip(), pointer=f"line {number}")
            for line, number in zip(self.lines(), self.numbers, strict=False)
            if line and not line.isspace()
        )


def page_of(lines: list[str], numbers: list[int], gaps: tuple[Gap, ...]) -> Page:
    """Return a page of cleaned lines and their original numbers."""
    starts: list[int] = []
    offset = 0
    for line in lines:
        starts.append(offset)
        offset += len(line) + 1
    return Page("\n".join(lines), tuple(numbers), gaps, tuple(starts))
