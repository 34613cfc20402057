"""What did a run observe before the agent was killed? Read from the partial file it left."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass, field
from pathlib import Path

from agent.codec import from_json
from agent.errors import BundleError, UsageError
from agent.jsonio import MAX_BYTES, strict_loads
from agent.model import ErrorText, Gap, Json, Stage, Step
from agent.run.partial import SCHEMA


@dataclass(frozen=True, slots=True, kw_only=True)
class Recovered:
    """The observations of a partial file, already redacted.

    ``run`` and ``facts`` are as JSON as they were noted; a stage that had begun and not ended is
    ``interrupted`` with the reason ``agent-killed`` and the step it was in.
    """

    run: Json
    facts: dict[str, Json]
    stages: tuple[Stage, ...]
    gaps: tuple[Gap, ...]


@dataclass(slots=True)
class _Seen:
    run: Json = None
    facts: dict[str, Json] = field(default_factory=dict)
    stages: list[Stage] = field(default_factory=list)
    gaps: list[Gap] = field(default_factory=list)
    begun: dict[tuple[str, str], list[str]] = field(default_factory=dict)


def recover(path: Path) -> Recovered:
    """Reads a partial file.

    A torn last line is dropped, and any other line that cannot be understood too; both are gaps.
    Raises ``UsageError`` if the file cannot be read or is not a partial file.
    """
    seen, bad = _Seen(), 0
    *lines, torn = _read(path).split(b"\n")
    for line in lines:
        try:
            _take(seen, strict_loads(line))
        except (BundleError, KeyError, TypeError, ValueError):
            bad += 1
    if not isinstance(seen.run, dict):
        raise UsageError(
            f"{path} is not a partial file of a run.",
            "Give the file that ends in .partial and lies where the bundle should be.",
        )
    if torn:
        seen.gaps.append(_gap("the last line is torn: the agent was killed while writing it"))
    if bad:
        seen.gaps.append(_gap(f"{bad} lines of the partial file could not be understood"))
    for (name, subject), steps in seen.begun.items():
        seen.stages.append(_cut_short(name, subject, steps))
    return Recovered(
        run=seen.run, facts=seen.facts, stages=tuple(seen.stages), gaps=tuple(seen.gaps)
    )


def _read(path: Path) -> bytes:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with open(descriptor, "rb") as file:  # noqa: PTH123 - the descriptor was opened with flags
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise UsageError(f"{path} is not a file.", "Give the file that ends in .partial.")
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}.", "Check the path.") from None
    if len(data) > MAX_BYTES:
        raise UsageError(f"{path} is larger than 20 MB.", "No run leaves such a file.")
    return data


def _take(seen: _Seen, record: dict[str, Json]) -> None:
    kind = record["record"]
    if kind == "run":
        if record["schema"] != SCHEMA or not isinstance(record["run"], dict):
            raise ValueError("another schema")
        seen.run = record["run"]
    elif kind == "facts":
        seen.facts.update(record["facts"])
    elif kind == "gap":
        seen.gaps.append(from_json(Gap, record["gap"]))
    elif kind == "begin":
        seen.begun[_key(record)] = []
    elif kind == "step":
        seen.begun[_key(record)].append(str(record["step"]))
    elif kind == "stage":
        stage = from_json(Stage, record["stage"])
        seen.begun.pop((stage.name, stage.subject), None)
        seen.stages.append(stage)
    else:
        raise ValueError("an unknown kind of record")


def _key(record: dict[str, Json]) -> tuple[str, str]:
    return str(record["stage"]), str(record["subject"])


def _cut_short(name: str, subject: str, steps: list[str]) -> Stage:
    where = f" during “{steps[-1]}”" if steps else ""
    return Stage(
        name=name,
        subject=subject,
        status="interrupted",
        reason="agent-killed",
        steps=tuple(Step(name=step) for step in steps),
        error=ErrorText(type="agent-killed", text=f"the agent was killed{where}"),
    )


def _gap(why: str) -> Gap:
    return Gap(pointer="/stages", why=why, said_by="recover")
