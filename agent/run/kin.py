"""Which processes belong to a run, and how are they ended for good?

The guard process runs this file's text with ``python -c``: it imports nothing of the agent.
A process belongs to a run if it carries the run's marker in its environment, if its session or
group is one of the run's, or if it descends from such a process.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Iterable
from typing import NamedTuple

MARKER = "FIRSTLIGHT_RUN"


class Process(NamedTuple):
    """What /proc/PID/stat says; ``born`` (clock ticks) tells a reused number from the old one."""

    pid: int
    state: str
    parent: int
    group: int
    session: int
    born: int


def read_process(pid: int, proc: str = "/proc") -> Process | None:
    """The process with this number, or None if there is none that we may see."""
    try:
        with open(f"{proc}/{pid}/stat", "rb") as file:  # noqa: PTH123 - pathlib is slow to start
            after = file.read().rpartition(b")")[2].split()
        return Process(
            pid, after[0].decode(), int(after[1]), int(after[2]), int(after[3]), int(after[19])
        )
    except (OSError, IndexError, ValueError):
        return None


def children_of(pid: int) -> list[int] | None:
    """The direct children, or None where the kernel does not list them."""
    found: list[int] = []
    try:
        for thread in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208 - pathlib is slow to start
            with open(f"/proc/{pid}/task/{thread}/children", "rb") as file:  # noqa: PTH123
                found += [int(word) for word in file.read().split()]
    except (OSError, ValueError):
        return None
    return found


def all_processes(proc: str = "/proc") -> list[Process]:
    """Every process that /proc shows."""
    try:
        numbers = [int(name) for name in os.listdir(proc) if name.isdigit()]  # noqa: PTH208
    except OSError:
        return []
    rows = [read_process(number, proc) for number in numbers]
    return [row for row in rows if row is not None]


def is_marked(pid: int, marker: str) -> bool:
    """Whether the process was started with an environment that holds a marker so beginning."""
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:  # noqa: PTH123
            words = file.read().split(b"\0")
    except OSError:
        return False  # gone, or of another user
    return any(word.startswith(f"{MARKER}={marker}".encode()) for word in words)


def kin(marker: str, sessions: Iterable[int]) -> list[Process]:
    """All live processes of the run, found by marker, session, group and descent."""
    rows, known = all_processes(), set(sessions)
    mine = {
        row.pid
        for row in rows
        if row.session in known or row.group in known or is_marked(row.pid, marker)
    }
    grown = True
    while grown:
        more = {row.pid for row in rows if row.parent in mine} - mine
        mine |= more
        grown = bool(more)
    return [row for row in rows if row.pid in mine and row.pid != os.getpid() and row.state != "Z"]


def kill_process(process: Process, number: int) -> None:
    """Sends a signal, and to no other process that took over the number meanwhile."""
    try:
        handle = os.pidfd_open(process.pid)
    except (AttributeError, OSError):  # refused by a sandbox, or the process is gone
        handle = None
    try:
        now = read_process(process.pid)
        if now is None or now.born != process.born:
            return
        if handle is None:
            os.kill(process.pid, number)
        else:
            signal.pidfd_send_signal(handle, number)
    except OSError:
        pass
    finally:
        if handle is not None:
            os.close(handle)


def end_all(find: Callable[[], list[Process]], seconds: float, pause: float = 0.02) -> int:
    """Kills what ``find`` returns until it finds nothing twice; returns how many were killed."""
    until, quiet, killed = time.monotonic() + seconds, 0, set()
    while quiet < 2 and time.monotonic() < until:
        found = find()
        for process in found:
            kill_process(process, signal.SIGKILL)
            killed.add((process.pid, process.born))
        quiet = 0 if found else quiet + 1
        if quiet < 2:
            time.sleep(pause)
    return len(killed)


def guard(descriptor: int, marker: str) -> None:
    """Waits until the agent's end of a pipe closes; ends the run unless it said farewell.

    The agent writes lines: ``+N`` and ``-N`` for a session that began or is gone, ``dPATH`` for a
    directory to remove, ``end`` before a normal end.
    """
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    sessions: set[int] = set()
    folders: set[str] = set()
    buffer = b""
    while data := os.read(descriptor, 4096):
        *lines, buffer = (buffer + data).split(b"\n")
        for line in lines:
            word, rest = line[:1], line[1:].decode("utf-8", "surrogateescape")
            if line == b"end":
                return
            if word == b"+":
                sessions.add(int(rest))
            elif word == b"-":
                sessions.discard(int(rest))
            elif word == b"d":
                folders.add(rest)
    end_all(lambda: kin(marker, sessions), 4.5)
    if folders:
        import shutil

        for folder in folders:
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__" and len(sys.argv) == 3:
    guard(int(sys.argv[1]), sys.argv[2])
