"""Prints what the signature of a bundle shows, as text or JSON."""

from __future__ import annotations

import sys

from agent import codec, jsonio
from agent.report.escape import terminal
from agent.report.layout import Row, wrap
from agent.report.screen import print_rows
from agent.verify import Verification, trust_argument, verify


def report_verification(
    data: bytes, *, trust: str | None, challenge: str | None, as_json: bool
) -> int:
    """Checks the bytes of a file, prints the result on stdout and returns the exit code: 0 or 4."""
    trusted = trust_argument(trust) if trust is not None else None
    result = verify(data, trusted, challenge)
    if as_json:
        sys.stdout.write(jsonio.dumps(verification_json(result), indent=True).decode())
    else:
        print_rows(verification_rows(result), sys.stdout)
    return 0 if result.good else 4


def verification_rows(result: Verification) -> list[Row]:
    """The result in words, at most 80 columns."""
    rows = []
    if result.good:
        rows.append(Row(text="GOOD: the signature is intact", tone="good"))
    else:
        rows.append(Row(text="NOT GOOD: do not rely on this file", tone="bad"))
        rows += [
            Row(text=line) for line in wrap(terminal(result.problem or ""), first="  ", hard=True)
        ]
    if result.shows:
        rows.append(Row(text="What this shows:", tone="strong"))
    for sentence in result.shows:
        rows += [Row(text=line) for line in wrap(terminal(sentence), first="  - ")]
    return rows


def verification_json(result: Verification) -> dict[str, object]:
    """The result as a JSON object, without the bundle itself."""
    members = codec.to_json(result)
    members.pop("bundle", None)
    return dict(members)
