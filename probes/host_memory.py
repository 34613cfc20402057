"""How much memory does the host have left, and how much does this process hold?"""

from __future__ import annotations

import os


def read_kib(path: str, key: str) -> int | None:
    """The figure behind a key of a /proc file in bytes, or None."""
    try:
        with open(path, "rb") as file:
            for line in file:
                if line.startswith(key.encode() + b":"):
                    return int(line.split()[1]) * 1024
    except (OSError, ValueError, IndexError):
        pass
    return None


def resident_bytes() -> int | None:
    """What this process holds now."""
    return read_kib("/proc/self/status", "VmRSS")


def peak_bytes() -> int | None:
    """The most that this process ever held."""
    return read_kib("/proc/self/status", "VmHWM")


def _number(path: str) -> int | None:
    try:
        with open(path, "rb") as file:
            return int(file.read())
    except (OSError, ValueError):
        return None


def group_left_bytes() -> int | None:
    """What the memory limit of this process's control group leaves, or None without a limit."""
    for limit, used in (
        ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
        (
            "/sys/fs/cgroup/memory/memory.limit_in_bytes",
            "/sys/fs/cgroup/memory/memory.usage_in_bytes",
        ),
    ):
        most, now = _number(limit), _number(used)
        # Version 1 writes a number near 2**63 where there is no limit.
        if most is not None and now is not None and most < 2**60:
            return max(0, most - now)
    return None


def free_bytes() -> int:
    """What may still be allocated: the host's available memory, or less in a control group."""
    found = [read_kib("/proc/meminfo", "MemAvailable"), group_left_bytes()]
    known = [figure for figure in found if figure is not None]
    if known:
        return min(known)
    return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
