"""How much memory may a child take?

``RLIMIT_AS`` will not do: importing a CUDA build of torch alone reserves gigabytes of addresses.
So the agent looks at what a child's processes really hold and ends the child before the machine
or the container has to; the kernel's own choice is steered by ``oom_score_adj`` in ``boot``.
"""

from __future__ import annotations

from pathlib import Path

SHARE = 0.8  # of what was available when the child started; the rest is for everybody else
KIB = 1024


def available_bytes(root: Path = Path("/")) -> int | None:
    """Memory that a new process could take: MemAvailable, or less where a cgroup says so."""
    found = [value for value in (_meminfo(root), *_cgroup_rooms(root)) if value is not None]
    return min(found) if found else None


def _meminfo(root: Path) -> int | None:
    try:
        for line in (root / "proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * KIB
    except (OSError, ValueError, IndexError):
        pass
    return None


def _cgroup_rooms(root: Path) -> list[int | None]:
    """What is left in the control group (version 2 or 1); droppable page cache is room."""
    base = root / "sys/fs/cgroup"
    rooms = []
    for folder in _own_groups(root):
        two = base / folder
        rooms.append(_room(two / "memory.max", two / "memory.current", two / "memory.stat"))
        one = base / "memory" / folder
        rooms.append(
            _room(one / "memory.limit_in_bytes", one / "memory.usage_in_bytes", one / "memory.stat")
        )
    return rooms


def _own_groups(root: Path) -> list[str]:
    """The folders to look in: the mounted top (which is our own in a container) and our path."""
    try:
        lines = (root / "proc/self/cgroup").read_text().splitlines()
    except OSError:
        lines = []
    paths = {
        line.split(":", 2)[2].strip("/")
        for line in lines
        if line.startswith("0::") or ":memory:" in line
    }
    return ["", *sorted(path for path in paths if path and ".." not in path)]


def _room(limit: Path, used: Path, stat: Path) -> int | None:
    try:
        most, now = int(limit.read_text()), int(used.read_text())
    except (OSError, ValueError):  # no such group, or "max"
        return None
    cache = 0
    try:
        for line in stat.read_text().splitlines():
            if line.startswith("inactive_file "):
                cache = int(line.split()[1])
    except (OSError, ValueError, IndexError):
        pass
    return max(0, most - now + cache)


def default_limit(root: Path = Path("/")) -> int | None:
    """Bytes that one child may hold, or None where the machine does not say what it has."""
    available = available_bytes(root)
    return None if available is None else int(available * SHARE)
