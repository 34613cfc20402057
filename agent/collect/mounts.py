"""What is mounted where, as /proc/self/mountinfo lists it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from .tree import Tree

_OCTAL = re.compile(r"\\([0-7]{3})")


@dataclass(frozen=True, slots=True, kw_only=True)
class Mount:
    """One line of mountinfo."""

    point: str
    source_root: str  # the directory or file of the source that is shown at ``point``
    device_number: str  # major:minor
    filesystem: str
    source: str
    options: tuple[str, ...]  # of this mount
    super_options: tuple[str, ...]  # of the file system

    @property
    def read_only(self) -> bool:
        """Whether nothing can be written here."""
        return "ro" in self.options or "ro" in self.super_options


def read_mounts(tree: Tree) -> tuple[Mount, ...]:
    """All mounts of this process in the kernel's order, so that a later one hides an earlier.

    Raises OSError; a line that does not parse is left out.
    """
    mounts = (_mount(line) for line in tree.text("/proc/self/mountinfo", 4 << 20).splitlines())
    return tuple(mount for mount in mounts if mount is not None)


def mount_of(mounts: tuple[Mount, ...], path: str) -> Mount:
    """The mount that holds ``path`` (already without symbolic links). Raises LookupError."""
    best: Mount | None = None
    for mount in mounts:
        under = path == mount.point or path.startswith(mount.point.rstrip("/") + "/")
        if under and (best is None or len(mount.point) >= len(best.point)):
            best = mount
    if best is None:
        raise LookupError(f"no mount holds {path}")
    return best


def _mount(line: str) -> Mount | None:
    left, separator, right = line.partition(" - ")
    before, after = left.split(" "), right.split(" ")
    if not separator or len(before) < 6 or len(after) < 3:
        return None
    return Mount(
        point=_unescape(before[4]),
        source_root=_unescape(before[3]),
        device_number=before[2],
        options=tuple(before[5].split(",")),
        filesystem=after[0],
        source=_unescape(after[1]),
        super_options=tuple(after[2].split(",")),
    )


def _unescape(text: str) -> str:
    return _OCTAL.sub(lambda found: chr(int(found[1], 8)), text)
