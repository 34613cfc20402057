"""The catalogue of causes: what each means, whose it is, what to do, how that is known."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Iterator

from agent.errors import UsageError
from agent.report.layout import wrap
from agent.report.shown import WHO
from agent.report.typed import as_typed
from agent.rules import RULES
from agent.rules.rule import Rule
from agent.texts import text_for

_INTRO = (
    "# Findings",
    "",
    "Every cause that firstlight can name. This page is generated: `python -m agent.catalogue >"
    " docs/findings.md`.",
    "",
)
_PLACES = {"container": "In a container", "bare": "On a machine of your own", "wsl": "In WSL"}


def catalogue_lines() -> tuple[str, ...]:
    """For each code a line with its severity and who can fix it, and its title under it."""
    lines: list[str] = []
    for rule in _sorted():
        lines.append(f"{rule.code} ({rule.severity}; {WHO[rule.who]})")
        lines += wrap(text_for(rule.code).title, first="    ")
    return tuple(lines)


def catalogue_entry(code: str) -> tuple[str, ...]:
    """The lines of one code's entry; raises UsageError for a code that no rule has."""
    rule = next((rule for rule in RULES if rule.code == code), None)
    if rule is None:
        near = difflib.get_close_matches(code, [rule.code for rule in RULES], 1)
        raise UsageError(
            f"there is no finding {code!r}" + (f"; did you mean {near[0]}?" if near else ""),
            "see the list of codes: agent findings",
        )
    return tuple(_entry_on_a_screen(rule))


def _entry_on_a_screen(rule: Rule) -> Iterator[str]:
    text = text_for(rule.code)
    yield f"{rule.code} ({rule.severity}; who can fix it: {WHO[rule.who]})"
    yield from wrap(text.title, first="  ")
    yield ""
    yield from wrap(text.cause, first="  ")
    for words, steps in _steps_by_place(rule):
        yield ""
        yield f"  {words}:"
        for number, step in enumerate(steps, 1):
            yield from wrap(as_typed(step), first=f"  {number}. ")
    if text.message:
        yield ""
        yield from wrap(f"To the provider: “{text.message}”", first="  ")
    if rule.explains:
        yield ""
        yield from wrap("Explains: " + ", ".join(rule.explains), first="  ")
    yield ""
    yield from wrap(f"Source: {rule.source}", first="  ")


def _steps_by_place(rule: Rule) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The steps that hold anywhere, then those of the places where they differ."""
    text = text_for(rule.code)
    if text.fix:
        yield "What to do, one step at a time", text.fix
    for place, words in _PLACES.items():
        there = text_for(rule.code, place)
        if there.fix != text.fix:
            yield words, there.fix


def catalogue_markdown() -> str:
    """The whole catalogue as Markdown, codes in alphabetical order."""
    lines = list(_INTRO)
    for rule in _sorted():
        lines += [*_entry(rule), ""]
    return "\n".join(lines).rstrip() + "\n"


def _sorted() -> list[Rule]:
    return sorted(RULES, key=lambda rule: rule.code)


def _entry(rule: Rule) -> list[str]:
    text = text_for(rule.code)
    lines = [
        f"## {rule.code}",
        "",
        f"**{text.title}** ({rule.severity}; who can fix it: {rule.who})",
        "",
        text.cause,
        "",
        *(f"{number}. {step}" for number, step in enumerate(text.fix, 1)),
    ]
    for words, steps in _steps_by_place(rule):
        if steps != text.fix:
            lines += ["", f"{words}:", ""]
            lines += [f"{number}. {step}" for number, step in enumerate(steps, 1)]
    if text.message:
        lines += ["", f"To the provider: “{text.message}”"]
    if rule.explains:
        lines += ["", "Explains: " + ", ".join(rule.explains)]
    return [*lines, "", f"Source: {rule.source}"]


if __name__ == "__main__":
    sys.stdout.write(catalogue_markdown())
