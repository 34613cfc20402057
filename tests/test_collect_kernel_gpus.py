from __future__ import annotations

from pathlib import Path

import pytest

from agent.collect.kernel_gpus import read_kernel_gpus
from agent.collect.tree import open_tree
from agent.model import KernelGpu

from . import host_trees
from .host_trees import Files, bare, plant

INFORMATION = """Model: \t\t NVIDIA H100 80GB HBM3
IRQ:   \t\t 77
GPU UUID: \t {uuid}
Video BIOS: \t 96.00.74.00.01
Device Minor: \t 5
GPU Firmware: \t 570.86.15
GPU Excluded:\t {excluded}
"""
NVIDIA = "/proc/driver/nvidia/gpus/0000:5d:00.0/information"
KFD = "/sys/class/kfd/kfd/topology/nodes"


def kfd_node(number: int, target: int, location: int, render: int) -> Files:
    return {
        f"{KFD}/{number}/properties": (
            f"cpu_cores_count 0\nsimd_count 1216\ngfx_target_version {target}\n"
            f"vendor_id 4098\ndevice_id 29857\nlocation_id {location}\ndomain 0\n"
            f"drm_render_minor {render}\nunique_id 1234567890123456789\n"
        )
    }


def test_nvidias_list(tmp_path: Path) -> None:
    uuid = "GPU-00000000-0000-4000-8000-000000000005"
    files = bare() | {NVIDIA: INFORMATION.format(uuid=uuid, excluded="No")}
    found, gaps = read_kernel_gpus(open_tree(plant(tmp_path, files)))
    assert found == (
        KernelGpu(vendor="nvidia", address="0000:5d:00.0", minor=5, uuid=uuid, excluded=False),
    )
    assert gaps == ()


def test_a_uuid_that_the_driver_does_not_know_yet(tmp_path: Path) -> None:
    unknown = "GPU-????????-????-????-????-????????????"
    files = bare() | {NVIDIA: INFORMATION.format(uuid=unknown, excluded="Yes")}
    found, gaps = read_kernel_gpus(open_tree(plant(tmp_path, files)))
    assert (found[0].uuid, found[0].excluded) == (None, True)
    assert [gap.why.split(":")[0] for gap in gaps] == ["uuid"]


@pytest.mark.parametrize(
    ("target", "architecture"),
    [
        (90402, "gfx942"),
        (90010, "gfx90a"),
        (90500, "gfx950"),
        (110000, "gfx1100"),
        (120001, "gfx1201"),
        (110501, "gfx1151"),
        (90008, "gfx908"),
    ],
)
def test_amds_list(target: int, architecture: str, tmp_path: Path) -> None:
    files = bare() | kfd_node(1, target, 0x2A00, 129) | kfd_node(0, 0, 0, 0)
    found, gaps = read_kernel_gpus(open_tree(plant(tmp_path, files)))
    assert found == (
        KernelGpu(vendor="amd", address="0000:2a:00.0", minor=129, architecture=architecture),
    )
    assert gaps == ()


def test_gpus_that_a_box_was_not_given_are_not_listed(tmp_path: Path) -> None:
    files = bare() | kfd_node(1, 90402, 0x0C00, 128) | kfd_node(2, 90402, 0x2A00, 129)
    root = plant(tmp_path, files, refused={f"{KFD}/2/properties": "EPERM"})
    found, _ = read_kernel_gpus(open_tree(root))
    assert [gpu.address for gpu in found] == ["0000:0c:00.0"]


def test_without_a_driver_the_list_is_empty(tmp_path: Path) -> None:
    assert read_kernel_gpus(open_tree(plant(tmp_path, bare()))) == ((), ())


def test_a_gpu_that_cannot_be_read_is_a_gap(tmp_path: Path) -> None:
    files, stated = host_trees.eight_gpus()
    root = plant(tmp_path, files, **stated)
    (root / "proc/driver/nvidia/gpus/0000:39:00.0/information").unlink()
    found, gaps = read_kernel_gpus(open_tree(root))
    assert len(found) == 7
    assert any(gap.why.startswith("0000:39:00.0: No such file") for gap in gaps)
