"""``agent explain``: which cause a pasted text shows, or what newer rules say of a bundle.

Reads, judges and prints; writes no file and looks at nothing of this machine.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from agent.errors import AgentError, BundleError
from agent.model import Finding, Json, Observations

MOST_BYTES = 64 << 20  # the command line reads no more of one input
_BUNDLE = re.compile(rb'"schema"\s*:\s*"firstlight\.bundle/')


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """What was found in one input, best first, and what would decide or show more."""

    source: str
    observations: Observations
    findings: tuple[Finding, ...]
    look_at: tuple[str, ...]


def explain_inputs(inputs: Sequence[tuple[str, bytes]], *, as_json: bool) -> int:
    """Explain each input on its own and print it; 0, or 2 where one could not be read.

    Several inputs are several cases. One that cannot be read is said on standard error and the
    others are explained; a single one raises ``UsageError``.
    """
    explained: list[Explanation] = []
    code = 0
    for name, data in inputs:
        try:
            explained.append(explain(data, "standard input" if name == "-" else name))
        except AgentError as error:
            if len(inputs) == 1:
                raise
            sys.stderr.write(f"agent: {error.message}\n")
            code = max(code, error.exit_code)
    if as_json:
        from agent.jsonio import dumps
        from agent.report.show import write_utf8

        write_utf8(dumps(as_object(explained), indent=True).decode())
    else:
        from agent.report.explanation import explanation_text

        sys.stdout.write(explanation_text(explained))
    return code


def explain(data: bytes, source: str = "the input") -> Explanation:
    """Return what one input shows; raises ``UsageError`` for empty or binary input.

    A bundle is judged anew from its observations; what its own findings say is not repeated.
    """
    from agent.judge import judge

    observations, remarks = observations_of_input(data, source)
    judgement = judge(observations)
    look_at = (*judgement.look_at, *remarks)
    if not judgement.findings:
        look_at = (*look_at, *unexplained(observations), *would_help(observations))
    return Explanation(
        source=source,
        observations=observations,
        findings=judgement.findings,
        look_at=tuple(dict.fromkeys(look_at)),
    )


def observations_of_input(data: bytes, source: str) -> tuple[Observations, tuple[str, ...]]:
    """Return the observations in a bundle or a text, and what of it was left out."""
    if data.lstrip()[:1] == b"{" and _BUNDLE.search(data):
        return observations_of_bundle(data)
    from agent.reading.normalise import page_of_bytes
    from agent.reading.read import read_page

    page = page_of_bytes(data, source)
    remarks = tuple(gap.why for gap in page.gaps)
    if len(data) > MOST_BYTES:
        remarks = (
            *remarks,
            f"the input goes on after {MOST_BYTES >> 20} MiB; its end was not read",
        )
    return read_page(page, source), remarks


def observations_of_bundle(data: bytes) -> tuple[Observations, tuple[str, ...]]:
    """Return what a bundle observed, and what of the file is not to be relied on.

    Raises ``BundleError`` where the file does not have the form of a bundle.
    """
    from agent.bundle import observations_of
    from agent.report.shown import shown_of
    from agent.verify import verify

    result = verify(data)
    if result.bundle is None:
        raise BundleError(
            result.problem or "This is not a bundle.",
            "copy the file again, whole; of a run that was killed: agent recover FILE.partial",
        )
    doubts = [f"do not trust this file: {result.problem}"] if result.problem else []
    doubts += [f"judged anew: {item}" for item in shown_of(result.bundle).differences]
    return observations_of(result.bundle), tuple(doubts)


def unexplained(observations: Observations) -> tuple[str, ...]:
    """Return the exception that the text ends in, and why no cause is named for it."""
    if not observations.from_text:
        return ()
    from agent.reading.tracebacks import last_chain

    chain = last_chain(observations.lines)
    if not chain:
        return ()
    first = chain[0]
    words = f"{first.type}: {first.text}".rstrip(": ")[:200]
    if is_known(observations, first.pointer):
        return (
            f"{first.pointer}: “{words}” is printed for several causes; what else the machine "
            "prints decides between them",
        )
    return (f"{first.pointer}: “{words}” is no sign of a broken GPU environment that I know",)


def is_known(observations: Observations, pointer: str) -> bool:
    """Whether the line is worded as one of those that environments print when they are broken."""
    from agent.rules.lines import Lines
    from agent.tables.signatures import all_signatures

    lines = Lines(tuple(line for line in observations.lines if line.pointer == pointer))
    return any(lines.found(name) for name in all_signatures())


def would_help(observations: Observations) -> tuple[str, ...]:
    """Return which prints would let the rules say more, as commands to run."""
    if not observations.from_text:
        return ("run it on the machine again, with all it can try: agent run --depth deep",)
    facts = observations.facts
    wanted: list[str] = []
    if not any(
        re.search(r"(?:Error|Exception|FATAL|failed)\b", x.text) for x in observations.lines
    ):
        wanted.append("the whole error message, from “Traceback” to its last line")
    amd = any(device.vendor == "amd" for device in facts.devices)
    if not facts.devices or (facts.drivers.nvidia is None and facts.drivers.amd is None):
        wanted.append("rocminfo; amd-smi version" if amd else "nvidia-smi (on AMD: rocminfo)")
    if not any(item.torch and item.torch.version for item in facts.interpreters):
        wanted.append("python -m torch.utils.collect_env")
    if not wanted:
        wanted.append("agent run, on the machine itself")
    return tuple(f"add to the text: {item}" for item in wanted)


def as_object(explained: Sequence[Explanation]) -> dict[str, Json]:
    """Return the JSON form; with several inputs each finding names the one it comes from."""
    several = len(explained) > 1
    findings = [
        {**finding_object(finding), **({"input": one.source} if several else {})}
        for one in explained
        for finding in one.findings
    ]
    look_at = [
        f"{one.source}: {item}" if several else item for one in explained for item in one.look_at
    ]
    return {"findings": findings, "look_at": look_at}


def finding_object(finding: Finding) -> dict[str, Json]:
    """Return one finding in the order in which a person would read it."""
    return {
        "code": finding.code,
        "severity": finding.severity,
        "who": finding.who,
        "confidence": finding.confidence,
        "title": finding.title,
        "cause": finding.cause,
        "fix": list(finding.fix),
        "evidence": list(finding.evidence),
        "source": finding.source,
    }
