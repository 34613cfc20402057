"""Renders a bundle file in the form asked for, judged anew, under a banner if it is not intact."""

from __future__ import annotations

import sys

from agent import jsonio
from agent.errors import BundleError
from agent.report.screen import print_rows
from agent.report.shown import Shown, shown_of
from agent.verify import verify


def show_bundle(data: bytes, *, form: str, redactions: bool) -> int:
    """Prints the bundle on stdout and returns the exit code: 0, or 4 if it cannot be trusted.

    Raises ``BundleError`` where the file does not have the form of a bundle.
    """
    result = verify(data)
    if result.bundle is None:
        raise BundleError(
            result.problem or "This is not a bundle.",
            "to have pasted text explained instead: agent explain FILE",
        )
    shown = shown_of(result.bundle, banner=result.problem, key_id=result.key_id)
    if form == "text":
        _print_text(shown, redactions)
    else:
        write_utf8(rendered(shown, data, form))
    return 0 if result.good else 4


def _print_text(shown: Shown, redactions: bool) -> None:
    from agent.report.layout import Row
    from agent.report.text import redaction_rows, screen_rows

    rows = screen_rows(shown)
    print_rows([*rows, Row(), *redaction_rows(shown)] if redactions else rows, sys.stdout)


def write_utf8(text: str) -> None:
    """Writes a document to stdout in the encoding that it is read in, whatever the locale's."""
    stream = getattr(sys.stdout, "buffer", None)
    if stream is None:
        sys.stdout.write(text)
        return
    sys.stdout.flush()
    stream.write(text.encode("utf-8", "backslashreplace"))
    stream.flush()


def rendered(shown: Shown, data: bytes, form: str) -> str:
    """The bundle as markdown, html, json or collect-env."""
    if form == "markdown":
        from agent.report.markdown import markdown_report

        return markdown_report(shown)
    if form == "html":
        from agent.report.html import html_report

        return html_report(shown)
    if form == "collect-env":
        from agent.report.collect_env import collect_env_report

        return collect_env_report(shown.bundle)
    # Escapes keep a terminal safe from what a stranger put into strings.
    import json

    text = json.dumps(jsonio.strict_loads(data), indent=2, ensure_ascii=True)
    return text.replace("\x7f", "\\u007f") + "\n"
