"""Which GPU device nodes exist under /dev, and whether this user may really open them."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import re
import select
import signal
import stat as modes
import time
import warnings
from collections.abc import Callable

from ..model import DeviceNode, Gap, Json
from .tree import Tree, of_items, reason
from .users import group_name, user_name

POINTER = "/facts/host/nodes"
# Reported present or not, since their absence is an answer.
WATCHED = ("/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/kfd", "/dev/dxg")
FOLDERS = (
    ("/dev", re.compile(r"nvidia\d+|nvhost-gpu|nvmap")),  # the last two are Jetson's
    ("/dev/dri", re.compile(r"renderD\d+")),
    ("/dev/nvidia-caps", re.compile(r"nvidia-cap\d+")),
)
MOST_OF_A_KIND = 64  # MIG makes over a hundred capability nodes
OPEN_SECONDS = 2.0  # for all nodes together
LARGEST_ANSWER = 1 << 16


def read_nodes(tree: Tree) -> tuple[tuple[DeviceNode, ...], tuple[Gap, ...]]:
    """The GPU device nodes: who owns them and whether opening them succeeds.

    The mode bits do not tell: a device cgroup refuses a node that everybody may read (EPERM),
    and capabilities open one that nobody may. So each is opened and closed again, which runs
    nothing on a GPU and at most wakes it. See ``try_to_open`` for how that is bounded.
    """
    gaps: list[Gap] = []
    paths = [*WATCHED]
    for folder, pattern in FOLDERS:
        found = [f"{folder}/{n}" for n in tree.names_or_none(folder) if pattern.fullmatch(n)]
        found += [path for path in _stated(tree) if _inside(path, folder, pattern)]
        found = sorted(set(found), key=_natural)
        if len(found) > MOST_OF_A_KIND:
            why = f"{len(found) - MOST_OF_A_KIND} further nodes in {folder} are left out"
            gaps.append(Gap(pointer=POINTER, why=why, said_by=folder))
        paths += found[:MOST_OF_A_KIND]
    nodes = [_described(tree, path) for path in paths]
    present = [node.path for node in nodes if node.present]
    results = try_to_open(present) if tree.live else _stated_results(tree, present)
    nodes = [_with_result(node, results.get(node.path)) for node in nodes]
    untried = [node.path for node in nodes if node.present and node.openable is None]
    why = f"not known within {OPEN_SECONDS:g} s" if tree.live else "not stated by the recorded tree"
    of_items(gaps, POINTER, "open", {"openable": untried}, why)
    unseen = [node.path for node in nodes if node.present and node.mode is None]
    names = "mode, owner, group, major and minor"
    of_items(gaps, POINTER, "stat", {names: unseen}, "the node cannot be looked at")
    return tuple(nodes), tuple(gaps)


def open_and_close(path: str) -> str:
    """ "ok", or the name of the errno with which the kernel refuses to open a node."""
    # Capability nodes are made for reading only (mode 0400).
    access = os.O_RDONLY if "/nvidia-caps/" in path else os.O_RDWR
    try:
        os.close(os.open(path, access | os.O_NONBLOCK | os.O_CLOEXEC))
    except OSError as error:
        return errno.errorcode.get(error.errno or 0, "EIO")
    return "ok"


def try_to_open(
    paths: list[str],
    seconds: float = OPEN_SECONDS,
    opening: Callable[[str], str] = open_and_close,
) -> dict[str, str]:
    """What opening each node gives: "ok" or the name of the errno; missing if not answered.

    Nodes are opened with O_NONBLOCK, upon which NVIDIA's driver leaves waking a sleeping GPU
    to a work queue (its parameter NVreg_EnableNonblockingOpen); an older driver, or one with
    that turned off, may take seconds a GPU, and one that hangs takes for ever, in a state in
    which no signal arrives. Therefore a forked child opens them, control nodes first, and
    after ``seconds`` it is killed and left behind: the agent itself can never be the process
    that waits in the driver.
    """
    if not paths:
        return {}
    reader, writer = os.pipe2(os.O_CLOEXEC)
    child = _fork()
    if child == 0:
        # Nothing here may run the parent's code: no exception, no exit handler, no descriptor.
        try:
            os.dup2(writer, 3)
            os.closerange(4, 1 << 16)
            for path in paths:
                os.write(3, json.dumps([path, opening(path)]).encode() + b"\n")
        finally:
            os._exit(0)
    os.close(writer)
    try:
        return _answers(reader, time.monotonic() + seconds)
    finally:
        os.close(reader)
        with contextlib.suppress(OSError):  # already gone and reaped
            os.kill(child, signal.SIGKILL)
            _reap(child)


def _fork() -> int:
    """fork(), with all signals kept from the child, whose handlers are the parent's."""
    kept = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    child = -1
    try:
        with warnings.catch_warnings():
            # Python warns of threads that may hold a lock; the child takes none.
            warnings.simplefilter("ignore", DeprecationWarning)
            child = os.fork()
    finally:
        if child != 0:
            signal.pthread_sigmask(signal.SIG_SETMASK, kept)
    return child


def _answers(reader: int, deadline: float) -> dict[str, str]:
    received = b""
    while len(received) < LARGEST_ANSWER:
        ready, _, _ = select.select([reader], [], [], max(0.0, deadline - time.monotonic()))
        if not ready or not (chunk := os.read(reader, 1 << 12)):
            break
        received += chunk
    lines = received.decode("ascii").split("\n")[:-1]
    return dict(json.loads(line) for line in lines)


def _reap(child: int, seconds: float = 0.1) -> None:
    """Wait shortly for the killed child; one that is stuck in the driver stays behind."""
    until = time.monotonic() + seconds
    while os.waitpid(child, os.WNOHANG) == (0, 0) and time.monotonic() < until:
        time.sleep(0.001)


def _stated(tree: Tree) -> dict[str, Json]:
    nodes = tree.stated.get("nodes")
    return dict(nodes) if isinstance(nodes, dict) else {}


def _stated_results(tree: Tree, present: list[str]) -> dict[str, str]:
    stated = _stated(tree)
    return {path: str(stated[path]["open"]) for path in present if "open" in stated.get(path, {})}


def _described(tree: Tree, path: str) -> DeviceNode:
    stated = _stated(tree).get(path)
    if stated is not None:
        kept = {name: stated.get(name) for name in ("mode", "owner", "group", "major", "minor")}
        return DeviceNode(path=path, present=True, **kept)
    try:
        status = tree.at(path).stat()
    except FileNotFoundError:
        return DeviceNode(path=path, present=False)
    except OSError as error:
        return DeviceNode(path=path, present=True, error=reason(error))
    if not tree.live:  # a plain file stands for the node; its owner is whoever unpacked the tree
        return DeviceNode(path=path, present=True)
    return DeviceNode(
        path=path,
        present=True,
        mode=f"{modes.S_IMODE(status.st_mode):04o}",
        owner=user_name(tree, status.st_uid),
        group=group_name(tree, status.st_gid),
        major=os.major(status.st_rdev),
        minor=os.minor(status.st_rdev),
    )


def _with_result(node: DeviceNode, result: str | None) -> DeviceNode:
    if result is None:
        return node
    return DeviceNode(
        path=node.path,
        present=True,
        openable=result == "ok",
        error=None if result == "ok" else result,
        mode=node.mode,
        owner=node.owner,
        group=node.group,
        major=node.major,
        minor=node.minor,
    )


def _inside(path: str, folder: str, pattern: re.Pattern[str]) -> bool:
    parent, _, name = path.rpartition("/")
    return parent == folder and pattern.fullmatch(name) is not None


def _natural(path: str) -> tuple[str, int]:
    digits = re.search(r"\d+$", path)
    return (path[: digits.start()], int(digits[0])) if digits else (path, -1)
