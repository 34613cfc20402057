"""What ended a command, from the traces that the kernel, the allocator and the command left."""

from __future__ import annotations

import contextlib
import re
import signal
from dataclasses import dataclass
from pathlib import Path
from typing import Any

UNITS = {"B": 1, "KIB": 1 << 10, "MIB": 1 << 20, "GIB": 1 << 30, "KB": 1 << 10, "MB": 1 << 20,
         "GB": 1 << 30}  # fmt: skip
SIZE = r"(\d+(?:\.\d+)?)\s*(bytes|B|[KMG]i?B)"
# torch's wording since 2.0; older releases leave out the process part.
ASKED = re.compile(r"Tried to allocate " + SIZE)
FREE = re.compile(SIZE + r" (?:is )?free")
TOTAL = re.compile(r"total capacity of " + SIZE + r"|" + SIZE + r" total capacity")
RESERVED = re.compile(SIZE + r" is reserved by PyTorch but unallocated")
ALLOCATED = re.compile(SIZE + r" is allocated by PyTorch")


@dataclass(frozen=True, slots=True, kw_only=True)
class Traces:
    """Counters that tell afterwards what happened in between; None where they do not exist."""

    oom_kills: int | None
    memory_peak_bytes: int | None


def read_traces(root: Path = Path("/")) -> Traces:
    """Return the counters of this process's own control group (version 2, else version 1)."""
    group = _own_group(root)
    if group is None:
        return Traces(oom_kills=None, memory_peak_bytes=None)
    for name, oom_file, peak_file in (
        (group, "memory.events", "memory.peak"),
        (group, "memory.oom_control", "memory.max_usage_in_bytes"),
    ):
        kills = _keyed(name / oom_file, "oom_kill")
        peak = _plain(name / peak_file)
        if kills is not None or peak is not None:
            return Traces(oom_kills=kills, memory_peak_bytes=peak)
    return Traces(oom_kills=None, memory_peak_bytes=None)


def _own_group(root: Path) -> Path | None:
    with contextlib.suppress(OSError):
        for line in (root / "proc/self/cgroup").read_text().splitlines():
            _, controllers, path = line.split(":", 2)
            if controllers == "":
                place = root / "sys/fs/cgroup" / path.lstrip("/")
                # Inside a container the path may be the host's, while the mount is our own group.
                return place if place.is_dir() else root / "sys/fs/cgroup"
            if "memory" in controllers.split(","):
                place = root / "sys/fs/cgroup/memory" / path.lstrip("/")
                return place if place.is_dir() else root / "sys/fs/cgroup/memory"
    return None


def _keyed(path: Path, key: str) -> int | None:
    with contextlib.suppress(OSError, ValueError):
        for line in path.read_text().splitlines():
            name, _, value = line.partition(" ")
            if name == key:
                return int(value)
    return None


def _plain(path: Path) -> int | None:
    with contextlib.suppress(OSError, ValueError):
        return int(path.read_text())
    return None


def out_of_memory(text: str) -> dict[str, Any]:
    """Return the sizes in torch's out-of-memory text, in bytes, as far as it names them."""
    found = {
        "asked_bytes": _size(ASKED, text),
        "free_bytes": _size(FREE, text),
        "total_bytes": _size(TOTAL, text),
        "allocated_bytes": _size(ALLOCATED, text),
        "reserved_unused_bytes": _size(RESERVED, text),
    }
    return {key: value for key, value in found.items() if value is not None}


def _size(pattern: re.Pattern[str], text: str) -> int | None:
    match = pattern.search(text)
    if match is None:
        return None
    number, unit = (group for group in match.groups() if group is not None)
    return round(float(number) * UNITS.get(unit.upper(), 1))


def what_ended(
    *,
    return_code: int,
    before: Traces,
    after: Traces,
    out_of_memory_text: str | None,
    shm_free_least_bytes: int | None,
    new_xids: tuple[str, ...],
    interrupted_by: str | None,
) -> dict[str, Any]:
    """Return {"by": …, "text": …}: the likeliest of the causes that left a trace.

    ``return_code`` is negative for a signal. A SIGKILL with a risen ``oom_kill`` counter was the
    kernel's out-of-memory killer; a SIGBUS with a full /dev/shm was a write to memory that the
    tmpfs could not give.
    """
    name = signal.Signals(-return_code).name if return_code < 0 else None
    oom_rose = (after.oom_kills or 0) > (before.oom_kills or 0)
    if interrupted_by and return_code != 0:
        return {"by": "interrupt", "text": f"ended after {interrupted_by} from outside"}
    if oom_rose and (name == "SIGKILL" or return_code in (137, 1)):
        rose = (after.oom_kills or 0) - (before.oom_kills or 0)
        return {
            "by": "oom-killer",
            "text": f"Killed by the kernel's out-of-memory killer (oom_kill rose by {rose}): "
            "the control group's memory limit was reached",
        }
    if out_of_memory_text and return_code != 0:
        return {"by": "gpu-out-of-memory", "text": out_of_memory_text}
    if name == "SIGBUS" and shm_free_least_bytes is not None and shm_free_least_bytes < 1 << 20:
        return {"by": "shm-full", "text": "Bus error while /dev/shm was full"}
    if new_xids and return_code != 0:
        return {"by": "xid", "text": new_xids[0]}
    if name is not None:
        return {"by": "signal", "text": f"killed by {name}"}
    if return_code == 0:
        return {"by": "exit", "text": "exit code 0"}
    return {"by": "exit", "text": f"exit code {return_code}"}
