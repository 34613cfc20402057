"""What is a child process here: what it is started with, how it ended, and its state between."""

from __future__ import annotations

import math
import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from agent.model import ErrorText
from agent.run.channel import Channel, Tail, dropped_bytes, text_between
from agent.run.records import Record

TAIL_BYTES = 16 * 1024  # of each stream, in the report of an exit

EndedBy = Literal[
    "itself", "deadline", "memory", "interrupted", "stopped", "unkillable", "not-started"
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Child:
    """A process to start.

    With ``source`` it is a speaking child: the numbers of its record and source descriptors and
    the agent's process id are added to ``argv``, and ``source`` is sent to it. Without, it is any
    program, whose output alone counts.
    """

    name: str
    argv: tuple[str, ...]
    environ: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    source: bytes | None = None
    keep_source_open: bool = False  # further lines will be sent
    deadline_seconds: float = math.inf
    grace_seconds: float = 0.5  # from SIGTERM to SIGKILL
    memory_limit_bytes: int | None = None
    cwd: str = "/"


@dataclass(frozen=True, slots=True, kw_only=True)
class Exit:
    """How a child ended: by itself, or what the agent ended it for.

    ``code`` is the exit code, None after a signal; ``left_behind`` counts processes that outlived
    the child and were ended; ``error`` says why it could not be started.
    """

    ended_by: EndedBy
    code: int | None = None
    signal: str | None = None
    seconds: float = 0.0
    stdout_tail: str = ""
    stderr_tail: str = ""
    dropped_bytes: int = 0
    records: int = 0
    bad_records: int = 0
    first_bad: str | None = None
    left_behind: int = 0
    peak_bytes: int = 0
    error: ErrorText | None = None


@dataclass(slots=True, eq=False)
class Running:
    """A started child, as the loop keeps it; others read it and call the runner."""

    child: Child
    marker: str
    on_record: Callable[[Record], None]
    on_exit: Callable[[Exit], None]
    process: subprocess.Popen[bytes]
    channel: Channel | None
    out: Tail
    err: Tail
    started: float
    deadline: float
    pidfd: int | None = None
    source_fd: int | None = None
    unsent: bytearray = field(default_factory=bytearray)
    close_source: bool = True
    groups: set[int] = field(default_factory=set)  # process groups besides its own
    too_large: dict[int, int] = field(default_factory=dict)  # groups ended for the bytes they held
    why: EndedBy | None = None
    kill_at: float | None = None
    give_up_at: float | None = None
    exited: bool = False
    err_before: int = 0  # of ``err``: its length when the records now acted on had been read
    records: int = 0
    bad: int = 0
    first_bad: str | None = None
    peak_bytes: int = 0

    @property
    def pid(self) -> int:
        """The child's process id, which is also that of its session and group."""
        return self.process.pid


def exit_of(running: Running, status: int | None, left_behind: int) -> Exit:
    """The report of a child's end; ``status`` is the wait status, None if it would not die."""
    code = None if status is None else os.waitstatus_to_exitcode(status)
    return Exit(
        ended_by=running.why or "itself",
        code=code if code is not None and code >= 0 else None,
        signal=signal_name(-code) if code is not None and code < 0 else None,
        seconds=time.monotonic() - running.started,
        stdout_tail=text_between(running.out, 0, None, TAIL_BYTES),
        stderr_tail=text_between(running.err, 0, None, TAIL_BYTES),
        dropped_bytes=dropped_bytes(running.out) + dropped_bytes(running.err),
        records=running.records,
        bad_records=running.bad,
        first_bad=running.first_bad,
        left_behind=left_behind,
        peak_bytes=running.peak_bytes,
    )


def signal_name(number: int) -> str:
    """SIGSEGV for 11; the bare number for one without a name."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
