"""The catalogue of causes: what each means, whose it is, what to do, how that is known."""

from __future__ import annotations

import sys

from agent.errors import UsageError
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
    """One line for each code: severity, who can fix it, code, title."""
    return tuple(
        f"{rule.severity:<9}  {rule.who:<8}  {rule.code:<44}  {text_for(rule.code).title}"
        for rule in _sorted()
    )


def catalogue_entry(code: str) -> tuple[str, ...]:
    """The lines of one code's entry; raises UsageError for a code that no rule has."""
    rule = next((rule for rule in RULES if rule.code == code), None)
    if rule is None:
        raise UsageError(
            f"there is no finding {code!r}", "run `firstlight findings` for the list of codes"
        )
    return tuple(line.strip("`#") for line in _entry(rule))


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
    for place, words in _PLACES.items():
        there = text_for(rule.code, place)
        if there.fix != text.fix:
            lines += ["", f"{words}:", ""]
            lines += [f"{number}. {step}" for number, step in enumerate(there.fix, 1)]
    if text.message:
        lines += ["", f"To the provider: “{text.message}”"]
    if rule.explains:
        lines += ["", "Explains: " + ", ".join(rule.explains)]
    return [*lines, "", f"Source: {rule.source}"]


if __name__ == "__main__":
    sys.stdout.write(catalogue_markdown())
