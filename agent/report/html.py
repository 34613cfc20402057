"""A bundle as one HTML page that loads nothing, runs nothing and shows any text as text."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Iterator

from agent.model import Finding
from agent.report.escape import markup
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

_STYLE = """
:root{color-scheme:light dark}
body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}
pre,code{font:14px/1.45 ui-monospace,monospace}
pre{white-space:pre-wrap;overflow-wrap:anywhere;border:1px solid #8886;padding:.7rem}
table{border-collapse:collapse;width:100%}
th,td{text-align:left;padding:.25rem .6rem;border-bottom:1px solid #8884;overflow-wrap:anywhere}
th,td:first-child{min-width:5.5rem}
.banner{border:3px solid #c00;padding:.6rem 1rem;font-weight:bold}
.ready{border-left:.6rem solid #2a7}.degraded,.inconclusive{border-left:.6rem solid #c80}
.blocked{border-left:.6rem solid #c00}
.verdict{padding:.2rem 1rem}
"""


def html_report(shown: Shown) -> str:
    """The page: no script, no outside resource, a policy that forbids both."""
    digest = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    parts = (_banner, _head, _findings, _error, _ladder, _machine, _rest)
    body = "\n".join(line for part in parts for line in part(shown))
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="referrer" content="no-referrer">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>firstlight: {shown.verdict.status}</title>\n<style>{_STYLE}</style>\n"
        f"</head>\n<body>\n{body}\n</body>\n</html>\n"
    )


def _banner(shown: Shown) -> Iterator[str]:
    if shown.banner is not None:
        yield f'<p class="banner">Do not trust this file. {markup(shown.banner)}</p>'
    if shown.bundle.run.simulated:
        yield '<p class="banner">Simulated: recorded or stand-in hardware, no real machine.</p>'


def _head(shown: Shown) -> Iterator[str]:
    verdict, run = shown.verdict, shown.bundle.run
    yield f'<div class="verdict {verdict.status}"><h1>{verdict.status.capitalize()}: '
    yield f"{STATUS[verdict.status]}</h1>"
    yield f"<p><strong>{what_now(verdict).capitalize()}.</strong></p>"
    if root_cause(shown) is None:
        yield f"<p>{markup(verdict.reason)}</p>"
    yield "</div>"
    rows = [("run", run.id), ("started", run.started_at), ("depth", run.depth)]
    rows += [("agent", run.agent_version), ("key", shown.key_id or "not signed, or not intact")]
    if run.ticket:
        rows.append(("ticket", run.ticket))
    yield _table((), rows)


def _findings(shown: Shown) -> Iterator[str]:
    root = root_cause(shown)
    for finding in shown.findings:
        label = "Root cause: " if finding is root else ""
        yield f"<h2>{label}{markup(finding.title)}</h2>"
        yield (
            f"<p><code>{markup(finding.code)}</code>, {finding.severity}, {finding.confidence} "
            f"confidence; can be fixed by {WHO[finding.who]}.</p><p>{markup(finding.cause)}</p>"
        )
        yield (
            "<ol>" + "".join(f"<li>{markup(as_typed(step))}</li>" for step in finding.fix) + "</ol>"
        )
        yield from _evidence(shown, finding)
        if finding is root and finding.who != "renter":
            yield "<p>Message for the provider:</p>"
            yield f"<pre>{markup(chr(10).join(message_lines(shown, finding)))}</pre>"


def _evidence(shown: Shown, finding: Finding) -> Iterator[str]:
    found = evidence(shown, finding, most=8)
    if found:
        yield _table(("evidence", "value"), [(pointer, value[:500]) for pointer, value in found])


def _error(shown: Shown) -> Iterator[str]:
    error = shown.verdict.first_error
    if error is not None:
        yield f"<h2>First error, at {markup(error.stage)} on {markup(error.subject)}</h2>"
        yield f"<pre>{markup(f'{error.type}: {error.text}'[:8000])}</pre>"


def _ladder(shown: Shown) -> Iterator[str]:
    verdict = shown.verdict
    blocked = f", blocked at {verdict.blocked_at}" if verdict.blocked_at else ""
    yield f"<h2>Ladder: reached {markup((verdict.stage_reached or 'nothing') + blocked)}</h2>"
    yield _table(
        ("stage", "subject", "status", "reason", "time"),
        [
            (
                stage.name,
                stage.subject,
                stage.status,
                reason_in_words(stage),
                seconds(stage.seconds),
            )
            for stage in shown.bundle.stages
        ],
    )


def _machine(shown: Shown) -> Iterator[str]:
    yield "<h2>Versions</h2><p>They may differ: torch brings its own CUDA or ROCm.</p>"
    python = python_under_test(shown.bundle)
    tested = [("Python under test", python)] if python is not None else []
    yield _table((), [*tested, *versions(shown.bundle)])
    devices = [
        (device.name or "", device.uuid or "", device.pci_address or "")
        for device in shown.bundle.facts.devices
    ]
    if devices:
        yield _table(("GPU", "UUID", "PCI"), devices)


def _rest(shown: Shown) -> Iterator[str]:
    for title, lines in (
        ("Not shown by this run", shown.verdict.not_covered),
        ("Look at", shown.look_at),
        ("The file's own judgement differs from these rules", shown.differences),
        ("Gaps", tuple(f"{gap.pointer}: {gap.why}" for gap in shown.bundle.gaps)),
    ):
        if lines:
            items = "".join(f"<li>{markup(line)}</li>" for line in lines[:200])
            yield f"<h2>{markup(title)}</h2><ul>{items}</ul>"


def _table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    titles = "".join(f'<th scope="col">{markup(title)}</th>' for title in head)
    body = "".join(
        "<tr>" + "".join(f"<td>{markup(cell)}</td>" for cell in row) + "</tr>" for row in rows
    )
    return f"<table>{f'<tr>{titles}</tr>' if titles else ''}{body}</table>"
