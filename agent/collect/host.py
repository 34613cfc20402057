"""What machine this is below the GPU software: system, processor, memory, virtual or real."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ..model import Gap, Host
from .tree import Tree, attempt, plain, reason
from .users import group_name, numbers_of_list, read_self, user_name

POINTER = "/facts/host"
FIRST_PROCESSOR = 16 << 10  # of /proc/cpuinfo: one entry; the rest costs an interrupt a core
SECURE_BOOT = "/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"
# Words of the kernel's command line that decide about GPUs and what they reach.
BOOT_WORDS = re.compile(
    r"nvidia|nouveau|nvproxy|amdgpu|radeon|iommu|vfio|pci=|pcie_|nomodeset|modprobe|module"
    r"|lockdown|hugepages|swiotlb",
    re.IGNORECASE,
)
# What firmware calls a virtual machine: vendor or product, kind.
FIRMWARE = (
    ("virtualbox", "virtualbox"),
    ("vmware", "vmware"),
    ("bochs", "kvm"),
    ("qemu", "kvm"),
    ("kvm", "kvm"),
    ("openstack", "kvm"),
    ("amazon ec2", "kvm"),
    ("google compute engine", "kvm"),
    ("alibaba cloud", "kvm"),
    ("digitalocean", "kvm"),
    ("nutanix", "kvm"),
    ("virtual machine", "hyperv"),
    ("hvm domu", "xen"),
    ("xen", "xen"),
    ("parallels", "parallels"),
    ("apple virtualization", "apple"),
    ("firecracker", "kvm"),
)
CLOCKS = (("kvm-clock", "kvm"), ("hyperv", "hyperv"), ("xen", "xen"))
# ARM's main id register as /proc/cpuinfo prints it; x86 prints a name instead.
ARM_CORES = {
    ("0x41", "0xd0c"): "Neoverse-N1",
    ("0x41", "0xd40"): "Neoverse-V1",
    ("0x41", "0xd42"): "Cortex-A78AE",
    ("0x41", "0xd49"): "Neoverse-N2",
    ("0x41", "0xd4f"): "Neoverse-V2",
    ("0x41", "0xd85"): "Cortex-X925",
}


@dataclass(frozen=True, slots=True)
class Processor:
    """The first entry of /proc/cpuinfo."""

    model: str
    virtual: bool | None  # the hypervisor flag; None where the architecture has none


def read_host(tree: Tree, environ: Mapping[str, str]) -> tuple[Host, tuple[Gap, ...]]:
    """System, kernel, libc, processor, memory, user; disks, nodes, modules and PCI come apart.

    From /etc/os-release, /proc and /sys; sizes in bytes, times in seconds.
    """
    gaps: list[Gap] = []
    release = _attempt(gaps, "kernel_release", "/proc/sys/kernel/osrelease", tree)
    system = read_system(release)
    os_id, os_name, os_version = _distribution(tree, gaps)
    libc = attempt(gaps, f"{POINTER}/libc_name", "libc", lambda: read_libc(tree))
    if libc is None:
        gaps.append(Gap(pointer=f"{POINTER}/libc_version", why=gaps[-1].why, said_by="libc"))
    total, available, swap = _memory(tree, gaps)
    usable, present = _processors(tree, gaps)
    source = "/proc/self/status"
    own = attempt(gaps, f"{POINTER}/is_root", source, lambda: read_self(tree))
    user = attempt(gaps, f"{POINTER}/user_name", source, lambda: user_name(tree, own_uid(tree)))
    if own is None:
        gaps.append(Gap(pointer=f"{POINTER}/groups", why=gaps[-1].why, said_by=source))
    processor = attempt(gaps, f"{POINTER}/cpu_model", "/proc/cpuinfo", lambda: _processor(tree))
    host = Host(
        system=system,
        os_id=os_id,
        os_name=os_name,
        os_version=os_version,
        kernel_release=release,
        architecture=attempt(gaps, f"{POINTER}/architecture", "uname", lambda: architecture(tree)),
        libc_name=libc[0] if libc else None,
        libc_version=libc[1] if libc else None,
        cpu_model=processor.model if processor else None,
        cpu_count=usable,
        cpu_total_count=present,
        memory_total_bytes=total,
        memory_available_bytes=available,
        swap_total_bytes=swap,
        virtualization=attempt(
            gaps, f"{POINTER}/virtualization", "firmware", lambda: _virtual(tree, system, processor)
        ),
        secure_boot=attempt(gaps, f"{POINTER}/secure_boot", "efivars", lambda: _secure_boot(tree)),
        clock_offset_seconds=attempt(
            gaps, f"{POINTER}/clock_offset_seconds", "rtc0", lambda: _clock_offset(tree)
        ),
        uptime_seconds=attempt(
            gaps,
            f"{POINTER}/uptime_seconds",
            "/proc/uptime",
            lambda: float(_word(tree.text("/proc/uptime"))),
        ),
        is_root=own.uid == 0 if own else None,
        user_name=user,
        host_name=_attempt(gaps, "host_name", "/proc/sys/kernel/hostname", tree),
        groups=tuple(group_name(tree, gid) for gid in own.group_ids) if own else (),
        locale=_locale(environ),
        boot_parameters=_boot_parameters(tree, gaps),
    )
    return host, tuple(gaps)


def read_system(release: str | None) -> str:
    """ "wsl" or "linux", by the kernel's release."""
    return "wsl" if release and re.search("microsoft|wsl", release, re.IGNORECASE) else "linux"


def architecture(tree: Tree) -> str:
    """The machine's architecture, "x86_64". Raises LookupError where a tree does not state it."""
    if tree.live:
        return os.uname().machine
    try:
        return tree.text("/proc/sys/kernel/arch", 64).strip()  # since Linux 6.1
    except OSError:
        return str(tree.statement("architecture"))


def read_libc(tree: Tree) -> tuple[str, str]:
    """The C library's name and version, ("glibc", "2.36"). Raises OSError or LookupError."""
    if tree.live:
        try:
            name, version = (os.confstr("CS_GNU_LIBC_VERSION") or "").split()
            return name, version
        except (ValueError, OSError):
            pass  # not glibc
    for name in tree.names_or_none("/lib"):
        if name.startswith("ld-musl-"):
            return "musl", _musl_version(tree)
    for folder in ("/lib/x86_64-linux-gnu", "/lib/aarch64-linux-gnu", "/lib64", "/usr/lib64"):
        try:
            found = re.search(
                rb"GNU C Library .* version (\d+\.\d+)", tree.read(f"{folder}/libc.so.6", 4 << 20)
            )
        except OSError:
            continue
        if found:
            return "glibc", found[1].decode()
    stated = tree.statement("libc")
    return str(stated["name"]), str(stated["version"])


def own_uid(tree: Tree) -> int:
    """The effective user id. Raises OSError or LookupError."""
    return read_self(tree).uid


def _attempt(gaps: list[Gap], name: str, path: str, tree: Tree) -> str | None:
    return attempt(gaps, f"{POINTER}/{name}", path, lambda: plain(tree.text(path, 4096).strip()))


def _word(text: str) -> str:
    words = text.split()
    if not words:
        raise ValueError("the file is empty")
    return words[0]


def _distribution(tree: Tree, gaps: list[Gap]) -> tuple[str | None, str | None, str | None]:
    fields = ("ID", "PRETTY_NAME", "VERSION_ID")
    names = ("os_id", "os_name", "os_version")
    try:
        text = tree.first("/etc/os-release", "/usr/lib/os-release")
        why = "os-release does not state it"  # rolling distributions have no version
    except OSError as error:
        text, why = "", reason(error)
    stated = dict(re.findall(r"""^(\w+)=["']?(.*?)["']?\s*$""", text, re.MULTILINE))
    for field, name in zip(fields, names, strict=True):
        if field not in stated:
            gaps.append(Gap(pointer=f"{POINTER}/{name}", why=why, said_by="/etc/os-release"))
    os_id, os_name, os_version = (stated.get(field) for field in fields)
    return os_id, os_name, os_version


def _musl_version(tree: Tree) -> str:
    for name in tree.names_or_none("/lib"):
        if name.startswith("ld-musl-"):
            found = re.search(rb"\0(1\.\d+\.\d+)\0", tree.read(f"/lib/{name}", 2 << 20))
            if found:
                return found[1].decode()
    raise LookupError("musl, of a version that its file does not show")


def _memory(tree: Tree, gaps: list[Gap]) -> tuple[int | None, int | None, int | None]:
    try:
        text, why = tree.text("/proc/meminfo", 1 << 16), "/proc/meminfo does not state it"
    except OSError as error:
        text, why = "", reason(error)
    kilobytes = dict(re.findall(r"^(\w+):\s+(\d+)", text, re.MULTILINE))
    values: list[int | None] = []
    for row, name in (
        ("MemTotal", "memory_total_bytes"),
        ("MemAvailable", "memory_available_bytes"),
        ("SwapTotal", "swap_total_bytes"),
    ):
        values.append(int(kilobytes[row]) * 1024 if row in kilobytes else None)
        if row not in kilobytes:
            gaps.append(Gap(pointer=f"{POINTER}/{name}", why=why, said_by="/proc/meminfo"))
    total, available, swap = values
    return total, available, swap


def _processors(tree: Tree, gaps: list[Gap]) -> tuple[int | None, int | None]:
    """How many processors this process may use, and how many are online."""
    online = "/sys/devices/system/cpu/online"
    present = attempt(
        gaps,
        f"{POINTER}/cpu_total_count",
        online,
        lambda: _some(numbers_of_list(tree.text(online))),
    )

    def usable() -> set[int]:
        allowed = set(read_self(tree).allowed_cpus)
        # The mask also names processors that could be plugged in.
        return _some(allowed & present if present else allowed)

    allowed = attempt(gaps, f"{POINTER}/cpu_count", "/proc/self/status", usable)
    return len(allowed) if allowed else None, len(present) if present else None


def _some(processors: Iterable[int]) -> set[int]:
    found = set(processors)
    if not found:
        raise ValueError("the list of processors is empty")
    return found


def _processor(tree: Tree) -> Processor:
    text = tree.text("/proc/cpuinfo", FIRST_PROCESSOR)
    fields = dict(re.findall(r"^([\w ]+?)\s*:[ \t]*(.*)$", text.split("\n\n")[0], re.MULTILINE))
    flags = fields.get("flags")
    virtual = None if flags is None else "hypervisor" in flags.split()
    if fields.get("model name"):
        return Processor(" ".join(fields["model name"].split()), virtual)
    core = (fields.get("CPU implementer", ""), fields.get("CPU part", ""))
    if core[1]:
        return Processor(ARM_CORES.get(core, f"ARM implementer {core[0]} part {core[1]}"), virtual)
    raise LookupError("/proc/cpuinfo names no model")


def _virtual(tree: Tree, system: str, processor: Processor | None) -> str:
    if system == "wsl":
        return "wsl"
    texts = []
    for name in ("sys_vendor", "product_name", "board_vendor"):
        try:
            texts.append(tree.text(f"/sys/class/dmi/id/{name}", 256).strip())
        except OSError:
            continue
    firmware = " ".join(texts).lower()
    flag = processor.virtual if processor else None
    if flag is False or ".metal" in firmware:
        return "none"
    for word, kind in FIRMWARE:
        if word in firmware:
            return kind
    try:
        clocks = tree.text("/sys/devices/system/clocksource/clocksource0/available_clocksource")
    except OSError:
        clocks = ""
    for word, kind in CLOCKS:
        if word in clocks:
            return kind
    if flag:
        return "unknown"  # virtual, of a kind that does not say its name
    if firmware:
        return "none"
    raise LookupError("neither processor nor firmware tell whether this machine is virtual")


def _secure_boot(tree: Tree) -> bool:
    if not tree.exists("/sys/firmware") or not tree.names_or_none("/sys/firmware"):
        raise LookupError("the firmware's variables are hidden in this box")
    if not tree.exists("/sys/firmware/efi"):
        return False  # booted without UEFI
    value = tree.read(SECURE_BOOT, 8)  # four bytes of attributes, then the value
    if len(value) < 5:
        raise ValueError("the firmware's variable is too short")
    return value[4] == 1


def _clock_offset(tree: Tree) -> float:
    """How far the system's clock is ahead of the machine's own hardware clock, in seconds."""
    try:
        hardware = tree.number("/sys/class/rtc/rtc0/since_epoch")
    except FileNotFoundError as error:
        raise LookupError("this machine shows no hardware clock") from error
    now = time.time() if tree.live else float(tree.statement("time_seconds"))
    return round(now - hardware, 1)


def _locale(environ: Mapping[str, str]) -> str:
    names = ("LC_ALL", "LC_CTYPE", "LANG")
    return plain(next((environ[name] for name in names if environ.get(name)), "C"))


def _boot_parameters(tree: Tree, gaps: list[Gap]) -> tuple[str, ...]:
    pointer = f"{POINTER}/boot_parameters"
    text = attempt(gaps, pointer, "/proc/cmdline", lambda: tree.text("/proc/cmdline", 1 << 16))
    return tuple(word for word in (text or "").split() if BOOT_WORDS.search(word))
