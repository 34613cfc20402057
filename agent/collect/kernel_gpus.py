"""Which GPUs the loaded kernel drivers list, before any library is asked."""

from __future__ import annotations

import re

from ..model import Gap, KernelGpu
from .pci import normalise_address
from .tree import Tree, of_items, reason

POINTER = "/facts/host/kernel_gpus"
NVIDIA = "/proc/driver/nvidia/gpus"
KFD = "/sys/class/kfd/kfd/topology/nodes"
# NVIDIA prints this in place of a UUID while the GPU was never opened, or after it was lost.
UNKNOWN_UUID = re.compile(r"\?")


def read_kernel_gpus(tree: Tree) -> tuple[tuple[KernelGpu, ...], tuple[Gap, ...]]:
    """NVIDIA's GPUs in /proc/driver/nvidia/gpus, AMD's in the topology of the kfd driver.

    A container shows only the GPUs that it was given, which /sys/bus/pci does not; so there
    this is what the libraries' lists are to be compared with. Empty without a loaded driver.
    """
    gaps: list[Gap] = []
    gpus: list[KernelGpu] = []
    for folder, read in ((NVIDIA, _nvidia), (KFD, _amd)):
        for name in tree.names_or_none(folder):
            try:
                gpu = read(tree, name)
            except (OSError, ValueError) as error:
                gaps.append(Gap(pointer=POINTER, why=f"{name}: {reason(error)}", said_by=folder))
                continue
            if gpu is not None:
                gpus.append(gpu)
    for field, vendor in (("uuid", "nvidia"), ("excluded", "nvidia"), ("architecture", "amd")):
        missing = [g.address for g in gpus if g.vendor == vendor and getattr(g, field) is None]
        of_items(gaps, POINTER, vendor, {field: missing}, "the driver does not state it")
    unnumbered = [gpu.address for gpu in gpus if gpu.minor is None]
    of_items(gaps, POINTER, "driver", {"minor": unnumbered}, "the driver does not state it")
    return tuple(gpus), tuple(gaps)


def _nvidia(tree: Tree, name: str) -> KernelGpu:
    text = tree.text(f"{NVIDIA}/{name}/information", 4096)
    rows = dict(re.findall(r"^([\w ]+?):\s*(.*?)\s*$", text, re.MULTILINE))
    uuid = rows.get("GPU UUID") or "?"
    minor = rows.get("Device Minor", "")
    excluded = rows.get("GPU Excluded")
    return KernelGpu(
        vendor="nvidia",
        address=normalise_address(name),
        minor=int(minor) if minor.isdigit() else None,
        uuid=None if UNKNOWN_UUID.search(uuid) else uuid,
        excluded=None if excluded is None else excluded == "Yes",
    )


def _amd(tree: Tree, name: str) -> KernelGpu | None:
    """A node of the topology; None for a CPU, and for a GPU that this box was not given."""
    here = f"{KFD}/{name}"
    try:
        text = tree.text(f"{here}/properties", 1 << 14)
    except PermissionError:  # the device cgroup guards the properties of each GPU
        return None
    rows = dict(re.findall(r"^(\w+) (\d+)$", text, re.MULTILINE))
    target = int(rows.get("gfx_target_version", "0"))
    if target == 0:
        return None
    place = int(rows["location_id"]) if "location_id" in rows else 0
    minor = rows.get("drm_render_minor")
    return KernelGpu(
        vendor="amd",
        address=f"{int(rows.get('domain', '0')):04x}:{place >> 8:02x}:{place >> 3 & 31:02x}"
        f".{place & 7}",
        minor=int(minor) if minor else None,
        architecture=_gfx(target),
    )


def _gfx(target: int) -> str:
    """gfx942 of 90402: two decimal digits each of minor and stepping, both printed in hex."""
    return f"gfx{target // 10000}{target // 100 % 100:x}{target % 100:x}"
