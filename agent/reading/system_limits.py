"""Disks, shared memory and limits: df, ulimit, free, /proc/meminfo and cgroup files."""

from __future__ import annotations

import re

from agent.model import Disk, Limit
from agent.reading.draft import MESSAGE, Draft
from agent.reading.page import Page
from agent.reading.versions import bytes_of


def read(page: Page, draft: Draft) -> None:
    """Fill the draft with disks and limits."""
    _disks(page, draft)
    _limits(page, draft)


_DF = re.compile(
    r"^[ \t>]*(\S+) +(\d+(?:\.\d+)?[KMGTP]?) +(\d+(?:\.\d+)?[KMGTP]?) +(\d+(?:\.\d+)?[KMGTP]?) +"
    r"(\d{1,3})% +(/\S*)[ \t]*$",
    re.M,
)
_ROLES = {"/": "root", "/tmp": "tmp", "/home": "home", "/workspace": "work", "/dev/shm": "shm"}  # noqa: S108


def _disks(page: Page, draft: Draft) -> None:
    if "%" not in page.text or "/" not in page.text:
        return
    for match, line in page.find(_DF):
        plain = match[2].isdigit() and not match[4][-1].isalpha()
        total, free = (_df_size(match[group], plain) for group in (2, 4))
        if match[6] == "/dev/shm":  # noqa: S108
            draft.put("limits.shm_total_bytes", total, line)
            draft.put("limits.shm_free_bytes", free, line)
        if not any(disk.mount == match[6] for disk in draft.disks) and len(draft.disks) < 100:
            draft.disks.append(
                Disk(
                    mount=match[6],
                    device=match[1],
                    total_bytes=total,
                    free_bytes=free,
                    role=_ROLES.get(match[6]),
                )
            )


def _df_size(cell: str, plain: bool) -> int:
    if cell[-1].isalpha():
        return bytes_of(cell[:-1], cell[-1])
    return int(float(cell) * 1024) if plain else int(float(cell))


_ULIMIT = re.compile(
    r"^[ \t>]*(?:max )?(locked memory|open files|user processes|virtual memory|core file size)"
    r"\s+\((?:(?:kbytes|blocks), )?-([lnuvc])\) +(\S+)|^-([lnuvc]): [\w -]*? \((?:kbytes|blocks|"
    r"processes|file descriptors|threads)\) +(\S+)",
    re.M,
)
_ASKED = re.compile(r"ulimit -([lnuvc])[ \t]*\n[ \t]*(unlimited|\d+)[ \t]*$", re.M)
_ULIMITS = {
    "l": ("limits.memlock_soft_bytes", 1024),
    "n": ("limits.nofile_soft", 1),
    "u": ("limits.nproc_soft", 1),
    "v": ("limits.address_space_soft_bytes", 1024),
    "c": ("limits.core_soft_bytes", 512),
}
_FREE = re.compile(r"^Mem: +(\d+)(Gi|Mi|Ki|G|M|K|B)? +(?:\S+ +){4}(\d+)(?:Gi|Mi|Ki|G|M|K|B)?", re.M)
_MEMINFO = re.compile(r"^(MemTotal|MemAvailable|SwapTotal): +(\d+) kB", re.M)
_CGROUP = re.compile(
    r"(?:^|/)(memory\.max|memory\.current|memory\.swap\.max|pids\.max|pids\.current|cpu\.max|"
    r"memory\.limit_in_bytes)(?:: ?|[ \t]*\n)(max(?: \d+)?|\d+(?: \d+)?)[ \t]*$",
    re.M,
)
_CGROUPS = {
    "memory.max": "limits.memory_limit_bytes",
    "memory.limit_in_bytes": "limits.memory_limit_bytes",
    "memory.current": "limits.memory_used_bytes",
    "memory.swap.max": "limits.swap_limit_bytes",
    "pids.max": "limits.pids_limit",
    "pids.current": "limits.pids_used",
}


def _limits(page: Page, draft: Draft) -> None:
    text = page.text
    if "ulimit" in text or "(kbytes" in text or "(-n)" in text:
        for match, line in page.find(_ULIMIT):
            _ulimit(draft, match[2] or match[4], match[3] or match[5], line)
        for match, line in page.find(_ASKED):
            _ulimit(draft, match[1], match[2], line)
    for match, line in page.find(_MEMINFO):
        slot = {"MemTotal": "total", "MemAvailable": "available"}.get(match[1])
        name = f"host.memory_{slot}_bytes" if slot else "host.swap_total_bytes"
        draft.put(name, int(match[2]) << 10, line)
    for match, line in page.find(_FREE):
        unit = match[2] or ("K" if int(match[1]) > 100_000 else "G")
        draft.put("host.memory_total_bytes", bytes_of(match[1], unit), line, MESSAGE)
        draft.put("host.memory_available_bytes", bytes_of(match[3], unit), line, MESSAGE)
    for match, line in page.find(_CGROUP):
        if match[1] == "cpu.max":
            quota = match[2].split()
            if len(quota) == 2 and quota[0].isdigit() and int(quota[1]):
                draft.put("limits.cpu_quota_cores", int(quota[0]) / int(quota[1]), line)
        else:
            limit: Limit = "unlimited" if match[2].startswith("max") else int(match[2].split()[0])
            held = draft.get(_CGROUPS[match[1]])
            if (
                isinstance(limit, int)
                and held is not None
                and (held == "unlimited" or limit < held)
            ):
                draft.slots.pop(_CGROUPS[match[1]])  # of nested groups the tightest counts
            draft.put(_CGROUPS[match[1]], limit, line)


def _ulimit(draft: Draft, letter: str, value: str, line: int) -> None:
    slot, scale = _ULIMITS[letter]
    if value == "unlimited":
        draft.put(slot, "unlimited", line)
    elif value.isdigit():
        draft.put(slot, int(value) * scale, line)
