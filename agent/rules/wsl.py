"""Causes under Windows Subsystem for Linux, where the GPU comes through /dev/dxg."""

from __future__ import annotations

import re

from agent.rules.case import Case
from agent.rules.rule import Diagnosis, Rule
from agent.rules.told import told

_WSL_LIBRARIES = "/usr/lib/wsl/lib"


def is_wsl(case: Case) -> bool:
    """Whether the report comes from WSL."""
    return case.place == "wsl" or case.says("wsl")


def wsl_linux_driver_shadows(case: Case) -> Diagnosis | None:
    """A Linux driver installed inside WSL hides WSL's own libcuda."""
    if not is_wsl(case):
        return None
    strange = tuple(
        pointer
        for index, item in enumerate(case.facts.libraries)
        if item.soname.startswith("libcuda.so")
        and item.path
        and _WSL_LIBRARIES not in item.path
        and "stub" not in item.path
        and "compat" not in item.path
        and re.search(r"libcuda\.so\.\d{3}", item.path)
        for pointer in (case.at(f"/facts/libraries/{index}", item.path) or ("",))
    )
    installed = re.search(
        r"(?:apt(?:-get)?|dnf)[^\n]{0,30} install"
        r" [^\n]*(?:cuda-drivers|nvidia-driver|\bcuda\b(?!-toolkit)"
        r"|nvidia-utils|libnvidia-compute|nvidia-cuda-toolkit)|\.run\b[^\n]{0,20}(?:inside|in) WSL"
        r"|(?:Linux|NVIDIA) driver[^\n]{0,30}(?:inside|in|within) (?:the )?WSL"
        r"|^ii +(?:nvidia-driver|libnvidia-compute|nvidia-utils|cuda-drivers)-?\d*"
        r"|libnvidia-compute-\d+",
        case.lines.text,
        re.MULTILINE,
    )
    file = [
        hit
        for hit in case.hits("libcuda_file")
        if re.search(r"x86_64-linux-gnu/libcuda\.so|/usr/lib64/libcuda|/usr/lib/libcuda", hit.text)
    ]
    failed = case.hits(
        "driver_init_failed", "no_cuda_gpus", "cuda_unknown_error", "insufficient_driver",
        "smi_cannot_talk", "nvml_version_mismatch", "no_nvidia_driver", "cuda_available_false",
        "driver_mismatch_803", "cuinit_not_initialized",
    )  # fmt: skip
    crashed = case.says("segmentation fault", "segfault", "munmap_chunk()", "core dumped")
    if (file or strange) and (failed or crashed):
        evidence = tuple(pointer for pointer in strange if pointer)
        return Diagnosis(weight=90, hits=(*failed, *file), evidence=evidence)
    if (installed or _smi_of_linux(case)) and (failed or crashed):
        return Diagnosis(weight=82, hits=failed)
    return None


def _smi_of_linux(case: Case) -> bool:
    """Whether nvidia-smi is of another branch than the Windows driver: not WSL's own copy."""
    found = re.search(
        r"NVIDIA-SMI:? (\d{3})\.[^\n]{0,40}\n?[^\n]{0,40}Driver Version: (\d{3})\.", case.lines.text
    )
    return found is not None and abs(int(found.group(1)) - int(found.group(2))) > 15


def wsl_windows_build_bug(case: Case) -> Diagnosis | None:
    """A Windows build broke the virtual GPU."""
    if not is_wsl(case):
        return None
    failed = case.hits(
        "busy_or_unavailable", "no_cuda_gpus", "cuda_unknown_error", "driver_init_failed",
        "no_nvidia_driver", "smi_cannot_talk", "nvml_unknown_error", "cuda_available_false",
    )  # fmt: skip
    build = re.search(r"\b(?:10\.0\.)?(?:2\d{4})(?:\.\d{3,4})\b|[Bb]uild (?:number:? )?2\d{4}\b",
                      case.lines.text)  # fmt: skip
    dxg = case.says("/dev/dxg") and re.search(
        r"/dev/dxg[^\n]{0,40}(?:not|No such|missing|absent)", case.lines.text
    )
    if told(case, "insider") and (failed or dxg):
        return Diagnosis(weight=88, hits=failed)
    if any(hit.signature == "busy_or_unavailable" for hit in failed):
        return Diagnosis(weight=74 if build else 66, hits=failed)
    if build and (failed or dxg) and told(case, "updated"):
        return Diagnosis(weight=72, hits=failed)
    if any(hit.signature == "nvml_unknown_error" for hit in failed):
        return Diagnosis(weight=56, hits=failed)
    return None


def bundled_hsa_runtime_wsl(case: Case) -> Diagnosis | None:
    """The HSA runtime inside the torch wheel cannot talk to /dev/dxg."""
    amd = case.built_for == "rocm" or case.has_amd or case.says("rocm", "hip gpus")
    if not is_wsl(case) or not amd or case.built_for == "cuda":
        return None
    none = case.hits("no_hip_gpus", "no_cuda_gpus", "cuda_available_false", "hsa_out_of_resources")
    runtime = case.hits("wsl_hsa_runtime")
    if case.works or case.hits("amdsmi_name_undefined", "amdsmi_library_missing"):
        return None
    if runtime and (none or case.works is False):
        return Diagnosis(weight=90, hits=(*runtime, *none))
    if none and case.built_for == "rocm":
        look = ("whether rocminfo lists the GPU in this WSL: then the wheel's own HSA is at fault",)
        return Diagnosis(weight=80, hits=none, look_at=look)
    if none:
        return Diagnosis(weight=64, hits=none)
    return None


RULES: tuple[Rule, ...] = (
    Rule(
        code="wsl-linux-driver-shadows-wsl-libcuda",
        severity="blocking",
        who="renter",
        source="CUDA on WSL user guide: do not install a Linux display driver in WSL",
        find=wsl_linux_driver_shadows,
        explains=("driver-update-needs-reboot", "driver-mixed-package-versions"),
    ),
    Rule(
        code="wsl-windows-build-bug",
        severity="blocking",
        who="provider",
        source="github.com/microsoft/WSL/issues/6014, 6098, 6617, 6773",
        find=wsl_windows_build_bug,
        explains=("compute-mode-exclusive", "nvidia-uvm-missing"),
    ),
    Rule(
        code="bundled-hsa-runtime-wsl",
        severity="blocking",
        who="renter",
        source="rocm.docs.amd.com, PyTorch under WSL: replace the wheel's libhsa-runtime64.so",
        find=bundled_hsa_runtime_wsl,
        explains=("kfd-driver-not-loaded", "kfd-permission-denied"),
    ),
)
