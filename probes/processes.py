"""Whose processes use a device: this user's by name, the others only counted."""

from __future__ import annotations

import os
from typing import Any


def sort_processes(found: dict[int, Any], proc: str) -> dict[str, Any]:
    """The processes of this user with their names, and how many others there are."""
    own, others, others_bytes = [], 0, None
    for pid, memory in sorted(found.items()):
        memory = memory if memory is not None and 0 <= memory < 2**50 else None
        try:
            mine = os.stat("%s/%d" % (proc, pid)).st_uid == os.getuid()
            with open("%s/%d/comm" % (proc, pid), "rb") as file:
                name = file.read(64).decode("utf-8", "replace").strip()
        except OSError:
            mine, name = False, None
        if mine:
            own.append({"pid": pid, "name": name, "memory_bytes": memory})
        else:
            others += 1
            others_bytes = others_bytes if memory is None else (others_bytes or 0) + memory
    return {"own": own, "other_count": others, "other_memory_bytes": others_bytes}
