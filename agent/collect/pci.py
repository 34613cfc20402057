"""Which GPUs stand on the PCI bus, whether or not a driver answers for them."""

from __future__ import annotations

import re

from ..model import Gap, PciDevice, Vendor
from .tree import Tree, of_items, reason

DEVICES = "/sys/bus/pci/devices"
POINTER = "/facts/host/pci"
VENDORS: dict[str, Vendor] = {"10de": "nvidia", "1002": "amd"}
# 0300 VGA, 0302 3D controller, 0380 display controller, 1200 processing accelerator.
GPU_CLASSES = ("03", "12")
NAME_LISTS = ("/usr/share/misc/pci.ids", "/usr/share/hwdata/pci.ids")
# Transfer rate in GT/s to generation; the kernel prints "16.0 GT/s PCIe", older ones "8 GT/s".
GENERATIONS = {2.5: 1, 5.0: 2, 8.0: 3, 16.0: 4, 32.0: 5, 64.0: 6, 128.0: 7}
NO_WIDTH = (0, 255)  # what a device that has left the bus, or has no link, reads as
_ADDRESS = re.compile(
    r"(?:PCI:)?(?:(?P<domain>[0-9a-f]{4,8}):)?(?P<bus>[0-9a-f]{2}):(?P<slot>[0-9a-f]{2})"
    r"(?:\.(?P<function>[0-7]))?",
    re.IGNORECASE,
)
_MODEL = re.compile(r"^Model:\s*(.+?)\s*$", re.MULTILINE)


def normalise_address(text: str) -> str:
    """A PCI address as sysfs writes it, "0000:3b:00.0", from any vendor's spelling.

    NVML prints eight digits of domain, the kernel log no function, lspci no domain. Raises
    ValueError for anything else.
    """
    found = _ADDRESS.fullmatch(text.strip())
    if found is None:
        raise ValueError(f"not a PCI address: {text[:40]!r}")
    domain = int(found["domain"] or "0", 16)
    return f"{domain:04x}:{found['bus']}:{found['slot']}.{found['function'] or '0'}".lower()


def read_pci(tree: Tree) -> tuple[tuple[PciDevice, ...], tuple[Gap, ...]]:
    """NVIDIA's and AMD's display and accelerator functions in /sys/bus/pci, by address.

    Inside a container this lists all GPUs of the host, on WSL, Jetson and gVisor none.
    """
    try:
        names = tree.names(DEVICES)
    except OSError as error:
        why = f"this kernel or sandbox shows no PCI bus: {reason(error)}"
        return (), (Gap(pointer=POINTER, why=why, said_by=DEVICES),)
    gaps: list[Gap] = []
    devices: list[PciDevice] = []
    for name in names:
        try:
            device = _device(tree, name)
        except (OSError, ValueError) as error:
            # Also a GPU in the middle of falling off the bus: its files vanish one by one.
            gaps.append(Gap(pointer=POINTER, why=f"{name}: {reason(error)}", said_by=DEVICES))
            continue
        if device is not None:
            devices.append(device)
    _explain(gaps, devices)
    return tuple(devices), tuple(gaps)


def _explain(gaps: list[Gap], devices: list[PciDevice]) -> None:
    reasons = {
        "name": "no pci.ids on this machine knows it",
        "kernel_driver": "no kernel driver is bound to it",
        "link_width_current": "not stated, as for a virtual function",
        "link_width_max": "not stated, as for a virtual function",
        "link_generation_current": "not stated, as for a virtual function",
        "link_generation_max": "not stated, as for a virtual function",
        "numa_node": "the kernel knows no node for it",
    }
    for field, why in reasons.items():
        missing = [device.address for device in devices if getattr(device, field) is None]
        of_items(gaps, POINTER, DEVICES, {field: missing}, why)


def _device(tree: Tree, name: str) -> PciDevice | None:
    here = f"{DEVICES}/{name}"
    vendor_id = _hexadecimal(tree, f"{here}/vendor", 4)
    class_code = _hexadecimal(tree, f"{here}/class", 6)
    if vendor_id not in VENDORS or class_code[:2] not in GPU_CLASSES:
        return None
    device_id = _hexadecimal(tree, f"{here}/device", 4)
    address = normalise_address(name)
    node = _number(tree, f"{here}/numa_node")
    return PciDevice(
        address=address,
        vendor=VENDORS[vendor_id],
        vendor_id=vendor_id,
        device_id=device_id,
        class_code=class_code,
        name=_name(tree, address, vendor_id, device_id),
        kernel_driver=_driver(tree, here),
        link_width_current=_width(tree, f"{here}/current_link_width"),
        link_width_max=_width(tree, f"{here}/max_link_width"),
        link_generation_current=_generation(tree, f"{here}/current_link_speed"),
        link_generation_max=_generation(tree, f"{here}/max_link_speed"),
        numa_node=node if node is not None and node >= 0 else None,
    )


def _hexadecimal(tree: Tree, path: str, digits: int) -> str:
    return f"{int(tree.text(path, 64), 16):0{digits}x}"


def _number(tree: Tree, path: str) -> int | None:
    try:
        return tree.number(path)
    except (OSError, ValueError):
        return None


def _width(tree: Tree, path: str) -> int | None:
    width = _number(tree, path)
    return None if width in NO_WIDTH else width


def _generation(tree: Tree, path: str) -> int | None:
    try:
        return GENERATIONS.get(float(tree.text(path, 64).split()[0]))
    except (OSError, ValueError, IndexError):  # "Unknown" where there is no link
        return None


def _driver(tree: Tree, here: str) -> str | None:
    try:
        return tree.link(f"{here}/driver").rsplit("/", 1)[-1]
    except OSError:
        return None


def _name(tree: Tree, address: str, vendor_id: str, device_id: str) -> str | None:
    try:
        text = tree.text(f"/proc/driver/nvidia/gpus/{address}/information", 4096)
    except OSError:
        text = ""
    found = _MODEL.search(text)
    if found is not None:
        return found[1]
    for path in NAME_LISTS:
        try:
            listed = tree.read(path, 8 << 20)
        except OSError:
            continue
        return _listed_name(listed, vendor_id, device_id)
    return None


def _listed_name(listed: bytes, vendor_id: str, device_id: str) -> str | None:
    """The name in a pci.ids: a vendor starts a line, its devices follow after one tab."""
    start = listed.find(b"\n%s  " % vendor_id.encode())
    if start < 0:
        return None
    following = re.compile(rb"\n[0-9a-fA-FC]").search(listed, start + 1)
    section = listed[start : following.start() if following else len(listed)]
    found = re.search(rb"\n\t%s  ([^\n]+)" % device_id.encode(), section)
    return found[1].decode("utf-8", "replace").strip() if found else None
