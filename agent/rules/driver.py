"""Causes in NVIDIA's kernel driver: not built, not signed, wrong flavour, mixed versions."""

from __future__ import annotations

import re

from agent.rules.case import Case
from agent.rules.lines import Hit
from agent.rules.rule import Diagnosis, Rule
from agent.rules.seen import driver_at
from agent.rules.told import told
from agent.rules.versions import Version, version

_KERNEL_MODULES = "github.com/NVIDIA/open-gpu-kernel-modules and its README; "
# Capability below which a driver branch from this number on has no support.
DROPPED = ((3, 396), (5, 495), (7, 590))


# ---------------------------------------------------------------- versions that disagree
def _mismatch_hits(case: Case) -> tuple[Hit, ...]:
    hits = case.hits("nvml_version_mismatch", "api_mismatch")
    if not case.hits("forward_compat_804", "driver_mismatch_803"):
        hits += case.hits("dso_mismatch")
    if hits:
        hits += case.hits("api_mismatch_client", "api_mismatch_kernel", "nvml_library_version")
    return hits


def _two_versions(case: Case) -> tuple[Version, Version]:
    """The user-space and the kernel version where both are known, else empty tuples."""
    nvidia = case.facts.drivers.nvidia
    user = version(nvidia.userspace_version) if nvidia else ()
    kernel = version(nvidia.kernel_version) if nvidia else ()
    if hit := case.hit("api_mismatch_client", "nvml_library_version"):
        user = version(hit.group(1)) if len(version(hit.group(1))) >= len(user) else user
    if hit := case.hit("api_mismatch_kernel", "loaded_module_version"):
        kernel = version(hit.group(1)) or kernel
    if nvidia and nvidia.libcuda_version and not user:
        user = version(nvidia.libcuda_version)
    return user, kernel


def _disagree(case: Case) -> bool:
    user, kernel = _two_versions(case)
    length = min(len(user), len(kernel))
    return bool(length >= 2 and user[:length] != kernel[:length])


def _refuses(case: Case) -> bool:
    """Whether NVML itself answers with the mismatch (18)."""
    nvidia = case.facts.drivers.nvidia
    return bool(nvidia and nvidia.nvml and nvidia.nvml.code == 18)


def _mixed_weight(case: Case) -> int:
    """How much speaks for packages of two versions rather than for an update under way."""
    user, kernel = _two_versions(case)
    nvidia = case.facts.drivers.nvidia
    found = {version(item)[:1] for item in (nvidia.packages if nvidia else ())}
    branches = {
        version(text.split()[-1])[:3]
        for text in (nvidia.packages if nvidia else ())
        if len(version(text.split()[-1])) >= 2
    }
    if told(case, "rebooted") or told(case, "installer") or len(branches) > 1:
        return 86
    if user and kernel and _disagree(case):
        if kernel > user:
            return 78  # an update leaves the older one in the kernel
        return 55 if user[:1] != kernel[:1] else 40
    return 55 if len(found) > 1 else 45


def driver_mixed_package_versions(case: Case) -> Diagnosis | None:
    """Libraries and module come from different installed versions."""
    return _mismatch(case, mixed=True)


def driver_update_needs_reboot(case: Case) -> Diagnosis | None:
    """The libraries were updated while the old module stayed loaded."""
    return _mismatch(case, mixed=False)


def _library_newer(case: Case) -> tuple[Hit, ...]:
    """Error 804 on a host after an update: its own libcuda is newer than the loaded module."""
    hits = case.hits("forward_compat_804")
    boxed_up = case.in_container or case.says("docker", "container", "image:", "compat-", "/compat")
    return hits if hits and not boxed_up and told(case, "updated") else ()


def _mismatch(case: Case, *, mixed: bool) -> Diagnosis | None:
    hits = _mismatch_hits(case)
    if not mixed and not hits and (newer := _library_newer(case)):
        return Diagnosis(weight=90, hits=newer, evidence=driver_at(case))
    if not hits and not (_refuses(case) or (_disagree(case) and case.works is False)):
        return None
    if case.place in ("wsl", "windows") and not case.hits("api_mismatch"):
        return None  # there the two numbers are counted differently
    weight = _mixed_weight(case)
    user, kernel = _two_versions(case)
    values = {}
    if user and kernel:
        values = {"wanted": ".".join(map(str, user)), "found": ".".join(map(str, kernel))}
    return Diagnosis(
        weight=weight if mixed else min(88, 130 - weight),
        hits=hits,
        evidence=driver_at(case),
        values=values,
        look_at=(
            "which driver packages are installed (dpkg -l 'nvidia*' 'libnvidia*' or rpm -qa)"
            " against"
            " /proc/driver/nvidia/version: one version in all means a reload or reboot is enough",
        ),
    )


# ---------------------------------------------------------------- the module does not load
def of_amdgpu(hit: Hit) -> bool:
    """Whether a build that failed is of amdgpu; kernels may have the word in their release."""
    return bool(re.search(r"(?<![\w.-])amdgpu", hit.text.lower()))


def kernel_module_not_built(case: Case) -> Diagnosis | None:
    """There is no nvidia module for the running kernel."""
    failed = tuple(hit for hit in case.hits("module_build_failed") if not of_amdgpu(hit))
    absent = tuple(
        hit
        for hit in case.hits("module_not_found")
        if "uvm" not in hit.text or case.hits("smi_cannot_talk")
    )
    silent = case.hits("smi_cannot_talk")
    release = case.facts.host.kernel_release or ""
    others = tuple(
        hit for hit in case.hits("module_file") if release and hit.group(1) not in (release, "")
    )
    nvidia = case.has_nvidia or case.says("nvidia")
    own = case.hits("driver_container_kernel")
    if own and not case.hits("module_key_rejected"):
        return Diagnosis(weight=82, hits=own)
    if not nvidia or case.hits("module_key_rejected") or case.in_container:
        return None
    if others and (absent or silent):
        return Diagnosis(weight=92, hits=(*absent, *silent, *others))
    if failed and (absent or silent):
        return Diagnosis(weight=90, hits=(*failed, *absent, *silent))
    if failed and case.says("nvidia"):
        return Diagnosis(weight=82, hits=failed)
    if absent:
        return Diagnosis(weight=80, hits=(*absent, *silent))
    if silent and not case.hits("nouveau_in_use") and not case.has_amd:
        look = (
            "modprobe nvidia and dmesg: whether the module is missing for this kernel (uname -r,"
            " dkms status), refused by secure boot (mokutil --sb-state) or shut out by nouveau",
        )
        return Diagnosis(weight=58, hits=silent, look_at=look)
    return None


def nouveau_holds_gpu(case: Case) -> Diagnosis | None:
    """The free driver nouveau holds the GPU, so NVIDIA's cannot."""
    hits = case.hits("nouveau_in_use")
    evidence: tuple[str, ...] = ()
    for index, device in enumerate(case.facts.host.pci):
        if device.vendor == "nvidia" and device.kernel_driver == "nouveau":
            evidence += case.at(f"/facts/host/pci/{index}", "nouveau")
    if (not hits and not evidence) or case.works:
        return None
    silent = case.hits("smi_cannot_talk", "no_nvidia_driver", "no_cuda_gpus")
    return Diagnosis(weight=84 if silent else 70, hits=(*hits, *silent), evidence=evidence)


def _of_gpu_driver(hit: Hit) -> bool:
    """Whether the refused module is a GPU's; a line that names none is taken to be."""
    name = hit.group(1).rsplit("/", 1)[-1]
    return not name or name.startswith(("nvidia", "amdgpu"))


def secure_boot_module_rejected(case: Case) -> Diagnosis | None:
    """The module exists, and secure boot refuses its signature."""
    hits = tuple(hit for hit in case.hits("module_key_rejected") if _of_gpu_driver(hit))
    silent = case.hits("smi_cannot_talk", "module_not_found", "no_nvidia_driver", "no_cuda_gpus")
    enabled = case.hits("secure_boot_on")
    if hits and not case.works:
        return Diagnosis(weight=92, hits=(*hits, *enabled, *silent))
    known = case.facts.host.secure_boot
    loaded = any(item.name == "nvidia" and item.loaded for item in case.facts.host.modules)
    if (enabled or known) and silent and not loaded and not case.works:
        evidence = case.at("/facts/host/secure_boot") if known else ()
        return Diagnosis(weight=72, hits=(*enabled, *silent), evidence=evidence)
    return None


# ---------------------------------------------------------------- the module refuses the GPU
def open_module_on_pre_turing_gpu(case: Case) -> Diagnosis | None:
    """The open kernel module needs a GSP, which cards before Turing lack."""
    hits = case.hits("open_module_needs_gsp")
    if hits:
        return Diagnosis(weight=93, hits=(*hits, *case.hits("adapter_init_failed")))
    nvidia = case.facts.drivers.nvidia
    old = any(item and item < (7, 5) for item in case.capabilities)
    nothing = case.hits("no_devices_found", "adapter_init_failed", "smi_cannot_talk")
    if nvidia and nvidia.kernel_open and old and (nothing or case.works is False):
        return Diagnosis(weight=84, hits=nothing, evidence=driver_at(case))
    return None


def needs_open_module(case: Case) -> Diagnosis | None:
    """Blackwell and later run only with the open kernel module."""
    hits = case.hits("needs_open_module")
    init = case.hits("adapter_init_failed")
    if hits:
        return Diagnosis(weight=92, hits=(*hits, *init))
    closed = tuple(h for h in case.hits("loaded_module_version") if "Open" not in h.text)
    if init and closed and _blackwell(case):
        return Diagnosis(weight=80, hits=(*init, *closed))
    return None


def _blackwell(case: Case) -> bool:
    named = re.search(r"\bGB(?:10|20\d|200)\b|\bRTX 50\d0|\bB[23]00\b|Blackwell", case.lines.text)
    return bool(named) or any(item >= (10, 0) for item in case.capabilities)


def gpu_dropped_by_driver_branch(case: Case) -> Diagnosis | None:
    """The installed branch has no support for this generation any more."""
    hits = case.hits("legacy_driver_wanted")
    if any(item and item < (7, 5) for item in case.capabilities):
        hits += case.hits("gpu_unknown_to_driver")
    nothing = case.hits(
        "no_devices_found", "smi_cannot_talk", "adapter_init_failed", "no_cuda_gpus"
    )
    if hits:
        return Diagnosis(weight=90, hits=(*hits, *nothing), evidence=driver_at(case))
    if not case.driver or case.works or not case.capabilities:
        return None
    dropped = any(
        case.driver[0] >= branch and capability and capability < (below, 0 if below != 7 else 5)
        for capability in case.capabilities
        for below, branch in DROPPED
    )
    if dropped and (nothing or case.works is False):
        return Diagnosis(weight=84, hits=nothing, evidence=driver_at(case))
    return None


def driver_too_old_for_gpu(case: Case) -> Diagnosis | None:
    """The GPU is newer than the driver release, whose module ignores it."""
    hits = case.hits("gpu_unknown_to_driver")
    if not hits or any(item and item < (7, 5) for item in case.capabilities):
        return None
    return Diagnosis(weight=84, hits=hits, evidence=driver_at(case))


def bios_above_4g_rebar_off(case: Case) -> Diagnosis | None:
    """The firmware gives the GPU too small an address window."""
    hits = case.hits("bar_too_small")
    init = case.hits("adapter_init_failed")
    if case.hits("open_module_needs_gsp", "needs_open_module", "legacy_driver_wanted"):
        return None
    if case.hits("off_the_bus") or case.works:
        return None
    broken = case.hits(
        "no_devices_found",
        "smi_cannot_talk",
        "no_hip_gpus",
        "cuda_available_false",
        "amdgpu_probe_failed",
    )
    stated = any("BAR" not in hit.text or "NVRM" in hit.text for hit in hits)
    if hits and (init or stated or broken):  # without them the kernel found another place
        return Diagnosis(weight=88 if init else 78, hits=(*hits, *init))
    if not init:
        return None
    window = any(hit.group(1).startswith("0x22:0x56") for hit in init)
    look = (
        "the lines after RmInitAdapter in dmesg (BAR, GSP, open module), and the firmware's"
        " settings Above 4G Decoding and Resizable BAR; else a badly seated or failing card",
    )
    return Diagnosis(weight=62 if window else 46, hits=init, look_at=look)


RULES: tuple[Rule, ...] = (
    Rule(
        code="driver-mixed-package-versions",
        severity="blocking",
        who="provider",
        source=_KERNEL_MODULES + "nvidia-smi: Driver/library version mismatch",
        find=driver_mixed_package_versions,
        explains=(
            "driver-update-needs-reboot",
            "no-nvidia-driver-here",
            "compat-libs-shadow-driver",
            "bios-above-4g-rebar-off",
        ),
    ),
    Rule(
        code="driver-update-needs-reboot",
        severity="blocking",
        who="provider",
        source=_KERNEL_MODULES + "nvidia-smi: Driver/library version mismatch",
        find=driver_update_needs_reboot,
        explains=(
            "driver-mixed-package-versions",
            "no-nvidia-driver-here",
            "compat-libs-shadow-driver",
            "forward-compat-on-unsupported-gpu",
            "bios-above-4g-rebar-off",
        ),
    ),
    Rule(
        code="kernel-module-not-built-for-running-kernel",
        severity="blocking",
        who="provider",
        source="dkms(8), modprobe(8); NVIDIA driver README, installing the kernel module",
        find=kernel_module_not_built,
        explains=("no-driver-module", "no-nvidia-driver-here", "nvidia-uvm-missing"),
    ),
    Rule(
        code="nouveau-holds-gpu",
        severity="blocking",
        who="provider",
        source="NVIDIA driver README, interaction with the nouveau driver",
        find=nouveau_holds_gpu,
        explains=(
            "no-driver-module",
            "no-nvidia-driver-here",
            "kernel-module-not-built-for-running-kernel",
        ),
    ),
    Rule(
        code="secure-boot-module-rejected",
        severity="blocking",
        who="provider",
        source="linux kernel/module/signing.c; NVIDIA driver README, UEFI secure boot",
        find=secure_boot_module_rejected,
        explains=(
            "no-driver-module",
            "no-nvidia-driver-here",
            "kernel-module-not-built-for-running-kernel",
        ),
    ),
    Rule(
        code="open-module-on-pre-turing-gpu",
        severity="blocking",
        who="provider",
        source=_KERNEL_MODULES + "compatible GPUs: Turing or later",
        find=open_module_on_pre_turing_gpu,
        explains=("no-nvidia-driver-here", "bios-above-4g-rebar-off", "gpu-not-in-driver"),
    ),
    Rule(
        code="closed-module-on-blackwell-gpu",
        severity="blocking",
        who="provider",
        source=_KERNEL_MODULES + "Blackwell requires the open kernel modules",
        find=needs_open_module,
        explains=(
            "no-nvidia-driver-here",
            "bios-above-4g-rebar-off",
            "gpu-not-in-driver",
            "gpu-hardware-fault",
        ),
    ),
    Rule(
        code="gpu-dropped-by-driver-branch",
        severity="blocking",
        who="provider",
        source="NVIDIA: legacy driver list; 390 ends Fermi, 470 Kepler, 580 Maxwell to Volta",
        find=gpu_dropped_by_driver_branch,
        explains=(
            "no-nvidia-driver-here",
            "bios-above-4g-rebar-off",
            "gpu-not-in-driver",
            "kernel-module-not-built-for-running-kernel",
        ),
    ),
    Rule(
        code="bios-above-4g-rebar-off",
        severity="blocking",
        who="provider",
        source=_KERNEL_MODULES + "BAR checks of nvidia.ko; linux PCI resource assignment",
        find=bios_above_4g_rebar_off,
        explains=("no-nvidia-driver-here", "gpu-not-in-driver"),
    ),
    Rule(
        code="driver-too-old-for-gpu",
        severity="blocking",
        who="provider",
        source=_KERNEL_MODULES + "supported GPU list of each release",
        find=driver_too_old_for_gpu,
        explains=("no-nvidia-driver-here", "bios-above-4g-rebar-off"),
    ),
)
