"""An explanation on a screen: the likely cause, who can fix it, what to type, and the lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from agent.report.escape import terminal
from agent.report.layout import shortened, wrap
from agent.report.typed import as_typed

if TYPE_CHECKING:
    from agent.explain import Explanation
    from agent.model import Finding

WHO = {"renter": "you", "provider": "your provider", "either": "you or your provider"}
_MOST_LINES = 5
_MOST_COLUMNS = 240  # of a line that is shown


def explanation_text(explained: Sequence[Explanation]) -> str:
    """Return what ``agent explain`` prints for a person, safe for a terminal."""
    lines: list[str] = []
    for one in explained:
        if len(explained) > 1:
            lines += (
                ["", f"== {terminal(one.source)} =="]
                if lines
                else [f"== {terminal(one.source)} =="]
            )
        lines += _one(one)
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _one(one: Explanation) -> Iterator[str]:
    if not one.findings:
        what = "text" if one.observations.from_text else "bundle"
        yield f"No cause that I know stands out in this {what}."
    for number, finding in enumerate(one.findings):
        if number == 1:
            yield ""
            yield "Also possible:" if finding.severity != "note" else "Worth knowing:"
        if number == 0:
            yield from _root(one, finding)
        else:
            yield from wrap(f"{finding.title} ({finding.code}; {_sure(finding)})", first="  ")
    if one.look_at:
        yield ""
        yield "What would tell more:"
        for item in one.look_at:
            yield from wrap(terminal(as_typed(item)), first="  - ", rest="    ", hard=True)


def _root(one: Explanation, finding: Finding) -> Iterator[str]:
    yield from wrap(f"Likely cause: {finding.title}")
    yield from wrap(finding.cause, first="  ")
    yield from wrap(
        f"Who can fix it: {WHO[finding.who]}.  ({finding.code}, {finding.severity}, "
        f"{_sure(finding)})",
        first="  ",
    )
    if finding.fix:
        yield "  What to do, one step at a time:"
    for number, step in enumerate(finding.fix, 1):
        yield from wrap(as_typed(step), first=f"  {number}. ")
    texts = {line.pointer: line.text for line in one.observations.lines}
    for pointer in finding.evidence[:_MOST_LINES]:
        text = texts.get(pointer, "")
        first = f"  seen at {terminal(pointer)}" + (": " if text else "")
        said = shortened(terminal(text.strip()), _MOST_COLUMNS)
        yield from wrap(said, first=first, rest=" " * 10, hard=True)


def _sure(finding: Finding) -> str:
    return f"{finding.confidence} confidence"
