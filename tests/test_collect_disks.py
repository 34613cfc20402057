from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agent.collect.disks import read_disks, survives
from agent.collect.mounts import Mount
from agent.collect.tree import Tree, open_tree
from agent.model import Disk

from . import host_trees
from .host_trees import BARE_STATED, GIB, Files, bare, more_mounts, plant


def disks(tmp_path: Path, files: Files, stated: dict[str, Any], **changes: Any) -> dict[str, Disk]:
    given: dict[str, Any] = {
        "workdir": Path("/workspace/run"),
        "home": "/root",
        "container": "none",
        "virtual": "none",
    }
    found, _ = read_disks(open_tree(plant(tmp_path, files, **stated)), **(given | changes))
    return {disk.mount if disk.role == "volume" else str(disk.role): disk for disk in found}


def mount(filesystem: str, point: str = "/data", source: str = "/dev/sdb1", **other: Any) -> Mount:
    values: dict[str, Any] = {
        "point": point,
        "source_root": "/",
        "device_number": "8:17",
        "filesystem": filesystem,
        "source": source,
        "options": ("rw",),
        "super_options": ("rw",),
    }
    return Mount(**(values | other))


def test_a_rented_container(tmp_path: Path) -> None:
    files, stated = host_trees.docker()
    found = disks(tmp_path, files, stated, container="docker")
    assert found["root"].survives_stop == "no"  # the container's layer
    assert found["home"].mount == "/"
    assert found["work"].mount == "/workspace"
    assert (found["work"].filesystem, found["work"].survives_stop) == ("fuse", "yes")
    assert found["shm"].survives_stop == "no"
    assert found["shm"].total_bytes == 64 << 20
    assert found["tmp"].no_exec is True
    assert found["/data"].survives_stop == "yes"
    assert found["/data"].free_bytes == 59 * GIB
    # Single files of the host that are mounted in are no disks.
    assert not {"/etc/hosts", "/usr/bin/nvidia-smi"} & set(found)


def test_a_network_disk_under_home(tmp_path: Path) -> None:
    files, stated = host_trees.slurm_v1()
    found = disks(tmp_path, files, stated, home="/home/alex", workdir=Path("/home/alex/run"))
    assert found["home"].filesystem == found["work"].filesystem == "nfs4"
    assert found["home"].survives_stop == "yes"
    assert found["home"].total_bytes is None  # the tree states no size for it
    assert found["root"].survives_stop == "yes"


@pytest.mark.parametrize(
    ("seen", "container", "virtual", "answer"),
    [
        (mount("overlay", "/"), "docker", "none", "no"),
        (mount("tmpfs"), "none", "none", "no"),
        (mount("squashfs", "/"), "apptainer", "none", "no"),
        (mount("ext4", "/"), "none", "none", "yes"),
        (mount("ext4", "/"), "none", "kvm", "yes"),
        (mount("ext4", "/"), "lxc", "none", "yes"),
        (mount("9p", "/"), "container", "none", "unknown"),  # gVisor's root is a layer in disguise
        (mount("nfs4"), "kubernetes", "kvm", "yes"),
        (mount("fuse.juicefs"), "docker", "none", "yes"),
        (mount("virtiofs"), "none", "kvm", "yes"),
        (mount("xfs", source_root="/volumes/v/_data"), "docker", "kvm", "yes"),
        (mount("xfs", source_root="/pods/7/volumes/kubernetes.io~empty-dir/x"), "kubernetes",
         "kvm", "no"),
        (mount("ext4", "/kaggle/working", "/dev/loop1"), "docker", "kvm", "unknown"),
        (mount("xfs", "/mnt/scratch", "/dev/nvme1n1"), "none", "kvm", "unknown"),
        (mount("xfs", "/mnt/scratch", "/dev/nvme1n1"), "none", "none", "yes"),
        (mount("ext4"), None, None, "unknown"),
        (mount("fuse", source="mfs#eu-1.runpod.net:9421"), "docker", "none", "yes"),
        (mount("fuse.fuse-overlayfs", "/"), "podman", "none", "no"),
        (mount("fuse.lxcfs"), "lxc", "none", "unknown"),
    ],
)  # fmt: skip
def test_what_survives_a_stop(
    seen: Mount, container: str | None, virtual: str | None, answer: str
) -> None:
    assert survives(seen, container, virtual) == answer


def test_a_read_only_disk_is_said(tmp_path: Path) -> None:
    files = bare()
    files["/proc/self/mountinfo"] = "22 1 259:2 / / ro,relatime - ext4 /dev/nvme0n1p2 ro\n"
    assert disks(tmp_path, files, BARE_STATED)["root"].read_only is True


def test_many_volumes_are_cut_with_a_gap(tmp_path: Path) -> None:
    files = bare()
    lines = [f"{n} 22 8:{n} / /v{n} rw - nfs4 filer:/{n} rw\n" for n in range(20)]
    more_mounts(files, "".join(lines))
    tree = open_tree(plant(tmp_path, files, **BARE_STATED))
    found, gaps = read_disks(tree, workdir=Path("/"), home="/", container="none", virtual="none")
    assert sum(disk.role == "volume" for disk in found) == 16
    assert any("4 further mounts" in gap.why for gap in gaps)


def test_the_living_disks_have_sizes(tmp_path: Path) -> None:
    found, _ = read_disks(Tree(), workdir=tmp_path, home="/", container="none", virtual="none")
    root = next(disk for disk in found if disk.role == "root")
    assert root.total_bytes is not None
    assert root.free_bytes is not None
    assert 0 < root.free_bytes <= root.total_bytes
