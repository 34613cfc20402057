"""The processes of a command: who they are and how much host memory they hold."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path


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


def parents(root: Path = Path("/")) -> dict[int, tuple[int, int]]:
    """Return {pid: (parent pid, start time in clock ticks)} of every process visible here."""
    found: dict[int, tuple[int, int]] = {}
    with contextlib.suppress(OSError), os.scandir(root / "proc") as entries:
        for entry in entries:
            if entry.name.isdigit():
                stat = _stat(root, int(entry.name))
                if stat is not None:
                    found[int(entry.name)] = stat
    return found


def _stat(root: Path, pid: int) -> tuple[int, int] | None:
    try:
        text = (root / "proc" / str(pid) / "stat").read_bytes()
        # The command name stands in parentheses and may hold anything, so count from its end.
        fields = text[text.rindex(b")") + 2 :].split()
        return int(fields[1]), int(fields[19])
    except (OSError, ValueError, IndexError):
        return None


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


def tree_memory(tree: Iterable[ProcessId], root: Path = Path("/")) -> TreeMemory:
    """Return what the tree holds now; proportional set size, else resident set size."""
    count = rss = 0
    pss: int | None = 0
    for process in tree:
        values = _rollup(root, process.pid)
        if values is None:
            continue
        count += 1
        rss += values[0]
        pss = None if pss is None or values[1] is None else pss + values[1]
    return TreeMemory(processes=count, pss_bytes=pss, rss_bytes=rss)


def _rollup(root: Path, pid: int) -> tuple[int, int | None] | None:
    """Return (resident, proportional) bytes of one process; None if it has gone."""
    base = root / "proc" / str(pid)
    with contextlib.suppress(OSError, ValueError, IndexError):
        values = {}
        for line in (base / "smaps_rollup").read_bytes().splitlines()[1:]:
            name, _, rest = line.partition(b":")
            values[name] = int(rest.split()[0]) * 1024
        if b"Pss" in values:
            return values.get(b"Rss", 0), values[b"Pss"]
    with contextlib.suppress(OSError, ValueError, IndexError):
        pages = int((base / "statm").read_bytes().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE"), None
    return None


def peak_resident_bytes(pid: int, root: Path = Path("/")) -> int | None:
    """Return VmHWM of one process: the most it ever had resident."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        for line in (root / "proc" / str(pid) / "status").read_bytes().splitlines():
            if line.startswith(b"VmHWM:"):
                return int(line.split()[1]) * 1024
    return None
