"""What lspci, lsmod, modprobe and ls print of GPUs, their modules and their device nodes."""

from __future__ import annotations

import re

from agent.model import DeviceNode, KernelModule, PciDevice, Vendor
from agent.reading.draft import Draft
from agent.reading.page import Page

GPU_MODULES = (
    "nvidia|nvidia_uvm|nvidia_drm|nvidia_modeset|nvidia_peermem|nv_peer_mem|nouveau|nova_core|"
    "amdgpu|amdkfd|amdxdna|gdrdrv|radeon|vfio_pci|gim"
)


def read(page: Page, draft: Draft) -> None:
    """Fill the draft with PCI functions, kernel modules and device nodes."""
    _pci(page, draft)
    _modules(page, draft)
    _nodes(page, draft)


_PCI = re.compile(
    r"^(?:[ \t>+-]*)(?:lspci: ?)?((?:[0-9a-f]{4}:)?[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]) "
    r"((?:VGA compatible|3D|Display) controller|Processing accelerators)(?: \[([0-9a-f]{4})\])?: "
    r"([^\n]+)$",
    re.M,
)
_IDS = re.compile(r"\[([0-9a-f]{4}):([0-9a-f]{4})\]")
_CLASSES = {
    "VGA compatible controller": "0300",
    "3D controller": "0302",
    "Display controller": "0380",
    "Processing accelerators": "1200",
}


def _pci(page: Page, draft: Draft) -> None:
    if "controller" not in page.text and "accelerators" not in page.text:
        return
    for match in _PCI.finditer(page.text):
        ids = _IDS.search(match[4])
        address = match[1] if match[1].count(":") == 2 else f"0000:{match[1]}"
        below = page.text[match.end() : match.end() + 600]
        below = re.split(r"\n(?=[0-9a-f]{2,4}:)", below, maxsplit=1)[0]
        driver = re.search(r"Kernel driver in use: (\S+)", below)
        name = _IDS.sub("", match[4]).strip()
        draft.pci.append(
            PciDevice(
                address=address,
                vendor=_vendor(match[4]),
                vendor_id=ids[1] if ids else "",
                device_id=ids[2] if ids else "",
                class_code=(match[3] or _CLASSES[match[2]]) + "00",
                name=re.sub(r"\s*\(rev \w+\)$", "", name),
                kernel_driver=driver[1] if driver else None,
            )
        )


def _vendor(text: str) -> Vendor:
    if "NVIDIA" in text or "10de:" in text:
        return "nvidia"
    return "amd" if "AMD" in text or "1002:" in text else "other"


_LSMOD = re.compile(rf"^[ \t>]*({GPU_MODULES})\s+(\d{{4,9}})\s+(-?\d+)\b[^\n]*$", re.M)
# modinfo names the module on disk; whether it is loaded is said elsewhere.
_MODINFO = re.compile(
    rf"^filename: +\S*/(?P<name>{GPU_MODULES.replace('_', '[-_]')})\.ko\S*\n(?:[^\n]*\n){{0,30}}?"
    r"version: +(?P<version>\d\S*)",
    re.M,
)
_MODPROBE = re.compile(rf"Module ({GPU_MODULES.replace('_', '[-_]')}) not found")


def _modules(page: Page, draft: Draft) -> None:
    for match, line in page.find(_LSMOD):
        if not any(m.name == match[1] for m in draft.modules):
            draft.modules.append(KernelModule(name=match[1], loaded=True, source=f"line {line}"))
    for match, line in page.find(_MODINFO):
        if not any(m.version for m in draft.modules if m.name == match["name"]):
            draft.modules.append(
                KernelModule(
                    name=match["name"].replace("-", "_"),
                    loaded=any(m.loaded for m in draft.modules if m.name == match["name"]),
                    version=match["version"],
                    source=f"line {line}",
                )
            )
    for match, line in page.find(_MODPROBE):
        name = match[1].replace("-", "_")
        if not any(m.name == name for m in draft.modules):
            draft.modules.append(KernelModule(name=name, loaded=False, source=f"line {line}"))


_LISTED = re.compile(
    r"^[ \t>]*([bc])([rwxsStT-]{9})[+.@]? +\d+ +(\S+) +(\S+) +(\d+), +(\d+)(?: [^\n]*?)? "
    r"(/dev/\S+|nvidia[\w-]*|kfd|renderD\d+|card\d+|dxg)[ \t]*$",
    re.M,
)
_MOUNTED = re.compile(r"^\S+ on (/dev/(?:nvidia[\w-]+|kfd|dri/\w+|dxg)) type ", re.M)
_ABSENT = re.compile(
    r"(?:cannot access|cannot open|open|stat)[^\n]{0,12}?['\"]?"
    r"(/dev/(?:nvidia[\w*-]*|kfd|dri[\w/*]*|dxg))['\"]?[^\n]{0,40}?: "
    r"(No such file or directory|Permission denied|Operation not permitted)"
)
_ERRNO = {"Permission denied": "EACCES", "Operation not permitted": "EPERM"}


def _nodes(page: Page, draft: Draft) -> None:
    for match in _LISTED.finditer(page.text):
        name = match[7]
        if not name.startswith("/dev/"):
            name = f"/dev/dri/{name}" if name.startswith(("render", "card")) else f"/dev/{name}"
        if any(node.path == name for node in draft.nodes):
            continue
        draft.nodes.append(
            DeviceNode(
                path=name,
                present=True,
                mode=_octal(match[2]),
                owner=match[3],
                group=match[4],
                major=int(match[5]),
                minor=int(match[6]),
            )
        )
    for match in _MOUNTED.finditer(page.text):
        if not any(node.path == match[1] for node in draft.nodes):
            draft.nodes.append(DeviceNode(path=match[1], present=True))
    for match in _ABSENT.finditer(page.text):
        error = _ERRNO.get(match[2], "ENOENT")
        if not any(node.path == match[1] for node in draft.nodes):
            draft.nodes.append(
                DeviceNode(path=match[1], present=error != "ENOENT", openable=False, error=error)
            )


def _octal(letters: str) -> str:
    bits = "".join("0" if letter in "-ST" else "1" for letter in letters)
    return f"0{int(bits, 2):03o}"
