"""``agent explain``: which cause a pasted text shows, or what newer rules say of a bundle.

Reads, judges and prints; writes no file and looks at nothing of this machine.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from agent.errors import AgentError
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

        printed = dumps(as_object(explained), indent=True).decode()
    else:
        from agent.report.explanation import explanation_text

        printed = explanation_text(explained)
    sys.stdout.write(printed)
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
        from agent.bundle import observations_of
        from agent.jsonio import strict_loads
        from agent.verify import read_bundle

        return observations_of(read_bundle(strict_loads(data))), ()
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


def unexplained(observations: Observations) -> tuple[str, ...]:
    """Return the exception that the text ends in, which no rule ascribes to the environment."""
    if not observations.from_text:
        return ()
    from agent.reading.tracebacks import last_chain

    chain = last_chain(observations.lines)
    if not chain:
        return ()
    first = chain[0]
    words = f"{first.type}: {first.text}".rstrip(": ")[:200]
    return (f"{first.pointer}: “{words}” is no sign of a broken GPU environment that I know",)


def would_help(observations: Observations) -> tuple[str, ...]:
    """Return which prints would let the rules say more, as commands to run."""
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
