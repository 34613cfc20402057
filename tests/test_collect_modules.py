from __future__ import annotations

from pathlib import Path

import pytest

from agent.collect.modules import nvidia_kernel_version, read_kernel_drivers, read_modules
from agent.collect.tree import open_tree

from . import host_trees
from .host_trees import bare, plant

VERSION = "/proc/driver/nvidia/version"


def test_modules_of_an_nvidia_machine(tmp_path: Path) -> None:
    files, stated = host_trees.eight_gpus()
    found, gaps = read_modules(open_tree(plant(tmp_path, files, **stated)))
    loaded = {module.name: module.version for module in found if module.loaded}
    assert loaded == {
        "nvidia": "570.86.15",
        "nvidia_uvm": "570.86.15",
        "nvidia_drm": "570.86.15",
    }
    absent = {module.name for module in found if not module.loaded}
    assert absent == {"nvidia_peermem", "nouveau", "amdgpu", "amdkfd"}
    assert gaps == ()


def test_the_kernels_own_amdgpu_states_no_version_and_says_so_once(tmp_path: Path) -> None:
    files, stated = host_trees.amd()
    found, gaps = read_modules(open_tree(plant(tmp_path, files, **stated)))
    loaded = {module.name: module.source for module in found if module.loaded}
    assert set(loaded) == {"amdgpu", "amdkfd"}
    assert loaded["amdkfd"] == "its files in /proc or /sys"
    assert len(gaps) == 1
    assert gaps[0].why.endswith("(amdgpu, amdkfd)")


def test_a_module_that_is_being_unloaded_is_not_loaded(tmp_path: Path) -> None:
    files, stated = host_trees.amd()
    found, _ = read_modules(open_tree(plant(tmp_path, files, **stated)))
    assert next(module for module in found if module.name == "nouveau").loaded is False


def test_a_sandbox_without_a_module_list_still_shows_the_driver(tmp_path: Path) -> None:
    files, stated = host_trees.gvisor()
    found, _ = read_modules(open_tree(plant(tmp_path, files, **stated)))
    nvidia = next(module for module in found if module.name == "nvidia")
    assert (nvidia.loaded, nvidia.version) == (True, "550.54.15")


def test_where_nothing_can_be_read_there_is_a_gap_and_no_claim(tmp_path: Path) -> None:
    found, gaps = read_modules(open_tree(plant(tmp_path, {})))
    assert found == ()
    assert [gap.pointer for gap in gaps] == ["/facts/host/modules"]


@pytest.mark.parametrize(
    ("line", "version", "opened"),
    [
        ("NVIDIA UNIX x86_64 Kernel Module  384.98  Thu Oct 26 15:16:01 PDT 2017", "384.98", False),
        ("NVIDIA UNIX x86_64 Kernel Module  550.54.15  Tue Mar  5 2024", "550.54.15", False),
        (
            "NVIDIA UNIX Open Kernel Module for x86_64  525.60.11  Release Build  (b@localhost)  ",
            "525.60.11",
            True,
        ),
        ("NVIDIA UNIX Open Kernel Module for aarch64  35.3.1  Release Build", "35.3.1", True),
        ("NVIDIA UNIX Open Kernel Module for x86_64  610.43.02", "610.43.02", True),
    ],
)
def test_spellings_of_the_version(line: str, version: str, opened: bool, tmp_path: Path) -> None:
    text = f"NVRM version: {line}\nGCC version:  gcc version 12.2.0 (Debian 12.2.0-14)\n"
    drivers, _ = read_kernel_drivers(open_tree(plant(tmp_path, bare() | {VERSION: text})))
    assert drivers.nvidia is not None
    assert (drivers.nvidia.kernel_version, drivers.nvidia.kernel_open) == (version, opened)


def test_a_version_file_without_a_version_says_so(tmp_path: Path) -> None:
    tree = open_tree(plant(tmp_path, bare() | {VERSION: "NVRM version: later\n"}))
    with pytest.raises(LookupError, match="names no version"):
        nvidia_kernel_version(tree)


def test_without_the_proc_file_sysfs_tells_the_version(tmp_path: Path) -> None:
    files = bare() | {"/sys/module/nvidia/version": "535.54.03\n"}
    drivers, gaps = read_kernel_drivers(open_tree(plant(tmp_path, files)))
    assert drivers.nvidia is not None
    assert drivers.nvidia.kernel_version == "535.54.03"
    assert drivers.nvidia.kernel_open is None
    assert [gap.pointer for gap in gaps] == ["/facts/drivers/nvidia/kernel_open"]


def test_amds_driver_and_rocm(tmp_path: Path) -> None:
    files, stated = host_trees.amd()
    files["/sys/module/amdgpu/version"] = "6.12.12\n"
    drivers, gaps = read_kernel_drivers(open_tree(plant(tmp_path, files, **stated)))
    assert drivers.nvidia is None
    assert drivers.amd is not None
    assert (drivers.amd.kernel_version, drivers.amd.rocm_version) == ("6.12.12", "6.4.1")
    assert gaps == ()
