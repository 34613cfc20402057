"""Reads the files of a machine, whose tree may be mounted elsewhere: with limits, no errors."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

_LINKS_MAX = 40  # as the kernel (MAXSYMLINKS)
ENTRIES_MAX = 4096  # of one directory: more is not an environment but somebody's data


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """A tree with the environment and the user that its files are read for.

    All paths taken and given are absolute paths *of that machine*: with ``root=/recorded`` the
    path ``/usr/bin/python3`` is read from ``/recorded/usr/bin/python3``, links included.
    """

    root: str = "/"
    environ: Mapping[str, str] = field(default_factory=dict)
    workdir: str = "/"
    home: str = "/root"
    uid: int = 0

    def absolute(self, path: str) -> str:
        """``path`` as the user wrote it, made absolute; links are kept, they may carry meaning."""
        if path == "~" or path.startswith("~/"):
            path = (self.home + path[1:]) or "/"
        return os.path.normpath(os.path.join(self.workdir, path))  # noqa: PTH118

    def resolve(self, path: str) -> str:
        """``path`` without links; the part that does not exist is kept as it is."""
        if self.root == "/":
            try:
                return os.path.realpath(path)
            except (OSError, ValueError):
                return path
        rest = [part for part in reversed(path.split("/")) if part]
        done, links = "", 0
        while rest:
            part = rest.pop()
            if part in (".", ".."):
                done = done if part == "." else done.rpartition("/")[0]
                continue
            target = self.link(f"{done}/{part}", resolved=True)
            if target is None or links >= _LINKS_MAX:
                done = f"{done}/{part}"
                continue
            links += 1
            if target.startswith("/"):
                done = ""
            rest.extend(name for name in reversed(target.split("/")) if name)
        return done or "/"

    def located(self, path: str) -> str:
        """Where the file itself lies for this process, links followed inside the tree."""
        return path if self.root == "/" else self.root + self.resolve(path)

    def link(self, path: str, *, resolved: bool = False) -> str | None:
        """What the link ``path`` says, or None if it is none (or may not be read)."""
        folder, _, name = path.rpartition("/")
        if self.root != "/":
            folder = self.root + (folder if resolved else self.resolve(folder or "/"))
        try:
            return os.readlink(f"{folder}/{name}")  # noqa: PTH115
        except (OSError, ValueError):
            return None

    def stat(self, path: str) -> os.stat_result | None:
        """The status of ``path``, or None if it is not there or may not be seen."""
        try:
            return os.stat(self.located(path))  # noqa: PTH116
        except (OSError, ValueError):
            return None

    def is_file(self, path: str) -> bool:
        """Whether ``path`` is a regular file."""
        status = self.stat(path)
        return status is not None and stat.S_ISREG(status.st_mode)

    def is_directory(self, path: str) -> bool:
        """Whether ``path`` is a directory."""
        status = self.stat(path)
        return status is not None and stat.S_ISDIR(status.st_mode)

    def is_executable(self, path: str) -> bool:
        """Whether ``path`` is a regular file with an execute bit."""
        status = self.stat(path)
        return status is not None and stat.S_ISREG(status.st_mode) and bool(status.st_mode & 0o111)

    def read_bytes(self, path: str, limit: int = 65536) -> bytes | None:
        """The first ``limit`` bytes of a regular file; a pipe or a device is never waited for."""
        try:
            handle = os.open(self.located(path), os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        except (OSError, ValueError):
            return None
        try:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                return None
            parts: list[bytes] = []
            while limit > 0 and (part := os.read(handle, limit)):
                parts.append(part)
                limit -= len(part)
            return b"".join(parts)
        except OSError:
            return None
        finally:
            os.close(handle)

    def read(self, path: str, limit: int = 65536) -> str | None:
        """The first ``limit`` bytes of a regular file as text, or None.

        Bytes that are no UTF-8 are kept as os.fsdecode keeps them: the text may be a path.
        """
        content = self.read_bytes(path, limit)
        return None if content is None else content.decode("utf-8", "surrogateescape")

    def entries(self, path: str, limit: int = ENTRIES_MAX) -> list[str]:
        """The names in a directory, sorted; empty if it is not there or may not be listed."""
        try:
            with os.scandir(self.located(path)) as found:
                return sorted(entry.name for entry in islice(found, limit))
        except (OSError, ValueError):
            return []

    def may_list(self, path: str) -> bool:
        """Whether a directory can be listed at all (an empty one can)."""
        try:
            os.scandir(self.located(path)).close()
        except (OSError, ValueError):
            return False
        return True


def machine_of(
    *, root: Path, environ: Mapping[str, str], workdir: Path | None, uid: int | None
) -> Machine:
    """The machine below ``root`` as ``uid`` (default: this process's) sees it."""
    user = os.getuid() if uid is None else uid
    base = os.fspath(root) if os.fspath(root) == "/" else os.path.abspath(root)  # noqa: PTH100
    if workdir is None:
        try:
            here = os.getcwd()  # noqa: PTH109
        except OSError:  # the directory was removed under us
            here = "/"
    else:
        here = os.fspath(workdir)
    bare = Machine(root=base, uid=user)
    home = environ.get("HOME") or _home_of(bare, user)
    return Machine(root=base, environ=environ, workdir=here, home=home.rstrip("/"), uid=user)


def _home_of(machine: Machine, uid: int) -> str:
    for line in (machine.read("/etc/passwd", 1 << 20) or "").splitlines():
        fields = line.split(":")
        if len(fields) > 5 and fields[2] == str(uid):
            return fields[5]
    return "/root" if uid == 0 else "/"
