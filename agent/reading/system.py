"""Prints of system tools: lspci, lsmod, ls -l /dev, ldconfig, ldd, df, ulimit, cgroup files."""

from __future__ import annotations

import re

from agent.model import DeviceNode, Disk, KernelModule, Library, Limit, PciDevice, Vendor
from agent.reading.draft import MESSAGE, TOOL, Draft
from agent.reading.page import Page
from agent.reading.versions import bytes_of

GPU_MODULES = (
    "nvidia|nvidia_uvm|nvidia_drm|nvidia_modeset|nvidia_peermem|nv_peer_mem|nouveau|nova_core|"
    "amdgpu|amdkfd|amdxdna|gdrdrv|radeon|vfio_pci|gim"
)


def read(page: Page, draft: Draft) -> None:
    """Fill the draft from every system tool's print."""
    _pci(page, draft)
    _modules(page, draft)
    _nodes(page, draft)
    _libraries(page, draft)
    _disks(page, draft)
    _limits(page, draft)


# ---------------------------------------------------------------- PCI and modules
_PCI = re.compile(
    r"^(?:[ \t>+-]*)((?:[0-9a-f]{4}:)?[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]) "
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
_MODPROBE = re.compile(rf"Module ({GPU_MODULES.replace('_', '[-_]')}) not found")


def _modules(page: Page, draft: Draft) -> None:
    for match, line in page.find(_LSMOD):
        if not any(m.name == match[1] for m in draft.modules):
            draft.modules.append(KernelModule(name=match[1], loaded=True, source=f"line {line}"))
    for match, line in page.find(_MODPROBE):
        name = match[1].replace("-", "_")
        if not any(m.name == name for m in draft.modules):
            draft.modules.append(KernelModule(name=name, loaded=False, source=f"line {line}"))


# ---------------------------------------------------------------- device nodes
_LISTED = re.compile(
    r"^[ \t>]*([bc])([rwxsStT-]{9})[+.@]? +\d+ +(\S+) +(\S+) +(\d+), +(\d+) [^\n]*? "
    r"(/dev/\S+|nvidia[\w-]*|kfd|renderD\d+|card\d+|dxg)[ \t]*$",
    re.M,
)
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
    for match in _ABSENT.finditer(page.text):
        error = _ERRNO.get(match[2], "ENOENT")
        if not any(node.path == match[1] for node in draft.nodes):
            draft.nodes.append(
                DeviceNode(path=match[1], present=error != "ENOENT", openable=False, error=error)
            )


def _octal(letters: str) -> str:
    bits = "".join("0" if letter in "-ST" else "1" for letter in letters)
    return f"0{int(bits, 2):03o}"


# ---------------------------------------------------------------- libraries
_CACHED = re.compile(
    r"^[ \t>]*(lib[\w.+-]+\.so[\w.]*) (?:\(libc6[^)\n]*\) )?=> (/\S+|not found)", re.M
)
_VERSIONED = re.compile(r"(/[\w./+-]*/(lib(?:cuda|nvidia-ml)\.so)\.(\d{3}\.\d[\d.]*\d))\b")
_STUBS = re.compile(r"(/[\w./+-]*/stubs/(libcuda\.so(?:\.1)?))\b")
_GPU_LIBRARY = re.compile(
    r"lib(?:cuda|nvidia|nv|cu[a-z]+|nccl|rccl|hip|hsa|amd|roc|torch|c10|mkl|MIOpen|stdc)"
)


def _libraries(page: Page, draft: Draft) -> None:
    text = page.text
    if "=>" in text:
        for match in _CACHED.finditer(text):
            if _GPU_LIBRARY.match(match[1]):
                found = match[2] if match[2].startswith("/") else None
                _library(draft, match[1], found, "loader" if "libc6" in match[0] else "text")
    if ".so." not in text:
        return
    for match, line in page.find(_VERSIONED):
        if match[2] == "libcuda.so":
            draft.put("nvidia.libcuda_version", match[3], line, TOOL)
        _library(draft, match[2] + ".1", match[1], "text", match[3])
    for match in _STUBS.finditer(text):
        draft.add_library(Library(soname=match[2], path=match[1], origin="stub", seen_by="text"))


def _library(
    draft: Draft, soname: str, path: str | None, seen_by: str, version: str | None = None
) -> None:
    origin = None
    if path:
        for part, name in (
            ("/stubs/", "stub"),
            ("/compat/", "compat"),
            ("cuda-compat", "compat"),
            ("-packages/nvidia/", "wheel"),
            ("/torch/lib/", "wheel"),
            ("conda", "conda"),
            ("/usr/local/cuda", "toolkit"),
            ("/usr/lib", "system"),
            ("/lib", "system"),
        ):
            if part in path:
                origin = name
                break
    draft.add_library(
        Library(soname=soname, path=path, version=version, origin=origin, seen_by=seen_by)
    )


# ---------------------------------------------------------------- disks and limits
_DF = re.compile(
    r"^[ \t>]*(\S+) +(\d+(?:\.\d+)?[KMGTP]?) +(\d+(?:\.\d+)?[KMGTP]?) +(\d+(?:\.\d+)?[KMGTP]?) +"
    r"(\d{1,3})% +(/\S*)[ \t]*$",
    re.M,
)
_ROLES = {"/": "root", "/tmp": "tmp", "/home": "home", "/workspace": "work", "/dev/shm": "shm"}  # noqa: S108


def _disks(page: Page, draft: Draft) -> None:
    if "%" not in page.text or "/" not in page.text:
        return
    for match, line in page.find(_DF):
        plain = match[2].isdigit() and not match[4][-1].isalpha()
        total, free = (_df_size(match[group], plain) for group in (2, 4))
        if match[6] == "/dev/shm":  # noqa: S108
            draft.put("limits.shm_total_bytes", total, line)
            draft.put("limits.shm_free_bytes", free, line)
        if not any(disk.mount == match[6] for disk in draft.disks) and len(draft.disks) < 100:
            draft.disks.append(
                Disk(
                    mount=match[6],
                    device=match[1],
                    total_bytes=total,
                    free_bytes=free,
                    role=_ROLES.get(match[6]),
                )
            )


def _df_size(cell: str, plain: bool) -> int:
    if cell[-1].isalpha():
        return bytes_of(cell[:-1], cell[-1])
    return int(float(cell) * 1024) if plain else int(float(cell))


_ULIMIT = re.compile(
    r"^[ \t>]*(?:max )?(locked memory|open files|user processes|virtual memory|core file size)"
    r"\s+\((?:(?:kbytes|blocks), )?-([lnuvc])\) +(\S+)|^-([lnuvc]): [\w -]*? \((?:kbytes|blocks|"
    r"processes|file descriptors|threads)\) +(\S+)",
    re.M,
)
_ASKED = re.compile(r"ulimit -([lnuvc])[ \t]*\n[ \t]*(unlimited|\d+)[ \t]*$", re.M)
_ULIMITS = {
    "l": ("limits.memlock_soft_bytes", 1024),
    "n": ("limits.nofile_soft", 1),
    "u": ("limits.nproc_soft", 1),
    "v": ("limits.address_space_soft_bytes", 1024),
    "c": ("limits.core_soft_bytes", 512),
}
_FREE = re.compile(r"^Mem: +(\d+)(Gi|Mi|Ki|G|M|K|B)? +(?:\S+ +){4}(\d+)(?:Gi|Mi|Ki|G|M|K|B)?", re.M)
_MEMINFO = re.compile(r"^(MemTotal|MemAvailable|SwapTotal): +(\d+) kB", re.M)
_CGROUP = re.compile(
    r"(?:^|/)(memory\.max|memory\.current|memory\.swap\.max|pids\.max|pids\.current|cpu\.max|"
    r"memory\.limit_in_bytes)(?:: ?|[ \t]*\n)(max(?: \d+)?|\d+(?: \d+)?)[ \t]*$",
    re.M,
)
_CGROUPS = {
    "memory.max": "limits.memory_limit_bytes",
    "memory.limit_in_bytes": "limits.memory_limit_bytes",
    "memory.current": "limits.memory_used_bytes",
    "memory.swap.max": "limits.swap_limit_bytes",
    "pids.max": "limits.pids_limit",
    "pids.current": "limits.pids_used",
}


def _limits(page: Page, draft: Draft) -> None:
    text = page.text
    if "ulimit" in text or "(kbytes" in text or "(-n)" in text:
        for match, line in page.find(_ULIMIT):
            _ulimit(draft, match[2] or match[4], match[3] or match[5], line)
        for match, line in page.find(_ASKED):
            _ulimit(draft, match[1], match[2], line)
    for match, line in page.find(_MEMINFO):
        slot = {"MemTotal": "total", "MemAvailable": "available"}.get(match[1])
        name = f"host.memory_{slot}_bytes" if slot else "host.swap_total_bytes"
        draft.put(name, int(match[2]) << 10, line)
    for match, line in page.find(_FREE):
        unit = match[2] or ("K" if int(match[1]) > 100_000 else "G")
        draft.put("host.memory_total_bytes", bytes_of(match[1], unit), line, MESSAGE)
        draft.put("host.memory_available_bytes", bytes_of(match[3], unit), line, MESSAGE)
    for match, line in page.find(_CGROUP):
        if match[1] == "cpu.max":
            quota = match[2].split()
            if len(quota) == 2 and quota[0].isdigit() and int(quota[1]):
                draft.put("limits.cpu_quota_cores", int(quota[0]) / int(quota[1]), line)
        else:
            limit: Limit = "unlimited" if match[2].startswith("max") else int(match[2].split()[0])
            draft.put(_CGROUPS[match[1]], limit, line)


def _ulimit(draft: Draft, letter: str, value: str, line: int) -> None:
    slot, scale = _ULIMITS[letter]
    if value == "unlimited":
        draft.put(slot, "unlimited", line)
    elif value.isdigit():
        draft.put(slot, int(value) * scale, line)
