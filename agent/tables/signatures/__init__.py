"""How programs word what went wrong: one row for each wording, in one file for each topic."""

from __future__ import annotations

from typing import NamedTuple


class Signature(NamedTuple):
    """A wording that rules look for.

    `needs` are lower-case literals: the pattern is only compiled and tried where one of them
    occurs (an empty tuple: always). `pattern` is searched over the whole text with MULTILINE,
    so `.` ends at the line. No nested quantifiers: a pattern must run in linear time.
    """

    id: str
    needs: tuple[str, ...]
    pattern: str
    example: str
    source: str


def all_signatures() -> dict[str, Signature]:
    """Every row by its id."""
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

    rows = (
        *amd.ROWS,
        *build.ROWS,
        *container.ROWS,
        *cuda.ROWS,
        *driver.ROWS,
        *kernel_log.ROWS,
        *loader.ROWS,
        *multi.ROWS,
        *python.ROWS,
    )
    return {row.id: row for row in rows}
