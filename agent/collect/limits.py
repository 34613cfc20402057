"""What the kernel allows this process: shared memory, cgroup limits of either version, ulimits."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from ..model import Gap, Limit, Limits
from .disks import SHM, space
from .mounts import Mount, read_mounts
from .tree import Tree, attempt

POINTER = "/facts/limits"
Note: TypeAlias = Callable[[str, str], None]  # records why a field is not known
# Version 1 writes "no limit" as the largest page-aligned signed number, whose size depends on
# the page size; nothing real comes near 2**60 bytes.
UNLIMITED_FROM = 1 << 60
# The rows of /proc/self/limits that are kept, and the fields for their soft and hard columns.
ROWS = (
    ("Max locked memory", "memlock_soft_bytes", "memlock_hard_bytes"),
    ("Max open files", "nofile_soft", "nofile_hard"),
    ("Max processes", "nproc_soft", None),
    ("Max address space", "address_space_soft_bytes", None),
    ("Max core file size", "core_soft_bytes", None),
)

CGROUP_FIELDS = (
    "memory_limit_bytes",
    "memory_used_bytes",
    "swap_limit_bytes",
    "oom_kill_count",
    "cpu_quota_cores",
    "pids_limit",
    "pids_used",
)


@dataclass(frozen=True, slots=True)
class Controller:
    """One cgroup controller of this process: its version and its directories, leaf first."""

    version: int
    directories: tuple[str, ...]


def read_limits(tree: Tree) -> tuple[Limits, tuple[Gap, ...]]:
    """The limits of this process, the tightest of its cgroup and all cgroups above it.

    From /proc/self/cgroup and mountinfo for the place, the controllers' files for the values,
    /proc/self/limits for the ulimits and the file system's own count for /dev/shm. Bytes or
    counts, "unlimited" where the kernel sets none.
    """
    gaps: list[Gap] = []
    shm = attempt(gaps, f"{POINTER}/shm_total_bytes", "statvfs", lambda: space(tree, SHM))
    if shm is None:
        gaps.append(_same(gaps[-1], "shm_free_bytes"))
    values: dict[str, Limit | float | None] = {}
    try:
        values |= _cgroup(tree, gaps)
    except (OSError, ValueError, LookupError) as error:
        why = f"the cgroup of this process is not known: {error}"
        gaps.extend(
            Gap(pointer=f"{POINTER}/{name}", why=why, said_by="/proc/self/cgroup")
            for name in ("cgroup_version", *CGROUP_FIELDS)
        )
    values |= _ulimits(tree, gaps)
    total, free = shm or (None, None)
    limits = Limits(shm_total_bytes=total, shm_free_bytes=free, **values)  # type: ignore[arg-type]
    return limits, tuple(gaps)


def controllers(tree: Tree) -> dict[str, Controller]:
    """The cgroup controllers of this process by name: "memory", "cpu", "pids".

    A controller that version 1 has mounted is not in the unified hierarchy, so on a hybrid
    machine each is taken from where it really is. Raises OSError or LookupError.
    """
    paths: dict[str, str] = {}
    for line in tree.text("/proc/self/cgroup").splitlines():
        _, names, path = line.split(":", 2)
        paths |= dict.fromkeys(names.split(","), path)
    mounts = read_mounts(tree)
    found: dict[str, Controller] = {}
    for name in ("memory", "cpu", "pids"):
        first = [m for m in mounts if m.filesystem == "cgroup" and name in m.super_options]
        second = [m for m in mounts if m.filesystem == "cgroup2"]
        if name in paths and first:
            found[name] = Controller(1, tuple(_upwards(first[-1], paths[name])))
        elif "" in paths and second:
            found[name] = Controller(2, tuple(_upwards(second[-1], paths[""])))
    if not found:
        raise LookupError("no cgroup file system is mounted here")
    return found


def _upwards(mount: Mount, path: str) -> Iterator[str]:
    """The directories of a cgroup and its parents that this mount shows.

    Without a cgroup namespace a container is told its host path while the mount starts at that
    path (``mount.source_root``); with one both are "/". A path outside the mount begins with
    "/.." and leaves only the mount point.
    """
    root = mount.source_root.rstrip("/")
    inside = path[len(root) :] if path == root or path.startswith(root + "/") else ""
    parts = [part for part in inside.split("/") if part]
    if ".." in parts:
        parts = []
    for length in range(len(parts), -1, -1):
        yield "/".join([mount.point, *parts[:length]])


def _cgroup(tree: Tree, gaps: list[Gap]) -> dict[str, Limit | float | None]:
    found = controllers(tree)
    memory = found.get("memory")
    values: dict[str, Limit | float | None] = {
        "cgroup_version": memory.version if memory else next(iter(found.values())).version
    }

    def note(name: str, why: str) -> None:
        gaps.append(Gap(pointer=f"{POINTER}/{name}", why=why, said_by="cgroup"))

    values |= _memory(tree, memory, note)
    cpu = found.get("cpu")
    values["cpu_quota_cores"] = _cpu(tree, cpu) if cpu else None
    if cpu is None:
        note("cpu_quota_cores", "the cpu controller is not mounted")
    pids = found.get("pids")
    if pids is None:
        note("pids_limit", "the pids controller is not mounted")
        note("pids_used", "the pids controller is not mounted")
        return values | {"pids_limit": None, "pids_used": None}
    limit, where = _least(tree, pids.directories, "pids.max")
    values["pids_limit"] = limit
    values["pids_used"] = _count(tree, where, "pids.current")
    if values["pids_used"] is None:
        note("pids_used", "the kernel keeps no count for the root cgroup")
    return values


def _memory(tree: Tree, memory: Controller | None, note: Note) -> dict[str, Limit | float | None]:
    names = CGROUP_FIELDS[:4]
    if memory is None:
        for name in names:
            note(name, "the memory controller is not mounted")
        return dict.fromkeys(names)
    first = memory.version == 1
    here = memory.directories
    limit, where = _least(tree, here, "memory.limit_in_bytes" if first else "memory.max")
    used = _count(tree, where, "memory.usage_in_bytes" if first else "memory.current")
    cache = _keyed(tree, where, "memory.stat", "total_inactive_file" if first else "inactive_file")
    kills = _keyed(tree, where, "memory.oom_control" if first else "memory.events", "oom_kill")
    if used is None:
        note("memory_used_bytes", "the kernel keeps no count for the root cgroup")
    elif cache is not None:
        used = max(0, used - cache)  # file cache counts as used, but is given back on demand
    if kills is None:
        note("oom_kill_count", "this cgroup has no counter of killed processes")
    swap = _swap(tree, memory, limit)
    if swap is None:
        note("swap_limit_bytes", "the kernel does not account for swap here")
    return {
        "memory_limit_bytes": limit,
        "memory_used_bytes": used,
        "swap_limit_bytes": swap,
        "oom_kill_count": kills,
    }


def _swap(tree: Tree, memory: Controller, limit: Limit) -> Limit | None:
    """The bytes of swap that may be used beside memory; None where swap is not accounted for."""
    name = "memory.memsw.limit_in_bytes" if memory.version == 1 else "memory.swap.max"
    if not any(tree.exists(f"{directory}/{name}") for directory in memory.directories):
        return None
    both, _ = _least(tree, memory.directories, name)
    if memory.version == 1 and isinstance(both, int):  # version 1 limits the sum
        return max(0, both - limit) if isinstance(limit, int) else both
    return both


def _cpu(tree: Tree, cpu: Controller) -> float | str:
    """How many cores' worth of time this process may use in each period, the least of all."""
    least: float | str = "unlimited"
    for directory in cpu.directories:
        try:
            if cpu.version == 1:
                quota = tree.text(f"{directory}/cpu.cfs_quota_us", 64)
                period = tree.text(f"{directory}/cpu.cfs_period_us", 64)
            else:
                quota, period = tree.text(f"{directory}/cpu.max", 64).split()
            if quota.strip() in ("max", "-1"):
                continue
            cores = round(int(quota) / int(period), 3)
        except (OSError, ValueError, ZeroDivisionError):
            continue
        least = cores if isinstance(least, str) else min(least, cores)
    return least


def _least(tree: Tree, directories: tuple[str, ...], name: str) -> tuple[Limit, str]:
    """The smallest number in these files and the directory that sets it, else the leaf."""
    least: Limit = "unlimited"
    where = next((d for d in directories if tree.is_dir(d)), directories[-1])
    for directory in directories:
        try:
            value = tree.number(f"{directory}/{name}")
        except (OSError, ValueError):  # absent in the root cgroup; "max" is no number
            continue
        if value < UNLIMITED_FROM and (isinstance(least, str) or value < least):
            least, where = value, directory
    return least, where


def _count(tree: Tree, directory: str, name: str) -> int | None:
    try:
        return tree.number(f"{directory}/{name}")
    except (OSError, ValueError):
        return None


def _keyed(tree: Tree, directory: str, name: str, key: str) -> int | None:
    try:
        found = re.search(rf"^{key} (\d+)$", tree.text(f"{directory}/{name}"), re.MULTILINE)
    except OSError:
        return None
    return int(found[1]) if found else None


def _ulimits(tree: Tree, gaps: list[Gap]) -> dict[str, Limit | float | None]:
    values: dict[str, Limit | float | None] = {}
    said_by = "/proc/self/limits"
    text = attempt([], POINTER, said_by, lambda: tree.text(said_by)) or ""
    for row, soft, hard in ROWS:
        found = re.search(rf"^{row}\s+(\S+)\s+(\S+)", text, re.MULTILINE)
        for column, name in ((1, soft), (2, hard)):
            if name is None:
                continue
            value = found[column] if found else None
            if value is None:
                why = f"{said_by} has no row {row!r}" if text else f"{said_by} cannot be read"
                gaps.append(Gap(pointer=f"{POINTER}/{name}", why=why, said_by=said_by))
            known = value is not None and value.isdigit()
            values[name] = int(value or 0) if known else value
    return values


def _same(gap: Gap, name: str) -> Gap:
    return Gap(pointer=f"{POINTER}/{name}", why=gap.why, said_by=gap.said_by)
