from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agent.collect.container import read_container, read_first_environment
from agent.collect.tree import open_tree
from agent.model import Container

from . import host_trees
from .host_trees import DMI, Files, bare, more_mounts, plant, status


def container(
    tmp_path: Path,
    files: Files,
    environ: dict[str, str] | None = None,
    first: dict[str, str] | None = None,
    **stated: Any,
) -> Container:
    found, _ = read_container(open_tree(plant(tmp_path, files, **stated)), environ or {}, first)
    return found


def with_root(line: str, **others: str) -> Files:
    return bare() | {"/proc/self/mountinfo": f"1 0 0:9 {line}\n", **others}


def test_a_bare_machine_is_none(tmp_path: Path) -> None:
    found = container(tmp_path, bare())
    assert (found.kind, found.sandbox, found.provider) == ("none", "none", "unknown")
    assert found.mounted_nvidia_libraries is False
    assert found.evidence == ()


def test_a_rented_docker(tmp_path: Path) -> None:
    files, stated = host_trees.docker()
    found = container(tmp_path, files, {}, {"NVIDIA_VISIBLE_DEVICES": "0"}, **stated)
    assert found.kind == "docker"
    assert found.privileged is False
    assert found.mounted_nvidia_libraries is True
    assert found.nvidia_visible_devices == "0"  # known from the first process alone
    assert found.nvidia_driver_capabilities is None
    assert found.provider == "runpod"
    assert "/.dockerenv exists" in found.evidence


def test_a_machine_that_runs_containers_is_none_itself(tmp_path: Path) -> None:
    files = bare()
    more_mounts(
        files,
        "70 22 0:70 / /data/docker/overlay2/c0/merged rw - overlay overlay rw,"
        "lowerdir=/data/docker/overlay2/l/A\n"
        "71 22 0:4 net:[402] /run/docker/netns/default rw - nsfs nsfs rw\n"
        "72 22 0:71 / /var/lib/lxcfs rw - fuse.lxcfs lxcfs rw\n"
        "73 22 0:72 / /var/lib/kubelet/pods/9000/volumes/kubernetes.io~secret/x rw - tmpfs t rw\n",
    )
    assert container(tmp_path, files).kind == "none"


def test_a_small_virtual_machine_made_from_an_image_is_none(tmp_path: Path) -> None:
    files = bare() | {"/.dockerenv": ""}
    files["/proc/self/mountinfo"] = "22 1 254:0 / / rw - ext4 /dev/vda rw\n"
    assert container(tmp_path, files).kind == "none"


@pytest.mark.parametrize(
    ("files", "environ", "kind"),
    [
        (with_root("/ / rw - overlay overlay rw,lowerdir=/a"), {}, "container"),
        (
            with_root("/ / rw - overlay overlay rw,lowerdir=/v/containers/storage/overlay/l/A"),
            {"container": "podman"},
            "podman",
        ),
        (with_root("/ / rw - overlay overlay rw", **{"/run/.containerenv": ""}), {}, "podman"),
        (
            with_root("/ / rw - overlay o rw,lowerdir=/run/containerd/io.containerd.snapshotter/1"),
            {"KUBERNETES_SERVICE_HOST": "10.0.0.1"},
            "kubernetes",
        ),
        (
            with_root("/ / rw - overlay o rw,lowerdir=/var/lib/containerd/io.containerd.snap/1"),
            {},
            "containerd",
        ),
        (
            with_root("/ / rw - overlay overlay rw", **{"/.singularity.d/env/01.sh": ""}),
            {"APPTAINER_CONTAINER": "/images/torch.sif"},
            "apptainer",
        ),
        (with_root("/raid/enroot/data/user-1000/pyxis_7 / rw - ext4 /dev/md0 rw"), {}, "enroot"),
        (with_root("/var/lib/lxc/box/rootfs / rw - ext4 /dev/mapper/vg-lv rw"), {}, "lxc"),
        (
            with_root("/ / rw - overlay o rw", **{"/proc/1/cgroup": "0::/kubepods/burstable/p\n"}),
            {},
            "kubernetes",
        ),
        (with_root("/ / rw - ext4 /dev/sda rw"), {"container": "systemd-nspawn"}, "systemd-nspawn"),
    ],
)
def test_kinds_of_containers(
    files: Files, environ: dict[str, str], kind: str, tmp_path: Path
) -> None:
    found = container(tmp_path, files, environ)
    assert found.kind == kind
    assert found.evidence


def test_a_sandbox_is_seen_by_its_kernel(tmp_path: Path) -> None:
    files, stated = host_trees.gvisor()
    found = container(tmp_path, files, {"MODAL_TASK_ID": "ta-1"}, **stated)
    assert (found.kind, found.sandbox, found.provider) == ("container", "gvisor", "modal")

    kata = bare()
    kata["/proc/self/mountinfo"] = "1 0 0:9 / / rw - virtiofs kataShared rw\n"
    assert container(tmp_path / "kata", kata).sandbox == "kata"


def test_the_image_is_told_by_apptainer_only(tmp_path: Path) -> None:
    environ = {"APPTAINER_CONTAINER": "/images/torch.sif"}
    assert container(tmp_path, bare(), environ).image == "/images/torch.sif"


@pytest.mark.parametrize(
    ("vendor", "provider"),
    [("Amazon EC2", "aws"), ("Google", "google-cloud"), ("Supermicro", "unknown")],
)
def test_providers_of_whole_machines(vendor: str, provider: str, tmp_path: Path) -> None:
    files = bare() | {f"{DMI}/sys_vendor": vendor + "\n"}
    assert container(tmp_path, files).provider == provider


def test_azure_is_told_from_any_other_hyper_v(tmp_path: Path) -> None:
    files = bare() | {f"{DMI}/sys_vendor": "Microsoft Corporation\n"}
    assert container(tmp_path / "a", files).provider == "unknown"
    files[f"{DMI}/chassis_asset_tag"] = "7783-7084-3265-9085-8269-3286-77\n"
    assert container(tmp_path / "b", files).provider == "azure"


def test_a_privileged_container_has_all_capabilities(tmp_path: Path) -> None:
    files, stated = host_trees.docker()
    files["/proc/self/status"] = status()
    assert container(tmp_path, files, **stated).privileged is True


def test_values_of_variables_that_only_identify_the_box_are_not_kept(tmp_path: Path) -> None:
    found = container(tmp_path, bare(), {"RUNPOD_POD_ID": "s3cretpod"})
    assert found.provider == "runpod"
    assert "s3cretpod" not in repr(found)


def test_the_first_process_may_have_odd_variables(tmp_path: Path) -> None:
    files = bare() | {"/proc/1/environ": b"A=1=2\0broken\0B=\xff\0\0"}
    assert read_first_environment(open_tree(plant(tmp_path, files))) == {
        "A": "1=2",
        "B": "\udcff",
    }
