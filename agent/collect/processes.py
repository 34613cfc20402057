"""Which processes belong to whom and how much memory they hold; the one user of psutil.

Everything works without psutil, from /proc: psutil saves nothing but the parsing.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass

from .tree import Tree, plain
from .users import own_uid_or_none

GPU_NODES = ("/dev/nvidia", "/dev/kfd", "/dev/dri/renderD", "/dev/dxg")
MOST_PROCESSES = 4096
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True, slots=True, kw_only=True)
class Process:
    """A process of this user."""

    pid: int
    executable: str | None
    nodes: tuple[str, ...]  # the GPU nodes that it holds open


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """What a process and all that it started hold."""

    resident_bytes: int
    processes: int


def read_gpu_processes(tree: Tree) -> tuple[Process, ...]:
    """This user's processes that hold a GPU node open, other users' left out.

    From the links in /proc/<pid>/fd; a process that ends meanwhile is left out.
    """
    own = own_uid_or_none(tree)
    found = []
    for pid in _pids(tree):
        try:
            if tree.live and tree.at(f"/proc/{pid}").stat().st_uid != own:
                continue
            links = [_link(tree, f"/proc/{pid}/fd/{n}") for n in tree.names(f"/proc/{pid}/fd")]
        except OSError:
            continue
        nodes = tuple(sorted({link for link in links if link.startswith(GPU_NODES)}))
        if nodes:
            executable = _link(tree, f"/proc/{pid}/exe") or None
            found.append(Process(pid=pid, executable=executable, nodes=nodes))
    return tuple(found)


def memory_of(pid: int) -> Memory:
    """The resident memory of a process and its descendants on the live machine, in bytes.

    Pages that several of them share count several times. Raises ProcessLookupError if the
    process is gone.
    """
    try:
        import psutil
    except ImportError:
        return memory_from_proc(pid)
    try:
        whole = [psutil.Process(pid), *psutil.Process(pid).children(recursive=True)]
    except psutil.NoSuchProcess as error:
        raise ProcessLookupError(pid) from error
    sizes = []
    for process in whole:
        try:
            sizes.append(process.memory_info().rss)
        except (psutil.NoSuchProcess, psutil.AccessDenied):
            continue
    return Memory(resident_bytes=sum(sizes), processes=len(sizes))


def memory_from_proc(pid: int) -> Memory:
    """The same as ``memory_of``, without psutil."""
    tree = Tree()
    parents = {child: parent for child in _pids(tree) if (parent := _parent(tree, child))}
    whole = {pid}
    grown = True
    while grown:
        children = {child for child, parent in parents.items() if parent in whole}
        grown = not children <= whole
        whole |= children
    sizes = [size for member in whole if (size := _resident(tree, member)) is not None]
    if not sizes:
        raise ProcessLookupError(pid)
    return Memory(resident_bytes=sum(sizes), processes=len(sizes))


def _pids(tree: Tree) -> Iterator[int]:
    numbers = [int(name) for name in tree.names_or_none("/proc") if name.isdigit()]
    yield from numbers[:MOST_PROCESSES]


def _parent(tree: Tree, pid: int) -> int | None:
    try:
        # "7 (name with ) and blanks) S 1 …": the parent follows the state after the last ")"
        return int(tree.text(f"/proc/{pid}/stat", 4096).rpartition(")")[2].split()[1])
    except (OSError, ValueError, IndexError):
        return None


def _resident(tree: Tree, pid: int) -> int | None:
    try:
        return int(tree.text(f"/proc/{pid}/statm", 256).split()[1]) * PAGE_BYTES
    except (OSError, ValueError, IndexError):
        return None


def _link(tree: Tree, path: str) -> str:
    try:
        return plain(tree.link(path))
    except OSError:
        return ""
