"""Causes why CUDA does not start although the kernel driver answers."""

from __future__ import annotations

from agent.model import DeviceNode, Severity
from agent.rules.case import Case
from agent.rules.lines import Hit
from agent.rules.rule import Diagnosis, Rule
from agent.rules.seen import driver_at
from agent.rules.told import told
from agent.rules.versions import version

EXCLUSIVE = ("exclusive-process", "exclusive", "e.-process", "e-process", "exclusive-thread")


def cuinit_code(case: Case) -> int | None:
    """What cuInit returned here, None where it was not asked."""
    nvidia = case.facts.drivers.nvidia
    return nvidia.cuinit.code if nvidia and nvidia.cuinit else None


def cuinit_at(case: Case) -> tuple[str, ...]:
    """The evidence for what cuInit returned."""
    asked = cuinit_code(case) is not None and not case.observations.from_text
    return ("/facts/drivers/nvidia/cuinit",) if asked else ()


def asked_at(case: Case, key: str) -> tuple[str, ...]:
    """The evidence for what the driver stage was told: its questions, counts or missing."""
    return tuple(f"/stages/{i}/data/{key}" for i, s in case.stages("driver") if key in s.data)


def nodes(case: Case, prefix: str) -> tuple[tuple[int, DeviceNode], ...]:
    """The device nodes known whose path starts so, with their index."""
    return tuple(
        (index, node)
        for index, node in enumerate(case.facts.host.nodes)
        if node.path.startswith(prefix)
    )


def _unknown_error(case: Case) -> tuple[tuple[Hit, ...], tuple[str, ...]]:
    """The lines and facts with "unknown error" (999, before CUDA 10.1: 30)."""
    hits = case.hits("cuda_unknown_error")
    evidence = cuinit_at(case) if cuinit_code(case) in (30, 999) else ()
    return hits, evidence


def nvidia_uvm_missing(case: Case) -> Diagnosis | None:
    """nvidia_uvm is not loaded, or its node is missing, while nvidia-smi works."""
    hits, evidence = _unknown_error(case)
    absent = case.hits("uvm_absent")
    uvm = [module for module in case.facts.host.modules if module.name == "nvidia_uvm"]
    main = any(m.name == "nvidia" and m.loaded for m in case.facts.host.modules)
    found = nodes(case, "/dev/nvidia-uvm")
    gone = [index for index, node in found if node.path == "/dev/nvidia-uvm" and not node.present]
    at = tuple(
        p for index in gone for p in case.at(f"/facts/host/nodes/{index}", "/dev/nvidia-uvm")
    )
    unloaded = (
        bool(uvm) and not any(m.loaded for m in uvm) and (main or case.observations.from_text)
    )
    if case.place == "wsl" or case.works or told(case, "slept"):
        return None
    if absent and not case.hits("smi_cannot_talk") and not _module_absent(case):
        return Diagnosis(weight=90 if hits or evidence else 82, hits=(*absent, *hits), evidence=at)
    has_card = any(
        node.present and node.path[-1:].isdigit() for _, node in nodes(case, "/dev/nvidia")
    )
    if (gone and has_card) or (unloaded and not case.in_container):
        if hits or evidence or cuinit_code(case) not in (0, None):
            return Diagnosis(weight=90, hits=hits, evidence=(*at, *evidence))
        return Diagnosis(weight=66, hits=hits, evidence=at)
    if (hits or evidence) and not case.hits("cdi_spec", "xid", "off_the_bus"):
        look = (
            "ls -l /dev/nvidia-uvm and lsmod | grep nvidia_uvm: absent means that the"
            " unified-memory"
            " module is not loaded; there and the machine has slept means that it is broken",
        )
        return Diagnosis(weight=58, hits=hits, evidence=evidence, look_at=look)
    return None


def _module_absent(case: Case) -> bool:
    return any("uvm" not in hit.text for hit in case.hits("module_not_found"))


def uvm_broken_after_suspend(case: Case) -> Diagnosis | None:
    """nvidia_uvm does not survive suspend and resume."""
    hits, evidence = _unknown_error(case)
    starts = case.hits("driver_init_failed", "no_cuda_gpus", "cuda_available_false")
    if not told(case, "slept") or not (hits or evidence or starts):
        return None
    return Diagnosis(
        weight=88 if hits or evidence else 70, hits=(*hits, *starts), evidence=evidence
    )


def uvm_hmm_init_failure(case: Case) -> Diagnosis | None:
    """HMM of nvidia_uvm does not start and cuInit returns 3."""
    named = case.hits("uvm_hmm_failed")
    hits = case.hits("cuinit_not_initialized")
    evidence = cuinit_at(case) if cuinit_code(case) == 3 else ()
    if named:
        hits = (*named, *hits, *case.hits("driver_init_failed"))
        return Diagnosis(weight=92, hits=hits, evidence=evidence)
    if case.place == "wsl" or case.hits("reinit_in_fork"):
        return None
    if hits or evidence:
        return Diagnosis(weight=76, hits=hits, evidence=(*evidence, *driver_at(case)))
    nvidia = case.facts.drivers.nvidia
    kernel = version(case.facts.host.kernel_release)
    starts = case.hits("driver_init_failed")
    if starts and nvidia and nvidia.kernel_open and kernel[:2] >= (6, 11):
        return Diagnosis(weight=60, hits=starts, evidence=driver_at(case))
    return None


def nvidia_device_permission(case: Case) -> Diagnosis | None:
    """The nodes are there and this user may not open them."""
    hits = case.hits("driver_permission")
    refused = [
        (index, node)
        for index, node in nodes(case, "/dev/nvidia")
        if node.present and node.openable is False and "caps" not in node.path
        and (node.error == "EACCES" or (node.error == "EPERM" and not case.in_container))
    ]  # fmt: skip
    evidence = tuple(
        pointer
        for index, node in refused
        for pointer in case.at(f"/facts/host/nodes/{index}", node.path)
    )
    if case.works:
        return None
    if not hits and not evidence:
        return _only_for_root(case)
    return Diagnosis(weight=90 if evidence and hits else 84, hits=hits, evidence=evidence)


def _only_for_root(case: Case) -> Diagnosis | None:
    """A listed node that is closed to others, where it works for root only."""
    closed = [
        pointer
        for index, node in nodes(case, "/dev/nvidia")
        if node.present and (node.mode or "").endswith("0") and "caps" not in node.path
        for pointer in case.at(f"/facts/host/nodes/{index}", node.path)
    ]
    root = case.says("sudo", "as root", "superuser", "root user")
    failed = case.hits("cuda_available_false", "no_cuda_gpus", "no_nvidia_driver")
    if not closed or not root or not failed:
        return None
    return Diagnosis(weight=72, hits=failed, evidence=tuple(closed))


def _shown_modes(case: Case) -> tuple[str, ...]:
    return tuple(
        pointer
        for index, device in enumerate(case.facts.devices)
        if (device.compute_mode or "").lower().replace(" ", "-").replace("_", "-")
        in (*EXCLUSIVE, "prohibited")
        for pointer in (
            case.at(f"/facts/devices/{index}/compute_mode", "Process")
            or case.at(f"/facts/devices/{index}/compute_mode", "process")
            or case.at(f"/facts/devices/{index}/compute_mode", device.compute_mode)
            or ("",)
        )
    )


def compute_mode_exclusive(case: Case) -> Diagnosis | None:
    """The GPU allows one process only, or none, and a further context was tried."""
    hits = case.hits("busy_or_unavailable", "no_cuda_gpus")
    busy = tuple(hit for hit in hits if hit.signature == "busy_or_unavailable")
    evidence = tuple(pointer for pointer in _shown_modes(case) if pointer)
    shown = bool(_shown_modes(case))
    words = case.says("exclusive_process", "exclusive process", "exclusive mode", "e. process")
    code = cuinit_code(case)
    if shown and (hits or code == 46):
        return Diagnosis(weight=92, hits=hits, evidence=evidence)
    if words and busy:
        return Diagnosis(weight=88, hits=busy)
    if shown and not case.works:
        return Diagnosis(weight=64, evidence=evidence, severity="degrading")
    if shown:
        return Diagnosis(weight=40, evidence=evidence, severity="note")
    if busy and case.place not in ("wsl", "windows") and not _virtual(case):
        look = ("the compute mode: nvidia-smi -q -d COMPUTE", "what else runs on the GPU")
        return Diagnosis(weight=48, hits=busy, look_at=look)
    return None


def _virtual(case: Case) -> bool:
    return told(case, "vgpu") or any(item.virtualization == "vgpu" for item in case.facts.devices)


def vgpu_unlicensed(case: Case) -> Diagnosis | None:
    """A vGPU guest without a licence refuses contexts or is slowed down."""
    hits = case.hits("vgpu_unlicensed")
    evidence = tuple(
        pointer
        for index, device in enumerate(case.facts.devices)
        if (device.license_state or "").lower().startswith("unlicensed")
        for pointer in case.at(f"/facts/devices/{index}/license_state", "nlicensed")
    )
    unlicensed = any(
        (device.license_state or "").lower().startswith("unlicensed")
        for device in case.facts.devices
    )
    busy = case.hits("busy_or_unavailable")
    if hits or unlicensed:
        severity: Severity | None = None if busy or case.works is not True else "degrading"
        return Diagnosis(
            weight=90, hits=(*hits, *busy), evidence=evidence, severity=severity
        )  # fmt: skip
    if busy and _virtual(case):
        look = ("the licence of the guest: nvidia-smi -q | grep -i licen",)
        nvml = case.hits("nvml_unknown_error")
        return Diagnosis(weight=78, hits=(*busy, *nvml), look_at=look)
    return None


RULES: tuple[Rule, ...] = (
    Rule(
        code="nvidia-uvm-missing",
        severity="blocking",
        who="provider",
        source="CUDA installation guide, device node verification; cuda.h: CUDA_ERROR_UNKNOWN",
        find=nvidia_uvm_missing,
        explains=("no-nvidia-driver-here", "cpu-only-build"),
    ),
    Rule(
        code="uvm-broken-after-suspend",
        severity="blocking",
        who="provider",
        source="NVIDIA driver README, power management; reload nvidia_uvm after resume",
        find=uvm_broken_after_suspend,
        explains=("nvidia-uvm-missing", "cpu-only-build"),
    ),
    Rule(
        code="uvm-hmm-init-failure",
        severity="blocking",
        who="provider",
        source="CUDA 13 release notes, known issues; open-gpu-kernel-modules issues 797, 901, 947",
        find=uvm_hmm_init_failure,
        explains=("cpu-only-build", "nvidia-uvm-missing"),
    ),
    Rule(
        code="nvidia-device-permission",
        severity="blocking",
        who="either",
        source="NVIDIA driver README, device files (NVreg_DeviceFileMode); nvmlReturn 4",
        find=nvidia_device_permission,
        explains=("no-nvidia-driver-here",),
    ),
    Rule(
        code="compute-mode-exclusive",
        severity="blocking",
        who="provider",
        source="CUDA programming guide, compute modes; nvmlComputeMode",
        find=compute_mode_exclusive,
    ),
    Rule(
        code="vgpu-unlicensed",
        severity="blocking",
        who="provider",
        source="docs.nvidia.com/vgpu, client licensing: what an unlicensed guest may do",
        find=vgpu_unlicensed,
        explains=("compute-mode-exclusive", "container-gpu-access-revoked"),
    ),
)
