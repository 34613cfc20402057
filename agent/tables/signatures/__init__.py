"""How programs word what went wrong: one row for each wording, in one file for each topic."""

from __future__ import annotations

from typing import NamedTuple


class Signature(NamedTuple):
    """A wording that rules look for.

    `needs` are lower-case literals: the pattern is only compiled and tried where one of them
    occurs (an empty tuple: always). `pattern` is searched over the whole text with MULTILINE,
    so `.` ends at the line, while a space also matches a line break (see `rules.lines.wrapped`).
    No nested quantifiers, and bounded ones for broad classes: a pattern must run in linear time.
    """

    id: str
    needs: tuple[str, ...]
    pattern: str
    example: str
    source: str


def all_topics() -> tuple[tuple[Signature, ...], ...]:
    """The rows of each topic's file."""
    from agent.tables.signatures import (
        amd,
        build,
        container,
        cuda,
        driver,
        kernel_log,
        loader,
        multi,
        python,
    )

    topics = (amd, build, container, cuda, driver, kernel_log, loader, multi, python)
    return tuple(topic.ROWS for topic in topics)


def all_signatures() -> dict[str, Signature]:
    """Every row by its id."""
    return {row.id: row for topic in all_topics() for row in topic}
