"""The printed lines as one searchable text: which known wordings occur, and where."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from agent.model import Line
from agent.tables.signatures import Signature, all_signatures

LONGEST_LINE = 8192  # characters; of a longer line its two ends are judged
MOST_HITS = 20  # occurrences of one wording that are kept


@dataclass(frozen=True, slots=True)
class Hit:
    """A wording found in the printed lines; `line` counts them from 0."""

    signature: str
    pointer: str
    line: int
    text: str
    groups: tuple[str, ...]  # "" for a group that took no part

    def group(self, number: int) -> str:
        """The text of capture group `number` (from 1), or ""."""
        return self.groups[number - 1] if 0 < number <= len(self.groups) else ""


@dataclass(frozen=True)
class Lines:
    """The observed lines, joined once and searched as a whole."""

    observed: tuple[Line, ...]

    @cached_property
    def text(self) -> str:
        """All printed lines in one string; of a line over 8 KiB only its two ends."""
        half = LONGEST_LINE // 2
        return "\n".join(
            line.text if len(line.text) <= LONGEST_LINE else line.text[:half] + line.text[-half:]
            for line in self.observed
        )

    @cached_property
    def lower(self) -> str:
        """`text` in lower case, for literals."""
        return self.text.lower()

    @cached_property
    def words(self) -> str:
        """`lower` in one line, so that a wrapped sentence is found."""
        return self.lower.replace("\n", " ")

    @cached_property
    def too_long(self) -> tuple[str, ...]:
        """Pointers of lines that were judged by their ends only."""
        return tuple(line.pointer for line in self.observed if len(line.text) > LONGEST_LINE)

    def found(self, signature: str) -> tuple[Hit, ...]:
        """The occurrences of the signature with this id, at most 20, in the order of the text."""
        if signature not in self._cache:
            self._cache[signature] = tuple(self._search(_signatures()[signature]))
        return self._cache[signature]

    def pointer_of(self, literal: str) -> str | None:
        """Where the first line stands that contains `literal`, or None."""
        place = self.text.find(literal)
        return None if place < 0 else self.observed[self._number(place)].pointer

    @cached_property
    def _cache(self) -> dict[str, tuple[Hit, ...]]:
        return {}

    @cached_property
    def _starts(self) -> list[tuple[int, int]]:
        """Where each physical line of `text` starts, and which observed line it belongs to."""
        starts, place, half = [], 0, LONGEST_LINE // 2
        for number, line in enumerate(self.observed):
            kept = line.text
            if len(kept) > LONGEST_LINE:
                kept = kept[:half] + kept[-half:]
            starts.append((place, number))
            place += len(kept) + 1
        return starts

    def _number(self, place: int) -> int:
        return self._starts[bisect_right(self._starts, (place, len(self.observed))) - 1][1]

    def _search(self, row: Signature) -> Iterator[Hit]:
        if not self.text or (row.needs and not any(need in self.words for need in row.needs)):
            return
        for count, match in enumerate(_pattern(row).finditer(self.text)):
            if count == MOST_HITS:
                return
            number = self._number(match.start())
            groups = tuple(group or "" for group in match.groups())
            yield Hit(row.id, self.observed[number].pointer, number, match.group(0), groups)


_ROWS: dict[str, Signature] = {}
_PATTERNS: dict[str, re.Pattern[str]] = {}


def _signatures() -> dict[str, Signature]:
    if not _ROWS:
        _ROWS.update(all_signatures())
    return _ROWS


def _pattern(row: Signature) -> re.Pattern[str]:
    if row.id not in _PATTERNS:
        _PATTERNS[row.id] = re.compile(wrapped(row.pattern), re.MULTILINE)
    return _PATTERNS[row.id]


def wrapped(pattern: str) -> str:
    """The pattern with each space outside a character class matching a line break as well.

    People paste what a terminal or a mail program has wrapped.
    """
    out, inside, escaped = [], False, False
    for sign in pattern:
        if escaped:
            escaped = False
        elif sign == "\\":
            escaped = True
        elif sign == "[":
            inside = True
        elif sign == "]":
            inside = False
        elif sign == " " and not inside:
            out.append(r"(?:\s{1,9})")
            continue
        out.append(sign)
    return "".join(out)
