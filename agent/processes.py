"""Which processes stem from one, and how much memory do they hold? The only importer of psutil.

Everything works without psutil, from /proc; a recorded tree is always read so, and so is the live
machine until psutil has been loaded, which takes longer than many looks.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agent.run.kin import all_processes, children_of

KIB = 1024
LIVE = Path("/")


@dataclass(frozen=True, slots=True)
class ProcessId:
    """A process by number and start time, so that a number used again is another process."""

    pid: int
    started_ticks: int


@dataclass(frozen=True, slots=True)
class TreeMemory:
    """Host memory of a process tree at one moment."""

    processes: int
    pss_bytes: int | None  # None where the kernel does not tell (smaps_rollup refused)
    rss_bytes: int


# ---------------------------------------------------------------- who stems from whom
def parents(root: Path = LIVE) -> dict[int, tuple[int, int]]:
    """Return {pid: (parent pid, start time in clock ticks)} of every process visible here."""
    return {row.pid: (row.parent, row.born) for row in all_processes(f"{root}/proc")}


def grow_tree(
    known: Iterable[ProcessId], everyone: dict[int, tuple[int, int]]
) -> tuple[ProcessId, ...]:
    """Return the known processes still alive and all descendants of theirs.

    A process that was seen once stays known when its parent dies and another adopts it.
    """
    alive = {p.pid: p for p in known if everyone.get(p.pid, (0, -1))[1] == p.started_ticks}
    children: dict[int, list[int]] = {}
    for pid, (parent, _) in everyone.items():
        children.setdefault(parent, []).append(pid)
    queue = list(alive)
    while queue:
        for child in children.get(queue.pop(), ()):
            if child not in alive:
                alive[child] = ProcessId(child, everyone[child][1])
                queue.append(child)
    return tuple(alive.values())


def tree_of(pids: Iterable[int]) -> set[int]:
    """The processes and all their descendants, as far as the kernel lists children; not us."""
    found: set[int] = set()
    waiting = list(pids)
    while waiting:
        pid = waiting.pop()
        if pid in found or pid == os.getpid():
            continue
        found.add(pid)
        waiting += children_of(pid) or []
    return found


# ---------------------------------------------------------------- what they hold
def tree_memory(tree: Iterable[ProcessId], root: Path = LIVE) -> TreeMemory:
    """Return what the tree holds now; proportional set size, else resident set size."""
    count = rss = 0
    pss: int | None = 0
    for process in tree:
        values = resident_and_proportional_bytes(process.pid, root)
        if values is None:
            continue
        count += 1
        rss += values[0]
        pss = None if pss is None or values[1] is None else pss + values[1]
    return TreeMemory(processes=count, pss_bytes=pss, rss_bytes=rss)


def resident_and_proportional_bytes(pid: int, root: Path = LIVE) -> tuple[int, int | None] | None:
    """Return both set sizes of one process, the second None if refused; None if it has gone."""
    if root == LIVE and _loaded:
        return _from_psutil(_loaded[0], pid)
    return _from_proc(pid, root)


_loaded: list[Any] = []


def load_psutil() -> bool:
    """Have psutil read the live machine from now on; False where it cannot, and /proc is read on.

    It cannot where it is missing, broken, or of a release without what is asked of it.
    """
    if not _loaded:
        try:
            import psutil

            psutil.Process(os.getpid()).memory_full_info()
        except Exception:  # noqa: BLE001 - whatever is wrong with it, /proc tells the same
            return False
        _loaded.append(psutil)
    return True


def _from_psutil(psutil: Any, pid: int) -> tuple[int, int | None] | None:
    try:
        process = psutil.Process(pid)
        with contextlib.suppress(psutil.AccessDenied):
            whole = process.memory_full_info()
            return int(whole.rss), int(whole.pss)
        return int(process.memory_info().rss), None
    except (psutil.Error, OSError):
        return None


def _from_proc(pid: int, root: Path) -> tuple[int, int | None] | None:
    base = root / "proc" / str(pid)
    with contextlib.suppress(OSError, ValueError, IndexError):
        values = {}
        for line in (base / "smaps_rollup").read_bytes().splitlines()[1:]:
            name, _, rest = line.partition(b":")
            values[name] = int(rest.split()[0]) * KIB
        if b"Pss" in values:
            return values.get(b"Rss", 0), values[b"Pss"]
    with contextlib.suppress(OSError, ValueError, IndexError):
        pages = int((base / "statm").read_bytes().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE"), None
    return None


def peak_resident_bytes(pid: int, root: Path = LIVE) -> int | None:
    """Return VmHWM of one process: the most it ever had resident."""
    return _status(pid, root).get(b"VmHWM")


def held_bytes(pid: int) -> int:
    """Anonymous and shared memory that a process holds; files that it maps can be dropped."""
    status = _status(pid)
    named = [status[name] for name in (b"RssAnon", b"RssShmem") if name in status]
    return sum(named) if named else status.get(b"VmRSS", 0)  # a zombie has none of them


def _status(pid: int, root: Path = LIVE) -> dict[bytes, int]:
    """The sizes in /proc/PID/status, in bytes; empty for a process that has gone."""
    found: dict[bytes, int] = {}
    with contextlib.suppress(OSError):
        with open(f"{root}/proc/{pid}/status", "rb") as file:  # noqa: PTH123 - ten times a second
            lines = file.read().splitlines()
        for line in lines:
            name, _, rest = line.partition(b":")
            if rest.endswith(b" kB"):
                found[name] = int(rest.split()[0]) * KIB
    return found
