"""Rows for rule tests: a text that fires, its nearest healthy neighbour, texts from elsewhere."""

from __future__ import annotations

from dataclasses import dataclass

from agent.judge import Judgement, judge
from agent.model import Observations
from agent.reading.read import read_text
from agent.rules.rule import Rule


@dataclass(frozen=True, kw_only=True)
class Row:
    """What must lead to `code` first, and what must not lead to it at all.

    `fires` and `quiet` are the nearest neighbours of each other. `elsewhere` are other wordings and
    layouts, written anew after the public texts named in `source`.
    """

    code: str
    fires: str
    quiet: str
    elsewhere: tuple[str, ...]
    source: str


def of_text(text: str) -> Judgement:
    """The judgement of a pasted text; a rule that raises fails the test."""
    return of(read_text(text))


def of(observations: Observations) -> Judgement:
    """The judgement of observations; a rule that raises fails the test."""

    def fail(rule: Rule, error: Exception) -> None:
        raise AssertionError(f"the rule {rule.code} raised") from error

    return judge(observations, on_error=fail)


def codes(judgement: Judgement) -> list[str]:
    """The codes of the findings, best first."""
    return [finding.code for finding in judgement.findings]


def first(text: str) -> str | None:
    """The first finding's code, or None."""
    return next(iter(codes(of_text(text))), None)


def alarms(text: str) -> list[str]:
    """Codes of blocking and degrading findings."""
    return [item.code for item in of_text(text).findings if item.severity != "note"]
