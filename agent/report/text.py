"""The verdict on 80 columns: may I start, what is broken, who can fix it, what do I type."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path

from agent.model import Finding, Stage
from agent.report import layout
from agent.report.escape import terminal, terminal_lines
from agent.report.layout import Row, shortened, wrap
from agent.report.measurements import measurement_lines
from agent.report.shown import (
    STATUS,
    WHO,
    Shown,
    blamed_devices,
    evidence,
    python_under_test,
    reason_in_words,
    root_cause,
    steps_and_message,
    versions,
    what_now,
)
from agent.report.typed import as_typed

_TONES = {"ready": "good", "degraded": "warn", "blocked": "bad", "inconclusive": "warn"}
_MOST_ERROR_LINES = 6
_MOST_ROWS = 40
RULER = "-" * 72


def screen_rows(shown: Shown) -> list[Row]:
    """The whole verdict screen."""
    parts = (
        _banner,
        _head,
        _root,
        _others,
        _first_error,
        _ladder,
        _measured,
        _versions,
        _rest,
        _file,
    )
    rows: list[Row] = []
    for part in parts:
        added = list(part(shown))
        if added and rows:
            rows.append(Row())
        rows += added
    return rows


def verdict_rows(shown: Shown) -> list[Row]:
    """What is printed as soon as the quick rungs stand: verdict, root cause, first error."""
    rows: list[Row] = []
    for part in (_head, _root, _first_error):
        added = list(part(shown))
        rows += [Row(), *added] if added and rows else added
    return rows


def command_rows(shown: Shown) -> list[Row]:
    """What follows a measured command: its cause if one was found, and the file."""
    rows: list[Row] = []
    for part in (_root, _file):
        added = list(part(shown))
        rows += [Row(), *added] if added and rows else added
    return rows


# ---------------------------------------------------------------- the parts, top to bottom
def _banner(shown: Shown) -> Iterator[Row]:
    if shown.banner is not None:
        yield Row(text="DO NOT TRUST THIS FILE", tone="bad")
        for line in wrap(terminal(shown.banner), first="  ", hard=True):
            yield Row(text=line, tone="bad")
    if shown.bundle.run.simulated:
        yield Row(text="SIMULATED: recorded or stand-in hardware, not this machine", tone="warn")
    if shown.bundle.run.interrupted:
        yield Row(text=f"INTERRUPTED by {terminal(shown.bundle.run.interrupted)}", tone="warn")


def _head(shown: Shown) -> Iterator[Row]:
    verdict = shown.verdict
    tone = _TONES[verdict.status]
    yield Row(text=f"{verdict.status.upper()}: {STATUS[verdict.status]}", tone=tone)
    yield from _wrapped(f"Do now: {what_now(verdict)}", "  ", tone="strong")
    if root_cause(shown) is None:
        yield from _wrapped(f"Why: {verdict.reason}", "  ", hard=True)


def _root(shown: Shown) -> Iterator[Row]:
    root = root_cause(shown)
    if root is None:
        if shown.verdict.status == "blocked":
            yield Row(text="Root cause: none that is known fits", tone="strong")
            yield from _message(shown, None, "To ask for help, paste this:")
        return
    yield from _wrapped(f"Root cause: {root.title}", "", tone="strong")
    yield from _wrapped(root.cause, "  ")
    yield from _wrapped(
        f"Who can fix it: {WHO[root.who]}.  ({root.code}, {root.severity}, {root.confidence} "
        "confidence)",
        "  ",
    )
    steps = steps_and_message(root)[0] if root.who != "renter" else root.fix
    if steps:
        yield Row(text="  What to do, one step at a time:")
    for number, step in enumerate(steps, 1):
        yield from _wrapped(as_typed(step), f"  {number}. ")
    for pointer, value in evidence(shown, root):
        yield from _wrapped(f"{pointer}: {value[:300]}", "  seen: ", tone="faint", hard=True)
    if root.who != "renter":
        yield from _message(shown, root, "A message to paste for your provider:")


def _message(shown: Shown, root: Finding | None, title: str) -> Iterator[Row]:
    yield Row(text=f"  {title}")
    yield Row(text="  " + RULER)
    for line in message_lines(shown, root):
        for row in wrap(line, first="  ", hard=True):
            yield Row(text=row)
    yield Row(text="  " + RULER)


def message_lines(shown: Shown, finding: Finding | None) -> Iterator[str]:
    """A report that somebody else can act on: what, which device, which driver, what proof.

    Without a ``finding`` it says how far the machine got.
    """
    bundle = shown.bundle
    if finding is not None:
        yield terminal(f"Fault on a GPU machine: {finding.title} [{finding.code}]")
        asked = steps_and_message(finding)[1]
        if asked is not None:
            yield terminal(asked)
    else:
        blocked = (
            f"blocked at {shown.verdict.blocked_at}" if shown.verdict.blocked_at else "blocked"
        )
        yield terminal(f"A GPU machine does not work: {blocked}, cause unknown")
    devices = bundle.facts.devices if finding is None else blamed_devices(shown, finding)
    for device in devices[:16]:
        parts = (
            device.name or "GPU",
            f"UUID {device.uuid}" if device.uuid else "",
            f"PCI {device.pci_address}" if device.pci_address else "",
        )
        yield terminal("GPU: " + ", ".join(part for part in parts if part))
    if not bundle.facts.devices:
        for pci in [item for item in bundle.facts.host.pci if item.vendor != "other"][:16]:
            yield terminal(f"GPU: {pci.name or pci.device_id}, PCI {pci.address}")
    known = ", ".join(f"{what} {version}" for what, version in versions(bundle))
    yield terminal(f"Versions: {known}" if known else "Versions: none could be read")
    error = shown.verdict.first_error
    if error is not None:
        last = [line for line in error.text.splitlines() if line.strip()][-1:]
        yield terminal(f"First error, at {error.stage}: {error.type}: {''.join(last)[:300]}")
    proof = f"Proof: firstlight bundle of run {bundle.run.id}, {bundle.run.started_at}"
    if bundle.run.ticket:
        proof += f", ticket {bundle.run.ticket}"
    yield terminal(proof + (f", key {shown.key_id}" if shown.key_id else ""))


def _others(shown: Shown) -> Iterator[Row]:
    root = root_cause(shown)
    others = [finding for finding in shown.findings if finding is not root]
    if others:
        yield Row(text="Also found:", tone="strong")
    for finding in others[:_MOST_ROWS]:
        yield from _wrapped(
            f"{finding.title} ({finding.code}; {WHO[finding.who]})", f"  {finding.severity}: "
        )
        for step in finding.fix[:1] if finding.severity != "note" else ():
            yield from _wrapped(as_typed(step), "    do: ")


def _first_error(shown: Shown) -> Iterator[Row]:
    error = shown.verdict.first_error
    if error is None:
        return
    subject = "" if error.subject == "host" else f" on {error.subject}"
    yield from _wrapped(f"First error, word for word, at {error.stage}{subject}:", "", hard=True)
    lines = [line for line in terminal_lines(error.text) if line.strip()]
    shown_lines = [f"{terminal(error.type)}: {lines[0]}" if lines else terminal(error.type)]
    shown_lines += lines[1:]
    for line in shown_lines[:_MOST_ERROR_LINES]:
        for row in wrap(line[:400], first="  ", hard=True):
            yield Row(text=row)
    if len(shown_lines) > _MOST_ERROR_LINES:
        yield Row(text=f"  … {len(shown_lines) - _MOST_ERROR_LINES} more lines in the bundle")


def _ladder(shown: Shown) -> Iterator[Row]:
    verdict = shown.verdict
    reached = verdict.stage_reached or "nothing"
    blocked = f", blocked at {verdict.blocked_at}" if verdict.blocked_at else ""
    yield Row(text=f"The ladder: reached {reached}{blocked}", tone="strong")
    stages = shown.bundle.stages
    for stage in stages[:_MOST_ROWS]:
        yield Row(text=rung_line(stage), tone="plain" if stage.status == "passed" else "strong")
        if stage.status in ("crashed", "timed_out"):
            yield from _wrapped(_death(stage), " " * 14, hard=True)
    if len(stages) > _MOST_ROWS:
        yield Row(text=f"  … {len(stages) - _MOST_ROWS} more in the bundle")


def rung_line(stage: Stage) -> str:
    """One rung in at most 80 columns, the status as a word."""
    name = stage.name if stage.subject == "host" else f"{stage.name} {stage.subject}"
    name = shortened(terminal(name), 34)
    padding = " " * (34 - layout.cells(name))
    took = "" if stage.status == "skipped" else layout.seconds(stage.seconds)
    line = f"  {stage.status:<11} {name}{padding} {took:>10}  {terminal(reason_in_words(stage))}"
    return shortened(line.rstrip(), layout.WIDTH)


def _death(stage: Stage) -> str:
    """How a stage ended that did not end itself, and in which step."""
    how = stage.signal or ("no answer" if stage.status == "timed_out" else "")
    if stage.exit_code is not None and not stage.signal:
        how = f"exit code {stage.exit_code}"
    return f"{how} at step “{stage.steps[-1].name}”" if stage.steps else how


def _measured(shown: Shown) -> Iterator[Row]:
    lines = list(measurement_lines(shown.bundle.stages))
    if lines:
        yield Row(text="Measured", tone="strong")
    for line in lines[:_MOST_ROWS]:
        yield from _wrapped(line, "  ", hard=True)


def _versions(shown: Shown) -> Iterator[Row]:
    python = python_under_test(shown.bundle)
    if python is not None:
        yield from _wrapped(python, "Python under test: ", hard=True)
    known = versions(shown.bundle)
    if not known:
        return
    torch = [f"{what} {version}" for what, version in known if what == "torch"]
    others = [f"{what} {version}" for what, version in known if what != "torch"]
    yield from _wrapped(", ".join(torch) or "no torch", "Versions: ", hard=True)
    if others:
        yield from _wrapped(", ".join(others), "  ", hard=True)
    yield from _wrapped(
        "These may differ: torch brings its own CUDA or ROCm and needs only a driver that is new "
        "enough; the toolkit matters only for compiling.",
        "  ",
        tone="faint",
    )


def _rest(shown: Shown) -> Iterator[Row]:
    climbed = {stage.name for stage in shown.bundle.stages}  # the ladder above shows these
    missing = [
        line for line in shown.verdict.not_covered if line.split(":")[0].split()[0] not in climbed
    ]
    if missing:
        yield Row(text="Not tried by this run:", tone="strong")
        for line in missing[:8]:
            yield from _wrapped(line, "  - ", hard=True)
        if len(missing) > 8:
            yield Row(text=f"  … {len(missing) - 8} more in the bundle")
    for line in shown.look_at[:5]:
        yield from _wrapped(line, "  look at: ", hard=True)
    if shown.bundle.gaps:
        yield Row(text=f"Could not be looked at: {len(shown.bundle.gaps)} facts (gaps in the file)")
    if shown.differences:
        yield Row(text="The file's own judgement differs from these rules:", tone="warn")
        for line in shown.differences[:20]:
            yield from _wrapped(line, "  - ", hard=True)


def _file(shown: Shown) -> Iterator[Row]:
    place = shown.place
    here, remote = names_of_file(Path(place)) if place is not None else ("", "")
    if place is not None:
        yield from _wrapped(here, "Bundle: ", tone="strong")
    if shown.key_id is not None:
        yield Row(text=f"Key:    {shown.key_id}")
        if place is not None and shown.bundle.run.key_source == "one-time":
            yield from _wrapped(
                "a one-time key: note the fingerprint; it shows later that the file is this one",
                "        ",
                tone="faint",
            )
    if place is not None:
        yield from fetch_rows(here, remote)


def names_of_file(
    path: Path, environ: Mapping[str, str] = os.environ, workdir: Path | None = None
) -> tuple[str, str]:
    """The file's name here, and the one that scp takes; neither says whose home it lies in."""
    workdir = _workdir() if workdir is None else workdir
    home = environ.get("HOME", "")
    whole = path if path.is_absolute() else workdir / path
    in_home = len(Path(home).parts) > 1 and whole.is_relative_to(home)
    remote = str(whole.relative_to(home)) if in_home else str(whole)
    if whole.parent == workdir:
        return whole.name, remote
    return (f"~/{remote}" if in_home else str(whole)), remote


def _workdir() -> Path:
    try:
        return Path.cwd()
    except OSError:
        return Path("/")


def fetch_rows(here: str, remote: str) -> Iterator[Row]:
    """How to get the file off the machine: two commands, each on lines of its own."""
    scp = f"USER@HOST:{shlex.quote(terminal(remote))} ."
    yield Row(text="Fetch it from your own machine, or print it here to be copied:", tone="faint")
    if layout.cells(scp) + len("  scp -P PORT ") <= layout.WIDTH:
        yield Row(text=f"  scp -P PORT {scp}", tone="faint")
    else:
        yield Row(text="  scp -P PORT \\", tone="faint")
        yield Row(text=f"    {scp}", tone="faint")
    quoted = shlex.quote(terminal(here)).replace("'~/", "~/'")  # a quoted tilde is no home
    yield Row(text=f"  cat {quoted}", tone="faint")


def redaction_rows(shown: Shown) -> list[Row]:
    """What was replaced in the file, and how often."""
    redactions = shown.bundle.redactions
    rows = [Row(text=f"Replaced before signing: {len(redactions)} values", tone="strong")]
    for item in redactions:
        pseudonym, kind = (
            f"{shortened(terminal(word), 24):<24}" for word in (item.pseudonym, item.kind)
        )
        rows.append(Row(text=f"  {pseudonym} {kind} {item.count} times"))
    return rows


def _wrapped(text: str, first: str, *, tone: str = "plain", hard: bool = False) -> Iterator[Row]:
    for line in wrap(terminal(text), first=first, hard=hard):
        yield Row(text=line, tone=tone)
