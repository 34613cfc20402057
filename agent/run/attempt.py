"""What became of one stage: records and the way its process ended, turned into a ``Stage``."""

from __future__ import annotations

import errno
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from agent.model import ErrorText, Json, Stage, Status, Step
from agent.run.channel import text_between
from agent.run.child import Exit, Running, signal_name
from agent.run.records import Record
from agent.run.tasks import Task
from agent.run.timers import Timer

STARTING = "start the interpreter"
FORKING = "fork from the worker"
TAIL_BYTES = 8 * 1024
PASSED_TAIL_BYTES = 2 * 1024  # warnings are worth keeping, too

# What a driver or torch says of a process whose parent had begun with the device.
FORK_WORDS = (
    "forked subprocess",
    "initialization error",
    "hiperrornotinitialized",
    "invalid device context",
    "error 3:",
)


@dataclass(slots=True, eq=False)
class Attempt:
    """A stage under way: what it announced so far, and in which process it runs."""

    task: Task
    forked: bool
    first: Stage | None = None  # what the same task came to in a forked process
    began: float = field(default_factory=time.monotonic)
    steps: list[tuple[str, float]] = field(default_factory=list)
    data: dict[str, Json] = field(default_factory=dict)
    result: Record | None = None
    result_at: float | None = None
    running: Running | None = None
    err_mark: int = 0
    err_end: int | None = None  # where another stage's noise may begin; None: all is this one's
    pid: int | None = None
    stderr: str | None = None  # of a forked process, as its server kept it
    timer: Timer | None = None
    expired: bool = False
    closed: bool = False

    def hear(self, record: Record) -> None:
        """Takes in a record of this stage; what comes after its result is ignored."""
        if self.result is not None:
            return
        now = time.monotonic()
        if record.kind == "step" and record.name is not None:
            self.steps.append((record.name, now))
        elif record.kind == "data":
            self.data.update(record.data)
        elif record.kind == "result":
            self.data.update(record.data)
            self.result, self.result_at = record, now


@dataclass(frozen=True, slots=True)
class Death:
    """How a stage ended that gave no result."""

    status: Status
    reason: str
    error: ErrorText
    exit_code: int | None = None
    signal: str | None = None


def stage_of(attempt: Attempt, death: Death | None) -> Stage:
    """The stage as the bundle holds it. ``death`` counts only where there is no result."""
    now = attempt.result_at or time.monotonic()
    stage = Stage(
        name=attempt.task.stage,
        subject=attempt.task.subject,
        status="passed",
        seconds=round(now - attempt.began, 3),
        steps=_steps(attempt, now),
        data=attempt.data,
    )
    result = attempt.result
    if result is not None and result.status is not None:
        stage = replace(stage, status=result.status, reason=result.reason, error=result.error)
    elif death is not None:
        stage = replace(
            stage,
            status=death.status,
            reason=death.reason,
            error=death.error,
            exit_code=death.exit_code,
            signal=death.signal,
        )
    limit = PASSED_TAIL_BYTES if stage.status == "passed" else TAIL_BYTES
    if attempt.forked:
        stage = replace(stage, stderr_tail=(attempt.stderr or "")[-limit:] or None)
    elif attempt.running is not None:
        tail = text_between(attempt.running.err, attempt.err_mark, attempt.err_end, limit)
        stage = replace(stage, stderr_tail=tail or None)
    return stage


def _steps(attempt: Attempt, now: float) -> tuple[Step, ...]:
    """Each step with its seconds; the last of a stage without a result has none."""
    ends: list[float | None] = [begun for _, begun in attempt.steps[1:]]
    ends.append(now if attempt.result is not None else None)
    return tuple(
        Step(name=name, seconds=None if end is None else round(end - begun, 3))
        for (name, begun), end in zip(attempt.steps, ends, strict=False)
    )


def death_by_exit(attempt: Attempt, ended: Exit) -> Death:
    """What the end of its process means for a stage without a result."""
    if ended.ended_by == "not-started":
        error = ended.error or ErrorText(type="OSError", text="the process could not be started")
        foreign = f"[Errno {errno.ENOEXEC}]" in error.text
        return Death("failed", "not-python" if foreign else "raised", error)
    if ended.ended_by == "interrupted":
        return _cut_short(attempt, "interrupted", "interrupted", "the run was interrupted")
    if ended.ended_by == "unkillable":
        return _cut_short(attempt, "timed_out", "unkillable", "the process does not end on SIGKILL")
    if ended.ended_by == "memory":
        said = f"the process was ended because it held {ended.peak_bytes >> 20} MiB of memory"
        return replace(_cut_short(attempt, "crashed", "no-memory", said), signal="SIGKILL")
    if ended.ended_by in ("deadline", "stopped"):
        return replace(timeout(attempt), signal=ended.signal)
    return _by_itself(attempt, ended.code, ended.signal)


def death_by_code(attempt: Attempt, code: int) -> Death:
    """What the wait status of its forked process means for a stage without a result."""
    if code < 0:
        return _by_itself(attempt, None, signal_name(-code))
    return _by_itself(attempt, code, None)


def timeout(attempt: Attempt) -> Death:
    """The stage's time was over."""
    spent = time.monotonic() - attempt.began
    return _cut_short(attempt, "timed_out", "deadline", f"no result after {spent:.0f} s")


def _by_itself(attempt: Attempt, code: int | None, signal: str | None) -> Death:
    if signal is not None:
        said = f"the process was ended by {signal}"
        return replace(_cut_short(attempt, "crashed", "signal", said, signal), signal=signal)
    said = f"the process ended itself with exit code {code}"
    return replace(_cut_short(attempt, "crashed", "exited", said, "exit"), exit_code=code)


def _cut_short(
    attempt: Attempt, status: Status, reason: str, said: str, kind: str | None = None
) -> Death:
    where = f" during “{attempt.steps[-1][0]}”" if attempt.steps else ""
    return Death(status, reason, ErrorText(type=kind or reason, text=said + where))


def doubts_the_fork(stage: Stage) -> bool:
    """Whether a stage's end in a forked process may be the fork's own fault."""
    if stage.status in ("crashed", "timed_out"):
        return stage.reason not in ("no-memory", "unkillable")
    if stage.status != "failed" or stage.error is None:
        return False
    return any(word in stage.error.text.lower() for word in FORK_WORDS)


def with_first(stage: Stage, first: Stage) -> Stage:
    """The stage as its own process saw it, with what it had come to in a forked one."""
    told: Mapping[str, Json] = {
        "status": first.status,
        "reason": first.reason,
        "text": first.error.text if first.error else None,
        "last_step": first.steps[-1].name if first.steps else None,
    }
    return replace(stage, data={**stage.data, "in_fork": told})
