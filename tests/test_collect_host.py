from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from agent.collect.host import read_host
from agent.collect.tree import Tree, open_tree
from agent.model import Host

from . import host_trees
from .gap_law import pointers
from .host_trees import BARE_STATED, DMI, Files, bare, plant, status


def host(
    tmp_path: Path,
    files: Files,
    stated: dict[str, Any] | None = None,
    environ: dict[str, str] | None = None,
) -> tuple[Host, dict[str, str]]:
    tree = open_tree(plant(tmp_path, files, **(BARE_STATED if stated is None else stated)))
    found, gaps = read_host(tree, environ or {})
    return found, dict(pointers(gaps))


def test_a_bare_machine(tmp_path: Path) -> None:
    found, gaps = host(tmp_path, bare(), environ={"LANG": "en_US.UTF-8"})
    assert found == Host(
        system="linux",
        os_id="ubuntu",
        os_name="Ubuntu 22.04.4 LTS",
        os_version="22.04",
        kernel_release="6.8.0-90-generic",
        architecture="x86_64",
        libc_name="glibc",
        libc_version="2.35",
        cpu_model="AMD EPYC 9354 32-Core Processor",
        cpu_count=64,
        cpu_total_count=64,
        memory_total_bytes=528000000 * 1024,
        memory_available_bytes=500000000 * 1024,
        swap_total_bytes=8000000 * 1024,
        virtualization="none",
        secure_boot=True,
        clock_offset_seconds=2.5,
        uptime_seconds=86400.55,
        is_root=False,
        user_name="alex",
        host_name="node-1",
        groups=("alex", "video", "render"),
        locale="en_US.UTF-8",
        boot_parameters=("iommu=pt", "pci=realloc"),
    )
    assert gaps == {}


def test_wsl_is_a_system_of_its_own(tmp_path: Path) -> None:
    files, stated = host_trees.wsl()
    found, _ = host(tmp_path, files, stated)
    assert (found.system, found.virtualization) == ("wsl", "wsl")


def test_usable_processors_are_fewer_in_a_box_and_never_more_than_online(tmp_path: Path) -> None:
    files, stated = host_trees.docker()
    found, _ = host(tmp_path / "a", files, stated)
    assert (found.cpu_count, found.cpu_total_count) == (48, 64)
    files["/proc/self/status"] = status(cpus="0-255")
    found, _ = host(tmp_path / "b", files, stated)
    assert found.cpu_count == 64


@pytest.mark.parametrize(
    ("vendor", "product", "hypervisor", "clock", "kind"),
    [
        ("QEMU", "Standard PC (Q35 + ICH9, 2009)", True, "", "kvm"),
        ("Microsoft Corporation", "Virtual Machine", True, "", "hyperv"),
        ("VMware, Inc.", "VMware Virtual Platform", True, "", "vmware"),
        ("Amazon EC2", "p5.48xlarge", True, "", "kvm"),
        ("Amazon EC2", "g5g.metal", True, "", "none"),
        ("Xen", "HVM domU", True, "", "xen"),
        ("Supermicro", "AS-8125GS", False, "", "none"),
        ("Google", "Google Compute Engine", True, "", "kvm"),
        ("", "", True, "kvm-clock tsc", "kvm"),
        ("", "", True, "tsc", "unknown"),
    ],
)
def test_kinds_of_virtual_machines(
    vendor: str, product: str, hypervisor: bool, clock: str, kind: str, tmp_path: Path
) -> None:
    flag = "hypervisor" if hypervisor else ""
    files = bare() | {
        f"{DMI}/sys_vendor": vendor + "\n",
        f"{DMI}/product_name": product + "\n",
        "/proc/cpuinfo": f"processor\t: 0\nmodel name\t: X\nflags\t\t: fpu {flag}\n\n",
        "/sys/devices/system/clocksource/clocksource0/available_clocksource": clock + "\n",
    }
    assert host(tmp_path, files)[0].virtualization == kind


def test_grace_has_no_model_name_and_no_flags(tmp_path: Path) -> None:
    files = bare() | {
        "/proc/cpuinfo": "processor\t: 0\nBogoMIPS\t: 2000.00\nFeatures\t: fp asimd\n"
        "CPU implementer\t: 0x41\nCPU architecture: 8\nCPU variant\t: 0x0\nCPU part\t: 0xd4f\n\n",
        f"{DMI}/sys_vendor": "NVIDIA\n",
    }
    found, _ = host(tmp_path, files)
    assert (found.cpu_model, found.virtualization) == ("Neoverse-V2", "none")


def test_musl(tmp_path: Path) -> None:
    files = bare() | {"/lib/ld-musl-x86_64.so.1": b"\x7fELF\0musl libc\0\0" + b"1.2.5\0x"}
    found, _ = host(tmp_path, files)
    assert (found.libc_name, found.libc_version) == ("musl", "1.2.5")


def test_secure_boot(tmp_path: Path) -> None:
    variable = "/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"
    off = bare() | {variable: b"\x06\0\0\0\0"}
    assert host(tmp_path / "off", off)[0].secure_boot is False
    bios = bare()
    del bios[variable]
    bios["/sys/firmware/acpi/tables/DSDT"] = ""
    assert host(tmp_path / "bios", bios)[0].secure_boot is False
    hidden = bare()
    del hidden[variable]
    found, gaps = host(tmp_path / "hidden", hidden)
    assert found.secure_boot is None
    assert "hidden" in gaps["/facts/host/secure_boot"]


def test_names_that_the_machine_does_not_list_are_numbers(tmp_path: Path) -> None:
    files = bare() | {"/proc/self/status": status(4711, 4712, "4713")}
    found, _ = host(tmp_path, files)
    assert (found.user_name, found.groups) == ("4711", ("4712", "4713"))


@pytest.mark.parametrize(
    ("environ", "locale"),
    [
        ({}, "C"),
        ({"LANG": "de_DE.UTF-8"}, "de_DE.UTF-8"),
        ({"LANG": "a", "LC_ALL": "b"}, "b"),
        ({"LANG": "a", "LC_ALL": ""}, "a"),
    ],
)
def test_the_locale_that_is_in_force(environ: dict[str, str], locale: str, tmp_path: Path) -> None:
    assert host(tmp_path, bare(), environ=environ)[0].locale == locale


def test_the_living_clock_and_memory() -> None:
    found, _ = read_host(Tree(), {})
    assert found.uptime_seconds is not None
    assert 0 < found.uptime_seconds < time.time()
    assert found.memory_total_bytes is not None
    assert found.memory_available_bytes is not None
    assert 0 < found.memory_available_bytes <= found.memory_total_bytes
