"""Where the workload writes to, how much room there is, and whether it outlives a stop."""

from __future__ import annotations

import os
import re
import threading
from pathlib import Path

from ..model import Disk, Gap
from .mounts import Mount, mount_of, read_mounts
from .tree import Tree, of_items, reason

POINTER = "/facts/host/disks"
SHM = "/dev/shm"  # noqa: S108  (looked at, not written to)
TMP = "/tmp"  # noqa: S108
MOST_VOLUMES = 16
SPACE_SECONDS = 0.5  # for one network file system to answer; a dead NFS server never does

NETWORK = (
    *("nfs", "nfs4", "cifs", "smb3", "smbfs", "ceph", "lustre", "glusterfs", "beegfs", "gpfs"),
    *("wekafs", "9p", "virtiofs", "afs", "orangefs", "pvfs2", "vboxsf", "drvfs", "mfs"),
)
IN_MEMORY = ("tmpfs", "ramfs", "rootfs")
LAYERS = ("overlay", "overlayfs", "aufs", "fuse.fuse-overlayfs", "fuse-overlayfs", "squashfs")
LOCAL = (
    *("ext2", "ext3", "ext4", "xfs", "btrfs", "zfs", "f2fs", "bcachefs", "jfs", "reiserfs"),
    *("ntfs", "ntfs3", "vfat", "exfat"),
)
LOCAL_FUSE = ("fuse.lxcfs", "fuse.portal", "fuse.squashfuse", "fuse.snapfuse", "fuse.gvfsd-fuse")
# Mounts that are part of the system and not a place for data.
SYSTEM = re.compile(r"/(?:proc|sys|dev|run|boot|etc|usr|snap|lib\w*|s?bin|var/lib|var/snap)(?:/|$)")
# A Kubernetes emptyDir is a bind mount of a disk, yet it dies with the pod.
EPHEMERAL = re.compile(r"kubernetes\.io~(?:empty-dir|secret|configmap|projected)")


def read_disks(
    tree: Tree, *, workdir: Path, home: str | None, container: str | None, virtual: str | None
) -> tuple[tuple[Disk, ...], tuple[Gap, ...]]:
    """The file systems of /, the working directory, home, /tmp and /dev/shm, then volumes.

    One entry a role, so a mount may appear more than once. ``container`` is the kind of
    container ("none" outside of one, None if not known), ``virtual`` the kind of virtual
    machine ("none" for bare metal). Sizes are bytes; free is what a user who is not root may
    still write. From /proc/self/mountinfo and statvfs.
    """
    try:
        mounts = read_mounts(tree)
    except OSError as error:
        why = f"the list of mounts cannot be read: {reason(error)}"
        return (), (Gap(pointer=POINTER, why=why, said_by="/proc/self/mountinfo"),)
    gaps: list[Gap] = []
    wanted = [("root", "/"), ("work", str(workdir)), ("home", home), ("tmp", TMP), ("shm", SHM)]
    chosen: list[tuple[str, Mount]] = []
    for role, path in wanted:
        if path is None:
            gaps.append(Gap(pointer=POINTER, why="home: no home directory is named", said_by="env"))
            continue
        try:
            chosen.append((role, mount_of(mounts, tree.resolve(path))))
        except (OSError, LookupError) as error:
            gaps.append(Gap(pointer=POINTER, why=f"{role}: {reason(error)}", said_by="mountinfo"))
    volumes = _volumes(tree, mounts, {mount.point for _, mount in chosen})
    if len(volumes) > MOST_VOLUMES:
        why = f"{len(volumes) - MOST_VOLUMES} further mounts are left out"
        gaps.append(Gap(pointer=POINTER, why=why, said_by="mountinfo"))
    chosen += [("volume", mount) for mount in volumes[:MOST_VOLUMES]]
    spaces = {mount.point: _space_or_none(tree, mount) for _, mount in chosen}
    disks = tuple(
        _disk(role, mount, spaces[mount.point], survives(mount, container, virtual))
        for role, mount in chosen
    )
    unsized = sorted({disk.mount for disk in disks if disk.total_bytes is None})
    of_items(gaps, POINTER, "statvfs", {"total_bytes and free_bytes": unsized}, "no answer")
    return disks, tuple(gaps)


def survives(mount: Mount, container: str | None, virtual: str | None) -> str:
    """Whether what is written here outlives a stop of the machine: "yes", "no" or "unknown"."""
    if mount.filesystem in IN_MEMORY or mount.filesystem in LAYERS:
        return "no"
    if EPHEMERAL.search(mount.source_root) or EPHEMERAL.search(mount.point):
        return "no"
    if container is None:
        return "unknown"
    boxed = container not in ("none", "lxc")  # LXC keeps its root, the others' is a layer
    if mount.point == "/":
        return "unknown" if boxed else "yes"
    if _is_network(mount):
        return "yes"
    if mount.filesystem not in LOCAL or mount.source.startswith(("/dev/loop", "/dev/zram")):
        return "unknown"
    if boxed or virtual == "none":
        return "yes"
    # A second disk of a rented virtual machine may be the host's scratch disk.
    return "unknown"


def space(tree: Tree, path: str) -> tuple[int, int]:
    """Total and free bytes of the file system at ``path``. Raises OSError or LookupError.

    On the live machine statvfs is asked; a recorded tree states it under "statvfs".
    """
    if tree.live:
        numbers = os.statvfs(path)
        return numbers.f_blocks * numbers.f_frsize, numbers.f_bavail * numbers.f_frsize
    stated = tree.statement("statvfs", path)
    return int(stated["total_bytes"]), int(stated["free_bytes"])


def _is_network(mount: Mount) -> bool:
    """Whether the data lies elsewhere; almost every FUSE is one (MooseFS, JuiceFS, s3fs, GCS)."""
    kind = mount.filesystem
    if kind in LAYERS or kind in LOCAL_FUSE:
        return False
    return kind in NETWORK or kind == "fuse" or kind.startswith("fuse.")


def _space_or_none(tree: Tree, mount: Mount) -> tuple[int, int] | None:
    answers: list[tuple[int, int]] = []

    def ask() -> None:
        try:
            answers.append(space(tree, mount.point))
        except (OSError, LookupError, ValueError, TypeError):
            return

    if tree.live and _is_network(mount):
        asking = threading.Thread(target=ask, daemon=True)
        asking.start()
        asking.join(SPACE_SECONDS)
    else:
        ask()
    return answers[0] if answers else None


def _volumes(tree: Tree, mounts: tuple[Mount, ...], taken: set[str]) -> list[Mount]:
    """Mounts meant for data, the last one on each mount point, without single files.

    Container runtimes mount the host's files (/etc/hosts, nvidia-smi) one by one; each would
    look like one of the host's disks.
    """
    found: dict[str, Mount] = {}
    for mount in mounts:
        data = _is_network(mount) or mount.filesystem in LOCAL
        if not data or mount.point in taken or SYSTEM.match(mount.point):
            continue
        if not _is_network(mount) and not tree.is_dir(mount.point):
            continue
        found[mount.point] = mount
    return sorted(found.values(), key=lambda mount: (not _is_network(mount), mount.point))


def _disk(role: str, mount: Mount, room: tuple[int, int] | None, outlives: str) -> Disk:
    total, free = room or (None, None)
    return Disk(
        mount=mount.point,
        device=mount.source,
        filesystem=mount.filesystem,
        total_bytes=total,
        free_bytes=free,
        role=role,
        survives_stop=outlives,
        read_only=mount.read_only,
        no_exec="noexec" in mount.options,
    )
