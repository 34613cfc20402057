"""Causes between the NVIDIA driver's CUDA and what programs were built with."""

from __future__ import annotations

from agent.model import Library
from agent.rules.build import wheel_values
from agent.rules.case import Case
from agent.rules.rule import Diagnosis, Rule
from agent.rules.seen import driver_at, torch_at
from agent.rules.versions import Version, dotted, version
from agent.rules.wheels import floor_cuda, floor_driver, recommend


def driver_too_old_for_build(case: Case) -> Diagnosis | None:
    """The driver's CUDA is below what the build's CUDA major needs."""
    hits = case.hits("driver_too_old", "insufficient_driver")
    wanted, found = case.torch_cuda, case.driver_cuda
    for hit in hits:
        if hit.group(1):
            number = int(hit.group(1))
            found = (number // 1000, number % 1000 // 10)
    if case.works and not hits:
        return None  # a compat library or a newer libcuda bridges the gap
    below = bool(wanted and found) and found[:2] < floor_cuda(wanted)[:2]
    if not hits and (not below or case.built_for != "cuda"):
        return None
    if hits and wanted and found and not below and not any(hit.group(1) for hit in hits):
        return None
    wheel = recommend(
        architectures=tuple(dotted(item) for item in case.capabilities),
        driver_cuda=found,
        python=case.python,
        torch=case.torch_version,
    )
    values = {"driver_cuda": dotted(found[:2])} if found else {}
    if wheel:
        values["wheel"] = wheel.command
    if floor := floor_driver(wanted):
        values["wanted"] = floor
    return Diagnosis(
        weight=93 if hits and below else 82 if hits or below else 70,
        hits=hits,
        evidence=torch_at(case) + driver_at(case),
        values=values,
    )


def driver_too_old_for_ptx_toolchain(case: Case) -> Diagnosis | None:
    """PTX from a toolkit that is newer than the driver's own compiler."""
    hits = case.hits("ptx_too_new")
    if not hits:
        return None
    return Diagnosis(
        weight=88 if case.driver_text or case.driver_cuda else 84,
        hits=hits,
        evidence=driver_at(case),
        values=wheel_values(case),
    )


def driver_too_old_for_toolkit_feature(case: Case) -> Diagnosis | None:
    """Minor-version compatibility holds, but one function needs a newer driver branch."""
    if hits := case.hits("call_needs_newer_driver"):
        return Diagnosis(weight=84, hits=hits, evidence=driver_at(case))
    if hits := case.hits("driver_function_missing"):
        return Diagnosis(weight=72, hits=hits, evidence=driver_at(case))
    hits = case.hits("operation_not_supported")
    toolkit = _newest_toolkit(case)
    found = case.driver_cuda
    if not hits or not toolkit or not found or case.place == "wsl":
        return None
    if toolkit[0] != found[0] or toolkit[:2] <= found[:2]:
        return None
    return Diagnosis(
        weight=74, hits=hits, evidence=driver_at(case), values={"toolkit": dotted(toolkit[:2])}
    )


def _newest_toolkit(case: Case) -> Version:
    """The newest CUDA that something here was built with, () where none is known."""
    known = [case.torch_cuda]
    known += [
        version(next((part for part in hit.groups if part), ""))
        for hit in case.hits("nvcc_release")
    ]
    known += [version(path.rsplit("-", 1)[-1]) for path in case.facts.toolkits.cuda_toolkits]
    known += [version(tool.version) for tool in case.facts.toolkits.tools if tool.name == "nvcc"]
    return max(known, default=())


def forward_compat_on_unsupported_gpu(case: Case) -> Diagnosis | None:
    """A compat libcuda newer than the kernel driver, on a GPU where that is not allowed."""
    hits = case.hits("forward_compat_804")
    if not hits:
        return None
    compat = compat_library(case)
    return Diagnosis(
        weight=92 if compat else 88,
        hits=hits,
        evidence=(*compat, *driver_at(case)),
    )


def compat_libs_shadow_driver(case: Case) -> Diagnosis | None:
    """A compat libcuda is loaded before the driver's own although the driver is new enough."""
    hits = case.hits("driver_mismatch_803")
    compat = compat_library(case)
    if not hits or case.says(
        "driver/library version mismatch", "api mismatch", "lib_rm_version_mismatch"
    ):
        return None
    nvidia = case.facts.drivers.nvidia
    if (
        nvidia
        and nvidia.kernel_version
        and nvidia.userspace_version
        and nvidia.kernel_version != nvidia.userspace_version
        and not compat
    ):
        return None
    weight = 92 if compat else 72 if case.in_container or case.says("docker", "image:") else 58
    return Diagnosis(
        weight=weight,
        hits=hits,
        evidence=(*compat, *driver_at(case)),
        look_at=()
        if compat
        else (
            "which libcuda.so.1 the process maps (/proc/self/maps, ldconfig -p): one from a"
            " compat directory, or the driver's own in another version than the kernel module?",
        ),
    )


def compat_library(case: Case) -> tuple[str, ...]:
    """Evidence that a compat libcuda is on the way: a mapped library, a path, a variable."""
    for index, library in enumerate(case.facts.libraries):
        if library.soname.startswith("libcuda.so") and is_compat(library):
            return case.at(f"/facts/libraries/{index}", library.path)
    if "compat" in (case.env("LD_LIBRARY_PATH") or ""):
        return case.env_at("LD_LIBRARY_PATH")
    hit = case.hit("compat_path")
    return (hit.pointer,) if hit else ()


def is_compat(library: Library) -> bool:
    """Whether this is the libcuda of a cuda-compat package."""
    return library.origin == "compat" or "/compat" in (library.path or "")


RULES: tuple[Rule, ...] = (
    Rule(
        code="driver-too-old-for-build",
        severity="blocking",
        who="either",
        source="docs.nvidia.com/deploy/cuda-compatibility, minor-version compatibility",
        find=driver_too_old_for_build,
        explains=("nvml-torch-count-differs",),
    ),
    Rule(
        code="driver-too-old-for-ptx-toolchain",
        severity="blocking",
        who="either",
        source="docs.nvidia.com/deploy/cuda-compatibility, limits of minor-version compatibility",
        find=driver_too_old_for_ptx_toolchain,
    ),
    Rule(
        code="driver-too-old-for-toolkit-feature",
        severity="blocking",
        who="either",
        source="docs.nvidia.com/deploy/cuda-compatibility, feature table; NCCL issue 955",
        find=driver_too_old_for_toolkit_feature,
    ),
    Rule(
        code="forward-compat-on-unsupported-gpu",
        severity="blocking",
        who="renter",
        source="docs.nvidia.com/deploy/cuda-compatibility, forward compatibility; error 804",
        find=forward_compat_on_unsupported_gpu,
        explains=("driver-too-old-for-build",),
    ),
    Rule(
        code="compat-libs-shadow-driver",
        severity="blocking",
        who="renter",
        source="docs.nvidia.com/deploy/cuda-compatibility, forward compatibility; error 803",
        find=compat_libs_shadow_driver,
        explains=("driver-too-old-for-build",),
    ),
)
