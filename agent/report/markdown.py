"""A bundle as Markdown for a ticket: our words as text, whatever the file brought as code."""

from __future__ import annotations

from collections.abc import Iterator

from agent.model import Finding
from agent.report.escape import markdown, markdown_block, markdown_code
from agent.report.layout import seconds
from agent.report.shown import (
    STATUS,
    WHO,
    Shown,
    evidence,
    python_under_test,
    reason_in_words,
    root_cause,
    versions,
    what_now,
)
from agent.report.text import message_lines
from agent.report.typed import as_typed


def markdown_report(shown: Shown) -> str:
    """The report; ends with a newline."""
    parts = (_head, _findings, _error, _ladder, _machine, _rest)
    return "\n".join(line for part in parts for line in part(shown)) + "\n"


def _head(shown: Shown) -> Iterator[str]:
    verdict, run = shown.verdict, shown.bundle.run
    if shown.banner is not None:
        yield f"> **Do not trust this file.** {markdown(shown.banner)}\n"
    if run.simulated:
        yield "> **Simulated**: recorded or stand-in hardware, no real machine.\n"
    yield f"# firstlight: {verdict.status}\n"
    yield f"{STATUS[verdict.status].capitalize()}. **{what_now(verdict).capitalize()}.**\n"
    if root_cause(shown) is None:
        yield f"Why: {markdown_code(verdict.reason)}\n"
    yield f"Run {markdown_code(run.id)}, {markdown_code(run.started_at)}, depth "
    yield f"{markdown_code(run.depth)}, agent {markdown_code(run.agent_version)}"
    if shown.key_id is not None:
        yield f"Key {markdown_code(shown.key_id)}"
    yield ""


def _findings(shown: Shown) -> Iterator[str]:
    root = root_cause(shown)
    for finding in shown.findings:
        yield f"## {'Root cause: ' if finding is root else ''}{markdown(finding.title)}\n"
        yield f"`{finding.code}`, {finding.severity}, {finding.confidence} confidence; "
        yield f"can be fixed by {WHO[finding.who]}.\n"
        yield f"{markdown(finding.cause)}\n"
        yield from (
            f"{number}. {markdown(as_typed(step))}" for number, step in enumerate(finding.fix, 1)
        )
        yield ""
        yield from _evidence(shown, finding)
        if finding is root and finding.who != "renter":
            yield "Message for the provider:\n"
            yield markdown_block("\n".join(message_lines(shown, finding))) + "\n"


def _evidence(shown: Shown, finding: Finding) -> Iterator[str]:
    for pointer, value in evidence(shown, finding, most=8):
        yield f"- {markdown_code(pointer)}: {markdown_code(value[:500])}"
    yield ""


def _error(shown: Shown) -> Iterator[str]:
    error = shown.verdict.first_error
    if error is not None:
        yield f"## First error, at {markdown(error.stage)} on {markdown_code(error.subject)}\n"
        yield markdown_block(f"{error.type}: {error.text}"[:4000]) + "\n"


def _ladder(shown: Shown) -> Iterator[str]:
    verdict = shown.verdict
    yield f"## Ladder: reached {markdown(verdict.stage_reached or 'nothing')}" + (
        f", blocked at {markdown(verdict.blocked_at)}" if verdict.blocked_at else ""
    )
    yield "\n| stage | subject | status | reason | time |\n| --- | --- | --- | --- | ---: |"
    for stage in shown.bundle.stages:
        subject = markdown_code(stage.subject, in_table=True)
        yield (
            f"| {markdown(stage.name)} | {subject} | {stage.status} "
            f"| {markdown(reason_in_words(stage))} | {seconds(stage.seconds)} |"
        )
    yield ""


def _machine(shown: Shown) -> Iterator[str]:
    python = python_under_test(shown.bundle)
    if python is not None:
        yield f"Python under test: {markdown_code(python)}\n"
    known = versions(shown.bundle)
    if known:
        yield "Versions (they may differ): " + ", ".join(
            f"{what} {markdown_code(version)}" for what, version in known
        )
        yield ""
    for device in shown.bundle.facts.devices:
        yield f"- GPU {markdown_code(device.name or 'unnamed')} {markdown_code(device.id)}"
    yield ""


def _rest(shown: Shown) -> Iterator[str]:
    for title, lines in (
        ("Not shown by this run", shown.verdict.not_covered),
        ("Look at", shown.look_at),
        ("The file's own judgement differs from these rules", shown.differences),
        ("Gaps", tuple(f"{gap.pointer}: {gap.why}" for gap in shown.bundle.gaps)),
    ):
        if lines:
            yield f"## {title}\n"
            yield from (f"- {markdown_code(line)}" for line in lines[:100])
            yield ""
