from __future__ import annotations

from pathlib import Path

import pytest

from agent.collect.pci import normalise_address, read_pci
from agent.collect.tree import open_tree

from . import host_trees
from .host_trees import GPU, bare, gpu, plant


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("00000000:3B:00.0", "0000:3b:00.0"),  # NVML
        ("0000:3b:00.0", "0000:3b:00.0"),  # sysfs
        ("3b:00.0", "0000:3b:00.0"),  # lspci
        ("PCI:0000:3b:00", "0000:3b:00.0"),  # the kernel log
        ("000d:00:00", "000d:00:00.0"),
        ("00010000:01:00.0", "10000:01:00.0"),  # a domain behind Intel's VMD
    ],
)
def test_one_spelling_for_an_address(text: str, address: str) -> None:
    assert normalise_address(text) == address


@pytest.mark.parametrize("text", ["", "GPU-0", "3b:00.9", "0000:3b:00.0.1", "x" * 100])
def test_what_is_no_address(text: str) -> None:
    with pytest.raises(ValueError, match="not a PCI address"):
        normalise_address(text)


def test_gpus_by_class_and_vendor(tmp_path: Path) -> None:
    files, stated = host_trees.eight_gpus()
    files |= gpu("0000:05:00.0", class_code="0x068000")  # an NVSwitch
    files |= gpu("0000:19:00.1", class_code="0x040300")  # a GPU's sound function
    found, gaps = read_pci(open_tree(plant(tmp_path, files, **stated)))
    assert len(found) == 8  # neither those nor the board's own ASPEED
    first = found[0]
    assert first.address == "0000:19:00.0"
    assert (first.vendor, first.vendor_id, first.device_id) == ("nvidia", "10de", "2330")
    assert first.class_code == "030200"
    assert first.name == "NVIDIA H100 80GB HBM3"
    assert first.kernel_driver == "nvidia"
    assert (first.link_generation_current, first.link_generation_max) == (1, 5)
    assert (first.link_width_current, first.link_width_max) == (16, 16)
    assert found[7].numa_node == 1
    assert gaps == ()


def test_names_come_from_the_vendors_own_section_of_pci_ids(tmp_path: Path) -> None:
    files, stated = host_trees.amd()
    found, gaps = read_pci(open_tree(plant(tmp_path, files, **stated)))
    assert [device.name for device in found] == ["Aqua Vanjaram [Instinct MI300X]"] * 2
    assert found[0].link_width_current is None
    assert found[0].link_generation_current is None
    assert {gap.why.split(":")[0] for gap in gaps} == {
        "numa_node",
        "link_width_current",
        "link_generation_current",
    }


def test_a_gpu_without_a_driver_or_name(tmp_path: Path) -> None:
    files = bare() | gpu("0000:01:00.0", device="0x1234", driver="x")
    del files[f"{GPU}/0000:01:00.0/driver"]
    found, gaps = read_pci(open_tree(plant(tmp_path, files)))
    assert (found[0].kernel_driver, found[0].name) == (None, None)
    assert {gap.why.split(":")[0] for gap in gaps} == {"name", "kernel_driver"}


def test_a_gpu_whose_files_vanish_is_a_gap_and_the_others_stay(tmp_path: Path) -> None:
    files = bare() | gpu("0000:01:00.0") | gpu("0000:02:00.0")
    del files[f"{GPU}/0000:01:00.0/device"]
    found, gaps = read_pci(open_tree(plant(tmp_path, files)))
    assert [device.address for device in found] == ["0000:02:00.0"]
    assert any("0000:01:00.0" in gap.why for gap in gaps)


def test_no_bus_is_a_gap(tmp_path: Path) -> None:
    files, stated = host_trees.gvisor()
    found, gaps = read_pci(open_tree(plant(tmp_path, files, **stated)))
    assert found == ()
    assert "shows no PCI bus" in gaps[0].why
