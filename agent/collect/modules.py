"""Which GPU kernel modules are loaded, in which version, and which kernel drivers that means."""

from __future__ import annotations

import re

from ..model import AmdDriver, Drivers, Gap, KernelModule, NvidiaDriver
from .tree import Tree, attempt, of_items

# Reported loaded or not, since their absence is an answer.
WATCHED = ("nvidia", "nvidia_uvm", "nvidia_peermem", "nouveau", "amdgpu", "amdkfd")
# Reported where they are loaded. nvgpu is Jetson's, gim AMD's host side of virtual functions.
NOTED = (
    "nvidia_modeset",
    "nvidia_drm",
    "nv_peer_mem",
    "nvidia_fs",
    "nvidia_vgpu_vfio",
    "gdrdrv",
    "nvgpu",
    "gim",
    "vfio_pci",
    "amdxdna",
)
NVIDIA_VERSION = "/proc/driver/nvidia/version"
POINTER = "/facts/host/modules"
# "NVIDIA UNIX x86_64 Kernel Module  550.54.15  Thu", "NVIDIA UNIX Open Kernel Module for
# x86_64  570.86.15  Release Build"; Jetson's have two numbers or three.
_NVRM = re.compile(r"NVRM version:.*?\s(?P<version>\d+\.\d+(?:\.\d+)*)(?:\s|$)")


def read_modules(tree: Tree) -> tuple[tuple[KernelModule, ...], tuple[Gap, ...]]:
    """The watched GPU modules and whether they are loaded, then others that are loaded.

    From /proc/modules and /sys/module; a driver whose own file stands in /proc or /sys counts
    as loaded where the kernel has no module list. Where none of that can be read: no modules
    and a gap.
    """
    gaps: list[Gap] = []
    listed = attempt(gaps, POINTER, "/proc/modules", lambda: _listed(tree))
    known = attempt([], POINTER, "/sys/module", lambda: set(tree.names("/sys/module")))
    traces = _traces(tree)
    if listed is None and known is None and not traces:
        return (), tuple(gaps)
    loaded = (listed or set()) | (known or set()) | traces
    names = [*WATCHED, *(name for name in NOTED if name in loaded)]
    modules = tuple(_module(tree, name, name in loaded, listed or set()) for name in names)
    unversioned = [m.name for m in modules if m.loaded and m.version is None]
    found: list[Gap] = []
    of_items(
        found,
        POINTER,
        "/sys/module",
        {"version": unversioned},
        "the kernel's own modules state none",
    )
    return modules, tuple(found)


def read_kernel_drivers(tree: Tree) -> tuple[Drivers, tuple[Gap, ...]]:
    """The kernel part of both vendors' drivers; a vendor without a trace in the kernel is None.

    Only ``kernel_version``, ``kernel_open`` and ``rocm_version`` are filled: the rest is asked
    of the vendors' libraries in a child.
    """
    gaps: list[Gap] = []
    nvidia = None
    if tree.exists(NVIDIA_VERSION) or tree.exists("/sys/module/nvidia"):
        pointer = "/facts/drivers/nvidia/kernel_version"
        version = attempt(gaps, pointer, NVIDIA_VERSION, lambda: nvidia_kernel_version(tree))
        text = attempt([], pointer, NVIDIA_VERSION, lambda: tree.text(NVIDIA_VERSION, 4096))
        opened = None if text is None else "Open Kernel Module" in text
        if opened is None:
            why = f"{NVIDIA_VERSION} cannot be read"
            pointer = "/facts/drivers/nvidia/kernel_open"
            gaps.append(Gap(pointer=pointer, why=why, said_by="modules"))
        nvidia = NvidiaDriver(kernel_version=version, kernel_open=opened)
    amd = None
    if tree.exists("/sys/module/amdgpu") or tree.exists("/opt/rocm/.info/version"):
        amd = AmdDriver(
            kernel_version=attempt(
                gaps,
                "/facts/drivers/amd/kernel_version",
                "/sys/module/amdgpu/version",
                lambda: tree.text("/sys/module/amdgpu/version", 256).strip(),
            ),
            rocm_version=attempt(
                gaps,
                "/facts/drivers/amd/rocm_version",
                "/opt/rocm/.info/version",
                lambda: rocm_version(tree, "/opt/rocm"),
            ),
        )
    return Drivers(nvidia=nvidia, amd=amd), tuple(gaps)


def nvidia_kernel_version(tree: Tree) -> str:
    """The version of the loaded nvidia module, "570.86.15". Raises OSError or LookupError."""
    try:
        text = tree.text(NVIDIA_VERSION, 4096)
    except OSError:
        return tree.text("/sys/module/nvidia/version", 256).strip()
    found = _NVRM.search(text)
    if found is None:
        raise LookupError(f"{NVIDIA_VERSION} names no version: {text[:80].strip()!r}")
    return found["version"]


def rocm_version(tree: Tree, home: str) -> str:
    """The release of the ROCm under ``home``, "6.2.4" of "6.2.4-139". Raises OSError."""
    return tree.first(f"{home}/.info/version", f"{home}/.info/version-dev").strip().split("-")[0]


def _listed(tree: Tree) -> set[str]:
    lines = tree.text("/proc/modules").splitlines()
    return {line.split()[0] for line in lines if line.strip() and not line.endswith("(Unloading)")}


def _traces(tree: Tree) -> set[str]:
    """Modules that show themselves elsewhere: built in, or in a sandbox without a module list."""
    traces = set()
    if tree.exists(NVIDIA_VERSION):
        traces.add("nvidia")
    if tree.exists("/sys/class/kfd/kfd"):
        traces.add("amdkfd")  # part of amdgpu since Linux 4.20, so never in a list of its own
    return traces


def _module(tree: Tree, name: str, loaded: bool, listed: set[str]) -> KernelModule:
    if not loaded:
        return KernelModule(name=name, loaded=False, source="/proc/modules")
    version: str | None
    if name == "nvidia":
        version = attempt([], POINTER, NVIDIA_VERSION, lambda: nvidia_kernel_version(tree))
    else:
        path = f"/sys/module/{name}/version"
        version = attempt([], POINTER, path, lambda: tree.text(path, 256).strip())
    if name in listed:
        return KernelModule(name=name, loaded=True, version=version, source="/proc/modules")
    where = (
        f"/sys/module/{name}"
        if tree.exists(f"/sys/module/{name}")
        else "its files in /proc or /sys"
    )
    return KernelModule(name=name, loaded=True, version=version, source=where)
